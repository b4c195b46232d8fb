import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Regularizer
from .lp_norm import norm, squared_norm_prox, squared_norm_prox_jacobian

MIN_RELATIVE_SLOPE = 1e-12  # relative to the largest g_m; a smaller g_m is raised to it


class Block(Regularizer):
    """A penalty in the norms ‖f_m‖; `penalty` takes the place of ½ Σ ‖f_m‖²/θ_m + Ω(θ)."""

    def __init__(self, q: float = 2.0) -> None:
        self.q = check_number("q", q, 2, closed="left")

    @property
    def _dual_power(self):
        return self.q / (self.q - 1)

    def why_not(self, method: str) -> str:
        if method in ("value", "weights_from_norms", "prox", "minimise"):
            return "a block norm with q >= 2 is a supremum over the weights, so that no Ω(θ) to minimise exists"
        return super().why_not(method)

    def penalty(self, theta: ndarray, q: ndarray) -> tuple[float, float]:
        return self.block_norm(np.asarray(theta) ** 2 * np.maximum(q, 0.0)), 0.0

    def start(self, M: int) -> ndarray:
        return np.ones(M)

    def _slopes(self, s):
        """(g = √(2s), at least MIN_RELATIVE_SLOPE times the largest, that largest); ones if all are 0."""
        g = np.sqrt(2 * np.maximum(s, 0.0))
        top = float(g.max())
        return (np.maximum(g, MIN_RELATIVE_SLOPE * top), top) if top > 0 else (np.ones(len(g)), 1.0)


class BlockNorm(Block):
    """The squared block norm, which no convex Ω on the weights gives.

    ½ (Σ ‖f_m‖^q)^{2/q}, 2 ≤ q < inf, in place of ½ Σ ‖f_m‖²/θ_m + Ω(θ) (Kloft et al. 2011, eq. 32).

    Conjugate ½ (Σ g_m^{q'})^{2/q'}, g_m = √(2 s_m), 1/q + 1/q' = 1; the weights θ_m = ‖g‖_{q'}^{2−q'} g_m^{q'−2} give
    f_m = θ_m K_m a. In terms of f, θ_m = (Σ ‖f_k‖^q)^{(q−2)/q} ‖f_m‖^{2−q}: the paper's (33) is wrongly normalised.

    Parameters
    ----------
    q : float, default 2
        2 ≤ q < inf: a larger q makes the norms ‖f_m‖ more alike.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import BlockNorm
    >>> float(BlockNorm(2).block_norm(np.array([9.0, 16.0])))
    12.5
    """

    file_tag = ("regularizer/block_norm", 1)

    def conjugate(self, s: ndarray) -> float:
        g = np.sqrt(2 * np.maximum(s, 0.0))
        return 0.5 * norm(g, self._dual_power) ** 2

    def weights_from_dual(self, s: ndarray) -> ndarray:
        g, _ = self._slopes(s)
        return (g / norm(g, self._dual_power)) ** (self._dual_power - 2)

    def block_norm(self, sq_norms: ndarray) -> float:
        return 0.5 * norm(np.sqrt(np.asarray(sq_norms, float)), self.q) ** 2

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return squared_norm_prox(norms, step, self.q)

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return squared_norm_prox_jacobian(self.block_prox(norms, step), step, self.q)
