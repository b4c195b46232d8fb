"""Charts as SVG: small ones fill a table cell, large ones have the width of a phone.

Colours are CSS classes, which differ between the light, dark and print styles. The page shows the text in `data-t` when
the pointer or the arrow keys reach a mark.
"""

import math
from typing import Any

from ._html import Markup, element, number, text
from ._html import gap as gap_text


class Scale:
    """Maps numbers to percentages of a width, with margins of 1.5 %."""

    def __init__(self, low: float, high: float) -> None:
        if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
            low, high = (low - 0.5, low + 0.5) if math.isfinite(low) else (0.0, 1.0)
        self.low, self.high = low, high

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return 1.5 + 97.0 * min(max(share, 0.0), 1.0)

    def ticks(self, most: int = 4) -> list[float]:
        """At most `most` round numbers within the scale."""
        if self.high - self.low < 1e-12 * max(abs(self.low), abs(self.high)):
            return [self.low]  # too narrow for two ticks
        step = 10.0 ** math.floor(math.log10((self.high - self.low) / most))
        for factor in (1, 2, 5, 10, 20, 50):
            first = math.ceil(self.low / (factor * step) - 1e-9)
            last = math.floor(self.high / (factor * step) + 1e-9)
            if last - first + 1 <= most:
                return [factor * step * k for k in range(first, last + 1)]
        return []


def covering(values: Any, zero: bool = True) -> Scale:
    """The scale that covers all finite values, and 0 if `zero`."""
    found = [float(v) for v in values if v is not None and math.isfinite(v)] + ([0.0] if zero else [])
    return Scale(min(found), max(found)) if found else Scale(0.0, 1.0)


def _cell(*inner: Any, height: int = 18) -> Markup:
    return element("svg", inner, class_="cell", width="100%", height=height, aria_hidden="true", focusable="false")


def axis(scale: Scale, most: int = 4, shares: bool = False) -> Markup:
    """The ticks of a scale, for the header of a column."""
    inner = []
    for value in scale.ticks(most):
        at = scale.at(value)
        anchor = "start" if at < 10 else "end" if at > 90 else "middle"
        label = f"{100 * value:.3g} %" if shares else f"{value:.10g}".replace("-", "−")
        inner.append(element("text", label, x=f"{at:.1f}%", y=11, text_anchor=anchor))
    return _cell(inner, height=14)


def _upright(kind: str, at: float, top: str = "0", bottom: str = "100%") -> Markup:
    return element("line", class_=kind, x1=f"{at:.2f}%", x2=f"{at:.2f}%", y1=top, y2=bottom)


def _zero(scale: Scale) -> Markup | None:
    return _upright("zero", scale.at(0.0)) if scale.low <= 0 <= scale.high else None


def bar(scale: Scale, value: float, said: str = "") -> Markup:
    """A bar from 0."""
    ends = sorted((scale.at(0.0), scale.at(value)))
    side, width = "neg" if value < 0 else "pos", max(ends[1] - ends[0], 0.15)
    mark = text(said) if said else None
    return _cell(
        _zero(scale),
        element("rect", class_=f"bar {side}", x=f"{ends[0]:.2f}%", y=4, width=f"{width:.2f}%", height=10, rx=1,
                data_t=mark),
    )  # fmt: skip


def interval(
    scale: Scale, low: float, middle: float, high: float, said: str, clear: bool, extra: float | None = None
) -> Markup:
    """A dot on a horizontal line from `low` to `high`, filled if `clear`, and a vertical tick at `extra`."""
    inner = [_zero(scale)]
    if math.isfinite(low) and math.isfinite(high):
        a, b = scale.at(low), scale.at(high)
        inner.append(element("line", class_="reach", x1=f"{a:.2f}%", x2=f"{b:.2f}%", y1=9, y2=9))
    if math.isfinite(middle):
        at = f"{scale.at(middle):.2f}%"
        inner.append(
            element("circle", class_="dot clear" if clear else "dot", cx=at, cy=9, r=4.5, data_t=text(said, 200))
        )
    if extra is not None:
        inner.append(_upright("tick", scale.at(extra), "1.5", "16.5"))
    return _cell(inner)


