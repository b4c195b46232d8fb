"""What newcomers bring, tables of every kind and views that are not there, works or is told what to do."""

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.kernel_approximation import RBFSampler

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor, load
from manykernels.kernels import RBF, Constant, Features, Identity, KernelList, Linear, Polynomial

X, y = make_classification(80, 6, n_informative=4, random_state=0)
FRAME = pd.DataFrame(X, columns=list("uvwxyz"))
KERNELS = [("size", RBF(gamma=0.1), ["u", "w"]), ("other", Linear(), slice("x", "z"))]
VIEWS = {"a": X[:, :3], "b": X[:, 3:]}
ON_VIEWS = [("one", RBF(gamma=0.1), "a"), ("two", Linear(), "b", "zero"), ("part", RBF(gamma=0.3), ("b", [1]), "zero")]


def fitted(kernels, X, y=y, **options):
    """A classifier at one C."""
    return MKLClassifier(kernels, **{"C": 1.0} | options).fit(X, y)


class TestPolars:
    @pytest.fixture
    def frame(self):
        return pytest.importorskip("polars").DataFrame(X, schema=list("uvwxyz"))

    def test_columns_by_name_are_those_of_pandas(self, frame):
        here, there = (fitted(KERNELS, F, tol=1e-8) for F in (frame, FRAME))
        assert list(here.feature_names_in_) == list("uvwxyz")
        for one, other in ((frame, FRAME), (FRAME, frame)):
            np.testing.assert_allclose(here.decision_function(one), there.decision_function(other), atol=1e-3)

    def test_names_are_checked_at_prediction(self, frame):
        model = fitted(KERNELS, frame)
        for other in (frame[list("vuwxyz")], frame.rename({"u": "q"}), frame[:, :4]):
            with pytest.raises(ValueError, match="(?i)features? name"):
                model.predict(other)

    def test_all_the_rest_of_a_frame(self, frame):
        import polars as pl

        labels = pl.Series(["yes" if label else "no" for label in y])
        assert MKLClassifier().fit(frame, labels).predict(frame).dtype.kind in "UO"
        views = fitted([("k", RBF(gamma=0.1), ("f", ["u", "v"]))], {"f": frame})
        assert views.predict({"f": frame}).shape == (80,)
        weights = (np.arange(80) % 2).astype(float)
        assert MKLClassifier(KERNELS).fit(frame, y, sample_weight=weights).score(frame, y) > 0.5
        gaps = frame.with_columns(u=pl.when(pl.col("u") > 1).then(None).otherwise(pl.col("u")))
        model = fitted([("k", RBF(gamma=0.1), ["u"], "zero"), ("l", Linear(), ["v"])], gaps)
        assert (model.decision_parts(gaps)[X[:, 0] > 1, 0] == 0).all()
        with pytest.raises(ValueError, match="NaN in column 'u'"):
            fitted(KERNELS, gaps)
        with pytest.raises(ValueError, match="collect"):
            fitted(KERNELS, frame.lazy())


