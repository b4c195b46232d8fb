"""Data of every kind and form give the right answer, and NumPy's warnings stay inside."""

import threading
import warnings

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.datasets import make_classification
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLSurvival, Views, survival_targets
from manykernels.kernels import RBF, Laplacian, Linear, Polynomial
from manykernels.solvers import newton
from manykernels.streaming import ArrayFile
from manykernels.strings import Spectrum

X, y = make_classification(80, 6, n_informative=4, random_state=0)
FRAME = pd.DataFrame(X, columns=list("uvwxyz"))
KERNELS = [RBF(gamma=0.1), Linear()]
STACK = np.stack([RBF(gamma=g)(X) for g in (0.1, 1.0)], axis=2)
MODELS = {"classifier": MKLClassifier, "regressor": MKLRegressor, "one class": MKLOneClass}
EACH = pytest.mark.parametrize("Model", MODELS.values(), ids=MODELS)
DNA = ["".join(row) for row in np.random.default_rng(0).choice(list("ACGT"), (80, 30))]


@pytest.fixture(autouse=True)
def no_warnings():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


@EACH
def test_numbers_of_every_kind_are_the_same_numbers(Model):
    def found(kernels, data):
        model = Model(kernels, tol=1e-7).fit(data, y)
        return model.predict(data) if Model is MKLRegressor else model.decision_function(data)

    whole = np.round(20 * X)
    kernels = [RBF("scale"), Polynomial(3), Laplacian(0.01), Linear()]
    expected = found(kernels, whole)
    frame = pd.DataFrame(whole, columns=FRAME.columns)
    kinds = [whole.astype(t) for t in ("int8", "int64", "float32", ">f8", object)]
    kinds += [whole.tolist(), list(map(tuple, whole))]
    for data in [*kinds, frame.astype("int8"), frame.astype("Int16"), frame.astype(object), np.asfortranarray(whole)]:
        np.testing.assert_allclose(found(kernels, data), expected, atol=2e-3)
    np.testing.assert_allclose(found(KERNELS, X > 0), found(KERNELS, 1.0 * (X > 0)), atol=2e-3)
    thin = [RBF("scale"), Linear()]
    np.testing.assert_allclose(found(thin, sp.csr_array(whole.astype("int8"))), found(thin, whole), atol=2e-3)


@EACH
@pytest.mark.parametrize("kernels", ["auto", KERNELS], ids=["auto", "listed"])
def test_two_examples_and_one_column_are_enough(Model, kernels):
    warnings.filterwarnings("ignore", 'C="auto": examples of the rarest class: 1')
    assert Model(kernels).fit(X[:2], [0, 1]).predict(X).shape == (80,)
    assert Model(kernels).fit(X[:, :1], y).predict(X[:, :1]).shape == (80,)


@pytest.mark.parametrize("value", [0.0, 3.0])
def test_a_constant_kernel_is_named_and_left_out(value):
    stack = np.concatenate([STACK, np.full((80, 80, 1), value)], axis=2)
    with pytest.warns(UserWarning, match="kernel 2"):
        model = MKLClassifier("precomputed", C=1.0).fit(stack, y)
    assert model.kernel_weights_[2] == 0 and model.kernel_weights_[:2].any()
    with pytest.warns(UserWarning, match="'flat'"):
        model = MKLClassifier([*KERNELS, ("flat", RBF(gamma=1.0), [6])], C=1.0).fit(np.c_[X, np.full(80, value)], y)
    assert model.kernel_weights_[2] == 0


def test_ctrl_c_keeps_the_best_solution_and_leaves_no_threads(monkeypatch):
    big, labels = make_classification(300, 20, flip_y=0.2, random_state=0)
    kernels = [RBF(gamma=g) for g in np.logspace(-3, 1, 10)]
    model = MKLClassifier(kernels, regularizer=1.1, tol=1e-9, warm_start=True, C=1.0)

    def interrupt(self, state):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(newton.NewtonStep, "propose", interrupt)
        with pytest.raises(KeyboardInterrupt):
            model.fit(big, labels)
    assert not [t for t in threading.enumerate() if t.name.startswith("manykernels")]
    assert model.duality_gap_ > 1e-9 and model.predict(big).shape == (300,)
    assert model.fit(big, labels).duality_gap_ <= 1e-9


@pytest.mark.parametrize("kernels", ["auto", [Spectrum(3)]], ids=["auto", "spectrum"])
@pytest.mark.parametrize("form", ["StringDType", "pyarrow"])
def test_texts_of_any_library_are_sequences(form, kernels):
    if form == "pyarrow":
        given = pytest.importorskip("pyarrow").array(DNA)
    elif hasattr(np.dtypes, "StringDType"):  # of NumPy 2
        given = np.array(DNA, dtype=np.dtypes.StringDType())
    else:
        pytest.skip("this NumPy has no texts of any length")
    model, expected = (MKLClassifier(kernels, C=1.0).fit(form, y) for form in (given, DNA))
    for new in (given, DNA):
        np.testing.assert_array_equal(model.decision_function(new), expected.decision_function(DNA))


