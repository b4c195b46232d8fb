"""Steps and work of every solver on small problems: a slip that only slows a method down shows here.

Work is counted, not timed (`_work`), so that it hardly differs between machines. `MANYKERNELS_WRITE_EFFORT=1` prints
the table anew.
"""

import os

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


TABLE = {  # steps, thousands of units of work
    "newton": {
        "hinge, p = 2": (3, 6.9), "hinge, p = 1": (4, 7.4), "regression": (4, 12.9),
        "two outputs": (3, 13.5), "entropy": (4, 13.7), "logistic": (3, 13.2),
        "one class": (2, 4.0),
    },
    "analytic": {
        "hinge, p = 2": (10, 15.5), "hinge, p = 1": (51, 81.7), "regression": (13, 31.4),
        "two outputs": (21, 67.3), "entropy": (56, 89.3), "logistic": (9, 26.1),
        "one class": (8, 12.0),
    },
    "hessian": {
        "hinge, p = 2": (3, 4.9), "hinge, p = 1": (5, 6.6), "regression": (4, 9.9),
        "two outputs": (3, 10.2), "entropy": (5, 13.3), "logistic": (3, 10.1),
        "one class": (2, 2.9),
    },
    "silp": {
        "hinge, p = 1": (36, 65.7),
    },
    "sip": {
        "hinge, p = 2": (7, 9.2), "regression": (12, 20.8), "two outputs": (17, 57.6),
        "entropy": (17, 64.1), "logistic": (7, 18.2), "one class": (2, 2.3),
    },
    "level": {
        "hinge, p = 2": (13, 21.9), "hinge, p = 1": (12, 26.4), "regression": (17, 31.6),
        "two outputs": (9, 30.6), "logistic": (13, 36.7), "one class": (11, 19.0),
    },
    "simplemkl": {
        "hinge, p = 1": (21, 95.6),
    },
    "chunking": {
        "hinge, p = 2": (7, 48.2), "hinge, p = 1": (16, 116.7), "regression": (8, 57.3),
        "two outputs": (9, 111.8), "entropy": (20, 129.1), "one class": (6, 42.0),
    },
    "coordinate": {
        "hinge, p = 2": (2, 15.3), "hinge, p = 1": (4, 54.5), "regression": (4, 42.8),
        "two outputs": (3, 61.4), "entropy": (4, 65.3), "one class": (1, 3.3),
    },
    "primal": {
        "two outputs": (7, 8.4), "entropy": (27, 34.3), "logistic": (8, 7.7), "one class": (34, 27.4),
    },
    "interior": {
        "hinge, p = 2": (12, 6.4), "hinge, p = 1": (10, 5.3), "regression": (17, 9.1),
        "entropy": (14, 7.5), "logistic": (7, 7.0),
    },
    "nesterov": {
        "hinge, p = 2": (6, 23.0), "regression": (17, 74.6), "two outputs": (4, 22.8),
        "entropy": (15, 65.5), "one class": (2, 6.2),
    },
    "spicy": {
        "hinge, p = 2": (4, 5.1), "hinge, p = 1": (20, 28.8), "regression": (5, 7.8),
        "two outputs": (4, 28.4), "logistic": (3, 9.7), "one class": (2, 2.4),
        "block norm": (3, 4.0),
    },
    "reweighted": {
        "block norm": (4, 5.1),
    },
}  # fmt: skip


@pytest.mark.parametrize("solver", [name for name in SOLVERS if name != "mackay"])
def test_a_solver_takes_hardly_more_steps_and_work_than_it_did(solver):
    for name in PROBLEMS:
        found = effort(solver, name)
        if os.environ.get("MANYKERNELS_WRITE_EFFORT"):
            print(f'    ("{solver}", "{name}"): {found and (found[0], round(found[1], 1))},')
            continue
        known = TABLE[solver].get(name)
        assert (found is None) == (known is None), name
        if known is not None:
            share = 1.25 if known[0] < 30 else 1.6  # long runs differ more between machines
            assert found[0] <= share * known[0] + 1 and found[1] <= share * known[1] + 1, (name, found, known)


INNER = {  # thousands of units of work for two sizes of the kernel
    ("hinge", True): (0.8, 1.6), ("hinge", False): (0.8, 2.2), ("squared_hinge", True): (0.8, 1.0),
    ("squared_hinge", False): (1.2, 2.6), ("epsilon_insensitive", True): (0.7, 3.0), 
    ("epsilon_insensitive", False): (0.8, 24.8),
    ("huber", True): (0.8, 2.0), ("huber", False): (1.0, 2.5), ("logistic", True): (3.5, 6.4),
    ("logistic", False): (3.5, 6.4), ("squared", True): (1.2, 1.2), ("squared", False): (1.2, 1.2),
}  # fmt: skip


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "huber", "logistic", "squared"])
def test_an_inner_problem_takes_hardly_more_work_than_it_did(loss, intercept):
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
            print(f'    ("{loss}", {intercept}, {size}): {round(work, 1)},')
            continue
        assert gap <= 1e-6 and work <= 1.25 * INNER[loss, intercept][k] + 0.4, size
