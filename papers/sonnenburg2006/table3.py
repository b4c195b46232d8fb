"""Table 3: the time of linadd against the size Q of the working set."""

from .._data import tables
from .._page import Finding, Section, Table, listed
from . import timing

Q = (112, 12, 32, 42, 52, 72)
PAPER = {n: values for n, *values in tables(__name__)["paper"]}
BEFORE = {10_000: "30.4", 30_000: "192"}  # seconds of Q = 12 on 16 November 2026
VARIES = (
    "In the paper the largest Q costs most up to 100,000 examples, and the smallest from 200,000 on. The paper says "
    "that the trie on Q examples and the quadratic program, of quadratic to cubic effort, take the time of large Q. "
    "Ours hardly take any there: what costs is the update of all outputs after each working set, and small sets need "
    "more of them (for 2,000 examples 160 of 12 variables, 41 of 112, 33 without a limit, which is the default)."
)


def run(scale, data):
    full = not scale.quick
    sizes = scale.pick((100,), timing.ALONE[:4])
    limits = {f"Q = {q}": {"size": q} for q in sorted(Q)}
    common = dict(kernel="wd", solver="chunking", features="trie")
    methods = {name: (50_000, common | more) for name, more in (limits | {"no limit": {}}).items()}
    if scale.quick:
        methods = {name: methods[name] for name in ("Q = 42", "no limit")}
    larger = {} if scale.quick else timing.measure(scale, methods, timing.ALONE)
    wants = [(0, name, 10_000) for name in methods]
    (found,), alone, departures = timing.alone(scale, [methods], sizes, wants, [larger])
    larger, sizes = (larger, sizes) if alone else ({}, timing.ALONE)
    limits = [name for name in methods if name != "no limit"]
    whole = [n for n in sizes if all(isinstance(found[name].get(n), float) for name in limits)]
    last = max(whole, default=None)
    optimal = {n: min(Q, key=lambda q, n=n: found[f"Q = {q}"][n]) for n in whole} if full else {}
    ratios = {n: _ratio(found[name][n] for name in limits) for n in whole}
    return Section(
        "Table 3",
        "Linadd with the weighted degree kernel; SVMlight's working sets have Q variables. The paper finds little "
        "dependence, the best Q growing with N.",
        timing.DATA,
        findings=[
            Finding(
                "times do not vary dramatically with Q", _by_size({n: _ratio(row) for n, row in PAPER.items()}),
                _by_size(ratios) or "not measured", bool(ratios) and max(ratios.values()) < 4,
                "the slowest Q less than 4 times the quickest, at every size", judged=full, timed=True,
                reason=f"Here {_slowest(found, whole)}. {VARIES}{_more(larger, limits, last)}",
            ),
            Finding(
                "with more examples a larger Q becomes optimal", "12 and 32 up to 10,000; 42 at a million",
                listed("{1} at {0:,}", optimal),
                len(optimal) > 1 and optimal[max(optimal)] > optimal[min(optimal)],
                "the best Q larger at the most examples than at the fewest, one run", judged=full,
                timed=True,
            ),
        ],
        tables=[
            Table(
                "CPU seconds of `chunking` by its `size`, and the seconds of the paper",
                *_rows(sizes, found),
            ),
            *(timing.beside("The same", scale, _rows(timing.ALONE, larger)) if larger else []),
        ],
        deviations=departures,
        timed=True, clocked=alone, behind=_behind(larger, found) if larger else [],
    )  # fmt: skip


def _more(larger, limits, last):
    """The ratio with more examples than those that the verdict rests on."""
    whole = [n for n in timing.ALONE if all(isinstance(larger.get(name, {}).get(n), float) for name in limits)]
    if not whole or max(whole) <= (last or 0):
        return ""
    ratio = _ratio(larger[name][max(whole)] for name in limits)
    return f" With {max(whole):,} examples, beside other fits, it was {ratio:.1f} times."


def _slowest(found, sizes):
    """Which Q costs most."""
    slow = {n: max(Q, key=lambda q, n=n: found[f"Q = {q}"][n]) for n in sizes if f"Q = {Q[0]}" in found}
    return listed("Q = {1} costs most at {0:,}", slow) or "it was not measured"


def _ratio(seconds):
    seconds = list(seconds)
    return max(seconds) / min(seconds)


def _by_size(ratios):
    return listed("{1:.2g} times at {0:,}", ratios)


def _behind(larger, found):
    beside = timing.told(larger, "Q = 12", 30_000)
    now = {10_000: timing.told(found, "Q = 12", 10_000), 30_000: f"{beside}, on 16 cores with other fits beside"}
    return [
        [f"linadd, Q = 12, {n:,} examples", str(PAPER[n][Q.index(12)]), before, now[n]] for n, before in BEFORE.items()
    ]


def _rows(sizes, found):
    columns = ["N", *(f"{name}, ours" for name in found), *(f"Q = {q}, paper" for q in sorted(Q))]
    theirs = {n: dict(zip(Q, PAPER.get(n, ()), strict=False)) for n in sizes}
    return columns, [
        [f"{n:,}", *(row.get(n) for row in found.values()), *(theirs[n].get(q) for q in sorted(Q))] for n in sizes
    ]
