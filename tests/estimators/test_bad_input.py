"""Every bad input ends in an error or a warning that names what is wrong."""

import sys
import threading
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import make_classification

from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor
from manykernels._validation import parse_bytes
from manykernels.kernels import RBF, Linear

X, y = make_classification(60, 5, random_state=0)
KERNELS = [("a", RBF(gamma=0.1)), ("b", Linear())]
STACK = np.stack([RBF(gamma=g)(X) for g in (0.1, 1.0)], axis=2)


def changed(array, index, value):
    array = array.copy()
    array[index] = value
    return array


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_non_finite_input(value):
    bad = changed(X, (3, 2), value)
    for model in (MKLClassifier(KERNELS, C=1.0), MKLRegressor(KERNELS, C=1.0), MKLOneClass(KERNELS)):
        with pytest.raises(ValueError, match="NaN|infinity"):
            model.fit(bad, y)
        with pytest.raises(ValueError, match="NaN|infinity"):
            model.fit(X, y).predict(bad)
    with pytest.raises(ValueError, match="NaN|infinity"):
        MKLClassifier(KERNELS, C=1.0).fit(pd.DataFrame(bad), y)
    with pytest.raises(ValueError, match="NaN|infinity"):
        MKLRegressor(KERNELS, C=1.0).fit(X, changed(y.astype(float), 0, value))
    bad = changed(STACK, (3, 2, 1), value)
    with pytest.raises(ValueError, match="NaN|infinity"):
        MKLClassifier("precomputed", C=1.0).fit(bad, y)
    with pytest.raises(ValueError, match="NaN|infinity"):
        MKLClassifier("precomputed", C=1.0).fit(STACK, np.arange(60) % 2).predict(bad[:, :, :])


def test_one_class_only():
    with pytest.raises(ValueError, match="one class only.*at least two"):
        MKLClassifier(KERNELS).fit(X, np.ones(60))
    with pytest.raises(ValueError, match="one class only"):
        MKLClassifier(KERNELS).fit(X, y, sample_weight=y)


@pytest.mark.parametrize("columns", [["nope"], "nope", [7], [-9]])
def test_unknown_columns(columns):
    frame = pd.DataFrame(X, columns=list("abcde"))
    with pytest.raises(ValueError, match="nope|7|-9"):
        MKLClassifier([("k", RBF(gamma=1.0), columns)]).fit(frame, y)


