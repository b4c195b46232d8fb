"""What no solver may depend on: the order of examples and kernels, copies instead of weights, examples of weight 0."""

import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes, LpNorm
from manykernels.solvers import SOLVERS, _wrapper, solve
from problems import make, partner

n, M, TOL = 22, 3, 1e-6
rng = np.random.default_rng(5)
OPTIMA = [name for name in SOLVERS if name not in ("mackay", "coordinate", "primal", "interior")]


def problem_of(Ks, y, c, loss, regularizer, covariates=None):
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, y, loss, regularizer, c, loss.takes_intercept, covariates)


def outputs_of(problem, Ks, found):
    """Decisions on the examples, (T, n)."""
    return np.einsum("m,mij,tj->ti", found.theta, Ks, found.a) + problem.level(found.b)


def versions(Ks, c):
    """(name, examples, order of kernels, costs): the same problem by other means."""
    order, kernels = rng.permutation(Ks.shape[1]), rng.permutation(len(Ks))
    yield "another order", order, kernels, c[:, order]
    twice = np.concatenate([np.arange(Ks.shape[1]), np.flatnonzero(c[0] == 2.0)])
    yield "copies", twice, np.arange(len(Ks)), np.where(c[:, twice] == 2.0, 1.0, c[:, twice])
    some = np.flatnonzero(c[0] > 0)
    yield "without those of weight 0", some, np.arange(len(Ks)), c[:, some]


@pytest.mark.parametrize("name", OPTIMA)
def test_a_solution_is_that_of_other_orders_and_of_copies(name, monkeypatch):
    """Two outputs share their weights where the solver allows it; the active examples are few."""
    monkeypatch.setattr(_wrapper, "FIRST_ACTIVE", 4)
    loss = losses.get("squared_hinge")
    Ks, first = make(3, n, M)
    Y = np.stack([first, np.where(Ks[0][:, 1] > np.median(Ks[0][:, 1]), 1.0, -1.0)])
    Y = Y[:1] if name == "chunking" else Y
    c = np.repeat(rng.choice([1.0, 2.0, 0.5], size=n)[None], len(Y), axis=0)
    c[:, [2, 7]] = 0.0
    regularizer = partner(name)
    one = problem_of(Ks, Y, c, loss, regularizer)
    found = solve(one, name, tol=TOL, thin=False)
    assert found.gap <= TOL
    f = outputs_of(one, Ks, found)
    close = 5e-2 * np.abs(f).max()
    for way, rows, kernels, costs in versions(Ks, c):
        part = Ks[kernels][:, rows][:, :, rows]
        other = problem_of(part, Y[:, rows], costs, loss, regularizer)
        again = solve(other, name, tol=TOL, thin=False)
        assert again.primal == pytest.approx(found.primal, rel=3 * TOL), way
        assert_allclose(again.theta, found.theta[kernels], atol=5e-2 * found.theta.max(), err_msg=way)
        assert_allclose(outputs_of(other, part, again), f[:, rows], atol=close, err_msg=way)


@pytest.mark.parametrize("name", ["newton", "interior", "primal"])
@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic"])
def test_covariates_go_with_their_examples(name, loss):
    loss = losses.get(loss)
    X = rng.normal(size=(60, 3))
    Z, noise = rng.normal(size=(60, 2)), rng.normal(size=60)
    y = X[:, 0] + Z[:, 0] + 0.6 * noise
    y = y if loss.targets == "real" else np.where(y > 0, 1.0, -1.0)
    c = rng.choice([1.0, 2.0, 0.5], size=60)
    c[[2, 7]] = 0.0
    regularizer = LpNorm(1 if name == "interior" else 1.5)
    specs = [("a", Linear(), [0]), ("b", Linear(), [1]), ("c", Linear(), [2])]

    def fitted(rows, costs):
        bank = FeatureBank.from_list(KernelList.from_spec(specs, X), X[rows], normalize=None)
        problem = Problem(bank, y[rows], loss, regularizer, costs, True, Z[rows])
        found = solve(problem, name, tol=TOL)
        f = (X[rows] * found.theta) @ (X[rows].T @ found.a[0]) + problem.level(found.b)[0]
        return found, f, problem.coefficients(found.b)

    try:
        found, f, (b, w) = fitted(np.arange(60), c)
    except ValueError as refused:
        pytest.skip(str(refused))
    for way, rows, _, costs in versions(np.zeros((3, 60, 60)), c[None]):
        again, g, (b_, w_) = fitted(rows, costs[0])
        assert again.primal == pytest.approx(found.primal, rel=3 * TOL), way
        assert_allclose(g, f[rows], atol=5e-2 * np.abs(f).max(), err_msg=way)
        assert_allclose(np.append(w_[0], b_), np.append(w[0], b), atol=5e-2 * np.abs(w).max(), err_msg=way)


