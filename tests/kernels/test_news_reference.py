"""What new examples have that the training examples had not, against loops over their entries."""

import numpy as np
import pandas as pd
import pytest
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from manykernels import Views
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.kernels.view_data import object_view
from manykernels.strings import Spectrum

rng = np.random.default_rng(2)


def found(kernels, X, used=None):
    used = np.ones(kernels.M, bool) if used is None else used
    return [(one.kind, one.where, one.rows.tolist(), one.example) for one in kernels.news(X, used)]


@pytest.mark.parametrize("encoder", [OneHotEncoder(handle_unknown="ignore"),
                                     OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1)])  # fmt: skip
def test_unknown_categories_are_named_with_their_rows_and_the_first_of_them(encoder):
    train = pd.DataFrame({"x": rng.normal(size=6), "s": list("uvuvuv"), "t": list("ppqqpp")})
    new = pd.DataFrame({"x": np.zeros(5), "s": ["u", "w", "v", "z", "u"], "t": ["q", "p", "r", "p", "p"]})
    kernels = KernelList.from_spec([("x", RBF(0.1), ["x"]), ("k", encoder, RBF(0.1), ["s", "t"])], train)
    assert found(kernels, train) == []
    news = found(kernels, new)
    assert [(kind, rows, example) for kind, _, rows, example in news] == [
        ("category", [1, 3], "w"), ("category", [2], "r")]  # fmt: skip
    assert ["'s'" in where or "s" in where.split() for _, where, *_ in news] == [True, False]
    assert found(kernels, new, np.array([True, False])) == []


@pytest.mark.parametrize("lacking", [[], [1]])
def test_a_view_that_no_training_example_lacked_is_missing(lacking):
    have = np.setdiff1d(np.arange(6), lacking)
    table = rng.normal(size=(6, 2))
    train = Views({"a": table, "b": table[have]}, ids={"a": range(6), "b": have.tolist()})
    new = Views({"a": table[:4], "b": table[[1, 3]]}, ids={"a": range(4), "b": [1, 3]})
    kernels = KernelList.from_spec([("a", Linear(), "a"), ("b", Linear(), "b", "zero")], train)
    news = found(kernels, new)
    assert [(kind, rows) for kind, _, rows, _ in news] == ([] if lacking else [("missing", [0, 2])])
    assert all("b" in where for _, where, *_ in news) and found(kernels, new, np.array([True, False])) == []


def test_columns_with_their_first_gaps_are_missing():
    train = pd.DataFrame({"p": [1.0, np.nan, 3.0], "q": [1.0, 2.0, 4.0], "r": [0.0, 1.0, 0.5]})
    new = pd.DataFrame({"p": [np.nan, 1.0], "q": [1.0, np.nan], "r": [np.nan, np.nan]})
    kernels = KernelList.from_spec([("p", Linear(), ["p", "q"], "zero"), ("r", Linear(), ["r"], "zero")], train)
    news = found(kernels, new)
    assert [(kind, rows) for kind, _, rows, _ in news] == [("missing", [1]), ("missing", [0, 1])]
    assert "q" in news[0][1] and "r" in news[1][1]
    assert [rows for _, _, rows, _ in found(kernels, new, np.array([False, True]))] == [[0, 1]]


def test_texts_shorter_than_a_word_are_named_with_the_shortest_of_them():
    train = ["ACGTACGT", "ACGTAC", "GTACGTAC"]
    kernels = KernelList.from_spec([("two", Spectrum(2)), ("four", Spectrum(4))], train)
    news = [one for one in found(kernels, ["ACGTAC", "AC", "ACG", "ACGT", "ACGTT"]) if one[0] == "short"]
    assert [(where, rows) for _, where, rows, _ in news] == [("kernel 'four'", [1, 2])]
    assert news[0][3] == (4, 2)


def test_objects_that_are_absent_are_none_or_nan():
    x = np.array([1.5, None, np.nan, "a", 0.0], object)
    view = object_view(x, True)
    assert view.present.tolist() == [True, False, False, True, True]
    assert view.X[[0, 3, 4]].tolist() == [1.5, "a", 0.0] and None not in view.X.tolist()
    assert object_view(x, False).present is None and object_view(x[[0, 3]], True).present is None
    assert object_view(x[[1, 2]], True).X is None
    assert repr(Views({"a": np.zeros((3, 2)), "b": ["x", "y"]}, ids={"a": [0, 1, 2], "b": [0, 2]})) == (
        "Views(3 examples; a: ndarray (3, 2); b: list (2,), 1 example lacks it)")  # fmt: skip
    assert "2 examples lack it" in repr(Views({"a": [1, 2, 3], "b": ["x"]}, ids={"a": [0, 1, 2], "b": [1]}))
