"""A regularisation path is the same as single fits, each point certified."""

import matplotlib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF

matplotlib.use("Agg")
X, LABELS = load_wine(return_X_y=True)
X, LABELS = scale(X)[::3], LABELS[::3]
KERNELS = [RBF(gamma=g) for g in (0.01, 0.1, 1.0)]
STACK = np.stack([k(X) for k in KERNELS], axis=2)


Y = X[:, 0] + X[:, 1] ** 2
WEIGHT = np.where(LABELS == 1, 5.0, 0.2)
AGE, OTHER = {"age": Y % 1.0}, (X[:20] + 0.1, Y[:20], {"age": Y[:20] % 1.0})
POINTS = {  # model, data, targets, options of fits, other examples to score on
    "computed": (MKLClassifier(KERNELS), X, LABELS, {}, None),
    "precomputed": (MKLClassifier("precomputed"), STACK, LABELS, {}, None),
    "weights": (MKLClassifier(KERNELS[:1], C=1.0), X[:, 2:4], LABELS > 0, {"sample_weight": WEIGHT}, None),
    "weights and other examples": (MKLRegressor(KERNELS), X, Y, {"sample_weight": WEIGHT // 2}, (X[:9], Y[:9])),
    "covariates": (MKLRegressor(KERNELS), X, Y, {"covariates": AGE}, OTHER),
}


@pytest.mark.parametrize("case", POINTS)
def test_every_point_is_a_fit_of_its_own(case):
    model, data, y, own, test = POINTS[case]
    model.set_params(tol=1e-7)
    path = model.path(data, y, Cs=[10, 0.1, 1], regularizer=[1, 2], test=test, **own)
    assert path.Cs.tolist() == [0.1, 1, 10] and path.duality_gap.max() <= 1e-7
    assert path.score_on == ("training data" if test is None else "test data")
    assert not hasattr(model, "kernel_weights_")
    for r, p in enumerate((1, 2)):
        for k, C in enumerate(path.Cs):
            alone = clone(model).set_params(regularizer=p, C=C).fit(data, y, **own)
            weights = np.atleast_2d(alone.kernel_weights_).mean(axis=0)
            np.testing.assert_allclose(path.weights[r, k], weights, atol=2e-3)
            assert path.objective[r, k] == pytest.approx(alone.objective_, rel=1e-6)
            others = {"covariates": test[2]} if case == "covariates" else {}
            score = alone.score(data, y, **own) if test is None else alone.score(*test[:2], **others)
            assert path.score[r, k] == pytest.approx(score, rel=1e-3)
            assert abs(path.n_support[r, k] - len(alone.support_)) <= 1


def test_other_examples_that_cannot_be_scored_are_named():
    with pytest.raises(ValueError, match="test is a float"):
        MKLRegressor(KERNELS).path(X, Y, Cs=[1.0], test=0.5)
    with pytest.raises(ValueError, match=r"give \(X, y, covariates\) of other"):
        MKLRegressor(KERNELS).path(X, Y, Cs=[1.0], covariates=AGE, test=OTHER[:2])


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
