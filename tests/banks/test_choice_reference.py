"""What the choice of a bank passes on: precision, scales of all examples, warnings, and where words pay."""

import warnings

import numpy as np
import pytest

from manykernels import Views
from manykernels.banks import choice
from manykernels.banks.choice import choose_bank, explicit_bank, worth_features
from manykernels.kernels import RBF, KernelList, Linear, RandomFeatures
from manykernels.strings import Degree, Spectrum, WeightedDegreeShift

rng = np.random.default_rng(0)
n = 60
X = rng.normal(size=(n, 3))
TEXTS = ["".join(row) for row in rng.choice(list("ACGT"), size=(n, 12))]


def test_features_on_demand_are_in_single_precision_where_the_gap_allows_it(monkeypatch):
    monkeypatch.setattr(choice, "MAX_PAIRWISE", n - 1)
    kernels = KernelList.from_spec([RandomFeatures(RBF(gamma=0.3), 4, 0)], X)
    for tol, most, dtype in ((1e-3, n - 1, np.float32), (1e-4, n - 1, np.float32), (9e-5, n - 1, np.float64),
                             (1e-3, n, np.float64)):  # fmt: skip
        monkeypatch.setattr(choice, "MAX_PAIRWISE", most)
        assert choose_bank(kernels, X, tol=tol, features="auto").dtype == dtype


def test_pairs_are_in_double_precision_where_single_hides_a_variance(monkeypatch):
    """A kernel whose variance is beyond the digits of float32 is usable, and nothing is warned of."""
    far = X.copy()
    far[:, 2] = 1.0 + 1e-5 * X[:, 2]
    kernels = KernelList.from_spec([("a", RBF(0.1), [0, 1]), ("b", RBF(1.0), [2])], far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        bank = choose_bank(kernels, far, small=10)
    assert bank.dtype == np.float64 and bank.usable.all()
    plain = KernelList.from_spec([("a", RBF(0.1), [0, 1])], X)
    assert choose_bank(plain, X, small=10).dtype == np.float32 and choose_bank(plain, X, small=n).dtype == np.float64
    assert choose_bank(plain, X, small=10, exact=True).dtype == np.float64
    assert choose_bank(plain, X, small=10, tol=9e-5).dtype == np.float64


def test_a_warning_of_pairs_in_single_precision_is_told_once(monkeypatch):
    """A kernel that is not positive: the warning was repeated into its own list, and the fit never ended."""
    told = []
    monkeypatch.setattr(choice, "_tell", lambda caught, tell=choice._tell: told.append(len(caught)) or tell(caught[:9]))

    def below(A, B):
        return -((A[:, None] - B) ** 2).sum(axis=2)

    kernels = KernelList.from_spec([("below", below), ("r", RBF(0.1))], X)
    with pytest.warns(UserWarning, match="kernel 'below' is not positive semidefinite") as heard:
        bank = choose_bank(kernels, X, small=10)
    assert bank.dtype == np.float32 and told == [1] and len(heard) == 1


def test_kernels_without_variance_are_told_of_once_whichever_bank_is_chosen(monkeypatch):
    still = X.copy()
    still[:, 1] = 0.0
    kernels = KernelList.from_spec([("a", Linear(), [0]), ("rests", Linear(), [1]), ("c", Linear(), [2])], still)
    with pytest.warns(UserWarning, match="without variance.*'rests'"):
        explicit_bank(kernels, still)
    for dear in (False, True):
        monkeypatch.setattr(choice, "cheaper", lambda bank, dear=dear: not dear)
        with pytest.warns(UserWarning, match="without variance.*'rests'") as told:
            bank = choose_bank(kernels, still)
        assert len(told) == 1 and bank.explicit == (not dear) and bank.usable.tolist() == [True, False, True]


def test_words_of_examples_that_lack_a_view_are_compared_pair_by_pair():
    """One of two views of texts is incomplete: words at their places have no bank for it."""
    some = np.arange(n) != 7
    views = Views({"t": TEXTS, "u": [text for text, own in zip(TEXTS, some, strict=True) if own]},
                  ids={"t": np.arange(n), "u": np.flatnonzero(some)})  # fmt: skip
    specs = [("a", Degree(2), "t"), ("b", Degree(2), "u", "zero")]
    assert explicit_bank(KernelList.from_spec(specs, views), views) is None
    assert explicit_bank(KernelList.from_spec(specs[:1], views), views) is not None


def test_features_of_words_pay_from_their_own_number_of_examples():
    degrees, words = (KernelList.from_spec([one], TEXTS) for one in (Degree(2), Spectrum(3)))
    shifts, mixed = (KernelList.from_spec(several, TEXTS) for several in
                     ([WeightedDegreeShift(3, 1)], [Degree(2), Spectrum(3)]))  # fmt: skip
    for kernels, most in ((degrees, 3000), (words, 8000), (shifts, 8000), (mixed, 8000)):
        assert worth_features(kernels, most + 1) and not worth_features(kernels, most)
    numbers, pairs = (KernelList.from_spec([one], X) for one in (Linear(), RBF(0.1)))
    assert worth_features(numbers, 10) and not worth_features(pairs, 10**6)
    both = KernelList.from_spec([Linear(), RBF(0.1)], X)
    assert not worth_features(both, 10**6)