class TestColumns:
    def test_a_wrong_name_is_answered_by_the_nearest_and_a_count(self):
        wide = pd.DataFrame(np.ones((5, 1622)), columns=[f"gene{k}" for k in range(1622)])
        with pytest.raises(ValueError, match="'gen12'.*1622 columns.*'gene12'") as caught:
            KernelList.from_spec([("k", RBF(), ["gene1", "gen12"])], wide)
        assert len(str(caught.value)) < 200
        with pytest.raises(ValueError, match=r"\['q'\].*'u', 'v'"):
            KernelList.from_spec([("k", RBF(), ["q"])], FRAME)
        fitted = KernelList.from_spec([("k", RBF(), ["gene7"])], wide)
        with pytest.raises(ValueError, match="lacks.*'gene7'.*1622") as caught:
            fitted.views(wide.rename(columns={"gene7": "g"}))
        assert len(str(caught.value)) < 200

    def test_categories_and_times_are_told_with_their_columns(self):
        colours = FRAME.assign(v=["red", "blue"] * 40, w=pd.Categorical(["s", "m"] * 40))
        for data, match in [
            (colours, "columns 'v', 'w' .*'red'.*OneHotEncoder"),
            (FRAME.assign(v=pd.Timestamp("2020-01-01")), "column 'v'"),
            (FRAME[["u"]].astype("datetime64[ns]"), "times in column 'u'"),
            (FRAME.assign(v=1j), "complex numbers in column 'v'"),
            (colours.to_numpy(), "columns 1, 2 .*'red'"),
            (colours.to_numpy().astype(str), "columns 1, 2 .*'red'"),
        ]:
            with pytest.raises(ValueError, match=match):
                fitted([RBF(gamma=0.1)], data)
        chosen = [MKLClassifier().fit(data, y).kernel_names_ for data in (colours, colours.to_numpy())]
        assert len(chosen[0]) == len(chosen[1]) and chosen[1][-1] == "column 2"  # an array is chosen for as a frame is
        assert fitted([("k", RBF(gamma=0.1), ["u", "x"])], colours).score(colours, y) > 0.5

    def test_names_that_occur_twice_are_refused(self):
        for kernels in (KERNELS, [("k", RBF(), [0])], "auto"):
            with pytest.raises(ValueError, match="2 columns called 'u'.*rename"):
                fitted(kernels, FRAME.set_axis(list("uuwxyz"), axis=1))

    def test_nullable_numbers_are_numbers(self):
        plain = FRAME.assign(v=np.arange(80) % 4, w=X[:, 2] > 0)
        kinds = plain.astype({"v": "Int64", "w": "boolean", "x": "Float64"})
        kernels = [RBF(gamma=0.1), ("part", Linear(), ["v", "w"])]
        ours, theirs = (fitted(kernels, F, tol=1e-8).decision_function(F) for F in (kinds, plain))
        np.testing.assert_allclose(ours, theirs, atol=1e-3)
        gaps = kinds.assign(v=pd.array([1, None] * 40, dtype="Int64"), note="n")
        with pytest.raises(ValueError, match="NaN in column 'v'"):
            fitted([("k", RBF(), ["u", "v"])], gaps)
        model = fitted([("k", RBF(), ["u"]), ("z", RBF(), ["v"], "zero")], gaps, normalize="trace")
        assert (model.decision_parts(gaps)[1::2, 1] == 0).all()


