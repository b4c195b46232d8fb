"""Under a memory limit the combined kernel of the active examples counts too."""

import re
import tracemalloc

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.banks import pairwise
from manykernels.kernels import RBF, KernelList

rng = np.random.default_rng(0)
n = 1100
X = rng.standard_normal((n, 5))
y = np.where(X[:, 0] + X[:, 1] ** 2 - 1 + 0.5 * rng.standard_normal(n) > 0, 1, -1)
KERNELS = [RBF(gamma=0.02), RBF(gamma=0.2)]
MATRIX = 4 * n * n  # bytes of the combined kernel in float32
LIMIT = 2**21


def grown(model, target):
    """(bytes that a fit holds at most, the model)."""
    model.fit(X, target)  # compiles
    tracemalloc.start()
    try:
        model.fit(X, target)
        return tracemalloc.get_traced_memory()[1], model
    finally:
        tracemalloc.stop()


@pytest.fixture
def nothing_is_small(monkeypatch):
    monkeypatch.setattr(pairwise, "MIN_MATRIX_BYTES", 2**17)


@pytest.mark.parametrize("loss", ["hinge", "squared"])
def test_a_fit_stays_near_a_limit_that_cannot_hold_the_combined_kernel(loss, nothing_is_small):
    make, target = (MKLClassifier, y) if loss == "hinge" else (MKLRegressor, X[:, 0] + X[:, 1] ** 2)
    free = make(KERNELS, loss=loss, tol=1e-2, n_jobs=2, C=1.0).fit(X, target)
    with pytest.warns(UserWarning, match="block by block") as told:
        peak, model = grown(make(KERNELS, loss=loss, tol=1e-2, n_jobs=2, memory_limit=LIMIT, C=1.0), target)
    assert sum("block by block" in str(w.message) for w in told) <= 2  # two fits
    assert peak < 1.5 * LIMIT + 8 * 60 * n < MATRIX  # and some sixty vectors of n numbers
    assert model.duality_gap_ <= 1e-2
    assert model.objective_ == pytest.approx(free.objective_, rel=2e-2)


def test_the_choice_of_C_stays_near_the_limit(nothing_is_small):
    with pytest.warns(UserWarning, match="block by block"):
        peak, model = grown(MKLClassifier(KERNELS, tol=1e-2, n_jobs=2, memory_limit=LIMIT), y)
    assert peak < 1.5 * LIMIT + 8 * 60 * n and model.duality_gap_ <= 1e-2


def test_the_warning_names_a_limit_that_is_enough(nothing_is_small):
    kernels, theta = KernelList.from_spec(KERNELS, X), np.array([0.3, 0.7])
    bank = pairwise.PairwiseBank(kernels, X, memory_limit=LIMIT)
    with pytest.warns(UserWarning, match='memory_limit="[0-9]+MB" holds it') as told:
        bank.matrix(theta, None, np.float32, False)
    enough = int(re.search('memory_limit="([0-9]+)MB"', str(told[0].message))[1]) * 10**6
    again = pairwise.PairwiseBank(kernels, X, memory_limit=enough)
    assert isinstance(again.matrix(theta, None, np.float32, False), np.ndarray)


def test_without_a_limit_the_matrix_is_built():
    bank = pairwise.PairwiseBank(KernelList.from_spec(KERNELS, X), X)
    assert isinstance(bank.matrix(np.ones(2), None, np.float32, True), np.ndarray)
