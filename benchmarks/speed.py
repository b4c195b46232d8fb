"""How many passes over the kernels a fit costs: its time over that of `stack.sum()` in the same process.

MNIST, odd against even, 50 multiplicatively normalised RBF kernels with 2σ² = 1.2^0 … 1.2^49, float32, precomputed,
C = 1, relative gap ≤ 1e-3, in both memory orders of an (n, n, M) array.
"""

from functools import partial

import numpy as np

from .datasets import GEOMETRIC, load_mnist, rbf_stack
from .report import console, figure, norm, paired, save, show, timed, write

NORMS = (1, 4 / 3, 2, 4)
TOL = 1e-3


def main(data=None, out=".", quick=False):
    n, widths = (500, GEOMETRIC[::5]) if quick else (2000, GEOMETRIC)
    X, y, source = load_mnist(n, data)
    console.print(f"{source}; {len(widths)} RBF kernels")
    results, S = [], np.moveaxis(rbf_stack(X, widths), 0, 2)
    for order in ("np.moveaxis of (M, n, n)", "C-ordered (n, n, M)"):
        if order.startswith("C"):
            S = np.ascontiguousarray(S)
        for p in NORMS:
            for level, fit in (("estimator", fit_estimator), ("bank + solve", fit_bank)):
                call = partial(fit, S, y, p)
                seconds, ratio, (gap, steps) = paired(call, S.sum, patience=np.inf)
                results.append(
                    {"order": order, "p": p, "level": level, "seconds": seconds, "ratio": ratio,
                     "gap": gap, "steps": steps, "n": len(y), "M": len(widths)}
                )  # fmt: skip
    one_pass, _ = timed(S.sum)
    show(
        "Fit time in passes over the stack (at most 10 asked for, 5 the aim)",
        ("memory order", "p", "through", "fit, s", "passes", "gap", "steps"),
        [
            (r["order"], norm(r["p"]), r["level"], *[r[key] for key in ("seconds", "ratio", "gap", "steps")])
            for r in results
        ],
        f"medians of five after a first fit; each time stack.sum() just before, {one_pass:.4f} s",
    )
    write(out, "speed", {"data": source, "rows": results})
    plot(results, out)


def fit_estimator(S, y, p):
    from manykernels import MKLClassifier

    model = MKLClassifier(kernels="precomputed", regularizer=p, C=1, tol=TOL).fit(S, y)
    return model.duality_gap_, model.n_iter_


def fit_bank(S, y, p):
    from manykernels import losses, regularizers
    from manykernels.banks import DenseBank
    from manykernels.problem import Problem
    from manykernels.solvers import solve

    problem = Problem(DenseBank(S), y, losses.get("hinge"), regularizers.get(p), 1.0)
    solution = solve(problem, tol=TOL)
    return solution.gap, solution.n_iter


def plot(results, out):
    fig, axes = figure(1, width=6)
    if fig is None:
        return
    rows = [r for r in results if r["level"] == "estimator"]
    orders = list(dict.fromkeys(r["order"] for r in rows))
    for k, order in enumerate(orders):
        ratios = [r["ratio"] for r in rows if r["order"] == order]
        bars = axes[0].bar(np.arange(len(ratios)) + (k - 0.5) * 0.38, ratios, 0.36, label=order)
        axes[0].bar_label(bars, fmt="%.1f", fontsize=8)
    axes[0].axhline(10, color="0.3", linewidth=1, linestyle="--", label="asked for: at most 10")
    axes[0].set_xticks(range(len(NORMS)), [f"p = {norm(p)}" for p in NORMS])
    axes[0].set_ylabel("fit time / stack.sum()")
    axes[0].margins(y=0.15)
    axes[0].set_title(f"{rows[0]['n']:,} examples, {rows[0]['M']} kernels, gap ≤ 1e-3", fontsize=10)
    axes[0].legend(frameon=False, fontsize=8, loc="upper left", bbox_to_anchor=(1, 1))
    save(fig, out, "speed")
