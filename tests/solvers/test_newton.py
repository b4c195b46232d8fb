"""The loop around the inner problem, kinks of J, outputs of many other examples, and cutting planes."""

from types import SimpleNamespace

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manykernels import losses
from manykernels.banks.dense import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import ElasticNet, LpNorm
from manykernels.solvers import Control, _wrapper, solve
from manykernels.solvers._cuts import cuts_for
from manykernels.solvers._wrapper import Wrapper
from problems import small_problem


class Astray:
    """Weights that come near the optimum and then leave it for good."""

    patience = 4
    cuts = False

    def __init__(self, good, bad):
        self.way = [good] + [bad] * 20

    def propose(self, state):
        return self.way.pop(0)

    def judge(self, decrease):
        return True


@pytest.mark.parametrize("max_iter", [3, 1000])
def test_a_run_that_ends_early_returns_its_best_point(max_iter):
    problem, *_ = small_problem("hinge", LpNorm(1), seed=3, n=60)
    good = solve(problem, tol=1e-3).theta
    found = Wrapper(problem, Astray(good, np.eye(len(good))[np.argmin(good)]), Control(1e-9, max_iter)).solve()
    assert not found.converged
    assert_array_equal(found.theta, good)
    assert found.primal == pytest.approx(min(record["primal"] for record in found.history), rel=1e-9)
    assert found.dual == pytest.approx(max(record["dual"] for record in found.history), rel=1e-9)
    assert found.gap <= 2e-3


