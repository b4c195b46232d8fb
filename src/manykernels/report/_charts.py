"""Pictures as SVG: small ones that stretch with a cell of a table, and whole ones drawn for the width of a phone.

Colours are classes of the page's style, so that light, dark and paper each have their own. Marks carry a text in
`data-t`, which the page shows when a pointer or the arrow keys come to them.
"""

from __future__ import annotations

import math
from typing import Any

from ._html import gap as gap_text
from ._html import number, text


class Scale:
    """Numbers as percentages of a width, with a margin of 1.5 % at either side."""

    def __init__(self, low: float, high: float) -> None:
        if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
            low, high = (low - 0.5, low + 0.5) if math.isfinite(low) else (0.0, 1.0)
        self.low, self.high = low, high

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return 1.5 + 97.0 * min(max(share, 0.0), 1.0)

    def ticks(self, most: int = 4) -> list[float]:
        """Round numbers within the scale, `most` at most."""
        if self.high - self.low < 1e-12 * max(abs(self.low), abs(self.high)):
            return [self.low]  # no two numbers between them
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / most))
        for factor in (1, 2, 5, 10, 20, 50):
            first = math.ceil(self.low / (factor * step) - 1e-9)
            last = math.floor(self.high / (factor * step) + 1e-9)
            if last - first + 1 <= most:
                return [factor * step * k for k in range(first, last + 1)]
        return []


def covering(values: Any, zero: bool = True) -> Scale:
    """The scale on which all of these finite numbers lie, and 0 where it is wanted."""
    found = [float(v) for v in values if v is not None and math.isfinite(v)] + ([0.0] if zero else [])
    return Scale(min(found), max(found)) if found else Scale(0.0, 1.0)


def _cell(inner: str, height: int = 18) -> str:
    return f'<svg class="cell" width="100%" height="{height}" aria-hidden="true" focusable="false">{inner}</svg>'


def axis(scale: Scale, most: int = 4, shares: bool = False) -> str:
    """The numbers of a scale, for the head of a column."""
    inner = []
    for value in scale.ticks(most):
        at = scale.at(value)
        anchor = "start" if at < 10 else "end" if at > 90 else "middle"
        label = f"{100 * value:.3g} %" if shares else f"{value:.10g}".replace("-", "−")
        inner.append(f'<text x="{at:.1f}%" y="11" text-anchor="{anchor}">{label}</text>')
    return _cell("".join(inner), 14)


def _zero(scale: Scale) -> str:
    if not scale.low <= 0 <= scale.high:
        return ""
    at = scale.at(0.0)
    return f'<line class="zero" x1="{at:.2f}%" x2="{at:.2f}%" y1="0" y2="100%"/>'


def bar(scale: Scale, value: float, said: str = "") -> str:
    """A bar from 0."""
    ends = sorted((scale.at(0.0), scale.at(value)))
    side = "neg" if value < 0 else "pos"
    mark = f' data-t="{text(said)}"' if said else ""
    return _cell(
        f'{_zero(scale)}<rect class="bar {side}" x="{ends[0]:.2f}%" y="4" width="{max(ends[1] - ends[0], 0.15):.2f}%" '
        f'height="10" rx="1"{mark}/>'
    )


def interval(scale: Scale, low: float, middle: float, high: float, said: str = "", extra: float | None = None) -> str:
    """A dot on the line between two ends; a diamond where there is a second value."""
    inner = [_zero(scale)]
    if math.isfinite(low) and math.isfinite(high):
        a, b = scale.at(low), scale.at(high)
        inner.append(f'<line class="reach" x1="{a:.2f}%" x2="{b:.2f}%" y1="9" y2="9"/>')
        clear = "" if low <= 0 <= high else " clear"
    else:
        clear = ""
    if math.isfinite(middle):
        inner.append(
            f'<circle class="dot{clear}" cx="{scale.at(middle):.2f}%" cy="9" r="4.5" data-t="{text(said, 200)}"/>'
        )
    if extra is not None:
        at = scale.at(extra)
        inner.append(f'<line class="tick" x1="{at:.2f}%" x2="{at:.2f}%" y1="1.5" y2="16.5"/>')
    return _cell("".join(inner))


