"""`compress`: fewer operations, decisions within tol, the same class, files, and refusals by name."""

import numpy as np
import pytest
from sklearn.datasets import load_iris
from sklearn.preprocessing import scale
from test_every_family_is_saved import ESTIMATORS, FAMILIES, LISTS, TASK

import manykernels
from manykernels import MKLClassifier, MKLClassifierCV, MKLOneClass, MKLRegressor, MKLSurvival
from manykernels.banks.compact import CompactPredictor
from manykernels.kernels import RBF, Linear
from manykernels.pairs import Pairs, Pairwise
from manykernels.regularizers import EmpiricalBayes
from manykernels.streaming import ArrayFile

RNG = np.random.default_rng(0)
PLANE = RNG.uniform(-1, 1, size=(300, 2))
WAVE = np.sin(3 * PLANE[:, 0]) * PLANE[:, 1]
NEW = RNG.uniform(-1.2, 1.2, size=(2000, 2))
WIDTHS = [RBF(gamma=g) for g in (0.1, 0.3, 1.0)]
IRIS, KIND = load_iris(return_X_y=True)
IRIS = scale(IRIS)


def decide(model, X, **options):
    method = model.predict if isinstance(model, MKLRegressor) else model.decision_function
    found = method(X, **options)
    return found.reshape(len(found), -1)


def difference(model, small, X, **options):
    """max |f − f̃| / range, computed here."""
    f, found = decide(model, X, **options), decide(small, X, **options)
    return (np.abs(f - found).max(axis=0) / np.ptp(f, axis=0)).max()


@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-4, 1e-6])
def test_a_smooth_function_keeps_few_support_examples(tol):
    model = MKLRegressor(WIDTHS, C=1.0).fit(PLANE, WAVE)
    small = model.compress(tol, PLANE)
    record = small.compression_
    assert type(small) is MKLRegressor and len(small.support_) * 4 < len(model.support_)
    assert record["support"] == [len(model.support_), len(small.support_)]
    assert record["operations"][0] > 4 * record["operations"][1]
    error = difference(model, small, PLANE)
    assert 0 < error <= tol and np.isclose(error, record["error"], rtol=1e-3, atol=1e-9)
    assert difference(model, small, NEW) * np.ptp(model.predict(NEW)) <= (
        record["bound"] * np.ptp(model.predict(PLANE)) + 1e-5
    )
    assert 0 < record["bound"] < 1000 * tol
    assert set(small.support_) <= set(model.support_) and len(model.dual_coef_[0]) == len(model.support_)


@pytest.mark.parametrize("few", [5, 40])
def test_errors_are_those_of_all_examples_however_few_are_searched(few, monkeypatch):
    monkeypatch.setattr("manykernels.estimators.compress.SEARCHED", few)
    model = MKLRegressor(WIDTHS, C=1.0).fit(PLANE, WAVE)
    small = model.compress(1e-2, PLANE)
    error = difference(model, small, PLANE)
    assert small.compression_["error"] == pytest.approx(error, rel=1e-3) and error <= 1e-2
    before, after = small.compression_["operations"]
    assert after < before and len(small.support_) <= len(model.support_)


@pytest.mark.parametrize("target", [KIND, KIND > 0, np.stack([KIND > 0, KIND > 1], axis=1)], ids=["3", "2", "labels"])
@pytest.mark.parametrize("X", [IRIS, None], ids=["X", "support"])
def test_classes_and_labels(target, X):
    model = MKLClassifier([*WIDTHS, ("line", Linear(), [0, 1])], C=1.0).fit(IRIS, target)
    small = model.compress(1e-3, X)
    record = small.compression_
    assert isinstance(small.predictor_, CompactPredictor) and record["operations"][1] < record["operations"][0]
    where = IRIS if X is not None else IRIS[model.support_]
    f, found = (m.decision_function(where).reshape(len(where), -1) - m.intercept_ for m in (model, small))
    error = (np.abs(f - found).max(axis=0) / np.ptp(f, axis=0)).max()
    assert error <= 1e-3 and np.isclose(error, record["error"], rtol=1e-2, atol=1e-8)
    assert (small.predict(IRIS) == model.predict(IRIS)).mean() > 0.99
    np.testing.assert_array_equal(small.intercept_, model.intercept_)


@pytest.mark.filterwarnings("ignore:.*nearly diagonal")
def test_few_entries_that_are_not_0_cost_few_operations():
    X = np.where(RNG.random((200, 100)) < 0.15, RNG.random((200, 100)), 0.0)
    y = X[:, :50].sum(axis=1) > X[:, 50:].sum(axis=1)
    model = MKLClassifier([RBF(gamma=g) for g in (0.05, 0.1, 0.2, 0.4)], C=1.0).fit(X, y)
    small = model.compress(1e-4, X)
    before, after = small.compression_["operations"]
    assert len(small.support_) == len(model.support_) and before > 4 * after
    assert 0 < difference(model, small, X) < 1e-5
    dense = model.compress(1e-4, X + 1e-3).compression_["operations"][1]  # new examples have no entries 0
    assert dense > 3 * after


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.filterwarnings("ignore")
def test_every_family_is_compressed_left_as_it_is_or_refused(family, tmp_path):
    given, data = FAMILIES[family]
    cls, target = list(ESTIMATORS.values())[list(FAMILIES).index(family) % 2]
    given, options = LISTS.get(given, (given, {})) if isinstance(given, str) else (given, {})
    task = {"task": TASK} if family == "tasks" else {}
    model = cls(given, tol=1e-2, C=1.0, **options).fit(data, target, **task)
    if family in ("precomputed", "a stack", "pairs", "pairs of strings", "precomputed pairs"):
        with pytest.raises(ValueError, match="compress: kernels="):
            model.compress(1e-3, data)
        return
    small = model.compress(1e-3, data, **task)
    f = decide(model, data, **task)
    if small.compression_["words"].startswith("Nothing to gain"):
        np.testing.assert_array_equal(decide(small, data, **task), f)
        return
    assert difference(model, small, data, **task) <= 1e-3
    small.save(tmp_path / "small.mk")
    again = manykernels.load(tmp_path / "small.mk")
    np.testing.assert_array_equal(decide(again, data, **task), decide(small, data, **task))


