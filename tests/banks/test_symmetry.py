"""One pass over a stack sees every pair: its sums are exact, and no skew goes unnoticed."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, dense
from manykernels.kernels import RBF, KernelStack

rng = np.random.default_rng(0)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("form", [np.asarray, lambda S: KernelStack(np.moveaxis(S, 2, 0))], ids=["last", "first"])
def test_loops_survey_a_stack_of_few_examples_as_exactly_as_numpy(form, dtype, monkeypatch):
    """In float64 sums for entries of any type, and by the largest skew of a pair: many skews of no account are none."""
    rng = np.random.default_rng(1)
    X, most = rng.normal(size=(200, 2)), 2e-4 if dtype == np.float32 else 6e-7
    S = np.stack([1e3 + RBF(g)(X) for g in (0.1, 1.0, 3.0)], axis=2).astype(dtype)
    exact = DenseBank(form(S))
    monkeypatch.setattr(dense, "FEW_ENTRIES", 0)
    np.testing.assert_allclose(DenseBank(form(S)).scale, exact.scale, rtol=1e-9)
    skewed = S + (0.5 * most * 1e3 * np.sign(rng.normal(size=S.shape))).astype(dtype)
    monkeypatch.setattr(dense, "warn_indefinite", lambda names: None)
    assert DenseBank(form(skewed)).M == 3
    skewed[7, 100, 2] += 1.0
    with pytest.raises(ValueError, match="not symmetric in kernel 'kernel 2';"):
        DenseBank(form(skewed))


@pytest.mark.parametrize("form", [np.asarray, lambda S: KernelStack(np.moveaxis(S, 2, 0))], ids=["last", "first"])
def test_entries_near_0_are_no_subnormal_numbers_in_sums(form, monkeypatch):
    """Which some processors multiply a hundred times slower; what is taken from the entries has no effect else."""
    monkeypatch.setattr(dense, "MAX_FLOAT64_EXAMPLES", 8)
    X = np.random.default_rng(2).normal(size=(60, 2))
    S = np.stack([np.where(np.eye(60, dtype=bool), 1.0, 1e-40), RBF(90.0)(X)], axis=2).astype(np.float32)
    tiny = np.finfo(np.float32).tiny
    assert np.any((S > 0) & (S < tiny))
    bank = DenseBank(form(S), normalize=None)
    for theta in ([1.0, 0.0], [0.5, 0.5]):
        single = bank.combined(np.array(theta), dtype=np.float32, shifted=True)
        assert np.abs(single[single != 0]).min() >= tiny
        np.testing.assert_allclose(single, S @ np.array(theta), atol=1e-7)
