"""A bank of some examples that is given the scales of all has the kernel values that these have in the bank of all."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, PairwiseBank
from manykernels.banks.choice import choose_bank
from manykernels.datasets import make_splice
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.kernels.normalize import Scaled
from manykernels.strings import Spectrum, WeightedDegreeShift, degree_kernels

ROWS = np.arange(1, 60, 3)


def case(name):
    if name in ("pairs", "features"):
        X = np.random.default_rng(0).normal(size=(60, 4)) + 1.0
        kernels = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3])]
        return X, X[ROWS], kernels + ([("c", RBF(gamma=0.3))] if name == "pairs" else [])
    X, _ = make_splice(60, length=30, positives=0.5, random_state=0)
    lists = {"degree": degree_kernels(4), "trie": [WeightedDegreeShift(3, 1)], "words": [Spectrum(3)]}
    return X, X[ROWS], lists["degree"] + lists["words"] if name == "joined" else lists[name]


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@pytest.mark.parametrize("name", ["pairs", "features", "degree", "trie", "words", "joined"])
def test_scales_of_all_examples_hold_for_some(name, normalize):
    X, some, kernels = case(name)
    kernels = KernelList.from_spec(kernels, X)
    options = dict(tol=1e-9, features="never" if name == "pairs" else "auto", wanted=name != "pairs", n_jobs=1)
    whole = choose_bank(kernels, X, normalize=normalize, **options)
    scaled = Scaled(normalize, whole.scale, whole.usable, np.zeros(whole.M))
    part, theta = choose_bank(kernels, some, normalize=scaled, **options), np.linspace(1, 2, whole.M)
    assert type(part) is type(whole)
    np.testing.assert_array_equal(part.scale, whole.scale)
    np.testing.assert_allclose(part.combined(theta), whole.combined(theta, ROWS, ROWS), rtol=1e-6)
    np.testing.assert_allclose(part.diagonals(), whole.diagonals()[:, ROWS], rtol=1e-6)
    everyone, a = np.arange(len(ROWS)), np.random.default_rng(1).normal(size=(1, len(ROWS)))
    found = part.predictor(everyone).decision(X, a, theta)
    np.testing.assert_allclose(found, whole.outputs(theta, a, ROWS), rtol=1e-4, atol=1e-5)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", ["stack", "table"])
def test_a_spherical_kernel_has_diagonals_of_1_in_every_unit(name):
    """1 / k(x, x) is infinite for k(x, x) = 1e-310, and so were the diagonals."""
    X = 1e-155 * np.random.default_rng(0).normal(size=(20, 3))
    K = X @ X.T
    assert K.max() < 1e-308
    if name == "stack":
        bank = DenseBank(K[:, :, None], normalize="spherical")
    else:
        bank = PairwiseBank(KernelList.from_spec([Linear()], X), X, normalize="spherical", dtype=np.float64)
    np.testing.assert_allclose(bank.diagonals(), 1.0, rtol=1e-9)
