"""Sentences of the report: what matters most, how certain it is, and what not to conclude."""

import math
from collections.abc import Iterable
from typing import Any

from ..inspect.sources import Shared
from ..inspect.sources import listed as few
from ._html import count, name, number, percent, strong
from ._worth import certain, clear, harmful, nearly_perfect, standing

RELEVANT = {"permute": "What the model clearly uses", "needed": "What the model clearly needs",
            "alone": "What clearly predicts alone, but is not clearly needed, as others may replace it",
            "": "What is clearly relevant, by the mean of its loss and its gain alone"}  # fmt: skip


def in_order(names: Iterable[str]) -> list[str]:
    """Names of classes: numbers in their order, before other texts."""

    def key(text):
        try:
            return 0, float(text), text
        except ValueError:
            return 1, 0.0, text

    return sorted(names, key=key)


def shared(one: dict[str, Any]) -> str:
    """A sentence on sources that read columns of others."""
    return Shared(**one).said(lambda other: name(other, 40))


def commonest(chosen: list[dict[str, Any]]) -> tuple[str, int]:
    """The parameters that most folds chose, and in how many."""
    several = [f"C = {one['C']:.3g} and regularizer={one['regularizer']}" for one in chosen]
    most = max(set(several), key=several.count)
    return most, several.count(most)


def score_text(facts: dict[str, Any], value: float, se: float | None = None) -> str:
    """A score as text: accuracy as a percentage, others as a number."""
    error = f" ± {100 * se:.1f}" if se is not None and se == se else ""
    if facts["score"]["measure"] == "accuracy":
        return f"{100 * value:.1f}{error} %"
    return number(value, 3) + (f" ± {se:.3f}" if error else "")


def called(unit: dict[str, Any], bold: bool = False) -> str:
    """The name of a unit in a sentence."""
    mark = strong if bold else str
    members = unit["members"]
    if unit["why"] == "rest":
        return mark(f"{len(members):,} other sources together")
    if not unit["why"]:
        return mark(name(unit["name"], 60))
    if len(members) == 2:
        return f"{mark(name(members[0], 60))} (with {name(members[1], 60)})"
    return f"{mark(name(members[0], 60))} with {len(members) - 1:,} sources that share columns"


def what_matters(facts: dict[str, Any]) -> str:
    """Which sources are relevant, and how sure that is."""
    found = facts["sources"]
    rows, units, measure = found["rows"], found["units"], found["measure"]
    if not rows:
        return ""
    if measure == "share":
        top = rows[0]
        return (
            f"The heaviest source is {strong(name(top['name']))}, with {percent(top['share'], 0)} of the "
            "weight. The relevance of sources on new examples was not measured."
        )
    if len(units) == 1 and units[0]["why"]:
        said = (
            f"All {len(units[0]['members']):,} sources share columns. If one is left out, the others make up for it, "
            "so that the contribution of a single source cannot be measured."
        )
        return said + _inside(facts, units)
    known, every = certain(found), units
    sure = [unit for unit in units if unit["name"] in known]
    units = [unit for unit in units if measure in unit]
    hints = [] if found["settled"] else [unit for unit in units if clear(unit, measure)][:3]
    if hints:
        listed = listing([called(unit, True) for unit in hints])
        many = len(hints) > 1 or len(hints[0]["members"]) > 1
        ends = "intervals lie" if len(hints) > 1 else "interval lies"
        return (
            f"{listed} may matter: the {ends} above 0. This is a hint and no finding, as long as the model "
            f"with {'them' if many else 'it'} is not clearly better than "
            f"{'the covariates alone' if facts['model']['covariates'] else 'a guess'}." + shuffled(facts)
        )
    if not sure:
        said = (
            "No source is clearly relevant on new examples: no interval lies above 0, or the model is better without "
            "the source."
            if measure == "relevance"
            else "By shuffling, the model clearly uses no source by itself: no interval lies above 0."
        )
        return said + shuffled(facts) + _inside(facts, every)
    top, used = sure[:3], facts["sampled"]["used"]
    used_only = measure == "permute"  # which does not tell whether others can replace a source
    each = [(head, [called(u, True) for u in sure if key == ("permute" if used_only else standing(u))])
            for key, head in RELEVANT.items()]  # fmt: skip
    said = " ".join(f"{head}: {few(own)}." for head, own in each if own)
    near = [unit for unit in units if unit not in sure and unit.get(measure, -math.inf) > top[-1][measure]]
    if near:
        listed = listing([f"{called(unit)} ({number(unit[measure], 3, True)})" for unit in near[:3]])
        ends = "this is not certain" if len(near) == 1 else "this is not certain for any of them"
        said += f" {listed} may {'be used' if used_only else 'matter'} as much, but {ends}."
    lost = [unit for unit in units if unit not in sure and not harmful(unit)]
    if lost and measure == "relevance":
        many = sum(len(unit["members"]) for unit in lost)
        others = called(lost[0]) if len(lost) == 1 else f"{many:,} sources"
        verb = "adds" if len(lost) == 1 and many < 3 else "add"
        said += f" These {used:,} examples do not settle whether {others} {verb} to the rest."
    heavy = max(units, key=lambda unit: unit["share"])
    taken = any(one["taken"] for one in found["shared"])  # most weight is on kernels of several sources
    if not taken and heavy not in sure and heavy not in near and heavy.get(measure, 0) <= heavy.get(f"{measure}_se", 0):
        said += (
            f" The heaviest, {called(heavy)} with {percent(heavy['share'], 0)} of the weight, is among these: weight "
            "says how much the fit uses a source, not how much the source helps on new examples."
        )
    return said + shuffled(facts) + _inside(facts, every)


