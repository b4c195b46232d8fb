"""Gram matrices of plain kernels by their formulas, with the size of what is added up on the way."""

from typing import NamedTuple

import numpy as np


class Gram(NamedTuple):
    """K (n, n), and A (n, n), to which the rounding of K is proportional (docs/reliability.md)."""

    K: np.ndarray
    A: np.ndarray
    constant: bool = False  # a `Constant` kernel, which is not normalised


UNIT = 2.0**-53
PLAIN = ("RBF", "Linear", "Polynomial", "Laplacian", "Constant")


def parts(entry):
    """The kernel and its columns, of an entry of `kernels`; the kernel is None where a transformer stands before it."""
    if not isinstance(entry, tuple):
        return entry, None
    if len(entry) == 2:
        return entry[1], None
    if len(entry) == 3 and not hasattr(entry[1], "transform"):
        return entry[1], entry[2]
    return None, None


def all_plain(kernels):
    """Whether `of_table` can compute all of them."""
    found = [parts(entry)[0] for entry in kernels]
    return all(type(k).__name__ in PLAIN and not isinstance(getattr(k, "gamma", None), str) for k in found) and not any(
        type(entry).__name__ == "KernelSpec" for entry in kernels
    )


def of_table(kernels, X):
    """The Gram matrices of all kernels on the rows of X (n, p)."""
    return [one(*parts(entry), X) for entry in kernels]


def one(kernel, columns, X):
    """K_ij = k(x_i, x_j) by the formula of the documentation."""
    Z = X if columns is None else X[:, columns]
    name, p = type(kernel).__name__, Z.shape[1]
    if name == "Constant":
        K = np.full((len(Z), len(Z)), float(kernel.value))
        return Gram(K, K, True)
    gamma = 1.0 / p if getattr(kernel, "gamma", None) is None else kernel.gamma
    if name == "Linear":
        return Gram(Z @ Z.T, np.abs(Z) @ np.abs(Z).T)
    if name == "Polynomial":
        inner, bound = gamma * (Z @ Z.T) + kernel.coef0, gamma * (np.abs(Z) @ np.abs(Z).T) + kernel.coef0
        return Gram(inner**kernel.degree, kernel.degree * bound**kernel.degree)
    gap = Z[:, None, :] - Z[None, :, :]
    off = Z - Z.mean(axis=0)
    if name == "Laplacian":
        d, reach = np.abs(gap).sum(axis=2), np.abs(Z).sum(axis=1)
    else:
        d, reach = (gap**2).sum(axis=2), (off**2).sum(axis=1)
    K = np.exp(-gamma * d)
    return Gram(K, K * (1 + gamma * (d + reach[:, None] + reach[None])))


def lost(kernels, X):
    """The share of a kernel value that rounding may change at most, where kernels see the columns of X (n, p) as given.

    docs/reliability.md: κu A / k. On values of 1e7 with γ = 0.1 no digit is left: x is not seen to be a training
    example, say.
    """
    if X is None or not isinstance(kernels, list):
        return 0.0
    return 4 * (len(X) + 64) * UNIT * max((share(*parts(entry), X) for entry in kernels), default=0.0)


def share(kernel, columns, X):
    """A / k at most, 0 for kernels without an RBF kernel.

    RBF:        A = k (1 + γ (‖x − y‖² + ‖x − x̄‖² + ‖y − x̄‖²)) ≤ k (1 + 6 γ max ‖x − x̄‖²)
    k₁ + k₂:    A = A₁ + A₂ ≤ k max(A₁ / k₁, A₂ / k₂)
    k₁ · k₂:    A = A₁ k₂ + k₁ A₂ = k (A₁ / k₁ + A₂ / k₂)
    """
    name = type(kernel).__name__
    if name in ("Sum", "Product"):
        both = share(kernel.k1, columns, X), share(kernel.k2, columns, X)
        return max(both) if name == "Sum" else sum(both)
    if name != "RBF" or isinstance(kernel.gamma, str):
        return 0.0
    Z = X if columns is None or isinstance(columns, str) else X[:, columns]  # a name is that of a view
    gamma = 1.0 / Z.shape[1] if kernel.gamma is None else kernel.gamma
    return float(1 + 6 * gamma * np.max(np.nansum((Z - np.nanmean(Z, axis=0)) ** 2, axis=1)))
