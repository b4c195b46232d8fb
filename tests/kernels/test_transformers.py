"""Transformers before kernels are fitted on training examples alone; categories and products across columns."""

import pickle
import warnings

import numpy as np
import pytest
import scipy.sparse as sp
from covering import covering
from sklearn.base import BaseEstimator, TransformerMixin, clone
from sklearn.compose import make_column_transformer
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import CountVectorizer, TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import (
    FunctionTransformer,
    MinMaxScaler,
    PowerTransformer,
    SplineTransformer,
    StandardScaler,
)

from manykernels import KernelStack, MKLClassifier, MKLRegressor, Views
from manykernels.kernels import RBF, Categorical, Features, Identity, KernelList, KernelSpec, Linear, On, Polynomial
from manykernels.strings import Spectrum

pd = pytest.importorskip("pandas")
pl = pytest.importorskip("polars")

N = 40
rng = np.random.default_rng(5)
y = np.arange(N) % 2
A = rng.normal(size=(N, 4)) * [1, 5, 20, 0.1] + y[:, None]
TEXT = [" ".join(rng.choice(["red", "fox", "blue", "sky", "sea"], 4)) for _ in range(N)]
SEX = rng.choice(["f", "m"], N).tolist()
TRAIN = np.arange(30)
PIPE = make_pipeline(StandardScaler(), PCA(2))


def fit(kernels, X, **params):
    return MKLClassifier(kernels, tol=1e-7, **params).fit(X, y[: len(X) if hasattr(X, "__len__") else X.shape[0]])


@pytest.mark.parametrize("features", ["never", "auto"])
@pytest.mark.parametrize("make", [
    lambda: [("a", PIPE, RBF(gamma=0.3))],
    lambda: [("a", PIPE, RBF(gamma=0.3)), ("b", clone(PIPE), RBF(gamma=3.0)), ("raw", Linear())],
    lambda: [KernelSpec("a", RBF(gamma=0.3), transformer=PIPE)],
    lambda: [On(slice(None), RBF(gamma=0.3), PIPE)],
    lambda: [Features(make_pipeline(PIPE, RBFSampler(n_components=9, random_state=0)))],
    lambda: [("f", PIPE, Features(RBFSampler(n_components=9, random_state=0)))],
], ids=["tuple", "shared", "spec", "on", "features", "features behind"])  # fmt: skip
def test_it_is_fitted_on_the_training_examples_and_applied_to_the_others(make, features):
    kernels = make()
    model = fit(kernels, A[TRAIN], features=features)
    before = clone(PIPE).fit(A[TRAIN])
    own, new = before.transform(A[TRAIN]), before.transform(A)
    if "Features" in repr(kernels):
        sampler = RBFSampler(n_components=9, random_state=0).fit(own)
        own, new = sampler.transform(own), sampler.transform(new)
        by_hand = fit([Linear()], own)
    elif len(kernels) == 3:
        wide, both = np.hstack([own, A[TRAIN]]), [0, 1]
        by_hand = fit([("a", RBF(0.3), both), ("b", RBF(3.0), both), ("raw", Linear(), slice(2, 6))], wide)
        new = np.hstack([new, A])
    else:
        by_hand = fit([RBF(gamma=0.3)], own)
    np.testing.assert_allclose(model.decision_function(A), by_hand.decision_function(new), atol=1e-6)
    np.testing.assert_allclose(model.kernel_weights_, by_hand.kernel_weights_, atol=1e-6)
    assert not hasattr(PIPE[0], "mean_")  # what was given is not fitted


def test_equal_transformers_are_fitted_once_and_share_a_view():
    kernels = KernelList.from_spec([("a", PIPE, RBF(0.3)), ("b", clone(PIPE), RBF(1.0)), ("c", PCA(2), RBF(1.0))], A)
    assert kernels.view_of.tolist() == [0, 0, 1] and kernels.widths == [2, 2]


def test_kernels_of_the_same_columns_see_what_their_own_transformer_makes():
    """Transformers of one class that differ in a parameter differ too."""
    steps = [StandardScaler(), MinMaxScaler(), PCA(2), PCA(3), StandardScaler(with_std=False), None]
    specs = [KernelSpec(f"k{m}", Linear(), [0, 1, 2], transformer=step) for m, step in enumerate(steps)]
    found = KernelList.from_spec(specs, A)
    views = found.views(A)
    for m, step in enumerate(steps):
        x = A[:, :3] if step is None else clone(step).fit_transform(A[:, :3])
        np.testing.assert_allclose(Linear()(np.asarray(views[found.view_of[m]].X)), x @ x.T, atol=1e-8)


