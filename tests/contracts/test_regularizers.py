"""Every exported regularizer keeps the protocol of regularizers/base.py.

Two equalities prove most of it: x maximises ⟨x, s⟩ − Ω(x) where Ω(x) + Ω*(s) = ⟨x, s⟩, and the conjugate of the block
norm in the norms t, g(t²), is Ω*(u²/2).
"""

import inspect
import time

import numpy as np
import pytest
from members import MEMBERS, M, W, every
from numpy.testing import assert_allclose

from manykernels import regularizers
from manykernels.regularizers import (
    Ball,
    EmpiricalBayes,
    Fixed,
    GroupNorm,
    LpNorm,
    NonIsotropic,
    Regularizer,
    Separable,
    Wedge,
    WeightedLpNorm,
)

rng = np.random.default_rng(0)
S = rng.exponential(size=M)
Z = [S, S - 0.7, 0.05 * S, 100 * (S - 0.3), np.ones(M), np.array([3.0, 0, -1, 1e-9, 2.9])]


def precision(omega):
    """Differences of g are good for some nine digits."""
    return 1e-6 if isinstance(omega, Separable) else 1e-9


def assert_fenchel(omega, value, x, slope, s=None):
    """value + Ω*(s) = ⟨x, slope⟩, relative to the largest of the three; s = slope unless the norms are what varies."""
    s = slope if s is None else s
    if not omega.finite_conjugate:
        assert omega.level(s) <= omega.limit * (1 + precision(omega))
    conjugate = omega.conjugate(s) if omega.finite_conjugate else 0.0
    size = max(1e-9, abs(value), abs(conjugate), np.abs(x) @ np.abs(slope))
    assert abs(value + conjugate - x @ slope) <= precision(omega) * size


def domain(omega, count=20):
    """Random weights of the domain, sparse ones too."""
    z = rng.normal(size=(count, M)) * 10 ** rng.uniform(-2, 1, size=(count, 1))
    return [omega.prox(v, 0.1) for v in z]


def test_every_exported_convex_member_is_here():
    named = {getattr(regularizers, name) for name in regularizers.__all__}
    exported = {cls for cls in named if inspect.isclass(cls) and issubclass(cls, Regularizer)}
    stages = {cls for cls in exported if issubclass(cls, regularizers.TwoStage)}
    assert exported - stages - {Regularizer, EmpiricalBayes} == set(MEMBERS)


@every("conjugate", where=lambda omega: omega.finite_conjugate)
def test_weights_from_dual_attain_the_conjugate(omega):
    for s in (S, S**4, 30 * S, 1e-6 * S, np.eye(M)[2]):
        best = omega.weights_from_dual(s)
        assert np.all(best >= 0)
        if omega.has("value"):
            assert_fenchel(omega, omega.value(best), best, s)
            for theta in domain(omega):
                assert theta @ s - omega.value(theta) <= omega.conjugate(s) + 1e-9 * max(1, abs(omega.conjugate(s)))
        else:  # ‖f_m‖² = θ_m² q_m with q = 2s
            norms, omega_value = omega.penalty(best, 2 * s)
            assert norms + omega_value + omega.conjugate(s) == pytest.approx(2 * best @ s, rel=1e-9)


@every("weights_from_dual")
def test_dual_weights_jump_at_ties_unless_the_conjugate_is_smooth(omega):
    jumps = []
    for tie in (np.ones(M), W):
        one, other = (omega.weights_from_dual(tie * (1 + 1e-9 * e)) for e in np.eye(M)[:2])
        jumps.append(np.abs(one - other).max())
    assert (max(jumps) < 1e-3) == omega.smooth


@every("derivatives")
def test_derivatives_are_those_of_differences_along_the_simplex(omega):
    theta, h = (S + 0.5) / (S + 0.5).sum(), 1e-4
    first, second = omega.derivatives(theta)
    for i, j in ((0, 1), (2, 3), (1, 3)):
        way = np.eye(M)[i] - np.eye(M)[j]
        up, here, down = (omega.value(theta + t * h * way) for t in (1, 0, -1))
        assert (up - down) / (2 * h) == pytest.approx(first[i] - first[j], rel=1e-4, abs=1e-6)
        assert (up - 2 * here + down) / h**2 == pytest.approx(second[i] + second[j], rel=1e-3)


