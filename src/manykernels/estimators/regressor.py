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
from ._paths import HasPath
from .inputs import check_order
from .outputs import read_values
from .posterior import posterior_variance
from .tasks import check_task
from .validation import check_loss, check_weight

if TYPE_CHECKING:
    from ..losses._base import Loss
    from ..regularizers._base import Regularizer
    from ..solvers._base import BaseSolver


class MKLRegressor(RegressorMixin, HasPath, MKLBase):
    """Learns a regression function and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  C Σ_i w_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    Parameters
    ----------
    loss : "epsilon_insensitive" max(0, |y − f| − ε), "squared" (y − f)², "huber", or a Loss
    epsilon : ε of the epsilon-insensitive loss; other losses refuse a value that is not the default

    The other parameters and the attributes are those of `MKLClassifier`, with one row in `dual_coef_` for each target;
    besides, `n_outputs_`, their number T: y may be (n, T), and all targets share the weights of the kernels.
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
        device: str = "cpu",
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
        self.device = device
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> Self:
        """Learn from X and the real targets y, of the tasks `task` (n,) where kernels are `multi_task`.

        y is (n,) or (n, T): T targets share the weights of the kernels, and C, so that they should be of one scale.
        """
        self._check_params()
        check_number("C", self.C)
        check_number("epsilon", self.epsilon, closed="left")
        insensitive = isinstance(self.loss, str) and self.loss == "epsilon_insensitive"
        if not insensitive and self.epsilon != 0.1:
            raise ValueError(f"epsilon={self.epsilon!r} has no effect with loss={self.loss!r}: leave it at 0.1.")
        loss = check_loss(self.loss, "real", **({"epsilon": self.epsilon} if insensitive else {}))
        check_order(X, y)
        Y = read_values(self, y)
        X = self._check_X(X, reset=True)
        check_consistent_length(range(_n_examples(X)), Y[0])
        weight = check_weight(sample_weight, Y.shape[1])
        self.n_outputs_ = len(Y)
        options = dict(C=self.C, intercept=self.fit_intercept, task=check_task(task, Y.shape[1]))
        return self._fit(X, Y, weight, self.C * weight, loss, **options)

    def predict(
        self, X: Any, task: ArrayLike | None = None, *, return_std: bool = False
    ) -> np.ndarray | tuple[np.ndarray, np.ndarray]:
        """Σ_m f_m(x) + b, (n,), or (n, T) where there are T targets.

        Parameters
        ----------
        X : the new examples
        task : (n,), their tasks, where kernels are `multi_task`
        return_std : whether to return the standard deviation of f(x) too, for regularizer=EmpiricalBayes(...), whose
            posterior it is: √(k(x, x) − k(x, X)(K + σ²W⁻¹)⁻¹k(X, x)) at the learned weights and noise, with b taken as
            known. That of a new observation is √(std² + noise_). It needs the kernels between all n training examples,
            n² + 2 n n_new float64 numbers, and their Cholesky factor, in each call.

        Returns
        -------
        mean, or (mean, std), of the same shape

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import RBF, Linear
        >>> from manykernels.regularizers import EmpiricalBayes
        >>> rng = np.random.default_rng(0)
        >>> X = rng.uniform(-1, 1, size=(80, 1))
        >>> y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=80)
        >>> bayes = EmpiricalBayes(noise="learn")
        >>> model = MKLRegressor([RBF(gamma=3.0), Linear()], regularizer=bayes, loss="squared").fit(X, y)
        >>> mean, std = model.predict([[0.0], [3.0]], return_std=True)
        >>> bool(std[0] < 0.1 < std[1])  # the second is far from all that was seen
        True
        """
        decision = self._decide(X, task)
        mean = decision if self.n_outputs_ > 1 else decision[:, 0]
        if not return_std:
            return mean
        if not hasattr(self, "noise_"):
            raise ValueError(
                f"return_std=True needs a Gaussian posterior, which regularizer={self.regularizer!r} does not have: "
                'fit with regularizer=EmpiricalBayes(noise="learn"), loss="squared".'
            )
        std = np.sqrt(posterior_variance(self, self._new_X(X, task))[:, 0])
        return mean, std if self.n_outputs_ == 1 else np.repeat(std[:, None], self.n_outputs_, axis=1)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> float:
        """R², the share of the variance of y that is predicted; the mean over the targets."""
        from sklearn.metrics import r2_score

        return r2_score(y, self.predict(X, task), sample_weight=sample_weight)
