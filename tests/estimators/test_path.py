"""A regularisation path is the same as single fits, each point certified."""

import matplotlib
import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF

matplotlib.use("Agg")
X, LABELS = load_wine(return_X_y=True)
X, LABELS = scale(X)[::3], LABELS[::3]
KERNELS = [RBF(gamma=g) for g in (0.01, 0.1, 1.0)]
STACK = np.stack([k(X) for k in KERNELS], axis=2)


@pytest.mark.parametrize("kernels", [KERNELS, "precomputed"], ids=["computed", "precomputed"])
def test_every_point_is_a_fit_of_its_own(kernels):
    data = STACK if kernels == "precomputed" else X
    model = MKLClassifier(kernels, tol=1e-7, C=1.0)
    path = model.path(data, LABELS, Cs=[10, 0.1, 1], regularizer=[1, 2])
    assert path.Cs.tolist() == [0.1, 1, 10] and path.duality_gap.max() <= 1e-7
    assert not hasattr(model, "kernel_weights_")
    for r, p in enumerate((1, 2)):
        for k, C in enumerate(path.Cs):
            alone = MKLClassifier(kernels, tol=1e-7, regularizer=p, C=C).fit(data, LABELS)
            np.testing.assert_allclose(path.weights[r, k], alone.kernel_weights_.mean(axis=0), atol=2e-3)
            assert path.objective[r, k] == pytest.approx(alone.objective_, rel=1e-6)
            assert path.score[r, k] == pytest.approx(alone.score(data, LABELS))
            assert abs(path.n_support[r, k] - len(alone.support_)) <= 1


def test_weights_of_examples_and_a_test_set_count():
    weight = np.arange(len(LABELS)) % 3
    y = X[:, 0] + X[:, 1] ** 2
    path = MKLRegressor(KERNELS, tol=1e-7, C=1.0).path(X, y, Cs=[1.0], sample_weight=weight, test=(X[:9], y[:9]))
    alone = MKLRegressor(KERNELS, tol=1e-7, C=1.0).fit(X, y, sample_weight=weight)
    np.testing.assert_allclose(path.weights[0, 0], alone.kernel_weights_, atol=2e-3)
    assert path.score[0, 0] == pytest.approx(alone.score(X[:9], y[:9]), abs=1e-4)
    with pytest.raises(ValueError, match="test is a float"):
        MKLRegressor(KERNELS, C=1.0).path(X, y, Cs=[1.0], test=0.5)


def test_frame_and_picture_show_the_path():
    path = MKLClassifierCV(KERNELS, Cs=[0.1, 1], regularizer=[1, 2]).path(X, LABELS > 0)
    frame = path.to_frame()
    assert len(frame) == 4 and frame["C"].tolist() == [0.1, 1, 0.1, 1]
    np.testing.assert_array_equal(frame[path.kernel_names].to_numpy(), path.weights.reshape(4, 3))
    for name in ("objective", "duality_gap", "score", "n_support", "n_iter"):
        np.testing.assert_array_equal(frame[name], getattr(path, name).ravel())
    assert frame["regularizer"].tolist() == ["1", "1", "2", "2"] and path.score_on == "training data"
    np.testing.assert_array_equal(frame["n_kernels"], (path.weights > 0).sum(axis=2).ravel())
    ax = path.plot(regularizer=1, top=2)
    shares = path.weights[1] / path.weights[1].sum(axis=1, keepdims=True)
    heaviest = np.argsort(-shares.max(axis=0))[:2]
    np.testing.assert_allclose([line.get_ydata() for line in ax.get_lines()], shares[:, heaviest].T)
    assert ax.get_xscale() == "log"
    (line,) = ax.figure.axes[1].get_lines()
    np.testing.assert_array_equal([line.get_xdata(), line.get_ydata()], [path.Cs, path.score[1]])
    path.draw(ax, path.weights[0], np.array([0.9, 0.91]), path.Cs, "C", 3)
    assert ax.figure.axes[-1].get_ylim() == pytest.approx((0.81, 0.92))  # small differences stay small
    with pytest.raises(ValueError, match="regularizer=2 is not in the path"):
        path.plot(regularizer=2)


def test_scores_of_the_training_data_count_the_weights():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(60, 2))
    labels = (rows[:, 0] + 1.5 * rng.normal(size=60) > 0).astype(int)
    weight = np.where(labels == 1, 5.0, 0.2)
    model = MKLClassifier([RBF(0.1)])
    found = model.path(rows, labels, Cs=[0.1, 1.0], sample_weight=weight).score
    for C, score in zip((0.1, 1.0), found[0], strict=True):
        fitted = model.set_params(C=C).fit(rows, labels, weight)
        assert score == pytest.approx(fitted.score(rows, labels, weight))
        assert abs(score - fitted.score(rows, labels)) > 0.01


def test_a_path_in_float32_is_that_in_float64(monkeypatch):
    model = MKLRegressor(KERNELS, C=1.0)
    plain = model.path(X, X[:, 0], Cs=[0.1, 1.0])
    monkeypatch.setattr("manykernels.estimators.shared_kernels.MAX_FLOAT64_VALUES", 0)
    short = model.path(X, X[:, 0], Cs=[0.1, 1.0])
    assert (short.objective != plain.objective).any()  # where the gap to reach is not smaller than that of float32
    fine = model.set_params(tol=0.99e-3).path(X, X[:, 0], Cs=[0.1, 1.0])
    np.testing.assert_allclose(short.objective, plain.objective, rtol=2e-3)
    np.testing.assert_allclose(short.score, plain.score, atol=0.02)
    assert short.duality_gap.max() <= 1e-3
    monkeypatch.undo()
    np.testing.assert_array_equal(fine.objective, model.path(X, X[:, 0], Cs=[0.1, 1.0]).objective)


def test_points_of_other_examples_are_scored_with_their_covariates():
    age, Cs = np.random.default_rng(0).normal(size=60), [3.0, 0.02]
    target = X[:, 0] + 2 * age
    model = MKLRegressor(KERNELS)
    other = (X[:20] + 0.1, target[:20], {"age": age[:20]})
    found = model.path(X, target, Cs=Cs, covariates={"age": age}, test=other)
    assert found.score_on == "test data"
    for k, C in enumerate(sorted(Cs)):
        alone = MKLRegressor(KERNELS, C=C).fit(X, target, covariates={"age": age})
        expected = alone.score(other[0], other[1], covariates=other[2])
        assert found.score[0, k] == pytest.approx(expected, abs=5e-3)
    with pytest.raises(ValueError, match=r"give \(X, y, covariates\) of other"):
        model.path(X, target, Cs=Cs, covariates={"age": age}, test=other[:2])