@every("conjugate", "value", where=lambda omega: omega.finite_conjugate)
def test_conjugate_is_the_supremum_for_slopes_of_any_sign(omega):
    """A random search finds nothing better, and it is nearly attained."""
    for s in (S - 0.7, S - 1.5, -S):
        best = omega.prox(100 * s, 100.0)  # nearly the maximiser
        found = max(theta @ s - omega.value(theta) for theta in [best, *domain(omega)])
        conjugate = omega.conjugate(s)
        assert found <= conjugate + 1e-9 * max(1, abs(conjugate))
        assert conjugate - (best @ s - omega.value(best)) <= 0.05 * max(1, abs(conjugate))


@every("conjugate", where=lambda omega: not omega.finite_conjugate)
def test_an_unbounded_conjugate_is_the_indicator_of_its_domain(omega):
    s = S * omega.limit / omega.level(S)
    assert omega.conjugate(s) == pytest.approx(0, abs=1e-6)
    assert omega.conjugate(1.001 * s) == np.inf
    assert max(theta @ s - omega.value(theta) for theta in domain(omega)) <= 1e-6
    ray = [omega.prox(t * 1.1 * s, t) for t in (1e2, 1e4)]  # t (u − the nearest point of the domain), Ω of degree 1
    gain = [theta @ (1.1 * s) - omega.value(theta) for theta in ray]
    assert gain[1] == pytest.approx(100 * gain[0], rel=1e-3) and gain[0] > 0.1


@every()
def test_shrink_scales_into_the_domain_and_no_further(omega):
    assert omega.shrink(0.1 * S * omega.limit / omega.level(S)) == 1
    for scale in (1.0, 100.0, 1e6):
        s = scale * S
        t = omega.shrink(s)
        assert 0 < t <= 1 and omega.conjugate(t**2 * s) < np.inf
        if omega.finite_conjugate:
            assert t == 1 or omega.conjugate(s) > 1e20  # near the end of floating point
        else:
            assert (t < 1) == (omega.level(s) > omega.limit) and (t < 1 or scale == 1)
            assert t == 1 or omega.conjugate((1.001 * t) ** 2 * s) == np.inf


@every("weights_from_norms")
def test_weights_from_norms_beat_every_other_weight(omega):
    """A random search and small steps; in the same way they attain the block norm."""

    def objective(theta):
        with np.errstate(divide="ignore"):
            return 0.5 * np.sum(np.divide(norms**2, theta, out=np.zeros(M), where=norms > 0)) + omega.value(theta)

    for norms in (S, S * 1e-3, np.array([1.0, 0, 0.5, 1e-3, 2]), S[::-1] ** 3):
        best = omega.weights_from_norms(norms)
        smallest = objective(best)
        assert np.all(best >= 0) and smallest < np.inf
        assert omega.block_norm(norms**2) == pytest.approx(smallest, rel=precision(omega))
        for theta in domain(omega):
            for step in (1e-4, 0.1, 0.9):
                assert smallest <= objective((1 - step) * best + step * theta) + precision(omega) * abs(smallest)


@every("block_norm", "conjugate", where=lambda omega: omega.finite_conjugate)
def test_the_conjugate_of_the_block_norm_in_the_norms_is_that_of_omega(omega):
    """g(t²) + Ω*(u²/2) ≥ ⟨t, u⟩, with equality at t = θ u for the dual weights θ."""
    for u in (S, 3 * S, 0.2 * S + 0.1):
        conjugate = omega.conjugate(0.5 * u**2)
        for t in np.exp(rng.normal(size=(50, M))):
            assert omega.block_norm(t**2) + conjugate >= (t @ u) * (1 - 1e-9)
        t = omega.weights_from_dual(0.5 * u**2) * u
        size = max(abs(conjugate), t @ u)
        assert omega.block_norm(t**2) + conjugate == pytest.approx(t @ u, abs=precision(omega) * size)


@every("prox")
def test_prox_leaves_a_subgradient(omega):
    """(z − x)/step is a subgradient of Ω at x, exactly where Ω(x) + Ω*((z − x)/step) = ⟨x, (z − x)/step⟩."""
    for z in Z:
        for step in (0.01, 1.0, 20.0):
            x = omega.prox(z, step)
            assert np.all(x >= 0)
            assert_fenchel(omega, omega.value(x), x, (z - x) / step)


@every("block_prox")
def test_block_prox_leaves_a_subgradient_of_the_block_norm(omega):
    for norms in (S, np.array([1.0, 0, 0.5, 1e-3, 2]), 50 * S):
        for step in (0.05, 1.0, 30.0):
            t = omega.block_prox(norms, step)
            u = (norms - t) / step
            assert np.all(t >= 0) and np.all(u >= -1e-12)
            assert_fenchel(omega, omega.block_norm(t**2), t, u, 0.5 * u**2)


