"""The page of motifs: a table with a logo, the support and the contribution of each, and their distances."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._pictures import render
from .sequence_plots import LETTER_COLOURS

COLUMN, HEIGHT = 16, 56  # of a logo, in pixels
CAPITAL = 7.16  # the height of a capital of 10 pixels in Arial
WIDTHS = {"A": 7.2, "C": 7.2, "G": 7.8, "T": 6.1, "U": 7.2, "I": 2.8, "W": 9.4, "M": 8.3}  # of capitals of 10 pixels


def motif_page(motifs: Any, title: str) -> str:
    """The whole page as text."""
    bits = np.log2(len(motifs.letters))
    return render("inspect/motif_page.html.jinja", motifs=motifs, title=title, bits=bits, stacks=stacks,
                  colours=LETTER_COLOURS)  # fmt: skip


def stacks(heights: np.ndarray, letters: str, most: float = 0.0) -> dict[str, Any]:
    """The letters of a logo, each as high as its entry of `heights` (w, A), in a picture of `most` or more.

    {"width", "height", "zero": the height of the line, "glyphs": [(letter, x, foot, scale across, scale along)]}
    """
    up, down = (np.where(sign * heights > 0, sign * heights, 0).sum(axis=1).max() for sign in (1, -1))
    scale = HEIGHT / max(up, down, most, 1e-300)
    glyphs = []
    for x, row in enumerate(heights):
        for sign in (1, -1):
            level = 0.0
            for z in sorted(np.flatnonzero(sign * row > 0), key=lambda z: abs(row[z])):
                size = abs(row[z]) * scale
                foot = HEIGHT - level if sign > 0 else HEIGHT + level + size
                level += size
                if size >= 0.5:  # pixels
                    across = 0.94 * COLUMN / WIDTHS.get(letters[z], 6.9)
                    glyphs.append((letters[z], (x + 0.5) * COLUMN, foot, across, size / CAPITAL))
    return {"width": COLUMN * len(heights), "height": HEIGHT + down * scale + 1, "zero": HEIGHT, "glyphs": glyphs}
