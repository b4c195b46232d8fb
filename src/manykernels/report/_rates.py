"""What held-out decisions say beyond right and wrong: areas under ROC curves, rates at a threshold, calibration."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from ..inspect.relevance_result import spread_of
from ._case import CLASSES, Case

BINS, KNOTS = 10, 60  # of probabilities; points of a curve
LEVEL = 0.95


class Held(NamedTuple):
    """Decisions (n, T) of the held-out examples `rows` of one fold, and P(class) (n, K), or `why` there is none."""

    rows: np.ndarray
    decision: np.ndarray
    proba: np.ndarray | None
    why: str = ""


def held(case: Case, fold: Any, rows: np.ndarray, decision: np.ndarray) -> Held:
    """What one fold decided of its held-out examples."""
    if not hasattr(fold.model, "predict_proba"):
        why = "The model gives decisions and no probabilities, so there is nothing to calibrate: "
        return Held(rows, decision, None, f"{why}loss='logistic' gives probabilities, calibrate='sigmoid' learns them.")
    try:
        return Held(rows, decision, fold.deciding(decision, fitted=True).predict_proba(fold.X))
    except ValueError as error:  # the posterior of some kernels is not known
        return Held(rows, decision, None, f"Probabilities were not checked: {error}")


def rates(case: Case, folds: list[Held], overlap: float) -> dict[str, Any]:
    """{"areas": ..., "threshold": ..., "calibration": ...} of a classifier; {} where the target has several outputs."""
    if case.kind != "classification" or case.y.ndim > 1:
        return {}
    classes = case.model.classes_
    two = len(classes) == 2
    asked = [1] if two else range(min(len(classes), CLASSES))
    found: dict[str, Any] = {"areas": {"rows": [], "total": 1 if two else len(classes)}}
    for k in asked:
        area = _area(case, folds, classes[k], 0 if two else k, overlap)
        if area is not None:
            found["areas"]["rows"].append({"name": str(classes[k])} | area)
    if two:
        found["threshold"] = _at_threshold(case, folds, overlap)
        found["curve"] = _curve(case, folds)
    return found | {"calibration": _calibration(case, folds)}


def _area(case, folds, label, k, overlap):
    """The area under the ROC curve of one class against the rest: the mean over the folds that have both."""
    from sklearn.metrics import roc_auc_score

    pairs = [(case.y[fold.rows] == label, fold.decision[:, k]) for fold in folds]
    values = [float(roc_auc_score(true, f)) for true, f in pairs if 0 < true.sum() < len(true)]
    if not values:
        return None
    spread = spread_of(np.array(values)[:, None], overlap, LEVEL)
    return {"mean": float(spread.mean[0]), "se": float(spread.se[0]), "folds": values, "left": len(folds) - len(values)}


def _at_threshold(case, folds, overlap):
    """Sensitivity and specificity where decisions above the threshold count as the second class, and their counts."""
    from sklearn.metrics import confusion_matrix

    label, counts = case.model.classes_[1], []
    for fold in folds:
        above = fold.decision[:, 0] > case.threshold
        counts.append(confusion_matrix(case.y[fold.rows] == label, above, labels=[False, True]))
    found = {"at": float(case.threshold), "positive": str(label), "negative": str(case.model.classes_[0])}
    for name, k in (("sensitivity", 1), ("specificity", 0)):
        each = np.array([c[k, k] / c[k].sum() for c in counts if c[k].sum()])
        total = np.sum(counts, axis=0)[k]
        found[name] = {"value": float(total[k] / total.sum()), "right": int(total[k]), "of": int(total.sum()),
                       "se": float(spread_of(each[:, None], overlap, LEVEL).se[0])}  # fmt: skip
    return found


def _curve(case, folds):
    """Points (1 − specificity, sensitivity, threshold) of the decisions of all folds together."""
    from sklearn.metrics import roc_curve

    true = case.y[np.concatenate([fold.rows for fold in folds])] == case.model.classes_[1]
    wrong, right, at = roc_curve(true, np.concatenate([fold.decision[:, 0] for fold in folds]))
    keep = np.unique(np.linspace(0, len(at) - 1, min(len(at), KNOTS)).astype(int))
    return [[float(wrong[k]), float(right[k]), float(at[k])] for k in keep]


def _calibration(case, folds):
    """How often what was given a probability was true, in bins of as many examples each; or why that is not known.

    Of two classes the event is the second one, of more that the answer is right.
    """
    why = next((fold.why for fold in folds if fold.proba is None), None)
    if why is not None:
        return {"why": why}
    proba = np.concatenate([fold.proba for fold in folds])
    true, classes = case.y[np.concatenate([fold.rows for fold in folds])], case.model.classes_
    if len(classes) == 2:
        said, came, event = proba[:, 1], true == classes[1], str(classes[1])
    else:
        said, came, event = proba.max(axis=1), classes[proba.argmax(axis=1)] == true, None
    order = np.argsort(said, kind="stable")
    bins = [rows for rows in np.array_split(order, min(BINS, max(len(order) // 10, 1))) if len(rows)]
    rows = [{"said": float(said[b].mean()), "came": float(came[b].mean()), "count": len(b),
             "low": float(said[b].min()), "high": float(said[b].max())} for b in bins]  # fmt: skip
    off = sum(row["count"] * abs(row["said"] - row["came"]) for row in rows) / len(order)
    return {"event": event, "rows": rows, "off": float(off), "brier": float(np.mean((said - came) ** 2))}
