"""Kernel alignment ⟨K, L⟩ / (‖K‖ ‖L‖) (Cristianini et al. 2001) and its centred form (Cortes et al. 2012)."""

import numpy as np


def alignment(K, L, centered=False):
    """⟨K, L⟩_F / (‖K‖_F ‖L‖_F) of two kernels (n, n), or of a kernel and targets L (n,) standing for LL'."""
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


def target_alignments(kernels, y, centered=False):
    """The alignment of every kernel with targets y, (M,); kernels is a bank, or an (M, n, n) stack of matrices."""
    if not hasattr(kernels, "combined"):
        return np.array([alignment(K, y, centered) for K in kernels])
    one = np.eye(kernels.M)
    return np.array([alignment(kernels.combined(one[m]), y, centered) for m in range(kernels.M)])


def _centre(K):
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def _ratio(product, norms):
    return float(product / norms) if norms > 0 else 0.0
