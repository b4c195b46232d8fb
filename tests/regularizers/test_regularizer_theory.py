"""What the papers prove about the regularizers holds on data, and in numbers."""

import numpy as np
import pytest
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from manykernels import losses
from manykernels.banks.dense import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import (
    Ball,
    BlockElasticNet,
    BlockNorm,
    BlockSum,
    ElasticNet,
    Entropy,
    Fixed,
    LpNorm,
    LpPenalty,
    LpSum,
    MixedNorm,
    NonIsotropic,
    Separable,
    Wedge,
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
WEIGHTS = rng.exponential(size=(20, M))


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


TABLE_1 = {  # Tomioka & Suzuki (2011): the regularizer, g, half of the table's h, the best weights
    "block 1-norm": (LpSum(1), np.sqrt, lambda d: d / 2, np.sqrt),
    "ℓp-norm, p = 1.5": (LpSum(1.5), lambda x: 2.5 / 3 * x**0.6, lambda d: d**1.5 / 3, lambda x: x**0.4),
    "ℓp-norm, p = 4": (LpSum(4), lambda x: 5 / 8 * x**0.8, lambda d: d**4 / 8, lambda x: x**0.2),
    "uniform weights": (BlockElasticNet(1), lambda x: x / 2, lambda d: np.where(d <= 1, 0, np.inf), np.ones_like),
    "elastic net": (
        BlockElasticNet(0.3),
        lambda x: 0.7 * np.sqrt(x) + 0.15 * x,
        lambda d: np.divide(0.245 * d, 1 - 0.3 * d, out=np.full_like(d, np.inf), where=0.3 * d < 1),
        lambda x: np.sqrt(x) / (0.7 + 0.3 * np.sqrt(x)),
    ),
}


@pytest.mark.parametrize("row", TABLE_1)
def test_table_1_from_the_weights_to_the_block_norm(row):
    omega, g, h, best = TABLE_1[row]
    for theta in WEIGHTS:
        assert omega.value(theta) == pytest.approx(h(theta).sum())
    for x in SQ_NORMS:
        assert omega.block_norm(x) == pytest.approx(g(x).sum(), rel=1e-12)
        assert_allclose(omega.weights_from_norms(np.sqrt(x)), best(x), rtol=1e-12)


@pytest.mark.parametrize("row", TABLE_1)
def test_table_1_from_the_block_norm_to_the_weights(row):
    member, g, h, best = TABLE_1[row]
    omega = Separable(g)
    assert omega.finite_conjugate == member.finite_conjugate
    for theta in WEIGHTS:
        assert omega.value(theta) == pytest.approx(h(theta).sum(), rel=1e-8, abs=1e-8)
        assert_allclose(omega.prox(theta - 0.2, 0.7), member.prox(theta - 0.2, 0.7), rtol=1e-6, atol=1e-8)
    for x in SQ_NORMS:
        assert omega.block_norm(x) == pytest.approx(member.block_norm(x), rel=1e-12)
        assert_allclose(omega.weights_from_norms(np.sqrt(x)), best(x), rtol=1e-8)
        s = x if member.finite_conjugate else 0.5 * x / x.max()
        assert omega.conjugate(s) == pytest.approx(member.conjugate(s), rel=1e-8, abs=1e-8)


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


def test_wedge_is_the_supremum_of_corollary_6():
    """g(x) = sup over η ≥ 0 of Σ √((1 + η_{m−1} − η_m) x_m), η_0 = η_M = 0, attained where the share is x_m/θ_m²."""

    def objective(x, eta):
        share = 1 + np.concatenate([[0], eta]) - np.concatenate([eta, [0]])
        return np.sum(np.sqrt(share * x)) if share.min() >= 0 else -np.inf

    for x in SQ_NORMS:
        theta = Wedge().weights_from_norms(np.sqrt(x))
        eta = np.cumsum(1 - x / theta**2)
        assert eta.min() >= -1e-9 and eta[-1] == pytest.approx(0, abs=1e-9)
        best = Wedge().block_norm(x)
        assert objective(x, np.maximum(eta[:-1], 0)) == pytest.approx(best, rel=1e-6)
        others = eta[:-1] + rng.exponential(size=(50, M - 1)) * 10 ** rng.uniform(-3, 0, size=(50, 1))
        assert all(objective(x, other) <= best * (1 + 1e-12) for other in others)


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


@pytest.mark.parametrize("lam", [1.0, 0.1, 0.01, 1e-4])
def test_entropy_is_within_its_smoothing_error_of_the_simplex(lam):
    """−(lam/2) ln M ≤ Ω ≤ 0 on the simplex."""
    simplex, smooth = Fit(LpNorm(1)), Fit(Entropy(lam))
    assert simplex.objective - 0.5 * lam * np.log(M) <= smooth.objective <= simplex.objective * (1 + 1e-8)
    assert_allclose(smooth.theta, simplex.theta, atol=max(3 * lam, 2e-3))


@pytest.mark.parametrize("p", [1, 1.5, 2, 4])
@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_penalty_and_constraint_have_the_same_predictors(p, loss):
    """Kloft et al. (2011), Theorem 1, in both directions."""
    penalty = LpPenalty(p, 0.7)
    one = Fit(penalty, 1.3, loss)
    C, ball = penalty.to_constraint(1.3, one.theta)
    other = Fit(ball, C, loss)
    assert ball == LpNorm(p)
    assert_allclose(other.f, one.f, atol=1e-3)
    assert_allclose(other.theta * np.sum(one.theta**p) ** (1 / p), one.theta, atol=2e-3)
    assert penalty.from_constraint(C, other.norms) == pytest.approx(1.3, rel=1e-4)


@pytest.mark.parametrize("p", [1, 1.5, 3])
def test_the_sum_of_powers_is_the_lp_norm_at_another_cost(p):
    """(1/r) Σ‖f‖^r and ½ (Σ‖f‖^r)^{2/r}, r = 2p/(p+1), have parallel gradients."""
    r = 2 * p / (p + 1)
    one = Fit(LpSum(p), 2.0, "squared")
    other = Fit(LpNorm(p), 2.0 * np.sum(one.norms**r) ** (2 / r - 1), "squared")
    assert_allclose(other.f, one.f, atol=1e-3)


@pytest.mark.parametrize("p", [1, 4 / 3, 2, np.inf])
def test_lp_norm_is_the_block_norm_of_its_predictor(p):
    fit, q = Fit(LpNorm(p)), 2.0 if p == np.inf else 2 * p / (p + 1)
    block = 0.5 * np.sum(fit.norms**q) ** (2 / q)
    assert fit.objective == pytest.approx(fit.risk + block, rel=1e-6)
    assert LpNorm(p).block_norm(fit.norms**2) == pytest.approx(block, rel=1e-10)


@pytest.mark.parametrize("omega", [ElasticNet(0.5), ElasticNet(0.9), Entropy(0.1), LpNorm(1.2), LpPenalty(1.5, 1.0)])
def test_copies_of_a_kernel_share_their_weight(omega):
    fit = Fit(omega, Ks=np.concatenate([KS, KS[:1], KS[4:]]), tol=1e-8)
    assert_allclose(fit.theta[5:], fit.theta[[0, 4]], atol=1e-3)
    assert fit.theta[4] > 0.1


def test_copies_of_a_kernel_leave_the_simplex_as_it_is():
    """Only the sum of their weights is determined."""
    one, both = Fit(LpNorm(1)), Fit(LpNorm(1), Ks=np.concatenate([KS, KS[4:]]))
    assert one.objective == pytest.approx(both.objective, rel=1e-8)
    assert_allclose(one.f, both.f, atol=1e-3)
    assert both.theta[4] + both.theta[5] == pytest.approx(one.theta[4], abs=1e-3)


@pytest.mark.parametrize("v", [0.2, 0.6, 0.9])
def test_elastic_net_weights_are_those_of_equation_18(v):
    """Yang et al. (2011), Theorem 2: θ = (q/(2λ) − v)₊ / (2(1−v)) for one λ, which leaves some kernels out."""
    fit = Fit(ElasticNet(v), loss="squared", tol=1e-10)
    top = np.argmax(fit.theta)
    lam = 0.5 * fit.q[top] / (2 * (1 - v) * fit.theta[top] + v)
    assert_allclose(fit.theta, np.maximum(0.5 * fit.q / lam - v, 0) / (2 * (1 - v)), atol=1e-4)
    assert v < 0.5 or fit.theta.min() == 0


def test_similar_kernels_get_similar_weights_under_the_elastic_net():
    """|θ_i − θ_j| shrinks with the distance of the kernels; on the simplex one may take it all."""
    spread = []
    for distance in (0.3, 0.03, 0.003):
        near = (1 - distance) * KS[0] + distance * KS[3]
        theta = Fit(ElasticNet(0.7), Ks=np.concatenate([KS[:3], near[None]]), tol=1e-8).theta
        spread.append(abs(theta[0] - theta[3]))
    assert spread[0] > spread[1] > spread[2] and spread[2] < 0.02 * spread[0]
    assert theta[0] > 0.05


def test_wedge_weights_do_not_rise_and_cost_more_than_free_ones():
    fit = Fit(Wedge(), loss="squared")
    assert np.all(np.diff(fit.theta) <= 1e-9)
    assert fit.objective > Fit(LpSum(1), loss="squared").objective
    assert fit.objective == pytest.approx(fit.risk + Wedge().block_norm(fit.norms**2), rel=1e-6)


def test_a_small_ball_is_its_centre():
    center = np.array([0.5, 1.0, 0.2, 0.3, 2.0])
    ball, point = Fit(Ball(center, 1e-7)), Fit(Fixed(center))
    assert ball.objective == pytest.approx(point.objective, rel=1e-5)
    assert_allclose(ball.theta, center, atol=2e-7)


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
    """Issue 11: argmin ½ size ‖x‖² − Σx lies at 1/size, or on the ball."""
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
