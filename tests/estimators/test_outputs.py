"""Targets with several outputs: one vector of weights for all, or one each, and kernels that are computed once."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.datasets import load_iris, make_multilabel_classification
from sklearn.metrics import r2_score

import manykernels
from manykernels import MKLClassifier, MKLRegressor
from manykernels.banks import DenseBank, PairwiseBank
from manykernels.estimators.outputs import largest
from manykernels.kernels import RBF, Linear
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes, LpNorm
from manykernels.solvers import solve

rng = np.random.default_rng(0)
X = rng.normal(size=(70, 4))
VALUES = np.c_[np.sin(2 * X[:, 0]), X[:, 1], X[:, 0] * X[:, 1]] + 0.1 * rng.normal(size=(70, 3))
KERNELS = [("a", RBF(gamma=0.5), [0, 1]), ("b", RBF(gamma=0.5), [2, 3]), ("c", Linear())]
LABELLED, LABELS = make_multilabel_classification(90, 6, n_classes=4, random_state=0)
LABELLED = (LABELLED - LABELLED.mean(axis=0)) / LABELLED.std(axis=0)
PAIR = [RBF(gamma=0.1), Linear()]


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared", "huber"])
def test_targets_share_the_weights_of_one_joint_problem(loss):
    model = MKLRegressor(KERNELS, loss=loss, regularizer=1.5, C=3, tol=1e-6).fit(X, VALUES)
    assert model.predict(X).shape == (70, 3) == model.predict(X[:70]).shape and model.n_outputs_ == 3
    assert model.kernel_weights_.shape == (3,) and model.dual_coef_.shape[0] == 3 == len(model.intercept_)
    assert model.decision_parts(X).shape == (70, 3, 3)
    np.testing.assert_allclose(model.decision_parts(X).sum(axis=2) + model.intercept_, model.predict(X), atol=1e-9)
    assert model.score(X, VALUES) == pytest.approx(r2_score(VALUES, model.predict(X)))
    bank = DenseBank(np.stack([RBF(gamma=0.5)(X[:, :2]), RBF(gamma=0.5)(X[:, 2:]), Linear()(X)], axis=2))
    V = manykernels.losses.get(loss, **({"epsilon": 0.1} if loss == "epsilon_insensitive" else {}))
    joint = solve(Problem(bank, VALUES.T, V, LpNorm(1.5), 3.0), tol=1e-6)
    assert model.objective_ == pytest.approx(joint.primal, rel=3e-6) and model.duality_gap_ <= 1e-6


def test_one_target_is_the_same_alone_and_as_a_column():
    alone = MKLRegressor(KERNELS, loss="squared", C=1.0).fit(X, VALUES[:, 0])
    with pytest.warns(UserWarning, match="column-vector"):
        column = MKLRegressor(KERNELS, loss="squared", C=1.0).fit(X, VALUES[:, :1])
    assert alone.n_outputs_ == column.n_outputs_ == 1
    np.testing.assert_array_equal(alone.predict(X), column.predict(X))


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_labels_may_hold_together(loss, multi_class):
    model = MKLClassifier(PAIR, loss=loss, multi_class=multi_class, C=1.0).fit(LABELLED, LABELS)
    assert model.multilabel_ and model.classes_.tolist() == [0, 1, 2, 3] and model.multi_class_ == multi_class
    assert model.kernel_weights_.shape == ((4, 2) if multi_class == "ovr" else (2,))
    decision = model.decision_function(LABELLED)
    np.testing.assert_array_equal(model.predict(LABELLED), (decision > 0).astype(int))
    assert model.score(LABELLED, LABELS) == np.mean((model.predict(LABELLED) == LABELS).all(axis=1)) > 0.4
    if loss == "logistic":
        np.testing.assert_allclose(model.predict_proba(LABELLED), 1 / (1 + np.exp(-decision)))
    if multi_class == "ovr":
        one = MKLClassifier(PAIR, loss=loss, C=1.0).fit(LABELLED, LABELS[:, 2])
        np.testing.assert_allclose(decision[:, 2], one.decision_function(LABELLED), atol=1e-8)


def test_two_labels_sparse_ones_and_one_hot_classes():
    two = MKLClassifier(PAIR, C=1.0).fit(LABELLED, LABELS[:, :2])
    assert two.decision_function(LABELLED).shape == (90, 2) == two.predict(LABELLED).shape
    sparse = MKLClassifier(PAIR, C=1.0).fit(LABELLED, csr_array(LABELS[:, :2]))
    np.testing.assert_array_equal(sparse.dual_coef_, two.dual_coef_)
    with pytest.warns(UserWarning, match="one label per example.*argmax"):
        MKLClassifier(PAIR, C=1.0).fit(LABELLED, np.eye(3, dtype=int)[np.arange(90) % 3])
    with pytest.raises(ValueError, match="class_weight is given.*4 labels"):
        MKLClassifier(PAIR, class_weight="balanced", C=1.0).fit(LABELLED, LABELS)


def test_auto_says_what_it_chose_and_why():
    A, y = load_iris(return_X_y=True)
    model = MKLClassifier(PAIR, multi_class="auto", C=1.0)
    assert model.fit(A, y).multi_class_ == "ovr" and "50 examples" in model.multi_class_reason_
    few, weight = np.r_[0:30, 50:150], np.r_[np.zeros(1), np.ones(129)]
    assert model.fit(A[few], y[few]).multi_class_ == "ovr" and "30 examples" in model.multi_class_reason_
    assert model.fit(A[few], y[few], weight).multi_class_ == "shared" and "29 examples" in model.multi_class_reason_
    assert model.kernel_weights_.shape == (2,)
    assert model.fit(A[:100], y[:100]).kernel_weights_.shape == (2,) and "two classes" in model.multi_class_reason_
    model.set_params(regularizer=EmpiricalBayes(0.1), loss="squared").fit(A, y)
    assert model.multi_class_ == "shared" and "EmpiricalBayes" in model.multi_class_reason_
    given = MKLClassifier(PAIR, C=1.0).fit(A, y)
    assert given.multi_class_ == "ovr" and "was given" in given.multi_class_reason_


def test_one_vs_rest_computes_kernels_once_and_finds_what_separate_fits_find(monkeypatch):
    A, y = load_iris(return_X_y=True)
    kernels, reads = [("p", RBF(gamma=1.0), [j]) for j in range(4)], []
    kernels = [(f"{name}{j}", kernel, columns) for j, (name, kernel, columns) in enumerate(kernels)]
    own = PairwiseBank.products
    monkeypatch.setattr(PairwiseBank, "cost", lambda self: 9.0)
    monkeypatch.setattr(PairwiseBank, "products", lambda self, *args: reads.append(1) or own(self, *args))
    together = MKLClassifier(kernels, regularizer=1.5, tol=1e-6, C=1.0).fit(A, y)
    assert not reads  # the stack is read in its place
    tight = MKLClassifier(kernels, regularizer=1.5, tol=1e-6, memory_limit="300KB", n_jobs=1, C=1.0).fit(A, y)
    assert reads  # a stack of 4 · 150² numbers does not fit
    alone = [MKLClassifier(kernels, regularizer=1.5, tol=1e-6, C=1.0).fit(A, y == c).objective_ for c in range(3)]
    for model in (together, tight):
        assert model.objective_ == pytest.approx(sum(alone), rel=1e-6)


def test_rounding_does_not_choose_between_equal_classes():
    """Of equal decisions the first counts, in whatever order their sums were rounded."""
    f = np.array([[1.0, 1.0 + 1e-15, -1.0], [-1.0 - 1e-15, -1.0, -1.0 + 1e-15], [0.0, 0.5, 0.5], [0.0, 1e-3, 0.0]])
    assert largest(f).tolist() == [0, 0, 1, 1]
    assert largest(1e6 * f).tolist() == largest(1e-6 * f).tolist() == [0, 0, 1, 1]
