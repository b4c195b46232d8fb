"""Regression with learned kernel weights."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_consistent_length

from .._validation import check_number
from ._base import MKLBase, _n_examples
from .inputs import check_y
from .tasks import check_task
from .validation import check_loss, check_weight

if TYPE_CHECKING:
    from ..losses._base import Loss
    from ..regularizers._base import Regularizer
    from ..solvers._base import BaseSolver


class MKLRegressor(RegressorMixin, MKLBase):
    """Learns a regression function and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    Parameters
    ----------
    loss : "epsilon_insensitive" max(0, |y − f| − ε), "squared" (y − f)², "huber", or a Loss
    epsilon : ε of the epsilon-insensitive loss; other losses refuse a value that is not the default

    The other parameters and the attributes are those of `MKLClassifier`, with one row in `dual_coef_`.
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        regularizer: float | Regularizer = 2,
        loss: str | Loss = "epsilon_insensitive",
        epsilon: float = 0.1,
        C: float = 1.0,
        normalize: str | None = "multiplicative",
        slack: bool = False,
        solver: str | BaseSolver = "auto",
        features: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        fit_intercept: bool = True,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        warm_start: bool = False,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.kernels = kernels
        self.regularizer = regularizer
        self.loss = loss
        self.epsilon = epsilon
        self.C = C
        self.normalize = normalize
        self.slack = slack
        self.solver = solver
        self.features = features
        self.tol = tol
        self.max_iter = max_iter
        self.fit_intercept = fit_intercept
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> Self:
        """Learn from X and the real targets y (n,), of the tasks `task` (n,) where kernels are `multi_task`."""
        self._check_params()
        check_number("C", self.C)
        check_number("epsilon", self.epsilon, closed="left")
        insensitive = isinstance(self.loss, str) and self.loss == "epsilon_insensitive"
        if not insensitive and self.epsilon != 0.1:
            raise ValueError(f"epsilon={self.epsilon!r} has no effect with loss={self.loss!r}: leave it at 0.1.")
        loss = check_loss(self.loss, "real", **({"epsilon": self.epsilon} if insensitive else {}))
        y = check_y(self, y, numeric=True).astype(np.float64)
        X = self._check_X(X, reset=True)
        check_consistent_length(range(_n_examples(X)), y)
        weight = check_weight(sample_weight, len(y))
        options = dict(C=self.C, intercept=self.fit_intercept, task=check_task(task, len(y)))
        return self._fit(X, y[None], weight, self.C * weight, loss, **options)

    def predict(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x) + b, (n,)."""
        return self._decide(X, task)[:, 0]

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> float:
        """R², the share of the variance of y that is predicted."""
        from sklearn.metrics import r2_score

        return r2_score(y, self.predict(X, task), sample_weight=sample_weight)
