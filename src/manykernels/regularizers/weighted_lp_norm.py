import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .._validation import check_number, check_size, check_vector
from .lp_norm import OnBall, norm, positive


class WeightedLpNorm(OnBall):
    """The ℓp-norm constraint with a cost for each kernel.

    Ω(θ) = 0 if θ ≥ 0 and Σ weights_m θ_m^p ≤ 1, else +inf;   Ω*(s) = ‖(s_m₊ / weights_m^{1/p})_m‖_{p*}.

    A kernel of larger weight costs more (Kloft et al. 2011, footnote 5). In u_m = weights_m^{1/p} θ_m it is LpNorm(p).

    Parameters
    ----------
    p : float
        1 ≤ p < inf.
    weights : array (M,)
        The costs, > 0.

    Examples
    --------
    >>> from manykernels.regularizers import WeightedLpNorm
    >>> WeightedLpNorm(1, [1.0, 4.0]).start(2)
    array([0.5  , 0.125])
    """

    file_tag = ("regularizer/weighted_lp_norm", 1)
    constraint = True
    per_kernel = "weights"

    def __init__(self, p: float, weights: ArrayLike) -> None:
        self.p = check_number("p", p, 1, closed="left")
        self.weights = check_vector("weights", weights)

    @property
    def _root(self):
        return self.weights ** (1 / self.p)

    def value(self, theta: ndarray) -> float:
        return self._ball.value(np.asarray(theta, float) * self._root)

    def conjugate(self, s: ndarray) -> float:
        return self._ball.conjugate(np.asarray(s, float) / self._root)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        return self._ball.weights_from_norms(np.asarray(norms, float) * np.sqrt(self._root)) / self._root

    def weights_from_dual(self, s: ndarray) -> ndarray:
        return self._ball.weights_from_dual(np.asarray(s, float) / self._root) / self._root

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """The Euclidean projection of z, whatever the step."""
        from ..loops.lp_projection import project_mixed

        z = positive(z)
        if norm(z * self._root, self.p) <= 1:
            return z
        zero, weights = np.zeros(len(z)), np.array(self.weights)
        parts = (weights, zero) if self.p == 1 else (zero, weights)
        return project_mixed(z, *parts, self.p)

    def start(self, M: int) -> ndarray:
        check_size("weights", self.weights, M)
        return self._ball.start(M) / self._root
