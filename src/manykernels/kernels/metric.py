"""Kernels of a distance between rescaled columns."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import refuse_labels, shown
from ._scaled import ScaledKernel
from .base import Kernel
from .column_encoders import ColumnScales

LEARN = "learn"


class MetricKernel(ScaledKernel):
    """k(x, y) = exp(−gamma B(s∘x, s∘y)), where B is the `distance` and s the `metric`: a scale for each column.

    In a list of kernels, `split` leaves the scales to a transformer, so that kernels of the same scales share their
    distances. A `metric` that is to be learned has scales only after a fit.
    """

    distance: str  # of the bases "sqdist" and "l1"

    def __init__(self, gamma: float | str | None = None, metric: ArrayLike | str | None = None) -> None:
        self.gamma = gamma
        self.metric: Any = metric

    @property
    def base(self) -> str | None:  # type: ignore[override]  # other columns, other distances
        return self.distance if self.metric is None else None

    @property
    def to_learn(self) -> bool:
        """Whether a fit is to learn the metric."""
        return isinstance(self.metric, str) and self.metric == LEARN

    def with_metric(self, metric: ArrayLike | None) -> MetricKernel:
        """The same kernel with other scales."""
        return type(self)(**{**self.get_params(deep=False), "metric": metric})

    def check_state(self) -> None:
        if self.metric is None:
            super().check_state()
        else:
            self.with_metric(None).check_state()
            self.split()

    def learns(self) -> str:
        return "data" if self.to_learn else super().learns()

    def split(self) -> tuple[Any, Kernel] | None:
        return None if self.metric is None or self.to_learn else (ColumnScales(self._scales()), self.with_metric(None))

    def _scales(self):
        """The scales (d,) as floats."""
        if self.to_learn:
            raise ValueError(
                f'metric="learn" of {type(self).__name__} stands where no fit learns it: MKLClassifier and '
                "MKLRegressor learn the metric of kernels that stand in the list by themselves, not within sums, "
                "products, On, approximations or pairs. Give the scales of the columns, metric=[...], or None."
            )
        refuse_labels("metric", self.metric)
        try:
            scales = np.asarray(self.metric, dtype=float)
            sound = scales.ndim == 1 and np.isfinite(scales).all() and (scales >= 0).all() and scales.any()
        except (TypeError, ValueError):
            sound = False
        if isinstance(self.metric, str) or not sound:
            raise ValueError(
                f"metric={shown(self.metric)} of {type(self).__name__} must be a list of scales, one for each column, "
                'at least 0 and not all 0, or None, or "learn".'
            )
        return scales

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if self.metric is None:
            return super().resolve(X, weights)
        plain = self.with_metric(None).resolve(ColumnScales(self._scales()).fit(X).transform(X), weights)
        return plain.with_metric(self.metric)  # type: ignore[attr-defined]  # of the same class

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        if self.metric is None:
            return super().__call__(X, Y)
        scaled = ColumnScales(self._scales()).fit(X).transform
        return self.with_metric(None)(scaled(X), None if Y is None else scaled(Y))

    def diag(self, X: Any) -> np.ndarray:
        return super().diag(X) if self.metric is None else np.diag(self(X[:1])).repeat(X.shape[0])

    def form(self) -> tuple[float, float, float] | None:
        return None if self.metric is not None else (0, -self.gamma, 0.0)


def slopes(distance: str, X: np.ndarray, Y: Any, V: np.ndarray) -> np.ndarray:
    """Σ_l V_til ∂B(x_i, y_l)/∂x_ij, (T, n, d), of weights V (T, n, m) between X (n, d) and Y (m, d).

    The derivative of ‖x−y‖² is 2 (x_j − y_j), and of ‖x−y‖₁ sign(x_j − y_j): 0, the middle of its two sides, at 0.
    """
    if distance == "sqdist":
        return 2 * np.stack([V_t.sum(axis=1)[:, None] * X - V_t @ Y for V_t in V])
    found = np.empty((len(V), *X.shape))
    for j in range(X.shape[1]):
        found[:, :, j] = np.einsum("til,il->ti", V, np.sign(X[:, j, None] - Y[:, j]))
    return found