def dots(scale: Scale, values: list[float], mean: float, kind: str, said: list[str]) -> str:
    """A ring for each value and a line at their mean."""
    at = scale.at(mean)
    inner = [f'<line class="mean {kind}" x1="{at:.2f}%" x2="{at:.2f}%" y1="1" y2="17"/>']
    inner += [
        f'<circle class="ring {kind}" cx="{scale.at(v):.2f}%" cy="9" r="4" data-t="{text(t, 200)}"/>'
        for v, t in zip(values, said, strict=True)
    ]
    return _cell("".join(inner))


def histogram(counts: list[int]) -> str:
    """Bars of equal width, for the shape of a column."""
    top, n = max(counts, default=0) or 1, max(len(counts), 1)
    bars = "".join(
        f'<rect class="shape" x="{100 * k / n:.1f}%" y="{18 - max(16 * c / top, 1 if c else 0):.1f}" '
        f'width="{88 / n:.1f}%" height="{max(16 * c / top, 1 if c else 0):.1f}"/>'
        for k, c in enumerate(counts)
    )
    return _cell(bars)


def _svg(width: float, height: float, label: str, inner: str, kind: str) -> str:
    return (
        f'<svg class="chart {kind}" viewBox="0 0 {width:g} {height:g}" role="img" aria-label="{label}" tabindex="0" '
        f"data-marks>{inner}</svg>"
    )


def heat_map(values: list[list[float]], names: list[str], label: str) -> str:
    """Squares, the stronger the larger the number; rows and columns are numbered from 1."""
    n = len(values)
    size, edge = 300.0 / max(n, 4), 26.0
    inner = []
    every = 1 if n <= 15 else 2 if n <= 24 else 5
    for i in range(n):
        middle = edge + size * (i + 0.5)
        if every < 5 and i % every == 0 or every == 5 and (i == 0 or (i + 1) % 5 == 0):
            inner.append(f'<text x="{edge - 5:g}" y="{middle + 3.5:.1f}" text-anchor="end">{i + 1}</text>')
            inner.append(f'<text x="{middle:.1f}" y="{edge - 7:g}" text-anchor="middle">{i + 1}</text>')
        row = []
        for j in range(n):
            value = values[i][j]
            side, strength = ("neg" if value < 0 else "pos"), min(abs(value), 1.0)
            row.append(
                f'<rect class="{side}" x="{edge + size * j:.1f}" y="{edge + size * i:.1f}" width="{size - 0.7:.1f}" '
                f'height="{size - 0.7:.1f}" fill-opacity="{0.04 + 0.96 * strength:.2f}" data-t="{number(value, 2)}"/>'
            )
        inner.append(f'<g class="squares" data-n="{i + 1} {text(names[i], 60)}">{"".join(row)}</g>')
    whole = edge + size * n + 2
    return _svg(whole, whole, label, "".join(inner), "square-chart")


