"""What counts as a source: kernels that see the same data, or the smallest sets of columns that kernels share."""

import numpy as np
import pytest

from manykernels import MKLClassifier, Views
from manykernels.inspect import relevance
from manykernels.inspect.sources import column_sources, default_sources
from manykernels.kernels import RBF, KernelList, Linear, On

X = np.random.default_rng(0).normal(size=(40, 12))
VIEWS = Views({"a": X[:, :2], "b": X[:, 2:]})
NEAR, FAR, LINE = RBF(0.1), RBF(1.0), Linear()
CASES = {  # kernels, data, sources as indices of kernels, or as columns of a table that kernels share
    "the same columns": (
        [("m", NEAR, slice(2, 11)), ("p", LINE, slice(2, 11)), ("w", NEAR, [0, 1]), ("n", FAR, [0, 1]),
         ("l", LINE, [11])],
        X, {"columns 2 to 10": [0, 1], "columns 0, 1": [2, 3], "l": [4]}),
    "columns apart": ([("a", NEAR, [0, 1]), ("b", NEAR, [2])], X[:, :6], {"a": [0], "b": [1]}),
    "shared columns": (
        [NEAR, ("two", NEAR, [0, 1]), ("again", LINE, [0, 1]), ("last", LINE, [5])],
        X[:, :6], {"columns 0, 1": [0, 1], "columns 2, 3, 4": [2, 3, 4], "last": [5]}),
    "a product beside one of its factors": (
        [("one", On([0], NEAR) * On([1], NEAR)), ("own", NEAR, [0])], X[:, :6], {"own": [0], "column 1": [1]}),
    "products that meet in a column": (
        [("within", On([0], NEAR) * On([1], NEAR)), ("other", On([0], NEAR) * On([2], NEAR))],
        X[:, :6], {"column 0": [0], "column 1": [1], "column 2": [2]}),
    "views and a product across them": (
        [("plain", NEAR, "a"), ("b", NEAR, "b"), ("within", On(("a", [0]), NEAR) * On(("a", [1]), NEAR)),
         ("across", On(("a", [0]), NEAR) * On("b", NEAR))],
        VIEWS, {"a": [0, 2], "b": [1], "across": [3]}),
    "columns of one view, named by their first kernel": (
        [("p", FAR, ("a", [0])), ("q", NEAR, ("a", [0])), ("r", LINE, ("a", [1]))], {"a": X[:, :2]},
        {"p": [0, 1], "r": [2]}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_kernels_of_the_same_data_are_a_source_and_shared_columns_are_sources_themselves(case):
    kernels, data, expected = CASES[case]
    chosen = KernelList.from_spec(kernels, data)
    usual = default_sources(chosen, chosen.names)
    columns = column_sources(data, chosen, usual) if isinstance(data, np.ndarray) else {}
    assert {name: list(own) for name, own in (columns or usual).items()} == expected


def test_kernels_that_we_chose_belong_to_their_view():
    kernels, data, _ = CASES["columns of one view, named by their first kernel"]
    chosen = KernelList.from_spec(kernels, data)
    chosen.chosen = "by us"
    assert [which.tolist() for which in default_sources(chosen, chosen.names).values()] == [[0, 1, 2]]


def test_sources_that_the_user_gives_are_names_or_places_of_kernels():
    kernels, y = CASES["the same columns"][0], X[:, 0] > 0
    model, given = MKLClassifier(kernels, C=1.0), dict(cv=2, refits=0, n_permutations=1, kernels=False)
    assert relevance(model, X, y, sources={"both": ["w", -1], "x": 0}, **given).names == ["both", "x"]
    with pytest.raises(ValueError, match="'wild', which is no kernel: the kernels are .*'w'"):
        relevance(model, X, y, sources={"both": ["wild"]}, **given)
