"""python -m benchmarks.one_bank [--runs 2000] [--threads 8] [--jobs 4]: cross-validations whose threads share a bank.

Eight regularizers of each fold are fitted side by side on the bank of the fold. The cases are: folds that repeat
training rows, folds without room for the matrices of all examples, and folds that read these matrices. Several
processes do this side by side, so that the cores are busy, and Python may change threads before every line of
`banks/`. The scores and duality gaps of all runs must be the same numbers, and the scores those of one thread.
(`memory_limit` has other tiles for other numbers of threads, and so the last digits of a gap there depend on them.)
"""

import argparse
import multiprocessing
import os
import sys
import threading
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from itertools import repeat
from pathlib import Path

import numpy as np
from sklearn.datasets import make_classification

from manykernels import MKLClassifierCV
from manykernels.banks import pairwise
from manykernels.kernels import RBF

from .report import console, write

BANKS = str(Path(pairwise.__file__).parent)
REGULARIZERS = (1, 1.1, 4 / 3, 1.5, 2, 3, 4, 8)
CASES = {"rows repeat": None, "no room": "120KB", "matrices shared": None}  # memory_limit


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=2000)
    parser.add_argument("--threads", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes side by side")
    parser.add_argument("--out", default=".benchmarks")
    options = parser.parse_args()
    alone = {case: numbers(case, 1)[0] for case in CASES}
    begun = time.perf_counter()
    seen = {case: Counter() for case in CASES}
    cases = [list(CASES)[run % len(CASES)] for run in range(options.runs)]
    with ProcessPoolExecutor(options.jobs, multiprocessing.get_context("spawn")) as pool:
        results = pool.map(numbers_while_threads_change, cases, repeat(options.threads))
        for case, found in zip(cases, results, strict=True):
            seen[case][found] += 1
    rows = [
        {"case": case, "runs": each.total(), "results": len(each), "most": max(each.values(), default=0),
         "other scores than one thread": sum(count for (scores, _), count in each.items() if scores != alone[case])}
        for case, each in seen.items()
    ]  # fmt: skip
    for row in rows:
        console.print(", ".join(f"{name}: {value}" for name, value in row.items()))
    seconds = time.perf_counter() - begun
    console.print(f"{options.jobs} processes side by side with {options.threads} threads each, {seconds:.0f} s")
    write(options.out, "one_bank", vars(options) | {"rows": rows, "s": seconds})
    sys.exit(any(row["results"] > 1 or row["other scores than one thread"] for row in rows))


def numbers(case, threads):
    """(scores, duality gaps) of one cross-validation, as bytes."""
    X, y = make_classification(40, 6, n_informative=4, flip_y=0.2, random_state=0)
    rng = np.random.default_rng(0)
    folds = [np.split(rng.permutation(40), [30]) for _ in range(2)]
    if case == "rows repeat":
        folds = [(rng.choice(train, 30), test) for train, test in folds]
    kernels, options = [RBF(gamma) for gamma in (0.01, 0.1, 0.3, 1.0)], {"n_jobs": threads, "scoring": "roc_auc"}
    search = MKLClassifierCV(kernels, Cs=[1.0], regularizer=REGULARIZERS, cv=folds, memory_limit=CASES[case], **options)
    results = search.fit(X, y).cv_results_
    return tuple(
        b"".join(value.tobytes() for name, value in results.items() if name.endswith(end))
        for end in ("test_score", "duality_gap")
    )


def numbers_while_threads_change(case, threads):
    threading.settrace(change_threads)  # of threads that begin from now on: the first run of a process makes its pool
    return numbers(case, threads)


def change_threads(frame, event, arg):
    """A tracer: in the files of `banks/`, another thread may go on before every line."""
    if not frame.f_code.co_filename.startswith(BANKS):
        return None
    if event == "line":
        time.sleep(0)
    return change_threads


if __name__ == "__main__":
    main()
