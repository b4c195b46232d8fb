"""Views are cut as tables are, match rows by id and say what is missing."""

import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.model_selection import train_test_split
from sklearn.utils import _safe_indexing, indexable, resample
from sklearn.utils.validation import _num_samples

from manykernels import MKLClassifier, Views
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, Categorical, KernelList, On
from manykernels.sequences import Sequences
from manykernels.strings import Spectrum, WeightedDegree

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 6
TABLE = np.arange(12.0).reshape(N, 2)
TEXT = list("abcdef")
CONTENTS = {
    "array": TABLE,
    "pandas": pd.DataFrame(TABLE, columns=["u", "v"]),
    "polars": pl.DataFrame({"u": TABLE[:, 0], "s": TEXT}),
    "sparse": sp.csr_matrix(TABLE),
    "csc": sp.csc_array(TABLE),
    "list": TEXT,
    "series": pd.Series(TEXT),
    "polars series": pl.Series(TEXT),
    "objects": [{i} for i in range(N)],
}
KEYS = [
    [4, 1, 1],
    np.array([4, 1, 1]),
    slice(1, 5, 2),
    np.arange(N) % 2 == 0,
    [True, False] * 3,
    [],
    -np.arange(1, 3),
    3,
]


def rows_of(x):
    """The examples of a view as a list of lists."""
    x = x.toarray() if sp.issparse(x) else x
    return [np.atleast_1d(row).tolist() for row in (x.to_numpy() if hasattr(x, "to_numpy") else x)]


@pytest.mark.parametrize("key", KEYS, ids=str)
@pytest.mark.parametrize("kind", CONTENTS)
def test_rows_are_those_of_every_view_whatever_holds_them(kind, key):
    X = Views({"x": CONTENTS[kind], "t": TABLE})
    wanted = np.atleast_1d(pd.Series(range(N)).iloc[key])
    cuts = [X[key], X[key, ...]] + ([] if isinstance(key, int) else [_safe_indexing(X, key)])
    for cut in cuts:
        assert isinstance(cut, Views) and len(cut) == len(wanted) and cut.shape == (len(wanted), 2)
        assert rows_of(cut["x"]) == [rows_of(CONTENTS[kind])[i] for i in wanted]
        np.testing.assert_array_equal(cut["t"], TABLE[wanted])


def test_it_is_what_scikit_learn_asks_of_data():
    X = Views(CONTENTS)
    assert _num_samples(X) == len(X) == N and X.shape == (N, len(CONTENTS)) and indexable(X)[0] is X
    train, test = train_test_split(X, random_state=0)
    assert sorted(train["list"] + test["list"]) == TEXT
    assert resample(X, n_samples=9, random_state=0).shape == (9, len(CONTENTS))
    twin = pickle.loads(pickle.dumps(X))
    assert repr(twin) == repr(X) == repr(clone(X, safe=False))
    assert [len(row) for row in X] == [1] * N
    with pytest.raises(ValueError, match="no table.*views\\[name\\]"):
        np.asarray(X)


def test_views_are_found_by_name_and_position():
    X = Views({"a": TABLE, "b": TEXT, "c": TABLE + 1})
    assert X["b"] is TEXT and "b" in X and "z" not in X and X.names == X.columns == ["a", "b", "c"]
    assert (
        X[["c", "a"]].names == ["c", "a"]
        and X[2:, ["b"]].shape == (4, 1)
        and X.take([0, 2], axis=1).names == ["a", "c"]
    )
    assert X.iloc[[1, 0], 1]["b"] == ["b", "a"] and X.iloc[:, 1:].names == ["b", "c"]
    assert X.to_dict()["a"] is TABLE
    with pytest.raises(KeyError, match="no view 'z'.*'a', 'b', 'c'"):
        X["z"]
    for wrong in (N, [0.5], np.ones(3, bool), (0, 0, 0)):
        with pytest.raises(IndexError):
            X[wrong]


IDS = {"a": [7, 8, 9, 4], "b": [9, 7, 1]}
DATA = {"a": np.arange(4.0)[:, None], "b": ["nine", "seven", "one"]}


