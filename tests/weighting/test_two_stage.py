"""Two-stage weights: equal to their formulas on dense matrices, and a certified second stage."""

from dataclasses import replace

import cvxpy
import numpy as np
import pytest
from conic import prove
from covering import covering
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.datasets import load_iris, make_classification, make_regression
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

import manykernels
from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, losses
from manykernels.banks import DenseBank, PairwiseBank
from manykernels.kernels import (
    RBF,
    Constant,
    KernelList,
    Linear,
    Polynomial,
    alignment,
    multiplicative,
    target_alignments,
)
from manykernels.kernels.normalize import centred_products
from manykernels.regularizers import Align, AlignF, BestSingle, EasyMKL, Fixed, Uniform
from manykernels.regularizers.weightings import best_single

KERNELS = [RBF(gamma=0.02), RBF(gamma=0.3), Linear(), Polynomial(degree=2)]
RULES = [Uniform(), Align(), AlignF(), BestSingle(cv=3), EasyMKL(lam=0.2)]


@pytest.fixture(scope="module")
def data():
    X, y = make_classification(60, 5, n_informative=3, random_state=1)
    return X, 2.0 * y - 1, np.array([multiplicative(k(X)) for k in KERNELS])


def weights(rule, S, y, c=1.0, loss=None, **options):
    bank = DenseBank.from_scaled(np.array(S), [f"k{m}" for m in range(len(S))])
    fixed, cost = rule.bind(bank, y, c, loss or losses.Hinge(), **options)
    assert fixed.weights.min() >= 0 and fixed.weights.sum() == pytest.approx(1)
    assert_array_equal(cost, np.broadcast_to(c, cost.shape))
    return fixed.weights


def centred(K):
    H = np.eye(len(K)) - 1 / len(K)
    return H @ K @ H


def test_uniform_is_the_mean_of_the_kernels(data):
    X, y, S = data
    assert_allclose(weights(Uniform(), S, y), 0.25)
    model = MKLClassifier(KERNELS, regularizer=Uniform(), C=2.0, tol=1e-8).fit(X, y)
    peer = SVC(kernel="precomputed", C=2.0, tol=1e-10).fit(S.mean(axis=0), y)
    assert_allclose(model.decision_function(X), peer.decision_function(S.mean(axis=0)), atol=1e-4)
    scaled = MKLClassifier(KERNELS, regularizer=np.inf, C=0.5, tol=1e-8).fit(X, y)  # the sum is four times the mean
    assert_allclose(model.decision_function(X), scaled.decision_function(X), atol=1e-4)


def test_align_is_proportional_to_the_centred_alignments(data):
    _, y, S = data
    rho = [np.vdot(centred(K), np.outer(y, y)) / np.linalg.norm(centred(K)) for K in S]
    assert_allclose(weights(Align(), S, y), rho / np.sum(rho))
    assert_allclose(weights(Align(), S, y), target_alignments(S, y, centered=True) / np.sum(
        target_alignments(S, y, centered=True)))  # fmt: skip
    real = y * np.random.default_rng(0).random(60)
    rho = target_alignments(S, real, centered=True)
    assert_allclose(weights(Align(), S, real, loss=losses.Squared()), rho / rho.sum())
    times = np.exp(real)
    for given in (times, np.where(y > 0, times, -times)):  # of events, and censored ones
        assert_allclose(weights(Align(), S, given, loss=losses.LogTime()), rho / rho.sum())


@pytest.mark.parametrize("near", [None, 0.1, 1e-3], ids=lambda near: f"nearly alike: {near}")
def test_alignf_maximises_the_alignment_of_the_combination(near, data):
    """v = tθ solves min over v ≥ 0 of v'Mv − 2v'a exactly where Mv ≥ a, with equality where v > 0; also where kernels
    are so alike that only their small differences have to do with y."""
    X, y, S = data
    if near is not None:
        S = np.array([*S, (1 - near) * S[0] + near * multiplicative(np.outer(y, y)), S[0] + near * S[2]])
    theta = weights(AlignF(), S, y)
    C = np.array([centred(K) for K in S])
    M, a = np.einsum("kij,lij->kl", C, C), np.einsum("kij,i,j->k", C, y, y)
    v = theta * (theta @ a) / (theta @ M @ theta)  # the best multiple
    slope, size = (M @ v - a) / np.sqrt(np.diag(M)), np.linalg.norm(a / np.sqrt(np.diag(M)))
    assert slope.min() >= -1e-7 * size and np.abs(slope[theta > 0]).max() <= 1e-7 * size

    def value(v):
        return alignment(np.tensordot(v, S, 1), y, centered=True)

    assert value(theta) >= max(value(other) for other in (*np.eye(len(S)), weights(Align(), S, y))) - 1e-12


