"""The oracle agrees with scikit-learn where that solves the same problem, and with weak duality elsewhere."""

import numpy as np
import pytest
from conic import BLOCKS, LOSSES, WEIGHTS, solve_conic
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.svm import SVC, SVR, OneClassSVM

from manykernels import losses, regularizers

rng = np.random.default_rng(0)
X = rng.normal(size=(30, 3))
KS = np.array([rbf_kernel(X[:, columns], gamma=0.5) for columns in ([0], [1], [0, 1, 2])])
REAL = np.sin(2 * X[:, 0]) + X[:, 1] + 0.2 * rng.normal(size=30)
BINARY = np.where(REAL + 0.5 * rng.normal(size=30) > 0, 1.0, -1.0)
W = rng.integers(1, 4, size=30) / 2
STACKS = pytest.mark.parametrize(("Ks", "p"), [(KS[:1], 2), (KS, np.inf)], ids=["one kernel", "p = inf"])


@STACKS
@pytest.mark.parametrize("w", [None, W], ids=["unweighted", "weighted"])
@pytest.mark.parametrize(
    ("loss", "y", "model", "params"),
    [
        ("hinge", BINARY, SVC, {"C": 2.0}),
        ("epsilon_insensitive", REAL, SVR, {"C": 2.0, "epsilon": 0.2}),
        ("one_class", np.zeros(30), OneClassSVM, {"nu": 0.3}),
    ],
    ids=["SVC", "SVR", "OneClassSVM"],
)
def test_equals_support_vector_machine(loss, y, model, params, w, Ks, p):
    K = Ks.sum(axis=0)
    peer = model(kernel="precomputed", tol=1e-10, **params).fit(K, y, sample_weight=w)
    scale = 1 / (params["nu"] * (30 if w is None else w.sum())) if loss == "one_class" else 1.0
    a = np.zeros(30)
    a[peer.support_] = scale * np.ravel(peer.dual_coef_)
    f = K @ a
    ours = solve_conic(Ks, y, loss, p, sample_weight=w, **params)
    np.testing.assert_allclose(ours["f"], f, atol=1e-5)
    V = losses.get(loss, **{k: v for k, v in params.items() if k == "epsilon"})
    c = np.ones(30) if w is None else w
    c = c / (params["nu"] * c.sum()) if loss == "one_class" else params["C"] * c
    b = V.intercept(y, f, c)
    assert ours["objective"] == pytest.approx(0.5 * a @ f + c @ V.value(y, f + b) + V.total * b, rel=1e-6)


@STACKS
def test_equals_kernel_ridge(Ks, p):
    K = Ks.sum(axis=0)
    peer = KernelRidge(alpha=1 / (2 * 3.0), kernel="precomputed").fit(K, REAL)
    ours = solve_conic(Ks, REAL, "squared", p, C=3.0, intercept=False)
    np.testing.assert_allclose(ours["f"], peer.predict(K), atol=1e-6)
    assert ours["b"] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("p", [1, 1.1, 2, 16, np.inf])
@pytest.mark.parametrize("loss", ["squared_hinge", "smooth_hinge", "logistic", "squared", "huber"])
def test_smooth_losses_are_certified_by_weak_duality(loss, p):
    V, y = losses.get(loss), BINARY if losses.get(loss).targets == "binary" else REAL
    ours, c = solve_conic(KS, y, loss, p, C=2.0, sample_weight=W), 2.0 * W
    a = -c * V.gradient(y, ours["f"] + ours["b"])
    a = np.clip(a - a.mean(), *V.box(y, c))
    assert abs(a.sum()) < 1e-4
    dual = -V.dual_value(y, c, a) - regularizers.get(p).conjugate(0.5 * np.einsum("i,mij,j->m", a, KS, a))
    assert ours["objective"] == pytest.approx(dual - ours["b"] * a.sum(), rel=2e-6)


@pytest.mark.parametrize("p", [1, 4 / 3, 4, np.inf])
@pytest.mark.parametrize("loss", LOSSES)
def test_weights_are_feasible_and_no_others_are_better(loss, p):
    y = {"binary": BINARY, "count": np.round(np.exp(REAL))}.get(losses.get(loss).targets, REAL)
    best = solve_conic(KS, y, loss, p)
    theta = best["theta"]
    assert regularizers.get(p).value(theta) == 0
    at_theta = solve_conic([np.tensordot(theta, KS, 1)], y, loss, np.inf)
    assert at_theta["objective"] == pytest.approx(best["objective"], rel=1e-6)
    other = regularizers.get(p).weights_from_norms(theta + 0.1)
    assert solve_conic([np.tensordot(other, KS, 1)], y, loss, np.inf)["objective"] >= best["objective"] - 1e-7


