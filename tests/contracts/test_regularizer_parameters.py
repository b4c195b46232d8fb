"""Parameters of the regularizers: what is refused, and with what words; the sizes of arrays; kernels left out."""

from itertools import combinations

import numpy as np
import pytest
from members import NEAR, M, W, every

from manykernels import regularizers
from manykernels.regularizers import (
    Ball,
    BlockElasticNet,
    BlockNorm,
    BlockSum,
    ElasticNet,
    Entropy,
    Fixed,
    GroupNorm,
    LpNorm,
    LpPenalty,
    LpSum,
    MixedNorm,
    NonIsotropic,
    Separable,
    WeightedLpNorm,
)

PER_KERNEL = GroupNorm, WeightedLpNorm, Ball, Fixed, NonIsotropic


@every(where=lambda omega: isinstance(omega, (*PER_KERNEL, LpNorm, ElasticNet)))
def test_restricted_members_are_the_problem_with_the_other_weights_at_zero(omega):
    """`Ball` and `Fixed` leave the other weights where they are, and there nothing depends on them.

    The conjugate is the same where the other norms are 0, if weights do not help each other.
    """
    rng = np.random.default_rng(1)
    for keep in map(np.array, combinations(range(M), 3)):
        part = omega.restrict(keep, M)
        for theta in rng.uniform(0, 1, size=(6, 3)) * 10.0 ** rng.uniform(-2, 0, size=(6, 1)):
            whole = np.zeros(M)
            whole[keep] = theta
            if isinstance(omega, Ball | Fixed):
                rest = np.where(np.isin(np.arange(M), keep), whole, W)
                assert part.value(theta) == omega.value(rest)
                assert part.value(W[keep]) == 0.0
            else:
                np.testing.assert_allclose(part.value(theta), omega.value(whole), rtol=1e-12)
            if not isinstance(omega, NonIsotropic):
                np.testing.assert_allclose(part.conjugate(theta), omega.conjugate(whole), rtol=1e-9)


@pytest.mark.parametrize(
    ("omega", "name"),
    [(WeightedLpNorm(2, W), "weights"), (Ball(W, 1.0), "center"), (NonIsotropic(NEAR), "E")],
)
def test_arrays_of_the_wrong_size_are_refused_by_name(omega, name):
    for call in (lambda: omega.restrict(np.arange(4), 4), lambda: omega.start(4)):
        with pytest.raises(ValueError, match=f"{name} has 5 entries, but there are 4 kernels"):
            call()


@pytest.mark.parametrize("p", [0.5, np.nan, -1, True])
def test_bad_p_is_refused_by_name(p):
    with pytest.raises(ValueError, match="p=.* must be a number with 1 <= p <= inf"):
        regularizers.get(p)


@pytest.mark.parametrize("p", ["l1", None, [1, 2], 1j, "2"])
def test_what_is_no_regularizer_is_refused_by_name(p):
    with pytest.raises(ValueError, match="regularizer=.*1 <= p <= inf"):
        regularizers.get(p)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: ElasticNet(1.5), "v=1.5 must be a number with 0 <= v <= 1"),
        (lambda: ElasticNet(np.nan), "v=nan must"),
        (lambda: MixedNorm(0.5, 0.5), "p=0.5 must"),
        (lambda: MixedNorm(0.5, np.inf), "p=inf must be a number with 1 <= p < inf"),
        (lambda: Entropy(0), "lam=0 must be a number with 0 < lam < inf"),
        (lambda: Entropy("1"), "lam='1' must"),
        (lambda: BlockElasticNet(-0.1), "lam=-0.1 must be a number with 0 <= lam <= 1"),
        (lambda: LpPenalty(2, 0), "mu=0 must"),
        (lambda: LpPenalty(0.9, 1), "p=0.9 must"),
        (lambda: LpSum(np.inf), "p=inf must be a number with 1 <= p < inf"),
        (lambda: BlockNorm(1.5), "q=1.5 must be a number with 2 <= q < inf"),
        (lambda: BlockSum(np.inf), "q=inf must"),
        (lambda: WeightedLpNorm(2, [1, 0]), r"weights=\[1, 0\] must be an array"),
        (lambda: WeightedLpNorm(2, "ab"), "weights='ab' must"),
        (lambda: Ball([1, -1], 1), r"center=\[1, -1\] must"),
        (lambda: Ball([1, 1], 0), "radius=0 must"),
        (lambda: NonIsotropic([[1, 2], [2, 1]]), "E must be positive definite.*-1 to 3; add to its diagonal"),
        (lambda: NonIsotropic([[1, 2], [0, 1]]), "E must be symmetric"),
        (lambda: NonIsotropic([1, 2]), r"E=\[1, 2\] must be a finite \(M, M\) matrix"),
        (lambda: NonIsotropic([[1, np.nan], [np.nan, 1]]), "E=.* must be a finite"),
        (lambda: NonIsotropic.from_alignments(np.ones((2, 3, 3))), "E must be positive definite"),
        (lambda: Separable(lambda x: x**1.5), r"g must be concave.*BlockNorm\(q\)"),
        (lambda: Separable(lambda x: x**0.25), "convex in t"),
        (lambda: Separable(lambda x: -x), "increasing"),
        (lambda: Separable(3.0), "g must be a function"),
    ],
)
def test_bad_parameters_are_refused_by_name(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_get_takes_a_number_or_an_instance():
    omega = LpNorm(2)
    assert regularizers.get(omega) is omega
    assert regularizers.get(2) == regularizers.get(np.float32(2)) == omega
