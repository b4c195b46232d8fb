"""Generalisation bounds: the stated limits, and that they hold for the complexities that random signs show."""

import numpy as np
import pytest

from manykernels.inspect.bounds import (
    CONSTANT,
    block_norm,
    convert,
    empirical_rademacher,
    free_norm_bound,
    generalization_bound,
    margin_bound,
    margin_risk,
    optimal_p,
    rademacher,
    scenario,
)

EXPONENTS = (1, 1.01, 32 / 31, 8 / 7, 4 / 3, 1.5, 2, 3, 4, 16, np.inf)


def matrices(M=12, n=40, seed=0, rank=None):
    """Kernels with k(x, x) = 1; of small rank they are far from the bound's average case."""
    rng = np.random.default_rng(seed)
    Z = rng.standard_normal((M, n, rank or n))
    Z /= np.linalg.norm(Z, axis=2, keepdims=True)
    return Z @ Z.transpose(0, 2, 1)


def test_at_p_1_it_is_theorem_8():
    expected = 3.0 * np.sqrt(CONSTANT * np.e * np.ceil(np.log(50)) / 1000)
    assert rademacher(1, 1000, 50, R=3.0) == pytest.approx(expected)


@pytest.mark.parametrize("M", [2, 50, 1000])
def test_p_to_1_converges_to_the_bound_at_1(M):
    assert rademacher(1 + 1e-9, 100, M) == pytest.approx(rademacher(1, 100, M), rel=1e-6)


def test_at_p_2_the_factor_is_2_root_M():
    assert rademacher(2, 500, 100) == pytest.approx(np.sqrt(2 * CONSTANT * np.sqrt(100) / 500))


@pytest.mark.parametrize("r", range(2, 60))
def test_rounding_does_not_raise_a_whole_p_star(r):
    """p = 4/3 counted as p* = 5."""
    expected = np.sqrt(CONSTANT * 1000 ** (1 / r) * min(r, np.e * 7) / 500)
    assert rademacher(r / (r - 1), 500, 1000) == pytest.approx(expected)
    assert rademacher(np.nextafter(r / (r - 1), 1), 500, 1000) >= expected * (1 - 1e-9)


def test_p_to_infinity_is_root_2cM_and_infinity_itself_root_cM():
    assert rademacher(1e12, 500, 100) == pytest.approx(np.sqrt(2 * CONSTANT * 100 / 500))
    assert rademacher(np.inf, 500, 100) == pytest.approx(np.sqrt(CONSTANT * 100 / 500))


@pytest.mark.parametrize("rank", [1, 3, None])
@pytest.mark.parametrize("p", EXPONENTS)
def test_the_bound_holds_for_random_signs(p, rank):
    mean, error = empirical_rademacher(matrices(rank=rank), p, draws=2000)
    assert mean + 3 * error <= rademacher(p, 40, 12)


@pytest.mark.parametrize("p", [2, np.inf])
def test_the_bound_is_not_far_off(p):
    mean, _ = empirical_rademacher(matrices(M=200), p)
    assert mean >= 0.6 * rademacher(p, 40, 200)


def test_the_supremum_over_the_class_is_a_dual_norm():
    K, rng = matrices(M=3, n=8), np.random.default_rng(1)
    sigma, p = rng.choice([-1.0, 1.0], 8), 1.5
    forms = np.einsum("i,mij,j->m", sigma, K, sigma)
    closed = np.linalg.norm(forms, p / (p - 1)) ** 0.5
    theta = rng.random((20000, 3))
    theta /= np.linalg.norm(theta, p, axis=1, keepdims=True)
    assert np.sqrt(theta @ forms).max() == pytest.approx(closed, rel=1e-3)


@pytest.mark.parametrize(("q", "p"), [(1, 2), (1, np.inf), (4 / 3, 2), (2, 16), (3, 3)])
def test_conversion_holds_for_random_signs_and_is_attained_by_equal_kernels(q, p):
    K = matrices()
    small, large = (empirical_rademacher(K, e, draws=500)[0] for e in (q, p))
    assert small <= large <= convert(small, p, q, 12) + 1e-12
    K[:] = K[0]
    small, large = (empirical_rademacher(K, e, draws=500)[0] for e in (q, p))
    assert large == pytest.approx(convert(small, p, q, 12))


