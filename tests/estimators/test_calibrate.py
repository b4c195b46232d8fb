"""calibrate="sigmoid": probabilities learned on held-out decisions, kept in files."""

import numpy as np
import pytest
from sklearn.model_selection import StratifiedKFold

from manykernels import MKLClassifier
from manykernels.estimators.outputs import fit_sigmoid
from manykernels.kernels import RBF, Linear, multi_task

n = 54
rng = np.random.default_rng(8)
X = rng.normal(size=(n, 3))
TWO = np.where(X[:, 0] + 0.8 * rng.normal(size=n) > 0.2, "yes", "no")
THREE = np.array(["low", "mid", "up"])[np.digitize(X[:, 0] + 0.6 * rng.normal(size=n), [-0.4, 0.5])]
WEIGHT = rng.uniform(0.2, 2.0, n)
WEIGHT[[3, 20, 41]] = 0.0
Z = np.column_stack([X[:, 1] + rng.normal(size=n), np.arange(n) % 2])
TASK = np.array(["u", "v"])[rng.integers(0, 2, n)]
KERNELS = [("a", RBF(0.3), [0, 1]), ("b", Linear(), [2])]
CASES = {
    "two classes": (TWO, {}, {}),
    "weights and covariates": (TWO, {}, {"sample_weight": WEIGHT, "covariates": Z}),
    "tasks": (TWO, {"kernels": multi_task(KERNELS)}, {"sample_weight": WEIGHT, "task": TASK}),
    "class weights": (TWO, {"class_weight": {"yes": 3.0, "no": 0.5}}, {}),
    "three classes": (THREE, {"multi_class": "ovr"}, {"sample_weight": WEIGHT}),
    "shared weights": (THREE, {"multi_class": "shared"}, {"covariates": Z}),
    "a chosen C": (TWO, {"C": "auto"}, {}),
}


def some(options, rows):
    return {name: value[rows] for name, value in options.items()}


@pytest.mark.parametrize("case", CASES)
def test_a_sigmoid_is_learned_from_decisions_on_folds(case):
    y, params, given = CASES[case]
    plain = {"kernels": KERNELS, "C": 1.0, "tol": 1e-7} | params
    model = MKLClassifier(**plain, calibrate="sigmoid").fit(X, y, **given)
    fixed = plain | {"C": model.C_ if plain["C"] == "auto" else plain["C"]}
    classes = np.unique(y)
    decisions = np.zeros((n, 1 if len(classes) == 2 else len(classes)))
    for train, test in StratifiedKFold(5, shuffle=True, random_state=0).split(X, y):
        fold = MKLClassifier(**fixed).fit(X[train], y[train], **some(given, train))
        new = {name: value[test] for name, value in given.items() if name != "sample_weight"}
        decisions[test] = fold.decision_function(X[test], **new).reshape(len(test), -1)
    weight = given.get("sample_weight", np.ones(n))
    used = weight > 0
    sides = [classes[1]] if len(classes) == 2 else classes
    wanted = [
        fit_sigmoid(decisions[used, t], np.where(y[used] == side, 1.0, -1.0), weight[used])
        for t, side in enumerate(sides)
    ]
    np.testing.assert_allclose(model.calibration_, wanted, rtol=2e-2, atol=2e-3)
    told = {name: value for name, value in given.items() if name != "sample_weight"}
    f = model.decision_function(X, **told).reshape(n, -1)
    P = 1 / (1 + np.exp(-(f * model.calibration_[:, 0] + model.calibration_[:, 1])))
    P = np.column_stack([1 - P, P]) if P.shape[1] == 1 else P / P.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(model.predict_proba(X, **told), P, atol=1e-12)
    np.testing.assert_allclose(model.predict_log_proba(X, **told), np.log(P), atol=1e-9)
    assert "calibration_" not in vars(MKLClassifier(**fixed).fit(X, y, **given))


def test_a_sigmoid_minimises_the_weighted_logistic_loss_of_platts_targets():
    f, t = 4.0 * X[:, 0] + 50.0, np.where(TWO == "yes", 1.0, -1.0)  # decisions far from 0, in a unit of their own
    w = WEIGHT + 0.1
    slope, offset = fit_sigmoid(f, t, w)
    many, few = w[t > 0].sum(), w[t < 0].sum()
    target = np.where(t > 0, (many + 1) / (many + 2), 1 / (few + 2))

    def loss(slope, offset):
        z = slope * f + offset
        return w @ (np.logaddexp(0, z) - target * z)

    best = loss(slope, offset)
    assert slope > 0
    for step in (1e-2, -1e-2):
        assert loss(slope + step, offset - 50 * step) >= best - 1e-6 and loss(slope, offset + step) >= best - 1e-6
    z = slope * f + offset
    np.testing.assert_allclose(w @ (1 / (1 + np.exp(-z)) - target), 0.0, atol=2e-3)
    assert fit_sigmoid(-f, t, w)[0] == 0  # a larger decision does not make a class less likely


def test_probabilities_of_a_hinge_are_near_the_true_ones():
    rows = rng.normal(size=(240, 3))
    P = 1 / (1 + np.exp(-2 * rows[:, 0]))
    y = rng.random(240) < P
    model = MKLClassifier(KERNELS, C=0.1, calibrate="sigmoid").fit(rows[:160], y[:160])
    found = model.predict_proba(rows[160:])
    assert np.abs(found[:, 1] - P[160:]).mean() < 0.1
    plain = MKLClassifier(KERNELS, C=0.1).fit(rows[:160], y[:160])
    np.testing.assert_array_equal(model.decision_function(rows), plain.decision_function(rows))
    assert not hasattr(model.set_params(calibrate=None).fit(rows, y), "calibration_")


def test_matrices_and_labels_are_calibrated_too():
    kernels = [RBF(0.3), Linear()]
    model = MKLClassifier(kernels, calibrate="sigmoid", C=1.0)
    stack = np.stack([kernel(X) for kernel in kernels], axis=2)
    same = MKLClassifier("precomputed", calibrate="sigmoid", C=1.0).fit(stack, THREE).predict_proba(stack)
    np.testing.assert_allclose(same, model.fit(X, THREE).predict_proba(X), atol=0.02)
    labels = np.stack([X[:, 0] > 0, X[:, 1] > 0], axis=1).astype(int)
    assert model.fit(X, labels).predict_proba(X).shape == (n, 2)
