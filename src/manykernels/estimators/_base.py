"""What the three estimators share: data → bank → problem → solution → predictions."""

from __future__ import annotations

import warnings
from contextlib import nullcontext
from numbers import Integral

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from .progress import show_progress
from .validation import check_choice, check_number, parse_bytes
from .warm import begin_from

_NORMALIZE = ("multiplicative", "spherical", "trace", None)


class MKLBase(BaseEstimator):
    """min over f_m, b, θ ≥ 0:  Σ_i c_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)."""

    def _is_precomputed(self):
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        precomputed = self._is_precomputed()
        tags.input_tags.pairwise = precomputed
        tags.input_tags.three_d_array = precomputed
        tags.input_tags.two_d_array = tags.input_tags.sparse = not precomputed
        return tags

    def _check_params(self):
        check_choice("normalize", self.normalize, _NORMALIZE)
        check_number("tol", self.tol, 0)
        check_number("max_iter", self.max_iter, 1, closed=True, integer=True)
        if self.n_jobs is not None and not (isinstance(self.n_jobs, Integral) and self.n_jobs):
            raise ValueError(f"n_jobs={self.n_jobs!r} is not allowed: give None, a positive integer or -1.")

    def _check_X(self, X, *, reset):
        """X as the banks take it; records (or, with reset=False, compares) the number and names of the features."""
        if self._is_precomputed():
            X = X if hasattr(X, "test_diagonals") else np.asarray(X)
            if len(X.shape) != 3:
                raise ValueError(
                    f'X has shape {X.shape}, but kernels="precomputed" needs (n, n_train, M): '
                    "stack M kernel matrices with np.stack(matrices, axis=2) or KernelStack(matrices)."
                )
            self._check_width(X.shape[1], "columns (training examples)", reset)
        elif _is_views(X):
            self._check_width(len(X), "views", reset)
        elif hasattr(X, "iloc"):
            X = validate_data(self, X, reset=reset, skip_check_array=True)
        elif _holds_objects(X):
            self._check_width(1, "features", reset)
        else:
            finite = True if isinstance(self.kernels, str) else "allow-nan"  # a kernel may have missing="zero"
            options = dict(accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=finite)
            X = validate_data(self, X, reset=reset, **options)
        if reset and _n_examples(X) < 2:
            raise ValueError(f"X has n_samples={_n_examples(X)}: at least two examples are needed.")
        return X

    def _check_width(self, width, what, reset):
        if reset:
            self.n_features_in_ = width
            vars(self).pop("feature_names_in_", None)
        elif width != self.n_features_in_:
            raise ValueError(
                f"X has {width} {what}, but {type(self).__name__} is expecting {self.n_features_in_} as in fit."
            )

    def _make_bank(self, X, weight):
        """The bank of the kernels on X (n examples), normalised with the sample weights; None = all equal."""
        limit = parse_bytes(self.memory_limit)
        options = dict(weights=weight, normalize=self.normalize, memory_limit=limit, n_jobs=self.n_jobs)
        if self._is_precomputed():
            from ..banks.dense import DenseBank

            return DenseBank(X, **options)
        from ..banks.pairwise import PairwiseBank
        from ..kernels import KernelList

        kernels = KernelList.from_spec(self.kernels, X, limit)
        dtype = np.float32 if self.tol >= 1e-4 and _n_examples(X) > 1000 else np.float64  # small data: exact is cheap
        return PairwiseBank(kernels, X, dtype=dtype, **options)

    def _fit(self, X, Y, weight, c, loss, *, intercept=True, joint=True):
        """Solve for the rows of Y (T, n), jointly (one θ) or one after another (a θ each), and set the attributes.

        `weight` (n,) are the sample weights, `c` (n,) the factors of the loss.
        """
        from .. import regularizers
        from ..problem import Problem
        from ..solvers import solve

        regularizer = regularizers.get(self.regularizer)
        rows = np.arange(Y.shape[1])
        if not self._is_precomputed() and not weight.all():  # weight 0 is removal, also for widths and scales
            rows = np.flatnonzero(weight)
            X, Y, weight, c = _take(X, rows), Y[:, rows], weight[rows], c[rows]
        bank = self._make_bank(X, None if (weight == weight[0]).all() else weight)

        parts = [Y] if joint else [y[None] for y in Y]
        labels = [""] if joint else [f", class {label!s}" for label in self.classes_]
        last = getattr(self, "_solutions", []) if self.warm_start else []
        solutions = []
        for k, (y, label) in enumerate(zip(parts, labels, strict=True)):
            problem = Problem(bank, y, loss, regularizer, np.tile(c, (len(y), 1)), intercept=intercept)
            warm = begin_from(last[k], problem) if k < len(last) else None
            with show_progress(f"{bank.M} kernels{label}", self.tol) if self.verbose else nullcontext() as callback:
                options = dict(solver=self.solver, tol=self.tol, max_iter=self.max_iter, callback=callback)
                solutions.append(solve(problem, warm=warm, **options))
            if solutions[-1].interrupted:
                break
        if self.warm_start:
            self._solutions = solutions + last[len(solutions) :]
        if len(solutions) == len(parts):
            self._store(bank, rows, solutions, joint)
        if solutions[-1].interrupted:
            raise KeyboardInterrupt
        if not all(s.converged for s in solutions):
            warnings.warn(
                f"{type(self).__name__} stopped at a relative duality gap of {self.duality_gap_:.2e}, above "
                f"tol={self.tol:g}, after max_iter={self.max_iter} steps: raise max_iter or tol.",
                ConvergenceWarning,
                stacklevel=3,
            )
        return self

    def _store(self, bank, rows, solutions, joint):
        """Fitted attributes; what prediction needs is kept for the support examples only."""
        a = np.concatenate([s.a for s in solutions])
        support = np.flatnonzero(a.any(axis=0))
        self.support_ = rows[support]
        self.dual_coef_ = a[:, support]
        self.intercept_ = np.concatenate([np.atleast_1d(s.b) for s in solutions]).astype(float)
        self.kernel_weights_ = solutions[0].theta if joint else np.stack([s.theta for s in solutions])
        self.kernel_names_ = list(bank.names)
        self.objective_ = float(sum(s.primal for s in solutions))
        self.duality_gap_ = float(max(s.gap for s in solutions))
        self.n_iter_ = max(s.n_iter for s in solutions)
        labels = [{}] if joint else [{"class": label} for label in self.classes_.tolist()]
        self.history_ = [label | step for label, s in zip(labels, solutions, strict=True) for step in s.history]
        self._cross = bank.cross(support)

    def _decide(self, X):
        """Σ_m f_m(x) + b, (n, T)."""
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        decision = self._cross.decision(X, self.dual_coef_, self.kernel_weights_).T + self.intercept_
        if not np.isfinite(decision).all():
            raise ValueError("X holds NaN or infinity, or kernel values overflow: clean or rescale it first.")
        return decision

    def decision_parts(self, X):
        """θ_m Σ_i a_i k_m(x_i, x): the exact share of each kernel in the decision, the intercept apart.

        Shape (n, M), or (n, n_classes, M) with more than two classes; the sum over the last axis plus
        `intercept_` is the decision.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        parts = np.moveaxis(self._cross.parts(X, self.dual_coef_, self.kernel_weights_), 0, 1)
        return parts[:, 0] if parts.shape[1] == 1 else parts

    def combined_kernel(self, X, Y=None):
        """Σ_m θ_m k_m(X, Y) of the normalised kernels, (n_X, n_Y), for SVC, KernelPCA, SpectralClustering and others.

        One-vs-rest models take the mean of the weights over the classes. With kernels="precomputed" X is the
        (n, n_train, M) stack itself and Y is not allowed.
        """
        check_is_fitted(self)
        X = self._check_X(X, reset=False)
        theta = np.mean(np.atleast_2d(self.kernel_weights_), axis=0)
        if Y is None:
            return self._cross.gram(X, theta=theta)
        if self._is_precomputed():
            raise ValueError('Y is not allowed with kernels="precomputed": X already holds the kernel values.')
        return self._cross.gram(X, self._check_X(Y, reset=False), theta=theta)

    def save(self, path):
        """Write the fitted model to one file that `manykernels.load` reads, without pickle."""
        from .persist import save

        check_is_fitted(self)
        save(self, path)


def _holds_objects(X):
    """Whether X is a list of strings, graphs and the like, which only kernels given by the user understand."""
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    if not isinstance(X, (list, tuple)) or len(X) == 0:
        return False
    try:
        return np.asarray(X[0]).dtype.kind not in "biufc"
    except ValueError:  # ragged
        return True


def _is_views(X):
    return isinstance(X, dict) and not hasattr(X, "shape")  # scipy's DOK matrices are dicts


def _n_examples(X):
    if _is_views(X):
        X = next(iter(X.values()))
    return X.shape[0] if hasattr(X, "shape") else len(X)


def _take(X, rows):
    return {k: _safe_indexing(v, rows) for k, v in X.items()} if _is_views(X) else _safe_indexing(X, rows)
