import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Regularizer
from .lp_norm import OnBall, norm, squared_norm_prox


class LpPenalty(OnBall):
    """The squared ℓp-norm of the kernel weights as a penalty.

    Ω(θ) = (mu/2) ‖θ‖_p² on θ ≥ 0;   Ω*(s) = ‖s₊‖_{p*}² / (2 mu) (Kloft et al. 2011, Tikhonov form).

    Block norm (3/2) mu^{1/3} (½ ‖(‖f_m‖)_m‖_r²)^{2/3}, r = 2p/(p+1).

    Parameters
    ----------
    p : float, default 1
        1 ≤ p ≤ inf.
    mu : float, default 1
        How much the norm costs, > 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import LpPenalty
    >>> float(LpPenalty(p=1, mu=2).value(np.array([1.0, 2.0])))
    9.0
    """

    file_tag = ("regularizer/lp_penalty", 1)

    def __init__(self, p: float = 1.0, mu: float = 1.0) -> None:
        self.p = check_number("p", p, 1, closed="both")
        self.mu = check_number("mu", mu)

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        if theta.min() < -1e-9:
            return np.inf
        with np.errstate(over="ignore"):
            return 0.5 * self.mu * np.float64(norm(np.maximum(theta, 0.0), self.p)) ** 2

    def conjugate(self, s: ndarray) -> float:
        with np.errstate(over="ignore"):
            return np.float64(self._ball.conjugate(s)) ** 2 / (2 * self.mu)

    def shrink(self, s: ndarray) -> float:
        """Also shrinks where Ω* is too large for floating point."""
        size = self._ball.conjugate(s)
        return 1.0 if size <= 1e150 else float(np.sqrt(1e150 / size))

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        """R u, with u the weights of the ℓp ball and R³ = ½ Σ norms²/u / mu."""
        return self._radius(norms) * self._ball.weights_from_norms(norms)

    def _radius(self, norms):
        """‖θ‖_p = (½ ‖norms‖_r² / mu)^{1/3}."""
        return np.cbrt(0.5 / self.mu) * np.cbrt(norm(norms, self._ball.block_power)) ** 2

    def weights_from_dual(self, s: ndarray) -> ndarray:
        return self._ball.weights_from_dual(s) * (self._ball.conjugate(s) / self.mu)

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        return squared_norm_prox(z, step * self.mu, self.p)

    def start(self, M: int) -> ndarray:
        return self._ball.start(M)

    def to_constraint(self, C: float, theta: ndarray) -> tuple[float, Regularizer]:
        """(C', LpNorm(p)) with the same predictor as this penalty at C, where θ is its solution: C' = C ‖θ‖_p.

        Kloft et al. (2011), Theorem 1. The weights of the constrained problem are θ / ‖θ‖_p.
        """
        return C * norm(theta, self.p), self._ball

    def from_constraint(self, C: float, norms: ndarray) -> float:
        """The C of this penalty with the same predictor as LpNorm(p) at C, whose solution has ‖f_m‖ = norms."""
        return C / self._radius(np.asarray(norms, float))