def test_one_class_survival_and_cross_validation():
    one = MKLOneClass(WIDTHS, nu=0.2).fit(PLANE)
    assert difference(one, one.compress(1e-3, PLANE), PLANE) <= 1e-3
    times = np.exp(WAVE + 0.1 * RNG.random(300))
    survival = MKLSurvival(WIDTHS, C=1.0).fit(PLANE, np.column_stack([np.ones(300), times]))
    small = survival.compress(1e-3, PLANE)
    f, found = survival.predict(PLANE), small.predict(PLANE)
    assert len(small.support_) < len(survival.support_) and np.abs(f - found).max() <= 1e-3 * np.ptp(f)
    chosen = MKLClassifierCV(WIDTHS, Cs=[1.0], regularizer=2, cv=2).fit(IRIS, KIND)
    assert type(chosen.compress(1e-3, IRIS)) is MKLClassifier


@pytest.mark.filterwarnings("ignore:.*at its floor")
def test_refusals_name_the_cause_and_the_cure(tmp_path):
    np.save(tmp_path / "X.npy", PLANE)
    model = MKLRegressor(WIDTHS, C=1.0).fit(PLANE, WAVE)
    for tol in (0, 1, -1.0, "small", None):
        with pytest.raises(ValueError, match="tol="):
            model.compress(tol)
    with pytest.raises(ValueError, match="compressed already"):
        model.compress().compress()
    with pytest.raises(ValueError, match="read block by block"):
        model.compress(1e-3, ArrayFile(tmp_path / "X.npy"))
    with pytest.raises(ValueError, match="columns|features"):
        model.compress(1e-3, PLANE[:, :1])
    pairs = MKLRegressor(Pairwise([Linear()], [Linear()]), C=1.0).fit(Pairs.grid(PLANE[:6], PLANE[:4]), WAVE[:24])
    with pytest.raises(ValueError, match="kernels=Pairwise"):
        pairs.compress()
    bayes = MKLRegressor(WIDTHS, regularizer=EmpiricalBayes(noise="learn")).fit(PLANE[:60], WAVE[:60])
    with pytest.raises(ValueError, match="EmpiricalBayes"):
        bayes.compress()


def test_the_limit_of_memory_stops_the_search_for_a_reduced_set():
    model = MKLRegressor(WIDTHS, C=1.0, memory_limit="200kB").fit(PLANE, WAVE)
    small = model.compress(1e-3, PLANE)
    assert len(small.support_) == len(model.support_) and difference(model, small, PLANE) <= 1e-3


@pytest.mark.parametrize("X", [IRIS, None], ids=["X", "support"])
@pytest.mark.parametrize("weak", [0, 1, 2], ids=["all kernels", "a kernel left out", "two views left out"])
@pytest.mark.parametrize("target", [KIND, KIND > 0], ids=["3", "2"])
def test_the_bound_is_the_distance_of_the_functions_times_the_greatest_norm_of_an_example(target, weak, X):
    """max_t (‖dropped kernels‖ + ‖Σ_i (a_i − b_i) k(z_i, ·)‖) / range · max_x √k(x, x), written out."""
    kernels = [("a", RBF(0.3), [0, 1]), ("b", Linear(), [0, 1]), ("c", RBF(0.5), [2, 3])]
    kernels += [("d", RBF(1.0), [2])] * (weak == 2)
    model = MKLClassifier(kernels, C=1.0).fit(IRIS, target)
    model.kernel_weights_ = np.array(model.kernel_weights_)
    if weak:
        model.kernel_weights_[..., 2:] = [1e-7, 2e-7][:weak]
    small, where = model.compress(1e-2, X), IRIS if X is not None else IRIS[model.support_]
    bounds, Z = [], IRIS[model.support_]
    span = np.ptp(decide(model, where), axis=0)
    for t, a in enumerate(model.dual_coef_):
        theta, kept = (np.atleast_2d(m.kernel_weights_)[t] * model.kernel_scale_ for m in (model, small))
        own = [kernel(Z[:, columns]) for _, kernel, columns in kernels]
        reach = sum(w * kernel.diag(where[:, columns]) for w, (_, kernel, columns) in zip(theta, kernels, strict=True))
        difference = a.copy()
        difference[np.searchsorted(model.support_, small.support_)] -= small.dual_coef_[t]
        lost = sum(np.sqrt(max(w * a @ K @ a, 0)) for w, K in zip(theta - kept, own, strict=True))  # view by view
        moved = sum(w * difference @ K @ difference for w, K in zip(kept, own, strict=True))
        bounds.append((lost + np.sqrt(max(moved, 0))) / span[t] * np.sqrt(reach.max()))
    assert weak == 2 or len(small.support_) < len(model.support_)
    assert (kept[2:] == 0).all() == (weak > 0)
    assert small.compression_["bound"] == pytest.approx(max(bounds), rel=1e-3)