def test_corollary_9_is_the_better_of_two_conversions():
    n, M = 300, 30
    for p in (1.2, 1.7, 2.5):
        k = np.ceil(round(p / (p - 1), 9))
        integer = np.sqrt(CONSTANT * k * M ** (1 / k) / n)  # Theorem 8 at p* = k
        both = convert(rademacher(1, n, M), p, 1, M), convert(integer, p, k / (k - 1), M)
        assert rademacher(p, n, M) == pytest.approx(min(both))


def test_corollaries_10_and_11():
    n, M, p, delta = 400, 20, 4 / 3, 0.1
    rest = np.sqrt(np.log(2 / delta) / (2 * n))
    expected = 0.1 + 4 * 2.5 * rademacher(p, n, M, 1.5) + rest
    assert generalization_bound(0.1, p, n, M, 1.5, lipschitz=2.5, delta=delta) == pytest.approx(expected)
    assert margin_bound(0.1, p, n, M, 1.5, gamma=0.4, delta=delta) == pytest.approx(expected)
    assert margin_bound(0.1, p, n, M, norm=3.0) - 0.1 < 3 * (margin_bound(0.1, p, n, M) - 0.1)


def test_a_norm_read_off_the_fit_costs_a_factor_2_and_a_logarithm():
    for norm in (0.3, 1.0, 1.01, 7.0):
        fixed, free = margin_bound(0.0, 2, 1000, 10, norm=norm), free_norm_bound(0.0, 2, 1000, 10, norm)
        assert fixed < free < 2 * fixed + 0.1
    shares = [1 / (3 * (abs(k) + 1) ** 2) for k in range(-10000, 10001)]
    assert sum(shares) < 1


def test_margin_risk_is_between_the_errors():
    y, f = np.array([1, 1, -1, -1.0]), np.array([2.0, 0.25, -0.5, 0.1])
    assert margin_risk(y, f, 1.0) == pytest.approx((0 + 0.75 + 0.5 + 1) / 4)
    assert margin_risk(y, f, 1e-9) == 0.25


@pytest.mark.parametrize("p", EXPONENTS)
def test_block_norm_is_the_least_norm_over_the_weights(p):
    norms, rng = np.array([0.5, 2.0, 1.0]), np.random.default_rng(0)
    theta = rng.random((50000, 3)) ** 2
    theta /= np.linalg.norm(theta, p, axis=1, keepdims=True)
    least = np.sqrt((norms**2 / theta).sum(axis=1).min())
    assert block_norm(norms, p) == pytest.approx(least, rel=5e-3) and block_norm(norms, p) <= least + 1e-9


def test_example_2_sparse_truth_favours_p_near_1():
    norms = np.eye(1, 1000)[0]
    for p in (1, 1.5, 4):
        assert block_norm(norms, p) == 1
        assert scenario(norms, p, 500) == pytest.approx(rademacher(p, 500, 1000))
    assert scenario(norms, 1, 500) < scenario(norms, 2, 500) < scenario(norms, 4, 500)
    assert optimal_p(norms, (1, 4 / 3, 2, 4)) == 1
    assert optimal_p(norms) < 1.2


@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda: rademacher(0.5, 10, 2), "p=.* must be"), (lambda: rademacher(np.nan, 10, 2), "p=.* must be"),
        (lambda: rademacher("2", 10, 2), "p=.* must be"), (lambda: rademacher(2, 0, 2), "n=.* must be"),
        (lambda: rademacher(2, 10.5, 2), "n=.* must be"), (lambda: rademacher(2, 10, 1), "M=.* must be"),
        (lambda: rademacher(2, 10, 2, R=0), "R=.* must be"), (lambda: rademacher(2, 10, 2, norm=-1), "norm=.* must be"),
        (lambda: convert(1.0, 1, 2, 5), "q must be at most p"), (lambda: convert(-1.0, 2, 1, 5), "complexity"),
        (lambda: generalization_bound(1.5, 2, 10, 2), "risk"), (lambda: margin_bound(0, 2, 10, 2, delta=1), "delta"),
        (lambda: margin_bound(0, 2, 10, 2, gamma=0), "gamma"), (lambda: margin_risk([1, 2], [1, 1]), "labels"),
        (lambda: block_norm([-1.0, 1.0], 2), "norms"), (lambda: scenario(np.zeros(3), 2, 10), "all 0"),
        (lambda: empirical_rademacher(np.ones((2, 3)), 2), "matrices"),
        (lambda: free_norm_bound(0, 2, 9, 2, 0), "norm=0 must be"),
    ],
)  # fmt: skip
def test_bad_input_is_named(call, name):
    with pytest.raises(ValueError, match=name):
        call()