@every("block_prox_jacobian")
@pytest.mark.parametrize("step", [0.05, 1.0, 10.0])
def test_block_prox_jacobian_is_its_derivative(omega, step):
    for norms in (S + 0.03, 10 * S, np.array([1.03, 0.13, 0.47, 0.012, 2])):
        J = omega.block_prox_jacobian(norms, step)
        J = np.diag(J) if J.ndim == 1 else J
        width = 1e-6
        finite = np.array([
            (omega.block_prox(norms + width * e, step) - omega.block_prox(norms - width * e, step)) / (2 * width)
            for e in np.eye(M)
        ]).T  # fmt: skip
        assert_allclose(J, finite, atol=1e-3 if isinstance(omega, Separable) else 2e-5)


@every("prox", where=lambda omega: not isinstance(omega, (Ball, Fixed, GroupNorm, NonIsotropic, Wedge, WeightedLpNorm)))
def test_prox_follows_permutations(omega):
    order = rng.permutation(M)
    assert_allclose(omega.prox(Z[1][order]), omega.prox(Z[1])[order], atol=1e-9)


@every("prox", where=lambda omega: not isinstance(omega, (Ball, Fixed, GroupNorm, NonIsotropic, WeightedLpNorm)))
def test_prox_is_exact_and_quick_with_ten_thousand_weights(omega):
    omega.prox(S)  # compiled
    z = 10 * rng.normal(size=10_000)
    seconds = []
    for _ in range(3):
        started = time.process_time()
        x = omega.prox(z)
        seconds.append(time.process_time() - started)
    assert min(seconds) < 0.1
    assert_fenchel(omega, omega.value(x), x, z - x)


@every("value", where=lambda omega: omega.constraint)
def test_constraints_are_indicators_and_their_dual_weights_are_tight(omega):
    for theta in domain(omega, 20):
        assert omega.value(theta) == 0
        assert_allclose(omega.prox(theta, 7.0), theta, atol=1e-9)
    for theta in (omega.weights_from_dual(S), omega.weights_from_norms(S)):
        assert omega.value(theta) == 0 and omega.value(theta * (1 + 1e-5)) == np.inf
    assert omega.value(np.full(M, -1e-6)) == np.inf


@every()
def test_extreme_input_stays_finite(omega):
    cases = np.array([[0] * 5, [0, 1e-300, 1e-310, 0, 0], [1e300, 1e-300, 0, 1, 1], [1e306] * 5])
    cases = [case[:M] for case in cases]
    with np.errstate(invalid="raise", divide="raise"):
        for s in cases:
            t = omega.shrink(s)
            assert 0 < t <= 1 and not np.isnan(omega.conjugate(t**2 * s))
            functions = {
                "weights_from_norms": omega.weights_from_norms,
                "weights_from_dual": lambda s, t=t: omega.weights_from_dual(t**2 * s),
                "prox": omega.prox,
            }
            for name, weights in functions.items():
                if omega.has(name):
                    theta = weights(s)
                    assert np.all(np.isfinite(theta)) and np.all(theta >= 0)
            if omega.has("prox"):
                assert np.all(np.isfinite(omega.prox(-s)))


@every()
def test_start_is_feasible_and_positive(omega):
    theta = omega.start(M)
    assert theta.shape == (M,) and np.all(theta > 0)
    if omega.has("value"):
        assert np.isfinite(omega.value(theta))
    if omega.constraint:
        assert omega.value(theta * (1 + 1e-6)) == np.inf


@every()
def test_members_are_their_parameters(omega):
    twin = type(omega)(**omega.get_params(deep=False))
    assert twin == omega and hash(twin) == hash(omega) and omega != LpNorm(1.7) and type(omega).__name__ in repr(omega)


@every()
def test_what_is_missing_has_a_reason(omega):
    for method in ("value", "prox", "minimise", "weights_from_norms", "weights_from_dual", "conjugate"):
        assert omega.has(method) == (not omega.why_not(method))
    assert not omega.has("no_such_method")
    assert omega.has("shrink") and omega.has("penalty") and omega.has("restrict") and omega.has("start")


@every()
def test_penalty_is_the_norms_and_omega(omega):
    q = 2 * S
    theta = omega.start(M)
    norms, value = omega.penalty(theta, q)
    expected = 0.5 * theta @ q + omega.value(theta) if omega.has("value") else omega.block_norm(theta**2 * q)
    assert norms + value == pytest.approx(expected)
