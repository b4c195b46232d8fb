"""Time against the number of kernels M and of examples n, precomputed, with fitted log–log slopes.

Against M: one RBF kernel on each of M random sets of pixels, n fixed. Against n: 20 RBF kernels around the median.
"""

import numpy as np

from .datasets import around_median, load_mnist, rbf_stack
from .report import console, figure, norm, save, show, timed, write
from .speed import fit_estimator

NORMS = (1, 4 / 3, 2)
MOST = {"M": 1.1, "n": 2.2}  # slopes asked for


def main(data=None, out=".", quick=False):
    kernels, at_n = ((10, 20, 40), 200) if quick else ((50, 100, 200, 500, 1000), 1000)
    examples, at_M = ((100, 200, 400), 5) if quick else ((500, 1000, 2000, 4000, 8000), 20)
    rows = []
    X, y, source = load_mnist(at_n, data)
    S = pixel_sets(X, max(kernels))
    for M in kernels:
        rows += measure("M", M, S[:M], y)
    del S
    X, y, source = load_mnist(max(examples), data)
    widths = around_median(X, at_M)
    for n in sorted({min(n, len(y)) for n in examples}):
        rows += measure("n", n, rbf_stack(X[:n], widths), y[:n])
    slopes = {f"{axis}, p = {norm(p)}": slope(rows, axis, p) for axis in ("M", "n") for p in NORMS}
    console.print(source)
    show(
        "Fit time, precomputed float32 kernels, C = 1, gap ≤ 1e-3",
        ("p", "n", "M", "fit, s", "gap", "steps"),
        [(norm(r["p"]), r["n"], r["M"], r["seconds"], r["gap"], r["steps"]) for r in rows],
    )
    show(
        "Fitted log–log slopes",
        ("time against", "slope", "at most"),
        [(name, value, MOST[name[0]]) for name, value in slopes.items()],
    )
    write(out, "growth", {"data": source, "rows": rows, "slopes": slopes})
    plot(rows, out)


def pixel_sets(X, M, size=100, seed=0):
    """(M, n, n): RBF kernels on random sets of pixels that are not blank, 2σ² = 2^U(−1, 2) × mean ‖x − y‖²."""
    rng = np.random.default_rng(seed)
    inked = np.flatnonzero(X.std(axis=0) > 0.05)
    S = np.empty((M, len(X), len(X)), np.float32)
    for K in S:
        part = X[:, rng.choice(inked, min(size, len(inked) // 2), replace=False)]
        K[:] = rbf_stack(part, [2 * part.var(axis=0).sum() * 2 ** rng.uniform(-1, 2)])[0]
    return S


def measure(axis, value, S, y):
    X, rows = np.moveaxis(S, 0, 2), []
    for p in NORMS:
        seconds, (gap, steps) = timed(lambda p=p: fit_estimator(X, y, p), repeats=3)
        rows.append({"axis": axis, "n": len(y), "M": len(S), "p": p, "seconds": seconds, "gap": gap, "steps": steps})
        console.print(f"  {axis} = {value}, p = {norm(p)}: {seconds:.2f} s", style="dim")
    return rows


def slope(rows, axis, p):
    points = [(r[axis], r["seconds"]) for r in rows if r["axis"] == axis and r["p"] == p]
    return float(np.polyfit(*np.log(np.array(points).T), 1)[0])


def plot(rows, out):
    fig, axes = figure(2)
    if fig is None:
        return
    from matplotlib.ticker import LogLocator, NullLocator

    for ax, axis, other in zip(axes, ("M", "n"), ("n", "M"), strict=True):
        mine = [r for r in rows if r["axis"] == axis]
        for p in NORMS:
            points = [(r[axis], r["seconds"]) for r in mine if r["p"] == p]
            label = f"p = {norm(p)}: slope {slope(rows, axis, p):.2f}"
            ax.loglog(*zip(*points, strict=True), "o-", markersize=4, label=label)
        sizes = sorted({r[axis] for r in mine})
        ax.set_xticks(sizes, [f"{v:,}" for v in sizes])
        ax.xaxis.set_minor_locator(NullLocator())
        ax.yaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        ax.yaxis.set_major_formatter("{x:g}")
        ax.yaxis.set_minor_locator(NullLocator())
        ax.set_xlabel("kernels M" if axis == "M" else "examples n")
        ax.set_ylabel("fit time, s")
        ax.set_title(f"{other} = {mine[0][other]:,}; slope at most {MOST[axis]} asked for", fontsize=10)
        ax.legend(frameon=False, fontsize=8)
    save(fig, out, "growth")
