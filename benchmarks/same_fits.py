"""python -m benchmarks.same_fits FILE [--cases 2000] [--seed 0]: are random fits those of before a change?

Without FILE, fits the first cases of `benchmarks.fuzz`, one after another on one thread, and writes their objectives,
weights and processor times to it. With FILE, fits them again and compares: each objective and weight relative to the
largest of its case, and the sum of the times. The exit code is 1 where one differs by more than `--most`, or where a
fit that was refused is not, or the reverse. To compare two commits, write FILE in a checkout of the first.
"""

import argparse
import json
import sys
import time
import warnings
from collections import Counter
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

from .fuzz.cases import draw


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--most", type=float, default=1e-10)
    options = parser.parse_args()
    numbers = range(options.cases)
    with threadpool_limits(1):
        fits = {str(number): fitted(options.seed, number) for number in numbers}
    print(f"{len(fits)} fits, {sum(fit['seconds'] for fit in fits.values()):.1f} processor seconds")
    if not options.file.exists():
        options.file.write_text(json.dumps(fits))
        return
    before = json.loads(options.file.read_text())
    print(f"before: {sum(before[number]['seconds'] for number in fits):.1f} processor seconds")
    apart = {number: difference(before[number], fit) for number, fit in fits.items()}
    print(dict(Counter(fit["outcome"] for fit in fits.values())), f"largest difference {max(apart.values()):.1e}")
    for number, far in apart.items():
        if far > options.most:
            print(f"case {number}: {far:.1e}, {before[number]['outcome']}, now {fits[number]['outcome']}")
    sys.exit(any(far > options.most for far in apart.values()))


def fitted(seed, number):
    """Outcome, objective, weights and processor seconds of a case; of a refusal the kind of the error alone."""
    case = draw(seed, number)
    began = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            model = case.estimator.set_params(n_jobs=1).fit(case.X, case.y, sample_weight=case.weight)
    except Exception as error:
        return {"outcome": type(error).__name__, "numbers": [], "seconds": time.process_time() - began}
    numbers = [[model.objective_], np.ravel(model.kernel_weights_).tolist()]
    return {"outcome": "fitted", "numbers": numbers, "seconds": time.process_time() - began}


def difference(before, now):
    """The largest difference of objective and of weights, each relative to the largest number of before."""
    if before["outcome"] != now["outcome"]:
        return np.inf
    far = 0.0
    for old, new in zip(map(np.array, before["numbers"]), map(np.array, now["numbers"]), strict=True):
        if old.shape != new.shape:
            return np.inf
        unequal = ~((old == new) | (np.isnan(old) & np.isnan(new)))
        if unequal.any():
            far = max(far, np.abs(old - new)[unequal].max() / max(np.abs(old[np.isfinite(old)]).max(initial=0), 1e-300))
    return float(np.nan_to_num(far, nan=np.inf))


if __name__ == "__main__":
    main()
