"""Functions of kernel matrices: normalisations, corrections of the spectrum, alignments; w are weights, W = Σw.

The alignment is ⟨K, L⟩ / (‖K‖ ‖L‖) (Cristianini et al. 2001), or its centred form (Cortes et al. 2012).
Matrices that are not positive semidefinite are corrected by `psd`:

    K = Σ_k λ_k u_k u_kᵀ on the training examples, U₋ the eigenvectors with λ_k < 0, P = I − U₋ U₋ᵀ
    "clip":   K becomes K P, which sets each λ_k < 0 to 0, and values of new examples become K_new P
    "shift":  K becomes K + max(0, −min λ) I, and values of new examples do not change

A row of K_new that equals a row of K becomes the same row of K P: training and new examples are treated alike (Y. Chen
et al., JMLR 10, 2009). Eigenvalues that may be negative by rounding alone do not change.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_choice

CHOICES = ("multiplicative", "spherical", "trace", None)
CHOICES_OF_MODELS = ("auto", "exact", *CHOICES)  # "exact": "multiplicative", from all pairs of any number of examples
PSD = ("warn", "clip", "shift", "error")
BLOCK_ENTRIES = 2**23  # kernel values that are read at a time


class Scaled(NamedTuple):
    """A normalisation `kind` with factors that were computed on all examples, for a bank of some of them: (M,) each.

    `mean` is the mean entry of each kernel before scaling.
    """

    kind: str | None
    scale: np.ndarray
    usable: np.ndarray
    mean: np.ndarray

    def part(self, kernels):
        """The normalisation of these kernels alone."""
        return Scaled(self.kind, self.scale[kernels], self.usable[kernels], self.mean[kernels])


def kind_of(normalize):
    """The kind, one of `CHOICES` or "auto", of a normalisation or of a `Scaled`."""
    return normalize.kind if isinstance(normalize, Scaled) else "multiplicative" if normalize == "exact" else normalize


def multiplicative(K: np.ndarray, w: ArrayLike | None = None) -> np.ndarray:
    """The kernel of unit variance in feature space.

    K / (Σ w_i k_ii / W − Σ w_i w_j k_ij / W²), W = Σw.

    Parameters
    ----------
    K : array (n, n)
    w : array (n,), optional
        Weights of the examples.

    Returns
    -------
    array (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import multiplicative
    >>> multiplicative(np.diag([2.0, 2.0]))
    array([[2., 0.],
           [0., 2.]])
    """
    w = np.ones(len(K)) if w is None else np.asarray(w, float)
    return K * (1.0 / (w @ np.diag(K) / w.sum() - w @ (K @ w) / w.sum() ** 2))


def trace(K: np.ndarray, w: np.ndarray | None = None) -> np.ndarray:
    """The kernel of unit mean diagonal.

    K / (Σ w_i k_ii / W), W = Σw.

    Parameters
    ----------
    K : array (n, n)
    w : array (n,), optional
        Weights of the examples.

    Returns
    -------
    array (n, n)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import trace
    >>> trace(np.diag([1.0, 3.0]))
    array([[0.5, 0. ],
           [0. , 1.5]])
    """
    return K / np.average(np.diag(K), weights=w)


def spherical(K: np.ndarray, diag_x: ArrayLike | None = None, diag_y: ArrayLike | None = None) -> np.ndarray:
    """The cosine in feature space.

    k_ij / √(k_ii k_jj), 0 if k_ii or k_jj is 0.

    Parameters
    ----------
    K : array (n, m)
    diag_x, diag_y : array (n,) and (m,), optional
        k(x, x) of the rows and of the columns, for new data; by default the diagonal of K.

    Returns
    -------
    array (n, m)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import spherical
    >>> spherical(np.array([[4.0, 1.0], [1.0, 1.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """
    diag_x = np.diag(K) if diag_x is None else diag_x
    return K * inverse_root(diag_x)[:, None] * inverse_root(diag_x if diag_y is None else diag_y)


def inverse_root(diagonal):
    """1/√d, 0 if d <= 0."""
    d = np.asarray(diagonal, float)
    return np.divide(1.0, np.sqrt(np.maximum(d, 0)), out=np.zeros_like(d), where=d > 0)


def check_normalize(normalize):
    check_choice("normalize", kind_of(normalize), CHOICES)


def precision(dtype):
    """The relative precision, in units of the mean diagonal, of a kernel's variance from entries of this dtype."""
    return 1e-6 if dtype == np.float32 else 1e-12


def scales(diagonal, variance, normalize, precision):
    """(scale, usable) of kernels, (M,) each, from mean diagonals Σ w_i k_ii / W and variances in feature space.

    The variance is Σ w_i k_ii / W − Σ w_i w_j k_ij / W². A kernel is not usable, and its scale is 0, if its variance is
    at most `precision`, that of its computation, times the mean diagonal.
    """
    diagonal, variance = np.asarray(diagonal, float), np.asarray(variance, float)
    if not np.isfinite(diagonal).all():
        raise ValueError("values of a kernel overflow: rescale the columns of X, for example with StandardScaler().")
    by = {"multiplicative": variance, "trace": diagonal}.get(normalize, np.ones_like(diagonal))
    scale = np.divide(1.0, by, out=np.zeros_like(by), where=by > np.finfo(float).tiny)
    usable = (variance > precision * np.maximum(np.abs(diagonal), np.finfo(float).tiny)) & (scale > 0)
    return np.where(usable, scale, 0.0), usable


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
            K, L = centred_matrix(K), L - L.mean()
        return _ratio(L @ K @ L, np.linalg.norm(K) * (L @ L))
    if K.shape != L.shape:
        raise ValueError(f"The kernels have different shapes {K.shape} and {L.shape}.")
    if centered:
        K, L = centred_matrix(K), centred_matrix(L)
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


def centred_matrix(K):
    """A matrix without the means of its rows and columns."""
    return K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()


def _ratio(product, norms):
    return float(product / norms) if norms > 0 else 0.0
