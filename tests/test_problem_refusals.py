"""A problem refuses what it cannot solve and names the cure; what it hands out is not its own memory."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import BlockElasticNet, LpNorm
from manykernels.solvers import InnerProblem
from problems import make, times

n = 12


def bank():
    return DenseBank(np.moveaxis(make(0, n, 3)[0], 0, 2), normalize=None)


def signs():
    return np.where(np.arange(n) % 3 == 0, 1.0, -1.0)


def with_last(values, value):
    """The same numbers for two outputs, but for the last of the second."""
    found = np.array([values, values], dtype=float)
    found[1, -1] = value
    return found


@pytest.mark.parametrize("Y, loss, regularizer, options, message", [
    (signs(), "hinge", LpNorm(2), dict(c=-np.ones(n)), "c must be finite and at least 0"),
    *((with_last(signs(), 1.0), "hinge", LpNorm(2), dict(c=with_last(np.ones(n), bad)), "c must be finite and at least")
      for bad in (np.inf, np.nan, -1e-9)),
    *((with_last(signs(), bad), "hinge", LpNorm(2), {}, "Y must be .1 or -1 for the hinge") for bad in (0, 2, 0.5)),
    (signs(), "level_set", LpNorm(2), {}, "trivial solution with an intercept; use intercept=False"),
    (signs()[1:], "hinge", LpNorm(2), {}, "Y has 11 examples, the kernels have 12"),
    (np.ones(n), "one_class", LpNorm(2), dict(c=0.3, intercept=False), "defined with an intercept; use intercept=True"),
    (np.ones(n), "one_class", BlockElasticNet(0.0), dict(c=0.3), "unbounded; use LpNorm.1. instead"),
    (with_last(np.ones(n), -1.0), "poisson", LpNorm(2), {}, "negative value -1"),
    *((signs(), "hinge", LpNorm(2), dict(covariates=Z), f"must be {n} rows of finite numbers")
      for Z in (np.ones(n), np.ones((n - 1, 2)), np.where(np.arange(2 * n) == 2 * n - 1, np.nan, 1.0).reshape(n, 2))),
])  # fmt: skip
def test_what_has_no_solution_is_refused_with_its_cure(Y, loss, regularizer, options, message):
    with pytest.raises(ValueError, match=message):
        Problem(bank(), Y, losses.get(loss), regularizer, **options)


def test_every_output_needs_targets_that_have_a_minimum():
    """The second output alone has one class among its examples with weight."""
    Y, c = np.array([signs(), signs()]), np.ones((2, n))
    logistic = losses.get("logistic")
    assert Problem(bank(), Y, logistic, LpNorm(2), c).n_outputs == 2
    c[1, signs() > 0] = 0.0
    with pytest.raises(ValueError, match="one class only among the examples with weight.*loss='hinge'"):
        Problem(bank(), Y, logistic, LpNorm(2), c)
    assert Problem(bank(), Y, logistic, LpNorm(2), c, intercept=False).n_outputs == 2
    assert Problem(bank(), Y, losses.get("hinge"), LpNorm(2), c).n_outputs == 2


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_covariates_that_order_the_events_are_refused_where_that_has_no_minimum(sign):
    """Cox's loss falls for ever, on either side; that of pairs reaches its minimum."""
    y = np.arange(1.0, n + 1)
    for name in ("cox", "ranking"):
        given = (bank(), y, losses.get(name), LpNorm(2), 1.0, False, sign * y[:, None])
        if name == "cox":
            with pytest.raises(ValueError, match="predict the order of the events.*merge categories without events"):
                Problem(*given)
        else:
            assert Problem(*given).covariates.shape == (n, 1)
    rng = np.random.default_rng(0)
    mixed = times(rng.normal(size=n), rng)
    assert Problem(bank(), mixed, losses.get("cox"), LpNorm(2), 1.0, False, rng.normal(size=(n, 1))).n_outputs == 1


@pytest.mark.parametrize("covariates", [False, True])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_a_start_that_was_changed_is_new_when_asked_again(loss, covariates):
    Z = np.random.default_rng(0).normal(size=(n, 2)) if covariates else None
    problem = Problem(bank(), signs(), losses.get(loss), LpNorm(2), 1.0, covariates=Z)
    first = problem.start()
    kept = first.copy()
    first += 1.0
    np.testing.assert_array_equal(problem.start(), kept)


class Broken(losses.Hinge):
    """A loss whose terms are wrong in one way."""

    how = "scalar"

    def quadratic(self, y, c, a):
        linear, diagonal, kink = super().quadratic(y, c, a)
        if self.how == "scalar":
            return linear, diagonal, 0.0
        return linear, diagonal / c if self.how == "divides" else diagonal, kink


def test_terms_of_an_own_loss_have_one_number_for_each_example():
    with pytest.raises(ValueError, match=r"must return three arrays \(12,\), not shapes \(12,\), \(12,\), \(\)"):
        InnerProblem(Broken(), signs(), np.ones(n), True)
    loss, c = Broken(), np.where(np.arange(n) == 4, 0.0, 1.0)
    loss.how = "divides"
    with np.errstate(all="ignore"), pytest.raises(ValueError, match=r"not finite where c = 0.*divide by np.where"):
        InnerProblem(loss, signs(), c, True)
    assert InnerProblem(loss, signs(), np.ones(n), True).hi.max() == 1.0
