"""What a report has to say of a model, as numbers and names that JSON can hold.

Work is bounded before it begins: a fit on n examples and M kernels reads n² M entries some times, and what is done here
may cost `LIMIT` entries for the folds, as many for relevance, and twice that for stability; examples are drawn where
there are more. What was left out for it stands in the facts.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import is_classifier, is_outlier_detector

from .._pictures import as_shares
from ..estimators._base import _n_examples, _take
from ..inspect import AlignmentDisplay, StabilityDisplay, bootstrap_weights
from ..inspect import relevance as measure_relevance
from ..inspect._fold import Fold
from ..inspect._sources import read_sources
from ..inspect.displays._base import class_names, members_of
from ..inspect.displays.decision_display import _one_output
from ..inspect.held_out import _scorer
from ..inspect.relevance_result import spread_of

LIMIT = 4e9  # entries of kernels, times fits
SOURCES, KERNELS, ALIGNED, POINTS, STEPS = 40, 40, 30, 300, 60  # rows and marks at most
CLASSES, PARTS, EXAMPLES = 12, 6, 6
LEVEL = 0.95  # of intervals
DRAWS = 5  # orders of the held-out examples

Tick = Callable[[str, int, int], None]


class Case(NamedTuple):
    """A fitted model with the data that it is measured on, and what was asked for."""

    model: Any
    X: Any
    y: Any
    kind: str
    sources: dict[str, Any] | None
    scoring: Any
    n_jobs: int | None
    seed: int
    tick: Tick

    @property
    def outputs(self):
        return len(self.model.intercept_)

    def part(self, rows):
        """(X, y) of some examples; of matrices their rows and columns."""
        X = self.X[np.ix_(rows, rows)] if self.model._is_precomputed() else _take(self.X, rows)
        return X, None if self.y is None else self.y[rows]


def kind_of(model: Any) -> str:
    """What a model does."""
    if is_outlier_detector(model):
        return "one-class"
    return "classification" if is_classifier(model) else "regression"


def measure(case: Case, cv: Any, relevance: Any, stability: int, examples: Any, max_examples: int | None) -> dict:
    """The facts of all sections, but for those of data and settings."""
    facts: dict[str, Any] = {"weights": _weights(case), "convergence": _convergence(case.model), "cost": {}}
    n, M = _n_examples(case.X), len(case.model.kernel_names_)
    outputs = 1 if np.ndim(case.model.kernel_weights_) == 1 else case.outputs
    jobs = _fold_count(cv, case)
    room = int(math.sqrt(LIMIT / (max(jobs, 1) * M * outputs)))
    used = min(n, max(room, 50), n if max_examples is None else max_examples)
    rows = _sample(case, used) if used < n else np.arange(n)
    facts["sampled"] = {"examples": n, "used": len(rows), "asked": max_examples is not None and used == max_examples}
    case = case._replace(**dict(zip(("X", "y"), case.part(rows), strict=True))) if used < n else case
    one_pass = float(len(rows)) ** 2 * M * outputs
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("score", lambda: _score(case, cv, relevance, jobs, one_pass)),
        ("stability", lambda: _stability(case, stability)),
        ("alignment", lambda: _alignment(case)),
        ("examples", lambda: _examples(case, examples, rows)),
    ]
    for name, step in steps:
        begin = time.perf_counter()
        facts[name] = step()
        facts["cost"][name] = time.perf_counter() - begin
    found = facts.pop("score")
    return facts | {"score": found.pop("score"), "sources": _sources(facts["weights"], found)}


def _sample(case: Case, size: int) -> np.ndarray:
    """Rows drawn at random, evenly over the values of the target."""
    n, rng = _n_examples(case.X), np.random.default_rng(case.seed)
    y = None if case.y is None or case.y.ndim > 1 else np.unique(case.y, return_inverse=True)[1]
    order = np.lexsort((rng.random(n), np.zeros(n) if y is None else y))
    return np.sort(order[np.linspace(0, n - 1, size).astype(int)])


def _weights(case: Case) -> dict[str, Any]:
    """Shares of the kernel weights: of kernels, of sources, and of sources in each class."""
    model = case.model
    theta = np.atleast_2d(model.kernel_weights_)
    shares = as_shares(theta.mean(axis=0))
    names, members = members_of(model, "source", case.sources)
    source_of = {int(m): name for name, which in zip(names, members, strict=True) for m in which}
    order = np.argsort(-shares, kind="stable")
    alive = order[shares[order] > 0]
    found = {
        "kernels": len(shares),
        "alive": len(alive),
        "rows": [
            {"name": str(model.kernel_names_[m]), "source": source_of.get(int(m)), "share": float(shares[m])}
            for m in alive[:KERNELS]
        ],
        "sources": {
            name: {"share": float(shares[which].sum()), "kernels": len(which)}
            for name, which in zip(names, members, strict=True)
        },
    }
    if len(theta) > 1:
        each = as_shares(theta)
        heavy = np.argsort([-each[:, which].sum() for which in members], kind="stable")[:SOURCES]
        few = slice(0, CLASSES)
        found["classes"] = {
            "names": class_names(model)[few],
            "total": len(theta),
            "sources": [names[k] for k in heavy],
            "shares": [each[few, members[k]].sum(axis=1).tolist() for k in heavy],
        }
    return found


def _fold_count(cv: Any, case: Case) -> int:
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
    from sklearn.model_selection import KFold, StratifiedKFold, check_cv

    from ..kernels.pairs import Pairs

    n, y = _n_examples(case.X), case.y
    examples = case.X if isinstance(case.X, Pairs) else np.zeros((n, 1))
    if not isinstance(cv, int | np.integer):
        return list(check_cv(cv, y, classifier=case.kind == "classification").split(examples, y))
    labels = case.kind != "regression" and y.ndim == 1
    most = int(np.unique(y, return_counts=True)[1].min()) if labels else n // 2
    folds = min(int(cv), most)
    if folds < 2:
        return []
    splitter = (StratifiedKFold if labels else KFold)(folds, shuffle=True, random_state=case.seed)
    return list(splitter.split(np.zeros(n), y))


def _score(case: Case, cv: Any, relevance: Any, jobs: int, one_pass: float) -> dict[str, Any]:
    """What held-out examples say: scores, predictions, and what each source is worth."""
    why = "Cross-validation was not asked for (cv=None)." if cv is None or cv == 0 else why_no_folds(case)
    splits = [] if why or not jobs else _splits(case, cv)
    if not splits:
        return {"score": {"why": why or "A class has a single example, so that none can be held out."}, "method": None}
    scorer, rng = _scorer_of(case), np.random.default_rng(case.seed)
    rows: list[Any] = []
    scores, baseline, permuted, told, overlap = [], [], [], [], []
    for k, (train, test) in enumerate(splits):
        fold = Fold(case.model, case.X, case.y, None, train, test, scorer)
        rows = rows or _rows(case, fold)
        decision = fold.decisions([fold.every])[0]
        scores.append(fold.score(decision))
        baseline.append(_baseline(case, scorer, train, test))
        orders = [rng.permutation(len(test)) for _ in range(DRAWS)]
        permuted.append(scores[-1] - fold.permuted([row.wanted for row in rows], orders).mean(axis=1))
        told.append((test, fold.deciding(decision).predict(fold.X)))
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
        "better": _surely_better(scores, baseline, float(np.mean(overlap))),
        **_told(case, told),
    }
    spread = spread_of(np.array(permuted), float(np.mean(overlap)), LEVEL)
    found: dict[str, Any] = {
        "score": score,
        "method": "fast",
        "permute": {
            row.name: dict(zip(("mean", "se", "low", "high"), (float(v[k]) for v in spread), strict=True))
            for k, row in enumerate(rows)
        },
    }
    fits = len(splits) * (2 * len(rows) + 2)
    full = relevance == "full" or relevance == "auto" and fits * one_pass <= LIMIT
    if full and case.y.ndim == 1 and rows:
        chosen = {row.name: np.flatnonzero(row.wanted).tolist() for row in rows}
        options: dict[str, Any] = dict(
            sources=chosen, cv=splits, kernels=False, n_jobs=case.n_jobs, random_state=case.seed
        )
        result = measure_relevance(
            case.model, case.X, case.y, scoring=_scoring(case), callback=lambda a, b: case.tick("relevance", a, b),
            **options,
        )  # fmt: skip
        found |= {"method": "full", "table": {row["name"]: row for row in result.table()}}
        found["groups"] = [group._asdict() for group in result.groups]
    return found


def _scoring(case: Case) -> Any:
    return "roc_auc" if case.scoring is None and case.kind == "one-class" else case.scoring


def _scorer_of(case: Case) -> Any:
    if case.y.ndim > 1:
        from sklearn.metrics import check_scoring

        return check_scoring(case.model, scoring=case.scoring)
    return _scorer(case.model, _scoring(case))


def measure_name(case: Case) -> str:
    """What scores are."""
    scoring = _scoring(case)
    if scoring is None:
        return "accuracy" if case.kind == "classification" else "R²"
    return scoring if isinstance(scoring, str) else str(getattr(scoring, "__name__", scoring))


def _rows(case: Case, fold: Fold) -> list[Any]:
    """The sources to be measured, the heaviest."""
    rows = read_sources(case.model, fold, case.sources, False)
    share = fold.shares([row.wanted for row in rows])
    return [rows[k] for k in np.argsort(-share, kind="stable")[:SOURCES]]


def _baseline(case: Case, scorer: Any, train: np.ndarray, test: np.ndarray) -> float:
    """The score of what looks at no example: the commonest class, or the mean."""
    from sklearn.dummy import DummyClassifier, DummyRegressor

    X = np.zeros((len(case.y), 1))
    dummy = DummyRegressor() if case.kind == "regression" else DummyClassifier(strategy="prior")
    return float(scorer(dummy.fit(X[train], case.y[train]), X[test], case.y[test]))


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


def _sources(weights: dict[str, Any], found: dict[str, Any]) -> dict[str, Any]:
    """A row for each source, the most relevant first, with its weight."""
    shares, permute, full = weights["sources"], found.get("permute", {}), found.get("table", {})
    rows = []
    for name, own in shares.items():
        row: dict[str, Any] = {"name": name, **own}
        if name in permute:
            row |= {f"permute{end}": permute[name][key] for end, key in _ENDS}
        if name in full:
            keep = ("relevance", "drop", "alone", "gain")
            row |= {f"{key}{end}": full[name][f"{key}{end}"] for key in keep for end, _ in _ENDS}
            row |= {f"permute{end}": full[name][f"permute{end}"] for end, _ in _ENDS}
            row["alignment"] = full[name]["alignment"]
        rows.append(row)
    measure = {"full": "relevance", "fast": "permute"}.get(found.get("method") or "", "share")
    rows.sort(key=lambda row: (-row.get(measure, -math.inf), -row["share"]))
    hidden = rows[SOURCES:]
    return {
        "method": found.get("method"),
        "measure": measure,
        "total": len(rows),
        "rows": rows[:SOURCES],
        "left_share": float(sum(row["share"] for row in hidden)),
        "groups": found.get("groups", []),
    }


_ENDS = (("", "mean"), ("_se", "se"), ("_low", "low"), ("_high", "high"))


def _stability(case: Case, samples: int) -> dict[str, Any]:
    """Shares of sources over bootstrap samples."""
    if not samples:
        return {"why": "Stability was not asked for (stability=0)."}
    if hasattr(case.model, "tasks_"):
        return {"why": "The model has several tasks, which are not drawn here."}
    tick = lambda a, b: case.tick("stability", a, b)  # noqa: E731
    y = case.y if case.kind != "one-class" else None
    boot = bootstrap_weights(case.model, case.X, y, samples, case.seed, case.n_jobs, tick)
    if boot.shape[1:] != np.shape(case.model.kernel_weights_):
        return {"why": "The kernels depend on the sample, so that their weights cannot be compared between samples."}
    shares = as_shares(boot.mean(axis=1) if boot.ndim == 3 else boot)
    names, members = members_of(case.model, "source", case.sources)
    grouped = np.stack([shares[:, which].sum(axis=1) for which in members], axis=1)
    whole = as_shares(np.atleast_2d(case.model.kernel_weights_).mean(axis=0))
    found = StabilityDisplay(grouped, names, [whole[which].sum() for which in members], 0.9)
    order = np.argsort(-grouped.mean(axis=0), kind="stable")
    order = order[grouped.mean(axis=0)[order] > 0]
    columns = dict(low=found.low, median=found.median, high=found.high, selected=found.selected, share=found.fitted)
    return {
        "samples": samples,
        "level": 0.9,
        "total": len(names),
        "alive": len(order),
        "rows": [{"name": names[m], **{k: float(v[m]) for k, v in columns.items()}} for m in order[:SOURCES]],
    }


def _alignment(case: Case) -> dict[str, Any]:
    """Centred alignments between kernels, alike ones side by side."""
    if len(case.model.kernel_names_) < 2:
        return {"why": "There is one kernel only."}
    if hasattr(case.model, "tasks_"):
        return {"why": "The model has several tasks, which are not compared here."}
    y = None if case.y is None or case.y.ndim > 1 or case.kind == "one-class" else case.y
    try:
        found = AlignmentDisplay.measured(case.model, case.X, y, ALIGNED, 400, case.seed)
    except ValueError as error:
        return {"why": str(error)}
    order = found.order
    return {
        "total": found.total,
        "names": [found.names[m] for m in order],
        "values": found.alignments[np.ix_(order, order)].round(4).tolist(),
        "target": None if found.target is None else found.target[order].tolist(),
    }


def _examples(case: Case, examples: Any, rows: np.ndarray) -> dict[str, Any]:
    """Single decisions of the model as sums over sources."""
    if isinstance(examples, int | np.integer) and examples == 0:
        return {"why": "No examples were asked for (examples=0)."}
    if hasattr(case.model, "tasks_"):
        return {"why": "The model has several tasks, and decisions need to know them."}
    if case.outputs > 1 and (case.kind == "regression" or getattr(case.model, "multilabel_", False)):
        return {"why": f"The model has {case.outputs} outputs; decision_parts splits each of them."}
    if case.model._is_precomputed() and len(rows) < case.model.n_features_in_:
        return {"why": "The matrices hold other examples than those the model was fitted to."}
    chosen, why = _choose(case, examples, rows)
    parts = case.model.decision_parts(_take(case.X, chosen))
    (parts, intercept), labels, label = _one_output(case.model, parts, None)
    names, members = members_of(case.model, "source", case.sources)
    grouped = np.stack([parts[:, which].sum(axis=1) for which in members], axis=1)
    ids = _ids(case.X)
    shown = []
    for k, row in enumerate(chosen):
        heavy = np.argsort(-np.abs(grouped[k]), kind="stable")
        heavy = heavy[grouped[k][heavy] != 0]
        rest = heavy[PARTS:]
        shown.append(
            {
                "row": int(rows[row]),
                "id": None if ids is None else str(ids[row]),
                "why": why[k],
                "prediction": labels[k] or None,
                "true": None if case.y is None else _plain(case.y[row]),
                "parts": [{"name": names[m], "value": float(grouped[k, m])} for m in heavy[:PARTS]],
                "others": {"count": len(rest), "value": float(grouped[k][rest].sum())},
                "intercept": float(intercept[k]),
                "sum": float(grouped[k].sum() + intercept[k]),
            }
        )
    return {"label": label, "rows": shown}


def _choose(case: Case, examples: Any, rows: np.ndarray) -> tuple[np.ndarray, list[str]]:
    """Which rows of the sample are shown, and why: those asked for, or some clear, close and mistaken ones."""
    n = len(rows)
    if not (examples is None or isinstance(examples, int | np.integer)):
        wanted = np.atleast_1d(np.asarray(examples))
        place = {int(row): k for k, row in enumerate(rows)}
        lost = [int(row) for row in wanted if int(row) not in place]
        if lost:
            raise ValueError(
                f"examples has row {lost[0]}, which is none of the {n} rows that are looked at: give numbers of rows "
                f"from 0 to {int(rows.max())}{'' if n > rows.max() else ', and a larger max_examples'}."
            )
        return np.array([place[int(row)] for row in wanted]), ["chosen by you"] * len(wanted)
    size = EXAMPLES if examples is None else int(examples)
    decision = case.model._decide(case.X)
    if case.kind == "regression":
        error = decision[:, 0] - case.y
        lists = [
            ("the largest overestimate", np.argsort(-error)),
            ("the largest underestimate", np.argsort(error)),
            ("the highest prediction", np.argsort(-decision[:, 0])),
            ("the lowest prediction", np.argsort(decision[:, 0])),
            ("among the most exact", np.argsort(np.abs(error))),
        ]
    elif case.kind == "one-class":
        lists = [
            ("the farthest outside", np.argsort(decision[:, 0])),
            ("near the border", np.argsort(np.abs(decision[:, 0]))),
            ("among the most typical", np.argsort(-decision[:, 0])),
        ]
    else:
        margin = _margins(case, decision)
        wrong = np.argsort(margin)
        lists = [
            ("among the most mistaken", wrong[margin[wrong] < 0]),
            ("a close call", np.argsort(np.abs(margin))),
            ("among the clearest", np.argsort(-margin)),
        ]
    found: dict[int, str] = {}
    for turn in range(n):
        for why, order in lists:
            free = [int(row) for row in order[: turn + 1 + len(found)] if int(row) not in found]
            if free and len(found) < min(size, n):
                found[free[0]] = why
        if len(found) >= min(size, n):
            break
    order_of = {why: k for k, (why, _) in enumerate(lists)}
    chosen = sorted(found, key=lambda row: order_of[found[row]])
    return np.array(chosen), [found[row] for row in chosen]


def _margins(case: Case, decision: np.ndarray) -> np.ndarray:
    """How far each example is on the right side of its border."""
    classes = case.model.classes_
    code = np.searchsorted(classes, case.y)
    if decision.shape[1] == 1:
        return np.where(code == 1, 1.0, -1.0) * decision[:, 0]
    every = np.arange(len(code))
    others = decision.copy()
    others[every, code] = -np.inf
    return decision[every, code] - others.max(axis=1)


def _ids(X: Any) -> Any:
    """The names of the examples, where the data have some beyond their numbers."""
    index = getattr(X, "index", None)
    if index is None or callable(index):
        return None
    found = np.asarray(index)
    return None if found.dtype.kind in "iu" and getattr(index, "name", None) is None else found


def _plain(value: Any) -> Any:
    return value.item() if isinstance(value, np.generic) else value


def _convergence(model: Any) -> dict[str, Any]:
    """The gap after each step, of each class."""
    runs: dict[Any, list[dict]] = {}
    for step in model.history_:
        runs.setdefault(step.get("class"), []).append(step)
    if not runs:
        return {"why": "The weights were found by a rule, without steps."}
    bayes = all(math.isnan(step["gap"]) for step in model.history_)
    key = "stationarity" if bayes else "gap"
    order = sorted(runs, key=lambda label: -len(runs[label]))
    found = []
    for label in order[:CLASSES]:
        run = runs[label]
        keep = np.unique(np.linspace(0, len(run) - 1, min(len(run), STEPS)).astype(int))
        steps = [{"step": int(run[k]["iteration"]), "time": float(run[k]["time"]), "gap": float(run[k][key])}
                 for k in keep]  # fmt: skip
        found.append({"class": None if label is None else str(label), "steps": steps, "total": len(run)})
    seconds = float(sum(run[-1]["time"] for run in runs.values()))
    return {"measure": key, "tol": float(model.tol), "runs": found, "total": len(runs), "seconds": seconds}
