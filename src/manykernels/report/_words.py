"""Sentences of the report: what matters most, how certain it is, and what not to conclude."""

import math
from collections.abc import Iterable
from typing import Any

from ..inspect.sources import Shared
from ._html import name, number, strong
from ._worth import certain, clear, harmful, standing

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


def findings(found: dict[str, Any]) -> dict[str, Any]:
    """The units that may matter, that clearly do, that seem to as much, that are not settled, and their heaviest.

    {"hints", "each": [(head, names)], "near", "lost", "heavy": a unit or None}
    """
    measure, known = found["measure"], certain(found)
    units = [unit for unit in found["units"] if measure in unit]
    sure = [unit for unit in found["units"] if unit["name"] in known]
    each = {head: [called(unit, True) for unit in sure if key == (measure if measure == "permute" else standing(unit))]
            for key, head in RELEVANT.items()}  # fmt: skip
    least = sure[:3][-1][measure] if sure else math.inf
    near = [unit for unit in units if unit not in sure and unit[measure] > least]
    heavy = max(units, key=lambda unit: unit["share"], default=None)
    taken = any(one["taken"] for one in found["shared"])  # most weight is on kernels of several sources
    if taken or heavy is None or heavy in [*sure, *near] or heavy[measure] > heavy.get(f"{measure}_se", 0):
        heavy = None
    return {
        "hints": [] if found["settled"] else [unit for unit in units if clear(unit, measure)][:3],
        "each": [(head, own) for head, own in each.items() if own],
        "near": near,
        "lost": [unit for unit in units if unit not in sure and not harmful(unit)],
        "heavy": heavy,
    }


def within(found: dict[str, Any]) -> list[tuple[dict[str, Any], list[str], int]]:
    """[(unit, up to three of its sources, the number of those tried)]: which predict best alone, or are relevant."""
    known, made = certain(found), []
    for unit in (unit for unit in found["units"] if unit["why"]):
        rows = [row for row in found["rows"] if row["joined"] == unit["name"]]
        by = "gain" if unit["why"] == "columns" else "relevance"
        sure = [row for row in rows if (row.get("gain_low", math.nan) > 0 if by == "gain" else row["name"] in known)]
        top = sorted(sure, key=lambda row: -row[by])[:3]
        if top and (by == "relevance" or len(top) < len(unit["members"])):  # else none predicts best
            made.append((unit, [row["name"] for row in top], sum(by in row for row in rows)))
    return made


def listing(items: list[str], last: str = "and") -> str:
    """a, b and c."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {last} {items[-1]}"
