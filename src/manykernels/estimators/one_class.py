"""Novelty detection with learned kernel weights."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import OutlierMixin
from sklearn.utils.metaestimators import available_if

from .._validation import check_choice, check_number
from ._base import MKLBase, _n_examples
from .tasks import check_task
from .validation import check_loss, check_weight

if TYPE_CHECKING:
    from ..regularizers._base import Regularizer
    from ..solvers._base import BaseSolver


def _is_svdd(self):
    if self.formulation == "svdd":
        return True
    raise AttributeError(f'only formulation="svdd" has a centre, not formulation={self.formulation!r}.')


class MKLOneClass(OutlierMixin, MKLBase):
    """Learns the support of a distribution and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  b + 1/(ν Σw) Σ_i w_i max(0, −Σ_m f_m(x_i) − b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    Parameters
    ----------
    nu : ν in (0, 1], at most this share of the examples lies outside, at least this share are support vectors
    formulation : "one_class", the problem above;
        "level_set" (Kloft et al. 2011, §3.4): C Σ_i w_i max(0, 1 − Σ_m f_m(x_i)) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ), without
        an offset to learn: `offset_` is 1;
        "svdd" (Tax and Duin 1999): the same problem seen as the smallest ball around the examples, with `radius_` and
        `centre_distances`. Needs normalize="spherical": only where k(x, x) is the same for all x is the ball's centre
        Σ a_i φ(x_i) the problem's. θ is the one-class problem's, since the radius itself is least at θ = 0.
    C : factor of the loss of formulation="level_set"; the others have `nu` instead

    The other parameters and the attributes are those of `MKLClassifier`; besides, `offset_` = −b.
    Decisions are scikit-learn's OneClassSVM's divided by νΣw; for "svdd" they are ½ (radius² − distance²).
    """

    def __init__(
        self,
        kernels: Any = "auto",
        *,
        nu: float = 0.5,
        formulation: str = "one_class",
        C: float = 1.0,
        regularizer: float | Regularizer = 2,
        normalize: str | None = "multiplicative",
        solver: str | BaseSolver = "auto",
        features: str = "auto",
        tol: float = 1e-3,
        max_iter: int = 1000,
        memory_limit: float | str | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        verbose: bool = False,
        warm_start: bool = False,
        checkpoint: str | PathLike[str] | None = None,
    ) -> None:
        self.kernels = kernels
        self.nu = nu
        self.formulation = formulation
        self.C = C
        self.regularizer = regularizer
        self.normalize = normalize
        self.solver = solver
        self.features = features
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose
        self.warm_start = warm_start
        self.checkpoint = checkpoint

    def fit(self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None) -> Self:
        """Learn from X; y is ignored, as scikit-learn's outlier detectors do."""
        self._check_params()
        check_choice("formulation", self.formulation, ("one_class", "level_set", "svdd"))
        check_number("nu", self.nu, 0, 1, "right")
        check_number("C", self.C)
        level = self.formulation == "level_set"
        name, value, default = ("nu", self.nu, 0.5) if level else ("C", self.C, 1.0)
        if value != default:
            raise ValueError(
                f"{name}={value!r} has no effect with formulation={self.formulation!r}: leave it at {default}."
            )
        if self.formulation == "svdd" and self.normalize != "spherical":
            raise ValueError(
                f'formulation="svdd" needs normalize="spherical", not {self.normalize!r}: where k(x, x) '
                "differs its ball is another problem, and the least radius over the kernel weights says nothing."
            )
        X = self._check_X(X, reset=True)
        n = _n_examples(X)
        weight = check_weight(sample_weight, n)
        c = self.C * weight if level else weight / (self.nu * weight.sum())
        loss = check_loss("level_set" if level else "one_class", "none")
        options = dict(C=c.max() / weight.max(), intercept=not level, task=check_task(task, n))
        return self._fit(X, np.ones((1, n)), weight, c, loss, **options)

    def _make_bank(self, X, weight, exact=False):
        bank = super()._make_bank(X, weight, exact)
        if self.formulation == "svdd":
            diagonals = bank.diagonals()
            uneven = (np.abs(diagonals - diagonals[:, :1]) > 1e-5 * diagonals.max()).any(axis=1) & bank.usable
            names = ", ".join(repr(bank.names[m]) for m in np.flatnonzero(uneven)[:5])
            if names:
                raise ValueError(
                    f'formulation="svdd" needs k(x, x) to be the same for all examples, but some are 0 in {names}: '
                    'leave the kernel or those examples out, or use formulation="one_class".'
                )
        return bank

    def _store(self, bank, rows, solutions, joint):
        super()._store(bank, rows, solutions, joint)
        for name in ("radius_", "_square"):  # of an earlier fit
            vars(self).pop(name, None)
        if self.formulation == "level_set":
            self.intercept_ = np.array([-1.0])
        if self.formulation == "svdd":
            self._measure(bank, solutions[0])

    def _measure(self, bank, solution):
        """The ball: ‖φ(x) − c‖² = Σθ_m k_m(x, x) − 2 f(x) + ‖c‖² with c = Σ a_i φ(x_i), and f = −b on its surface."""
        used, support = np.flatnonzero(solution.theta), np.flatnonzero(solution.a[0])
        a, theta = solution.a[:, support], solution.theta[used]
        centre = theta @ (bank.products(a, support, support, used)[0] @ a[0])
        self._square = float(theta @ bank.diagonals()[used, 0] + centre)  # Σθ_m k_m(x, x) + ‖c‖²
        self.radius_ = float(np.sqrt(max(self._square - 2 * self.offset_, 0.0)))

    @property
    def offset_(self) -> float:
        """−b, what `decision_function` subtracts from `score_samples`."""
        return -float(self.intercept_[0])

    def decision_function(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x) + b, (n,): negative outside."""
        return self._decide(X, task)[:, 0]

    def score_samples(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """Σ_m f_m(x), (n,): the decision without the offset."""
        return self.decision_function(X, task) + self.offset_

    @available_if(_is_svdd)
    def centre_distances(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """‖φ(x) − c‖ in the feature space of the combined kernel, (n,); `radius_` on the surface of the ball."""
        return np.sqrt(np.maximum(self._square - 2 * self.score_samples(X, task), 0.0))

    def predict(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """+1 inside, −1 outside, (n,)."""
        return np.where(self.decision_function(X, task) >= 0, 1, -1)

    def fit_predict(
        self, X: Any, y: Any = None, sample_weight: ArrayLike | None = None, task: ArrayLike | None = None
    ) -> np.ndarray:
        """`fit`, then `predict` on the same X."""
        return self.fit(X, y, sample_weight, task).predict(X, task)
