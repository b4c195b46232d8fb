"""Empirical-Bayes weights: stationary points of the marginal likelihood, and Gaussian-process predictions."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning

import manykernels
from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, losses
from manykernels.banks import DenseBank
from manykernels.inspect import weights_table
from manykernels.kernels import RBF, Linear
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes, GammaPrior, LpNorm, Prior
from manykernels.solvers import solve

GAMMAS = (0.05, 0.5, 5.0)


def minus_log_p(theta, noise, S, y, w=None):
    """−log N(y; 0, noise/w + Σθ_m S_m), the observations of weight w being w copies."""
    w = np.ones(len(y)) if w is None else w
    K = np.tensordot(theta, S, 1) + np.diag(noise / w)
    copies = 0.5 * np.sum((w - 1) * np.log(2 * np.pi * noise) + np.log(w))
    return 0.5 * y @ np.linalg.solve(K, y) + 0.5 * np.linalg.slogdet(2 * np.pi * K)[1] + copies


@pytest.fixture(scope="module")
def data():
    """Draws of the model itself: one column matters, the noise is 0.09."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(150, 3))
    S = np.array([RBF(gamma=g)(X[:, [j]]) for j in range(3) for g in GAMMAS])
    f = np.linalg.cholesky(2 * S[1] + 1e-9 * np.eye(150)) @ rng.normal(size=150)
    return X, S, f + 0.3 * rng.normal(size=150) + 4


def problem(data, regularizer, c=1.0, intercept=True, Y=None):
    _, S, y = data
    return Problem(DenseBank.from_scaled(S, list("abcdefghi")), y if Y is None else Y, losses.Squared(), regularizer, c,
                   intercept)  # fmt: skip


class HalfNormal(Prior):
    """h(θ) = ½ rate ‖θ‖², whose curvature it leaves unsaid."""

    def __init__(self, rate):
        self.rate = rate

    def value(self, theta):
        return 0.5 * self.rate * float(theta @ theta)

    def gradient(self, theta):
        return self.rate * theta


@pytest.mark.parametrize("prior", [None, GammaPrior(1, 2.0), GammaPrior(1.5, 0.5), HalfNormal(3.0)], ids=repr)
@pytest.mark.parametrize("noise", ["learn", 0.2, None])
def test_it_ends_at_a_stationary_point_by_finite_differences(data, noise, prior):
    _, S, y = data
    found = solve(problem(data, EmpiricalBayes(noise, prior)), tol=1e-6)
    assert found.converged and found.stationarity <= 1e-6 and np.isnan(found.gap)
    y, at = y - y.mean(), found.noise
    assert found.b == pytest.approx(data[2].mean())

    def objective(theta, noise):
        return minus_log_p(theta, noise, S, y) + (prior.value(theta) if prior else 0.0)

    assert found.primal == pytest.approx(objective(found.theta, at), rel=1e-10)
    assert found.log_marginal_likelihood == pytest.approx(-minus_log_p(found.theta, at, S, y), rel=1e-10)
    total = found.theta.sum() + at  # the kernels have unit diagonals
    for m, weight in enumerate(found.theta):
        h = 1e-5 * max(weight, 1e-3)
        up, down = (found.theta + sign * h * np.eye(1, 9, m)[0] for sign in (1, -1 if weight > h else 0))
        slope = (objective(up, at) - objective(down, at)) / (up - down)[m] * total * 2 / len(y)
        assert abs(slope) < 1e-4 if weight > h else slope > -1e-4
    if noise == "learn":
        slope = (objective(found.theta, at * 1.00001) - objective(found.theta, at / 1.00001)) / (2e-5 * at)
        assert abs(slope * total * 2 / len(y)) < 1e-4


