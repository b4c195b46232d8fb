import numpy as np
from numpy import ndarray

from .._validation import check_number
from .base import Regularizer


class BlockElasticNet(Regularizer):
    """The elastic net of the block norms.

    Ω(θ) = ½ Σ (1−lam)² θ_m / (1 − lam θ_m) on 0 ≤ θ_m < 1/lam;   Ω*(s) = Σ (√(2 s_m) − (1−lam))₊² / (2 lam).

    Block norm Σ (1−lam) ‖f_m‖ + (lam/2) ‖f_m‖² (Tomioka & Suzuki 2011, Example 7 and Corollary 8). lam = 1 is the
    indicator of [0, 1]^M, that is uniform weights; lam = 0 is Ω = ½ Σ θ_m, and Ω* the indicator of s ≤ ½.

    Parameters
    ----------
    lam : float, default 0.5
        The share of the squared norms, 0 ≤ lam ≤ 1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import BlockElasticNet
    >>> BlockElasticNet(0.5).block_norm(np.array([4.0, 0.0]))
    2.0
    """

    file_tag = ("regularizer/block_elastic_net", 1)

    def __init__(self, lam: float = 0.5) -> None:
        self.lam = check_number("lam", lam, 0, 1, "both")

    @property
    def finite_conjugate(self) -> bool:  # type: ignore[override]  # depends on lam
        return self.lam > 0

    smooth = finite_conjugate

    @property
    def constraint(self) -> bool:  # type: ignore[override]  # depends on lam
        return self.lam == 1

    def value(self, theta: ndarray) -> float:
        theta, lam = np.asarray(theta, float), self.lam
        if theta.min() < -1e-9 or lam * theta.max() > 1 + 1e-9:
            return np.inf
        if lam == 1:
            return 0.0
        left = 1 - lam * np.maximum(theta, 0.0)
        return 0.5 * (1 - lam) ** 2 * float(np.sum(np.maximum(theta, 0.0) / left)) if left.min() > 0 else np.inf

    def conjugate(self, s: ndarray) -> float:
        g = np.sqrt(2 * np.maximum(s, 0.0))
        if self.lam == 0:
            return 0.0 if g.max() <= 1 + 1e-9 else np.inf
        return float(np.sum(np.maximum(g - (1 - self.lam), 0.0) ** 2)) / (2 * self.lam)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        norms = np.asarray(norms, float)
        return norms / ((1 - self.lam) + self.lam * norms) if self.lam < 1 else np.ones(len(norms))

    def weights_from_dual(self, s: ndarray) -> ndarray:
        g = np.sqrt(2 * np.maximum(s, 0.0))
        if self.lam == 1:
            return np.ones(len(g))
        rise = np.maximum(g - (1 - self.lam), 0.0)
        return np.divide(rise, self.lam * g, out=np.zeros(len(g)), where=rise > 0)

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """u = 1 − lam θ is the root of u³ − (1 − lam z) u² = lam η, η = step (1−lam)²/2: Newton from the left."""
        z, lam = np.clip(np.asarray(z, float), 0.0, 1e100), self.lam
        eta = 0.5 * step * (1 - lam) ** 2
        if lam == 0:
            return np.maximum(z - eta, 0.0)
        if lam == 1:
            return np.minimum(z, 1.0)
        A, cube = 1 - lam * z, np.cbrt(lam * eta)
        u = np.where(A > 0, np.maximum(A, cube), np.sqrt(lam * eta / (cube + np.maximum(-A, 0.0))))
        for _ in range(60):
            drop = lam * eta / u**2
            move = (u - A - drop) / (1 + 2 * drop / u)
            u = u - move
            if np.all(np.abs(move) <= 1e-15 * u):
                break
        theta = (1 - u) / lam if lam > 0.5 else z - eta / u**2
        return np.where(z > eta, np.maximum(theta, 0.0), 0.0)

    def start(self, M: int) -> ndarray:
        return np.ones(M) if self.lam == 1 else np.full(M, 1 / (M * (1 - self.lam) + self.lam))

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return np.maximum(np.asarray(norms, float) - step * (1 - self.lam), 0.0) / (1 + step * self.lam)

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        return (np.asarray(norms) > step * (1 - self.lam)) / (1 + step * self.lam)
