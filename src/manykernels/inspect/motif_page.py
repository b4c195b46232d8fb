"""The page of motifs: a table with a logo, the support and the contribution of each, and their distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._markup import Markup, element, foreign, own_file
from .sequence_plots import LETTER_COLOURS

COLUMN, HEIGHT = 16, 56  # of a logo, in pixels
CAPITAL = 7.16  # the height of a capital of 10 pixels in Arial
WIDTHS = {"A": 7.2, "C": 7.2, "G": 7.8, "T": 6.1, "U": 7.2, "I": 2.8, "W": 9.4, "M": 8.3}  # of capitals of 10 pixels


def motif_page(motifs: Any, title: str) -> str:
    """The whole page as text."""
    head = ("motif", "logo, information", "logo, contribution", "seqlets", "sequences", "mean contribution", "E value")
    rows = [
        element(
            "tr", element("td", motif.name, element("div", element("code", motif.consensus))),
            element("td", _logo(motif.information(motifs.background), motifs.letters, np.log2(len(motifs.letters)))),
            element("td", _logo(motif.contributions, motifs.letters)), *map(_number, _figures(motif)),
        )
        for motif in motifs
    ]  # fmt: skip
    table = element("table", element("thead", _row("th", head)), element("tbody", rows))
    parts = [element("h1", foreign(title)), element("p", motifs.summary().split("\n")[0] + ".")]
    parts += [table] if rows else []
    pairs = motifs.spacings()
    if pairs:
        titles = ("motif", "other motif", "most frequent distance", "sequences", "of those with both")
        body = [_row("td", (a, b, f"{distance:+d}", str(count), str(both))) for a, b, distance, count, both in pairs]
        parts += [
            element("h2", "Distances"),
            element("table", element("thead", _row("th", titles)), element("tbody", body)),
            element("p", "From first letter to first letter, read on the strand of the first motif."),
        ]
    meta = element("meta", charset="utf-8"), element("title", foreign(title))
    style, _ = own_file("style", __package__, "motif_page.css")
    page = element("html", element("head", *meta, style), element("body", element("main", *parts)), lang="en")
    return "<!doctype html>" + "\n" + page.html()


def _figures(motif):
    mean = motif.contribution.mean()
    return str(len(motif)), str(motif.n_sequences), f"{mean:+.3g}", f"{motif.e_value:.1e}"


def _row(tag: str, cells: Any) -> Markup:
    return element("tr", *(element(tag, cell) for cell in cells))


def _number(text: str) -> Markup:
    return element("td", text, class_="n")


def _logo(heights: np.ndarray, letters: str, most: float = 0.0) -> Markup:
    """Letters as high as `heights` (w, A), stacked above and below a line, in a picture of `most` or more."""
    up, down = (np.where(sign * heights > 0, sign * heights, 0).sum(axis=1).max() for sign in (1, -1))
    scale = HEIGHT / max(up, down, most, 1e-300)
    width, zero = COLUMN * len(heights), HEIGHT
    low = down * scale
    glyphs = []
    for x, row in enumerate(heights):
        for sign in (1, -1):
            level = 0.0
            for z in sorted(np.flatnonzero(sign * row > 0), key=lambda z: abs(row[z])):
                size = abs(row[z]) * scale
                foot = zero - level if sign > 0 else zero + level + size
                level += size
                if size >= 0.5:  # pixels
                    letter = letters[z]
                    across, along = 0.94 * COLUMN / WIDTHS.get(letter, 6.9), size / CAPITAL
                    move = f"translate({(x + 0.5) * COLUMN:g} {foot:.1f}) scale({across:.3f} {along:.3f})"
                    fill = f"fill:{LETTER_COLOURS.get(letter, '#444')}"
                    glyphs.append(element("text", letter, transform=move, text_anchor="middle", style=fill))
    line = element("line", x1=0, x2=width, y1=zero, y2=zero, style="stroke:#888")
    box = f"0 0 {width} {HEIGHT + low + 1:.1f}"
    return element("svg", line, glyphs, viewBox=box, width=width, height=round(HEIGHT + low + 1), role="img",
                   aria_label="logo")  # fmt: skip
