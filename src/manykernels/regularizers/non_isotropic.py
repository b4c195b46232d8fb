from typing import Self

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .._limits import spend
from .._state import Tagged
from .._validation import check_size
from .base import Regularizer


class NonIsotropic(Regularizer):
    """An ellipsoid as constraint, which states how the kernels are related.

    Ω(θ) = 0 if θ ≥ 0 and θᵀE⁻¹θ ≤ 1, else +inf, E symmetric positive definite (M, M) (Kloft et al. 2011, Sec. 3.5).

    Ω*(s) = min_{γ ≥ 0} √((s+γ)ᵀE(s+γ)), which is √(sᵀEs) where Es ≥ 0. A kernel that is left out has weight 0.

    Parameters
    ----------
    E : array (M, M)
        Symmetric and positive definite; E_kl > 0 says that kernels k and l go together.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import NonIsotropic
    >>> round(NonIsotropic(np.diag([1.0, 4.0])).conjugate(np.array([3.0, 2.0])), 6)
    5.0
    """

    file_tag = ("regularizer/non_isotropic", 1)
    constraint = True

    def __init__(self, E: ArrayLike) -> None:
        self.E = _positive_definite(E)
        self._A = np.linalg.inv(self.E)
        self._A = 0.5 * (self._A + self._A.T)

    @classmethod
    def from_alignments(cls, kernels, centered: bool = False, ridge: float = 0.0) -> Self:
        """E_mk = ⟨K_m, K_k⟩ / (‖K_m‖ ‖K_k‖) + ridge·[m = k] of a bank, or of an (M, n, n) stack of matrices."""
        E = alignment_matrix(kernels, centered)
        return cls(E + ridge * np.eye(len(E)))

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        return 0.0 if theta.min() >= -1e-9 and theta @ self._A @ theta <= 1 + 1e-9 else np.inf

    def conjugate(self, s: ndarray) -> float:
        s, top = self._unit(s)
        theta = self.E @ s
        if np.any(theta < 0):
            s = np.maximum(s, self._A @ nonnegative_qp(self._A, s, theta > 0)[0])
        return top * float(np.sqrt(max(s @ self.E @ s, 0.0)))

    @staticmethod
    def _unit(s):
        """s / max |s| and that maximum."""
        s = np.asarray(s, float)
        top = max(float(np.max(np.abs(s))), 1e-300)
        return s / top, top

    def weights_from_dual(self, s: ndarray) -> ndarray:
        s, _ = self._unit(s)
        theta = self.E @ s
        return self._scaled(nonnegative_qp(self._A, s, theta > 0)[0] if np.any(theta < 0) else theta)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        """The minimum of ½ Σ norms²/θ + ½ θᵀE⁻¹θ, scaled to the boundary: damped Newton steps."""
        norms = np.asarray(norms, float)
        top = float(norms.max())
        if not top > 0:
            return self.start(len(norms))
        x = np.maximum(norms / top, 1e-12) ** 2
        theta = np.full(len(x), 1 / np.sqrt(np.sum(self._A)))
        for _ in range(200):
            spend(80.0)
            gradient = self._A @ theta - 0.5 * x / theta**2
            move = -np.linalg.solve(self._A + np.diag(x / theta**3), gradient)
            decrease = -float(gradient @ move)
            if decrease <= 1e-24 * float(theta @ self._A @ theta):
                break
            t = min(1.0, 0.99 / max(float(np.max(-move / theta)), 1e-300))
            before = self._objective(x, theta)
            while t > 1e-10 and self._objective(x, theta + t * move) > before - 0.1 * t * decrease + 1e-15 * abs(
                before
            ):
                t *= 0.5
            theta = theta + t * move
        return self._scaled(theta)

    def _objective(self, x, theta):
        return 0.5 * float(np.sum(x / theta)) + 0.5 * float(theta @ self._A @ theta)

    def _scaled(self, theta):
        """θ on the boundary; uniform weights for θ = 0."""
        top = float(np.max(theta))
        if not top > 0:
            return self.start(len(theta))
        theta = theta / top
        return theta / np.sqrt(theta @ self._A @ theta)

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """The Euclidean projection of z, whatever the step."""
        z = np.asarray(z, float)
        inside, top = self._unit(np.maximum(z, 0.0))
        if top * np.sqrt(inside @ self._A @ inside) <= 1:
            return np.maximum(z, 0.0)
        return self._minimum(np.eye(len(z)), z)

    def minimise(self, model, theta: ndarray, tolerance: float, max_steps: int = 500) -> ndarray:
        H = model.block(np.arange(len(theta)))
        return self._minimum(H, H @ theta - model.gradient, 0.1 * tolerance)

    def _minimum(self, Q, g, tolerance=0.0):
        """argmin ½ xᵀQx − gᵀx over x ≥ 0, xᵀAx ≤ 1: a root in the multiplier μ of the nonnegative program of Q + μA.

        1/√(xᵀAx) is nearly linear in μ: Newton steps on it inside a bracket.
        """
        g, top = self._unit(g)
        Q = Q / top
        size = float(np.sqrt(max(g @ self.E @ g, 0.0)))  # no multiplier is larger
        enough = max(1e-13, min(tolerance / max(top * size, 1e-300), 1e-3))
        lo, hi, mu, passive = 0.0, size, size, None
        for _ in range(100):
            spend(30.0)
            x, passive, solve = nonnegative_qp(Q + mu * self._A, g, passive)
            Ax = self._A @ x
            ratio = float(np.sqrt(max(x @ Ax, 0.0)))
            lo, hi = (mu, hi) if ratio > 1 else (lo, mu)
            if abs(ratio - 1) <= enough or (ratio <= 1 and mu <= enough * size) or not x.any():
                break
            new = lo
            if ratio > 1e-100:  # whose cube does not underflow
                new = mu - (1 / ratio - 1) * ratio**3 / (Ax[passive] @ solve(Ax[passive]))
            if not lo < new < hi:
                new = 0.5 * (lo + hi) if lo > 0.1 * hi else max(np.sqrt(lo * hi), 1e-3 * hi, 1e-14 * size)
                if new in (lo, hi):
                    break
            mu = new
        return x / max(ratio, 1.0)

    def start(self, M: int) -> ndarray:
        check_size("E", self.E, M)
        return np.full(M, 1 / np.sqrt(np.sum(self._A)))

    def restrict(self, kernels: ndarray, M: int) -> Regularizer:
        check_size("E", self.E, M)
        return self if len(kernels) == M else NonIsotropic(np.linalg.inv(self._A[np.ix_(kernels, kernels)]))