@pytest.mark.parametrize(
    ("n", "d", "density", "seed", "tol"), [(60, 90, 0.1, 1, 1e-4), (60, 90, 0.1, 3, 1e-3), (60, 60, 1.0, 0, 1e-4)]
)
def test_kernels_of_rank_one_do_not_stall_it(n, d, density, seed, tol):
    """J has kinks there, where a single dual point bounds the optimum badly: the mean of several does."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * (rng.random((n, d)) < density)
    f = X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=n)
    y = np.where(f > np.median(f), 1.0, -1.0)
    X = X[:, X.any(axis=0)]
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    K = np.einsum("im,jm->ijm", X, X)
    problem = Problem(DenseBank(K, normalize=None), y, losses.get("hinge"), LpNorm(1), 1.0)
    found = solve(problem, "newton", tol=tol)
    assert found.converged and found.gap <= tol
    dual = found.a if found.dual_a is None else found.dual_a
    assert abs(dual.sum()) < 1e-9 and np.all((dual * y >= -1e-12) & (dual * y <= 1 + 1e-12))
    q = np.einsum("im,i->m", X, dual[0]) ** 2
    assert found.dual == pytest.approx(y @ dual[0] - 0.5 * q.max(), rel=1e-9)
    f = X @ (found.theta * (X.T @ found.a[0])) + found.b[0]
    norms = 0.5 * found.theta @ (X.T @ found.a[0]) ** 2
    assert found.primal == pytest.approx(np.maximum(0, 1 - y * f).sum() + norms, rel=1e-9)


@pytest.mark.parametrize("T", [1, 2])
@pytest.mark.parametrize("most", [1, 7, 30])
def test_outputs_beyond_the_active_examples_are_computed_a_few_at_a_time(most, T, monkeypatch):
    """In blocks that do not divide their number, of one example at least."""
    draw = np.random.default_rng(1)
    Z = draw.normal(size=(211, 3))
    y = np.where(np.array([Z[:, 0], Z[:, 1] + Z[:, 2]])[:T] + 0.1 * draw.normal(size=(T, 211)) > 0.1, 1.0, -1.0)
    Ks = np.stack([np.exp(-g * ((Z[:, None] - Z) ** 2).sum(axis=2)) for g in (0.1, 0.5)])
    problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), y, losses.get("hinge"), LpNorm(2), 3.0)
    monkeypatch.setattr(_wrapper, "FIRST_ACTIVE", 20)
    monkeypatch.setattr(_wrapper, "MAX_OUTPUTS", most)
    for steps in (1, 2, 100):
        found = solve(problem, "newton", tol=1e-5, max_iter=steps)
        f = np.einsum("m,mij,tj->ti", found.theta, Ks, found.a)
        assert_allclose(found.b, problem.best_b(f), atol=1e-8)
        q = np.einsum("ti,mij,tj->m", found.a, Ks, found.a)
        exact = problem.certificate(problem.losses(f, found.b), found.a, found.b, found.theta, q)
        assert found.primal == pytest.approx(exact.primal, rel=1e-9)
    assert found.converged and min(record["n_active"] for record in found.history) < 150


rng = np.random.default_rng(0)


def some_cuts(regularizer, count=6, M=5):
    cuts = cuts_for(regularizer)
    for _ in range(count):
        q = rng.exponential(size=M)
        cuts.add(SimpleNamespace(q=q, constant=rng.uniform(1, 2), value=1.0, a=rng.normal(size=(1, 3))))
    return cuts


def weights(regularizer, M=5, count=2000):
    """Weights all over the domain, its edges included."""
    z = rng.dirichlet(np.full(M, 0.3), size=count)
    return [regularizer.prox(3 * v) for v in z] if regularizer.constraint else z


@pytest.mark.parametrize("regularizer", [LpNorm(1), LpNorm(1.5), ElasticNet(0.4)], ids=repr)
def test_the_minimum_of_the_cuts_is_below_all_of_them_and_attained(regularizer):
    cuts = some_cuts(regularizer)
    theta, bound = cuts.minimum(1e-9)
    assert regularizer.value(theta) == 0 and cuts.values(theta).max() <= bound + 1e-6
    assert bound <= min(cuts.values(v).max() for v in weights(regularizer)) + 1e-12


def test_the_bound_does_not_rest_on_the_weights_of_the_linear_program():
    """A program that stopped early has wrong weights and wrong multipliers: the bound is weaker, never wrong."""
    cuts = some_cuts(LpNorm(1))
    _, exact = cuts.minimum(1e-9)
    for _ in range(20):
        wrong = SimpleNamespace(col_value=np.append(rng.dirichlet(np.ones(5)), 0.0), row_dual=rng.normal(size=7))
        cuts.program = SimpleNamespace(run=lambda: None, getSolution=lambda wrong=wrong: wrong)
        assert cuts.minimum(1e-9)[1] <= exact + 1e-12


@pytest.mark.parametrize("regularizer", [LpNorm(1), LpNorm(1.5), ElasticNet(0.4)], ids=repr)
def test_a_projection_lies_in_the_level_set_and_none_of_it_is_nearer(regularizer):
    cuts, start = some_cuts(regularizer), regularizer.start(5)
    _, bound = cuts.minimum(1e-9)
    level = bound + 0.3 * (cuts.values(start).max() - bound)
    theta = cuts.project(start, level, 1e-6)
    assert regularizer.value(theta) == 0 and cuts.values(theta).max() <= level + 1e-6
    inside = [v for v in weights(regularizer) if cuts.values(v).max() <= level]
    assert inside and np.linalg.norm(theta - start) <= min(np.linalg.norm(v - start) for v in inside) + 1e-3


def test_a_row_that_the_linear_program_refuses_leaves_a_bound():
    """Found by the fuzz runs: a slope beyond what the program takes, so that it has fewer rows than there are cuts."""
    cuts = some_cuts(LpNorm(1))
    cuts.add(SimpleNamespace(q=np.full(5, 1e300), constant=1.0, value=1.0, a=np.zeros((1, 3))))
    theta, bound = cuts.minimum(1e-9)
    assert theta.sum() == pytest.approx(1) and bound <= min(cuts.values(v).max() for v in weights(LpNorm(1))) + 1e-12
    assert np.isfinite(cuts.dual_point()()).all()