def test_one_step_is_mackays_update(data):
    _, S, y = data
    before, after = (solve(problem(data, EmpiricalBayes("learn")), tol=1e-12, max_iter=k) for k in (2, 3))
    assert before.n_iter == 2  # the start and one step
    theta = np.full(9, 0.5 * y.var() / 9)
    noise = 0.5 * y.var()
    inverse = np.linalg.inv(np.tensordot(theta, S, 1) + noise * np.eye(150))
    a = inverse @ (y - y.mean())
    expected = theta * np.einsum("i,mij,j->m", a, S, a) / np.einsum("ij,mij->m", inverse, S)
    assert_allclose(before.theta, expected, rtol=1e-9)
    assert before.noise == pytest.approx(noise * (a @ a) / np.trace(inverse), rel=1e-9)
    assert after.primal < before.primal < before.history[0]["primal"]


def test_outputs_that_share_weights_add_up_their_likelihoods(data):
    _, S, y = data
    Y = np.stack([y, np.roll(y, 3)])
    found = solve(problem(data, EmpiricalBayes("learn"), Y=Y, intercept=False), tol=1e-6)
    values = [minus_log_p(found.theta, found.noise, S, row) for row in Y]
    assert found.log_marginal_likelihood == pytest.approx(-sum(values), rel=1e-10) and found.stationarity <= 1e-6
    K = np.tensordot(found.theta, S, 1) + found.noise * np.eye(150)
    assert_allclose(found.a @ K, Y, atol=1e-7)


def test_kernels_that_do_not_fit_in_memory_are_read_again(data):
    X, _, y = data
    options = dict(
        kernels=[RBF(gamma=g) for g in GAMMAS], loss="squared", regularizer=EmpiricalBayes("learn"), n_jobs=1
    )
    whole, small = (MKLRegressor(memory_limit=limit, **options).fit(X, y) for limit in (None, 10**6))
    assert 3 * 8 * 150**2 > 10**6 // 2  # so it does not fit
    assert_allclose(small.kernel_weights_, whole.kernel_weights_, atol=1e-9)


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
def test_classes_save_load_and_tables(multi_class, tmp_path):
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(
        [RBF(gamma=0.3), Linear()], regularizer=EmpiricalBayes("learn", GammaPrior(1, 1)), loss="squared",
        multi_class=multi_class,
    ).fit(X, y)  # fmt: skip
    assert model.score(X, y) > 0.93 and np.isnan(model.duality_gap_) and model.stationarity_ <= model.tol
    assert np.shape(model.noise_) == ((3,) if multi_class == "ovr" else ())
    assert model.history_[-1]["stationarity"] <= model.tol and weights_table(model).row_count >= 1
    model.save(tmp_path / "model.mk")
    loaded = manykernels.load(tmp_path / "model.mk")
    assert loaded.get_params()["regularizer"] == model.regularizer
    assert loaded.log_marginal_likelihood_ == model.log_marginal_likelihood_
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    plain = model.set_params(regularizer=2).fit(X, y)
    assert not hasattr(plain, "noise_") and not hasattr(plain, "stationarity_") and plain.duality_gap_ <= plain.tol


def test_warm_start_and_non_convergence(data):
    X, _, y = data
    model = MKLRegressor([RBF(gamma=g) for g in GAMMAS], regularizer=EmpiricalBayes("learn"), loss="squared", tol=1e-6)
    cold = clone(model).fit(X, y)
    warm = clone(model).set_params(warm_start=True, verbose=True).fit(X, y)
    assert warm.fit(X, y).n_iter_ < cold.n_iter_ and warm.objective_ == pytest.approx(cold.objective_, rel=1e-9)
    with pytest.warns(ConvergenceWarning, match="stationarity of .* raise max_iter"):
        clone(model).set_params(max_iter=2).fit(X, y)


