"""Kernel alignment ⟨K, L⟩ / (‖K‖ ‖L‖) (Cristianini et al. 2001) and its centred form (Cortes et al. 2012)."""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from .normalize import precision

BLOCK_ENTRIES = 2**23  # kernel values that are read at a time


@runtime_checkable
class CombinesKernels(Protocol):
    """A bank of M kernels that computes Σ_m θ_m K_m, (n, n)."""

    M: int

    def combined(self, theta: np.ndarray) -> np.ndarray: ...


def alignment(K: Any, L: Any, centered: bool = False) -> float:
    """The alignment of two kernels, or of a kernel with targets.

    ⟨K, L⟩_F / (‖K‖_F ‖L‖_F) (Cristianini et al. 2001).

    Parameters
    ----------
    K : array (n, n)
    L : array (n, n) or (n,)
        A kernel, or targets y for the kernel yy'.
    centered : bool, default False
        Whether both are centred first (Cortes et al. 2012).

    Returns
    -------
    float
        In [−1, 1], 0 if a norm is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import alignment
    >>> alignment(np.eye(4), np.array([1.0, -1.0, 1.0, -1.0]))
    0.5
    """
    K, L = np.asarray(K, float), np.asarray(L, float)
    if L.ndim == 1:
        if L.shape[0] != K.shape[0]:
            raise ValueError(f"The targets have {L.shape[0]} entries, the kernel {K.shape[0]} examples.")
        if centered:
            K, L = _centre(K), L - L.mean()
        return _ratio(L @ K @ L, np.linalg.norm(K) * (L @ L))
    if K.shape != L.shape:
        raise ValueError(f"The kernels have different shapes {K.shape} and {L.shape}.")
    if centered:
        K, L = _centre(K), _centre(L)
    return _ratio(np.vdot(K, L), np.linalg.norm(K) * np.linalg.norm(L))


def target_alignments(kernels: Any, y: ArrayLike, centered: bool = False) -> np.ndarray:
    """The `alignment` of every kernel with the targets.

    Parameters
    ----------
    kernels : Bank or array (M, n, n)
    y : array (n,)
    centered : bool, default False
        Whether kernels and targets are centred first.

    Returns
    -------
    array (M,)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import target_alignments
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> target_alignments([np.outer(y, y), np.eye(4)], y)
    array([1. , 0.5])
    """
    if not isinstance(kernels, CombinesKernels):
        return np.array([alignment(K, y, centered) for K in kernels])
    one = np.eye(kernels.M)
    return np.array([alignment(kernels.combined(one[m]), y, centered) for m in range(kernels.M)])


def centred_products(bank, Y, weights=None, pairs=False, kernels=None):
    """⟨K_m, YᵀY⟩ of a bank and targets Y (T, n), ⟨K_k, K_l⟩ (‖K_m‖² without `pairs`) and ‖YᵀY‖², all centred.

    `kernels` are the numbers of the kernels, None for all. An example of weight w counts w times. Kernels are read in
    blocks of rows, each in its unit of `units`. Products of kernels or targets that vary by rounding alone are 0.
    """
    kernels = np.arange(bank.M) if kernels is None else np.asarray(kernels)
    unit = units(bank)[kernels]
    w = np.ones(bank.n) if weights is None else np.asarray(weights, float)
    Y = np.atleast_2d(np.asarray(Y, float))
    W, every = w.sum(), np.arange(bank.n)
    off = np.where(w > 0, Y - (Y @ w / W)[:, None], 0.0)
    off[np.abs(off).max(axis=1) <= precision(Y.dtype) * np.abs(Y).max(axis=1)] = 0.0
    Z = w * off  # Σ Z = 0, so that kernels need no centring
    large = 2.0 ** np.frexp(np.abs(Z).max())[1]  # kernel values near the largest float times Z may overflow
    target = np.einsum("tmi,ti->m", bank.products(Z / large, every, None, kernels) / unit[:, None], Z) * large
    means = bank.products(w[None] / W, every, None, kernels)[0] / unit[:, None]
    totals, root, count = means @ w / W, np.sqrt(w), len(kernels)

    def centred(k, rows):
        K = bank.combined(np.eye(1, bank.M, kernels[k])[0] / unit[k], rows, None, dtype=np.float64)
        K += totals[k] - means[k, rows, None] - means[k]
        return (K * (root[rows, None] * root)).ravel()

    grams = np.zeros((count, count) if pairs else count)
    step = max(1, BLOCK_ENTRIES // (bank.n * (count if pairs else 1)))
    for rows in (every[first : first + step] for first in range(0, bank.n, step)):
        if pairs:
            G = np.array([centred(k, rows) for k in range(count)])
            grams += G @ G.T
        else:
            grams += [np.square(centred(k, rows)).sum() for k in range(count)]
    flat = 2 * W * (means**2 @ w) - (W * totals) ** 2  # ‖K‖² minus the ‖K‖² of the centred K
    still = (np.diagonal(grams) if pairs else grams) <= precision(bank.dtype) ** 2 * flat
    target[still], grams[still], grams[..., still] = 0.0, 0.0, 0.0
    U = np.divide(Z, root, out=np.zeros_like(Z), where=root > 0)
    return target, grams, float(np.sum((U @ U.T) ** 2))


def units(bank):
    """The sizes of kernels whose squares float64 cannot hold, (M,), 1 for all others."""
    size = np.abs(bank.diagonals()).max(axis=1)
    return np.where((size > 1e100) | (size < 1e-100) & (size > 0), size, 1.0)


def cosines(grams):
    """⟨K_k, K_l⟩ / (‖K_k‖ ‖K_l‖), 0 if a kernel does not vary."""
    root = np.sqrt(np.maximum(np.diagonal(grams), 0.0))
    size = np.outer(root, root)
    return np.divide(grams, size, out=np.zeros_like(grams), where=size > 0)


def _centre(K):
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def _ratio(product, norms):
    return float(product / norms) if norms > 0 else 0.0
