"""Unusual containers and entries: integers, truth values, nullable numbers, sparse gaps, names that occur twice."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import FunctionTransformer

from manykernels import KernelStack, MKLClassifier, Views
from manykernels.kernels import RBF, Categorical, Kernel, KernelList, Linear, On, Precomputed
from manykernels.kernels.column_kinds import describe
from manykernels.kernels.frames import completed, values
from manykernels.kernels.pair_blocks import PairBase
from manykernels.kernels.table import choose_for
from manykernels.kernels.table_scaler import TableScaler
from manykernels.kernels.view_data import ViewArrays
from manykernels.strings import Spectrum

pl = pytest.importorskip("polars")
rng = np.random.default_rng(5)
y = np.arange(12) % 2


@pytest.mark.parametrize("dtype", [int, bool, np.float16, np.uint8, object])
def test_matrices_of_any_numbers_are_those_of_float64(dtype):
    K = (np.eye(12) * 3 + np.outer(y, y)).round().astype(dtype)
    stack = KernelStack([K, K.T])
    assert stack.dtype == np.float64 and stack[:3].dtype == np.float64 and np.asarray(stack).dtype == np.float64
    np.testing.assert_array_equal(stack.matrices[0], K.astype(float))
    one = MKLClassifier("precomputed", C=1.0).fit(stack, y)
    other = MKLClassifier("precomputed", C=1.0).fit(KernelStack([K.astype(float)] * 2), y)
    np.testing.assert_array_equal(one.decision_function(stack), other.decision_function(stack))
    assert KernelStack([K.astype(np.float32)]).dtype == np.float32  # the only other type that is kept
    table = Precomputed.table(K.tolist())
    assert table.dtype == np.float64
    np.testing.assert_array_equal(table[:, 1:], K.astype(float))


def test_two_columns_of_one_name_are_refused_wherever_the_frame_stands():
    twice = pd.DataFrame(rng.normal(size=(12, 3)), columns=["a", "b", "a"])
    for kernels, X in (([RBF(0.1)], twice), ([("k", Linear(), "v")], {"v": twice}), ([("k", Linear(), [1])], twice)):
        with pytest.raises(ValueError, match="X has 2 columns called 'a'"):
            KernelList.from_spec(kernels, X)


def test_a_view_that_is_not_there_is_named():
    arrays = ViewArrays({"a": np.ones((3, 2)), "s": ["AC", "GT", "AA"]})
    for read in (arrays.cut, arrays.column):
        with pytest.raises(ValueError, match="X lacks the view 'b'; it has .'a', 's'."):
            read("b")


def test_sparse_data_with_gaps_are_refused_by_their_columns_and_with_the_cure():
    x = np.where(rng.random((12, 5)) < 0.5, rng.normal(size=(12, 5)), 0.0)
    x[3, 2] = x[5, 4] = np.nan
    for form in (sp.csr_array, sp.csc_matrix):
        with pytest.raises(ValueError, match="X contains NaN in columns 2, 4, which a kernel sees"):
            KernelList.from_spec([Linear()], form(x)).views(form(x))
        with pytest.raises(ValueError, match='missing="zero" needs dense data, X is sparse and contains NaN'):
            KernelList.from_spec([("k", Linear(), None, "zero")], form(x)).views(form(x))
        whole = KernelList.from_spec([("k", Linear(), [0, 1, 3], "zero")], form(x)).views(form(x))[0]
        np.testing.assert_array_equal(whole.X.toarray(), x[:, [0, 1, 3]])
    x[5, 4] = np.inf
    with pytest.raises(ValueError, match="X contains infinity in column 4;"):
        KernelList.from_spec([RBF("scale")], sp.csr_array(x))


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_transformer_that_makes_gaps_is_named_with_the_first_row_of_dense_data(form):
    X = rng.normal(size=(12, 2))
    kernels = KernelList.from_spec([("k", FunctionTransformer(_spoil, accept_sparse=True), Linear())], form(X))
    X[[4, 7], 1] = 99.0
    with pytest.raises(ValueError, match="made NaN or infinity of X") as error:
        kernels.views(form(X))
    assert ("(in row 4)" in str(error.value)) == (form is np.asarray)


def _spoil(X):
    """NaN for 99."""
    X = X.copy()
    entries = X.data if sp.issparse(X) else X
    entries[entries == 99.0] = np.nan
    return X


def test_nullable_numbers_are_numbers_with_gaps():
    frame = pd.DataFrame({"i": pd.array([1, None, 3, 5], "Int64"), "x": pd.array([0.5, 1.5, None, 2.0], "Float64")})
    plain = np.array([[1.0, 0.5], [np.nan, 1.5], [3.0, np.nan], [5.0, 2.0]])
    np.testing.assert_array_equal(values(frame), plain)
    parts = [("numbers", 1), ("numbers", 1)]
    np.testing.assert_array_equal(TableScaler(parts).fit_transform(frame), TableScaler(parts).fit_transform(plain))
    mixed = frame.assign(c=["u", "v", None, "u"])
    found = TableScaler([*parts, ("categories", 1)]).fit_transform(mixed)
    np.testing.assert_array_equal(found[:, :2], TableScaler(parts).fit_transform(plain))


def test_frames_of_polars_keep_the_types_of_their_entries():
    frame = pl.DataFrame({"day": pd.to_datetime(["2024-03-01", "2024-03-05"]).to_list(), "yes": [True, False]})
    x = values(frame)
    assert x.shape == (2, 2) and x.dtype == object and x[:, 1].tolist() == [True, False]
    assert [when.day for when in x[:, 0]] == [1, 5]
    row = values(frame[:1])
    assert row.shape == (1, 2) and row.dtype == object and row[0, 1] is True


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_columns_that_no_kernel_needs_may_be_lacking_and_the_order_is_that_of_fit(make):
    data = {"a": [1.0, 2.0], "b": [3.0, 4.0]}
    whole = completed(make(data), ["b", "c", "a"])
    assert list(whole.columns) == ["b", "c", "a"]
    np.testing.assert_array_equal(np.asarray(values(whole), float), [[3, np.nan, 1], [4, np.nan, 2]])
    X = {"a": rng.normal(size=12), "b": rng.normal(size=12), "c": rng.normal(size=12)}
    model = MKLClassifier([("a", RBF(0.5), ["a"]), ("b", Linear(), ["b"])], C=1.0).fit(make(X), y)
    less = make({"b": X["b"], "a": X["a"]})
    np.testing.assert_array_equal(model.decision_function(less), model.decision_function(make(X)))
    with pytest.raises(ValueError, match="'a'|a"):
        model.decision_function(make({"b": X["b"], "c": X["c"]}))


def test_new_columns_of_a_view_are_refused_beside_a_product_across_views():
    """A product keeps the positions of its columns, so that names of others do not help."""
    X = {"p": pd.DataFrame(rng.normal(size=(12, 2)), columns=["a", "b"]), "q": rng.normal(size=(12, 2))}
    more = X | {"p": X["p"].assign(c=1.0)[["c", "b", "a"]]}
    plain = [("one", RBF(0.1), ("p", ["a"])), ("two", Linear(), ("p", ["b"]))]
    found = KernelList.from_spec(plain, X)
    for one, other in zip(found.views(more), found.views(X), strict=True):
        np.testing.assert_array_equal(one.X, other.X)
    for kernels in ([*plain, ("q", Linear(), "q"), On(("p", ["a"]), RBF(0.1)) * On("q", Linear())],
                    [On(("p", ["a"]), RBF(0.1)) * On("q", Linear()), *plain]):  # fmt: skip
        with pytest.raises(ValueError, match="features, but the kernels were specified on"):
            KernelList.from_spec(kernels, X).views(more)


@pytest.mark.parametrize("lost", [None, np.nan, "", "  "])
def test_lengths_are_those_of_the_sequences_that_are_there(lost):
    texts = ["ACGTACGT", lost, "ACGTAC", lost, "ACGTACGTA"]
    for X in (np.array(texts, object), pd.DataFrame({"s": texts})):
        columns = ["s"] if isinstance(X, pd.DataFrame) else None
        kernels = KernelList.from_spec([("k", Spectrum(3), columns, "zero")], X)
        assert kernels.training_facts.lengths == [(6, 9)]
        assert [one.kind for one in kernels.news(X, np.ones(1, bool))] == []


def facts(**columns):
    return describe((name, np.asarray(x, object)) for name, x in columns.items())


def test_sequences_that_repeat_are_sequences_if_they_are_dna_or_long_proteins():
    """Proteins that repeat as categories do have 20 letters or more."""
    dna = ["ACGTACGTAC", "TTGCATGCAA", "GGGTACCATT"] * 8
    short, long = ["MKVLAAGIWF", "WYCCPLMKHE"] * 12, ["MKVLAAGIWFDERTYHKLPQSN", "WYCCPLMKHEWYCCPLMKHEDE"] * 12
    found = facts(dna=dna, short=short, long=long, word=["left", "right"] * 12)
    assert [column.kind for column in found] == ["sequences", "categories", "sequences", "categories"]
    assert not found[3].strings and len(found[0].strings) > 0


def test_the_sentence_of_a_table_speaks_of_gaps_only_where_there_are_some():
    whole = {"a": rng.normal(size=24), "b": rng.normal(size=24)}
    for gap, words in ((None, "standardised; an RBF on each of them"),
                       ("b", "standardised, gaps filled in by means; an RBF on each of them")):  # fmt: skip
        columns = {name: np.where(np.arange(24) == 3, np.nan, x) if name == gap else x for name, x in whole.items()}
        specs, said = choose_for(facts(**columns), 24)
        assert said == (
            f"8 kernels: RBF and Laplacian of 3 widths each on all 2 columns of numbers, {words} "
            "(single columns: prior 0.2)"
        )
        assert len(specs) == 8
    categories = facts(a=whole["a"], c=[["u", "v", None][i % 3] for i in range(24)])
    assert "gaps" not in choose_for(categories, 24)[1]  # a missing category has no indicator
    days = pd.date_range("2024-01-01", periods=24).strftime("%Y-%m-%d")
    dates = facts(a=whole["a"], d=np.where(np.arange(24) == 2, None, days))
    assert "standardised, gaps filled in by means" in choose_for(dates, 24)[1]


def test_categories_of_a_series_a_list_and_an_array_are_the_same():
    texts = ["u", "v", None, "u"]
    wanted = Categorical()(np.array(texts, object)[:, None])
    for X in (texts, pd.Series(texts), np.array(texts, object), pd.DataFrame({"s": texts}), pl.DataFrame({"s": texts})):
        np.testing.assert_array_equal(Categorical()(X), wanted)
    np.testing.assert_array_equal(wanted, [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 0, 0], [1, 0, 0, 1]])


class Lengths(Kernel):
    """k(x, y) of the lengths of two lists."""

    reads = "objects"

    def __call__(self, X, Y=None):
        return np.array([[len(x) * len(y) for y in (X if Y is None else Y)] for x in X], dtype=float)


def test_objects_of_equal_lengths_stay_objects():
    """A list of lists is no table for a kernel of objects; an array keeps its shape."""
    lists = [[1, 2], [3, 4], [5, 6]]
    for X, columns in ((lists, None), ({"v": lists}, "v"), ({"v": lists, "x": np.eye(3)}, "v")):
        (view,) = KernelList.from_spec([("k", Lengths(), columns)], X).views(X)
        assert view.X.shape == (3,) and view.X.tolist() == lists and view.present is None
    table = np.array(lists)
    (view,) = KernelList.from_spec([Lengths()], table).views(table)
    assert view.X.shape == (3, 2)
    numbers = KernelList.from_spec([Linear()], lists).views(lists)[0]
    np.testing.assert_array_equal(numbers.X, table)


def test_frames_of_different_indices_are_not_laid_side_by_side():
    one = pd.DataFrame(rng.normal(size=(4, 2)), index=[3, 1, 2, 0])
    other = pd.DataFrame(rng.normal(size=(4, 2)), index=[0, 1, 2, 3])
    for views in ({"a": one, "b": other}, {"a": other, "x": np.eye(4), "b": one}):
        with pytest.raises(
            ValueError, match="The views 'a' and 'b' have the same number of rows but different indices"
        ):
            Views(views)
    np.testing.assert_array_equal(Views({"a": one, "b": other}, ids="index")["b"], other.loc[[3, 1, 2, 0]])
    assert len(Views({"a": one, "b": other.reindex([3, 1, 2, 0]), "x": np.eye(4)})) == 4


@pytest.mark.parametrize("kind", ["dot", "sqdist"])
@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_numbers_whose_products_overflow_are_refused_by_their_column(kind, form):
    x = np.array([[0.0, 1.0, 0.0], [2.0, 0.0, 3e25], [1.0, -1e25, 1.0]])
    with pytest.raises(ValueError, match="X holds values of about [23]e.25 in column 2 of the 3 that a kernel sees"):
        PairBase(kind, form(x), np.float32).side(form(x))
    side = PairBase("dot", form(x), np.float64).side(form(x))
    np.testing.assert_allclose(side.own, (x**2).sum(axis=1))