def test_partners_are_refused_with_the_reason(data):
    X, _, y = data
    for noise in (0.1, "learn"):
        with pytest.raises(ValueError, match=r"noise=.* and C=2.0 both"):
            MKLRegressor([RBF(gamma=1)], regularizer=EmpiricalBayes(noise), loss="squared", C=2.0).fit(X, y)
    assert MKLRegressor([RBF(gamma=1)], regularizer=EmpiricalBayes(), loss="squared", C=5.0).fit(X, y).noise_ == 0.1
    with pytest.raises(ValueError, match="squared loss only"):
        MKLRegressor([RBF(gamma=1)], regularizer=EmpiricalBayes(), solver="mackay", loss="huber").fit(X, y)
    with pytest.raises(ValueError, match="squared loss only.*one_class"):
        MKLOneClass([RBF(gamma=1)], regularizer=EmpiricalBayes(0.1)).fit(X)
    with pytest.raises(ValueError, match="squared loss only.*epsilon_insensitive"):
        bank = DenseBank.from_scaled(data[1], list("abcdefghi"))
        solve(Problem(bank, y, losses.EpsilonInsensitive(), EmpiricalBayes()), solver="mackay")
    indefinite = np.stack([RBF(gamma=1)(X) - 0.5 * np.eye(150)], axis=2)
    with pytest.warns(UserWarning, match="semidefinite"), pytest.raises(ValueError, match="positive definite at noise"):
        MKLRegressor("precomputed", regularizer=EmpiricalBayes(1e-3), loss="squared").fit(indefinite, y)
    with pytest.raises(ValueError, match="EmpiricalBayes.*not convex"):
        MKLRegressor([RBF(gamma=1)], regularizer=EmpiricalBayes(), loss="squared", solver="newton").fit(X, y)
    with pytest.raises(ValueError, match="mackay.*LpNorm"):
        solve(problem(data, LpNorm(2)), solver="mackay")
    with pytest.raises(ValueError, match="y is constant"):
        solve(problem(data, EmpiricalBayes("learn"), Y=np.ones(150)))
    assert solve(problem(data, EmpiricalBayes(1.0), Y=np.ones(150))).theta.max() < 1e-2


@pytest.mark.parametrize("noise", [0, -1.0, "yes", np.inf, np.nan, True])
def test_noise_outside_its_range(noise):
    with pytest.raises(ValueError, match="noise="):
        EmpiricalBayes(noise)


def test_bad_priors():
    with pytest.raises(ValueError, match="prior=3"):
        EmpiricalBayes(prior=3)
    with pytest.raises(ValueError, match="prior=LpNorm.*must be a Prior"):
        EmpiricalBayes(prior=LpNorm(1))
    with pytest.raises(ValueError, match="shape=0.5"):
        GammaPrior(0.5)
    with pytest.raises(ValueError, match="rate=-1"):
        GammaPrior(1, -1)


def test_the_gamma_priors_derivatives():
    theta, h = np.array([0.3, 2.0]), 1e-4
    for prior in (GammaPrior(1, 0.7), GammaPrior(2.5, 0.7)):
        for m in range(2):
            step = h * np.eye(2)[m]
            up, at, down = (prior.value(theta + s * step) for s in (1, 0, -1))
            assert prior.gradient(theta)[m] == pytest.approx((up - down) / (2 * h), rel=1e-5)
            assert prior.curvature(theta)[m] == pytest.approx((up - 2 * at + down) / h**2, abs=1e-4)


def test_a_constant_is_refused_whatever_its_weighted_mean_rounds_to(data):
    """The mean was off in the last digit, and that was learned from as if it were y's variance."""
    weight = np.random.default_rng(0).uniform(0.5, 70, 150)
    for value in -279226.05296878 - 0.1 * np.arange(20):
        with pytest.raises(ValueError, match="y is constant"):
            solve(problem(data, EmpiricalBayes("learn"), weight, Y=np.full(150, value)))


def test_no_rounding_of_a_dual_value_is_asked_for_where_there_is_no_dual(data):
    """Large dual variables made the diagnosis look for Ω*."""
    found = solve(problem(data, EmpiricalBayes("learn"), Y=data[2] * 1e-12))
    assert found.converged and np.isfinite(found.log_marginal_likelihood)
