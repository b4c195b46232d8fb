"""Reduced sets: fewer support examples, onto whose kernels a decision is projected.

f = Σ_i a_i k(z_i, ·) has, in the space H of the kernel k, the projection f̃ = Σ_{j in S} b_j k(z_j, ·) onto the kernels
of the examples S, b = K_SS⁻¹ (K a)_S, and

    |f(x) − f̃(x)| ≤ ‖f − f̃‖ √k(x, x),    ‖f − f̃‖² = aᵀK a − 2 bᵀ(K a)_S + bᵀK_SS b.

S are the first pivots of the Cholesky factor of (|a_i| k(z_i, z_j) |a_j|): the error of the examples that are left out
is at most Σ_i |a_i| times the distance of k(z_i, ·) from the span. Equal examples, and kernels of low rank, lose
nothing. Schölkopf et al., Input space versus feature space in kernel-based methods, 1999.
"""

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpstrf

JITTER = 1e-12  # of the largest diagonal entry, on the diagonal of K_SS
MARGIN = 0.01  # share of the tolerance that the examples beyond the last pivot may use


class ReducedSet:
    """The projections of T decisions onto the kernels of the first `m` examples of `order`.

    Parameters
    ----------
    grams : list of 1 or T arrays (n, n)
        The combined kernel between the support examples, one for all decisions or one for each.
    A : array (T, n)
        Their coefficients.
    span : array (T,)
        The ranges of the decisions, in which errors are measured.
    tol : float
        The greatest error, as a share of `span`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks.reduced_set import ReducedSet
    >>> z = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    >>> reduced = ReducedSet([z @ z.T], np.array([[1.0, 2.0, 3.0, 4.0]]), np.ones(1), 1e-3)
    >>> len(reduced.order), reduced.norms(2).round(6)
    (2, array([0.]))
    """

    def __init__(self, grams, A, span, tol):
        self.A, self.own = A, [grams[t if len(grams) > 1 else 0] @ a for t, a in enumerate(A)]
        size = np.abs(A) / span[:, None]
        if len(grams) == 1:
            weighted = grams[0] * (size.T @ size)
        else:
            weighted = sum(np.outer(s, s) * G for s, G in zip(size, grams, strict=True))
        n, top = len(weighted), max(float(np.diag(G).max(initial=0.0)) for G in grams)
        stop = (MARGIN * tol / (n * np.sqrt(top or 1.0))) ** 2
        stop = max(stop, n * np.finfo(float).eps * float(np.diag(weighted).max(initial=0.0)))
        _, pivots, rank, _ = dpstrf(weighted, tol=stop, lower=1)
        self.order = pivots[: max(rank, 1)] - 1
        self.grams = [G[np.ix_(self.order, self.order)] for G in grams]
        self.factors = [cholesky(G + JITTER * top * np.eye(len(G)), lower=True) for G in self.grams]
        self.energy = np.array([a @ own for a, own in zip(A, self.own, strict=True)])

    def coefficients(self, m):
        """b of each decision, (T, m), for the examples order[:m]."""
        of = [self.factors[t if len(self.factors) > 1 else 0][:m, :m] for t in range(len(self.A))]
        own = [own[self.order[:m]] for own in self.own]
        return np.stack([cho_solve((L, True), u) for L, u in zip(of, own, strict=True)])

    def norms(self, m):
        """‖f − f̃‖ of each decision, (T,), for the examples order[:m]."""
        B, left = self.coefficients(m), []
        for t, b in enumerate(B):
            G = self.grams[t if len(self.grams) > 1 else 0][:m, :m]
            left.append(self.energy[t] - 2 * b @ self.own[t][self.order[:m]] + b @ G @ b)
        return np.sqrt(np.maximum(left, 0.0))

    def fewest(self, error, tol):
        """The least m, by bisection, with error(order[:m], coefficients) ≤ tol; None if all pivots are too few."""
        if error(self.order, self.coefficients(len(self.order))) > tol:
            return None
        low, high = 0, len(self.order)
        while high - low > max(1, high // 50):
            m = (low + high) // 2
            low, high = (low, m) if error(self.order[:m], self.coefficients(m)) <= tol else (m, high)
        return high
