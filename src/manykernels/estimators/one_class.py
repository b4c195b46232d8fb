"""Novelty detection with learned kernel weights."""

from __future__ import annotations

import numpy as np
from sklearn.base import OutlierMixin

from ._base import MKLBase, _n_examples
from .validation import check_loss, check_number, check_weight


class MKLOneClass(OutlierMixin, MKLBase):
    """Learns the support of a distribution and the weights of its kernels together.

    min over f_m, b, θ ≥ 0:  b + 1/(ν Σw) Σ_i w_i max(0, −Σ_m f_m(x_i) − b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)

    Parameters
    ----------
    nu : ν in (0, 1], at most this share of the examples lies outside, at least this share are support vectors

    The other parameters and the attributes are those of `MKLClassifier`; besides, `offset_` = −b.
    Decisions are scikit-learn's OneClassSVM's divided by νΣw.
    """

    def __init__(
        self,
        kernels="auto",
        *,
        nu=0.5,
        regularizer=2,
        normalize="multiplicative",
        solver="auto",
        tol=1e-3,
        max_iter=1000,
        memory_limit=None,
        n_jobs=None,
        verbose=False,
        warm_start=False,
    ):
        self.kernels = kernels
        self.nu = nu
        self.regularizer = regularizer
        self.normalize = normalize
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.memory_limit = memory_limit
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.warm_start = warm_start

    def fit(self, X, y=None, sample_weight=None):
        """Learn from X; y is ignored, as scikit-learn's outlier detectors do."""
        self._check_params()
        check_number("nu", self.nu, 0, 1)
        X = self._check_X(X, reset=True)
        n = _n_examples(X)
        weight = check_weight(sample_weight, n)
        c = weight / (self.nu * weight.sum())
        return self._fit(X, np.ones((1, n)), weight, c, check_loss("one_class", "none"))

    @property
    def offset_(self):
        """−b, what `decision_function` subtracts from `score_samples`."""
        return -float(self.intercept_[0])

    def decision_function(self, X):
        """Σ_m f_m(x) + b, (n,): negative outside."""
        return self._decide(X)[:, 0]

    def score_samples(self, X):
        """Σ_m f_m(x), (n,): the decision without the offset."""
        return self.decision_function(X) + self.offset_

    def predict(self, X):
        """+1 inside, −1 outside, (n,)."""
        return np.where(self.decision_function(X) >= 0, 1, -1)
