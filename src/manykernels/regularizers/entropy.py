import numpy as np
from numpy import ndarray

from .._limits import spend
from .._simplex import project_simplex
from .._validation import check_number
from .base import Regularizer


class Entropy(Regularizer):
    """The entropy of kernel weights on the simplex.

    Ω(θ) = (lam/2) Σ θ_m ln θ_m on the simplex;   Ω*(s) = (lam/2) ln Σ exp(2 s_m / lam) (Xu et al. 2010).

    The smoothed simplex: the weights are a softmax, and Ω* is within (lam/2) ln M of max s (the −1 in the paper's (10)
    and (11) is a slip: at equal s the distance is (lam/2) ln M).

    Parameters
    ----------
    lam : float, default 1
        The smoothing, > 0: near 0 it gives the simplex, large values give uniform weights.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import Entropy
    >>> Entropy(lam=2.0).weights_from_dual(np.log([1.0, 3.0])).round(3)
    array([0.25, 0.75])
    """

    file_tag = ("regularizer/entropy", 1)

    def __init__(self, lam: float = 1.0) -> None:
        self.lam = check_number("lam", lam)

    @property
    def conjugate_bend(self) -> float:  # type: ignore[override]  # depends on lam
        return 2 / self.lam

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        if theta.min() < -1e-9 or abs(theta.sum() - 1) > 1e-9:
            return np.inf
        theta = theta[theta > 0]
        return 0.5 * self.lam * float(theta @ np.log(theta))

    def conjugate(self, s: ndarray) -> float:
        top, e = self._exponentials(s)
        return top + 0.5 * self.lam * float(np.log(e.sum()))

    def weights_from_dual(self, s: ndarray) -> ndarray:
        _, e = self._exponentials(s)
        return e / e.sum()

    def conjugate_curvature(self, s: ndarray) -> tuple[ndarray, ndarray]:
        theta = self.weights_from_dual(s)
        return 2 / self.lam * theta, np.sqrt(2 / self.lam) * theta

    def derivatives(self, theta: ndarray) -> tuple[ndarray, ndarray]:
        return 0.5 * self.lam * (1.0 + np.log(theta)), 0.5 * self.lam / theta

    def _exponentials(self, s):
        """max s and exp(2(s − max s)/lam)."""
        s = np.asarray(s, float)
        top = float(s.max())
        with np.errstate(under="ignore", over="ignore"):
            return top, np.exp((s - top) * (2 / self.lam))

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        """n²/θ² = lam (ln θ + κ): with w e^w = (2n²/lam) e^{2κ}, θ = e^{w/2 − κ}, and κ from Σθ = 1.

        ln Σθ is convex and decreasing in κ: Newton from the left.
        """
        from scipy.special import wrightomega

        norms = np.asarray(norms, float)
        top = max(float(norms.max()), 1e-150)
        norms, lam = np.maximum(norms / top, 1e-150), max((np.sqrt(self.lam) / min(top, 1e100)) ** 2, 1e-200)
        level = 2 * np.log(norms) + np.log(2 / lam)
        kappa = max(np.log(len(norms)), float(norms.sum()) ** 2 / lam)  # no smaller, as θ ≥ e^{−κ}, norms/√(lam κ)
        for _ in range(200):
            spend(20.0)
            w = wrightomega(level + 2 * kappa)
            # e^{w/2 − κ} keeps its digits where w is small, norms √(2/(lam w)) where it is large
            theta = np.exp(np.where(w < 1, 0.5 * w - kappa, 0.5 * (level - np.log(np.maximum(w, 1.0)))))
            total = theta.sum()
            step = np.log(total) * total / np.sum(theta / (1 + w))
            if abs(step) <= 1e-15 * kappa:
                break
            kappa += step
        return theta / total

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """θ = η ω((z − ν)/η − ln η), η = step lam/2, ω Wright's function, ν from Σθ = 1: Newton from the left."""
        from scipy.special import wrightomega

        z, eta = np.asarray(z, float), 0.5 * step * self.lam
        z = np.maximum(z - z.max(), -1.0 - 1000.0 * eta)  # further down the weights underflow
        top = project_simplex(z).max()  # no smaller than the largest weight here, so that ν is no smaller than
        nu = -top - eta * np.log(top)
        for _ in range(200):
            spend(20.0)
            w = wrightomega((z - nu) / eta - np.log(eta))
            total = eta * w.sum()
            move = (total - 1) / np.sum(w / (1 + w))
            if abs(move) <= 1e-15 * max(abs(nu), 1e-3):
                break
            nu += move
        return w / w.sum()

    def start(self, M: int) -> ndarray:
        return np.full(M, 1 / M)