@pytest.mark.parametrize("how", ["index", "column", "dict"])
def test_ids_come_from_indices_columns_or_beside(how):
    a, b = ["x", "y", "z"], ["z", "x"]
    left, right = pd.DataFrame({"u": [1.0, 2.0, 3.0]}, index=a), pd.DataFrame({"w": [30.0, 10.0]}, index=b)
    ids = "index"
    if how == "column":
        left = left.assign(id=a)
        right, ids = pl.DataFrame({"id": b, "w": [30.0, 10.0]}), "id"
    elif how == "dict":
        right, ids = right.assign(id=b), {"left": "index", "right": "id"}
    X = Views({"left": left, "right": right}, ids=ids)
    assert X.ids.tolist() == a and list(X["right"].columns) == ["w"] and X["right"]["w"].to_list() == [10, 30]
    assert X.missing["right"].tolist() == ["y"] and "id" not in X["left"].columns


@pytest.mark.parametrize("views, ids, words", [
    ({}, None, "with at least one view"),
    (TABLE, None, "views is ndarray"),
    ({1: TABLE}, None, "name 1: give each view a text"),
    ({"a": "text"}, None, "'a'.*a str: give"),
    ({"a": 3}, None, "'a'.*a int"),
    ({"a": {1, 2}}, None, "no order"),
    ({"a": pl.LazyFrame({"u": [1]})}, None, "collect"),
    ({"a": None}, None, "nothing in"),
    ({"a": TABLE, "b": TEXT[:4]}, None, "different numbers.*'a': 6, 'b': 4.*ids="),
    ({"a": pd.Series(TEXT), "b": pd.Series(TEXT)[::-1]}, None, 'different indices.*ids="index".*reset_index'),
    (DATA, 3, "ids is a int"),
    (DATA, {"a": IDS["a"]}, "ids is for .'a'., but the views are"),
    (DATA, {"a": [7, 7, 8, 9], "b": IDS["b"]}, "ids..a.. has 7 more than once"),
    (DATA, {"a": [7, None, 8, 9], "b": IDS["b"]}, "missing value None"),
    (DATA, {"a": [7, 8], "b": IDS["b"]}, "2 entries for 4 rows"),
    (DATA, {"a": "id", "b": IDS["b"]}, "ids='id' is not found in the view 'a': it is a ndarray"),
    ({"a": pd.DataFrame({"u": [1]})}, "id", "the columns are .'u'"),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_what_cannot_be_matched_is_refused_with_the_cure(views, ids, words):
    with pytest.raises(ValueError, match=words):
        Views(views, ids=ids)


@pytest.mark.parametrize("call, words", [
    (lambda: Views(DATA, ids=IDS).to_dict(), "b of 8, 4"),
    (lambda: Views(DATA, ids=IDS, examples=[9, 5]), "examples has 5, which no view has"),
    (lambda: Views({"a": TABLE}, examples=[1]), "examples are ids, but ids=None"),
    (lambda: MKLClassifier([On("a", RBF(0.5)) * On("b", Spectrum(1))]).fit(Views(DATA, ids=IDS), [0, 1, 0, 1, 0]),
     r"lacks the view '[ab]' in .*On\('[ab]', kernel, missing=\"zero\"\)"),
    (lambda: MKLClassifier([On("a", RBF(0.5), missing="none")]).fit({"a": TABLE}, [0, 1] * 3), "missing='none'"),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_examples_that_lack_a_view_and_ids_that_no_view_has_are_refused(call, words):
    with pytest.raises(ValueError, match=words):
        call()


def test_missing_entries_stay_missing_in_the_arrays_that_were_given():
    """Of strings, categories and numbers, whatever `fit` and `predict` put there for themselves."""
    strings = np.array(["ACGT", None, "CCGT", "ACGA", "GGTA", ""], object)
    column = strings[:, None].copy()
    numbers, kinds = TABLE.copy(), np.array([["a"], [None], ["b"], ["a"], ["b"], ["b"]], object)
    numbers[2] = np.nan
    X = {"s": strings, "c": column, "x": numbers, "k": kinds, "t": TABLE}
    before = {name: values.copy() for name, values in X.items()}
    kernels = [("s", Spectrum(2), "s", "zero"), ("c", WeightedDegree(2), "c", "zero"), ("x", RBF(0.1), "x", "zero"),
               ("k", Categorical(), "k"), ("t", RBF(0.1), "t")]  # fmt: skip
    model = MKLClassifier(kernels).fit(X, [0, 1] * 3)
    model.predict(X)
    for name, values in before.items():
        np.testing.assert_array_equal(X[name], values)


@pytest.mark.parametrize("absent", ["", None, np.nan, b"", np.str_("")], ids=repr)
@pytest.mark.parametrize("kernel", [WeightedDegree(2), Spectrum(2)], ids=repr)
def test_an_example_without_letters_lacks_its_string(kernel, absent):
    """Its rows are 0, whatever stands in the place of a string, and others are as they were."""
    texts = ["ACGT", "CCGT", "ACGA", "GGTA"]
    column = np.empty((6, 1), object)
    column[:, 0] = [texts[0], absent, *texts[1:], absent]
    here = np.array([True, False, True, True, True, False])
    kernels = KernelList.from_spec([("s", kernel, "s", "zero"), ("x", RBF(0.1), "t")], {"s": column, "t": TABLE})
    for s in (column, column[:, 0], column[:, 0].tolist()):
        view = next(view for view in kernels.views({"s": s, "t": TABLE}) if view.present is not None)
        np.testing.assert_array_equal(view.present, here)
    K = PairwiseBank(kernels, {"s": column, "t": TABLE}, normalize=None).combined(np.array([1.0, 0.0]))
    assert not K[~here].any() and not K[:, ~here].any()
    np.testing.assert_allclose(K[np.ix_(here, here)], kernel(Sequences.encode(texts)), rtol=1e-6)
    none = np.array([absent] * 3, object)
    assert not kernels.views({"s": none, "t": TABLE[:3]})[0].present.any()


@pytest.mark.filterwarnings("error")
def test_a_view_whose_sum_its_type_cannot_hold():
    """The sum of a float16 table overflowed, with a warning of NumPy."""
    x = (1000 * np.random.default_rng(0).normal(size=(60, 2)) + 5000).astype(np.float16)
    y = x[:, 0] > np.median(x[:, 0])
    fits = [MKLClassifier([("k", RBF(gamma=1e-6), "x")]).fit({"x": x.astype(t)}, y) for t in (np.float16, np.float64)]
    assert fits[0].objective_ == pytest.approx(fits[1].objective_, rel=2e-3)


def test_examples_that_lack_the_sequences_are_decided_alone_as_among_others():
    """A single such example ended in a TypeError."""
    rng, ids = np.random.default_rng(0), [f"p{i}" for i in range(12)]
    texts = ["".join(row) for row in rng.choice(list("ACGT"), size=(9, 8))]
    X = Views({"rna": rng.normal(size=(12, 3)), "dna": texts}, ids={"rna": ids, "dna": ids[:9]})
    kernels = [("rna", RBF(0.1)), ("words", Spectrum(2), "dna", "zero")]
    model = MKLClassifier(kernels, C=1.0, approximation="nystroem", rank=6).fit(X, np.arange(12) % 2)
    whole, alone = model.decision_function(X), model.decision_function(X[np.array([11])])
    np.testing.assert_allclose(alone, whole[11:], rtol=1e-9)


def test_a_view_that_is_replaced_brings_its_own_examples():
    views = Views({"a": TABLE, "b": TABLE[:4]}, ids={"a": range(N), "b": range(4)})
    views["b"] = Views({"a": TABLE, "b": TABLE[2:]}, ids={"a": range(N), "b": range(2, N)})[["b"]]
    np.testing.assert_array_equal(views.present["b"], [False, False, True, True, True, True])
    views["b"] = TABLE
    assert views.present["b"].all()
