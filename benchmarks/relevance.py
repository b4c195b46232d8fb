"""Planted truth: do relevance, weights and alignment rank every informative source above every noise source?

A hundred sets of `datasets.planted`. A set is ranked right where the least informative source lies above the largest
noise. Intervals of noise cover 0, or lie below where the model is better off without; beside it what one relevance
costs in cross-validations of the model.
"""

import time
import warnings

import numpy as np

from manykernels import MKLClassifier
from manykernels.inspect import relevance
from manykernels.kernels import RBF

from .datasets import planted
from .report import console, show, write

MEASURES = ("relevance", "drop", "permute", "gain")


def main(quick=False, data=None, out=".benchmarks"):
    example = planted.issue()
    console.print(str(relevance(example.model, example.X, example.y)), highlight=False)
    results = [judge(seed, n=100 if quick else None) for seed in range(0, 100, 10 if quick else 1)]
    show_truth(results)
    cost = measure_cost(200 if quick else 1000, 1 if quick else 3)
    show("20 sources, seconds of processors", ("", "one cross-validation", "relevance", "ratio"), cost)
    write(out, "relevance", {"sets": results, "cost": cost, "example": relevance_rows(example)})


def relevance_rows(example):
    return relevance(example.model, example.X, example.y).table()


def judge(seed, n=None):
    """What each measure says of one set: ranked right or not, intervals of noise that cover 0 or lie not above it."""
    one = planted.draw(seed, n)
    start = time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = relevance(one.model, one.X, one.y, random_state=seed)
    rows = {row["name"]: row for row in found.table()}
    result = one.about | {"seconds": time.perf_counter() - start, "gap": found.gap}
    for measure in (*MEASURES, "weight", "alignment"):
        least = min(rows[name][measure] for name in planted.INFORMATIVE)
        result[measure] = bool(least > max(rows[name][measure] for name in planted.NOISE))
    for measure in MEASURES:
        ends = [(rows[name][f"{measure}_low"], rows[name][f"{measure}_high"]) for name in planted.NOISE]
        result[f"{measure}_covers"] = [bool(low <= 0 <= high) for low, high in ends]
        result[f"{measure}_above"] = [bool(low > 0) for low, _ in ends]
    result["group"] = any(set(group.names) == {"first", "copy"} for group in found.groups)
    result["wrong_group"] = any(set(group.names) & set(planted.NOISE) for group in found.groups)
    result["noise_weight"] = sum(rows[name]["weight"] for name in planted.NOISE)
    return result


def show_truth(results):
    lines = []
    for measure in (*MEASURES, "weight", "alignment"):
        right = sum(result[measure] for result in results)
        ends = ["–", "–"]
        if measure in MEASURES:
            ends = [f"{np.mean([r[f'{measure}_{what}'] for r in results]):.1%}" for what in ("covers", "above")]
        lines.append((measure, f"{right} of {len(results)}", *ends))
    groups = sum(result["group"] for result in results)
    show(
        "planted truth", ("", "informative above noise", "noise intervals that cover 0", "that lie above 0"), lines,
        caption=f"first and copy named as a group in {groups}, a group with noise in "
        f"{sum(r['wrong_group'] for r in results)}; noise holds {np.mean([r['noise_weight'] for r in results]):.0%} of "
        f"the weight on average; {sum(r['seconds'] for r in results):.0f} s",
    )  # fmt: skip


def measure_cost(n, repeats):
    """(p, seconds of one cross-validation, of relevance, ratio) for 20 sources of 10 columns, best of `repeats`."""
    from sklearn.model_selection import cross_val_score

    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 200))
    y = (X[:, :50:10].sum(axis=1) + rng.normal(size=n) > 0).astype(int)
    kernels = [(f"source {k}", RBF(gamma="scale"), slice(10 * k, 10 * k + 10)) for k in range(20)]
    rows = []
    for p in (1, 2):
        model = MKLClassifier(kernels, regularizer=p, C=1.0)
        pairs = [(_seconds(cross_val_score, model, X, y), _seconds(relevance, model, X, y)) for _ in range(repeats)]
        one, all_ = np.min(pairs, axis=0)
        rows.append((f"n = {n}, p = {p}", float(one), float(all_), float(all_ / one)))
    return rows


def _seconds(function, *arguments):
    start = time.process_time()
    function(*arguments)
    return time.process_time() - start
