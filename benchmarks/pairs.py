"""Kernels on pairs of objects, without the matrix between all pairs; each large fit in a process of its own.

* exact: 1,500 of 60 × 40 pairs, five kernels a side: the vec trick against a stack of 25 matrices, tol = 1e-7.
* large: 400 × 200 objects, all 80,000 pairs (a stack would take 1,280 GB), tol = 1e-3: seconds, peak memory.
* settings: the drug–target sets nr, ic and e of --data, what is new in the test pairs: pair, drug, target, both;
  learned weights beside the mean kernel (area under the ROC curve, average precision; least squares on ±1, C = 1).
  `--only nr,ic` runs these sets and nothing else; OUT/pairs_NAME.partial has every fold that is done, and it is kept.
"""

import json
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from .datasets.sources import clipped
from .report import apart, console, peak, show, write

WIDTHS = (0.01, 0.03, 0.1, 0.3, 1.0)
LARGE = [
    ("squared", 1.0),
    ("squared", 1.5),
    ("squared", 2.0),
    ("squared_hinge", 1.5),
    ("logistic", 1.5),
    ("hinge", 1.5),
]
SETS = {"nr": (5, None), "ic": (3, None), "e": (3, 3)}  # folds, and how many of them are run
KEEP = 4  # kernels a side of the larger sets


def main(data=None, out=".", quick=False, only=None):
    if only:
        found = [row for name in only.split(",") for row in _settings(name, _file(data, name), out, *SETS[name])]
        _show_settings(found)
        write(out, "pairs_" + only.replace(",", "_"), {"settings": found})
        return
    exact = [
        _exact(loss, p) for loss in ("squared", "squared_hinge", "logistic", "hinge") for p in (1, 2)[: 1 + (not quick)]
    ]
    show("1,500 pairs: vec trick and a dense stack", ("loss", "p", "objective", "dense", "relative difference"), exact)
    size, rows = ((60, 40) if quick else (400, 200)), []
    for loss, p in LARGE[:2] if quick else LARGE:
        console.print(f"{size[0]} × {size[1]} objects, {loss}, p = {p} …")
        rows.append(apart("pairs", json.dumps([size, loss, p]), check=False) or [loss, p, "failed"])
        console.print(str(rows[-1]))
    show("All pairs, 25 kernels", ("loss", "p", "fit, s", "gap", "steps", "support", "peak, GB", "before, GB"), rows)
    settings = []
    for name, (folds, most) in SETS.items():
        path = _file(data, name)
        if not path.exists() or quick and name != "nr":
            console.print(f"{path} is not there, or not quick: left out")
            continue
        settings += _settings(name, path, out, folds, most)
    _show_settings(settings)
    write(out, "pairs", {"exact": exact, "large": rows, "settings": settings})


def _file(data, name):
    return Path(data or ".") / f"kernels_drugtarget_{name}.npz"


def _show_settings(rows):
    columns = ("set", "new", "folds", "AUC", "mean kernel", "AP", "mean kernel", "seconds a fit")
    show("Drug–target sets", columns, rows)


def make(left, right, seed=0):
    """(Pairs of all objects, real y (left · right,)): a product of waves and a bilinear part, with noise."""
    from manykernels.pairs import Pairs

    rng = np.random.default_rng(seed)
    L, R = rng.normal(size=(left, 6)), rng.normal(size=(right, 5))
    F = np.sin(2 * L[:, :1]) @ np.cos(2 * R[:, :1]).T + 0.5 * L[:, 1:3] @ R[:, 1:3].T
    return Pairs.grid(L, R), (F + 0.3 * rng.normal(size=F.shape)).ravel()


def kernels():
    from manykernels.kernels import RBF
    from manykernels.pairs import Pairwise

    return Pairwise([(f"a{g}", RBF(gamma=g)) for g in WIDTHS], [(f"b{g}", RBF(gamma=g)) for g in WIDTHS])