def test_parameters_of_both_are_searched_by_name():
    model = MKLClassifier([("a", PIPE, RBF(gamma=0.3), [0, 1, 2], "zero"), KernelSpec("b", RBF(1.0), transformer=PIPE)])
    names = {
        "kernels__a__kernel__gamma": 2.0,
        "kernels__a__transformer__pca__n_components": 1,
        "kernels__b__kernel__gamma": 5.0,
    }
    assert names.keys() <= model.get_params().keys()
    twin = clone(model).set_params(**names)
    assert {name: twin.get_params()[name] for name in names} == names
    assert twin.kernels[0][3:] == ([0, 1, 2], "zero") and model.kernels[0][2].gamma == 0.3 and PIPE[1].n_components == 2
    assert twin.set_params(kernels__a__transformer=MinMaxScaler()).kernels[0][1].__class__ is MinMaxScaler
    assert twin.set_params(kernels__a=Linear()).kernels[0][1:] == (twin.kernels[0][1], [0, 1, 2], "zero")


WRAPS = {
    "list": list, "tuple": tuple, "array": np.array, "objects": lambda t: np.array(t, object), "series": pd.Series,
    "polars series": pl.Series, "pandas": lambda t: pd.DataFrame({"t": t}), "polars": lambda t: pl.DataFrame({"t": t}),
    "views": lambda t: Views({"t": t}), "dict": lambda t: {"t": t},
}  # fmt: skip


@pytest.mark.parametrize("holder, solver", covering(WRAPS, ["auto", "coordinate"]))
def test_texts_are_taken_from_whatever_holds_them(holder, solver):
    wrap = WRAPS[holder]
    kernels = [("w", Features(TfidfVectorizer())), ("c", Features(CountVectorizer(binary=True)))]
    if isinstance(wrap(TEXT), Views | dict):
        kernels = [(*spec, "t") for spec in kernels]
    model = MKLClassifier(kernels, tol=1e-5, solver=solver, C=1.0).fit(wrap([TEXT[i] for i in TRAIN]), y[TRAIN])
    parts = [v.fit([TEXT[i] for i in TRAIN]).transform(TEXT) for v in (TfidfVectorizer(), CountVectorizer(binary=True))]
    both = sp.hstack(parts).tocsr()
    width = parts[0].shape[1]
    hand = MKLClassifier(
        [("w", Linear(), slice(width)), ("c", Linear(), slice(width, None))], tol=1e-5, solver=solver, C=1.0
    )
    hand.fit(both[TRAIN], y[TRAIN])
    np.testing.assert_allclose(model.decision_function(wrap(TEXT)), hand.decision_function(both), atol=1e-6)


def test_a_text_that_is_missing_is_named_or_left_out():
    text = list(TEXT)
    text[3] = None
    with pytest.raises(ValueError, match=r"1 entries that are no text \(None, in row 3\).*\"zero\""):
        fit([Features(TfidfVectorizer())], text)
    model = fit(
        [
            ("t", Features(TfidfVectorizer()), None, "zero"),
            Features(
                CountVectorizer(),
            ),
        ][:1],
        text,
    )
    assert model.decision_parts(text)[3, 0] == 0 and model.decision_parts(text)[2, 0] != 0
    with pytest.raises(ValueError, match="one text per example"):
        fit([("t", Features(TfidfVectorizer()), ["a", "b"])], pd.DataFrame({"a": TEXT, "b": TEXT}))


def test_an_imputer_is_given_the_missing_entries():
    X = A.copy()
    X[::3, 1] = np.nan
    pipe = make_pipeline(SimpleImputer(), StandardScaler())
    model = fit([("a", pipe, RBF(gamma=0.3))], X[TRAIN])
    hand = clone(pipe).fit(X[TRAIN])
    expected = fit([RBF(gamma=0.3)], hand.transform(X[TRAIN])).decision_function(hand.transform(X))
    np.testing.assert_allclose(model.decision_function(X), expected, atol=1e-6)
    with pytest.raises(ValueError, match="contains NaN in column 1"):
        fit([("a", PCA(2), RBF())], X)
    X[4] = np.nan  # an example without any entry lacks the source
    model = fit([("a", pipe, RBF(gamma=0.3), None, "zero"), Identity()], X)
    assert model.decision_parts(X)[4, 0] == 0 and (model.decision_parts(X)[3, 0] != 0).all()


def test_a_transformer_that_cannot_be_fitted_is_named():
    """A column without any entry left scikit-learn's "Found array with 0 feature(s)"."""
    pipe = make_pipeline(SimpleImputer(), StandardScaler())
    X = np.column_stack([A, np.full(len(A), np.nan)])
    with (
        pytest.warns(UserWarning, match="Skipping"),
        pytest.raises(ValueError, match=r"(?s)Pipeline.*columns of X.*0 feature"),
    ):
        fit([RBF(), ("gone", pipe, RBF(), [X.shape[1] - 1])], X)


