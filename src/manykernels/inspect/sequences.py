"""Kernel weights of a model of sequences by word length and position."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._pictures import as_shares
from ._support import positional


@dataclass(frozen=True)
class PositionWeights:
    """The shares of the kernel weights by word length and position.

    Parameters
    ----------
    shares : array (…, d, L)
        They sum to 1; [k − 1, l] is the share of words of k letters that start at l.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import PositionWeights
    >>> shares = PositionWeights(np.array([[0.5, 0.0], [0.5, 0.0]]))
    >>> shares.degrees, shares.starts, shares.letters
    (array([0.5, 0.5]), array([1., 0.]), array([0.75, 0.25]))
    """

    shares: np.ndarray

    @property
    def degrees(self) -> np.ndarray:
        """By the length of the words, (…, d)."""
        return self.shares.sum(axis=-1)

    @property
    def starts(self) -> np.ndarray:
        """By the position at which words start, (…, L)."""
        return self.shares.sum(axis=-2)

    @property
    def letters(self) -> np.ndarray:
        """By letter, (…, L): the share of a word goes to its letters in equal parts."""
        d, L = self.shares.shape[-2:]
        out = np.zeros(self.starts.shape)
        for k in range(1, d + 1):
            for s in range(min(k, L)):
                out[..., s:] += self.shares[..., k - 1, : L - s] / k
        return out


def position_weights(model: Any, weights: ArrayLike | None = None) -> PositionWeights:
    """The shares θ_m / Σθ of a fitted model by word length and position (Sonnenburg et al. 2006, section 4.1.3).

    The share of a kernel is spread over its words in proportion to their coefficients in the kernel. Differences
    between kernels are learned; within a kernel they are its fixed shape. At p = 1 the shares are those of the norms,
    ‖f_m‖ / Σ‖f‖; at p = ∞ all θ are equal, and `poim` shows more.

    Parameters
    ----------
    model : estimator
        Fitted on Degree and WeightedDegree kernels.
    weights : array (…, M), optional
        Other weights, such as those of `bootstrap_weights`; None for those of the model.

    Returns
    -------
    PositionWeights

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import position_weights
    >>> from manykernels.strings import degree_kernels
    >>> model = MKLClassifier(degree_kernels(2), C=1.0).fit(["ACGT", "ACGA", "TTGT", "TTGA"], [1, 1, 0, 0])
    >>> position_weights(model).shares.shape
    (2, 4)
    """
    kernels, L = positional(model)
    theta = np.asarray(model.kernel_weights_ if weights is None else weights, dtype=float)
    if theta.shape[-1] != len(kernels):
        raise ValueError(f"weights has shape {theta.shape}, but the model has {len(kernels)} kernels in the last axis")
    theta = as_shares(theta)
    shares = np.zeros((*theta.shape[:-1], max(kernel.words[-1] for kernel in kernels), L))
    for m, kernel in enumerate(kernels):
        table = kernel.degree_table(L).T
        shares[..., : len(table), :] += theta[..., m, None, None] * table / max(table.sum(), 1e-300)
    return PositionWeights(shares)