def nonnegative_qp(Q, g, passive=None):
    """argmin ½ xᵀQx − gᵀx over x ≥ 0, Q positive definite: x, its nonzero entries, and the inverse of their block of Q.

    Block principal pivoting: entries on the wrong side change it all at once, or one by one if that cycles.
    """
    M = len(g)
    passive = np.asarray(g) > 0 if passive is None else passive.copy()
    noise = 1e-13 * float(np.max(np.abs(g), initial=0.0))
    fewest, chances = M + 1, 3
    for _ in range(50 + 20 * M):
        spend(30.0)
        x = np.zeros(M)
        solve = _inverse(Q[passive][:, passive])
        x[passive] = solve(g[passive])
        wrong = np.flatnonzero(np.where(passive, x < 0, Q @ x - g < -noise))
        if not len(wrong):
            break
        if len(wrong) < fewest:
            fewest, chances = len(wrong), 3
        elif chances > 0:
            chances -= 1
        else:
            wrong = wrong[-1:]
        passive[wrong] = ~passive[wrong]
    return np.maximum(x, 0.0), passive, solve


def _inverse(Q):
    """v ↦ Q⁻¹v for a positive definite Q; by LAPACK itself, since the matrices are small and many."""
    from scipy.linalg.lapack import dpotrf, dpotrs

    if not len(Q):
        return lambda v: v
    factor, failed = dpotrf(Q)
    if failed:  # definite except for rounding
        factor, failed = dpotrf(Q + 1e-12 * np.trace(Q) * np.eye(len(Q)))
    if failed:
        raise np.linalg.LinAlgError("E is not positive definite")
    return lambda v: dpotrs(factor, v)[0]


def alignment_matrix(kernels, centered=False):
    """The alignments of every pair of kernels, (M, M); kernels is a bank, or an (M, n, n) stack of matrices."""
    bank = isinstance(kernels, Tagged)  # banks are; importing `Bank` would load scikit-learn
    M, n = (kernels.M, kernels.n) if bank else np.shape(kernels)[:2]
    one, products, sums = np.eye(M), np.zeros((M, M)), np.zeros((M, n))
    size = max(1, int(2**24 / (M * n)))
    for first in range(0, n, size):
        rows = np.arange(first, min(first + size, n))
        part = [kernels.combined(one[m], rows) if bank else kernels[m][rows] for m in range(M)]
        part = np.array(part, float)
        sums[:, rows] = part.sum(axis=2)
        part = part.reshape(M, -1)
        products += part @ part.T
    if centered:
        products -= 2 / n * sums @ sums.T - np.outer(sums.sum(axis=1), sums.sum(axis=1)) / n**2
    norms = np.sqrt(np.maximum(np.diag(products), 0.0))
    return products / np.maximum(np.outer(norms, norms), 1e-300)


def _positive_definite(E):
    try:
        array = np.array(E, float)
    except (TypeError, ValueError):
        array = np.empty(0)
    if array.ndim != 2 or array.shape[0] != array.shape[1] or not array.size or not np.all(np.isfinite(array)):
        raise ValueError(f"E={E!r} must be a finite (M, M) matrix, one row per kernel.")
    if np.max(np.abs(array - array.T)) > 1e-8 * np.max(np.abs(array)):
        raise ValueError("E must be symmetric; take (E + E.T) / 2")
    array = 0.5 * (array + array.T)
    low, high = np.linalg.eigvalsh(array)[[0, -1]]
    if not low > 1e-12 * abs(high):
        raise ValueError(
            f"E must be positive definite, but its eigenvalues go from {low:.3g} to {high:.3g}; add to its diagonal"
        )
    array.flags.writeable = False
    return array
