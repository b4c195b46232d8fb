"""Specifications become resolved kernels with names, columns and views, or errors that say what to do."""

import pickle

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp

from manykernels.kernels import (
    RBF,
    Cosine,
    KernelList,
    Linear,
    Polynomial,
    feature_bank,
    per_column,
    rbf_grid,
)
from manykernels.kernels.view_data import ViewArrays

rng = np.random.default_rng(0)
X = rng.normal(size=(20, 4))
FRAME = pd.DataFrame(X, columns=list("abcd"))


def cut(columns, X=X):
    kernels = KernelList.from_spec([("k", Linear(), columns)], X)
    return kernels.views(X)[0].X


def test_columns_are_read_as_column_transformer_reads_them():
    for columns in ([1, 3], np.array([1, 3]), [False, True, False, True], slice(1, 4, 2), [-3, -1]):
        np.testing.assert_array_equal(cut(columns), X[:, [1, 3]])
    for columns in (["b", "d"], slice("b", "d", 2), lambda frame: ["b", "d"], [1, 3]):
        np.testing.assert_array_equal(cut(columns, FRAME), X[:, [1, 3]])
    np.testing.assert_array_equal(cut("c", FRAME), X[:, [2]])
    np.testing.assert_array_equal(cut(2), X[:, [2]])
    np.testing.assert_array_equal(cut(None), X)
    np.testing.assert_array_equal(cut([1, 3], sp.csr_array(X)).toarray(), X[:, [1, 3]])


def test_views_come_from_a_dict_by_name_or_name_and_columns():
    views = {"image": X, "text": sp.csr_array(X[:, :2])}
    spec = [
        ("i", RBF(), "image"),
        ("t", Cosine(), "text"),
        ("p", Linear(), ("image", [0, 1])),
        ("q", RBF(1.0), "image"),
    ]
    kernels = KernelList.from_spec(spec, views)
    assert [v.X.shape for v in kernels.views(views)] == [(20, 4), (20, 2), (20, 2)]
    assert list(kernels.view_of) == [0, 1, 2, 0]
    assert kernels.n_features == {"image": 4, "text": 2}
    for bad in (None, "sound", ("sound", [0])):
        with pytest.raises(ValueError, match="view"):
            KernelList.from_spec([("k", RBF(), bad)], views)
    with pytest.raises(ValueError, match="different numbers of examples"):
        KernelList.from_spec([RBF()], {"a": X, "b": X[:3]})


def test_equal_columns_are_one_view_and_new_frames_are_cut_by_name():
    kernels = KernelList.from_spec([("r", RBF(), ["a", "b"]), ("l", Linear(), [0, 1]), ("all", RBF())], FRAME)
    assert list(kernels.view_of) == [0, 0, 1]
    np.testing.assert_array_equal(kernels.views(FRAME[list("dcba")])[0].X, X[:, :2])
    np.testing.assert_array_equal(KernelList.from_spec([("r", RBF(), [2])], X).views(FRAME)[0].X, X[:, [2]])
    with pytest.raises(ValueError, match="lacks"):
        kernels.views(FRAME.rename(columns={"a": "z"}))


def test_new_frames_may_have_more_columns_only_if_all_kernels_find_theirs_by_name():
    wide = {"x": FRAME.assign(more=0.0)[["more", *"abcd"]]}
    named = KernelList.from_spec([("r", RBF(), ("x", ["a"])), ("l", Linear(), ("x", ["b", "c"]))], {"x": FRAME})
    np.testing.assert_array_equal(named.views(wide)[1].X, X[:, [1, 2]])
    mixed = KernelList.from_spec([("r", RBF(), ("x", ["a"])), ("l", Linear(), "x")], {"x": FRAME})
    with pytest.raises(ValueError, match="5"):
        mixed.views(wide)


def test_names_are_made_and_made_unique():
    kernels = KernelList.from_spec([RBF(0.1), RBF(0.1), ("mine", Linear()), (None, Polynomial(2), [0])], X)
    assert kernels.names == [
        "rbf(gamma=0.1)[all]",
        "rbf(gamma=0.1)[all] #2",
        "mine",
        "polynomial(coef0=1, degree=2, gamma=1)[0]",
    ]
    assert kernels.M == len(kernels) == 4
    assert pickle.loads(pickle.dumps(kernels)).names == kernels.names