def test_alignf_with_equal_kernels_and_targets_of_several_outputs(data):
    X, y, S = data
    twice = weights(AlignF(), [*S, S[1]], y)
    assert_allclose(twice[:4] + [0, twice[4], 0, 0], weights(AlignF(), S, y), atol=1e-6)
    Y = np.stack([y, np.sign(X[:, 0])])
    for rule in (Align(), AlignF()):
        theta = weights(rule, S, Y)
        L = Y.T @ Y
        if isinstance(rule, Align):
            rho = [alignment(K, L, centered=True) for K in S]
            assert_allclose(theta, rho / np.sum(rho))
        else:
            value = alignment(np.tensordot(theta, S, 1), L, centered=True)
            nearby = np.maximum(theta + 0.02 * np.random.default_rng(0).normal(size=(200, 4)), 0)
            assert value >= max(alignment(np.tensordot(v, S, 1), L, centered=True) for v in nearby) - 1e-9


def test_easymkl_solves_its_quadratic_program(data):
    _, y, S = data
    for lam in (0.05, 0.5, 1.0):
        gamma = cvxpy.Variable(60, nonneg=True)
        root = np.linalg.cholesky(S.sum(axis=0) + 1e-10 * np.eye(60)).T
        objective = (1 - lam) * cvxpy.sum_squares(root @ cvxpy.multiply(y, gamma)) + lam * cvxpy.sum_squares(gamma)
        sides = [cvxpy.sum(gamma[y > 0]) == 1, cvxpy.sum(gamma[y < 0]) == 1]
        prove(cvxpy.Problem(cvxpy.Minimize(objective), sides))
        d = np.array([(y * gamma.value) @ K @ (y * gamma.value) for K in S])
        assert_allclose(weights(EasyMKL(lam), S, y), d / d.sum(), atol=1e-4)


def test_best_single_has_the_lowest_held_out_loss(data):
    _, y, S = data
    order = np.empty(60, int)
    for label in (-1, 1):
        order[y == label] = np.arange(np.sum(y == label)) % 3
    risk = []
    for K in S:
        total = 0.0
        for k in range(3):
            train, test = np.flatnonzero(order != k), np.flatnonzero(order == k)
            peer = SVC(kernel="precomputed", C=0.7, tol=1e-8).fit(K[np.ix_(train, train)], y[train])
            total += losses.Hinge().value(y[test], peer.decision_function(K[np.ix_(test, train)])).sum()
        risk.append(total)
    assert np.sort(risk)[1] > 1.02 * np.min(risk)  # no tie
    assert_array_equal(weights(BestSingle(cv=3), S, y, c=0.7), np.eye(4)[np.argmin(risk)])


@pytest.mark.parametrize("rule", [r for r in RULES if not isinstance(r, BestSingle)], ids=repr)
def test_weight_k_is_k_copies(rule, data):  # in BestSingle copies fall into other folds
    X, y, _ = data
    weight = np.random.default_rng(0).integers(0, 3, len(X))
    rows = np.repeat(np.arange(len(X)), weight)
    model = MKLClassifier(KERNELS, regularizer=rule, C=3.0, tol=1e-8)
    weighted = clone(model).fit(X, y, sample_weight=weight)
    copied = clone(model).fit(X[rows], y[rows])
    close = 1e-4 if isinstance(rule, EasyMKL) else 1e-6  # its predictor has a gap of 1e-8, which moves a by about √1e-8
    assert_allclose(weighted.kernel_weights_, copied.kernel_weights_, atol=close)
    assert_allclose(weighted.decision_function(X), copied.decision_function(X), atol=1e-5)


@pytest.mark.parametrize("rule, loss", covering(RULES, ["hinge", "logistic", "squared", "squared_hinge"], steps=2))
def test_every_loss_takes_them_with_a_certificate(rule, loss, data, tmp_path):
    X, y, _ = data
    model = MKLClassifier(KERNELS, regularizer=rule, loss=loss, tol=1e-6).fit(X, y)
    assert model.duality_gap_ <= 1e-6 and model.kernel_weights_.sum() == pytest.approx(1)
    model.save(tmp_path / "model.mk")
    loaded = manykernels.load(tmp_path / "model.mk")
    assert loaded.regularizer == rule
    assert_array_equal(loaded.decision_function(X), model.decision_function(X))


