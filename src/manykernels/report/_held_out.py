"""What held-out examples say: scores beside those of a guess, predictions, and what each source is worth."""

from __future__ import annotations

import copy
import math
from typing import Any

import numpy as np

from ..estimators.validation import make_splits
from ..inspect import relevance as measure_relevance
from ..inspect._fold import Fold
from ..inspect._sources import read_sources, shared_columns
from ..inspect.held_out import _scorer
from ..inspect.relevance_result import spread_of
from ..kernels._views import n_examples
from ..kernels.pairs import Pairs
from ._case import CLASSES, FIT, LIMIT, POINTS, SOURCES, Case
from ._nested import chosen_in_folds
from ._rates import held, rates

LEVEL = 0.95  # of intervals
DRAWS = 5  # orders of the held-out examples


def fold_count(cv: Any, case: Case) -> int:
    """How many folds there will be at most; 0 for none."""
    if cv is None or cv == 0 or why_no_folds(case):
        return 0
    return int(cv) if isinstance(cv, int | np.integer) else 5


def why_no_folds(case: Case) -> str:
    """Why nothing can be held out, in words, or nothing."""
    if case.y is None:
        return (
            "A one-class model has no targets to be scored by. Give y, 1 for inliers and −1 for outliers, to have it "
            "scored."
        )
    if hasattr(case.model, "tasks_"):
        return "The model has several tasks, which are not held out here."
    return ""


def _splits(case: Case, cv: Any) -> list:
    """Pairs (train, test); a number of folds is lowered to what the rarest class allows."""
    examples = case.X if isinstance(case.X, Pairs) else np.zeros((n_examples(case.X), 1))
    return make_splits(cv, examples, case.y, case.kind != "regression", case.groups, case.seed)


def score(case: Case, cv: Any, relevance: Any, jobs: int, one_pass: float) -> dict[str, Any]:
    """What held-out examples say: scores, predictions, and what each source is worth."""
    why = "Cross-validation was not asked for (cv=None)." if cv is None or cv == 0 else why_no_folds(case)
    splits = [] if why or not jobs else _splits(case, cv)
    if not splits:
        return {"score": {"why": why or "A class has a single example, so that none can be held out."}, "method": None}
    scorer, worth, rng = _scorer_of(case), _worth_scorer(case), np.random.default_rng(case.seed)
    rows: list[Any] = []
    shared: list[Any] = []
    full = alone = False
    scores, baseline, permuted, gains, told, overlap = [], [], [], [], [], []
    guesses, decided = [], []
    models, nested = chosen_in_folds(case, splits, one_pass)
    for k, (train, test) in enumerate(splits):
        fold = Fold(models[k], case.X, case.y, None, train, test, scorer)
        if not rows:
            rows = _rows(case, fold)
            shared = shared_columns(fold.kernel_list, rows)
            fits = len(splits) * (2 * len(rows) + 2)
            full = case.y.ndim == 1 and (relevance == "full" or relevance == "auto" and fits * one_pass <= LIMIT)
            alone = not full and len(splits) * len(rows) * len(fold.every.b) * 4 * FIT <= LIMIT
        decision = fold.decisions([fold.every])[0]
        scores.append(fold.score(decision))
        dummy = _dummy(case, train)
        baseline.append(float(scorer(dummy, np.zeros((len(test), 1)), case.y[test])))
        guesses.append(dummy.predict(np.zeros((len(test), 1))))
        orders = [rng.permutation(len(test)) for _ in range(DRAWS)]
        judged = copy.copy(fold)
        judged.scorer = worth
        permuted.append(judged.score(decision) - judged.permuted([row.wanted for row in rows], orders).mean(axis=1))
        if alone:
            gains.append(_gains(judged, [row.wanted for row in rows], orders))
        told.append((test, fold.deciding(decision).predict(fold.X)))
        decided.append(held(case, fold, test, decision))
        overlap.append(len(test) / len(train))
        case.tick("held out", k + 1, len(splits))
    both = [spread_of(np.array(v, float)[:, None], float(np.mean(overlap)), LEVEL) for v in (scores, baseline)]
    score = {
        "measure": measure_name(case),
        "folds": [float(v) for v in scores],
        "baseline_folds": [float(v) for v in baseline],
        "mean": float(both[0].mean[0]),
        "se": float(both[0].se[0]),
        "low": float(both[0].low[0]),
        "high": float(both[0].high[0]),
        "baseline": float(both[1].mean[0]),
        "better": _surely_better(scores, baseline, float(np.mean(overlap))) or _more_often_right(case, told, guesses),
        **_told(case, told),
        **rates(case, decided, float(np.mean(overlap))),
        "nested": nested,
    }
    measured = {"permute": np.array(permuted)}
    if alone:
        measured |= {"gain": np.array(gains), "worth": 0.5 * (np.array(permuted) + np.array(gains))}
    spreads = {name: spread_of(values, float(np.mean(overlap)), LEVEL) for name, values in measured.items()}
    found: dict[str, Any] = {"score": score, "method": "fast", "measure": "worth" if alone else "permute"}
    found["scoring"], found["shared"] = measure_name(case, _worth_scoring(case)), [one._asdict() for one in shared]
    found["table"] = {
        row.name: {f"{name}{end}": float(v[k]) for name, spread in spreads.items()
                   for end, v in zip(_ENDS, spread, strict=True)}
        for k, row in enumerate(rows)
    }  # fmt: skip
    if full:
        chosen = {row.name: np.flatnonzero(row.wanted).tolist() for row in rows}
        options: dict[str, Any] = dict(
            sources=chosen, cv=splits, kernels=False, n_jobs=case.n_jobs, random_state=case.seed
        )
        result = measure_relevance(
            case.model, case.X, case.y, scoring=_worth_scoring(case),
            callback=lambda a, b: case.tick("relevance", a, b), **options,
        )  # fmt: skip
        found |= {"method": "full", "measure": "relevance", "table": {row["name"]: row for row in result.table()}}
        found["groups"] = [group._asdict() for group in result.groups]
    return found


