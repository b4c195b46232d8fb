"""Ours and every peer on one problem: time as a multiple of SVC on the mean kernel, objective, gap.

MNIST, odd against even, n = 2,000, 20 multiplicatively normalised RBF kernels with 2σ² = median × 1.2^−10 … 1.2^9, C = 1;
and n = 200 of the same, where the slow programs can take part.
"""

import warnings

from .datasets import around_median, load_mnist, load_uci, make_table, normalise, rbf_stack
from .objective import Objective
from .report import console, figure, norm, number, save, show, timed, write
from .solvers import SOLVERS
from .solvers._base import svc
from .solvers.ours import Newton

NORMS = (1, 4 / 3, 2)
C = 1.0
BOUND = 1e-6  # our tolerance for the dual bound


def main(data=None, out=".", quick=False, dataset="mnist"):
    problems = []
    for n in (100,) if quick else (200, 2000):
        X, y, source = load(dataset, n, data)
        S = normalise(rbf_stack(X, around_median(X, 6 if quick else 20)))
        mean = S.mean(axis=0)
        unit, _ = timed(lambda K=mean, y=y: svc(K, y, C))
        console.print(f"{source}; {len(S)} RBF kernels. SVC on the mean kernel: {unit:.4f} s")
        rows = [row for p in NORMS for row in compete(S, y, p, unit)]
        problems.append({"data": source, "n": len(y), "M": len(S), "svc_seconds": unit, "rows": rows})
        report(problems[-1])
    write(out, "compare", problems)
    for problem in problems:
        plot(problem, out)


def load(dataset, n, data):
    if dataset == "mnist":
        return load_mnist(n, data)
    if dataset == "synthetic":
        return make_table(n)
    X, y, source = load_uci(dataset.removeprefix("uci_"), data)
    return X[:n], y[:n], source


def compete(S, y, p, unit):
    """One row a solver and tolerance; the gaps are filled in at the end, against the best dual value of all."""
    objective, rows = Objective(S, y, p, C), []
    ours = Newton()
    objective.measure(ours.run(ours.prepare(S, y), p, C, BOUND))
    for solver in SOLVERS:
        row = {"solver": solver.name, "p": p, "solves": solver.solves, "note": solver.note}
        refusal = solver.refusal(len(y), len(S), p)
        if refusal:
            rows.append(row | {"status": refusal})
            continue
        console.print(f"  p = {norm(p)}: {solver.name}", style="dim")
        data = solver.prepare(S, y)
        for tol in solver.tolerances:
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    seconds, result = timed(lambda s=solver, d=data, t=tol: s.run(d, p, C, t), repeats=3, patience=5)
                primal, _ = objective.measure(result)
            except Exception as error:  # a peer that breaks must not end the comparison
                rows.append(row | {"tol": tol, "status": f"failed: {type(error).__name__}: {str(error)[:80]}"})
                continue
            rows.append(row | {"tol": tol, "status": "", "seconds": seconds, "multiple": seconds / unit, "primal": primal})
    for row in rows:
        if "primal" in row:
            row["gap"] = objective.gap(row["primal"])
    for row in rows:
        row["bound"] = objective.best_dual
    return rows


def report(problem):
    for p in NORMS:
        rows = [r for r in problem["rows"] if r["p"] == p]
        show(
            f"n = {problem['n']:,}, M = {problem['M']}, C = 1, p = {norm(p)}: optimum ≥ {rows[0]['bound']:.4f}",
            ("", "tol or steps", "time, s", "× SVC", "objective", "gap", ""),
            [
                (r["solver"], r["status"] and "–" or number(r["tol"]), r.get("seconds"), r.get("multiple"),
                 f"{r['primal']:,.3f}" if "primal" in r else "–", r.get("gap"),
                 r["status"] or ("" if r["solves"] else "another problem: ") + r["note"])
                for r in rows
            ],
        )  # fmt: skip


def plot(problem, out):
    fig, axes = figure(len(NORMS), height=4.6)
    if fig is None:
        return
    names = list(dict.fromkeys(r["solver"] for r in problem["rows"] if "gap" in r))
    peers = [name for name in names if not name.startswith("manykernels")]
    for ax, p in zip(axes, NORMS, strict=True):
        for name in names:
            rows = [r for r in problem["rows"] if r["solver"] == name and r["p"] == p and "gap" in r]
            if not rows:
                continue
            times, gaps = [r["multiple"] for r in rows], [max(r["gap"], 1e-9) for r in rows]
            mine = name.startswith("manykernels")
            style = dict(color=f"C{0 if name.endswith('newton') else 1}", marker="o", linewidth=2) if mine else dict(
                color=f"C{2 + peers.index(name) % 8}", marker="Dv^<>sPX*d"[peers.index(name) % 10], linewidth=1
            )  # fmt: skip
            fill = {} if rows[0]["solves"] else {"markerfacecolor": "none"}
            ax.loglog(times, gaps, markersize=6, label=name, **style, **fill)
        ax.axhline(1e-3, color="0.4", linewidth=0.8, linestyle=":")
        ax.axvline(8, color="0.4", linewidth=0.8, linestyle=":")
        ax.set_title(f"p = {norm(p)}", fontsize=10)
        ax.set_xlabel("time / time of SVC on the mean kernel")
    axes[0].set_ylabel("(objective − best dual) / objective")
    handles, labels = axes[0].get_legend_handles_labels()
    fig.legend(handles, labels, loc="outside lower center", ncols=4, frameon=False, fontsize=8)
    fig.suptitle(
        f"n = {problem['n']:,}, {problem['M']} kernels; one point a tolerance, hollow: solves another problem; "
        "dotted: gap 1e-3 and 8 × SVC",
        fontsize=10,
    )
    save(fig, out, f"compare_n{problem['n']}")
