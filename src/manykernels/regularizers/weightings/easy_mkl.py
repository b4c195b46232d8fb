import numpy as np
from numpy import ndarray

from ..._validation import check_number
from ...banks.base import Bank
from ...losses import SquaredHinge
from ...losses.base import Loss
from .base import TwoStage, shares, solve_single


class EasyMKL(TwoStage):
    """Weights by the margin between the two classes.

    θ_m ∝ γ'YK_mYγ at the γ that minimises (1 − lam) γ'Y(ΣK_m)Yγ + lam ‖γ‖², two classes (Aiolli and Donini 2015).

    γ ≥ 0 sums to 1 on each class: the nearest points of the convex hulls of the classes, more spread for
    larger lam. They are the scaled dual variables of a squared-hinge SVM, which finds them.

    Parameters
    ----------
    lam : float, default 0.1
        0 < lam ≤ 1: at 1 the classes are represented by their centres.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.weighting import EasyMKL
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> bank = DenseBank(np.stack([np.outer(y, y), np.eye(4)], axis=2))
    >>> EasyMKL().bind(bank, y, 1.0)[0].weights.round(2)
    array([0.75, 0.25])
    """

    file_tag = ("weighting/easy_mkl", 1)

    def __init__(self, lam: float = 0.1) -> None:
        self.lam = check_number("lam", lam, 0, 1, "right")

    def weights(
        self, bank: Bank, Y: ndarray, c: ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> ndarray:
        if len(Y) > 1 or not set(np.unique(Y)) <= {-1.0, 1.0}:
            raise ValueError(
                f"regularizer={self!r} is for two classes, y = ±1: use multi_class='ovr' for more, Align() for real y"
            )
        y, w = Y[0], c[0] / C
        rows = np.flatnonzero(w > 0)
        if len(np.unique(y[rows])) < 2:
            raise ValueError(f"regularizer={self!r} needs examples of both classes, y has one only")
        a = np.zeros((1, bank.n))
        a[0, rows] = y[rows] * w[rows]
        if self.lam != 1:
            K = (1 - self.lam) * bank.combined(bank.usable.astype(float), rows, rows, dtype=np.float64)
            c = (w[rows] / (2 * self.lam))[None]
            a[0, rows] = solve_single(K, y[None, rows], c, SquaredHinge(), True, 1e-8).a[0]
        for side in (y > 0, y < 0):
            a[0, side] /= np.abs(a[0, side]).sum()
        q = bank.products(a[:, rows], rows, rows)[0] @ a[0, rows]
        return shares(np.maximum(q, 0.0) * bank.usable)