def test_a_slice_is_named_with_its_step():
    """Slices that differ in the step alone had one name."""
    slices = [slice(0, 4, 2), slice(0, 4, 3), slice(None, None, 2), slice(0, 4), slice(None)]
    names = KernelList.from_spec([(None, Linear(), one) for one in slices], X).names
    assert names == [f"linear[{where}]" for where in ("0:4:2", "0:4:3", "::2", "0:4", ":")]


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ([], "at least one"),
        ([("a", RBF()), ("a", Linear())], "more than once"),
        ([("a", RBF(), "nope")], "names"),
        ([("a", RBF(), [7])], "out of range"),
        ([("a", RBF(), [])], "selects no column"),
        ([("a", RBF(), [True, False])], "mask"),
        ([("a", RBF(), [0.5])], "must be names"),
        ([("a", RBF(), None, "mean")], "missing"),
        ([("a",)], "not \\(name, kernel\\)"),
        ([3], "not a kernel"),
        ("rbf", "not a kernel"),
        ([RBF(-1.0)], "gamma=-1.0 of RBF must be a number with 0 < gamma < inf"),
    ],
)
def test_bad_specifications_are_refused(spec, message):
    with pytest.raises(ValueError, match=message):
        KernelList.from_spec(spec, X)


def test_unknown_names_and_unusable_values_are_refused():
    with pytest.raises(ValueError, match="'z'"):
        KernelList.from_spec([("a", RBF(), ["a", "z"])], FRAME)
    for value in (np.nan, np.inf):
        bad = X.copy()
        bad[3, 1] = value
        KernelList.from_spec([("fine", RBF(), [0])], bad)
        with pytest.raises(ValueError, match="NaN|infinity"):
            KernelList.from_spec([RBF()], bad)
    with pytest.raises(ValueError, match="numeric"):
        KernelList.from_spec([RBF()], FRAME.assign(a="x"))
    with pytest.raises(ValueError, match="features"):
        KernelList.from_spec([RBF()], X).views(X[:, :2])


def test_grids_make_the_kernels_they_promise():
    assert len(feature_bank(X)) == 13 * 5
    assert [s.columns for s in per_column(RBF(1.0), ["a", "b"])] == [["a"], ["b"]]
    assert [s.kernel.gamma for s in rbf_grid(gammas=[1, 2])] == [1, 2]
    assert [s.kernel.gamma for s in rbf_grid(widths=[1.0])] == [0.5]
    assert len(rbf_grid(X, columns=[0])) == 10
    with pytest.raises(ValueError, match="rbf_grid"):
        rbf_grid()


def test_each_view_has_its_own_rule_for_missing_rows():
    """A view may lack rows if all of its kernels allow it, whatever those of other views say."""
    gaps = X.copy()
    gaps[2, 0] = np.nan
    rules = [("a", RBF(0.1), [0], "zero"), ("b", RBF(0.1), [1]), ("c", RBF(0.2), [0], "zero")]
    for specs in (rules, rules[::-1]):
        present = [view.present for view in KernelList.from_spec(specs, gaps).views(gaps)]
        assert sorted(int(np.sum(~p)) for p in present if p is not None) == [1]
        gaps_elsewhere = gaps.copy()
        gaps_elsewhere[3, 1] = np.nan
        with pytest.raises(ValueError, match="NaN"):
            KernelList.from_spec(specs, X).views(gaps_elsewhere)
    for specs in ([*rules, ("d", RBF(0.3), [0])], [("d", RBF(0.3), [0]), *rules]):
        with pytest.raises(ValueError, match="NaN"):
            KernelList.from_spec(specs, X).views(gaps)


@pytest.mark.parametrize(
    "form", [X, FRAME, sp.csr_array(X), {"x": X, "z": X[:, :2]}], ids=lambda form: type(form).__name__
)
def test_positions_of_columns_count_from_either_end_and_no_further(form):
    """Of d columns −d … d − 1 are positions, and nothing else is."""
    d = X.shape[1]
    source = ViewArrays(form)

    def ask(columns):
        return source.resolve(("x", columns) if isinstance(form, dict) else columns)[1].tolist()

    for j in range(-3 * d, 3 * d):
        for columns in (j, [j], [0, j], np.array([j, 1], np.int8), np.array([max(j, 0)], np.uint8)):
            wanted = np.atleast_1d(columns).astype(int)
            if (-d <= wanted).all() and (wanted < d).all():
                assert ask(columns) == np.arange(d)[wanted].tolist()
            else:
                with pytest.raises(ValueError, match=f"out of range: X has {d} columns"):
                    ask(columns)
    for size in (d - 1, d + 1):
        with pytest.raises(ValueError, match=f"mask of {size} entries, but X has {d} columns"):
            ask(np.ones(size, bool))
