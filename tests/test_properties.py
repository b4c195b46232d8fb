"""What must not matter: the order of examples and kernels, copies, the scale of a kernel, how weights are written."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from manykernels import losses, regularizers
from manykernels.banks import DenseBank
from manykernels.problem import Problem
from manykernels.solvers import solve

TOL = 1e-7


def make(seed, n=40, M=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, M, 2))
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    y = np.where(X[:, 0, 0] + 0.5 * X[:, 1, 0] + 0.5 * rng.normal(size=n) > 0, 1.0, -1.0)
    return np.exp(-0.5 * D), y  # (n, n, M)


def fit(S, y, p, c=1.0, normalize="multiplicative", weights=None, loss="hinge"):
    bank = DenseBank(S, normalize=normalize, weights=weights)
    return solve(Problem(bank, y, losses.get(loss), regularizers.get(p), c), tol=TOL)


def outputs(S, solution, y):
    bank = DenseBank(S)
    return bank.combined(solution.theta) @ solution.a[0] + solution.b[0]


problems = given(
    seed=st.integers(0, 10**6), p=st.sampled_from([1, 4 / 3, 2, 8]), loss=st.sampled_from(["hinge", "logistic"])
)
quick = settings(max_examples=15, deadline=None)


@problems
@quick
def test_permuting_examples_permutes_the_result(seed, p, loss):
    S, y = make(seed)
    order = np.random.default_rng(seed).permutation(len(y))
    one, two = fit(S, y, p, loss=loss), fit(S[np.ix_(order, order)], y[order], p, loss=loss)
    assert one.primal == pytest.approx(two.primal, rel=2 * TOL)
    np.testing.assert_allclose(outputs(S, one, y)[order], outputs(S[np.ix_(order, order)], two, y), atol=5e-3)


@problems
@quick
def test_permuting_kernels_permutes_the_weights(seed, p, loss):
    S, y = make(seed)
    one, two = fit(S, y, p, loss=loss), fit(np.ascontiguousarray(S[:, :, ::-1]), y, p, loss=loss)
    assert one.primal == pytest.approx(two.primal, rel=2 * TOL)
    np.testing.assert_allclose(one.theta, two.theta[::-1], atol=5e-3)


@problems
@quick
def test_copies_of_a_kernel_share_its_weight(seed, p, loss):
    S, y = make(seed)
    copied = np.concatenate([S, S[:, :, :1]], axis=2)
    two = fit(copied, y, p, loss=loss)
    if p > 1:
        assert two.theta[0] == pytest.approx(two.theta[3], abs=5e-3)
    else:
        one = fit(S, y, p, loss=loss)
        assert one.primal == pytest.approx(two.primal, rel=2 * TOL)
        assert one.theta[0] == pytest.approx(two.theta[0] + two.theta[3], abs=5e-3)
        np.testing.assert_allclose(outputs(S, one, y), outputs(copied, two, y), atol=5e-3)


@problems
@quick
def test_scaling_a_kernel_changes_nothing_when_it_is_normalised(seed, p, loss):
    S, y = make(seed)
    for normalize in ("multiplicative", "trace", "spherical"):
        one, two = (fit(S * scale, y, p, normalize=normalize, loss=loss) for scale in (1.0, np.array([1e3, 1.0, 1e-2])))
        assert one.primal == pytest.approx(two.primal, rel=2 * TOL)
        np.testing.assert_allclose(one.theta, two.theta, atol=5e-3)


@given(seed=st.integers(0, 10**6), p=st.sampled_from([1, 2]))
@quick
def test_weight_k_equals_k_copies_and_weight_0_removal(seed, p):
    S, y = make(seed, n=30)
    k = np.random.default_rng(seed).integers(0, 3, size=len(y))
    if len(set(y[k > 0])) < 2:
        return
    copies = np.repeat(np.arange(len(y)), k)
    weighted = fit(S, y, p, c=k.astype(float), weights=k)
    repeated = fit(S[np.ix_(copies, copies)], y[copies], p)
    assert weighted.primal == pytest.approx(repeated.primal, rel=2 * TOL)


def test_results_do_not_depend_on_the_number_of_threads():
    S, y = make(0, n=300)
    results = [
        solve(Problem(DenseBank(S, n_jobs=n_jobs), y, losses.get("hinge"), regularizers.get(2)), tol=1e-5)
        for n_jobs in (1, 2, 3)
    ]
    for other in results[1:]:
        np.testing.assert_array_equal(results[0].theta, other.theta)
        np.testing.assert_array_equal(results[0].a, other.a)
