"""Measurements on held-out examples: scores, also nested ones and those of a baseline, predictions, and relevance."""

from typing import Any

import numpy as np
from sklearn.base import clone

from ..estimators.check_inputs import optional
from ..estimators.check_targets import make_splits
from ..estimators.choose_c import is_auto
from ..estimators.search import grid_of_C, list_of_regularizers
from ..inspect.fold import Fold
from ..inspect.held_out import name_of, scorer_of, small_enough
from ..inspect.relevance_result import spread_of
from ..kernels.pairs import Pairs
from ..kernels.view_data import n_examples
from ._case import MAX_CLASSES, MAX_ENTRIES, MAX_POINTS, MAX_SOURCES, Case, Facts
from ._decisions import Decisions
from ._rates import Held, curves, held, rates
from ._worth import CONFIDENCE, Plan, certain, make_plan, measure_units, worth_of

_SAVED = "the saved model does not include its search; make the report from the search, before you save it."
TOO_FEW = {"survival": "There is a single event", "regression": "There are fewer than four examples"}


def fold_count(cv: Any, case: Case) -> int:
    """An upper bound on the number of folds; 0 for none."""
    if cv is None or cv == 0 or why_no_folds(case):
        return 0
    return int(cv) if isinstance(cv, int | np.integer) else 5


def why_no_folds(case: Case) -> str:
    """A sentence that says why no example can be held out, or ""."""
    if case.y is None:
        return (
            "A one-class model has no targets, so that it has no score. For a score, give y with 1 for inliers and −1 "
            "for outliers."
        )
    if case.several_tasks:
        return "The model has several tasks, and the report cannot hold out examples of such a model."
    return ""


def _splits(case: Case, cv: Any) -> list:
    """Pairs (train, test)."""
    examples = case.X if isinstance(case.X, Pairs) else np.zeros((n_examples(case.X), 1))
    return make_splits(cv, examples, case.y, case.kind != "regression", case.groups, case.seed)


def score(case: Case, cv: Any, relevance: Any, jobs: int, one_pass: float, decided: Decisions | None = None) -> dict:
    """Held-out scores, predictions, and the relevance of each source.

    The verdict is about units: single sources, and groups of joined sources (`find_units`).
    """
    why = "The report was asked for no cross-validation (cv=None)." if cv is None or cv == 0 else why_no_folds(case)
    splits = [] if why or not jobs else _splits(case, cv)
    if not splits:
        few = TOO_FEW.get(case.kind, "A class has a single example")
        return {"score": {"why": why or f"{few}, which cannot be held out."}, "method": None}
    scorer, worth = (scorer_of(case.model, scoring) for scoring in (_scoring(case), _worth_scoring(case)))
    models, nested = chosen_in_folds(case, splits, one_pass)
    plan: Plan | None = None
    kept: dict[int, Fold] = {}  # for the refits
    fits: list[Any] = []
    seen: list[Any] = []
    for k, (train, test) in enumerate(splits):
        fold = Fold(models[k], case.X, case.y, None, train, test, scorer, covariates=case.covariates)
        plan = make_plan(case, fold, relevance, len(splits)) if plan is None else plan
        decision = fold.ends[0]
        dummy, empty = _dummy(case, fold, train), np.zeros((len(test), 1))
        seen.append((
            fold.score(decision), float(scorer(dummy, empty, case.y[test])), dummy.predict(empty),
            (test, fold.deciding(decision).predict(fold.X)), held(fold, test, decision), len(test) / len(train),
        ))  # fmt: skip
        if decided is not None:
            decided.take(fold, decision, test, plan.sources)
        fits.append(fold.every)
        models[k], fold.scorer = _with_C_of(fold, models[k]), worth
        if small_enough(fold, len(splits)):
            kept[k] = fold
        case.tick("held out", k + 1, len(splits))
    assert plan is not None  # splits are not empty
    scores, baseline, guesses, told, answers, overlap = map(list, zip(*seen, strict=True))
    shared = float(np.mean(overlap))
    own, other = (spread_of(np.array(v)[:, None], shared, CONFIDENCE) for v in (scores, baseline))
    measured = rates(case, answers, shared)
    score = {
        "measure": measure_name(case),
        "folds": scores,
        "baseline_folds": baseline,
        **{key: float(v[0]) for key, v in own._asdict().items()},
        "baseline": float(other.mean[0]),
        "better": _surely_better(scores, baseline, shared) or _more_often_right(case, told, guesses),
        **_told(case, told, answers),
        **measured,
        "orders": _surely_orders(case, measured, shared),
        "nested": nested,
    }

    def again(k, _=None):
        return Fold(models[k], case.X, case.y, None, *splits[k], worth, fits[k], case.covariates)

    found = measure_units(case, plan, again, kept, [len(test) for _, test in splits])
    found |= {"score": score, "scoring": measure_name(case, _worth_scoring(case))}
    found["settled"] = score["better"] or score["orders"]
    return _with_sites(found, case, splits, scores, baseline)


