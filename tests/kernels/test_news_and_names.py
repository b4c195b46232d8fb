"""What a list knows of its examples: names of columns, views that are missing, and what is new in new examples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import ColumnTransformer
from sklearn.preprocessing import OneHotEncoder, OrdinalEncoder

from manykernels import Views, kernels, strings
from manykernels.kernels import (
    RBF,
    KernelList,
    Linear,
)
from manykernels.kernels.new_data import facts_of_state, unequal, wordless
from manykernels.kernels.view_data import ViewArrays

rng = np.random.default_rng(17)
X = rng.normal(size=(20, 4))


def test_labels_of_columns():
    for columns, label in (
        ([0], "column 0"), ([0, 1, 2], "columns 0, 1, 2"), ([0, 2, 3, 4], "columns 0, 2, 3, 4"),
        ([1, 2, 3, 4], "columns 1 to 4"), ([0, 2, 3, 4, 6], "columns 0, 2, 3, … 5 in all"),
    ):  # fmt: skip
        found = KernelList.from_spec([("k", Linear(), columns)], rng.normal(size=(5, 7)))
        assert found.seen(0) == label


def test_lists_of_sequences_of_unequal_lengths_are_spherical_by_default():
    texts = ["ACGTACGTAC" * k for k in (1, 2, 5)]
    found = KernelList.from_spec([strings.Spectrum(3)], texts)
    assert found.training_facts.grows and found.normalization("auto", "multiplicative") == "spherical"
    assert found.normalization("trace", "multiplicative") == "trace"
    equal = KernelList.from_spec([strings.Spectrum(3)], [text[:10] for text in texts])
    assert equal.normalization("auto", "multiplicative") == "multiplicative"
    assert unequal(found, np.ones(1, bool)) == (found.names[0], 8, 48) or unequal(found, np.ones(1, bool))[1:] == (
        10,
        50,
    )
    near = KernelList.from_spec([strings.Spectrum(3)], ["ACGTACGTACGT", "ACGTACGTACGTAC"])
    assert unequal(near, np.ones(1, bool)) is None and wordless(near, np.ones(1, bool)) is None
    state = found.training_facts.to_state()
    assert facts_of_state(state, {None: 1}, 1) == found.training_facts
    assert facts_of_state(state | {"grows": False}, {None: 1}, 1).grows is False


def told(found, new, used=None, growing=True):
    used = np.ones(found.M, bool) if used is None else used
    return {(one.kind, one.where): (one.rows.tolist(), one.example) for one in found.news(new, used, growing)}


def test_news_of_lengths_and_of_words():
    texts = ["ACGTACGTAC", "ACGTACGTACGTACGTACGT"]
    found = KernelList.from_spec([("words", strings.Spectrum(3))], texts)
    new = ["ACGTACGTACGT", "AC", "ACG" * 40, "ACGTAC"]
    news = told(found, new)
    lengths = news["length", "kernel 'words'"]
    assert 2 in lengths[0] and 1 in lengths[0] and 0 not in lengths[0]
    short = news["short", "kernel 'words'"]
    assert short[0] == [1] and short[1][0] == 3
    assert ("length", "kernel 'words'") not in told(found, new, growing=False)
    assert told(found, [" ACGTACGTACGT  "]) == {}
    two = told(found, ["A", "AC"])["short", "kernel 'words'"]
    assert two[0] == [0, 1] and two[1][1] <= 1  # the shortest of them


def test_news_of_gaps_are_those_of_the_columns_that_kernels_see():
    frame = pd.DataFrame(X, columns=list("pqrs"))
    found = KernelList.from_spec([("a", RBF(0.1), ["p"], "zero"), ("b", RBF(0.1), ["q", "r"], "zero")], frame)
    new = frame.iloc[:3].copy()
    new.iloc[1, 0] = new.iloc[2, 3] = np.nan
    assert told(found, new) == {("missing", "column 'p'"): ([1], None)}
    assert told(found, new, np.array([False, True])) == {}
    old = frame.copy()
    old.iloc[0, 0] = np.nan
    assert told(KernelList.from_spec([("a", RBF(0.1), ["p"], "zero")], old), new) == {}


def test_news_of_views_that_are_missing():
    present = np.array([True, True, False, True])
    lacking = Views({"b": X[:4], "a": X[:4][present]}, ids={"b": np.arange(4), "a": np.flatnonzero(present)})
    whole = Views({"a": X[:4], "b": X[:4]})
    specs = [("a", RBF(0.1), "a", "zero"), ("b", RBF(0.1), "b")]
    assert told(KernelList.from_spec(specs, whole), lacking) == {("missing", "the view 'a'"): ([2], None)}
    assert told(KernelList.from_spec(specs, lacking), lacking) == {}


@pytest.mark.parametrize("kernel", [
    [kernels.Categorical()], [OneHotEncoder(handle_unknown="ignore"), RBF(0.1)],
    [OrdinalEncoder(handle_unknown="use_encoded_value", unknown_value=-1), RBF(0.1)],
], ids=["own", "one-hot", "ordinal"])  # fmt: skip
def test_the_first_new_category_is_the_example(kernel):
    table = np.array([["u", "p"], ["v", "p"], ["u", "q"]], object)
    found = KernelList.from_spec([("k", *kernel)], table)
    new = np.array([["u", "p"], ["w", "p"], ["x", "q"]], object)
    assert told(found, new) == {("category", "column 0"): ([1, 2], "w")}


def test_views_are_indexed_copied_and_replaced():
    ids = np.array([7, 8, 9, 10])
    views = Views({"a": X[:4], "b": X[1:3, :2]}, ids={"a": ids, "b": [8, 10]})
    assert views.missing["b"].tolist() == [7, 9] and "b: ndarray (2, 2), 2 examples lack it" in repr(views)
    part = views[[3, 1]]
    assert part.ids.tolist() == [10, 8] and part.missing == {} and "lack" not in repr(part)
    np.testing.assert_array_equal(part["b"], X[[2, 1], :2])
    one = views[[2, 1]]
    assert "1 example lacks it" in repr(one) and one.missing["b"].tolist() == [9]
    np.testing.assert_array_equal(one["b"], X[1:2, :2])
    mask = views.present["b"]
    mask[:] = True
    assert not views.present["b"].all()
    twin = views.copy()
    twin["c"] = X[:4]
    assert "c" not in views and twin.names == ["a", "b", "c"]
    twin["b"] = X[:4]
    assert twin.missing == {} and views.missing
    views.index = [1, 2, 3, 4]
    assert views.missing["b"].tolist() == [1, 3]
    plain = Views({"a": X[:4]})
    plain.index = list("wxyz")
    assert plain.ids is None
    for wrong in (X[:3], X[:5]):
        with pytest.raises(ValueError, match="one view of 4 examples"):
            plain["a"] = wrong


def test_an_example_is_absent_if_all_of_its_entries_are_missing():
    x = np.array([[1.0, np.nan], [np.nan, np.nan], [2.0, 3.0]])
    found = KernelList.from_spec([("k", kernels.Gower(), None, "zero")], x)
    (view,) = found.views(x)
    assert view.present.tolist() == [True, False, True]


def test_columns_are_found_from_either_end_by_names_and_masks():
    frame = pd.DataFrame(X, columns=list("pqrs"))
    arrays, plain = ViewArrays(frame), ViewArrays(X)
    for columns, indices, label in (
        (slice("q", "r"), [1, 2], "q:r"), (slice("r", None), [2, 3], "r:"), (["s", "p"], [3, 0], "s,p"),
        ([-1, 0], [3, 0], "-1,0"), ([True, False, True, False], [0, 2], "True,False,True,False"),
        (slice(None, None, 2), [0, 2], "::2"),
    ):  # fmt: skip
        view, found, called = arrays.resolve(columns)
        assert view is None and found.tolist() == indices and called == label
    for wrong in ([True] * 3, [True] * 5, [4], [-5]):
        with pytest.raises(ValueError, match="columns"):
            plain.resolve(wrong)
    shuffled = ViewArrays(frame[["s", "r", "q", "p"]])
    np.testing.assert_array_equal(shuffled.cut(None, [0, 2], ["p", "r"]), X[:, [0, 2]])
    assert arrays.labels(None, [2, 0]) == ["r", "p"] and plain.labels(None, [2, 0]) == [2, 0]
    assert ViewArrays({"v": frame}).labels("v", [1]) == ["v: q"]


def test_an_example_may_lack_a_view_or_have_a_gap_in_it():
    x = X.copy()
    x[2, 0] = np.nan
    views = Views({"b": X[:12], "a": x[:10]}, ids={"b": np.arange(12), "a": np.arange(10)})
    found = KernelList.from_spec([("a", RBF(0.1), "a", "zero")], views)
    (view,) = found.views(views)
    assert np.flatnonzero(~view.present).tolist() == [2, 10, 11]
    again = KernelList.from_state(found.to_state())
    assert np.flatnonzero(~again.views(views)[0].present).tolist() == [2, 10, 11]
    assert again.training_facts == found.training_facts


def test_texts_of_spaces_are_missing():
    texts = np.array(["ACGT", "  ", None, "ACGA"], object)
    found = KernelList.from_spec([("k", strings.Spectrum(2), None, "zero")], texts)
    assert found.views(texts)[0].present.tolist() == [True, False, False, True]


def test_examples_that_lack_a_view_have_no_news_of_their_own():
    """Their rows hold the data of other examples."""
    ids = {"b": np.arange(5), "a": [0, 1, 2, 4]}
    specs = [("a", RBF(0.1), ("a", [0]), "zero"), ("b", RBF(0.1), "b")]
    found = KernelList.from_spec(specs, Views({"b": X[:5], "a": X[:4]}, ids=ids))
    gap = X[:4].copy()
    gap[2, 0] = np.nan
    assert told(found, Views({"b": X[:5], "a": gap}, ids=ids)) == {("missing", "column 0 of the view 'a'"): ([2], None)}
    table = np.array([["u"], ["v"], ["u"], ["v"]], object)
    found = KernelList.from_spec([("a", kernels.Categorical(), "a", "zero")], Views({"b": X[:5], "a": table}, ids=ids))
    new = np.array([["u"], ["v"], ["w"], ["v"]], object)
    assert [rows for rows, _ in told(found, Views({"b": X[:5], "a": new}, ids=ids)).values()] == [[2]]
    texts = ["ACGTACGTAC", "ACGTACGTACGT", "ACGTACGTACGTAC", "ACGTACGTAC"]
    found = KernelList.from_spec(
        [("a", strings.Spectrum(3), "a", "zero"), ("b", RBF(0.1), "b")], Views({"b": X[:5], "a": texts}, ids=ids)
    )
    new = [*texts[:2], "A", texts[3]]
    news = told(found, Views({"b": X[:5], "a": new}, ids=ids))
    assert {rows[0] for rows, _ in news.values()} == {2} and all(len(rows) == 1 for rows, _ in news.values())


def test_short_texts_are_news_if_training_texts_were_longer():
    found = KernelList.from_spec([("words", strings.Spectrum(3))], ["ACGTACGTAC", "ACGTACGTACGTACGTACGT"])
    assert told(found, ["    AC      "])["short", "kernel 'words'"][0] == [0]  # spaces are no letters
    known = KernelList.from_spec([("words", strings.Spectrum(3))], ["AC", "ACGTACGTACGTACGTACGT"])
    assert ("short", "kernel 'words'") not in told(known, ["A"])
    assert wordless(known, np.ones(1, bool)) == ("words", 3, 2)


def test_kernels_across_views_are_named_themselves():
    texts = ["ACGTACGTAC" * k for k in (1, 2, 5)]
    views = {"s": texts, "x": X[:3]}
    product = kernels.On("s", strings.Spectrum(3)) * kernels.On("x", RBF(0.1))
    found = KernelList.from_spec([("both", product)], views)
    assert unequal(found, np.ones(1, bool))[0] == "both"


def test_encoders_of_some_columns_name_these_columns():
    table = np.array([[1, "u", "p"], [2, "v", "q"], [3, "u", "p"]], object)
    before = ColumnTransformer([("codes", OneHotEncoder(handle_unknown="ignore"), [2])])
    found = KernelList.from_spec([("k", before, RBF(0.1))], table)
    assert told(found, np.array([[1, "z", "p"], [2, "u", "r"]], object)) == {("category", "column 2"): ([1], "r")}
