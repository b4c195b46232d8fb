"""Helpers of all pictures: colours, axes, names, curves, notes; and HTML from the templates of the package.

matplotlib and jinja2 are imported on first use.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import numpy as np

# Okabe and Ito (2008): distinct with every common colour blindness
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000")
MARKERS = "osD^vP*"
GREY, MAX_NAME = "0.65", 34  # letters of a name
_CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\ufffe\uffff]")
_LOST = dict.fromkeys(range(0xFDD0, 0xFDF0), "\ufffd")  # noncharacters, which mark elements in sentences of a report


def panels(ax: Any, rows: int, columns: int, size: tuple[float, float], **options: Any) -> tuple[Any, np.ndarray]:
    """(figure, axes (rows, columns)): a figure of this size, or the place of `ax` shared among them."""
    if ax is None:
        import matplotlib.pyplot as plt

        figure, axes = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False, **options)
        return figure, axes
    if rows == columns == 1:
        return ax.figure, np.array([[ax]])
    spec = getattr(ax, "get_subplotspec", lambda: None)()  # matplotlib's axes
    if spec is None:
        raise ValueError(
            f"ax={ax!r} is not in a grid that {rows * columns} panels could share: give axes of plt.subplots()."
        )
    ax.set_axis_off()
    ratios = options.pop("gridspec_kw", {})
    return ax.figure, spec.subgridspec(rows, columns, **ratios).subplots(squeeze=False, **options)


def one_axes(ax: Any, size: tuple[float, float]) -> Any:
    """The axes, or those of a new figure of this size."""
    return panels(ax, 1, 1, size)[1][0, 0]


def plain(ax: Any) -> Any:
    """The axes without the frame's upper and right side."""
    ax.spines[["top", "right"]].set_visible(False)
    return ax


def short(name: Any, length: int = MAX_NAME) -> str:
    """The name, with … in its middle where it is long."""
    name = str(name)
    if len(name) <= length:
        return name
    head = (length - 1) * 2 // 3
    return f"{name[:head]}…{name[head + 1 - length :]}"


def shorts(names: Any, length: int = MAX_NAME) -> list[str]:
    """The names shortened, except names that would become equal."""
    names = [str(name) for name in names]
    cut = [short(name, length) for name in names]
    return [c if cut.count(c) == names.count(name) else name for c, name in zip(cut, names, strict=True)]


def note(ax: Any, text: str) -> None:
    """A small grey line above the axes, at the right; nothing where there is no text."""
    if text:
        ax.set_title(text, loc="right", fontsize="small", color="0.35")


def left_out(shown: int, total: int, what: str, share: float | None = None) -> str:
    """The note on what a picture leaves out; "" if it shows everything."""
    if shown >= total:
        return ""
    rest = "" if share is None else f"; the others hold {_percent(share)} of the weight"
    return f"{shown} of {total} {what}{rest}"


def _percent(share: float) -> str:
    return "0%" if share <= 0 else "<0.5%" if share < 0.005 else ">99.5%" if 0.995 < share < 1 else f"{share:.0%}"


def rows_of(ax: Any, names: Any, length: int = MAX_NAME) -> None:
    """Labels the rows 0, 1, … of horizontal bars, from the top, with these names."""
    size = "medium" if len(names) <= 25 else "small"
    ax.set_yticks(range(len(names)), shorts(names, length), fontsize=size)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.tick_params(axis="y", length=0)


def height(rows: int) -> float:
    """Inches for this many horizontal bars."""
    return 1.1 + 0.24 * max(rows, 2)


def as_shares(weights: Any) -> np.ndarray:
    """θ / Σθ over the last axis, 0 where all are 0."""
    weights = np.asarray(weights, float)
    total = weights.sum(axis=-1, keepdims=True)
    return np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)


def curves(ax: Any, x: Any, shares: np.ndarray, names: list[str], top: int) -> np.ndarray:
    """A curve of shares (K, M) for each of the `top` with the highest peaks; their numbers, highest first.

    NaN marks a missing point; a curve of zeros is not drawn.
    """
    x, filled = np.asarray(x), np.nan_to_num(shares)
    highest = np.argsort(-filled.max(axis=0), kind="stable")
    highest = highest[filled[:, highest].any(axis=0)][:top]
    labels = shorts([names[m] for m in highest])
    for k, m in enumerate(highest):
        turn, colour = divmod(k, len(COLOURS))
        own = ~np.isnan(shares[:, m])
        look = dict(color=COLOURS[colour], marker=MARKERS[(colour + turn) % len(MARKERS)], markersize=4)
        ax.plot(x[own], shares[own, m], linestyle=("-", ":", "-.")[turn % 3], label=labels[k], **look)
    ax.set_ylabel("share of the kernel weights")
    ax.set_ylim(bottom=0)
    return highest


def legend(ax: Any, many: int = 5, shift: float = 1.02, **options: Any) -> None:
    """A legend without a frame: inside the axes, or beside them from `many` entries on."""
    lines, labels = ax.get_legend_handles_labels()
    if len(labels) >= many:
        options |= dict(loc="upper left", bbox_to_anchor=(shift, 1.0), borderaxespad=0.0)
    if labels:
        ax.legend(lines, labels, frameon=False, fontsize="small", **options)


def render(template: str, marks: dict[int, str] = _LOST, **values: Any) -> str:
    """The HTML of a template of the package; every value is escaped, then `marks` become elements of sentences."""
    return _clean(_templates().get_template(template).render(**values)).translate(marks)


def writable(text: str) -> str:
    """The text with lone surrogates, control characters and marks replaced, so that every file can hold it."""
    return text if text.isascii() and text.isprintable() else _clean(text).translate(_LOST)


def _clean(text):
    return _CONTROL.sub("\ufffd", text.encode("utf-8", "replace").decode("utf-8"))


@cache
def _templates() -> Any:
    from jinja2 import Environment, PackageLoader, StrictUndefined  # on first use: `import manykernels` stays cheap

    return Environment(loader=PackageLoader("manykernels", ""), autoescape=True, undefined=StrictUndefined,
                       trim_blocks=True, lstrip_blocks=True, extensions=["jinja2.ext.do"])  # fmt: skip