@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_shared_weights_of_equal_outputs_double_one_output(loss):
    """min_θ 2 Σ_m ‖f_m‖²/θ_m: two equal outputs cost twice one output."""
    one = solve_conic(KS, BINARY, loss, 2)
    two = solve_conic(KS, np.array([BINARY, -BINARY]), loss, 2)
    assert two["objective"] == pytest.approx(2 * one["objective"], rel=1e-7)
    np.testing.assert_allclose(two["theta"], one["theta"], atol=1e-4)
    np.testing.assert_allclose(two["f"], [one["f"], -one["f"]], atol=1e-4)
    assert two["b"].shape == (2,)


OMEGAS = [
    regularizers.ElasticNet(0.6),
    regularizers.MixedNorm(0.4, 3),
    regularizers.MixedNorm(0.4, 1.3),
    regularizers.WeightedLpNorm(1, [0.5, 1, 2]),
    regularizers.WeightedLpNorm(1.5, [0.5, 1, 2]),
    regularizers.GroupNorm([0, 1, 0]),
    regularizers.GroupNorm([0, 1, 0], 1.5),
    regularizers.Ball([0.5, 1, 2], 0.7),
    regularizers.NonIsotropic(np.eye(3) - 0.3),
    regularizers.Fixed([0.5, 1, 2]),
    regularizers.Entropy(0.5),
    regularizers.LpPenalty(1, 2.0),
    regularizers.LpPenalty(1.5, 0.3),
    regularizers.LpPenalty(np.inf, 1.0),
    regularizers.LpSum(1),
    regularizers.LpSum(1.3),
    regularizers.LpSum(3),
    regularizers.Wedge(),
    regularizers.BlockElasticNet(0),
    regularizers.BlockElasticNet(0.4),
    regularizers.BlockElasticNet(1),
    regularizers.BlockNorm(3),
    regularizers.BlockSum(3),
]


def test_every_regularizer_of_the_oracle_is_here():
    assert {type(omega).__name__ for omega in OMEGAS} == {*WEIGHTS, *BLOCKS}


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("omega", OMEGAS, ids=lambda omega: repr(omega)[:40])
def test_regularizers_are_certified_by_weak_duality_and_stationary_weights(omega, loss):
    """The dual point of the oracle's predictor closes the gap, and its weights at fixed θ give the same objective."""
    V, y = losses.get(loss), BINARY if loss == "logistic" else REAL
    ours = solve_conic(KS, y, loss, omega, C=2.0)
    a = -2.0 * V.gradient(y, ours["f"] + ours["b"])
    a -= a.mean()
    s = 0.5 * np.einsum("i,mij,j->m", a, KS, a)
    t = omega.shrink(s)
    dual = -V.dual_value(y, 2.0, t * a) - omega.conjugate(t**2 * s)
    assert ours["objective"] == pytest.approx(dual, rel=1e-5)
    theta = ours["theta"]
    if omega.has("prox"):  # rounding may leave weights a little outside their domain
        theta = omega.prox(theta, 1e-9)
        np.testing.assert_allclose(theta, ours["theta"], atol=1e-5)
    norms, value = omega.penalty(theta, 2 * s)
    f = np.einsum("m,mij,j->i", theta, KS, a)
    np.testing.assert_allclose(f, ours["f"], atol=2e-3)
    primal = 2.0 * V.value(y, f + ours["b"]).sum() + norms + value
    assert ours["objective"] * (1 - 1e-6) <= primal <= ours["objective"] * (1 + 1e-4)


@pytest.mark.parametrize(
    ("omega", "p"), [(regularizers.LpNorm(1.5), 1.5), (regularizers.ElasticNet(1), 1), (regularizers.ElasticNet(0), 2)]
)
def test_regularizers_that_are_an_lp_norm_agree_with_the_number(omega, p):
    one, other = solve_conic(KS, BINARY, "hinge", omega), solve_conic(KS, BINARY, "hinge", p)
    assert one["objective"] == pytest.approx(other["objective"], rel=1e-7)
    np.testing.assert_allclose(one["f"], other["f"], atol=1e-4)
