"""Steps and work of every solver on small problems: a slip that only slows a method down shows here.

Work is counted, not timed, so that it hardly differs between machines. `oracles/effort.json` has the steps and the
thousands of units of work of each solver, and the work of inner problems with kernels of two sizes;
`MANYKERNELS_WRITE_EFFORT=1` prints them anew.
"""

import json
import os
from pathlib import Path

import numpy as np
import pytest

from manykernels import losses
from manykernels._limits import Allowance
from manykernels.banks import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.inner import InnerProblem
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, Entropy, LpNorm
from manykernels.solvers import SOLVERS, Control, Solver

KNOWN = json.loads((Path(__file__).parents[1] / "oracles" / "effort.json").read_text())
n = 90
PROBLEMS = {  # loss, regularizer, outputs, C, tol
    "hinge, p = 2": ("hinge", LpNorm(2), 1, 1.0, 1e-5), "hinge, p = 1": ("hinge", LpNorm(1), 1, 3.0, 1e-4),
    "regression": ("epsilon_insensitive", LpNorm(1.5), 1, 5.0, 1e-5),
    "two outputs": ("squared_hinge", LpNorm(1.3), 2, 2.0, 1e-5),
    "entropy": ("hinge", Entropy(0.5), 1, 1.0, 1e-4), "logistic": ("logistic", LpNorm(2), 1, 10.0, 1e-5),
    "one class": ("one_class", LpNorm(2), 1, 1.0, 1e-4), "block norm": ("hinge", BlockNorm(3), 1, 1.0, 1e-5),
}  # fmt: skip


def posed(name, explicit):
    loss, regularizer, T, C, _ = PROBLEMS[name]
    rng, V = np.random.default_rng(1), losses.get(loss)
    X = rng.normal(size=(n, 12))
    columns = [[3 * m, 3 * m + 1, 3 * m + 2] for m in range(4)]
    if explicit:
        specs = [(str(m), Linear(), own) for m, own in enumerate(columns)]
        bank = FeatureBank.from_list(KernelList.from_spec(specs, X), X)
    else:
        squares = [((X[:, None, own] - X[:, own]) ** 2).sum(axis=2) for own in columns]
        bank = DenseBank(np.stack([np.exp(-g * D) for D in squares for g in (0.1, 0.5)], axis=2))
    f = X[:, 0] + X[:, 3] ** 2 - 1 + 0.5 * rng.normal(size=n)
    Y = np.array([f, X[:, 6] - f])[:T]
    Y = Y if V.targets == "real" else np.ones_like(Y) if loss == "one_class" else np.where(Y > 0, 1.0, -1.0)
    c = np.full(n, 1 / (0.3 * n)) if loss == "one_class" else np.full(n, C)
    return Problem(bank, Y, V, regularizer, c, V.takes_intercept)


def effort(solver, name):
    """(steps, thousands of units of work) to the gap; None if the solver does not take the problem."""
    if solver == "primal" and PROBLEMS[name][0] in ("hinge", "epsilon_insensitive") and name != "entropy":
        return None  # it leaves the end to another solver
    try:
        problem = posed(name, SOLVERS[solver].explicit)
    except ValueError:
        return None
    if Solver(solver).refusal(problem) is not None:
        return None
    control = Control(PROBLEMS[name][-1], 400)
    control.work = 1e9
    with np.errstate(all="ignore"):
        found = Solver(solver).solve(problem, control)
    return found.n_iter, (1e9 - control.work) / 1e3 if found.converged else np.inf


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "mackay"])
def test_a_solver_takes_hardly_more_steps_and_work_than_it_did(solver):
    for name in PROBLEMS:
        found = effort(solver, name)
        if os.environ.get("MANYKERNELS_WRITE_EFFORT"):
            print(f'"{solver}": "{name}": {found and [found[0], round(found[1], 1)]},')
            continue
        known = KNOWN["solvers"][solver].get(name)
        assert (found is None) == (known is None), name
        if known is not None:
            share = 1.25 if known[0] < 30 else 1.6  # long runs differ more between machines
            assert found[0] <= share * known[0] + 1 and found[1] <= share * known[1] + 1, (name, found, known)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "huber", "logistic", "squared"])
def test_an_inner_problem_takes_hardly_more_work_than_it_did(loss, intercept):
    case = f"{loss}, {'with' if intercept else 'without'} an intercept"
    rng, V = np.random.default_rng(2), losses.get(loss)
    X = rng.normal(size=(150, 5))
    f = X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.normal(size=150)
    y = f if V.targets == "real" else np.where(f > 0, 1.0, -1.0)
    for k, size in enumerate((0.3, 30.0)):
        K = size * np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
        inner, allowed = InnerProblem(V, y, np.ones(150), intercept), Allowance(1e9)
        with allowed, np.errstate(all="ignore"):
            gap = inner.solve(K, V.start(y, inner.c, intercept), 1e-6)[-1]
        work = (1e9 - allowed.left) / 1e3
        if os.environ.get("MANYKERNELS_WRITE_EFFORT"):
            print(f'"{case}", {size}: {round(work, 1)},')
            continue
        assert gap <= 1e-6 and work <= 1.25 * KNOWN["inner"][case][k] + 0.4, size
