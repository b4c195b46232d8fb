"""Measures of held-out decisions: ROC curves, rates at a threshold, calibration, survival by predicted risk."""

from typing import Any, NamedTuple

import numpy as np

from ..inspect.relevance_result import spread_of
from ..inspect.tables import evenly
from ._case import CONFIDENCE, MAX_CLASSES, Case, Facts

CALIBRATION_BINS, CURVE_POINTS = 10, 60
GROUPS = "low", "middle", "high"  # thirds of the predicted risk
LEAST = 10  # examples of a group, below which two groups are shown
MAX_STEPS = 200  # of a curve on the page


class Held(NamedTuple):
    """Decisions (n, T) of the held-out `rows` of one fold, and P(class) (n, K), or None and the reason `why`."""

    rows: np.ndarray
    decision: np.ndarray
    proba: np.ndarray | None
    why: str = ""


def held(fold: Any, rows: np.ndarray, decision: np.ndarray) -> Held:
    """The decisions and probabilities of one fold on its held-out examples."""
    if not hasattr(fold.model, "predict_proba"):  # as scikit-learn asks it, which `Available` answers
        why = "The model gives decisions but no probabilities, so that there is no calibration: "
        return Held(rows, decision, None, f"{why}loss='logistic' gives probabilities, calibrate='sigmoid' learns them.")
    try:
        return Held(rows, decision, fold.deciding(decision, fitted=True).predict_proba(fold.X))
    except ValueError as error:  # some kernels have no posterior
        return Held(rows, decision, None, f"Probabilities were not checked: {error}")


def rates(case: Case, folds: list[Held], overlap: float) -> Facts:
    """{"areas": ..., "threshold": ..., "calibration": ...} of a classifier; {} for several outputs."""
    if case.kind != "classification" or case.y.ndim > 1:
        return {}
    classes = case.model.classes_
    two = len(classes) == 2
    asked = [1] if two else range(min(len(classes), MAX_CLASSES))
    found: Facts = {"areas": {"rows": [], "total": 1 if two else len(classes)}}
    for k in asked:
        area = _area(case, folds, classes[k], 0 if two else k, overlap)
        if area is not None:
            found["areas"]["rows"].append({"name": str(classes[k])} | area)
    if two:
        found["threshold"] = _at_threshold(case, folds, overlap)
        found["curve"] = _curve(case, folds)
    return found | {"calibration": _calibration(case, folds)}


def _area(case, folds, label, k, overlap):
    """The area under the ROC curve of one class against the rest: the mean over the folds with both."""
    from sklearn.metrics import roc_auc_score

    pairs = [(case.y[fold.rows] == label, fold.decision[:, k]) for fold in folds]
    values = [float(roc_auc_score(true, f)) for true, f in pairs if 0 < true.sum() < len(true)]
    if not values:
        return None
    spread = spread_of(np.array(values)[:, None], overlap, CONFIDENCE)
    return {"mean": float(spread.mean[0]), "se": float(spread.se[0]), "folds": values, "left": len(folds) - len(values)}


def _at_threshold(case, folds, overlap):
    """Sensitivity and specificity at the threshold, and their counts."""
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
                       "se": float(spread_of(each[:, None], overlap, CONFIDENCE).se[0])}  # fmt: skip
    return found


def _curve(case, folds):
    """Points (1 − specificity, sensitivity, threshold) of the pooled decisions of all folds."""
    from sklearn.metrics import roc_curve

    true = case.y[np.concatenate([fold.rows for fold in folds])] == case.model.classes_[1]
    wrong, right, at = roc_curve(true, np.concatenate([fold.decision[:, 0] for fold in folds]))
    keep = evenly(len(at), CURVE_POINTS)
    return [[float(wrong[k]), float(right[k]), float(at[k])] for k in keep]


def _calibration(case, folds):
    """Mean probability and observed frequency in bins of equally many examples, or the reason why there are none.

    The event is the second of two classes; for more classes, that the prediction is correct.
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
    bins = [rows for rows in np.array_split(order, min(CALIBRATION_BINS, max(len(order) // 10, 1))) if len(rows)]
    rows = [{"said": float(said[b].mean()), "came": float(came[b].mean()), "count": len(b),
             "low": float(said[b].min()), "high": float(said[b].max())} for b in bins]  # fmt: skip
    off = sum(row["count"] * abs(row["said"] - row["came"]) for row in rows) / len(order)
    return {"event": event, "rows": rows, "off": float(off), "brier": float(np.mean((said - came) ** 2))}


def kaplan_meier(event: np.ndarray, time: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(times of events, the share that lives on after each): Π_{t_k ≤ t} (1 − d_k / n_k)."""
    times, deaths = np.unique(time[event], return_counts=True)
    at_risk = len(time) - np.searchsorted(np.sort(time), times)
    return times, np.cumprod(1.0 - deaths / at_risk)


def risk_ranks(risk: np.ndarray) -> np.ndarray:
    """The share of the examples with a lower risk, for each example."""
    return np.argsort(np.argsort(risk, kind="stable")) / len(risk)


def group_names(n: int) -> tuple[str, ...]:
    """The groups of n examples by risk."""
    return GROUPS if n >= 3 * LEAST else (GROUPS[0], GROUPS[-1])


def curves(y: np.ndarray, folds: list[np.ndarray], risks: list[np.ndarray]) -> Facts:
    """The facts: a curve for each third of the risk, ranked within each fold, since folds have different models."""
    names, rank = group_names(len(y)), np.concatenate([risk_ranks(risk) for risk in risks])
    rows, group = np.concatenate(folds), (rank * len(names)).astype(int)
    event, time, found = y["event"][rows], y["time"][rows], []
    for k, name in enumerate(names):
        own = group == k
        at, share = kaplan_meier(event[own], time[own])
        some = evenly(len(at), MAX_STEPS)
        found.append({
            "name": name, "examples": int(own.sum()), "events": int(event[own].sum()),
            "last": float(time[own].max(initial=0.0)), "curve": [[float(at[i]), float(share[i])] for i in some],
        })  # fmt: skip
    return {"survival": {"groups": found}}