def test_dates_and_truth_values_without_a_common_dtype_stand_beside_categories():
    """NumPy's DTypePromotionError of a polars frame, whose `to_numpy` finds no dtype."""
    frame = pl.DataFrame({"a": [i % 3 == 0 for i in range(N)], "b": pl.Series(SEX, dtype=pl.Categorical)})
    frame = frame.with_columns(c=pl.datetime(2021, 3, pl.Series(range(N)) % 28 + 1))
    model, expected = (fit("auto", X) for X in (frame, frame.with_columns(pl.col("c").cast(pl.String))))
    np.testing.assert_array_equal(model.decision_function(frame), expected.decision_function(
        frame.with_columns(pl.col("c").cast(pl.String))))  # fmt: skip


def test_a_scaler_of_a_weighted_constant_column_says_nothing_of_roots():
    """Scikit-learn's weighted variance may be −1e-27, and NumPy warned of its root."""
    X = np.column_stack([A, np.tile(1000 * np.random.default_rng(3).normal(size=100), (N, 1))])
    w = 100 * np.random.default_rng(4).random(N)
    kernels = [RBF(), ("scaled", StandardScaler(), RBF())]
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)
        model = MKLClassifier(kernels).fit(X, A[:, 0] > 0, sample_weight=w)
    assert np.isfinite(model.decision_function(X)).all()


class Bad(TransformerMixin, BaseEstimator):
    def fit(self, X, y=None):
        return self

    def transform(self, X):
        return np.log(-np.abs(X))


