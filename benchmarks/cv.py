"""Cross-validation over C × p: what MKLClassifierCV takes in cold fits, its scores beside those of GridSearchCV."""

import time
import warnings

import numpy as np
from sklearn.model_selection import GridSearchCV

from .datasets import load_uci
from .report import console, norm, show, write

CS = np.logspace(-2, 2, 8)
NORMS = (1, 4 / 3, 2, 4, np.inf)
TOL = 1e-4  # at 1e-3 two exact fits may part on an example of a fold, which moves a mean accuracy by 2e-3


def main(data=None, out=".", quick=False):
    from manykernels import MKLClassifier, MKLClassifierCV
    from manykernels.kernels import feature_bank

    X, y, source = load_uci("wdbc", data)
    kernels, Cs, norms = feature_bank(X), CS, NORMS
    if quick:
        X, y, kernels, Cs, norms = X[::3], y[::3], kernels[::20], CS[::3], NORMS[::2]
    warnings.simplefilter("ignore")
    MKLClassifier(kernels[::10], tol=TOL).fit(X, y)  # loads what is compiled

    cold = [least(lambda p=p: MKLClassifier(kernels, regularizer=p, tol=TOL).fit(X, y)) for p in norms]
    model = MKLClassifierCV(kernels, Cs=Cs, regularizer=list(norms), tol=TOL)
    search = least(lambda: model.fit(X, y), 1 if quick else 2)
    begin = clock()
    naive = GridSearchCV(MKLClassifier(kernels, tol=TOL), {"C": Cs, "regularizer": list(norms)}).fit(X, y)
    grid = clock() - begin
    ours, theirs = model.cv_results_, naive.cv_results_
    apart = np.abs(ours["mean_test_score"] - theirs["mean_test_score"])
    total = np.sum(cold, axis=0)
    rows = [(f"a cold fit, p = {norm(p)}, C = 1", *seconds, "") for p, seconds in zip(norms, cold, strict=True)]
    rows += [("all of them", *total, ""), ("MKLClassifierCV", *search, f"{search[0] / total[0]:.2f}")]
    rows += [("GridSearchCV", *grid, f"{grid[0] / total[0]:.1f}")]
    show(
        f"{len(Cs)} C × {len(norms)} p × 5 folds, {len(kernels)} kernels, {source}, gap {TOL:g}",
        ("what", "seconds", "of processors", "in cold fits, one a p"),
        rows,
        f"at most 8 asked for; mean scores differ by at most {apart.max():.1e}, {int((apart > 1e-3).sum())} of "
        f"{len(apart)} by more than 1e-3; chosen {model.best_params_}, by the grid {naive.best_params_}; largest gap "
        f"{ours['max_duality_gap'].max():.1e}",
    )
    console.print(f"of processors: {search[1] / total[1]:.2f} cold fits", style="dim")
    results = {"cold": np.array(cold).tolist(), "search": search.tolist(), "grid": grid.tolist()}
    results |= {"ratio": search[0] / total[0], "apart": apart.tolist()}
    write(out, "cv", results | {"chosen": str(model.best_params_), "naive": str(naive.best_params_)})


def clock():
    """Seconds by the wall, and of all processors."""
    return np.array([time.perf_counter(), time.process_time()])


def least(work, repeats=2):
    """The least seconds of some runs."""
    found = []
    for _ in range(repeats):
        begin = clock()
        work()
        found.append(clock() - begin)
    return np.min(found, axis=0)
