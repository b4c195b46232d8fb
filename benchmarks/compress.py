"""`model.compress(tol)`: operations and processor time of predictions, and the error on examples that it has not seen.

MNIST odd against even, n training digits, M RBF kernels, p-norm weights; errors on 2,000 other digits, as a share of
the range of their decisions. Plane: 5 RBF kernels on 2 columns, where f is smooth and few support examples suffice.
"""

import time

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inner.systems import blas_for
from manykernels.kernels import RBF

from .datasets import GEOMETRIC, around_median, load_mnist
from .report import console, norm, show, write

TOLERANCES = (1e-2, 1e-3, 1e-4)
CASES = [(2_000, 5, 2), (2_000, 50, 1), (2_000, 50, 2), (6_000, 5, 2), (6_000, 50, 2)]  # n, M, p
QUICK = [(300, 5, 2)]
NEW = 2_000


def main(data=None, out=".", quick=False):
    rows = []
    for n, M, p in QUICK if quick else CASES:
        X, y, source = load_mnist(n + NEW, data)
        n = min(n, len(X) - min(NEW, len(X) // 2))
        widths = GEOMETRIC if M == 50 else around_median(X[:n], M)
        console.print(f"{source}: {n:,} × {M}, p = {norm(p)} …")
        model = MKLClassifier([RBF(gamma=float(1 / w)) for w in widths], regularizer=p, C=1, n_jobs=1).fit(X[:n], y[:n])
        rows += figures(f"digits, n = {n:,}, M = {M}, p = {norm(p)}", model, X[:n], X[n:])
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, size=((300 if quick else 2_000) + NEW, 2))
    y, n = np.sin(3 * X[:, 0]) * X[:, 1] + 0.1 * rng.normal(size=len(X)), len(X) - NEW
    model = MKLRegressor([RBF(gamma=g) for g in (0.1, 0.3, 1.0, 3.0, 10.0)], C=1.0, n_jobs=1).fit(X[:n], y[:n])
    rows += figures(f"plane, n = {n:,}, M = 5, p = 2", model, X[:n], X[n:])
    show(
        "compress(tol, X): one prediction before and after",
        ("model", "tol", "support", "operations", "fewer", "error on X", "on new", "bound", "batch", "one", "spent, s"),
        [
            (r["model"], r["tol"], f"{r['support'][1]:,} of {r['support'][0]:,}", f"{r['operations'][1]:,.0f}",
             f"{r['fewer']:.1f} ×", r["error"], r["new_error"], r["bound"], f"{r['batch']:.1f} ×", f"{r['one']:.1f} ×",
             r["seconds"])
            for r in rows
        ],
        f"batch, one: processor time of {NEW:,} predictions at once, and of single ones, before / after, one thread; "
        "spent: processor time of compress",
    )  # fmt: skip
    write(out, "compress", {"rows": rows})


def figures(name, model, X, new):
    """A record for each tolerance."""
    f, found = decide(model, new), []
    for tol in TOLERANCES:
        start = time.process_time()
        small = model.compress(tol, X)
        seconds, record = time.process_time() - start, small.compression_
        before, after = record["operations"]
        found.append({
            "model": name, "tol": tol, "support": record["support"], "operations": record["operations"],
            "fewer": before / after, "error": record["error"], "bound": record["bound"],
            "new_error": float(np.abs(decide(small, new) - f).max() / np.ptp(f)), "seconds": seconds,
            "batch": ratio(model, small, [new]), "one": ratio(model, small, [new[i : i + 1] for i in range(50)]),
        })  # fmt: skip
    return found


def decide(model, X):
    return model.predict(X) if isinstance(model, MKLRegressor) else model.decision_function(X)


def ratio(model, small, blocks, repeats=5):
    """Processor time of the model over that of the small one: the median of pairs, taken side by side."""
    with blas_for(0, 1):
        spent = [[seconds(one, blocks) for one in (model, small)] for _ in range(repeats + 1)]
    return float(np.median([a / b for a, b in spent[1:]]))  # the first call compiles


def seconds(model, blocks):
    start = time.process_time()
    for block in blocks:
        decide(model, block)
    return time.process_time() - start
