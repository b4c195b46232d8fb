"""Estimators on strings: lists of kernels, mixtures, new strings, files, cross-validation."""

import pickle

import numpy as np
import pandas as pd
import pytest
from naive_kernels import normalised
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV
from string_lists import LISTS, NEW, X, acceptors, y

from manykernels import MKLClassifier, MKLOneClass, load
from manykernels import strings as ms
from manykernels.kernels import RBF, KernelList, KernelStack

EVERY_LIST = pytest.mark.parametrize("kernels", LISTS.values(), ids=LISTS)


def fitted(kernels, X, y=y, **options):
    """A classifier at one C."""
    return MKLClassifier(kernels, **{"C": 1.0} | options).fit(X, y)


@EVERY_LIST
def test_a_list_of_strings_is_fitted_as_its_matrices_are(kernels):
    model = fitted(kernels, X, tol=1e-6)
    resolved = KernelList.from_spec(kernels, X)
    encoded, new = ms.Sequences.encode(X), ms.Sequences.encode(NEW)
    scales = [1 if k.exempt else normalised(k(encoded), "multiplicative")[1] for k in resolved.kernels]
    train = KernelStack([s * k(encoded) for s, k in zip(scales, resolved.kernels, strict=True)])
    test = KernelStack([s * k(new, encoded) for s, k in zip(scales, resolved.kernels, strict=True)])
    twin = fitted("precomputed", train, normalize=None, tol=1e-6)
    assert model.duality_gap_ <= 1e-6
    assert model.objective_ == pytest.approx(twin.objective_, rel=1e-5)
    np.testing.assert_allclose(model.decision_function(NEW), twin.decision_function(test), atol=0.02)
    parts = model.decision_parts(NEW)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, model.decision_function(NEW), atol=1e-10)
    assert model.kernel_names_ == resolved.names


@pytest.mark.parametrize(
    "form",
    [tuple, np.array, pd.Series, ms.Sequences.encode, lambda X: [x.encode() for x in X], lambda X: np.array(X, object)],
)
def test_strings_in_any_form(form):
    model = fitted(ms.degree_kernels(4), X)
    other = fitted(ms.degree_kernels(4), form(X))
    np.testing.assert_array_equal(other.decision_function(NEW), model.decision_function(form(NEW)))
    table = np.array([list(x.encode()) for x in X], np.uint8)
    np.testing.assert_array_equal(clone(model).fit(table, y).predict(table), model.predict(X))


def test_alphabets_of_ones_own(tmp_path):
    alphabet = ms.Alphabet("two", "01", "?")
    strings = ["".join("01"[c in "AC"] for c in x) for x in X]
    model = fitted([ms.Spectrum(2, alphabet=alphabet), ms.WeightedDegree(2, alphabet=alphabet)], strings)
    assert model.kernel_names_[0] == "spectrum(alphabet=two, k=2)[all]"
    model.save(tmp_path / "model.mk")
    new = ["01?1" * 5, "1110" * 5]
    np.testing.assert_array_equal(load(tmp_path / "model.mk").decision_function(new), model.decision_function(new))


def test_a_model_keeps_its_support_only():
    small, large = acceptors(60), acceptors(2000)
    sizes = []
    for strings, _ in (small, large):
        model = MKLOneClass([ms.Spectrum(3)], nu=30 / len(strings)).fit(strings)
        sizes.append(len(pickle.dumps(model.predictor_)) / len(model.support_))
    assert sizes[1] < 3 * sizes[0]


@pytest.mark.parametrize("form", [list, ms.Sequences.encode, np.array])
def test_grid_search_slices_strings(form):
    grid = {"kernels": [ms.degree_kernels(2), ms.degree_kernels(5)], "C": [0.1, 1.0]}
    search = GridSearchCV(MKLClassifier(C=1.0), grid, cv=3).fit(form(X), y)
    assert search.best_score_ > 0.6 and search.predict(form(NEW)).shape == (15,)
    assert np.isfinite(search.cv_results_["mean_test_score"]).all()


def test_tags_say_that_strings_are_read():
    assert MKLClassifier(ms.degree_kernels(3)).__sklearn_tags__().input_tags.string
    assert not MKLClassifier(ms.degree_kernels(3)).__sklearn_tags__().input_tags.two_d_array
    assert not MKLClassifier([RBF()]).__sklearn_tags__().input_tags.string
    assert MKLClassifier().__sklearn_tags__().input_tags.two_d_array


def test_one_thread_is_one_thread(monkeypatch):
    import manykernels._threads as threads

    asked, submit = [], threads._submit
    monkeypatch.setattr(threads, "_submit", lambda work, n: asked.append(n) or submit(work, n))
    strings, labels = acceptors(600)
    fitted([ms.Spectrum(3) + ms.Spectrum(2), ms.WeightedDegreeShift(3, 1)], strings, labels, n_jobs=1)
    assert not asked


@pytest.mark.parametrize(
    "kernels, X, message",
    [
        (ms.degree_kernels(3), [*X[:-1], X[-1][:-1]], "equal lengths"),
        (ms.degree_kernels(3), [*X[:-1], "ACGTZ" * 4], "X\\[59\\] has 'Z' at position 4"),
        (ms.degree_kernels(3), [*X[:-1], ""], "X\\[59\\] is an empty sequence"),
        ([("promoter", ms.Spectrum(3))], {"promoter": [*X[:-1], ""]}, "In 'promoter', X\\[59\\] is an empty sequence"),
        (ms.degree_kernels(3), X[:-1], "y has 60 entries, and X 59 rows"),
        (ms.degree_kernels(3), np.zeros((60, 3)), "dtype float64"),
        (ms.position_kernels(30, 3), X, "start=20"),
        (ms.degree_kernels(3, alphabet="protein"), [*X[:-1], "ACGTU" * 4], "'U'"),
        ([("place", ms.Degree(0))], X, "k=0"),
        ([("size", RBF(1.0)), ("place", ms.Degree(1))], X, "not numeric"),
    ],
)
def test_bad_input_is_named(kernels, X, message):
    with pytest.raises(ValueError, match=message):
        fitted(kernels, X)


def test_new_strings_must_be_like_those_of_fit():
    model = fitted(ms.degree_kernels(3), X)
    with pytest.raises(ValueError, match="length 21.*length 20.*equal lengths"):
        model.predict([x + "A" for x in NEW])
    with pytest.raises(ValueError, match="length 20 and sequence 1 has length 19"):
        model.predict([NEW[0], NEW[1][1:]])
    with pytest.raises(ValueError, match="alphabet"):
        model.predict(ms.Sequences.encode(NEW, "protein"))
    anywhere = fitted([ms.Spectrum(3), ms.Mismatch(3)], X)
    assert anywhere.predict(["ACG", "A", "ACGTAACGTACGATCGATCGATCGATCGATCGA"]).shape == (3,)