def _exact(loss, p, tol=1e-7):
    from manykernels import losses
    from manykernels.banks import DenseBank
    from manykernels.problem import Problem
    from manykernels.regularizers import LpNorm
    from manykernels.solvers import solve

    X, y = make(60, 40)
    some = np.sort(np.random.default_rng(1).choice(len(X), 1500, replace=False))
    X, y, loss = X[some], y[some], losses.get(loss)
    y = np.sign(y) if loss.targets == "binary" else y
    bank = kernels().bank(X)
    bank.dense = 0  # no block of it is built
    L, R = (np.ix_(place, place) for place in bank.places[:2])
    stack = np.stack([bank.A[p][L] * bank.B[q][R] for p, q in bank.pairs], axis=2)
    free, dense = (solve(Problem(b, y, loss, LpNorm(p)), "newton", tol=tol).primal for b in (bank, DenseBank(stack)))
    return [loss.name, p, free, dense, abs(free / dense - 1)]


def _child(size, loss, p):
    from manykernels import MKLClassifier, MKLRegressor

    X, y = make(*size)
    before = peak()
    model = (MKLRegressor if loss == "squared" else MKLClassifier)(kernels(), loss=loss, regularizer=p)
    start = time.perf_counter()
    model.fit(X, y if loss == "squared" else np.sign(y))
    seconds, most = time.perf_counter() - start, peak()
    print(
        json.dumps([loss, p, round(seconds, 1), model.duality_gap_, model.n_iter_, len(model.support_), most, before])
    )


def _settings(name, path, out, folds, most):
    """A row for each setting; what each fold gave is kept in OUT/pairs_NAME.partial."""
    warnings.simplefilter("ignore")
    file, limit = np.load(path), None if name == "nr" else KEEP
    drugs, proteins = (
        {key.split("__")[1]: file[key] for key in sorted(file.files) if key.startswith(side + "__")}
        for side in ("drugs", "proteins")
    )
    drugs.pop("lambda", None)  # equals spectrum
    X, y = _pairs([dict(list(side.items())[:limit]) for side in (drugs, proteins)]), file["Y"].T.ravel() > 0
    kept, rows = Path(out) / f"pairs_{name}.partial", []
    kept.parent.mkdir(parents=True, exist_ok=True)
    done = json.loads(kept.read_text()) if kept.exists() else {}
    splits = {setting: list(_splits(X, setting, folds))[:most] for setting in ("pair", "left", "right", "both")}
    tried = [(k, setting) for setting, some in splits.items() for k, (_, test) in enumerate(some) if y[test].any()]
    for k, setting in sorted(tried, key=lambda pair: pair[0]):  # the first folds of all settings first
        if f"{setting} {k}" not in done:
            done[f"{setting} {k}"] = _fold(X, y, *splits[setting][k])
            kept.write_text(json.dumps(done))
            console.print(f"{name}, {setting}, fold {k}: {done[f'{setting} {k}']}")
    for setting in splits:
        found = [done[f"{other} {k}"] for k, other in tried if other == setting]
        mean, new = np.mean(found, axis=0), {"left": "drug", "right": "target"}.get(setting, setting)
        rows.append([name, new, len(found), *mean[:2, 0], *mean[:2, 1], mean[2, 0]])
        console.print(str(rows[-1]))
    return rows


def _pairs(sides):
    from manykernels import KernelStack
    from manykernels.pairs import Pairs

    return Pairs.grid(*(KernelStack([clipped(K) for K in side.values()], list(side)) for side in sides))


def _splits(X, setting, folds):
    from manykernels.pairs import PairSplit

    return PairSplit(setting, folds).split(X)


def _fold(X, y, train, test):
    """[[AUC, average precision] of learned weights, of the mean kernel, seconds of both fits]."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    from manykernels import MKLClassifier
    from manykernels.pairs import Pairwise
    from manykernels.regularizers import Uniform

    found, seconds = [], []
    for regularizer in (1.5, Uniform()):
        model = MKLClassifier(Pairwise("precomputed", "precomputed"), regularizer=regularizer, loss="squared", C=1.0)
        start = time.perf_counter()
        decision = model.fit(X[train], y[train]).decision_function(X[test])
        seconds.append(time.perf_counter() - start)
        found.append([float(judge(y[test], decision)) for judge in (roc_auc_score, average_precision_score)])
    return [*found, seconds]


if __name__ == "__main__":
    _child(*json.loads(sys.argv[1]))
