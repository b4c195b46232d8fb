"""What the papers prove about the regularizers holds on data, and in numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from manykernels import losses
from manykernels.banks.dense import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import (
    BlockElasticNet,
    BlockNorm,
    BlockSum,
    ElasticNet,
    LpNorm,
    LpPenalty,
    LpSum,
    MixedNorm,
    NonIsotropic,
    Separable,
    WeightedLpNorm,
)
from manykernels.solvers import solve
from problems import small_problem

rng = np.random.default_rng(0)
X = rng.normal(size=(40, 4))
KS = np.array([rbf_kernel(X[:, columns], gamma=0.5) for columns in ([0], [1], [2], [3], [0, 1, 2, 3])])
REAL = np.sin(2 * X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=40)
BINARY = np.where(REAL + 0.3 * rng.normal(size=40) > 0, 1.0, -1.0)
M = len(KS)
SQ_NORMS = rng.exponential(size=(20, M)) ** 2


class Fit:
    """The solution of a problem on these kernels: objective, weights, predictor and norms ‖f_m‖."""

    def __init__(self, regularizer, C=1.0, loss="hinge", Ks=KS, tol=1e-9, solver="auto"):
        y = BINARY if losses.get(loss).targets == "binary" else REAL
        bank = DenseBank(np.moveaxis(np.asarray(Ks), 0, -1), normalize=None)
        solution = solve(Problem(bank, y, losses.get(loss), regularizer, C), solver, tol=tol, max_iter=2000)
        assert solution.gap <= 10 * tol
        a = solution.a[0]
        self.objective, self.theta = solution.primal, solution.theta
        self.f = np.einsum("m,mij,j->i", self.theta, Ks, a) + solution.b[0]
        self.q = np.einsum("i,mij,j->m", a, Ks, a)
        self.norms = self.theta * np.sqrt(self.q)
        self.risk = C * losses.get(loss).value(y, self.f).sum()


def assert_same(one, other, weights=True):
    assert one.objective == pytest.approx(other.objective, rel=1e-7)
    assert_allclose(one.f, other.f, atol=1e-3)
    if weights:
        assert_allclose(one.theta, other.theta, atol=1e-3)


@pytest.mark.parametrize("q", [2.5, 3, 6])
def test_table_1_block_norms_above_two_are_a_maximum_over_the_weights(q):
    """½ Σ x/θ + ½ h(θ) with h = −((q−2)/q) Σ θ^{−q/(q−2)} is largest, not smallest, at θ = ‖f‖^{2−q}."""

    def objective(x, theta):
        return np.sum(0.5 * x / theta - (q - 2) / (2 * q) * theta ** (-q / (q - 2)))

    for x in SQ_NORMS + 0.1:
        best = x ** (1 - q / 2)
        value = BlockSum(q).block_norm(x)
        assert objective(x, best) == pytest.approx(value, rel=1e-10)
        assert all(objective(x, best * np.exp(0.3 * rng.normal(size=M))) <= value * (1 + 1e-12) for _ in range(20))
        # f = θ g with g the slope of the block norm
        slope = np.sqrt(x) ** (q - 1)
        assert_allclose(BlockSum(q).weights_from_dual(0.5 * slope**2), best, rtol=1e-9)
        scaled = np.sum(x ** (q / 2)) ** ((q - 2) / q) * best
        slope = np.sqrt(x) ** (q - 1) * np.sum(x ** (q / 2)) ** (2 / q - 1)
        assert_allclose(BlockNorm(q).weights_from_dual(0.5 * slope**2), scaled, rtol=1e-9)


@pytest.mark.parametrize("loss", ["hinge", "logistic", "squared"])
@pytest.mark.parametrize(
    ("one", "other"),
    [
        (ElasticNet(1), LpNorm(1)),
        (ElasticNet(0), LpNorm(2)),
        (MixedNorm(0.4, 2), ElasticNet(0.4)),
        (MixedNorm(0, 3), LpNorm(3)),
        (WeightedLpNorm(1.5, np.ones(M)), LpNorm(1.5)),
        (NonIsotropic(np.eye(M)), LpNorm(2)),
        (NonIsotropic(np.diag([1.0, 4, 1, 9, 1])), WeightedLpNorm(2, [1, 1 / 4, 1, 1 / 9, 1])),
        (BlockElasticNet(1), LpNorm(np.inf)),
        (BlockNorm(2), LpNorm(np.inf)),
        (BlockElasticNet(0), LpSum(1)),
        (LpPenalty(2, 0.5), LpSum(2)),
        (Separable(lambda x: 0.6 * np.sqrt(x) + 0.2 * x), BlockElasticNet(0.4)),
    ],
    ids=lambda omega: repr(omega)[:30],
)
def test_special_cases_coincide(one, other, loss):
    assert_same(Fit(one, loss=loss, tol=1e-8), Fit(other, loss=loss, tol=1e-8))


def test_alignments_of_kernels_follow_their_definition():
    stack = KS + 0.1 * np.eye(40)
    E = NonIsotropic.from_alignments(stack).E
    for i in range(M):
        for j in range(M):
            norms = np.linalg.norm(stack[i]) * np.linalg.norm(stack[j])
            assert E[i, j] == pytest.approx(np.sum(stack[i] * stack[j]) / norms)
    H = np.eye(40) - 1 / 40
    centred = NonIsotropic.from_alignments(DenseBank(np.moveaxis(stack, 0, -1), normalize=None), centered=True).E
    assert centred[0, 1] == pytest.approx(NonIsotropic.from_alignments(H @ stack @ H).E[0, 1], rel=1e-6)
    ridge = NonIsotropic.from_alignments(np.concatenate([stack, stack[:1]]), ridge=0.1)
    assert ridge.E[0, 0] == pytest.approx(1.1) and ridge.E[0, 5] == pytest.approx(1)


def test_a_block_norm_that_grows_like_the_norm_but_starts_flat_has_an_honest_gap():
    """g = sqrt(1 + x): the conjugate is finite up to a limit, but not 0 there."""
    omega = Separable(lambda x: np.sqrt(1 + x), lambda x: 0.5 / np.sqrt(1 + x))
    for s in (0.01, 0.3, 0.49):
        assert omega.conjugate(np.array([s])) == pytest.approx(-np.sqrt(1 - 2 * s), abs=1e-6)
    problem, *_ = small_problem("hinge", omega, n=30)
    best = [solve(problem, name, tol=1e-4) for name in ("newton", "analytic", "chunking", "spicy")]
    assert all(s.converged and s.dual <= min(t.primal for t in best) + 1e-9 for s in best)


@pytest.mark.parametrize("size", [1.0, 1e120, 1e250])
def test_the_minimum_within_an_ellipsoid_may_be_so_near_0_that_its_square_is_none(size):
    """argmin ½ size ‖x‖² − Σx lies at 1/size, or on the ball."""
    regularizer = NonIsotropic(np.eye(2))
    model = Quadratic(size * np.eye(2), -np.ones(2))
    found = regularizer.minimise(model, np.zeros(2), 1e-12)
    assert_allclose(found, np.minimum(1 / size, np.sqrt(0.5)), rtol=1e-6)


class Quadratic:
    """½ xᵀHx + gradientᵀx about 0."""

    def __init__(self, H, gradient):
        self.H, self.gradient = H, gradient

    def block(self, index):
        return self.H[np.ix_(index, index)]