def chosen_in_folds(case: Case, splits: list, one_pass: float) -> tuple[list[Any], Facts | None]:
    """(the model of each fold, the facts): after a search, the candidate chosen on the training fold alone."""
    same = [case.model] * len(splits)
    if case.search is None:
        known = optional(case.model, "searched_")
        return same, None if known in (None, 1) else {"done": False, "candidates": known, "why": _SAVED}
    search = case.search
    candidates = len(grid_of_C(search.Cs)) * len(list_of_regularizers(search.regularizer))
    if candidates == 1:
        return same, None
    found: Facts = {"done": False, "candidates": candidates}
    fits = len(splits) * candidates * int(search.n_splits_)
    if fits * one_pass > 4 * MAX_ENTRIES:
        return same, found | {"why": f"{fits:,} fits would take too long; give a smaller max_examples."}
    splitter = hasattr(search.cv, "split")  # of scikit-learn
    if not splitter and not isinstance(search.cv, int | np.integer | str | None):
        return same, found | {"why": "the search has fixed folds, which do not apply to a part of the examples."}
    models, chosen = [], []
    for k, (train, _) in enumerate(splits):
        own = case.take(train)
        inner = clone(search).set_params(verbose=False)
        try:
            inner.fit(own.X, own.y, groups=own.groups, covariates=own.covariates)
        except ValueError as error:
            return same, found | {"why": f"the search failed on a training fold ({error})."}
        best = {"C": inner.C_, "regularizer": inner.regularizer_}
        models.append(clone(case.model).set_params(**best))
        chosen.append({"C": float(inner.C_), "regularizer": repr(inner.regularizer_)})
        case.tick("nested search", k + 1, len(splits))
    return models, found | {"done": True, "chosen": chosen}


def _with_C_of(fold: Fold, model: Any) -> Any:
    """The model with the C that the fold chose, so that it is not chosen again; EmpiricalBayes learns it."""
    known = is_auto(model.C) and not fold.plan.regularizer.bayesian
    return clone(model).set_params(C=fold.plan.examples.C) if known else model


def _with_sites(found: Facts, case: Case, splits: list, scores: list, baseline: list) -> Facts:
    """The facts with those of each held-out group, such as a site, if every fold holds out one group."""
    each = found.pop("each")
    held_out = [] if case.groups is None else [np.unique(case.groups[test]) for _, test in splits]
    if len(held_out) < 2 or any(len(names) > 1 for names in held_out):
        return found
    rows = [
        {"name": str(names[0]), "examples": len(test), "score": float(score), "baseline": float(guess)}
        for names, (_, test), score, guess in zip(held_out, splits, scores, baseline, strict=True)
    ]
    for k, row in enumerate(rows):
        row["relevance"] = {name: float(values[k]) for name, values in each.items() if np.isfinite(values).all()}
    return found | {"sites": rows}


def _scoring(case: Case) -> Any:
    return "roc_auc" if case.scoring is None and case.kind == "one-class" else case.scoring


def _worth_scoring(case: Case) -> Any:
    """The score for the relevance of sources; the area under the ROC curve for two classes, as the finer measure."""
    two = case.kind == "classification" and case.y.ndim == 1 and len(case.model.classes_) == 2
    return "roc_auc" if case.scoring is None and two else _scoring(case)


def measure_name(case: Case, scoring: Any = None) -> str:
    """The name of the score."""
    return name_of(_scoring(case) if scoring is None else scoring, case.model)


def _dummy(case: Case, fold: Fold, train: np.ndarray) -> Any:
    """The baseline that ignores X: the covariates alone, the most frequent class, a constant, or equal risks."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    if case.covariates is not None or case.kind == "survival":
        return fold.deciding(fold.ends[1])
    loss, Y = fold.plan.examples.loss, fold.plan.examples.Y
    if case.kind == "regression" and loss.own_score:  # of Quantile a quantile of y, of Poisson the mean
        best = [loss.intercept(y, np.zeros_like(y), np.ones_like(y)) for y in Y]
        return fold.deciding(np.tile(best, (fold.n_test, 1)))
    dummy = DummyRegressor() if case.kind == "regression" else DummyClassifier(strategy="prior")
    return dummy.fit(np.zeros((len(train), 1)), case.y[train])


def _more_often_right(case: Case, told: list, guesses: list) -> bool:
    """Whether the model beats the guess on held-out examples: McNemar's test, at 1 %."""
    if case.kind != "classification" or case.y.ndim > 1 or measure_name(case) != "accuracy":
        return False
    from scipy.stats import binomtest

    rows, named = map(np.concatenate, zip(*told, strict=True))
    own, guess = named == case.y[rows], np.concatenate(guesses) == case.y[rows]
    won, lost = int(np.sum(own & ~guess)), int(np.sum(~own & guess))
    return won > 0 and bool(binomtest(won, won + lost, 0.5, "greater").pvalue < 0.01)


