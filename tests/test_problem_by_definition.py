"""What a problem says of its size, from the definitions: with costs, several outputs and without an intercept."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank, PairwiseBank
from manykernels.banks.slack import SlackBank
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm

rng = np.random.default_rng(0)
n = 14
F = rng.normal(size=(2, n, 3))
KS = F @ F.swapaxes(1, 2) + np.array([1.0, 40.0])[:, None, None]
BANK = DenseBank(np.moveaxis(KS, 0, 2), normalize=None)
C = rng.uniform(0.2, 3.0, size=(2, n))
C[:, 3] = 0.0
REAL = rng.normal(size=(2, n)) + np.array([[50.0], [-7.0]])


def problem_of(loss, intercept=True):
    loss = losses.get(loss)
    Y = REAL if loss.targets == "real" else np.sign(rng.normal(size=(2, n)))
    return Problem(BANK, Y, loss, LpNorm(1.5), C, intercept)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["squared", "hinge", "epsilon_insensitive"])
def test_the_largest_a_to_expect_and_the_least_scale_are_those_of_the_costs(loss, intercept):
    problem = problem_of(loss, intercept)
    middle = np.average(REAL[0], weights=C[0]), np.average(REAL[1], weights=C[1])
    about = REAL - np.array(middle)[:, None] * intercept
    if loss == "squared":
        np.testing.assert_allclose(problem.reach(), 2 * C * np.abs(about))
        assert problem._floor() == pytest.approx(np.sum(C * (1e-12 * about**2 + 1e-24 * REAL**2)))
    else:
        np.testing.assert_array_equal(problem.reach(), C)
        assert problem._floor() == pytest.approx(1e-12 * C.sum())


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_rounding_is_bounded_by_the_diagonals_of_the_kernels_with_weight(loss):
    problem, a = problem_of(loss), rng.normal(size=(2, n))
    for theta in (np.array([0.5, 2.0]), np.array([0.0, 1.0]), np.array([3.0, 0.0])):
        roots = np.sqrt(np.einsum("mii->mi", KS))
        outputs = sum(t * root * (np.abs(a) @ root)[:, None] for t, root in zip(theta, roots, strict=True))
        slope = np.abs(a) if loss == "squared" else np.maximum(np.abs(a), C)
        assert problem.rounding(a, theta) == pytest.approx(2.0**-52 * np.sum(slope * outputs), rel=1e-9)


def test_a_certificate_on_some_rows_is_that_of_zeros_elsewhere():
    problem = problem_of("squared", False)
    rows, a = np.array([0, 2, 5, 9]), rng.normal(size=(2, 4))
    whole, b, theta = np.zeros((2, n)), problem.no_b(), np.array([0.4, 0.5])
    whole[:, rows] = a
    q, outputs = np.einsum("ti,mij,tj->m", whole, KS, whole), np.einsum("m,mij,tj->ti", theta, KS, whole)
    assert problem.dual_value(a, q, rows) == pytest.approx(problem.dual_value(whole, q), rel=1e-12)
    np.testing.assert_allclose(problem.conjugates(a, rows), problem.conjugates(whole), rtol=1e-12)
    part, rest = problem.losses(outputs[:, rows], b, rows), np.setdiff1d(np.arange(n), rows)
    np.testing.assert_allclose(part + problem.losses(outputs[:, rest], b, rest), problem.losses(outputs, b), rtol=1e-12)
    norms, omega = problem.regularizer.penalty(theta, q)
    found = problem.certificate(problem.losses(outputs, b), whole, b, theta, q)
    risk = np.sum(C * (REAL - outputs) ** 2)
    assert found.primal == pytest.approx(risk + norms + omega, rel=1e-12)
    assert found.gap == pytest.approx((found.primal - found.dual) / (risk + norms + abs(omega)), rel=1e-12)


def test_the_slack_kernel_has_no_error_of_its_scale():
    X = rng.normal(size=(n, 2))
    bank = PairwiseBank(KernelList.from_spec([RBF(0.3), Linear()], X), X)
    assert SlackBank(bank).scale_error is None
    bank.scale_error = np.array([1e-4, 2e-4])
    slack = SlackBank(bank)
    np.testing.assert_array_equal(slack.scale_error, [1e-4, 2e-4, 0.0])
    assert len(slack.names) == len(slack.scale) == len(slack.usable) == slack.M == 3