@pytest.mark.parametrize(
    "stack, message",
    [
        (changed(STACK, (0, 1, 1), 5.0), "symmetric.*kernel 1"),
        (STACK[:, :50], "square"),
        (STACK[:, :, 0], "np.stack"),
        (STACK[:, :, :0], "(?i)no kernel"),
        (STACK[:50, :50], "inconsistent"),
    ],
)
def test_wrong_stacks(stack, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier("precomputed").fit(stack, y)


def test_wrong_stacks_at_prediction():
    clf = MKLClassifier("precomputed").fit(STACK, y)
    with pytest.raises(ValueError, match="60"):
        clf.predict(STACK[:, :50])
    with pytest.raises(ValueError, match="kernels"):
        clf.predict(STACK[:, :, :1])
    with pytest.raises(ValueError, match="Y"):
        clf.combined_kernel(STACK, STACK)
    spherical = MKLClassifier("precomputed", normalize="spherical").fit(STACK, y)
    with pytest.raises(ValueError, match="test_diagonals"):
        spherical.predict(STACK)
    S = np.moveaxis(STACK, 2, 0)
    assert spherical.predict(KernelStack(S, test_diagonals=np.ones((2, 60)))).shape == (60,)


@pytest.mark.parametrize(
    "parameters, message",
    [
        (dict(C=-1), "C=-1"),
        (dict(C=0), "C=0"),
        (dict(C=np.nan), "C=nan"),
        (dict(C="1"), "C='1'"),
        (dict(regularizer=0.5), "0.5"),
        (dict(regularizer=np.nan), "nan"),
        (dict(regularizer="l2"), "l2"),
        (dict(tol=0), "tol=0"),
        (dict(max_iter=0), "max_iter=0"),
        (dict(max_iter=1.5), "max_iter=1.5"),
        (dict(normalize="unit"), "normalize='unit'.*multiplicative"),
        (dict(multi_class="ovo"), "multi_class='ovo'.*shared"),
        (dict(loss="nonsense"), "nonsense"),
        (dict(loss="huber"), "huber.*hinge"),
        (dict(loss="level_set"), "level_set.*hinge"),
        (dict(solver=3), "3"),
        (dict(solver="magic"), "magic"),
        (dict(n_jobs=0), "n_jobs=0"),
        (dict(memory_limit="lots"), "memory_limit='lots'.*4GB"),
        (dict(memory_limit=-5), "memory_limit=-5"),
        (dict(class_weight="heavy"), "class_weight"),
        (dict(kernels=[]), "kernels"),
        (dict(kernels="rbf"), "rbf"),
        (dict(kernels=[3]), "3"),
        (dict(kernels=[("k", RBF(gamma=0.1)), ("k", Linear())]), "'k'"),
        (dict(kernels=[RBF(gamma=-1.0)]), "gamma"),
    ],
)
def test_parameters_are_named_with_value_and_cure(parameters, message):
    with pytest.raises(ValueError, match=message):
        MKLClassifier(**({"kernels": KERNELS} | parameters)).fit(X, y)


def test_parameters_of_the_other_estimators():
    for parameters in (dict(epsilon=-1), dict(loss="hinge"), dict(loss="huber", epsilon=0.5)):
        with pytest.raises(ValueError, match="epsilon|hinge"):
            MKLRegressor(KERNELS, **parameters).fit(X, y)
    for nu in (0, 1.5, None):
        with pytest.raises(ValueError, match="nu="):
            MKLOneClass(KERNELS, nu=nu).fit(X)


@pytest.mark.parametrize("weight", [np.full(60, -1.0), np.zeros(60), np.ones(59), np.full(60, np.nan)])
def test_sample_weights(weight):
    with pytest.raises(ValueError, match="weight"):
        MKLClassifier(KERNELS).fit(X, y, sample_weight=weight)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("C", [1.0, "auto"])
@pytest.mark.parametrize(
    "weight, message",
    [
        (np.full(60, 1e155), "C times the weight of an example is 1e.155.*divide sample_weight by its mean"),
        (np.full(60, 1e308), "C times the weight of an example is 1e.308.*divide sample_weight by its mean"),
        (changed(np.ones(60), 7, 1e155), "sample_weight of example 7 is 1e.155.*one example.*similar size"),
        (changed(np.full(60, 1e-9), 7, 1e9), "sample_weight of example 7 is 1e.09, and all others together have"),
    ],
)
def test_weights_beyond_arithmetic_are_named_and_no_column_is_blamed(weight, message, C):
    """Issue 18, point 10: "centre the columns", "no kernel varies" and "-inf + inf in fsum" were said before."""
    for model in (MKLClassifier(KERNELS, loss="logistic", C=C), MKLRegressor(KERNELS, C=C)):
        with pytest.raises(ValueError, match=message):
            model.fit(X, y, sample_weight=weight)


@pytest.mark.parametrize("device", ["torch", "cuda"])
def test_a_device_without_pytorch_is_named_as_it_was_given(device, monkeypatch):
    monkeypatch.setitem(sys.modules, "torch", None)
    with pytest.raises(ImportError, match=f"device='{device}' needs PyTorch: install .*, or take device='cpu'"):
        MKLClassifier(KERNELS, device=device, C=1.0).fit(X, y)


def test_memory_sizes():
    assert [parse_bytes(v) for v in (None, 10, "4GB", "1.5 MB", "2GiB")] == [None, 10, 4 * 10**9, 1500000, 2**31]


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_constant_kernel_is_named_and_left_out(value):
    stack = np.concatenate([STACK, np.full((60, 60, 1), value)], axis=2)
    with pytest.warns(UserWarning, match="kernel 2"):
        clf = MKLClassifier("precomputed").fit(stack, y)
    assert clf.kernel_weights_[2] == 0 and clf.kernel_weights_[:2].any()
    bad = np.hstack([X, np.full((60, 1), value)])
    with pytest.warns(UserWarning, match="'flat'"):
        clf = MKLClassifier([*KERNELS, ("flat", RBF(gamma=1.0), [5])]).fit(bad, y)
    assert clf.kernel_weights_[2] == 0
    with pytest.raises(ValueError, match="(?i)no kernel"):
        MKLClassifier([("flat", RBF(gamma=1.0), [5])]).fit(bad, y)


@pytest.mark.parametrize("p", [1, 2, np.inf])
def test_an_indefinite_kernel_is_warned_about_and_stays_finite(p):
    A = np.random.default_rng(0).standard_normal((60, 60))
    stack = np.dstack([STACK, A + A.T])
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf = MKLClassifier("precomputed", regularizer=p, max_iter=50).fit(stack, y)
    assert any("semidefinite" in str(w.message) and "kernel 2" in str(w.message) for w in caught)
    assert np.isfinite(clf.kernel_weights_).all() and np.isfinite(clf.decision_function(stack)).all()


def test_memory_limit_too_small_says_how_much_is_needed():
    with pytest.raises(ValueError, match=r"memory_limit.*\d"):
        MKLClassifier(KERNELS, memory_limit=100).fit(X, y)


def test_ctrl_c_keeps_the_best_solution_and_leaves_no_threads(monkeypatch):
    from manykernels.solvers import newton

    big, labels = make_classification(300, 20, flip_y=0.2, random_state=0)
    clf = MKLClassifier(
        [RBF(gamma=g) for g in np.logspace(-3, 1, 10)], regularizer=1.1, tol=1e-9, warm_start=True, C=1.0
    )

    def interrupt(self, state):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(newton.NewtonStep, "propose", interrupt)
        with pytest.raises(KeyboardInterrupt):
            clf.fit(big, labels)
    assert not [t for t in threading.enumerate() if t.name.startswith("manykernels")]
    assert clf.duality_gap_ > 1e-9 and clf.predict(big).shape == (300,)
    assert clf.fit(big, labels).duality_gap_ <= 1e-9


def test_words_of_a_billion_letters_are_refused_at_once():
    """Their number has more digits than there is memory."""
    from manykernels.strings import Spectrum

    with pytest.raises(ValueError, match="too many for Spectrum"):
        Spectrum(k=2**40)(["ACGT" * 3, "AACC" * 3])


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("method", ["decision_function", "decision_parts", "combined_kernel"])
def test_a_stack_of_new_examples_that_is_not_finite_is_refused_without_a_warning(method, value):
    """Issue 11, second generator: ∞ times the weight 0 of another class was a warning of NumPy."""
    of_class = np.eye(3)[np.arange(12) % 3]
    S = np.stack([np.outer(z, z) for z in of_class.T], axis=2)
    model = MKLClassifier("precomputed", regularizer=1, C=1.0).fit(S, np.arange(12) % 3)
    assert (model.kernel_weights_ == 0).any()
    new = S.copy()
    new[0, model.support_[0]] = value
    with pytest.raises(ValueError, match="NaN or infinity"):
        getattr(model, method)(new)