def test_sparse_tables_have_kernels_by_default_and_may_follow_dense_ones():
    table = X * (np.random.default_rng(0).uniform(size=X.shape) < 0.4)
    model = MKLClassifier(C=1.0).fit(table, y)
    np.testing.assert_array_equal(model.decision_function(sp.csr_matrix(table)), model.decision_function(table))
    assert MKLClassifier(C=1.0).fit(sp.csr_matrix(table), y).kernels_chosen_.startswith("4 kernels: RBF of 3 widths")


def test_labels_are_classes_whatever_their_dtype():
    model, given = MKLClassifier(KERNELS, C=1.0).fit(X, y), pd.Series(y, dtype=object)
    same = MKLClassifier(KERNELS, C=1.0).fit(X, given)
    assert same.classes_.dtype.kind == "i" and same.score(X, given) == model.score(X, given) == model.score(X, y)
    np.testing.assert_array_equal(same.decision_function(X), model.decision_function(X))
    for names in (["-", "+"], ["none", "some"], ["?", "!"], [False, True]):
        assert set(MKLClassifier(KERNELS, C=1.0).fit(X, np.array(names, object)[y]).classes_) == set(names)


def test_a_memory_limit_that_is_too_small_says_what_is_enough(tmp_path):
    many, labels = np.tile(X, (10, 1)), np.tile(y, 10)
    np.save(tmp_path / "X.npy", many)
    for data in (many, ArrayFile(tmp_path / "X.npy")):
        model = MKLClassifier(KERNELS, memory_limit="1KB", C=1.0)
        with pytest.raises(ValueError, match="memory_limit='1KB' is too small") as caught:
            model.fit(data, labels)
        if data is many:
            need = int(str(caught.value).split("need at least ")[1].split()[0])
            model.set_params(memory_limit=need).fit(data, labels)


@pytest.mark.parametrize("kernels", [
    [RBF()], [("k", StandardScaler(), RBF(), [0, 1])], [("k", StandardScaler(), RBF(), [0, 1], "zero")], "auto",
], ids=["list", "scaled", "zero", "auto"])  # fmt: skip
@pytest.mark.parametrize("form", [lambda frame: frame, pd.DataFrame.to_numpy], ids=["frame", "array"])
@pytest.mark.filterwarnings("ignore")
def test_na_of_pandas_among_objects_is_read_as_nan(kernels, form):
    found = []
    for value in (np.nan, pd.NA):
        table, new = FRAME.astype(object), FRAME.astype(object)
        table.iloc[5, 1] = new.iloc[7, 1] = value
        try:
            found.append(MKLRegressor(kernels, C=1.0).fit(form(table), X[:, 0]).predict(form(new)).tolist())
        except ValueError as error:
            found.append(str(error))
    assert found[0] == found[1]


TIMES = survival_targets(np.arange(80) % 3 > 0, np.exp(X[:, 1]))
SURVIVAL = "score", "predict_survival_function", "predict_cumulative_hazard_function"


@pytest.mark.parametrize("model, target, asked", [
    (MKLSurvival([RBF()], C=1.0), TIMES, SURVIVAL), (MKLRegressor([RBF()], C=1.0), X[:, 0], ["score"]),
    (MKLClassifier([RBF()], C=1.0), y, ["score"]),
    (MKLClassifierCV([RBF()], Cs=[1.0], cv=2, scoring="accuracy"), y, ["score"]),
], ids=["survival", "regression", "classes", "cv"])  # fmt: skip
def test_a_warning_about_covariates_comes_once(model, target, asked):
    model = model.fit(FRAME, target, covariates=FRAME[["w"]] ** 2)
    for ask in asked:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            getattr(model, ask)(FRAME, *([target] if ask == "score" else []), covariates=FRAME[["w"]].iloc[::-1])
        assert [str(w.message).split(",")[0] for w in caught] == ["X and covariates are numbered alike"]


def test_rows_that_are_all_nan_are_absent_after_a_scaler_too():
    holes = X[:, :4].copy()
    holes[::7] = np.nan
    kernels = [("a", StandardScaler(), RBF(), "a", "zero"), ("g", RBF(), "g")]
    model = MKLClassifier(kernels, C=1.0).fit(views := Views({"a": holes, "g": X[:, 1:]}), y)
    parts = model.decision_parts(views)
    assert np.all(parts[::7, 0] == 0) and np.any(parts[1::7, 0] != 0)
    holes[3, 2] = np.nan
    with pytest.raises(ValueError, match="NaN"):
        MKLClassifier(kernels, C=1.0).fit(Views({"a": holes, "g": X[:, 1:]}), y)


def test_read_only_data_go_to_a_device():
    pytest.importorskip("torch", reason="PyTorch is not installed: nothing runs on a device")
    still = X.copy()
    still.flags.writeable = False
    MKLClassifier([Linear(), RBF(0.1)], device="torch", C=1.0).fit(still, y)


def test_views_without_a_common_id_are_named():
    one, two = pd.DataFrame({"id": [1, 2], "x": [1.0, 2]}), pd.DataFrame({"id": ["1", "2"], "x": [1.0, 2]})
    with pytest.warns(UserWarning, match="'a' and 'b' have no id in common .*the same type"):
        Views({"a": one, "b": two}, ids="id")
    Views({"a": one, "b": one[1:]}, ids="id")
