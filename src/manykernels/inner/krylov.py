"""Conjugate gradients for several right-hand sides, which share the products with the operator."""

from __future__ import annotations

import numpy as np
from scipy.linalg import cho_factor, cho_solve

MAX_PRECONDITIONER_ENTRIES = 2**25
MAX_PRECONDITIONER_RANK = 256


def conjugate_gradients(K, h, R, X, equality, room, steps):
    """(X, definite): (K + 1/h) x (+ β 1) = r for each row r of R, from X (k, n) on; with `equality` Σ x stays as it is.

    In the variables x/√h the matrix is 1 + √h K √h; a row is done when its squared residual there, projected onto the
    constraint, is at most `room`. The preconditioner is (1 + √h UUᵀ √h)⁻¹ if K.low_rank gives U. If K is not positive
    semidefinite, a direction may have no positive curvature: all rows stop there, and `definite` is False.
    """
    root = np.sqrt(h)
    unit = root / np.sqrt(root @ root)
    inverse = _preconditioner(K, root)
    turned = inverse(unit[None])[0]
    turned_unit = float(turned @ unit)

    def apply(Z):
        return Z + root * K.multiply(root * Z)

    def project(V):
        return V - np.outer(V @ unit, unit) if equality else V

    def precondition(V):
        P = inverse(V)
        return P - np.outer((P @ unit) / turned_unit, turned) if equality else P

    Z = X / root
    V = project(R * root - apply(Z))
    D = precondition(V).copy()  # without a preconditioner this is V itself
    size, square = np.einsum("ki,ki->k", V, D), np.einsum("ki,ki->k", V, V)
    for _ in range(steps):
        active = np.flatnonzero(square > room)
        if not len(active):
            break
        A = apply(D[active])
        bend = np.einsum("ki,ki->k", D[active], A)
        if not (bend > 0).all() or not (size[active] > 0).all():
            return Z * root, False
        step = size[active] / bend
        Z[active] += step[:, None] * D[active]
        v = project(V[active] - step[:, None] * A)
        P = precondition(v)
        new = np.einsum("ki,ki->k", v, P)
        D[active] = P + (new / size[active])[:, None] * D[active]
        V[active], size[active], square[active] = v, new, np.einsum("ki,ki->k", v, v)
    return Z * root, True


def _preconditioner(K, root):
    """V ↦ (1 + √h UUᵀ √h)⁻¹ V by the Woodbury identity, or V itself."""
    U = K.low_rank(min(MAX_PRECONDITIONER_RANK, MAX_PRECONDITIONER_ENTRIES // max(len(K), 1)))
    if U is None:
        return lambda V: V
    U *= root.astype(U.dtype)[:, None]
    G = (U.T @ U).astype(np.float64)
    G[np.diag_indices(len(G))] += 1.0
    factor = cho_factor(G, lower=True, check_finite=False)

    def inverse(V):
        inner = cho_solve(factor, (V.astype(U.dtype) @ U).T.astype(np.float64), check_finite=False)
        return V - (inner.T.astype(U.dtype) @ U.T)

    return inverse
