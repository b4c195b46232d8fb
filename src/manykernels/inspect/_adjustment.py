"""Decisions on the held-out examples of a fold: what covariates explain of them, and what only rounding tells apart."""

from functools import cached_property

import numpy as np

from ..problem import covariate_basis, in_units

EQUAL = 2.0**-24, 2.0**-27  # of the range and of the size of decisions: what differs by less is rounding of the kernels


class Adjustment:
    """The covariates Z (n_test, q) of held-out examples; None if the fits have none."""

    def __init__(self, Z):
        self.Z = Z

    def level(self, b, w):
        """b (T,), or with coefficients w (T, q) of the covariates b + w Zᵀ at the held-out examples, (T, n_test)."""
        return b if w is None else b[:, None] + w @ self.Z.T

    def rest(self, f):
        """f (…, n_test, T) without what the covariates of the held-out examples explain; f itself without covariates.

        A source that carries the covariates shares their effect with them, as a fit may split it in any way. So
        permutations move the rest alone: the part that the covariates express stays with its examples.
        """
        return f if self.Z is None else f - self._basis @ (self._basis.T @ f) / len(self._basis)

    def moved(self, decision, level, order):
        """Decisions (n_test, T) with the examples of their kernels in another order; `level` is b of a `FoldFit`."""
        own = self.rest(decision if self.Z is None else decision - level.T)
        return decision - own + own[order]

    @cached_property
    def _basis(self):
        """E (n_test, k), orthogonal columns of length √n_test that span the constant and the covariates."""
        return covariate_basis(self.Z, True)[0]


def without_kernels(examples):
    """(b (T,), w (T, q) or None) of the best constant, or of the covariates alone."""
    Y, zero = examples.Y, np.zeros(examples.Y.shape[1])
    if examples.covariates is not None:
        intercept, centred = examples.intercept, examples.loss.coupled
        E, back = covariate_basis(examples.covariates.Z, intercept, centred)
        found = np.array([examples.loss.coefficients(y, zero, examples.c, E) for y in Y])
        return in_units(found, back, intercept or centred)
    if not examples.intercept or examples.loss.total:
        return np.zeros(len(Y)), None
    return np.array([examples.loss.intercept(y, zero, examples.c) for y in Y], dtype=float), None


def untied(decision, favour):
    """The decisions (n_test, T) of a classifier without their last digits, which would decide between equal ones.

    The hinge loss gives −1 to every class where none has half of the examples, such as those of one category. Of equal
    classes the one with the largest `favour` (T,), each at most 1, comes first.
    """
    size = max(EQUAL[0] * np.ptp(decision), EQUAL[1] * np.abs(decision).max())
    if not 0 < size < np.inf:
        return decision
    unit = 2.0 ** np.ceil(np.log2(size))  # of which ±1 and 0 are multiples
    return unit * (np.round(decision / unit) + 0.4 * favour)