def _gains(fold: Fold, wanted: list[np.ndarray], orders: list[np.ndarray]) -> np.ndarray:
    """What each source scores by itself, above what it scores when its rows change places."""
    found = []
    for decision in fold.decisions([fold.solve(mask) for mask in wanted]):
        found.append(fold.score(decision) - np.mean([fold.score(decision[order]) for order in orders]))
    return np.array(found)


def _scoring(case: Case) -> Any:
    return "roc_auc" if case.scoring is None and case.kind == "one-class" else case.scoring


def _worth_scoring(case: Case) -> Any:
    """What sources are judged by: of two classes the area under the ROC curve, which sees more than right and wrong."""
    two = case.kind == "classification" and case.y.ndim == 1 and len(case.model.classes_) == 2
    return "roc_auc" if case.scoring is None and two else _scoring(case)


def _scorer_of(case: Case) -> Any:
    if case.y.ndim > 1:
        from sklearn.metrics import check_scoring

        return check_scoring(case.model, scoring=case.scoring)
    return _scorer(case.model, _scoring(case))


def _worth_scorer(case: Case) -> Any:
    return _scorer_of(case) if case.y.ndim > 1 else _scorer(case.model, _worth_scoring(case))


def measure_name(case: Case, scoring: Any = None) -> str:
    """What scores are."""
    scoring = _scoring(case) if scoring is None else scoring
    if scoring is None:
        return "accuracy" if case.kind == "classification" else "R²"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", scoring))


def _rows(case: Case, fold: Fold) -> list[Any]:
    """The sources to be measured, the heaviest."""
    rows = read_sources(case.model, fold, case.sources, False)
    share = fold.shares([row.wanted for row in rows])
    return [rows[k] for k in np.argsort(-share, kind="stable")[:SOURCES]]


def _dummy(case: Case, train: np.ndarray) -> Any:
    """What looks at no example: the commonest class, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    dummy = DummyRegressor() if case.kind == "regression" else DummyClassifier(strategy="prior")
    return dummy.fit(np.zeros((len(train), 1)), case.y[train])


def _more_often_right(case: Case, told: list, guesses: list) -> bool:
    """Whether the model tells more held-out examples than the commonest class does: McNemar's test, at 1 %."""
    if case.kind != "classification" or case.y.ndim > 1 or measure_name(case) != "accuracy":
        return False
    from scipy.stats import binomtest

    true = case.y[np.concatenate([test for test, _ in told])]
    own, guess = np.concatenate([g for _, g in told]) == true, np.concatenate(guesses) == true
    won, lost = int(np.sum(own & ~guess)), int(np.sum(~own & guess))
    return won > 0 and bool(binomtest(won, won + lost, 0.5, "greater").pvalue < 0.01)


def _surely_better(scores: list[float], baseline: list[float], overlap: float) -> bool:
    """Whether the interval of the differences lies above 0."""
    spread = spread_of((np.array(scores) - np.array(baseline))[:, None], overlap, LEVEL)
    return bool(spread.low[0] > 0)


def _told(case: Case, told: list) -> dict[str, Any]:
    """Predictions of held-out examples: how classes were taken for each other, or numbers beside the true ones."""
    rows = np.concatenate([test for test, _ in told])
    guess, true = np.concatenate([g for _, g in told]), case.y[rows]
    if true.ndim > 1 or case.kind == "one-class":
        return {}
    if case.kind == "classification":
        labels = case.model.classes_
        if len(labels) > CLASSES:
            return {"confusion_why": f"{len(labels)} classes are too many for a table of which is taken for which."}
        counts = [[int(np.sum((true == a) & (guess == b))) for b in labels] for a in labels]
        return {"confusion": {"classes": [str(c) for c in labels.tolist()], "counts": counts}}
    some = np.sort(np.random.default_rng(case.seed).permutation(len(rows))[:POINTS])
    return {
        "points": [[float(true[k]), float(guess[k])] for k in some],
        "points_total": len(rows),
        "error": float(np.abs(true - guess).mean()),
    }


_ENDS = ("", "_se", "_low", "_high")  # mean, standard error, and the ends of the interval


def source_rows(weights: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """A row for each source, the most relevant first, with its weight."""
    shares, measured = weights["sources"], found.get("table", {})
    keep = [f"{key}{end}" for key in ("relevance", "worth", "drop", "permute", "gain", "alone") for end in _ENDS]
    rows: list[dict[str, Any]] = []
    for name, own in shares.items():
        given = measured.get(name, {})
        rows.append({"name": name, **own, **{key: given[key] for key in (*keep, "alignment") if key in given}})
    measure = found.get("measure", "share")
    rows.sort(key=lambda row: (-row.get(measure, -math.inf), -row["share"]))
    hidden = rows[SOURCES:]
    return {
        "method": found.get("method"),
        "measure": measure,
        "scoring": found.get("scoring"),
        "total": len(rows),
        "rows": rows[:SOURCES],
        "left_share": float(sum(row["share"] for row in hidden)),
        "groups": found.get("groups", []),
        "shared": found.get("shared", []),
    }
