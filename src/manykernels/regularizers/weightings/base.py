"""The protocol of a weighting, and the predictor of one kernel that some weightings use.

    θ = weights(kernels, targets),  Σ_m θ_m = 1;   then   min over f, b of Σ c V + ½ Σ_m ‖f_m‖² / θ_m

The second stage is the usual problem with Ω the indicator of one point, so that every loss and solver takes it and
the gap certifies it. Examples count by their weights: weight k equals k copies.
"""

import numpy as np
from numpy import ndarray

from ...banks.base import Bank
from ...banks.dense import DenseBank
from ...losses.base import Loss
from ...problem import Problem
from ...solution import Solution
from ...solvers import solve
from ..base import Regularizer
from ..fixed import Fixed


class TwoStage(Regularizer):
    """A rule that finds the weights from kernels and targets before the predictor is learned.

    It takes the place of a regularizer; `bind` replaces it by `Fixed` weights before the solver starts.

    Examples
    --------
    >>> from manykernels.weighting import Align, TwoStage
    >>> isinstance(Align(), TwoStage), Align().has("bind")
    (True, True)
    """

    needs_targets = True

    def weights(
        self, bank: Bank, Y: ndarray, c: ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> ndarray:
        """θ (M,) with Σθ = 1 for targets Y (T, n) of costs c (T, n); C is the cost of an example of weight 1."""
        raise NotImplementedError

    def bind(
        self, bank: Bank, Y: ndarray, c: ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> tuple[Regularizer, ndarray]:
        """The `Fixed` weights of these data, and the costs."""
        Y = np.atleast_2d(np.asarray(Y, float))
        c = np.broadcast_to(np.asarray(c, float), Y.shape)
        if self.needs_targets and loss is not None and loss.targets == "none":
            raise ValueError(f"regularizer={self!r} compares kernels with targets, and there are none; use Uniform()")
        theta = np.where(bank.usable, self.weights(bank, Y, c, loss, intercept, C), 0.0)
        if not theta.any():
            raise ValueError(f"regularizer={self!r} finds no kernel that is related to y: check y, or use Uniform()")
        return Fixed(theta / theta.sum()), c

    def has(self, method: str) -> bool:
        return method in ("weights", "bind")

    def why_not(self, method: str) -> str:
        return "its weights come from the data: fit an estimator, or call its bind(bank, Y, c, loss)"


def shares(theta: ndarray) -> ndarray:
    """θ / Σθ, or θ if its sum is 0."""
    return theta / theta.sum() if theta.any() else theta


def solve_single(
    K: ndarray, Y: ndarray, c: ndarray, loss: Loss, intercept: bool, tol: float, fits: int = 1
) -> Solution:
    """The predictor of one kernel matrix, (T, n) targets and costs; `fits` of them share the work of a fit."""
    bank = DenseBank.from_scaled(np.ascontiguousarray(K)[None], ["kernel"])
    return solve(Problem(bank, Y, loss, Fixed([1.0]), c, intercept), solver="newton", tol=tol, fits=fits)
