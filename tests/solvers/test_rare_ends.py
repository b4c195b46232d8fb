"""Ends that are rarely taken: a bound whose sum is off, a finish that is broken off, steps between two certificates."""

from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solution import Status
from manykernels.solvers import Chunking, Control, Newton, solve
from manykernels.solvers._run import Run

n = 50
SPECS = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3]), ("c", Linear(), [4])]


def posed(explicit=True, T=2, p=2):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    f = X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=n) + 0.2
    Y = np.where(np.array([f, np.roll(f, 2)])[:T] > 0, 1.0, -1.0)
    bank = FeatureBank.from_list(KernelList.from_spec(SPECS, X), X)
    if not explicit:
        bank = DenseBank(np.stack([X[:, c] @ X[:, c].T for *_, c in SPECS], axis=2))
    return Problem(bank, Y, losses.get("hinge"), LpNorm(p), rng.uniform(0.5, 2.0, (T, n)))


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("off", [3e-8, -3e-8])
def test_a_bound_has_the_rounding_of_its_sum_at_the_intercepts_of_the_result(off, explicit):
    """Σa is off by so much at the dual point, and its b is far from that of the best point."""
    problem = posed(explicit)
    good = solve(problem, "newton", tol=1e-4)
    proof = good.a.copy()
    for t, (a, c) in enumerate(zip(proof, problem.c, strict=True)):
        proof[t, np.flatnonzero((np.abs(a) > 0.01) & (np.abs(a) < 0.9 * c))[0]] += off * (t + 1)

    def method(run):
        run.certify(good.theta, proof, b=good.b + np.array([300.0, -200.0]))
        run.certify(good.theta, 0.9 * good.a, b=good.b)

    found = Run(problem, Control(1e-12)).run(method)
    assert_array_equal(found.b, good.b)
    assert_array_equal(found.dual_a, proof)
    q = np.einsum("tmi,ti->m", problem.bank.products(proof, np.arange(n)), proof)
    exact = problem.certificate(np.zeros(2), proof, good.b, good.theta, q)
    assert found.dual == pytest.approx(exact.dual, abs=1e-9)


@pytest.mark.parametrize("way", ["before a point", "worse", "better"])
def test_ctrl_c_in_a_spare_solver_gives_the_better_of_both_points(way, monkeypatch):
    """Where "auto" goes on with another solver after one that has stalled."""
    problem, short = posed(explicit=False), solve(posed(explicit=False), "newton", tol=1e-2, max_iter=2)
    short = replace(short, converged=False)
    monkeypatch.setattr(Newton, "solve", lambda self, problem, control: short)

    def broken(self, problem, control):
        if way == "before a point":
            raise KeyboardInterrupt
        return replace(short, interrupted=True, gap=short.gap * (2.0 if way == "worse" else 0.5), theta=np.ones(3))

    monkeypatch.setattr(Chunking, "solve", broken)
    found = solve(problem, tol=1e-14)
    assert found.interrupted and found.status is Status.INTERRUPTED
    assert found.gap == (0.5 * short.gap if way == "better" else short.gap)
    assert_array_equal(found.theta, np.ones(3) if way == "better" else short.theta)
