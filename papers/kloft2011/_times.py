"""What Figure 7 reads off the times of fits: seconds with their standard errors, their ratios, and how they grow.

A cell is (its result, None) or (None, the words in the place of its time), as `scale.time` returns it; `rows` are
{method: {(examples, kernels): cell}}. Names are those by which margins are recorded.
"""

import numpy as np

from .._verdict import every, measured


class _Seconds(float):
    """Seconds with their standard error: 0 of one draw; of two half their range: what counts parts all draws.

    `cut` where these are the seconds after which a fit was cut off.
    """

    def __new__(cls, result, cut=False):
        self = super().__new__(cls, result["cpu"])
        self.error, self.cut = result.get("error") or 0.0, cut
        return self


def _seconds(cell):
    return _Seconds(cell[0]) if cell and cell[0] else None


def _longer(a, b, factor=1.0):
    """Whether seconds a are more than `factor` times b."""
    return measured(a - factor * b, float(np.hypot(a.error, factor * b.error)))


def _at_least(cell):
    """The seconds of a fit, or those after which it was cut off."""
    words = _words(cell)
    if not words.startswith(">"):
        return _seconds(cell)
    return _Seconds({"cpu": float(words.split()[1]) * (60 if words.endswith("min") else 1)}, cut=True)


def _both(rows, a, b):
    """{case: (seconds of a, of b)}, cut off or not."""
    pairs = {case: (_at_least(cell), _at_least(rows.get(b, {}).get(case))) for case, cell in rows.get(a, {}).items()}
    return {case: (x, y) for case, (x, y) in pairs.items() if x and y}


def _between(t, a, b, low, high=None):
    """Whether a takes more than `low` times as long as b, and less than `high` times."""
    if not (t.get(a) and t.get(b)):
        return "disagree"
    return every([_longer(t[a], t[b], low), *([] if high is None else [_longer(t[b], t[a], 1 / high)])])


def _across(rows, pairs, low=1.0, high=None):
    """Whether a takes more than `low` times as long as b, and less than `high` times, at every size where both ended.

    Of one that was cut off the seconds it had count where they suffice.
    """
    found = []
    for x, y in (both for pair in pairs for both in _both(rows, *pair).values()):
        if x.cut and not y.cut:
            found += ["agree"] * (high is None and x > low * y)
        elif y.cut and not x.cut:
            found += ["disagree"] * (x < low * y)
        elif not x.cut:
            found += [_longer(x, y, low), *([] if high is None else [_longer(y, x, 1 / high)])]
    return every(found)


def _ratios_of(rows, pairs):
    """How many times as long as b a takes, size by size."""

    def told(a, b):
        each = [(x, y) for x, y in _both(rows, a, b).values() if not (x.cut and y.cut)]
        return ", ".join(f"{'> ' * x.cut}{'< ' * y.cut}{x / y:.1f}" for x, y in each) or "not measured"

    return "; ".join(f"{a} / {b} = {told(a, b)}" for a, b in pairs)


def _growth(rows, a, b):
    """(time of a over that of b at the largest size, over that at the smallest; relative standard error; cut off)."""
    both = [pair for _, pair in sorted(_both(rows, a, b).items())]
    if not both or both[0][0].cut or both[0][1].cut or both[-1][1].cut:
        return np.nan, np.inf, False
    (x, y), (u, v) = both[0], both[-1]
    return (u / x) / (v / y), float(np.hypot.reduce([s.error / s for s in (x, y, u, v)])), u.cut


def _similar(growth):
    """Whether two times grow alike, within a factor of 2."""
    ratio, error, cut = growth
    return "tie" if cut else measured(np.log(2) - abs(np.log(ratio)), error)


def _shrinks(growth):
    """Whether one time falls beside the other; where it was cut off, only that it does not."""
    ratio, error, cut = growth
    return "tie" if cut and ratio < 1 else measured(-np.log(ratio), error)


def _grown(growths):
    return ", ".join(f"{'> ' * cut}{ratio:.2f} ± {ratio * error:.2f}" for ratio, error, cut in growths)


def _steps(rows, name):
    """Such as 5 to 6 steps: the least and the most over the sizes."""
    found = [cell["steps"] for cell, _ in rows.get(name, {}).values() if cell]
    return f"{min(found)}" + f" to {max(found)}" * (min(found) < max(found)) + " steps" if found else "no steps"


def _words(cell):
    return (cell and cell[1]) or ""


def _text(cell):
    """Such as 3.2 s, or > 60 s."""
    return _words(cell) or (f"{s:.3g} s" if (s := _seconds(cell)) else "not run")


def _shown(row, case):
    if case not in row:
        return ""
    result, words = row[case]
    if words:
        return words
    error = f" ± {result['error']:.1g}" if result.get("error") else ""
    return f"{result['cpu']:.3g}{error}" + (f" (gap {result['gap']:.0e})" if result.get("gap", 0) > 1.001e-3 else "")
