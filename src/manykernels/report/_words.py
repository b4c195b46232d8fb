"""The report in sentences: what matters most, how sure that is, and what not to conclude. Texts, names marked."""

from __future__ import annotations

import math
from typing import Any

from ._html import count, gap, name, number, percent, strong

GUESSES = {"classification": "always answering the commonest class", "regression": "always answering the mean",
           "one-class": "a coin"}  # fmt: skip


def lead(facts: dict[str, Any]) -> list[str]:
    """The first lines: what was learned, how well, by what."""
    return [said for said in (_what(facts), _how_well(facts), _what_matters(facts)) if said]


def _what(facts):
    data, weights, kind = facts["data"], facts["weights"], facts["kind"]
    sources, target = len(weights["sources"]), data.get("target", {})
    by = f"{count(weights['kernels'], 'kernel')} on {count(sources, 'source')}" if sources != weights["kernels"] else (
        count(sources, "source"))  # fmt: skip
    seen = f"The data of this page have {count(data['examples'], 'example')}."
    called = f" {name(facts['target'])}" if facts.get("target") else ""
    if kind == "one-class":
        return f"This model tells the usual from the unusual by {by}. {seen}"
    if target.get("kind") == "classes":
        classes = sorted((c["name"] for c in target["classes"][:4]), key=_as_number)
        listed = _list([name(c, 30) for c in classes], "or") if target["total"] <= 4 else f"{target['total']} classes"
        return f"This model predicts{called or ' the class'} ({listed}) from {by}. {seen}"
    if target.get("kind") == "several":
        return f"This model predicts {target['outputs']} outputs from {by}. {seen}"
    return f"This model predicts{called or ' a number'} from {by}. {seen}"


def _as_number(text):
    """What sorts numbers by size, before other texts."""
    try:
        return 0, float(text), text
    except ValueError:
        return 1, 0.0, text


def score_text(facts: dict[str, Any], value: float, se: float | None = None) -> str:
    """A score as people say it: a percentage of right answers, else the number."""
    error = f" ± {100 * se:.1f}" if se is not None and se == se else ""
    if facts["score"]["measure"] == "accuracy":
        return f"{100 * value:.1f}{error} %"
    return number(value, 3) + (f" ± {se:.3f}" if error else "")


def _how_well(facts):
    score, kind = facts["score"], facts["kind"]
    if "why" in score:
        return ""
    own, base = score_text(facts, score["mean"], score["se"]), score_text(facts, score["baseline"])
    if score["measure"] == "accuracy":
        said = f"On examples that it had not seen it was right in {strong(own)} of cases"
    else:
        said = f"On examples that it had not seen it reached {_called(score['measure'])} {strong(own)}"
    said += f"; {GUESSES[kind]} would reach {base}."
    if score["mean"] <= score["baseline"]:
        said += f" {strong('That is no better than a guess:')} nothing below should be relied on."
    elif not score["better"]:
        said += (
            " "
            + strong(f"These {facts['sampled']['used']:,} examples do not settle whether that is better than a guess:")
            + " take what follows as a hint."
        )
    if not score["better"] and score["measure"] == "accuracy" and score["baseline"] > 0.7:
        said += ' With rare classes class_weight="balanced" and scoring="balanced_accuracy" say more.'
    return said


def _called(measure):
    return "R² of" if measure == "R²" else f"a score ({name(measure, 40)}) of"


def clear(row: dict[str, Any], measure: str) -> bool:
    """Whether a source's worth is above 0 by its interval."""
    return row.get(f"{measure}_low", float("nan")) > 0


def _what_matters(facts):
    found = facts["sources"]
    rows, measure = found["rows"], found["measure"]
    if not rows:
        return ""
    if measure == "share":
        top = rows[0]
        return (
            f"The heaviest source is {strong(name(top['name']))}, with {percent(top['share'], 0)} of the "
            "weight. What sources are worth on new examples was not measured."
        )
    sure = [row for row in rows if clear(row, measure)]
    if not sure:
        return "No source is clearly worth something on new examples by itself: their intervals all include 0."
    top, used = sure[:3], facts["sampled"]["used"]
    listed = _list([strong(name(row["name"], 60)) for row in top])
    said, rest, lost = f"What clearly matters: {listed}.", len(sure) - len(top), found["total"] - len(sure)
    if rest:
        said += f" {count(rest, 'more source is', 'more sources are')} clearly worth something."
    near = [row for row in rows if row not in sure and row.get(measure, -math.inf) > top[-1][measure]]
    if near:
        listed = _list([f"{name(row['name'], 60)} ({number(row[measure], 3, True)})" for row in near[:3]])
        ends = "its interval includes" if len(near) == 1 else "their intervals include"
        said += f" {listed} may matter as much, but {ends} 0."
    if lost:
        others = "one source" if lost == 1 else f"{lost:,} sources"
        said += f" Whether {others} add{'s' if lost == 1 else ''} to the rest, these {used:,} examples do not settle."
    heavy = max(rows, key=lambda row: row["share"])
    if heavy not in sure and heavy not in near and heavy.get(measure, 0) <= heavy.get(f"{measure}_se", 0):
        said += (
            f" The heaviest, {name(heavy['name'], 60)} with {percent(heavy['share'], 0)} of the weight, is among "
            "these: weight is what fits the training examples, not what holds on new ones."
        )
    return said


def certificate(facts: dict[str, Any]) -> str:
    """What the duality gap says, in words."""
    model = facts["model"]
    if model["stationarity"] is not None:
        return (
            f"The weights maximise the marginal likelihood locally: they are within {gap(model['stationarity'])} of "
            f"stationary (asked for: {model['tol']:g}). That problem has no certificate of a global optimum."
        )
    if model["gap"] is None:
        return "The weights were found by a rule before the predictor, so that there is no duality gap for them."
    reached = model["gap"] <= model["tol"]
    said = (
        f"The relative duality gap is {gap(model['gap'])}: no other weights and predictor lower the objective by more "
        f"than {100 * model['gap']:.2g} %."
    )
    if reached:
        return f"{said} The fit is as good as was asked for ({model['tol']:g}); the figures are those of the optimum."
    stopped = f"The fit stopped above what was asked for ({model['tol']:g}):"
    return f"{said} {strong(stopped)} raise max_iter."


def sampled(facts: dict[str, Any]) -> str:
    """That only some examples were looked at."""
    found = facts["sampled"]
    if found["used"] >= found["examples"]:
        return ""
    return (
        f"Measured on {found['used']:,} of {found['examples']:,} examples, drawn at random, to bound the time; with "
        "fewer examples to learn from scores are lower than those of the model itself. max_examples changes it."
    )


def _list(items, last="and"):
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"
