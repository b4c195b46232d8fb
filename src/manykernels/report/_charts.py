"""Scales of charts, which templates/charts.html.jinja draws as SVG."""

import math
from typing import Any

import numpy as np

Runs = list[tuple[str, list[tuple[float, float]]]]


class Scale:
    """Maps numbers from `low` to `high` to places from `start` on, in percent with margins of 1.5 %, or in pixels."""

    def __init__(self, low: float, high: float, start: float = 1.5, length: float = 97.0) -> None:
        if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
            low, high = (low - 0.5, low + 0.5) if math.isfinite(low) else (0.0, 1.0)
        self.low, self.high, self.start, self.length = low, high, start, length

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return self.start + self.length * min(max(share, 0.0), 1.0)

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
    every = np.append(np.array(list(values), float), [0.0] * zero)
    found = every[np.isfinite(every)]
    return Scale(float(found.min()), float(found.max())) if len(found) else Scale(0.0, 1.0)


def across(low: float, high: float) -> Scale:
    """The places of x in a picture."""
    return Scale(low, high, 52.0, 276.0)


def upwards(low: float, high: float, height: float) -> Scale:
    """The places of y in a picture, from the bottom to the top."""
    return Scale(low, high, 10.0 + height, -height)


def labelled(values: list[float]) -> list[tuple[float, str]]:
    """Ticks with their labels."""
    return [(value, f"{value:.6g}".replace("-", "−")) for value in values]


def log10(value: float) -> float:
    return math.log10(value) if value > 0 else -math.inf


def falling(runs: Runs, goal: float | None) -> tuple[Scale, Scale, list[tuple[float, str]], range]:
    """The scales of (step, log10 gap), the ticks of whole steps, and the powers of ten with a line."""
    levels = [log10(gap) for _, run in runs for _, gap in run] + ([log10(goal)] if goal else [])
    levels = [level for level in levels if math.isfinite(level)]
    low, high = math.floor(min(levels, default=-3)), math.ceil(max(levels, default=0))
    high = max(high, low + 1)
    steps = [step for _, run in runs for step, _ in run]
    x = across(min(steps, default=0.0), max(steps, default=1.0))
    ticks = labelled([tick for tick in x.ticks(5) if tick == int(tick)])
    return x, upwards(low, high, 180.0), ticks, range(low, high + 1, max(1, (high - low) // 5))
