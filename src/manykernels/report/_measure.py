"""The facts of a report: numbers and names that JSON can hold.

A fit on n examples and M kernels reads n² M entries several times. The folds may read `MAX_ENTRIES` entries, relevance
as many, and stability half as many. Larger data are sampled, and the facts say so.
"""

import math
import time
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from .._pictures import as_shares
from ..estimators.check_inputs import optional
from ..inspect import AlignmentDisplay, StabilityDisplay, bootstrap_weights
from ..inspect.displays.base import class_names, members_of
from ..inspect.shares import source_columns
from ..inspect.tables import column_shares, evenly, heaviest
from ..kernels.view_data import n_examples
from ._case import (
    FIT_ENTRIES,
    KERNEL_ENTRIES,
    MAX_ALIGNED,
    MAX_CLASSES,
    MAX_ENTRIES,
    MAX_INSIDE,
    MAX_KERNELS,
    MAX_SOURCES,
    MAX_STEPS,
    Case,
    Facts,
)
from ._decisions import Decisions, ids_of, single_examples, size_of
from ._held_out import fold_count, score, source_rows

MAX_FACTORS = 1e7  # examples × support × columns of Shapley values: about a second for each source
MAX_COLUMNS = 10  # of a source
BOOTSTRAP_SAMPLES = 10, 100  # at least, and at most


