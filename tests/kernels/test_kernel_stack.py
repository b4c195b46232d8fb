"""A KernelStack is sliced as scikit-learn slices, and its slices know what prediction needs."""

import warnings

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import (
    train_test_split,
)
from sklearn.utils import _safe_indexing, resample

from manykernels import KernelStack, MKLClassifier, load
from manykernels.kernels import RBF, Polynomial

X, y = make_classification(60, 4, random_state=0)
X = X * np.linspace(0.2, 3, 60)[:, None]  # diagonals that differ
STACK = KernelStack([RBF(gamma=0.1)(X), Polynomial(2)(X), Polynomial(3)(X)], names=["r", "p", "q"])
ARRAY = np.asarray(STACK)
ROWS, COLS = np.array([3, 50, 7, 7]), np.array([0, 9])


def test_the_axes_are_cut_as_those_of_an_array():
    mask = np.arange(60) % 7 == 0
    for rows in (ROWS, ROWS.tolist(), tuple(ROWS), slice(2, 30, 3), mask, mask.tolist(), -ROWS, [], slice(None)):
        key = list(rows) if isinstance(rows, tuple) else rows
        expected = ARRAY[np.asarray(key, int) if isinstance(key, list) and not key else key]
        for cut in (STACK[key], STACK[key, ...], _safe_indexing(STACK, rows)):
            assert isinstance(cut, KernelStack) and cut.names == STACK.names and len(cut) == len(expected)
            np.testing.assert_array_equal(np.asarray(cut), expected)
    np.testing.assert_array_equal(STACK[np.ix_(ROWS, COLS)], ARRAY[np.ix_(ROWS, COLS)])
    np.testing.assert_array_equal(STACK[ROWS, COLS], ARRAY[np.ix_(ROWS, COLS)])
    np.testing.assert_array_equal(STACK[:, COLS], ARRAY[:, COLS])
    np.testing.assert_array_equal(STACK[..., [2, 0]], ARRAY[..., [2, 0]])
    assert STACK[..., [2, 0]].names == ["q", "r"] and STACK[5].shape == (1, 60, 3) and len(list(STACK)) == 60
    assert resample(STACK, y, n_samples=9)[0].shape == (9, 60, 3)


@pytest.mark.parametrize("index", [60, [-61], [0.5], ["a"], np.ones(59, bool), (0, 0, 0, 0), (..., 0, ...), (0, 0, 3)])
def test_what_is_no_index_is_an_index_error(index):
    with pytest.raises(IndexError):
        STACK[index]


def test_matrices_that_are_sparse_are_refused_with_the_cure():
    from scipy.sparse import csr_array

    with pytest.raises(ValueError, match=r"matrices\[1\] is sparse.*toarray"):
        KernelStack([np.eye(3), csr_array(np.eye(3))])


@pytest.mark.parametrize("stack", [STACK, ARRAY], ids=["stack", "array"])
def test_rows_alone_are_for_predict_and_fit_of_an_array_says_how_to_cut_both(stack):
    rows, others, labels, _ = train_test_split(stack, y, random_state=0)
    assert rows.shape == (45, 60, 3) and others.shape == (15, 60, 3)
    if stack is ARRAY:
        with pytest.raises(ValueError, match=r"\(45, 60, 3\).*np.arange\(60\).*np.ix_\(test, train\)"):
            MKLClassifier("precomputed").fit(rows, labels)
    model = MKLClassifier("precomputed").fit(stack, y)
    np.testing.assert_allclose(model.decision_function(stack)[ROWS], model.decision_function(stack[ROWS]), atol=1e-9)
    train, test = train_test_split(np.arange(60), random_state=0)
    model.fit(stack[np.ix_(train, train)], y[train])
    assert model.predict(stack[np.ix_(test, train)]).shape == (15,)


def test_only_a_stack_whose_rows_are_its_columns_knows_its_diagonal():
    own = np.einsum("iim->mi", ARRAY)
    np.testing.assert_array_equal(STACK.test_diagonals, own)
    np.testing.assert_array_equal(STACK[np.ix_(ROWS, COLS)].test_diagonals, own[:, ROWS])
    np.testing.assert_array_equal(STACK[ROWS][1:, :, [0, 2]].test_diagonals, own[[0, 2]][:, ROWS[1:]])
    across = KernelStack(np.moveaxis(ARRAY[:30, 30:], 2, 0))  # square by accident
    assert across.test_diagonals is None and across[:5].test_diagonals is None
    given = KernelStack(across.matrices, test_diagonals=own[:, :30])
    np.testing.assert_array_equal(given[4:8].test_diagonals, own[:, 4:8])
    model = MKLClassifier("precomputed", normalize="spherical").fit(STACK[30:, 30:], y[30:])
    with pytest.raises(ValueError, match="test_diagonals"):
        model.predict(across)
    np.testing.assert_array_equal(model.predict(given), model.predict(STACK[:30, 30:]))