@pytest.mark.parametrize("noise", [0.3, "learn", None])
def test_the_evidence_is_that_of_other_orders_and_of_copies(noise):
    """A kernel without variance stands before the others; outputs with means of their own share the weights."""
    Ks, y = make(4, n, M, real=True)
    Ks = np.concatenate([np.ones((1, n, n)), Ks])
    Y = np.stack([y + 3.0, 0.5 * y[::-1] - 1.0])
    c = np.repeat(rng.choice([1.0, 2.0], size=n)[None], 2, axis=0)
    c[:, [2, 7]] = 0.0

    def fitted(rows, kernels, costs):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            problem = problem_of(Ks[kernels][:, rows][:, :, rows], Y[:, rows], costs, losses.get("squared"),
                                 EmpiricalBayes(noise=noise))  # fmt: skip
        return solve(problem, "mackay", tol=1e-7)

    found = fitted(np.arange(n), np.arange(M + 1), c)
    assert found.theta[0] == 0 and found.converged
    for way, rows, kernels, costs in versions(Ks, c):
        if noise is None and way == "copies":
            continue  # the largest cost stands for the noise
        again = fitted(rows, kernels, costs)
        assert_allclose(again.theta, found.theta[kernels], atol=1e-3 * found.theta.max(), err_msg=way)
        facts = [[one.noise, one.log_marginal_likelihood, *one.b] for one in (again, found)]
        assert_allclose(*facts, rtol=1e-4, err_msg=way)


@pytest.mark.parametrize("name", ["newton", "analytic"])
def test_examples_that_matter_to_any_output_stay_active(name, monkeypatch):
    """Two outputs share the weights, and most examples matter to one of them alone."""
    monkeypatch.setattr(_wrapper, "FIRST_ACTIVE", 4)
    monkeypatch.setattr(_wrapper, "MAX_ACTIVE_SHARE", 1.0)
    draw = np.random.default_rng(9)
    X = draw.normal(size=(160, 2))
    Y = np.where(X.T + 0.1 * draw.normal(size=(2, 160)) > np.array([[-1.0], [1.0]]), 1.0, -1.0)
    Ks = np.stack([X @ X.T, np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))])
    found = solve(problem_of(Ks, Y, 10.0, losses.get("hinge"), LpNorm(1.5)), name, tol=1e-5)
    support = [np.flatnonzero(a) for a in found.a]
    assert found.gap <= 1e-5 and len(np.setxor1d(*support)) > 0
    assert len(found.active) < 160 and np.isin(np.union1d(*support), found.active).all()
    assert_array_equal(found.active, np.unique(found.active))


@pytest.mark.parametrize("cost", [0.25, 1.0, 8.0])
def test_without_a_noise_the_largest_cost_stands_for_it_and_the_others_for_weights(cost):
    """The noise is ½ / c of the example with the largest cost c, and the others have the weights c / that cost."""
    Ks, y = make(4, n, M, real=True)
    c = np.where(np.arange(n) % 3 == 0, 1.0, 0.5)
    squared = losses.get("squared")
    found = solve(problem_of(Ks, y, cost * c, squared, EmpiricalBayes(noise=None)), "mackay", tol=1e-8)
    given = solve(problem_of(Ks, y, c, squared, EmpiricalBayes(noise=0.5 / cost)), "mackay", tol=1e-8)
    assert found.noise == pytest.approx(0.5 / cost)
    assert found.log_marginal_likelihood == pytest.approx(given.log_marginal_likelihood, rel=1e-6)
    assert_allclose(found.theta, given.theta, atol=1e-4 * given.theta.max())
