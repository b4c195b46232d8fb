"""Ours and every peer on one problem: time as a multiple of SVC on the mean kernel, objective, gap.

MNIST, odd against even, n = 2,000, 20 multiplicatively normalised RBF kernels with 2σ² = median × 1.2^−10 … 1.2^9,
C = 1; and n = 200 of the same, where the slow programs can take part.
"""

import warnings
from functools import partial

from .datasets import around_median, load_mnist, load_uci, make_table, normalise, rbf_stack
from .objective import Objective
from .report import console, norm, number, paired, show, timed, write
from .solvers import SOLVERS
from .solvers._base import svc
from .solvers.ours import Newton

NORMS = (1, 4 / 3, 2)
C = 1.0
BOUND = 1e-6  # our tolerance for the dual bound
PATIENCE = 60.0  # seconds: a solver that takes longer is not asked for a finer tolerance


def main(data=None, out=".", quick=False, dataset="mnist"):
    problems = []
    for n in (100,) if quick else (200, 2000):
        X, y, source = load(dataset, n, data)
        S = normalise(rbf_stack(X, around_median(X, 6 if quick else 20)))
        mean = S.mean(axis=0).astype(float)
        unit = partial(svc, mean, y, C)
        seconds, _ = timed(unit)
        console.print(f"{source}; {len(S)} RBF kernels. SVC on the mean kernel: {seconds:.4f} s")
        problems.append({"data": source, "n": len(y), "M": len(S), "svc_seconds": seconds})
        problems[-1]["rows"] = compete(S, y, unit)
        report(problems[-1])
    show("What they do", ("", "solves it", ""), [(s.name, "yes" if s.solves else "no", s.note) for s in SOLVERS])
    write(out, "compare", problems)


def load(dataset, n, data):
    if dataset == "mnist":
        return load_mnist(n, data)
    if dataset == "synthetic":
        return make_table(n)
    X, y, source = load_uci(dataset.removeprefix("uci_"), data)
    return X[:n], y[:n], f"{source}, first {min(n, len(y))}"


def compete(S, y, unit):
    """Rows, one for each p, solver and tolerance; the gaps are taken at the end, against the best dual of all."""
    ours = Newton()
    objectives = {p: Objective(S, y, p, C) for p in NORMS}
    for p, objective in objectives.items():
        objective.measure(ours.run(ours.prepare(S, y), None, p, C, BOUND))
    rows = [row for solver in SOLVERS for row in enter(solver, S, y, objectives, unit)]
    for row in rows:
        row["bound"] = objectives[row["p"]].best_dual
        if "primal" in row:
            row["gap"] = objectives[row["p"]].gap(row["primal"])
    return rows


def enter(solver, S, y, objectives, unit):
    """The rows of one competitor, without gaps."""
    base = {"solver": solver.name, "solves": solver.solves, "status": solver.refusal(len(y)) or ""}
    if base["status"]:
        return [base | {"p": p} for p in objectives]
    console.print(f"  {solver.name}", style="dim")
    rows, slow, data = [], set(), solver.prepare(S, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for tol in solver.tolerances:
            if len(slow) == len(objectives):
                break
            try:
                *learning, learned = paired(lambda tol=tol: solver.learn(data, tol), unit, repeats=3, patience=5)
                for p, objective in objectives.items():
                    if p in slow:
                        continue
                    call = lambda tol=tol, p=p, learned=learned: solver.run(data, learned, p, C, tol)  # noqa: E731
                    seconds, multiple, result = paired(call, unit, repeats=3, patience=5)
                    seconds, multiple = seconds + learning[0], multiple + learning[1]
                    slow |= {p} if seconds > PATIENCE else set()
                    primal, _ = objective.measure(result)
                    rows.append(base | {"p": p, "tol": tol, "seconds": seconds, "multiple": multiple, "primal": primal})
            except Exception as error:  # a peer that breaks must not end the comparison
                status = f"failed: {type(error).__name__}: {str(error)[:60]}"
                return rows + [base | {"p": p, "status": status} for p in objectives]
    return rows


def report(problem):
    for p in NORMS:
        rows = [r for r in problem["rows"] if r["p"] == p]
        show(
            f"n = {problem['n']:,}, M = {problem['M']}, C = 1, p = {norm(p)}: optimum ≥ {rows[0]['bound']:.4f}",
            ("", "tol or steps", "time, s", "× SVC", "objective", "gap", "remark"),
            [
                (r["solver"], number(r.get("tol")), f"{r['seconds']:.3f}", f"{r['multiple']:,.1f}",
                 f"{r['primal']:,.3f}", number(r["gap"]), "" if r["solves"] else "another problem")
                if "gap" in r
                else (r["solver"], *["–"] * 5, r["status"])
                for r in rows
            ],
        )  # fmt: skip