@pytest.mark.parametrize("rule", RULES, ids=repr)
def test_classes_have_their_own_weights_one_vs_rest(rule):
    X, y = load_iris(return_X_y=True)
    model = MKLClassifier(KERNELS, regularizer=rule).fit(X, y)
    one = MKLClassifier(KERNELS, regularizer=rule).fit(X, y == 1)
    assert model.kernel_weights_.shape == (3, 4)
    close = 1e-4 if isinstance(rule, EasyMKL) else 1e-7  # as above
    assert_allclose(model.kernel_weights_[1], one.kernel_weights_, atol=close)
    if not isinstance(rule, EasyMKL):
        shared = MKLClassifier(KERNELS, regularizer=rule, multi_class="shared").fit(X, y)
        assert shared.kernel_weights_.shape == (4,) and shared.duality_gap_ <= shared.tol


def test_regression_and_one_class():
    X, y = make_regression(60, 4, noise=3, random_state=0)
    for rule in (Uniform(), Align(), AlignF(), BestSingle()):
        model = MKLRegressor(KERNELS, loss="epsilon_insensitive", regularizer=rule, C=10).fit(X, y)
        assert model.score(X, y) > 0.5 and model.duality_gap_ <= model.tol
    assert MKLRegressor(KERNELS, regularizer=BestSingle(), C=10).fit(X, y).kernel_weights_[2] == 1  # y is linear
    assert MKLOneClass(KERNELS[:2], regularizer=Uniform()).fit(X).duality_gap_ <= 1e-3


