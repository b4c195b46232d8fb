"""Pieces of a page: what users wrote is escaped here, and only here."""

from __future__ import annotations

import math
import re
from html import escape
from typing import Any

from .._pictures import short

LONGEST = 90  # letters of a name that are shown
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")


def text(value: Any, length: int = LONGEST) -> str:
    """What somebody wrote, as text of a page: without control characters, escaped, two bytes a letter at most."""
    whole, most = clean(value), 2 * length
    while len((found := escape(short(whole, length))).encode()) > most and length > 8:
        length = length * 3 // 4
    return found


def clean(value: Any) -> str:
    """The same as one line that every file can hold: lone surrogates and control characters are replaced."""
    found = _CONTROL.sub("\ufffd", str(value).encode("utf-8", "replace").decode("utf-8"))
    return " ".join(found.split())


def name(value: Any, length: int = LONGEST) -> str:
    """A name that a user gave: isolated, so that its direction changes nothing around it; whole in its title."""
    whole = clean(value)
    title = f' title="{text(whole, 120)}"' if len(whole) > length else ""
    return f'<bdi class="name"{title}>{text(whole, length)}</bdi>' if whole else '<bdi class="name">(empty)</bdi>'


def number(value: float | None, digits: int = 3, sign: bool = False) -> str:
    """A number with so many decimals and a true minus, – where there is none."""
    if value is None or not math.isfinite(value):
        return "–"
    shown = f"{value:.2e}" if abs(value) >= 1e6 or digits > 6 else f"{value:,.{digits}f}"
    plus = sign and value > 0
    if not shown.strip("-0."):
        shown, plus = shown.lstrip("-"), False
    return (("+" if plus else "") + shown).replace("-", "−")


def decimals(reach: float) -> int:
    """With how many decimals numbers up to this size have three or four digits."""
    return 3 if not 0 < reach < math.inf else max(0, 3 - math.floor(math.log10(reach)) - (reach < 1))


def figures(value: float) -> str:
    """A number with four digits, as for the mean of a column."""
    return "–" if not math.isfinite(value) else f"{value:#.4g}".rstrip(".").replace("-", "−")


def percent(value: float | None, digits: int = 1) -> str:
    """A share as a percentage; a little is not none, and nearly all is not all."""
    if value is None or not math.isfinite(value):
        return "–"
    least = 10.0**-digits
    if 0 < 100 * value < least / 2:
        return f"<{least:g} %"
    return f"{100 * value:.{digits}f} %".replace("-", "−")


def gap(value: float | None) -> str:
    """A duality gap in its usual form."""
    return (
        "–" if value is None or not math.isfinite(value) else re.sub("e-0?", "e−", f"{value:.1e}").replace("e+00", "")
    )


def count(value: int, what: str, many: str | None = None) -> str:
    """1 kernel, 1,200 kernels."""
    return f"{value:,} {what if value == 1 else many or what + 's'}"


_UNSEEN = '<span class="unseen">{}</span>'


class Column:
    """A column of a table: its head (or what only readers of screens are told), class, and whether it sorts."""

    def __init__(self, head: str, kind: str = "", sort: bool = True, below: str = "", unseen: str = "number") -> None:
        self.head, self.kind, self.sort, self.below, self.unseen = head, kind, sort, below, unseen


def cell(body: str, value: float | None = None) -> tuple[str, float | None]:
    """A cell with the number that it is sorted by."""
    return body, value


def table(
    columns: list[Column], rows: list[list[Any]], caption: str, *, note: str = "", kind: str = "", tools: bool = False
) -> str:
    """A table whose first column heads its rows; a cell is HTML, or HTML and the number to sort by."""
    stack = kind.startswith("stack")  # rows become blocks on a phone, and roles keep them rows
    role = (lambda called: f' role="{called}"') if stack else lambda called: ""
    head = "".join(
        f'<th scope="col"{role("columnheader")} class="{column.kind}"{" data-sort" if tools and column.sort else ""}>'
        f"{f'<span>{column.head}</span>' if column.head else _UNSEEN.format(column.unseen)}{column.below}</th>"
        for column in columns
    )
    body = []
    for row in rows:
        cells = []
        for k, (column, entry) in enumerate(zip(columns, row, strict=True)):
            inner, value = entry if isinstance(entry, tuple) else (entry, None)
            mark = f' data-v="{value:.6g}"' if value is not None and math.isfinite(value) else ""
            tag, scope = ("th", f' scope="row"{role("rowheader")}') if k == 0 else ("td", role("cell"))
            cells.append(f'<{tag}{scope} class="{column.kind}"{mark}>{inner}</{tag}>')
        body.append(f"<tr{role('row')}>{''.join(cells)}</tr>")
    label = f"<caption><span>{caption}</span>{f'<small>{note}</small>' if note else ''}</caption>"
    attributes = f' class="{kind}"' if kind else ""
    group, called = role("rowgroup"), re.sub("<[^>]*>", "", caption)
    return (
        f'<div class="block"><div class="wide" role="region" tabindex="0" aria-label="{called}">'
        f"<table{role('table')}{attributes}{' data-tools' if tools else ''}>{label}"
        f"<thead{group}><tr{role('row')}>{head}</tr></thead><tbody{group}>{''.join(body)}</tbody></table></div></div>"
    )


def behind(title: str, inner: str) -> str:
    """What stands behind a picture, closed until it is asked for."""
    return f"<details><summary>{title}</summary>{inner}</details>"


def figure(picture: str, caption: str, below: str = "") -> str:
    return f"<figure>{picture}<figcaption>{caption}</figcaption>{below}</figure>"


def paragraphs(*said: str) -> str:
    """Those that say something."""
    return "".join(f"<p>{one}</p>" for one in said if one)
