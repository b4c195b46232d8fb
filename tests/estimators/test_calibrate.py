"""calibrate="sigmoid": probabilities of a hinge, learned on held-out decisions, kept in files."""

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.metrics import log_loss

import manykernels
from manykernels import MKLClassifier
from manykernels.estimators.calibration import fit_sigmoid
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 3))
P = 1 / (1 + np.exp(-2 * X[:, 0]))
y = (rng.random(240) < P).astype(int)
KERNELS = [RBF(0.3), Linear()]


def test_probabilities_of_a_hinge_are_near_the_true_ones_and_kept_in_files(tmp_path):
    """Issue 11, point 9."""
    model = MKLClassifier(KERNELS, C=0.1, calibrate="sigmoid").fit(X[:160], y[:160])
    found = model.predict_proba(X[160:])
    np.testing.assert_allclose(found.sum(axis=1), 1)
    assert np.abs(found[:, 1] - P[160:]).mean() < 0.1
    plain = MKLClassifier(KERNELS, C=0.1).fit(X[:160], y[:160])
    np.testing.assert_array_equal(model.decision_function(X), plain.decision_function(X))
    assert not hasattr(plain, "predict_proba")
    model.save(tmp_path / "m.mk")
    np.testing.assert_array_equal(manykernels.load(tmp_path / "m.mk").predict_proba(X[160:]), found)
    assert not hasattr(model.set_params(calibrate=None).fit(X, y), "calibration_")


def test_held_out_decisions_keep_a_close_fit_from_being_sure(tmp_path):
    """Labels that are noise: the training decisions part them, and the probabilities do not."""
    noise = rng.integers(0, 2, 120)
    model = MKLClassifier([RBF(30.0)], C=1e3, calibrate="sigmoid").fit(X[:120], noise)
    assert np.mean(model.predict(X[:120]) == noise) == 1
    assert log_loss(noise, model.predict_proba(X[:120])) > 0.5


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
def test_several_classes_weights_frames_and_matrices(multi_class):
    three = np.digitize(X[:, 0], [-0.5, 0.5])
    weight = rng.random(len(X)) + 0.5
    model = MKLClassifier(KERNELS, multi_class=multi_class, calibrate="sigmoid", C=1.0).fit(
        X, three, sample_weight=weight
    )
    found = model.predict_proba(X)
    assert found.shape == (240, 3) and np.mean(found.argmax(axis=1) == three) > 0.8
    stack = np.stack([kernel(X) for kernel in KERNELS], axis=2)
    same = MKLClassifier("precomputed", multi_class=multi_class, calibrate="sigmoid", C=1.0)
    np.testing.assert_allclose(same.fit(stack, three, sample_weight=weight).predict_proba(stack), found, atol=0.02)
    labels = np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1).astype(int)
    assert clone(model).fit(X, labels).predict_proba(X).shape == (240, 2)


def test_slopes_and_offsets_are_those_of_a_logistic_regression():
    f, t = 3 * X[:, 0] - 1, np.where(y, 1.0, -1.0)
    slope, offset = fit_sigmoid(f, t, np.ones(240))
    assert slope == pytest.approx(2 / 3, rel=0.3) and offset == pytest.approx(2 / 3, abs=0.4)
    twice = fit_sigmoid(np.r_[f, f[:9]], np.r_[t, t[:9]], np.ones(249))
    np.testing.assert_allclose(fit_sigmoid(f, t, 1.0 + (np.arange(240) < 9)), twice, rtol=1e-3)
    assert fit_sigmoid(-f, t, np.ones(240))[0] == 0


@pytest.mark.filterwarnings('ignore:C="auto"')
def test_wrong_values_and_too_few_examples_are_named():
    with pytest.raises(ValueError, match="calibrate='isotonic' is unknown: choose one of None, 'sigmoid'"):
        MKLClassifier(KERNELS, calibrate="isotonic").fit(X, y)
    with pytest.raises(ValueError, match="calibrate='sigmoid' needs at least two examples of every class"):
        MKLClassifier(KERNELS, calibrate="sigmoid").fit(X[:9], [1] + [0] * 8)


def test_examples_without_weight_change_no_probability():
    """Issue 11, point 24. They are moved to the other side of the border; the held-out decisions know it not."""
    weight = np.where(np.arange(120) % 3, 1.0, 0.0)
    moved = np.where(weight[:, None] > 0, X[:120], -3 * X[:120])
    model = MKLClassifier(KERNELS, C=0.1, calibrate="sigmoid", tol=1e-6)
    found = [clone(model).fit(rows, y[:120], sample_weight=weight) for rows in (X[:120], moved)]
    np.testing.assert_allclose(found[0].calibration_, found[1].calibration_, rtol=1e-2, atol=1e-2)
    np.testing.assert_allclose(*(one.predict_proba(X) for one in found), atol=5e-3)


def test_targets_of_unequal_classes_are_those_of_platt():
    """Issue 11, point 24: with equal decisions the sigmoid is the mean of the targets."""
    t = np.where(np.arange(50) < 5, 1.0, -1.0)
    _, offset = fit_sigmoid(np.zeros(50), t, np.ones(50))
    wanted = (5 * 6 / 7 + 45 * 1 / 47) / 50
    assert 1 / (1 + np.exp(-offset)) == pytest.approx(wanted, rel=1e-4)