def _surely_orders(case: Case, measured: Facts, overlap: float) -> bool:
    """Whether the decisions of two classes clearly order them: the interval of the area lies above ½.

    Relevance is measured in this area, unless the user gives a score. Covariates alone may order the classes.
    """
    other = case.scoring is not None or case.covariates is not None
    if other or "threshold" not in measured or not measured["areas"]["rows"]:
        return False
    areas = measured["areas"]["rows"][0]["folds"]
    return len(areas) > 1 and _surely_better(areas, [0.5] * len(areas), overlap)


def _surely_better(scores: list[float], baseline: list[float], overlap: float) -> bool:
    """Whether the interval of the differences between scores and baseline lies above 0."""
    spread = spread_of((np.array(scores) - np.array(baseline))[:, None], overlap, CONFIDENCE)
    return bool(spread.low[0] > 0)


def _told(case: Case, told: list, answers: list[Held]) -> Facts:
    """Predictions of held-out examples: a confusion matrix, or pairs (true, predicted).

    `case.threshold` separates two classes; `predict` uses 0.
    """
    if case.kind == "survival":
        return curves(case.y, *map(list, zip(*told, strict=True)))
    rows, guess = map(np.concatenate, zip(*told, strict=True))
    true = case.y[rows]
    if true.ndim > 1 or case.kind == "one-class":
        return {}
    if case.kind == "classification":
        labels = case.model.classes_
        if len(labels) > MAX_CLASSES:
            return {"confusion_why": f"{len(labels)} classes are too many for a confusion matrix."}
        if len(labels) == 2:
            guess = labels[(np.concatenate([fold.decision[:, 0] for fold in answers]) > case.threshold).astype(int)]
        counts = [[int(np.sum((true == a) & (guess == b))) for b in labels] for a in labels]
        return {"confusion": {"classes": [str(c) for c in labels.tolist()], "counts": counts}}
    some = np.sort(np.random.default_rng(case.seed).permutation(len(rows))[:MAX_POINTS])
    return {
        "points": [[float(true[k]), float(guess[k])] for k in some],
        "points_total": len(rows),
        "error": float(np.abs(true - guess).mean()),
        "below": float(np.mean(true <= guess)),
    }


NOT_MEASURED: Facts = {
    "settled": True, "method": None, "measure": "share", "scoring": None, "groups": [], "shared": [], "refitted": None,
    "alike": {}, "sites": [],
}  # fmt: skip


def source_rows(weights: Facts, found: Facts) -> Facts:
    """A row for each source, the most relevant first, with its weight; and the units of the verdict."""
    facts: Facts = {key: found.get(key, value) for key, value in NOT_MEASURED.items()}
    units, table = found.get("units", []), found.get("table", {})

    def worth(row):
        return worth_of(row, facts["measure"])

    joined = {name: unit.name for unit in units if unit.why for name in unit.members}
    several = {one["name"] for one in facts["shared"] if one["taken"]}.difference(joined)
    shares = dict.fromkeys((name for unit in units for name in unit.members), {"share": 0.0, "kernels": 0})
    shares |= weights["sources"]
    rows = [
        {"name": name, **own, **table.get(name, {}), "joined": joined.get(name), "several": name in several}
        for name, own in shares.items()
    ]
    judged = []
    for unit in units:
        whole = {key: sum(shares[name][key] for name in unit.members) for key in ("share", "kernels")}
        own = {"members": unit.members, "why": unit.why}
        judged.append({"name": unit.name, **whole, **table.get(unit.name, {}), **own})
    rows.sort(key=worth)
    judged.sort(key=worth)
    facts |= {
        "total": len(rows),
        "rows": rows[:MAX_SOURCES],
        "left_share": float(sum(row["share"] for row in rows[MAX_SOURCES:])),
        "units": judged,
    }
    sure = certain(facts)
    return facts | {"verdict": [unit["name"] for unit in judged if unit["name"] in sure]}