def measure(
    case: Case, cv: Any, relevance: Any, stability: int | None, examples: Any, max_examples: int | None
) -> dict:
    """The facts of all sections except data and settings."""
    facts: Facts = {"weights": _weights(case), "convergence": _convergence(case.model), "cost": {}}
    n, M = n_examples(case.X), len(case.model.kernel_names_)
    outputs = 1 if np.ndim(case.model.kernel_weights_) == 1 else case.outputs
    jobs = fold_count(cv, case)
    room = int(math.sqrt(MAX_ENTRIES / (max(jobs, (10 if stability is None else stability) // 2, 1) * M * outputs)))
    used = min(n, max(room, 50), n if max_examples is None else max_examples)
    rows = _sample(case, used) if used < n else np.arange(n)
    facts["sampled"] = {"examples": n, "used": len(rows), "asked": max_examples is not None and used == max_examples}
    whole, ids = case, ids_of(case.X)  # a user's row numbers refer to all examples
    if used < n:
        case = case.take(rows)
    one_pass = (float(len(rows)) ** 2 * M + FIT_ENTRIES) * outputs
    drawn = int(np.clip(MAX_ENTRIES / 2 / (one_pass + M * KERNEL_ENTRIES), *BOOTSTRAP_SAMPLES))
    samples = drawn if stability is None else stability
    held = Decisions(case, size_of(examples))
    steps: list[tuple[str, Callable[[], Any]]] = [
        ("score", lambda: score(case, cv, relevance, jobs, one_pass, held)),
        ("stability", lambda: _stability(case, samples)),
        ("alignment", lambda: _alignment(case)),
        ("examples", lambda: single_examples(whole, examples, rows, held, ids)),
    ]
    for name, step in steps:
        begin = time.perf_counter()
        facts[name] = step()
        facts["cost"][name] = time.perf_counter() - begin
    found = facts.pop("score")
    return facts | {"score": found.pop("score"), "sources": source_rows(facts["weights"], found)}


def _sample(case: Case, size: int) -> np.ndarray:
    """Random rows, stratified by the target."""
    n, rng = n_examples(case.X), np.random.default_rng(case.seed)
    y = None if case.y is None or case.y.ndim > 1 else np.unique(case.y, return_inverse=True)[1]
    order = np.lexsort((rng.random(n), np.zeros(n) if y is None else y))
    return np.sort(order[evenly(n, size)])


def _weights(case: Case) -> Facts:
    """Shares of the kernel weights by kernel, by source, and by source in each class."""
    model = case.model
    theta = np.atleast_2d(model.kernel_weights_)
    shares = as_shares(theta.mean(axis=0))
    members = dict(zip(*members_of(model, "source", case.sources), strict=True))
    source_of = {int(m): name for name, which in members.items() for m in which}
    alive = heaviest(shares)
    found = {
        "kernels": len(shares),
        "alive": len(alive),
        "rows": [
            {"name": str(model.kernel_names_[m]), "source": source_of.get(int(m)), "share": float(shares[m])}
            for m in alive[:MAX_KERNELS]
        ],
        "sources": {
            name: {"share": float(shares[which].sum()), "kernels": len(which)} for name, which in members.items()
        },
    }
    opened = sorted(members.items(), key=lambda pair: -shares[pair[1]].sum())[:MAX_INSIDE]
    shared = {name: source_columns(model, case.X, own, MAX_FACTORS) for name, own in opened}
    found["columns"] = {name: own[:MAX_COLUMNS] for name, own in shared.items() if own}
    if (metric := optional(model, "metric_")) is not None:
        found["metric"] = {source: list(own.items())[:MAX_KERNELS] for source, own in column_shares(metric).items()}
    if len(theta) > 1:
        each = as_shares(theta)
        heavy = sorted(members, key=lambda name: -each[:, members[name]].sum())[:MAX_SOURCES]
        few = slice(0, MAX_CLASSES)
        found["classes"] = {
            "names": class_names(model)[few],
            "total": len(theta),
            "sources": heavy,
            "shares": [each[few, members[name]].sum(axis=1).tolist() for name in heavy],
        }
    return found


def _stability(case: Case, samples: int) -> Facts:
    """The shares of the sources over bootstrap samples."""
    if not samples:
        return {"why": "The report was asked for no bootstrap samples (stability=0)."}
    if case.several_tasks:
        return {"why": "The model has several tasks, and the report draws no bootstrap samples of such a model."}
    tick = lambda a, b: case.tick("stability", a, b)  # noqa: E731
    y = case.y if case.kind != "one-class" else None
    with warnings.catch_warnings(action="ignore", category=UserWarning):  # which the fit has given already
        boot = bootstrap_weights(case.model, case.X, y, samples, case.seed, case.n_jobs, tick, case.covariates)
    if boot.shape[1:] != np.shape(case.model.kernel_weights_):
        return {"why": "The kernels depend on the sample, so that their weights cannot be compared between samples."}
    found = StabilityDisplay.measured(boot, case.model, "source", case.sources)
    mean = found.shares.mean(axis=0)
    order = heaviest(mean)
    columns = dict(low=found.low, median=found.median, high=found.high, selected=found.selected, share=found.fitted)
    return {
        "samples": samples,
        "level": found.level,
        "total": len(mean),
        "alive": len(order),
        "rows": [{"name": found.names[m], **{k: float(v[m]) for k, v in columns.items()}} for m in order[:MAX_SOURCES]],
    }


def _alignment(case: Case) -> Facts:
    """Centred alignments between kernels, ordered so that similar kernels are next to each other."""
    if len(case.model.kernel_names_) < 2:
        return {"why": "The model has only one kernel."}
    if case.several_tasks:
        return {"why": "The model has several tasks, and the report does not compare the kernels of such a model."}
    y = None if case.y is None or case.y.ndim > 1 or case.kind == "one-class" else case.y
    try:
        found = AlignmentDisplay.measured(case.model, case.X, y, MAX_ALIGNED, 400, case.seed)
    except ValueError as error:
        return {"why": str(error)}
    order = found.order
    return {
        "total": found.total,
        "names": [found.names[m] for m in order],
        "values": found.alignments[np.ix_(order, order)].round(4).tolist(),
        "target": None if found.target is None else found.target[order].tolist(),
    }


def _convergence(model: Any) -> Facts:
    """The gap after each step of the fit of each class."""
    runs: dict[Any, list[dict]] = {}
    for step in model.history_:
        runs.setdefault(step.get("class"), []).append(step)
    if not runs:
        return {"why": "A rule computed the weights without iterations."}
    bayes = all(math.isnan(step["gap"]) for step in model.history_)
    key = "stationarity" if bayes else "gap"
    order = sorted(runs, key=lambda label: -len(runs[label]))
    found = []
    for label in order[:MAX_CLASSES]:
        run = runs[label]
        keep = evenly(len(run), MAX_STEPS)
        steps = [{"step": int(run[k]["iteration"]), "time": float(run[k]["time"]), "gap": float(run[k][key])}
                 for k in keep]  # fmt: skip
        found.append({"class": None if label is None else str(label), "steps": steps, "total": len(run)})
    seconds = float(sum(run[-1]["time"] for run in runs.values()))
    return {"measure": key, "tol": float(model.tol), "runs": found, "total": len(runs), "seconds": seconds}
