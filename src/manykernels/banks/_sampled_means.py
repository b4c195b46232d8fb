"""The mean entry of large kernel matrices from some of their rows, with its error.

K_m holds inner products of features φ_i. With p_i = w_i / Σw and μ = Σ p_i φ_i, the mean entry is

    ‖μ‖² = E r(x) ,   r(x) = ⟨φ(x), μ⟩ = Σ_j p_j k(x, x_j) ,   x drawn with probabilities p.

A row of K gives r at one example. The mean of r over a sample alone would need a hundred thousand rows. So r is first
approximated by f(x) = Σ_i c_i k(x, x_i), by kernel ridge regression on some rows, since μ is nearly a combination of a
few hundred φ_i. The mean of f is Σ_i c_i r(x_i), which is exact, and other rows show what is left:

    ‖μ‖²  ≈  Σ_i c_i r(x_i)  +  mean over the other rows of r − f .

The standard error follows from the values of r − f on the other rows. The sample may lack outliers; then it shows less
than the variance V = Σ p_i k_ii − ‖μ‖² of all examples, which is E ‖z‖², z = φ − μ. Let the outliers have the total
weight p and the variance V' = Σ_out p_i ‖z_i‖² that the sample lacks. They change ‖μ‖² by at most
‖Σ_out p_i z_i‖² ≤ p V', and it is unlikely that s draws miss a weight p of more than 3 / s. The stated error has both.
"""

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

from .._limits import MemoryBudget
from .._threads import limit_blas
from ..kernels.normalize import precision

FIT_ROWS, OTHER_ROWS = 192, 448
MIN_EXAMPLES = 4 * (FIT_ROWS + OTHER_ROWS)  # with fewer, all pairs cost about as much
RIDGE = 1e-6  # relative to the trace
STANDARD_ERRORS = 3.0  # that the stated error contains
MISSED_DRAWS = 3.0  # of outliers that the sample may lack: the probability is exp(−3)
MAX_KERNELS = 16  # whose values are in memory at the same time


def sampled_means(bank, w, diagonal, kernels):
    """(mean entries, their error relative to the variance) of these kernels, |kernels| each.

    w (n,) are the weights of the examples, diagonal (|kernels|,) the mean of each k(x, x). The error is infinite where
    the sample does not show it. The sample depends on w alone, not on the kernels, the device or the threads.
    """
    ends, rng = np.cumsum(w), np.random.default_rng(0)
    draws = np.searchsorted(ends, rng.random(FIT_ROWS + OTHER_ROWS) * ends[-1], side="right")
    rows, place = np.unique(draws, return_inverse=True)
    fit, other = np.unique(place[:FIT_ROWS]), place[FIT_ROWS:]
    r = bank.products(w[None] / ends[-1], None, rows, kernels)[0]
    own = bank.diagonals()[np.ix_(kernels, rows)]
    means, errors = np.empty(len(kernels)), np.full(len(kernels), np.inf)
    room = MemoryBudget(bank.memory_limit).share("kernel rows") // (rows.size**2 * bank.dtype.itemsize)
    step = max(1, min(MAX_KERNELS, int(room)))
    for first in range(0, len(kernels), step):
        part = np.arange(first, min(first + step, len(kernels)))
        for m, K in zip(part, bank.matrices(kernels[part], rows), strict=True):
            with limit_blas(1):
                means[m], rest = _mean(K, r[m], fit, other)
            variance = diagonal[m] - means[m]
            if variance > 0:
                seen = np.mean(own[m, other] - 2 * r[m, other] + means[m])
                off = STANDARD_ERRORS * np.sqrt(rest / OTHER_ROWS) + precision(bank.dtype) * diagonal[m]
                errors[m] = (off + MISSED_DRAWS / OTHER_ROWS * max(variance - seen, 0.0)) / variance
    return means, errors


def _mean(K, r, fit, other):
    """(‖μ‖², the variance of r − f on the `other` rows) of one kernel with the values K on the sample."""
    inside = K[np.ix_(fit, fit)].astype(np.float64)
    ridge = RIDGE * np.trace(inside) * np.eye(len(fit))
    try:
        c = cho_solve(cho_factor(inside + ridge, lower=True), r[fit])
    except LinAlgError:  # rounding made it indefinite: the error is large then
        c = np.zeros(len(fit))
    rest = r[other] - K[np.ix_(other, fit)].astype(np.float64) @ c
    return float(r[fit] @ c) + float(rest.mean()), float(rest.var())
