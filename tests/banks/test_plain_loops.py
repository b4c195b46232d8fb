"""Few kernel values are computed in NumPy: the same values as those of the compiled loops."""

import subprocess
import sys

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.banks import PairwiseBank
from manykernels.kernels import RBF, Chi2, HistogramIntersection, KernelList, Laplacian, Linear, Polynomial
from manykernels.kernels import pair_blocks as blocks


@pytest.fixture(autouse=True)
def compiled_loops():
    """Not here, where both are compared."""


KERNELS = [RBF(0.3), RBF(2.0), Laplacian(0.2), Linear(), Polynomial(3), Chi2(0.5), HistogramIntersection()]


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", None])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_banks_do_not_depend_on_who_computes(monkeypatch, normalize, dtype):
    rng = np.random.default_rng(2)
    X, w = rng.random((45, 6)), rng.random(45)
    theta, A = rng.random(len(KERNELS)), rng.normal(size=(2, 9))
    some, support = np.array([3, 40, 7]), np.sort(rng.permutation(45)[:9])
    found = []
    for most in 0, 2**24:
        monkeypatch.setattr(blocks, "MAX_PLAIN_VALUES", most)
        bank = PairwiseBank(KernelList.from_spec(KERNELS, X), X, weights=w, normalize=normalize, dtype=dtype)
        predictor = bank.predictor(support)
        new = rng.random((4, 6)) if not found else new  # noqa: F821
        found.append(
            [bank.scale, bank.combined(theta), bank.combined(theta, some, support), bank.products(A, support),
             bank.products(A, support, some, np.array([1, 4])), bank.matrices(), bank.matrices(rows=some),
             bank.held().matrices(), bank.outputs(theta, A, support), predictor.decision(new, A, theta)]
        )  # fmt: skip
    for one, other in zip(*found, strict=True):
        np.testing.assert_allclose(
            one, other, rtol=2e-5 if dtype == np.float32 else 1e-11, atol=1e-6 * (dtype == np.float32)
        )


def test_matrices_are_the_same_when_asked_for_again():
    X = np.random.default_rng(3).normal(size=(30, 4))
    bank = PairwiseBank(KernelList.from_spec([RBF(0.1), Laplacian(0.3)], X), X, dtype=np.float64)
    part = bank.restrict(np.arange(30))
    first = bank.matrices().copy()
    np.testing.assert_allclose(bank.matrices(), first, rtol=1e-14)
    np.testing.assert_allclose(part.matrices(), first, rtol=1e-14)
    np.testing.assert_allclose(bank.matrices(rows=np.array([2, 5])), first[:, [2, 5]][:, :, [2, 5]], rtol=1e-14)


def test_small_predictions_of_a_loaded_model_do_not_load_the_compiler(tmp_path):
    rng = np.random.default_rng(4)
    X = rng.normal(size=(60, 5))
    model = MKLClassifier().fit(X, X[:, 0] > 0)
    model.save(tmp_path / "model.mk")
    np.save(tmp_path / "new.npy", X[:7])
    code = (
        "import sys, numpy as np, manykernels; model = manykernels.load('model.mk');"
        "print(*model.decision_function(np.load('new.npy')), 'numba' in sys.modules)"
    )
    said = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=True
    ).stdout.split()
    assert said[-1] == "False"
    np.testing.assert_allclose(np.array(said[:-1], float), model.decision_function(X[:7]), rtol=1e-9)


@pytest.mark.parametrize("limit", [None, "200kB"])
def test_decisions_sum_all_tiles_of_the_support(limit):
    """Tiles have other sizes with NumPy: more support examples than one tile has columns."""
    rng = np.random.default_rng(3)
    n = 300 if limit else 1500
    X = rng.uniform(-1, 1, size=(n, 2))
    model = MKLRegressor([RBF(0.3), RBF(1.0)], C=1.0, memory_limit=limit).fit(X, X[:, 0] * X[:, 1])
    K = sum(
        w * s * np.exp(-g * ((X[:, None] - X[model.support_]) ** 2).sum(axis=2))
        for w, s, g in zip(model.kernel_weights_, model.kernel_scale_, (0.3, 1.0), strict=True)
    )
    assert len(model.support_) == n
    np.testing.assert_allclose(model.predict(X), K @ model.dual_coef_[0] + model.intercept_, atol=1e-5)
