"""The means of sampled rows by their formula, with uneven weights and kernels in any order."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, _sampled_means
from manykernels.kernels.normalize import precision

rng = np.random.default_rng(0)
n, M = 90, 5


def by_formula(K, w, rows):
    """(Σ c r + mean of r − f, the stated error) of one kernel from the drawn rows."""
    p = w / w.sum()
    some, place = np.unique(rows, return_inverse=True)
    fit, other = np.unique(place[: _sampled_means.FIT_ROWS]), place[_sampled_means.FIT_ROWS :]
    r, own = (K @ p)[some], np.diag(K)[some]
    inside = K[np.ix_(some[fit], some[fit])]
    c = np.linalg.solve(inside + 1e-6 * np.trace(inside) * np.eye(len(fit)), r[fit])
    rest = r[other] - K[np.ix_(some[other], some[fit])] @ c
    mean = c @ r[fit] + rest.mean()
    variance = p @ np.diag(K) - mean
    seen = np.mean(own[other] - 2 * r[other] + mean)
    off = 3.0 * np.sqrt(rest.var() / len(other)) + precision(np.float64) * (p @ np.diag(K))
    return mean, (off + 3.0 / len(other) * max(variance - seen, 0.0)) / variance


@pytest.mark.parametrize("room", [16, 1])
def test_sampled_means_and_their_errors_are_those_of_the_formula(room, monkeypatch):
    monkeypatch.setattr(_sampled_means, "FIT_ROWS", 10)
    monkeypatch.setattr(_sampled_means, "OTHER_ROWS", 25)
    monkeypatch.setattr(_sampled_means, "MAX_KERNELS", room)
    X = rng.normal(size=(M, n, 3)) * np.linspace(0.5, 3.0, M)[:, None, None]
    X[2, ::7] *= 6.0  # outliers, of which the sample shows some only
    D = ((X[:, :, None] - X[:, None]) ** 2).sum(axis=3)
    Ks = np.stack([X[m] @ X[m].T + m if m % 2 == 0 else np.exp(-0.3 * D[m]) for m in range(M)])
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    w = rng.uniform(0.0, 2.0, n)
    w[::5] = 0.0
    draws = np.searchsorted(np.cumsum(w), np.random.default_rng(0).random(35) * w.sum(), side="right")
    assert (w[draws] > 0).all()
    for kernels in (np.arange(M), np.array([2, 4]), np.array([3, 1, 2])):
        diagonal = np.einsum("mii,i->m", Ks[kernels], w) / w.sum()
        means, errors = _sampled_means.sampled_means(bank, w, diagonal, kernels)
        expected = np.array([by_formula(Ks[m], w, draws) for m in kernels])
        np.testing.assert_allclose(means, expected[:, 0], rtol=1e-6)
        np.testing.assert_allclose(errors, expected[:, 1], rtol=1e-5)
    none = _sampled_means.sampled_means(bank, w, np.zeros(M), np.arange(M))[1]
    assert np.isinf(none).all()  # no variance is seen