def leaks(facts: dict[str, Any]) -> str:
    """A sentence on sources that alone predict nearly perfectly."""
    found = facts["sources"]
    units = [unit for unit in found["units"] if nearly_perfect(found["scoring"], unit.get("alone", 0.0))]
    if not units:
        return ""
    by = [f"{called(unit, True)} ({score_text(facts, unit['alone'])})" for unit in units]
    return (
        f"{few(by)} alone predict{'s' * (len(by) == 1)} nearly perfectly. Make sure that this was known before the "
        "target and was not made from it: otherwise the target has leaked, and every score here is too good."
    )


def shuffled(facts: dict[str, Any]) -> str:
    """Sentences on columns that were only shuffled: how many, and what this says of them; "" if there are none."""
    found = facts["sources"]
    units, done = found["units"], found["refitted"]
    lost = [unit for unit in units if "relevance" not in unit] if done is not None else []
    if not lost:
        return ""
    few = "was" if done == 1 else "were"
    what = "sources and groups of sources" if any(unit["why"] for unit in units) else "sources"
    some = f"Of {len(units):,} {what}, {done:,} {few} left out and tried alone, those with the largest loss when they "
    some += f"are shuffled; {len(lost):,} {'was' if len(lost) == 1 else 'were'}"
    said = f" {some if done else 'The sources were'} only shuffled, without a new fit."
    said += " A small loss does not mean that a source is worthless: others may replace it."
    near = [unit for unit in lost if unit["name"] in found["alike"]]
    if near:
        first, many = near[0]["name"], count(len(near), "of them repeats", "of them repeat")
        said += (
            f" {many} another column (such as {name(first, 40)} and {name(found['alike'][first], 40)}; by a rank "
            "correlation of at least 0.9, or other words for the same classes), so that shuffling does not tell what "
            "such a column adds."
        )
    return said


def _inside(facts, units):
    """Sentences on the sources within units: which predict best alone, or which are clearly relevant."""
    found, said, known = facts["sources"], "", certain(facts["sources"])
    for unit in (unit for unit in units if unit["why"]):
        rows = [row for row in found["rows"] if row["joined"] == unit["name"]]
        by = "gain" if unit["why"] == "columns" else "relevance"
        sure = [row for row in rows if (row.get("gain_low", math.nan) > 0 if by == "gain" else row["name"] in known)]
        top = sorted(sure, key=lambda row: -row[by])[:3]
        if not top or by == "gain" and len(top) == len(unit["members"]):  # then none predicts best
            continue
        tried, verb = sum(by in row for row in rows), "s" if len(top) == 1 else ""
        listed = listing([name(row["name"], 60) for row in top])
        if by == "gain":
            some = f" ({tried} of the heaviest were tried)" if tried < len(unit["members"]) else ""
            first = name(unit["members"][0], 60)
            said += f" Among {first} and sources that share columns with it{some}, {listed} predict{verb} best alone."
        else:
            said += f" Of {called(unit)}, {listed} {'is' if verb else 'are'} clearly relevant."
    return said


def listing(items: list[str], last: str = "and") -> str:
    """a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"
