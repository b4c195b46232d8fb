"""Which bank takes which kernels, `features` of the estimators, and lists of several kinds."""

from unittest.mock import Mock

import numpy as np
import pytest

from manykernels import MKLClassifier, solvers
from manykernels.banks import choice, explicit
from manykernels.banks.choice import choose_bank, explicit_bank
from manykernels.datasets import make_splice
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes, LpNorm
from manykernels.strings import (
    Degree,
    GappedKmer,
    Mismatch,
    Spectrum,
    WeightedDegree,
    WeightedDegreeShift,
    degree_kernels,
)  # fmt: skip

X, y = make_splice(150, length=40, positives=0.3, random_state=2)
NEW, _ = make_splice(30, length=40, positives=0.3, random_state=3)
LISTS = {
    "degrees": degree_kernels(5),
    "words": [Spectrum(4), GappedKmer(5, 3), Mismatch(4, 1)],
    "both": [WeightedDegreeShift(5, 2), Spectrum(3), Degree(3)],
}


def bank_of(kernels, data=X, **options):
    bank = explicit_bank(KernelList.from_spec(kernels, data), data, **options)
    return None if bank is None else type(bank).__name__


@pytest.mark.parametrize(
    ("kernels", "store", "bank"),
    [
        (degree_kernels(3), "auto", "DegreeBank"),
        (degree_kernels(3), "trie", "TrieBank"),
        (degree_kernels(3), "sorted", "WordBank"),
        ([WeightedDegree(4), Degree(2)], "auto", "TrieBank"),  # the same word twice
        ([WeightedDegreeShift(4, 1)], "auto", "TrieBank"),
        ([Spectrum(3)], "auto", "WordBank"),
        ([Spectrum(3), Degree(2)], "auto", "JoinedBank"),
    ],
)
def test_each_kind_has_its_bank(kernels, store, bank):
    assert bank_of(kernels, store=store) == bank


def test_numbers_have_theirs_and_what_has_no_features_none():
    data = np.random.default_rng(0).normal(size=(20, 3))
    assert bank_of([Linear(), ("one", Linear(), [0])], data) == "FeatureBank"
    assert bank_of([Linear(), RBF(gamma=1.0)], data) is None


def test_features_of_places_are_visited_example_by_example(monkeypatch):
    """DegreeBank called kernels of even coefficients `even`, which means that a visit costs as much as a pass."""
    for kernels in (degree_kernels(5), [WeightedDegree(4)], [WeightedDegreeShift(4, 1)], [Spectrum(3)]):
        bank = explicit_bank(KernelList.from_spec(kernels, X), X)
        assert not bank.even
        problem = Problem(bank, np.where(y > 0, 1.0, -1.0), Hinge(), LpNorm(2))
        assert solvers.best_for(problem).name == "newton"  # it builds the matrix of so few examples
        with monkeypatch.context() as patch:
            patch.setattr(solvers.coordinate, "QUICK_NEWTON", 10)
            assert solvers.best_for(problem).name == "coordinate"


@pytest.mark.parametrize(
    "kernels", [[Spectrum(3), Spectrum(2)], degree_kernels(4), [WeightedDegreeShift(4, 1), Spectrum(3)]]
)
def test_logistic_loss_multiplies_with_words_and_builds_no_matrix(kernels, monkeypatch):
    """A fit by features fell back to the matrix of all pairs."""
    pairs = MKLClassifier(kernels, loss="logistic", C=1.0, tol=1e-5, features="never").fit(X, y)
    monkeypatch.setattr(explicit, "MAX_BUILT_WORDS", 50)
    products = Mock(wraps=explicit.ProductOperator)
    monkeypatch.setattr(explicit, "ProductOperator", products)
    model = MKLClassifier(kernels, loss="logistic", C=1.0, tol=1e-5, features="map").fit(X, y)
    assert model.duality_gap_ <= 1e-5 and products.called
    np.testing.assert_allclose(model.decision_function(NEW), pairs.decision_function(NEW), atol=1e-2)


@pytest.mark.parametrize("kind", LISTS)
def test_features_are_taken_where_they_pay_or_are_asked_for(kind, monkeypatch):
    kernels = KernelList.from_spec(LISTS[kind], X)

    def explicit(**options):
        return choose_bank(kernels, X, **options).explicit

    assert not explicit() and explicit(wanted=True) and not explicit(wanted=True, exact=True)
    assert all(explicit(features=store) for store in ("map", "sorted", "trie", "hash"))
    monkeypatch.setattr(choice, "MAX_PAIRWISE", 100)
    assert explicit() == (kind == "degrees") and not explicit(features="never") and not explicit(exact=True)
    monkeypatch.setattr(choice, "MAX_WORD_PAIRWISE", 100)
    assert explicit() and not explicit(features="never")


def test_pairs_are_compared_in_float32_where_that_is_enough(monkeypatch):
    kernels = KernelList.from_spec(degree_kernels(3), X)
    assert choose_bank(kernels, X).dtype == np.float64
    monkeypatch.setattr(choice, "MAX_FLOAT64_EXAMPLES", 100)
    for options, dtype in (({}, np.float32), ({"tol": 1e-5}, np.float64), ({"exact": True}, np.float64)):
        assert choose_bank(kernels, X, **options).dtype == dtype


def test_features_that_cannot_be_are_refused_by_name():
    with pytest.raises(ValueError, match="features='heap' is unknown.*'trie'"):
        MKLClassifier(degree_kernels(3), features="heap").fit(X, y)
    with pytest.raises(ValueError, match="features='map' is for kernels with explicit features.*'auto'"):
        MKLClassifier([RBF(gamma=1.0)], features="map").fit(np.eye(150), y)
    with pytest.raises(ValueError, match="features='trie'.*EmpiricalBayes.*'auto'"):
        MKLClassifier(degree_kernels(3), features="trie", loss="squared", regularizer=EmpiricalBayes(0.5)).fit(X, y)
    with pytest.raises(ValueError, match="features='hash'.*precomputed.*auto"):
        MKLClassifier("precomputed", features="hash").fit(np.ones((150, 150, 1)), y)
    with pytest.raises(ValueError, match="features='never'.*coordinate.*another solver"):
        MKLClassifier(degree_kernels(3), features="never", solver="coordinate").fit(X, y)
    with pytest.raises(ValueError, match="store='heap' is unknown.*'trie'"):
        bank_of(degree_kernels(3), store="heap")
