"""Cross-validation over C × p: what MKLClassifierCV takes in cold fits, and its scores beside those of a plain grid.

The grid is what GridSearchCV does: a cold fit for each fold, C and p. OUT/cv_TOL.partial has every fit that is done,
and it is kept. Examples that two fits part on are shown with their decision values, here and at smaller gaps.
"""

import json
import time
import warnings
from pathlib import Path

import numpy as np
from sklearn.model_selection import StratifiedKFold

from .datasets import load_uci
from .report import console, norm, show, write

CS = np.logspace(-2, 2, 8)
NORMS = (1, 4 / 3, 2, 4, np.inf)
TOL = 1e-3


def main(data=None, out=".", quick=False):
    from manykernels import MKLClassifier
    from manykernels.kernels import feature_bank

    X, y, source = load_uci("wdbc", data)
    kernels, Cs, norms = feature_bank(X), CS, NORMS
    if quick:
        X, y, kernels, Cs, norms = X[::3], y[::3], kernels[::20], CS[::3], NORMS[::2]
    warnings.simplefilter("ignore")
    MKLClassifier(kernels[::10], C=1.0).fit(X, y)  # loads what is compiled
    name = "cv_quick" if quick else "cv"
    Path(out).mkdir(parents=True, exist_ok=True)
    title = f"{len(Cs)} C × {len(norms)} p × 5 folds, {len(kernels)} kernels, {source}, gap {TOL:g}"
    write(out, name, _compare(kernels, X, y, Cs, norms, TOL, Path(out) / f"{name}_{TOL:g}.partial", title))


def _compare(kernels, X, y, Cs, norms, tol, kept, title):
    from manykernels import MKLClassifier, MKLClassifierCV

    cold = [least(lambda p=p: MKLClassifier(kernels, regularizer=p, tol=tol, C=1.0).fit(X, y)) for p in norms]
    seen = []
    model = MKLClassifierCV(kernels, Cs=Cs, regularizer=list(norms), tol=tol, scoring=_recorder(seen))
    begin = clock()
    model.fit(X, y)
    search, total = clock() - begin, np.sum(cold, axis=0)
    rows = [(f"a cold fit, p = {norm(p)}, C = 1", *seconds, "") for p, seconds in zip(norms, cold, strict=True)]
    rows += [("all of them", *total, ""), ("MKLClassifierCV", *search, f"{search[1] / total[1]:.2f}")]
    show(title, ("what", "seconds", "of processors", "in cold fits, one a p"), rows, "at most 8 asked for")

    order = [(k, r, j) for k in range(5) for r in range(len(norms)) for j in np.argsort(-Cs, kind="stable")]
    naive = _grid(kernels, X, y, Cs, norms, tol, kept)
    ours, theirs = np.zeros((len(Cs), len(norms), 5)), np.zeros((len(Cs), len(norms), 5))
    parted, labels = [], np.unique(y)
    for (k, r, j), mine in zip(order, seen, strict=True):
        test, other = mine["y"], naive[f"{k} {r} {j}"]
        f, g = mine["decision"], np.array(other["decision"])
        ours[j, r, k], theirs[j, r, k] = (np.mean(labels[(h > 0).astype(int)] == test) for h in (f, g))
        for i in np.flatnonzero((f > 0) != (g > 0)):
            what = f"fold {k}, p = {norm(norms[r])}, C = {Cs[j]:.3g}, example {i}"
            parted.append((what, f[i], g[i], mine["gap"], other["gap"]))
            parted += [
                (f"the same at {t:g}", *_again(kernels, X, y, Cs[j:], norms[r], k, i, t)) for t in (tol / 10, tol / 100)
            ]
    apart = np.abs(ours.mean(axis=2) - theirs.mean(axis=2))
    best = np.unravel_index(np.argmax(theirs.mean(axis=2)), apart.shape)
    chosen = {"C": float(Cs[best[0]]), "regularizer": norms[best[1]]}
    if parted:
        show("Examples that the two part on", ("", "decision", "of the grid", "gap", "of the grid"), parted)
    grid = np.sum([fit["seconds"] for fit in naive.values()])
    console.print(
        f"mean scores differ by at most {apart.max():.1e}, {int((apart > 1e-3).sum())} of {apart.size} by more "
        f"than 1e-3; chosen {model.best_params_}, by the grid {chosen}; largest gap "
        f"{model.cv_results_['max_duality_gap'].max():.1e}; the grid took {grid:.0f} seconds of processors, "
        f"{grid / total[1]:.1f} cold fits, one a p"
    )
    found = {"cold": np.array(cold).tolist(), "search": search.tolist(), "grid": grid, "apart": apart.tolist()}
    found |= {"ratio": search[1] / total[1], "parted": parted}
    return found | {"chosen": str(model.best_params_), "naive": str(chosen)}


def _again(kernels, X, y, Cs, p, k, i, tol):
    """(decision of the search for test example i of fold k at the least of these C, of a cold fit, the two gaps)."""
    from manykernels import MKLClassifier, MKLClassifierCV

    train, test = list(StratifiedKFold(5).split(X, y))[k]
    seen = []
    MKLClassifierCV(kernels, Cs=Cs, regularizer=p, cv=[(train, test)], tol=tol, scoring=_recorder(seen)).fit(X, y)
    cold = MKLClassifier(kernels, C=Cs[0], regularizer=p, tol=tol).fit(X[train], y[train])
    return seen[-1]["decision"][i], cold.decision_function(X[test[i : i + 1]])[0], seen[-1]["gap"], cold.duality_gap_


def _recorder(seen):
    """Accuracy, as a scorer that keeps the decisions and the gap of every fit."""

    def score(model, X, y):
        f = model.decision_function(X)
        seen.append({"decision": f, "gap": model.duality_gap_, "y": y})
        return np.mean(model.classes_[(f > 0).astype(int)] == y)

    return score


def _grid(kernels, X, y, Cs, norms, tol, kept):
    """{"fold regularizer C": decision, gap and seconds of a cold fit}, by their numbers; in the file `kept` so far."""
    from manykernels import MKLClassifier

    done = json.loads(kept.read_text()) if kept.exists() else {}
    for k, (train, test) in enumerate(StratifiedKFold(5).split(X, y)):
        for r, p in enumerate(norms):
            for j, C in enumerate(Cs):
                if f"{k} {r} {j}" in done:
                    continue
                begin = clock()
                model = MKLClassifier(kernels, C=C, regularizer=p, tol=tol).fit(X[train], y[train])
                f, seconds = model.decision_function(X[test]), clock() - begin
                done[f"{k} {r} {j}"] = {"decision": f.tolist(), "gap": model.duality_gap_, "seconds": seconds[1]}
            kept.write_text(json.dumps(done))
    return done


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
