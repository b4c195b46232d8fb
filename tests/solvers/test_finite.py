"""A run ends with a finite point and a finite certificate, whatever its algorithm does."""

import numpy as np
import pytest

from manykernels import MKLRegressor, losses, regularizers
from manykernels.banks import DenseBank
from manykernels.kernels import RBF, Linear
from manykernels.problem import Problem
from manykernels.solvers import SOLVERS, Control, Oracle, solve
from manykernels.solvers._run import Finished


def problem(loss="squared", regularizer=None, c=1.0, scale=1.0, n=12, M=3, intercept=True):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, n, 2))
    K = scale * np.moveaxis(np.einsum("mik,mjk->mij", X, X), 0, 2)
    y = np.sign(X[0, :, 0]) if losses.get(loss).targets == "binary" else X[0, :, 0]
    regularizer = regularizers.LpNorm(2) if regularizer is None else regularizer
    return Problem(DenseBank(K), y, losses.get(loss), regularizer, c, intercept)


def is_finite(found):
    return all(np.all(np.isfinite(part)) for part in (found.theta, found.a, found.b, found.primal, found.gap))


def never(oracle):
    """Ends before the first certificate."""


def stop(oracle):
    raise Finished


def lose(oracle):
    """Certifies a point that is not finite, and no other."""
    oracle.certify(oracle.theta, np.full_like(oracle.a, np.nan))


def overflow(oracle):
    """Certifies weights that are not finite at a = 0, where they do not count."""
    oracle.certify(np.full_like(oracle.theta, np.inf), np.zeros_like(oracle.a))


@pytest.mark.parametrize("algorithm", [never, stop, lose, overflow])
@pytest.mark.parametrize("loss", ["hinge", "squared", "logistic", "huber", "one_class", "level_set"])
@pytest.mark.parametrize("carried", [False, True])
def test_a_run_without_a_point_of_its_own_ends_where_every_fit_could_begin(algorithm, loss, carried):
    """The run ended in a crash, or with a point that is not finite."""
    oracle = Oracle(problem(loss, c=0.2, intercept=loss != "level_set"), Control())
    oracle.carried = carried
    with np.errstate(all="ignore"):
        found = oracle.run(algorithm)
    assert is_finite(found) and not found.converged
    origin, certificate = oracle.problem.origin()
    assert np.array_equal(found.a, origin[1]) and found.gap == certificate.gap


def test_a_point_that_is_not_finite_does_not_take_the_place_of_one_that_is():

    def algorithm(oracle):
        point = oracle(oracle.theta)
        oracle.certify(point.theta, np.full_like(point.a, np.nan))

    oracle = Oracle(problem(c=1e3), Control(tol=1e-12))
    with np.errstate(all="ignore"):
        found = oracle.run(algorithm)
    assert is_finite(found) and found.a.any()


def test_a_dual_value_above_the_primal_one_gives_way_to_a_bound_that_holds():
    """The gap was NaN."""
    oracle = Oracle(problem(c=1e3), Control(tol=1e-12))

    def algorithm(oracle):
        oracle(oracle.theta)
        oracle.bound(2.0 * oracle.upper + 1.0, oracle.a)

    found = oracle.run(algorithm)
    assert is_finite(found) and not found.converged
    assert found.dual <= found.primal and found.gap == pytest.approx((found.primal - found.dual) / oracle.scale)
    assert np.array_equal(found.dual_a, np.zeros_like(found.a))


@pytest.mark.parametrize("name", ["newton", "analytic", "hessian", "chunking", "spicy", "nesterov"])
def test_costs_and_kernels_beyond_float64_end_finite_or_are_refused(name):
    for regularizer in (regularizers.LpNorm(2), regularizers.ElasticNet(0.01), regularizers.BlockElasticNet(0.0)):
        for scale, c in ((1e120, 1e60), (1e-150, 1e-100), (1.0, 1e200)):
            asked = problem(regularizer=regularizer, scale=scale, c=c)
            if SOLVERS[name]().refusal(asked) is None:
                assert is_finite(solve(asked, name, max_iter=20))


def test_an_objective_that_is_nowhere_finite_is_refused_in_words():
    small = problem()
    with pytest.raises(ValueError, match="before any kernel is used: rescale y"):
        solve(Problem(small.bank, 1e200 * small.Y, small.loss, small.regularizer), "newton")


@pytest.mark.parametrize("outputs", [1, 2])
def test_targets_whose_squares_are_zero_are_refused_in_words(outputs):
    x = np.linspace(-1, 1, 30)
    y = np.stack([x + x**3, x**2], axis=1)[:, :outputs].squeeze()
    kernels = [("rbf", RBF(gamma=1.0)), ("linear", Linear())]
    usual = MKLRegressor(kernels, C=1.0).fit(x[:, None], y).predict(x[:, None])
    small = MKLRegressor(kernels, C=1.0).fit(x[:, None], y * 1e-140).predict(x[:, None])
    np.testing.assert_allclose(small * 1e140, usual, rtol=1e-4, atol=1e-4)
    with pytest.raises(ValueError, match="y differs by .* from its mean, .*: rescale y"):
        MKLRegressor(kernels, C=1.0).fit(x[:, None], y * 1e-155)
    MKLRegressor(kernels, C=1.0, fit_intercept=False).fit(x[:, None], np.zeros_like(y))
