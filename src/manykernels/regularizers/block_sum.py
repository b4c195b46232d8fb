import numpy as np
from numpy import ndarray

from .block_norm import Block
from .lp_norm import power_prox, power_prox_jacobian


class BlockSum(Block):
    """The sum of powers of the block norms, which no convex Ω on the weights gives.

    (1/q) Σ ‖f_m‖^q, 2 ≤ q < inf, in place of ½ Σ ‖f_m‖²/θ_m + Ω(θ) (Tomioka & Suzuki 2011, Table 1).

    Conjugate (1/q') Σ g_m^{q'}, g_m = √(2 s_m); θ_m = g_m^{q'−2} = ‖f_m‖^{2−q}, a stationary point of
    ½ Σ ‖f_m‖²/θ_m − ((q−2)/(2q)) Σ θ_m^{−q/(q−2)}, which is not convex in θ.

    Parameters
    ----------
    q : float, default 2
        2 ≤ q < inf.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import BlockSum
    >>> float(BlockSum(2).block_norm(np.array([9.0, 16.0])))
    12.5
    """

    file_tag = ("regularizer/block_sum", 1)

    def conjugate(self, s: ndarray) -> float:
        return float(np.sum((2 * np.maximum(s, 0.0)) ** (0.5 * self._dual_power))) / self._dual_power

    def weights_from_dual(self, s: ndarray) -> ndarray:
        g, _ = self._slopes(s)
        return g ** (self._dual_power - 2)

    def block_norm(self, sq_norms: ndarray) -> float:
        return float(np.sum(np.asarray(sq_norms, float) ** (0.5 * self.q))) / self.q

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return power_prox(norms, step, self.q)

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return power_prox_jacobian(self.block_prox(norms, step), step, self.q)