def test_a_stack_remembers_the_rounding_of_what_it_was_given():
    """float16 kernels are as indefinite as their rounding makes them, however they are wrapped."""
    X = np.random.default_rng(0).normal(size=(60, 3))
    K = np.exp(-0.05 * ((X[:, None] - X) ** 2).sum(axis=2)).astype(np.float16)
    y = X[:, 0] > 0
    for given in (K[:, :, None], KernelStack([K]), KernelStack([K])[np.arange(60)]):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            MKLClassifier("precomputed").fit(given, y)


def test_a_slice_knows_its_examples_and_no_other_stack_is_taken_for_its_own():
    train, test = train_test_split(np.arange(60), random_state=1)
    model = MKLClassifier("precomputed", tol=1e-8).fit(STACK[train], y[train])
    found = model.decision_function(STACK[test])
    hand = MKLClassifier("precomputed", tol=1e-8).fit(STACK[np.ix_(train, train)], y[train])
    np.testing.assert_allclose(found, hand.decision_function(STACK[np.ix_(test, train)]), atol=1e-9)
    np.testing.assert_allclose(found, model.decision_function(STACK[::-1, ::-1][59 - test]), atol=1e-9)
    np.testing.assert_allclose(found, model.decision_function(STACK.examples()[test]), atol=1e-9)
    part = STACK[np.ix_(np.arange(50), np.arange(50))]  # examples of a part keep their places in the whole
    inner = train[train < 50]
    model.fit(part.examples()[inner], y[inner])
    np.testing.assert_allclose(
        model.decision_function(STACK[test]), hand.fit(STACK[inner], y[inner]).decision_function(STACK[test]), atol=1e-9
    )
    with pytest.raises(ValueError, match="lacks 1 of the .* training examples among its columns"):
        model.predict(STACK[:, np.setdiff1d(np.arange(60), inner[:1])])
    with pytest.raises(ValueError, match="columns"):
        model.predict(KernelStack(STACK.matrices.copy()))
    across = KernelStack(STACK.matrices[:, :30, 30:])
    for method in (across.square, across.examples):
        with pytest.raises(ValueError, match="square"):
            method()
    assert repr(STACK.examples()[:7]) == "StackExamples(7 of 60 examples, 3 kernels)"
    assert STACK.examples()[..., [0]].shape == (60, 60, 1) and STACK.examples().dtype == np.float64


def test_a_model_from_a_file_asks_for_the_columns_of_its_training_examples(tmp_path):
    train, test = np.arange(40), np.arange(40, 60)
    model = MKLClassifier("precomputed").fit(STACK.examples()[train], y[train])
    model.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk")
    with pytest.raises(ValueError, match=r"X has 60 columns.*is expecting 40 as in fit: give .*np.ix_\(new, train"):
        again.predict(STACK.examples()[test])
    np.testing.assert_array_equal(again.predict(STACK[np.ix_(test, train)]), model.predict(STACK.examples()[test]))


def test_kernels_in_another_order_than_in_fit_are_refused():
    K, y = np.eye(6), np.arange(6) % 2
    model = MKLClassifier("precomputed").fit(KernelStack([K, 2 * K + 1], names=["a", "b"]), y)
    with pytest.raises(ValueError, match="has the kernels b, a, but the model was fitted on a, b"):
        model.predict(KernelStack([2 * K + 1, K], names=["b", "a"]))
    with pytest.raises(ValueError, match="has the kernels x, y, but the model was fitted on a, b"):
        model.predict(KernelStack([K, 2 * K + 1], names=["x", "y"]))
    assert len(model.predict(np.stack([K, 2 * K + 1], axis=2))) == 6
    nameless = MKLClassifier("precomputed").fit(np.stack([K, 2 * K + 1], axis=2), y)
    assert len(nameless.predict(KernelStack([K, 2 * K + 1], names=["x", "y"]))) == 6


def test_a_permuted_column_takes_its_own_diagonal_along():
    """`permutation_importance` of kernels that are divided by √k(x, x)."""
    columns, order = STACK.by_kernel(), np.random.default_rng(3).permutation(60)
    name = columns.columns[1]
    columns[name] = columns[order, 1]
    found, rows = columns.with_columns(np.arange(5)), [np.arange(60), order, np.arange(60)]
    for m in range(3):
        np.testing.assert_array_equal(found.matrices[m], STACK.matrices[m][rows[m]][:, :5])
        np.testing.assert_array_equal(found.test_diagonals[m], np.diag(STACK.matrices[m])[rows[m]])