class TestViews:
    def test_identity_and_constant_need_none(self, tmp_path):
        slack = [("slack", Identity()), ("base", Constant(2.0)), ("both", Identity() + Constant(1.0))]
        model = fitted(ON_VIEWS + slack, VIEWS, tol=1e-8)
        flat = [("one", RBF(gamma=0.1), slice(0, 3)), ("two", Linear(), slice(3, 6)), ("part", RBF(gamma=0.3), [4])]
        alike = fitted(flat + slack, X, tol=1e-8)
        np.testing.assert_allclose(model.kernel_weights_, alike.kernel_weights_, atol=1e-3)
        np.testing.assert_allclose(model.decision_function(VIEWS), alike.decision_function(X), atol=1e-3)
        model.save(tmp_path / "m.mk")
        np.testing.assert_array_equal(load(tmp_path / "m.mk").predict(VIEWS), model.predict(VIEWS))

    @pytest.mark.parametrize("matrix", [np.asarray, sp.csr_array])
    def test_none_is_a_view_that_no_new_example_has(self, matrix):
        model = fitted(ON_VIEWS, {"a": X[:, :3], "b": matrix(X[:, 3:])})
        parts = model.decision_parts(VIEWS)
        alone = {"b": None, "a": X[:, :3]}
        np.testing.assert_allclose(model.decision_parts(alone), parts * [1, 0, 0], atol=1e-9)
        np.testing.assert_allclose(model.decision_function(alone), parts[:, 0] + model.intercept_, atol=1e-9)
        with pytest.raises(ValueError, match="'a'.*None.*zero"):
            model.predict({"a": None, "b": X[:, 3:]})

    def test_examples_may_lack_some_explicit_features_and_have_others(self):
        sampler = Features(RBFSampler(gamma=0.1, n_components=20, random_state=0))
        kernels = [("f", sampler, [0, 1], "zero"), ("l", Linear(), [2], "zero"), ("m", Linear(), [3, 4], "zero")]
        model = fitted(kernels, X, solver="coordinate")
        gaps, has = X.copy(), np.ones((80, 3), bool)
        for column, m, rows in ((0, 0, slice(0, 80, 2)), (2, 1, slice(0, 80, 3)), (4, 2, slice(0, 80, 5))):
            gaps[rows, column], has[rows, m] = np.nan, False
        np.testing.assert_allclose(model.decision_parts(gaps), model.decision_parts(X) * has, atol=1e-9)
        total = (model.decision_parts(X) * has).sum(axis=1) + model.intercept_
        np.testing.assert_allclose(model.decision_function(gaps), total, atol=1e-9)

    @pytest.mark.parametrize(
        "new, match",
        [
            ({"a": X[:, :3]}, r"fitted on \['a', 'b'\].*give \['b'\]"),
            (VIEWS | {"c": X}, r"leave out \['c'\]"),
            ({"a": X[:, :3], "c": X}, r"leave out \['c'\] and give \['b'\]"),
            ({"a": X[:9, :3], "b": X[:, 3:]}, "different numbers.*'a': 9, 'b': 80"),
            ({"a": None, "b": None}, "nothing in its views"),
            ({"a": 3, "b": X[:, 3:]}, r"X\['a'\] is a int"),
            ({"a": X, "b": X[:, 3:]}, "'a': 6.*'a': 3"),
            ({}, "views"),
            (X, r"fitted on views.*\['a', 'b'\]"),
        ],
    )
    def test_views_that_differ_from_fit_are_named(self, new, match):
        model = fitted(ON_VIEWS, VIEWS)
        with pytest.raises(ValueError, match=match):
            model.predict(new)
        with pytest.raises(ValueError, match="one table"):
            fitted([RBF(gamma=0.1)], X[:, :2]).predict(VIEWS)

    @pytest.mark.parametrize(
        "views, match",
        [
            ({"a": X[:9, :3], "b": X[:, 3:]}, "different numbers.*'a': 9, 'b': 80"),
            ({"a": X[:, :3], "b": None}, r"X\['b'\] is None.*NaN"),
            ({"a": X[:, :3]}, r"columns='b' names no view.*\['a'\]"),
            ({}, "view"),
        ],
    )
    def test_views_that_cannot_be_fitted_are_named(self, views, match):
        for model in (MKLClassifier(ON_VIEWS), MKLRegressor(ON_VIEWS), MKLOneClass(ON_VIEWS)):
            with pytest.raises(ValueError, match=match):
                model.fit(views, y)


@pytest.mark.parametrize(
    "form", ["csr_array", "csc_matrix", "coo_array", "lil_matrix", "dok_array", "dia_matrix", "bsr_array"]
)
def test_sparse_and_dense_may_follow_each_other(form):
    thin = getattr(sp, form)(np.where(np.abs(X) > 0.5, X, 0.0))
    full = thin.toarray()
    kernels = [RBF(gamma=0.1), Linear(), Polynomial(2), RBF(gamma=0.1) * Linear(), Features(RBFSampler(random_state=0))]
    models = [fitted(kernels, data, tol=1e-8) for data in (full, thin)]
    expected = models[0].decision_function(full)
    for model in models:
        for data in (full, thin):
            np.testing.assert_allclose(model.decision_function(data), expected, atol=1e-3)