@pytest.mark.parametrize("kernels, words", [
    ([("a", 3, RBF())], "transformer=3 of a must have fit and transform"),
    ([("a", PIPE, Spectrum(2))], "cannot stand behind a transformer"),
    ([("a", Bad(), RBF())], "made NaN or infinity of X"),
    ([("a", PIPE, RBF(), None, "zero", 1)], "with or without a transformer"),
    ([On([0], RBF()) * RBF()], r"RBF\(\) stands beside On.*give On\(columns, RBF\(\)\)"),
    ([("a", On([0], RBF()) * On([1], RBF()), [2])], "has its own columns"),
    ([("a", On([0], RBF()), [2])], "has its own columns"),
    ([On([0], On([1], RBF())) * On([1], RBF())], "On"),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_cannot_stand_together_is_refused(kernels, words):
    with pytest.raises(ValueError, match=words):
        fit(kernels, A)


MIXED = np.array([["a", 1, None], ["b", 1.0, "u"], ["a", "1", np.nan], ["c", True, "u"]], object)


def overlap(X, Z, match_missing):
    """Σ_j [x_j = z_j] / d in a loop."""
    K = np.zeros((len(X), len(Z)))
    for i, x in enumerate(X):
        for j, z in enumerate(Z):
            for a, b in zip(x, z, strict=True):
                gone = [v is None or v != v for v in (a, b)]
                K[i, j] += (all(gone) and match_missing) if any(gone) else a == b
    return K / len(X[0])


@pytest.mark.parametrize("match_missing", [False, True])
def test_categories_match_as_python_compares_them(match_missing):
    kernel = Categorical(match_missing=match_missing)
    new = np.array([["b", 1, None], ["z", "2", "u"]], object)
    np.testing.assert_allclose(kernel(MIXED), overlap(MIXED, MIXED, match_missing))
    np.testing.assert_allclose(kernel(MIXED, new), overlap(MIXED, new, match_missing))
    np.testing.assert_allclose(kernel.diag(MIXED), np.diag(kernel(MIXED)))
    assert np.linalg.eigvalsh(kernel(MIXED)).min() > -1e-12
    model = MKLRegressor([kernel], C=1.0, normalize=None).fit(MIXED, np.arange(4.0))  # the same in a fit
    np.testing.assert_allclose(
        model.combined_kernel(MIXED)[:2] / model.kernel_weights_[0], kernel(MIXED)[:2][:, model.support_]
    )
    with pytest.raises(ValueError, match="no categories"):
        kernel(np.array([[{1}], [[2]]], object))
    with pytest.raises(ValueError, match="toarray"):
        kernel(sp.csr_array(np.eye(2)))


@pytest.mark.parametrize("solver", ["auto", "coordinate"])
@pytest.mark.parametrize("wrap", [
    lambda c, s: np.array([c, s], object).T, lambda c, s: pd.DataFrame({"c": c, "s": s}),
    lambda c, s: pl.DataFrame({"c": c, "s": s}), lambda c, s: pd.DataFrame({"c": c, "s": pd.Categorical(s)}),
], ids=["objects", "pandas", "polars", "categorical"])  # fmt: skip
def test_categories_are_learned_and_unknown_ones_are_like_nothing(wrap, solver):
    colour = rng.choice(["red", "blue", "green"], N).tolist()
    X, new = wrap(colour, SEX), wrap(["red", "violet", "violet"], ["f", "f", "none"])
    model = MKLClassifier([Categorical()], C=1.0, tol=1e-6, solver=solver).fit(X, y)
    plain = np.array([colour, SEX], object).T
    K = overlap(plain, plain, False)
    hand = MKLClassifier("precomputed", C=1.0, tol=1e-6).fit(K[:, :, None], y)
    np.testing.assert_allclose(model.decision_function(X), hand.decision_function(K[:, :, None]), atol=1e-3)
    assert model.decision_parts(new)[2] == pytest.approx(0) and model.kernel_names_ == [
        "categorical(match_missing=False)[all]"
    ]
    weighted = Categorical()(plain, plain[:1])
    assert weighted.shape == (N, 1)


@pytest.mark.parametrize("X", [
    pd.DataFrame({"age": A[:, 0], "sex": SEX, "u": A[:, 1]}), pl.DataFrame({"age": A[:, 0], "sex": SEX, "u": A[:, 1]}),
], ids=["pandas", "polars"])  # fmt: skip
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_kernels_of_different_columns_multiply_and_add(X, normalize):
    product = On("age", RBF(gamma=0.4), StandardScaler()) * On("sex", Categorical())
    both = 2 * product + On(["u"], Polynomial(2))
    model = fit([("ages of a sex", product), both], X, normalize=normalize)
    age = StandardScaler().fit_transform(A[:, :1])
    one = RBF(gamma=0.4)(age) * (np.array(SEX)[:, None] == np.array(SEX))
    K = KernelStack([one, 2 * one + Polynomial(2)(A[:, 1:2])])
    hand = fit("precomputed", K, normalize=normalize)
    np.testing.assert_allclose(model.kernel_weights_, hand.kernel_weights_, atol=1e-4)
    np.testing.assert_allclose(model.decision_function(X), hand.decision_function(K), atol=1e-3)
    np.testing.assert_allclose(product(X), one, atol=1e-12)
    assert (
        model.kernel_names_[0] == "ages of a sex"
        and "[age] · categorical(match_missing=False)[sex]" in model.kernel_names_[1]
    )
    some = X.iloc[:3] if hasattr(X, "iloc") else X[:3]
    np.testing.assert_allclose(model.decision_function(some), model.decision_function(X)[:3], atol=1e-9)


@pytest.mark.parametrize("kernels, words", [
    ([("a", PowerTransformer(), RBF())], "PowerTransformer.*before a kernel cannot be saved.*transform X before"),
    ([Features(make_pipeline(StandardScaler(), SplineTransformer()))], "SplineTransformer.* cannot be saved"),
    ([On([0], RBF(), FunctionTransformer(np.abs)) * On([1], RBF())], "FunctionTransformer.*before a kernel cannot be"),
    ([Features(RBFSampler(random_state=np.random.RandomState(0)))], "cannot be saved.*random_state is of type"),
    ([Features(Nystroem(np.dot, n_components=5))], "kernel is of type"),
], ids=lambda v: v if isinstance(v, str) else "")  # fmt: skip
def test_a_file_refuses_what_it_cannot_hold_and_pickle_holds_it(kernels, words, tmp_path):
    model = fit(kernels, A)
    with pytest.raises(ValueError, match=words):
        model.save(tmp_path / "model.mk")
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).decision_function(A), model.decision_function(A))


def narrow(form):
    """(x in 32 bits, the same values in 64): a far value, so that a scaler leaves few digits to the others."""
    x = np.random.default_rng(1).integers(0, 4, (N, 2)).astype(np.float32)
    x[3] = 302296.0
    if form == "sparse":
        return sp.csr_array(x), sp.csr_array(x.astype(float))
    if form == "numpy":
        return x, x.astype(float)
    make = {"pandas": pd.DataFrame, "polars": pl.DataFrame}[form]
    return tuple(make({"a": one[:, 0], "b": one[:, 1]}) for one in (x, x.astype(float)))


@pytest.mark.parametrize("form", ["numpy", "sparse", "pandas", "polars", "columns of pandas", "columns of polars"])
def test_a_transformer_makes_the_same_of_equal_values_in_32_and_64_bits(form):
    """A scaler answers in float32 where X is, and few digits were left near other examples."""
    scaler, single, double = StandardScaler(with_mean=form != "sparse"), *narrow(form.split()[-1])
    if form.startswith("columns"):
        scaler = make_column_transformer((scaler, ["a", "b"]))
    model = MKLClassifier([("far", scaler, RBF(gamma="median"))], tol=1e-7, C=1.0)
    models = [clone(model).fit(x, y) for x in (single, double)]
    expected = models[0].decision_function(single)
    for model in models:
        np.testing.assert_allclose(model.decision_function(double), expected, rtol=1e-9, atol=1e-9)
