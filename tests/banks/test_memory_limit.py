"""A memory limit is kept, asks for little more than is needed, and what it asks for is enough."""

import re
import tracemalloc

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import RBF, KernelList, Linear, feature_bank

rng = np.random.default_rng(0)
SLACK = 1.2e6  # tables of float32 exponentials, and what Python has


def many(n):
    return [RBF(float(g)) for g in np.logspace(-2, 1, n)]


CASES = {
    "many widths": (rng.normal(size=(150, 5)), many(20), np.float64),
    "many columns": (rng.normal(size=(200, 20)), None, np.float64),
    "wide": (rng.normal(size=(200, 3000)), [RBF(1e-3), Linear()], np.float64),
    "sparse": (sp.random_array((300, 5000), density=0.05, format="csr", rng=rng), [RBF(1e-3), Linear()], np.float64),
    "long": (rng.normal(size=(1500, 10)), many(20), np.float32),
}


def peak(work, result=0):
    """Bytes that `work` holds at most, beside its result of so many bytes; compiled before."""
    work()
    tracemalloc.start()
    try:
        found = work()
        return tracemalloc.get_traced_memory()[1] - result, found
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("X, spec, dtype", CASES.values(), ids=CASES)
def test_the_least_limit_is_enough_and_every_limit_holds(X, spec, dtype):
    kernels = KernelList.from_spec(feature_bank(X) if spec is None else spec, X)
    n, M, options = X.shape[0], kernels.M, dict(dtype=dtype, n_jobs=2)
    free = PairwiseBank(kernels, X, **options)  # compiles
    with pytest.raises(ValueError, match="memory_limit=1 ") as caught:
        PairwiseBank(kernels, X, memory_limit=1, **options)
    least = int(re.search(r"at least (\d+) bytes", str(caught.value))[1])
    theta, A, every, half = np.ones(M), np.ones((1, n)), np.arange(n), np.arange(0, n, 2)
    expected = free.combined(theta), free.products(A, every)
    for f in (1, 3):
        held, bank = peak(lambda f=f: PairwiseBank(kernels, X, memory_limit=f * least, **options))
        sums = peak(lambda bank=bank: bank.combined(theta), n * n * bank.dtype.itemsize)
        products = peak(lambda bank=bank: bank.products(A, every), 8 * M * n)
        part = peak(lambda bank=bank: bank.restrict(half))
        for size, _ in (sums, products, part):  # beside what the bank holds
            assert size < f * least + SLACK
        assert held < f * least + SLACK
        np.testing.assert_allclose(sums[1], expected[0], rtol=2e-5)
        np.testing.assert_allclose(products[1], expected[1], rtol=2e-5, atol=1e-5 * np.abs(expected[1]).max())
    matrices = M * n * n * free.dtype.itemsize
    data = 6 * (X.data.nbytes + X.indices.nbytes) if sp.issparse(X) else 2 * X.nbytes  # CSR has transposes too
    assert least < max(0.2 * matrices, data + matrices) + 3e5


def test_the_least_limit_is_enough_to_fit():
    X = rng.normal(size=(120, 400))
    y = X[:, 0] > 0
    kernels = [RBF(1e-3), Linear(), ("one", RBF(1.0), [0])]
    model = MKLClassifier(kernels, C=1.0, memory_limit=10, n_jobs=16)  # no more threads than tiles that fit
    with pytest.raises(ValueError, match="at least") as caught:
        model.fit(X, y)
    least = int(re.search(r"at least (\d+) bytes", str(caught.value))[1])
    assert least < 2 * X.nbytes + 3 * 8 * 120**2 + 2e5
    tight = model.set_params(memory_limit=least).fit(X, y)
    free = MKLClassifier(kernels, C=1.0).fit(X, y)
    np.testing.assert_allclose(tight.decision_function(X), free.decision_function(X), atol=1e-2)
