"""Pieces of a page made of elements and texts; `_markup` escapes the texts."""

import math
import re
from html import escape
from typing import Any

from .. import _markup as markup
from .._markup import Markup, code, element, plain, soft, strong, together
from .._pictures import short

__all__ = [
    "Column", "Markup", "behind", "cell", "clean", "code", "count", "decimals", "element", "figure", "figures", "gap",
    "name", "number", "paragraphs", "percent", "plain", "short", "soft", "strong", "table", "text", "together",
]  # fmt: skip
MAX_LETTERS = 90  # of a name on the page


def text(value: Any, length: int = MAX_LETTERS) -> str:
    """The user's text as one line of at most `length` letters and 2 `length` bytes."""
    whole, most = clean(value), 2 * length
    while len(escape(found := short(whole, length)).encode()) > most and length > 8:
        length = length * 3 // 4
    return found


def clean(value: Any) -> str:
    """The text of a value on one line."""
    return " ".join(markup.writable(str(value)).split())


def name(value: Any, length: int = MAX_LETTERS) -> str:
    """A name that a user gave, marked as a name; the title attribute holds the long form."""
    whole = clean(value)
    return markup.name(text(whole, length) or "(empty)", text(whole, 120) if len(whole) > length else "")


def number(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A number with so many decimals and a typographic minus, or – if it is missing."""
    if value is None or not math.isfinite(value):
        return "–"
    shown = f"{value:.2e}" if abs(value) >= 1e6 or digits > 6 else f"{value:,.{digits}f}"
    plus = sign and value > 0
    if not shown.strip("-0."):
        shown, plus = shown.lstrip("-"), False
    return (("+" if plus else "") + shown).replace("-", "−")


def decimals(reach: float) -> int:
    """The number of decimals with which numbers up to `reach` have three or four digits."""
    return 3 if not 0 < reach < math.inf else max(0, 3 - math.floor(math.log10(reach)) - (reach < 1))


def figures(value: float) -> str:
    """A number with four significant digits."""
    return "–" if not math.isfinite(value) else f"{value:#.4g}".rstrip(".").replace("-", "−")


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage; a small positive share is never shown as 0."""
    if value is None or not math.isfinite(value):
        return "–"
    least = 10.0**-digits
    if 0 < 100 * value < least / 2:
        return f"<{least:g} %"
    return f"{100 * value:.{digits}f} %".replace("-", "−")


def gap(value: float | None) -> str:
    """A duality gap in scientific notation."""
    return (
        "–" if value is None or not math.isfinite(value) else re.sub("e-0?", "e−", f"{value:.1e}").replace("e+00", "")
    )


def count(value: int, what: str, many: str | None = None) -> str:
    """1 kernel, 1,200 kernels."""
    return f"{value:,} {what if value == 1 else many or what + 's'}"


class Column:
    """A column of a table: its header (`unseen` is for screen readers), its class, and whether it sorts."""

    def __init__(
        self, head: str, kind: str = "", sort: bool = True, below: Markup | None = None, unseen: str = "number"
    ) -> None:
        self.head, self.kind, self.sort, self.below, self.unseen = head, kind, sort, below, unseen


def cell(body: str | Markup, value: float | None = None) -> tuple[str | Markup, float | None]:
    """A cell with the number for sorting."""
    return body, value


def table(
    columns: list[Column], rows: list[list[Any]], caption: str, *, note: str = "", kind: str = "", tools: bool = False
) -> Markup:
    """A table with row headers in its first column; a cell is a text, an element, or a pair of it and a sort number."""
    stack = kind.startswith("stack")  # rows become blocks on a phone; the roles keep them rows for screen readers
    role = (lambda called: called) if stack else lambda called: None
    head = [
        element(
            "th", element("span", column.head or column.unseen, class_=None if column.head else "unseen"), column.below,
            scope="col", role=role("columnheader"), class_=column.kind, data_sort=(tools and column.sort) or None,
        )
        for column in columns
    ]  # fmt: skip
    body = []
    for row in rows:
        cells = []
        for k, (column, entry) in enumerate(zip(columns, row, strict=True)):
            inner, value = entry if isinstance(entry, tuple) else (entry, None)
            mark = f"{value:.6g}" if value is not None and math.isfinite(value) else None
            first = k == 0
            cells.append(
                element("th" if first else "td", inner, scope="row" if first else None,
                        role=role("rowheader" if first else "cell"), class_=column.kind, data_v=mark)
            )  # fmt: skip
        body.append(element("tr", cells, role=role("row")))
    label = element("caption", element("span", caption), element("small", note) if note else None)
    whole = element(
        "table", label,
        element("thead", element("tr", head, role=role("row")), role=role("rowgroup")),
        element("tbody", body, role=role("rowgroup")),
        role=role("table"), class_=kind or None, data_tools=tools or None,
    )  # fmt: skip
    region = element("div", whole, class_="wide", role="region", tabindex="0", aria_label=plain(caption))
    return element("div", region, class_="block")


def behind(title: str, inner: Markup) -> Markup:
    """Details below a picture, closed at first."""
    return element("details", element("summary", title), inner)


def figure(picture: Markup, caption: str, below: Markup | None = None) -> Markup:
    return element("figure", picture, element("figcaption", caption), below)


def paragraphs(*said: str) -> Markup:
    """The texts as paragraphs, without the empty ones."""
    return together([element("p", one) for one in said if one])
