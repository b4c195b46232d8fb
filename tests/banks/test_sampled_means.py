"""Scales from some rows: their error is at most 0.1 % and stated, or all pairs are summed."""

import numpy as np
import pytest

from manykernels import MKLClassifier, load
from manykernels.banks import PairwiseBank, pairwise
from manykernels.kernels import RBF, KernelList, Laplacian, Linear, Polynomial

N = 4500


def heavy(rng):
    return rng.standard_t(1.5, size=(N, 5))


def clusters(rng):
    return 5 * rng.normal(size=(8, 6))[rng.integers(0, 8, N)] + 0.1 * rng.normal(size=(N, 6))


def duplicates(rng):
    return rng.normal(size=(50, 6))[rng.integers(0, 50, N)]


def outliers(rng):
    """One cluster, and single examples far away from it and from each other."""
    X = 0.01 * rng.normal(size=(N, 6))
    X[rng.permutation(N)[: int(rng.integers(1, 12))]] = 100 * rng.normal(size=6)
    return X


def second_cluster(rng):
    """One cluster, and a small one far away, which a sample may miss."""
    X = 0.01 * rng.normal(size=(N, 6))
    X[rng.permutation(N)[: int(N * rng.choice([0.0005, 0.001, 0.002, 0.005]))]] += 5.0
    return X


def banks(X):
    """(bank from a sample, bank from all pairs)."""
    size = float(np.median(np.sum((X[:500] - X[500:1000]) ** 2, axis=1))) + 0.5
    kernels = [RBF(gamma=g / size) for g in (0.01, 0.3, 3.0)] + [Laplacian(gamma=size**-0.5), Linear(), Polynomial(2)]
    kernels = KernelList.from_spec(kernels, X)
    return [PairwiseBank(kernels, X, n_jobs=1, normalize=how) for how in ("multiplicative", "exact")]


@pytest.fixture(autouse=True)
def few_are_enough(monkeypatch):
    monkeypatch.setattr(pairwise, "MAX_EXACT_EXAMPLES", N - 1)


SEEDS = [pytest.param(seed, marks=[] if seed < 1 else pytest.mark.slow) for seed in range(20)]


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("make", [heavy, clusters, duplicates, outliers, second_cluster])
def test_the_error_of_a_scale_is_small(make, seed):
    sampled, exact = banks(make(np.random.default_rng(seed)))
    assert exact.scale_error is None
    errors = np.zeros(exact.M) if sampled.scale_error is None else sampled.scale_error
    assert errors.max() <= 1e-3
    np.testing.assert_allclose(sampled.scale, exact.scale, rtol=1e-3)
    same = errors == 0  # summed over all pairs, by other tables of exponentials
    np.testing.assert_allclose(
        1 / sampled.scale[same], 1 / exact.scale[same], atol=1e-6 * (exact.diagonals() / exact.scale[:, None]).max()
    )


@pytest.mark.parametrize("normalize", [None, "spherical", "trace"])
def test_other_normalisations_sum_no_pairs(normalize, monkeypatch):
    X = np.random.default_rng(0).normal(size=(N, 8))
    kernels = KernelList.from_spec([RBF(gamma=0.1), Laplacian(gamma=0.2)], X)
    exact = PairwiseBank(kernels, X, normalize=normalize, dtype=np.float64, n_jobs=1)
    monkeypatch.setattr(PairwiseBank, "_sums", None)
    bank = PairwiseBank(kernels, X, normalize=normalize, n_jobs=1)
    np.testing.assert_allclose(bank.scale, exact.scale, rtol=1e-12)
    assert bank.scale_error is None and bank.usable.all()


def test_a_kernel_that_hardly_varies_is_summed():
    """RBF(gamma=1e-6) has a variance of 1e-5: its relative rounding is too large for the sample."""
    X = np.random.default_rng(0).normal(size=(N, 4))
    bank = PairwiseBank(KernelList.from_spec([RBF(gamma=1e-6), RBF(gamma=0.5)], X), X, n_jobs=1)
    assert bank.scale_error[0] == 0 < bank.scale_error[1]


def test_models_state_the_error_and_predict_alike(tmp_path):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(N, 6))
    y = X[:, 0] * X[:, 1] + 0.3 * rng.normal(size=N) > 0
    kernels = [RBF(gamma=g) for g in (0.03, 0.2, 1.0)]
    sampled, exact = (MKLClassifier(kernels, normalize=how).fit(X, y) for how in ("multiplicative", "exact"))
    assert sampled.normalize_ == exact.normalize_ == "multiplicative"
    assert not hasattr(exact, "kernel_scale_error_") and 0 < sampled.kernel_scale_error_.max() <= 1e-3
    off = np.abs(sampled.kernel_scale_ / exact.kernel_scale_ - 1)
    assert np.all(off <= sampled.kernel_scale_error_) and off.max() > 1e-7
    new = rng.normal(size=(500, 6))
    decisions = [model.decision_function(new) for model in (sampled, exact)]
    assert np.abs(decisions[0] - decisions[1]).max() < 0.02 * np.ptp(decisions[1])
    assert sampled.objective_ == pytest.approx(exact.objective_, rel=1e-3)
    sampled.save(tmp_path / "model.mk")
    np.testing.assert_array_equal(load(tmp_path / "model.mk").kernel_scale_error_, sampled.kernel_scale_error_)
    assert not hasattr(sampled.set_params(normalize="exact").fit(X, y), "kernel_scale_error_")