def dots(scale: Scale, values: list[float], mean: float, kind: str, said: list[str]) -> Markup:
    """A ring for each value and a line at their mean."""
    rings = [
        element("circle", class_=f"ring {kind}", cx=f"{scale.at(v):.2f}%", cy=9, r=4, data_t=text(t, 200))
        for v, t in zip(values, said, strict=True)
    ]
    return _cell(_upright(f"mean {kind}", scale.at(mean), "1", "17"), rings)


def histogram(counts: list[int]) -> Markup:
    """Bars of equal width that show the distribution of a column."""
    top, n = max(counts, default=0) or 1, max(len(counts), 1)
    heights = [max(16 * c / top, 1 if c else 0) for c in counts]
    return _cell(
        element("rect", class_="shape", x=f"{100 * k / n:.1f}%", y=f"{18 - h:.1f}", width=f"{88 / n:.1f}%",
                height=f"{h:.1f}")
        for k, h in enumerate(heights)
    )  # fmt: skip


def _svg(width: float, height: float, label: str, inner: list[Markup], kind: str) -> Markup:
    return element(
        "svg", inner, class_=f"chart {kind}", viewBox=f"0 0 {width:g} {height:g}", role="img", aria_label=label,
        tabindex=0, data_marks=True,
    )  # fmt: skip


def _level(x: float, width: float, y: float, kind: str = "grid") -> Markup:
    return element("line", class_=kind, x1=f"{x:g}", x2=f"{x + width:g}", y1=f"{y:.1f}", y2=f"{y:.1f}")


def _label(said: Any, x: float, y: float, anchor: str = "middle") -> Markup:
    return element("text", said, x=f"{x:.4g}", y=f"{y:.4g}", text_anchor=anchor)


def _axes(across: str, up: str, x0: float, y0: float, w: float, h: float) -> list[Markup]:
    """The labels of both axes."""
    turned = f"rotate(-90 12 {y0 + h / 2:g})"
    return [
        element("text", across, class_="axis", x=f"{x0 + w / 2:g}", y=f"{y0 + h + 32:g}", text_anchor="middle"),
        element("text", up, class_="axis", x=12, y=f"{y0 + h / 2:g}", text_anchor="middle", transform=turned),
    ]


def heat_map(values: list[list[float]], names: list[str], label: str) -> Markup:
    """A heat map with rows and columns numbered from 1; larger values have stronger colours."""
    n = len(values)
    size, edge = 300.0 / max(n, 4), 26.0
    inner = []
    every = 1 if n <= 15 else 2 if n <= 24 else 5
    for i in range(n):
        middle = edge + size * (i + 0.5)
        if every < 5 and i % every == 0 or every == 5 and (i == 0 or (i + 1) % 5 == 0):
            inner.append(_label(str(i + 1), edge - 5, middle + 3.5, "end"))
            inner.append(_label(str(i + 1), middle, edge - 7))
        row = []
        for j in range(n):
            value = values[i][j]
            side, strength = ("neg" if value < 0 else "pos"), min(abs(value), 1.0)
            row.append(
                element("rect", class_=side, x=f"{edge + size * j:.1f}", y=f"{edge + size * i:.1f}",
                        width=f"{size - 0.7:.1f}", height=f"{size - 0.7:.1f}",
                        fill_opacity=f"{0.04 + 0.96 * strength:.2f}", data_t=number(value, 2))
            )  # fmt: skip
        inner.append(element("g", row, class_="squares", data_n=f"{i + 1} {text(names[i], 60)}"))
    whole = edge + size * n + 2
    return _svg(whole, whole, label, inner, "square-chart")