def scatter(points: list[tuple[float, float]], label: str, across: str, up: str) -> str:
    """Points, with the line on which both numbers are the same."""
    x0, y0, w, h = 46.0, 10.0, 288.0, 250.0
    scale = covering([v for p in points for v in p], zero=False)
    low, high = scale.low, scale.high

    def at(x, y):
        share = 1.0 / (high - low)
        return x0 + w * (0.02 + 0.96 * (x - low) * share), y0 + h * (0.98 - 0.96 * (y - low) * share)

    inner = []
    for tick in scale.ticks(5):
        x, y = at(tick, tick)
        shown = f"{tick:.6g}".replace("-", "−")
        inner.append(f'<line class="grid" x1="{x0:g}" x2="{x0 + w:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        inner.append(f'<text x="{x0 - 5:g}" y="{y + 4:.1f}" text-anchor="end">{shown}</text>')
        inner.append(f'<text x="{x:.1f}" y="{y0 + h + 15:g}" text-anchor="middle">{shown}</text>')
    (ax, ay), (bx, by) = at(low, low), at(high, high)
    inner.append(f'<line class="same" x1="{ax:.1f}" y1="{ay:.1f}" x2="{bx:.1f}" y2="{by:.1f}"/>')
    for true, found in points:
        x, y = at(true, found)
        said = f"{across} {true:.4g}, {up} {found:.4g}"
        inner.append(f'<circle class="point" cx="{x:.1f}" cy="{y:.1f}" r="3" data-t="{text(said)}"/>')
    inner.append(f'<text class="axis" x="{x0 + w / 2:g}" y="{y0 + h + 32:g}" text-anchor="middle">{across}</text>')
    inner.append(f'<text class="axis" x="12" y="{y0 + h / 2:g}" text-anchor="middle" transform="rotate(-90 12 '
                 f'{y0 + h / 2:g})">{up}</text>')  # fmt: skip
    return _svg(x0 + w + 4, y0 + h + 40, label, "".join(inner), "plot")


def descent(runs: list[tuple[str, list[tuple[float, float]]]], goal: float | None, label: str, up: str) -> str:
    """Curves (step, gap) on a logarithmic scale, the first of them on top, and the gap that was asked for."""
    x0, y0, w, h = 46.0, 10.0, 288.0, 180.0
    every = [g for _, run in runs for _, g in run if g > 0 and math.isfinite(g)] + ([goal] if goal else [])
    low, high = math.floor(math.log10(min(every, default=1e-3))), math.ceil(math.log10(max(every, default=1.0)))
    high = max(high, low + 1)
    last = max((s for _, run in runs for s, _ in run), default=1.0) or 1.0
    first = min((s for _, run in runs for s, _ in run), default=0.0)
    wide = max(last - first, 1e-12)

    def at(step, value):
        value = math.log10(max(value, 10.0**low)) if value > 0 else low
        return x0 + w * (0.02 + 0.94 * (step - first) / wide), y0 + h * (1 - (min(value, high) - low) / (high - low))

    inner = []
    for power in range(low, high + 1, max(1, (high - low) // 5)):
        y = at(first, 10.0**power)[1]
        inner.append(f'<line class="grid" x1="{x0:g}" x2="{x0 + w:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        inner.append(f'<text x="{x0 - 5:g}" y="{y + 4:.1f}" text-anchor="end">{_power(power)}</text>')
    for tick in Scale(first, last).ticks(5) if last > first else [last]:
        if tick == int(tick):
            inner.append(f'<text x="{at(tick, 1)[0]:.1f}" y="{y0 + h + 15:g}" text-anchor="middle">{tick:g}</text>')
    if goal:
        y = at(first, goal)[1]
        inner.append(f'<line class="goal" x1="{x0:g}" x2="{x0 + w:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        inner.append(f'<text x="{x0 + w:g}" y="{y - 4:.1f}" text-anchor="end">asked for</text>')
    for k, (called, run) in reversed(list(enumerate(runs))):
        places = [at(s, g) for s, g in run]
        kind = "first" if k == 0 else "other"
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        inner.append(f'<polyline class="curve {kind}" points="{path}"/>')
        for (x, y), (s, g) in zip(places, run, strict=True):
            said = f"{called}step {s:g}: {gap_text(g)}"
            inner.append(f'<circle class="knot {kind}" cx="{x:.1f}" cy="{y:.1f}" r="2.6" data-t="{text(said)}"/>')
    inner.append(f'<text class="axis" x="{x0 + w / 2:g}" y="{y0 + h + 32:g}" text-anchor="middle">step</text>')
    inner.append(f'<text class="axis" x="10" y="{y0 + h / 2:g}" text-anchor="middle" transform="rotate(-90 10 '
                 f'{y0 + h / 2:g})">{up}</text>')  # fmt: skip
    return _svg(x0 + w + 4, y0 + h + 40, label, "".join(inner), "plot")


def _power(power: int) -> str:
    return f'10<tspan class="up" dy="-4">{str(power).replace("-", "−")}</tspan>' if power else "1"
