"""Exact Shapley values of columns, `inspect.feature_shares`: seconds by size, beside KernelExplainer of shap.

KernelExplainer samples sets of columns and fits a linear model to their decisions. Both get the same model, examples
and background; the distance between them is the error of the sample, as the values of feature_shares are exact.
"""

import time
import warnings

import numpy as np

from manykernels import MKLRegressor
from manykernels.inspect import feature_shares
from manykernels.kernels import RBF, Laplacian, Polynomial

from .report import console, show, write

KINDS = {"RBF": RBF, "Laplacian": Laplacian, "Polynomial(3)": lambda: Polynomial(3)}


def main(quick=False, data=None, out=".benchmarks"):
    sizes = [(100, 20, 500), (1000, 100, 5000)] if not quick else [(20, 10, 100)]
    limit = [("RBF", n, d, s) for n, d, s in sizes] + [(kind, *sizes[0]) for kind in list(KINDS)[1:]]
    feature_shares(*model_of(20, 3, "RBF"))  # compiles the loops
    lines = [measured(*case) for case in limit]
    show(
        "feature_shares",
        ("kernel", "examples", "columns", "support", "seconds", "of processors", "largest |f − sum|"),
        lines,
    )
    peers = beside(*((4, 8, 60, 200) if quick else (10, 100, 1000, 2000)))
    if peers:
        show(
            "the same 10 background rows",
            ("", "examples", "columns", "support", "seconds", "seconds an example", "largest error / largest value"),
            peers,
        )
    write(out, "shares", {"sizes": lines, "peers": peers})


def model_of(support, d, kind):
    """(a model whose examples are all support vectors, its examples)."""
    X = np.random.default_rng(0).normal(size=(support, d))
    y = np.sin(X[:, 0]) + X[:, 1] * X[:, 2] + 0.1 * X.sum(axis=1)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return MKLRegressor([KINDS[kind]()], loss="squared", C=1.0, tol=1e-2).fit(X, y), X


def measured(kind, n, d, support):
    model, X = model_of(support, d, kind)
    start, busy = time.perf_counter(), time.process_time()
    found = feature_shares(model, X[:n])
    seconds, busy = time.perf_counter() - start, time.process_time() - busy
    wrong = np.abs(found.base + found.values.sum(axis=1) - model.predict(X[:n])).max()
    return kind, n, d, len(model.support_), round(seconds, 2), round(busy, 2), float(f"{wrong:.1e}")


def beside(n, d, support, samples):
    """Seconds and errors of both, with ten rows of background; [] if shap is not installed."""
    try:
        import shap
    except ImportError:
        console.print("shap is not installed: no comparison")
        return []
    model, X = model_of(support, d, "RBF")
    new, background = X[:n] + 0.5, X[-10:]
    start = time.perf_counter()
    exact = feature_shares(model, new, background=background).values
    seconds = [time.perf_counter() - start]
    found = [exact]
    for many in (samples, 4 * samples):
        start = time.perf_counter()
        explainer = shap.KernelExplainer(model.predict, background)
        found.append(explainer.shap_values(new, nsamples=many, silent=True, l1_reg=False))
        seconds.append(time.perf_counter() - start)
    names = ["feature_shares", *(f"KernelExplainer, {many:,} samples" for many in (samples, 4 * samples))]
    size = np.abs(exact).max()
    errors = [float(f"{np.abs(v - exact).max() / size:.1e}") for v in found]
    return [
        (name, n, d, len(model.support_), round(took, 2), round(took / n, 3), wrong)
        for name, took, wrong in zip(names, seconds, errors, strict=True)
    ]
