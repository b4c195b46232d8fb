"""Columns and examples whose labels are whole numbers are matched as those with texts: never by position unasked."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, load
from manykernels.inspect import relevance
from manykernels.kernels import RBF, KernelStack, Linear

N = 60
rng = np.random.default_rng(0)
X = rng.normal(size=(N, 2))
Y = (X[:, 0] > 0).astype(int)
KERNELS = [("a", RBF(), [0]), ("b", Linear(), [1])]


def fitted(frame, kernels="auto"):
    return MKLClassifier(kernels, C=1.0).fit(frame, Y)


@pytest.mark.parametrize("names", [[5340, 1956], [1, 0], np.array([7, 3])], ids=str)
@pytest.mark.parametrize("kernels", ["auto", KERNELS])
def test_numbers_in_another_order_are_refused_with_the_cure(names, kernels):
    frame = pd.DataFrame(X, columns=names)
    model = fitted(frame, kernels)
    assert list(model.feature_names_in_) == [str(name) for name in names]
    decisions = model.decision_function(frame)
    with pytest.raises(ValueError, match=r"(?s)order.*Give X\[model.feature_names_in_.astype\(int\)\]"):
        model.predict(frame[frame.columns[::-1]])
    cured = frame[frame.columns[::-1]][model.feature_names_in_.astype(int)]
    assert np.array_equal(model.decision_function(cured), decisions)


def test_other_numbers_are_refused():
    frame = pd.DataFrame(X, columns=[5340, 1956])
    with pytest.raises(ValueError, match="1957"):
        fitted(frame).predict(frame.rename(columns={1956: 1957}))


def test_numbers_that_count_the_columns_are_compared_with_others():
    frame = pd.DataFrame(X)
    with pytest.raises(ValueError, match=r"give X\[sorted\(X.columns\)\]"):
        fitted(frame).predict(frame[[1, 0]])
    with pytest.raises(ValueError, match="order"):
        fitted(frame[[1, 0]]).predict(frame)


def test_counted_columns_need_no_names():
    frame = pd.DataFrame(X)
    model = fitted(frame)
    assert not hasattr(model, "feature_names_in_")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.array_equal(model.predict(frame), model.predict(X))


def test_frames_with_numbers_are_cut_by_the_package_without_a_word(tmp_path):
    frame = pd.DataFrame(X, columns=[5340, 1956])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = fitted(frame, KERNELS)
        relevance(model, frame, Y, cv=2)
        model.save(tmp_path / "m.mk")
    assert list(load(tmp_path / "m.mk").feature_names_in_) == ["5340", "1956"]


def test_a_column_of_numbers_that_no_kernel_reads_is_not_filled_in():
    frame = pd.DataFrame(X, columns=[5340, 1956])
    model = fitted(frame, [("a", RBF(), [0])])
    with pytest.raises(ValueError, match="feature"):
        model.predict(frame[[5340]])


LABELS = {
    "a range": pd.RangeIndex(100, 160),
    "numbers": pd.Index(rng.permutation(N) * 3),
    "counted": pd.RangeIndex(N),
}


@pytest.mark.parametrize("labels", LABELS.values(), ids=LABELS)
def test_training_examples_with_numbers_keep_their_order(labels):
    K = pd.DataFrame(X @ X.T, index=labels, columns=labels)
    model = MKLClassifier("precomputed", C=1.0).fit(KernelStack({"l": K}), Y)
    new = K.iloc[:5]
    model.predict(KernelStack({"l": new}))
    with pytest.raises(ValueError, match="another order than in fit: give K"):
        model.predict(KernelStack({"l": new.iloc[:, ::-1]}))


def test_matrices_with_ranges_of_examples_in_another_order_are_refused():
    K = pd.DataFrame(X @ X.T, index=range(100, 160), columns=range(100, 160))
    with pytest.raises(ValueError, match="another order"):
        KernelStack({"a": K, "b": K.iloc[::-1]})


def test_columns_of_views_with_numbers_keep_their_order():
    view = pd.DataFrame(X, columns=[5340, 1956])
    model = fitted({"u": view})
    model.predict({"u": view})
    with pytest.raises(ValueError, match=r"in another order.*list\(map\(int, model.view_feature_names_in_\['u'\]\)\)"):
        model.predict({"u": view[[1956, 5340]]})