def scatter(
    points: list[tuple[float, float]],
    label: str,
    across: str,
    up: str,
    joined: bool = False,
    limits: tuple[float, float] | None = None,
) -> Markup:
    """Points with the diagonal y = x, joined to a curve if `joined`."""
    x0, y0, w, h = 46.0, 10.0, 288.0, 250.0
    scale = covering(limits or [v for p in points for v in p], zero=False)
    low, high = scale.low, scale.high

    def at(x, y):
        share = 1.0 / (high - low)
        return x0 + w * (0.02 + 0.96 * (x - low) * share), y0 + h * (0.98 - 0.96 * (y - low) * share)

    inner = []
    for tick in scale.ticks(5):
        x, y = at(tick, tick)
        shown = f"{tick:.6g}".replace("-", "−")
        inner += [_level(x0, w, y), _label(shown, x0 - 5, y + 4, "end"), _label(shown, x, y0 + h + 15)]
    (ax, ay), (bx, by) = at(low, low), at(high, high)
    inner.append(element("line", class_="same", x1=f"{ax:.1f}", y1=f"{ay:.1f}", x2=f"{bx:.1f}", y2=f"{by:.1f}"))
    if joined:
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in (at(*point) for point in points))
        inner.append(element("polyline", class_="curve first", points=path))
    kind, size = ("knot first", 2.2) if joined else ("point", 3)
    for true, found in points:
        x, y = at(true, found)
        said = f"{across} {true:.4g}, {up} {found:.4g}"
        inner.append(element("circle", class_=kind, cx=f"{x:.1f}", cy=f"{y:.1f}", r=size, data_t=text(said)))
    return _svg(x0 + w + 4, y0 + h + 40, label, [*inner, *_axes(across, up, x0, y0, w, h)], "plot")


def descent(runs: list[tuple[str, list[tuple[float, float]]]], goal: float | None, label: str, up: str) -> Markup:
    """Curves (step, gap) on a logarithmic scale, the first one on top, and a line at the tolerance `goal`."""
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
        inner += [_level(x0, w, y), _label(_power(power), x0 - 5, y + 4, "end")]
    for tick in Scale(first, last).ticks(5) if last > first else [last]:
        if tick == int(tick):
            inner.append(_label(f"{tick:g}", at(tick, 1)[0], y0 + h + 15))
    if goal:
        y = at(first, goal)[1]
        inner += [_level(x0, w, y, "goal"), _label("tolerance", x0 + w, y - 4, "end")]
    for k, (called, run) in reversed(list(enumerate(runs))):
        places = [at(s, g) for s, g in run]
        kind = "first" if k == 0 else "other"
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        inner.append(element("polyline", class_=f"curve {kind}", points=path))
        for (x, y), (s, g) in zip(places, run, strict=True):
            said = text(f"{called}step {s:g}: {gap_text(g)}")
            inner.append(element("circle", class_=f"knot {kind}", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2.6, data_t=said))
    return _svg(x0 + w + 4, y0 + h + 40, label, [*inner, *_axes("step", up, x0, y0, w, h)], "plot")


def steps(curves: list[tuple[str, list[tuple[float, float]], float]], end: float, label: str) -> Markup:
    """Step curves (time, share) that end at a time each, from the first colour to the last, with their names."""
    x0, y0, w, h = 46.0, 10.0, 288.0, 200.0
    scale = Scale(0.0, end)
    inner: list[Markup] = []
    names: list[Markup] = []

    def at(time, share):
        return x0 + w * min(time / max(end, 1e-300), 1.0), y0 + h * (1.0 - share)

    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        y = at(0.0, share)[1]
        inner += [_level(x0, w, y), _label(f"{100 * share:.0f} %", x0 - 5, y + 4, "end")]
    for tick in scale.ticks(5):
        inner.append(_label(f"{tick:.6g}", at(tick, 0.0)[0], y0 + h + 15))
    kinds = ("first", "second", "third") if len(curves) == 3 else ("first", "third")
    for kind, (called, points, last) in zip(kinds, curves, strict=True):
        corners = []
        for k, (time, share) in enumerate(points):
            corners += [at(time, points[k - 1][1]), at(time, share)] if k else [at(time, share)]
        corners.append(at(last, points[-1][1]))
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in corners)
        inner.append(element("polyline", class_=f"curve {kind}", points=path, data_t=text(called)))
        y = y0 + 12 + 15 * len(names)
        names.append(element("polyline", class_=f"curve {kind}", points=f"{x0 + w - 24:g},{y:g} {x0 + w - 4:g},{y:g}"))
        inner.append(_label(called, x0 + w - 30, y + 4, "end"))
    return _svg(
        x0 + w + 4, y0 + h + 40, label, [*inner, *names, *_axes("time", "without an event", x0, y0, w, h)], "plot"
    )


def _power(power: int) -> Any:
    """10 to this power."""
    return ["10", element("tspan", str(power).replace("-", "−"), class_="up", dy=-4)] if power else "1"