def test_a_kernel_without_variance_gets_no_weight(data):
    X, y, S = data
    stack = np.stack([*S, np.ones((60, 60))], axis=2)
    for rule in RULES:
        with pytest.warns(UserWarning, match="without variance"):
            model = MKLClassifier("precomputed", regularizer=rule).fit(stack, y)
        assert model.kernel_weights_[4] == 0 and model.kernel_weights_.sum() == pytest.approx(1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_what_does_not_vary_is_not_aligned_with_anything(dtype, data):
    """A constant kernel centred is 0 but for rounding, of which `AlignF` made a weight of
    up to 0.6 that depended on the order of the examples; of constant targets both rules made weights."""
    X, y, _ = data
    kernels = KernelList.from_spec([Constant(13.492319752198949), RBF(gamma=0.3), Linear()], X)
    w = np.random.default_rng(0).random(60) * 900 + 0.1
    bank = PairwiseBank(kernels, X, weights=w, dtype=dtype)
    target, grams, _ = centred_products(bank, y, w, pairs=True)
    assert target[0] == 0 and not grams[0].any() and not grams[:, 0].any() and np.all(np.diag(grams)[1:] > 0)
    for rule in (Align(), AlignF()):
        assert rule.bind(bank, y, w)[0].weights[0] == 0
        with pytest.raises(ValueError, match="no kernel that is related to y"):
            rule.bind(bank, np.full(60, 0.1), w)


def test_bad_input(data):
    X, y, S = data
    with pytest.raises(ValueError, match="EasyMKL.*two classes"):
        MKLRegressor(KERNELS, regularizer=EasyMKL()).fit(X, X[:, 0])
    iris = load_iris(return_X_y=True)
    with pytest.raises(ValueError, match="multi_class='ovr'"):
        MKLClassifier(KERNELS, regularizer=EasyMKL(), multi_class="shared").fit(*iris)
    for rule in RULES[1:]:
        with pytest.raises(ValueError, match=r"use Uniform\(\)"):
            MKLOneClass(KERNELS[:2], regularizer=rule).fit(X)
    with pytest.raises(ValueError, match="cv=40 folds are too many"):
        MKLClassifier(KERNELS, regularizer=BestSingle(cv=40)).fit(X, y)
    with pytest.raises(ValueError, match="fit an estimator"):
        from manykernels.problem import Problem
        from manykernels.solvers import solve

        solve(Problem(DenseBank.from_scaled(S, list("abcd")), y, losses.Hinge(), Align()), solver="newton")
    with pytest.raises(ValueError, match="weights has 2 entries, but there are 4 kernels"):
        MKLClassifier(KERNELS, regularizer=Fixed([1, 1])).fit(X, y)


@pytest.mark.parametrize(
    "make, message",
    [
        (lambda: BestSingle(cv=1), "cv=1"),
        (lambda: BestSingle(cv=2.5), "cv=2.5"),
        (lambda: EasyMKL(lam=0), "lam=0"),
        (lambda: EasyMKL(lam=1.5), "lam=1.5"),
        (lambda: EasyMKL(lam="a"), "lam='a'"),
        (lambda: Fixed([1, -1]), "weights="),
        (lambda: Fixed([0, 0]), "no kernel"),
        (lambda: Fixed([[1.0]]), "weights="),
    ],
)
def test_parameters_outside_their_range(make, message):
    with pytest.raises(ValueError, match=message):
        make()


def test_inner_problems_that_kernels_are_compared_by_and_that_are_not_solved_are_told(monkeypatch):
    from manykernels.regularizers.weightings import best_single

    solved = best_single.solve_single
    monkeypatch.setattr(best_single, "solve_single", lambda *args: replace(solved(*args), gap=0.5, converged=False))
    X, y = make_classification(60, 4, random_state=0)
    with pytest.warns(UserWarning, match=r"BestSingle\(cv=3\).* 2 of them \('a': 0.5\)") as caught:
        model = MKLClassifier([("a", RBF(gamma=0.1)), ("b", Linear())], regularizer=BestSingle(3)).fit(X, y)
    assert model.duality_gap_ <= model.tol and not any(w.category is ConvergenceWarning for w in caught)


@pytest.mark.parametrize("factor", [1e170, 1e-170])
@pytest.mark.parametrize("rule", [Align(), AlignF()], ids=repr)
def test_alignment_knows_kernels_whose_squares_float64_cannot_hold(data, rule, factor):
    """A norm of infinity was an alignment of 0, and NumPy warned of the overflow."""
    _, y, S = data
    sizes = np.array([1.0, factor, 1.0, factor])
    by_hand = weights(rule, S, y) / (sizes if isinstance(rule, AlignF) else 1.0)  # Σ θ_m K_m stays the same, or ρ does
    assert_allclose(weights(rule, sizes[:, None, None] * S, y), by_hand / by_hand.sum(), rtol=1e-9)


@pytest.mark.parametrize("rule", [Align(), AlignF()])
def test_alignment_with_large_targets_knows_kernels_near_the_largest_float(rule):
    """Sums of kernel values of 1e304 with large targets overflowed, and the weights were NaN."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = 1e3 * X[:, 0] + rng.normal(size=60)
    plain, huge = (MKLRegressor([factor * Linear(), RBF(1.0)], regularizer=rule, C=10.0).fit(X, y).kernel_weights_
                   for factor in (1.0, 1e304))  # fmt: skip
    assert_allclose(huge, plain, rtol=1e-6)


@pytest.mark.parametrize("C", [0.01, 30.0])
def test_easymkl_goes_by_lam_and_not_by_C(data, C):
    """The costs of a fit are C times the weights of its examples."""
    X, y, S = data
    assert_allclose(weights(EasyMKL(0.2), S, y, c=np.full((1, len(y)), C), C=C), weights(EasyMKL(0.2), S, y), atol=1e-4)


def test_the_best_single_kernel_is_that_of_the_examples_that_count():
    """Of the heavy examples one kernel knows 60 %, the other 80 %, which is wrong on all others."""
    place = np.arange(80)
    y, heavy = np.where(place // 2 % 2, 1.0, -1.0), place % 2 == 0
    right = [np.where(heavy, place // 4 % 5 < 3, True), np.where(heavy, place // 4 % 5 < 4, False)]
    S = np.array([np.outer(x, x) for x in (np.where(known, y, -y) for known in right)])
    assert weights(BestSingle(cv=4), S, y, np.where(heavy, 1.0, 1e-3)[None]).tolist() == [0, 1]
    assert weights(BestSingle(cv=4), S, y, np.ones((1, 80))).tolist() == [1, 0]


def test_kernels_that_lose_the_race_are_not_fitted_in_all_folds(monkeypatch):
    """All kernels were fitted in all folds, with as much work each as a whole fit: seconds at a large C."""
    rng = np.random.default_rng(0)
    y = np.tile([1.0, -1.0], 30)
    columns = [y + noise * rng.normal(size=60) for noise in (3.0, 0.3, 2.0, 5.0)]
    bank = DenseBank(np.stack([np.outer(x, x) for x in columns], axis=2))
    asked, solve = [], best_single.solve_single
    monkeypatch.setattr(best_single, "solve_single", lambda *args: asked.append(args[-1]) or solve(*args))
    assert BestSingle(cv=5).bind(bank, y, 1.0, losses.Hinge())[0].weights.tolist() == [0, 1, 0, 0]
    assert len(asked) == 4 + 4 and set(asked) == {50}  # one fold of each kernel, and four more of the best
