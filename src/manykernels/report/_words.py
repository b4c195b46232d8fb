"""The report in sentences: what matters most, how sure that is, and what not to conclude. Texts, names marked."""

from __future__ import annotations

import math
from typing import Any

from ._html import count, gap, name, number, percent, strong
from ._worth import clear

GUESSES = {"classification": "always answering the commonest class", "regression": "always answering the mean",
           "one-class": "a coin"}  # fmt: skip


def lead(facts: dict[str, Any]) -> list[str]:
    """The first lines: what was learned, how well, by what."""
    return [said for said in (_what(facts), _how_well(facts), _what_matters(facts), unused(facts)) if said]


def unused(facts: dict[str, Any]) -> str:
    """Which columns the model does not see."""
    names = facts["data"].get("unused", [])
    some = [name(column, 40) for column in names[:20]] + [f"{len(names) - 20:,} more"] * (len(names) > 20)
    return f"Not used by the model: {_list(some)}." if names else ""


def identical(facts: dict[str, Any]) -> str:
    """Which columns are the same."""
    said = []
    for group in facts["data"].get("identical", [])[:20]:
        some = [name(column, 40) for column in group[:6]] + [f"{len(group) - 6:,} more"] * (len(group) > 6)
        said.append(f"{_list(some)} have the same values in every row.")
    return " ".join(said)


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
    said += f"; {GUESSES[kind]} would reach {base}{_of_all(facts)}."
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


def _of_all(facts):
    """The share of the commonest class in all data, where a guess from the other folds reaches another one."""
    target = facts["data"].get("target", {})
    if facts["score"]["measure"] != "accuracy" or target.get("kind") != "classes":
        return ""
    share = max(c["count"] for c in target["classes"]) / sum(c["count"] for c in target["classes"])
    if abs(share - facts["score"]["baseline"]) < 5e-4 or target["total"] > len(target["classes"]):
        return ""
    return (
        f" in these folds, where that is the commonest of the training part (the commonest of all has {percent(share)})"
    )


def _called(measure):
    return "R² of" if measure == "R²" else f"a score ({name(measure, 40)}) of"


def called(unit: dict[str, Any], bold: bool = False) -> str:
    """A source, or several that are judged together, as a sentence names them."""
    mark = strong if bold else str
    members = unit["members"]
    if unit["why"] == "rest":
        return mark(f"{len(members):,} other sources together")
    if not unit["why"]:
        return mark(name(unit["name"], 60))
    if len(members) == 2:
        return f"{mark(name(members[0], 60))} with {name(members[1], 60)}"
    return f"{mark(name(members[0], 60))} with {len(members) - 1:,} sources that share columns"


def _what_matters(facts):
    found = facts["sources"]
    rows, units, measure = found["rows"], found["units"], found["measure"]
    if not rows:
        return ""
    if measure == "share":
        top = rows[0]
        return (
            f"The heaviest source is {strong(name(top['name']))}, with {percent(top['share'], 0)} of the "
            "weight. What sources are worth on new examples was not measured."
        )
    if len(units) == 1 and units[0]["why"]:
        said = (
            f"All {len(units[0]['members']):,} sources share columns, so that the others make up for one that is left "
            "out: what each adds to them cannot be told."
        )
        return said + _inside(facts, units)
    sure = [unit for unit in units if clear(unit)]
    if not sure:
        said = "No source is clearly worth something on new examples, left out and by itself: "
        return said + "their intervals include 0, or the model is better without them." + _inside(facts, units)
    top, used = sure[:3], facts["sampled"]["used"]
    listed = _list([called(unit, True) for unit in top])
    said, rest, lost = f"What clearly matters: {listed}.", len(sure) - len(top), len(units) - len(sure)
    if rest:
        said += f" {count(rest, 'more is', 'more are')} clearly worth something."
    near = [unit for unit in units if unit not in sure and unit.get(measure, -math.inf) > top[-1][measure]]
    if near:
        listed = _list([f"{called(unit)} ({number(unit[measure], 3, True)})" for unit in near[:3]])
        ends = "that is not settled" if len(near) == 1 else "that is settled for none of them"
        said += f" {listed} may matter as much, but {ends}."
    if lost:
        others = [unit for unit in units if unit not in sure]
        many = sum(len(unit["members"]) for unit in others)
        others = called(others[0]) if lost == 1 else f"{many:,} sources"
        said += f" Whether {others} add{'s' if many == 1 else ''} to the rest, these {used:,} examples do not settle."
    heavy = max(units, key=lambda unit: unit["share"])
    if heavy not in sure and heavy not in near and heavy.get(measure, 0) <= heavy.get(f"{measure}_se", 0):
        said += (
            f" The heaviest, {called(heavy)} with {percent(heavy['share'], 0)} of the weight, is among "
            "these: weight is what fits the training examples, not what holds on new ones."
        )
    return said + _inside(facts, units)


def _inside(facts, units):
    """What is known of the sources of a unit: where they share columns which predict best alone, else their worth."""
    found, said = facts["sources"], ""
    for unit in (unit for unit in units if unit["why"]):
        rows = [row for row in found["rows"] if row["joined"] == unit["name"]]
        by = "gain" if unit["why"] == "columns" else "relevance"
        sure = [row for row in rows if (row.get("gain_low", math.nan) > 0 if by == "gain" else clear(row))]
        top = sorted(sure, key=lambda row: -row[by])[:3]
        if not top:
            continue
        tried, verb = sum(by in row for row in rows), "s" if len(top) == 1 else ""
        listed = _list([name(row["name"], 60) for row in top])
        if by == "gain":
            some = f", of which {tried} of the heaviest were tried" if tried < len(unit["members"]) else ""
            first = name(unit["members"][0], 60)
            said += f" Among {first} and those that share columns with it{some}, {listed} predict{verb} best alone."
        else:
            said += f" Of {called(unit)}, {listed} {'is' if len(sure) == 1 else 'are'} clearly worth something."
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
