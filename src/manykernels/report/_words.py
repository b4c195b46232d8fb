"""Numbers, names and sentences as the page writes them, and what its templates may call.

A sentence is a str. Noncharacters of Unicode (U+FDD0 to U+FDEF) mark its inline elements, such as `strong` and `name`;
the page replaces them by tags when all else is escaped. `foreign` removes these marks from text that users wrote.
"""

import math
import re
from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple, TypeGuard

from .._pictures import short, writable
from ..inspect.sources import Shared
from ._case import Facts
from ._worth import certain, clear, harmful, standing

MAX_LETTERS = 90  # of a name on the page
MARKS = str.maketrans({
    "\ufdd0": '<bdi class="name" title="', "\ufdd1": '">', "\ufdd2": '<bdi class="name">', "\ufdd3": "</bdi>",
    "\ufdd4": "<strong>", "\ufdd5": "</strong>", "\ufdd6": '<span class="soft">', "\ufdd7": "</span>",
    "\ufdd8": "<code>", "\ufdd9": "</code>",
})  # fmt: skip
RELEVANT = {"permute": "What the model clearly uses", "needed": "What the model clearly needs",
            "alone": "What clearly predicts alone, but is not clearly needed, as others may replace it",
            "": "What is clearly relevant, by the mean of its loss and its gain alone"}  # fmt: skip


class Column(NamedTuple):
    """A column of a table: header, class, a chart below the header, whether it sorts, its name for screen readers."""

    head: str
    kind: str = ""
    below: str = ""
    sort: bool = True
    unseen: str = "number"


def foreign(value: Any) -> Any:
    """Text of users, alone or in dicts and lists, without marks."""
    if isinstance(value, dict):
        return {foreign(key): foreign(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [foreign(inner) for inner in value]
    return re.sub("[\ufdd0-\ufdef]", "\ufffd", value) if isinstance(value, str) else value


def plain(text: str) -> str:
    """A sentence, or its HTML, without marks, for attributes."""
    return type(text)(re.sub("\ufdd0[^\ufdd1]*\ufdd1|[\ufdd0-\ufdef]", "", text))


def strong(text: str) -> str:
    return f"\ufdd4{text}\ufdd5"


def soft(text: str) -> str:
    return f"\ufdd6{text}\ufdd7"


def code(text: str) -> str:
    return f"\ufdd8{text}\ufdd9"


def text(value: Any, length: int = MAX_LETTERS) -> str:
    """The user's text as one line of at most `length` letters and 2 `length` bytes."""
    whole, most = clean(value), 2 * length
    while len(escape(found := short(whole, length)).encode()) > most and length > 8:
        length = length * 3 // 4
    return found


def clean(value: Any) -> str:
    """The text of a value on one line."""
    return " ".join(writable(str(value)).split())


def brief(value: Any) -> str:
    """A name that fits on the mark of a chart."""
    return short(clean(value))


def name(value: Any, length: int = MAX_LETTERS) -> str:
    """A name that a user gave, marked as a name; the title attribute holds the long form."""
    whole = clean(value)
    shown = text(whole, length) or "(empty)"
    return f"\ufdd0{text(whole, 120)}\ufdd1{shown}\ufdd3" if len(whole) > length else f"\ufdd2{shown}\ufdd3"


def names(values: list[Any], length: int, most: int | None = None) -> list[str]:
    """Some names, and how many there are beyond `most`."""
    rest = 0 if most is None else len(values) - most
    return [name(value, length) for value in values[:most]] + [f"{rest:,} more"] * (rest > 0)


def finite(value: float | None) -> TypeGuard[float]:
    return value is not None and math.isfinite(value)


def number(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A number with so many decimals and a typographic minus, or – if it is missing."""
    if not finite(value):
        return "–"
    shown = f"{value:.2e}" if abs(value) >= 1e6 or digits > 6 else f"{value:,.{digits}f}"
    plus = sign and value > 0
    if not shown.strip("-0."):
        shown, plus = shown.lstrip("-"), False
    return (("+" if plus else "") + shown).replace("-", "−")


def whole(value: int) -> str:
    """1,200."""
    return f"{value:,}"


def decimals(reach: float) -> int:
    """The number of decimals with which numbers up to `reach` have three or four digits."""
    return 3 if not 0 < reach < math.inf else max(0, 3 - math.floor(math.log10(reach)) - (reach < 1))


def figures(value: float) -> str:
    """A number with four significant digits."""
    return "–" if not math.isfinite(value) else f"{value:#.4g}".rstrip(".").replace("-", "−")


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage; a small positive share is never shown as 0."""
    if not finite(value):
        return "–"
    least = 10.0**-digits
    if 0 < 100 * value < least / 2:
        return f"<{least:g} %"
    return f"{100 * value:.{digits}f} %".replace("-", "−")


def gap(value: float | None) -> str:
    """A duality gap in scientific notation."""
    if not finite(value):
        return "–"
    return re.sub("e-0?", "e−", f"{value:.1e}").replace("e+00", "")


def count(value: int, what: str, many: str | None = None) -> str:
    """1 kernel, 1,200 kernels."""
    return f"{value:,} {what if value == 1 else many or what + 's'}"


def in_order(names: Iterable[str]) -> list[str]:
    """Names of classes: numbers in their order, before other texts."""

    def key(text):
        try:
            return 0, float(text), text
        except ValueError:
            return 1, 0.0, text

    return sorted(names, key=key)


def shared(one: Facts) -> str:
    """A sentence on sources that read columns of others."""
    return Shared(**one).said(lambda other: name(other, 40))


def commonest(chosen: list[Facts]) -> tuple[str, int]:
    """The parameters that most folds chose, and in how many."""
    several = [f"C = {one['C']:.3g} and regularizer={one['regularizer']}" for one in chosen]
    most = max(set(several), key=several.count)
    return most, several.count(most)


def score_text(facts: Facts, value: float, se: float | None = None) -> str:
    """A score as text: accuracy as a percentage, others as a number."""
    error = f" ± {100 * se:.1f}" if se is not None and se == se else ""
    if facts["score"]["measure"] == "accuracy":
        return f"{100 * value:.1f}{error} %"
    return number(value, 3) + (f" ± {se:.3f}" if error else "")


def called(unit: Facts, bold: bool = False) -> str:
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


def findings(found: Facts) -> Facts:
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


def within(found: Facts) -> list[tuple[Facts, list[str], int]]:
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
