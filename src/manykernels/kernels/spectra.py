"""Corrections of kernel matrices that are not positive semidefinite: the choices of `psd`.

    K = Σ_k λ_k u_k u_kᵀ on the training examples, U₋ the eigenvectors with λ_k < 0, P = I − U₋ U₋ᵀ
    "clip":   K becomes K P, which sets each λ_k < 0 to 0, and values of new examples become K_new P
    "shift":  K becomes K + max(0, −min λ) I, and values of new examples do not change

A row of K_new that equals a row of K becomes the same row of K P: training and new examples are treated alike (Y. Chen
et al., JMLR 10, 2009). Eigenvalues that may be negative by rounding alone do not change.
"""

import numpy as np

PSD = ("warn", "clip", "shift", "error")


def corrected(K: np.ndarray, psd: str, rounding: float, name: str) -> tuple[np.ndarray, np.ndarray, float]:
    """(K' (n, n), U₋ (n, r), shift) of a symmetric K; r = 0 and shift = 0 if K needs no correction."""
    values, vectors = np.linalg.eigh(np.asarray(K, np.float64))
    negative = values < -rounding * max(abs(values[0]), abs(values[-1]), 1e-300)
    nothing = vectors[:, :0]
    if not negative.any():
        return K, nothing, 0.0
    if psd == "error":
        raise ValueError(
            f"kernel {name!r} is not positive semidefinite: {int(negative.sum())} of its {len(K)} eigenvalues are "
            f"below 0, the least is {values[0]:.3g} and the largest {values[-1]:.3g}; "
            'give psd="clip" or "shift", or another kernel.'
        )
    if psd == "shift":
        lift = float(-values[0])
        return K + (lift * np.eye(len(K))).astype(K.dtype), nothing, lift
    U = np.ascontiguousarray(vectors[:, negative])
    return (K - (U * values[negative]) @ U.T).astype(K.dtype, copy=False), U, 0.0


def projected(K: np.ndarray, U: np.ndarray, cols: np.ndarray | None = None) -> np.ndarray:
    """K P of values K (n', n) between any examples and the training examples, or only the columns `cols` of K P."""
    part, right = (K, U) if cols is None else (K[:, cols], U[cols])
    return part - (np.asarray(K, np.float64) @ U) @ right.T if U.shape[1] else part
