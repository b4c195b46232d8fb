"""What the three estimators share: data → bank → problem → solution → predictions."""

from __future__ import annotations

import sys
import warnings
from contextlib import nullcontext
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted

from .._validation import parse_bytes
from ..inner.systems import blas_for
from ..kernels._views import is_views
from ..kernels.views import Views
from ..streaming import is_source
from ..streaming.stream import Stream
from ._checks import Checks
from ._diagonal import warn_diagonal
from ._html import WeightBars
from ._news import tell_news, warn_lengths
from ._params import NamedParts
from ._posed import Posed
from ._report import HasReport
from ._slack import with_slack
from ._streamed import decide, learn
from ._units import warn_units
from .checkpoint import parts_of
from .progress import show_progress
from .tasks import with_task
from .tensors import card_for

OPTIONAL = (  # not of every model
    "tasks_", "log_marginal_likelihood_", "stationarity_", "noise_", "support_weight_", "kernels_chosen_",
    "calibration_",
)  # fmt: skip


class MKLBase(WeightBars, NamedParts, HasReport, Checks):
    """min over f_m, b, θ ≥ 0:  Σ_i c_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)."""

    def _make_bank(self, X, weight, exact=False):
        """The bank of the kernels on X (n examples), normalised with the sample weights; None = all equal."""
        from ..banks._base import Source
        from ..banks.choice import choose_bank, stack_bank

        limit = parse_bytes(self.memory_limit)
        options = dict(weights=weight, normalize=self.normalize, memory_limit=limit, n_jobs=self.n_jobs)
        if self._is_precomputed():
            return stack_bank(X, self._place(), psd=self.psd, **options)
        if isinstance(self.kernels, Source):
            if self.device not in ("cpu", "auto"):
                raise ValueError(
                    f"device={self.device!r} has no effect on kernels with a bank of their own: take 'cpu'."
                )
            return self.kernels.bank(X, **options)
        kernels = self._kernel_list(X, limit, weight)
        device = self._place()
        return choose_bank(kernels, X, tol=self.tol, exact=exact, device=device, **self._features(), **options)

    def _place(self):
        """Where kernels are computed: the card that X lies on, or what `device` says."""
        return card_for(self.device, vars(self).pop("_card", None))

    def _features(self):
        """What `choose_bank` is told of explicit features."""
        from .. import solvers

        wanted = self.solver != "auto" and solvers.get(self.solver).explicit
        never = getattr(self, "slack", False) and not wanted and self.features == "auto"
        return dict(features="never" if never else self.features, wanted=wanted)  # slack has none that others share

    def _kernel_list(self, X, limit, weight):
        """The kernels on X, approximated where that is asked for, each with a seed of its own."""
        from ..kernels import KernelList
        from ..kernels._approximated import approximated
        from ..kernels.precomputed import with_psd
        from ..solvers import seed_of

        if self.psd != "warn":
            return KernelList.from_spec(self.kernels, X, limit, weight, lambda kernel, m: with_psd(kernel, self.psd))
        if self.approximation is None:
            return KernelList.from_spec(self.kernels, X, limit, weight)
        seed = seed_of(self.random_state)
        return KernelList.from_spec(
            self.kernels,
            X,
            limit,
            weight,
            lambda kernel, m: approximated(kernel, self.approximation, self.rank, seed + m),
        )

    def _fit(self, X, Y, weight, c, loss, **options):
        """Poses the problems of the rows of Y (T, n), see `_pose`, and learns from them."""
        with blas_for(Y.shape[1], self.n_jobs):  # what runs in one block is BLAS's, which takes all cores unasked
            if isinstance(X, Stream):
                return learn(self, X, Y, weight, c, loss, **options)
            return self._learn(self._pose(X, Y, weight, c, loss, **options))

    def _pose(self, X, Y, weight, c, loss, *, C=1.0, intercept=True, joint=True, task=None):
        """The problems of the rows of Y (T, n), joint (one θ) or one by one (a θ each), on kernels that are computed.

        `weight` (n,) are the sample weights, `c` (n,) the factors of the loss, C that of an example of weight 1.
        """
        from .. import regularizers
        from ..solvers import seed_of

        regularizer = regularizers.get(self.regularizer)
        rows = np.arange(Y.shape[1])
        if task is not None and self._is_precomputed():
            raise ValueError('task has no effect with kernels="precomputed": build the kernels by multi_task_stack.')
        if not self._is_precomputed() and not weight.all():  # weight 0 is removal, also for widths and scales
            rows = np.flatnonzero(weight)
            X, Y, weight, c = _take(X, rows), Y[:, rows], weight[rows], c[rows]
            task = None if task is None else task[rows]
        seed, exact = seed_of(self.random_state), regularizer.exact
        parts = [Y] if joint else [y[None] for y in Y]
        kept = parts_of(self, len(parts), seed, X, Y, weight, task)
        bank = self._make_bank(with_task(X, task), None if (weight == weight[0]).all() else weight, exact)
        if getattr(self, "slack", False):
            bank = with_slack(bank, regularizer)
        return Posed(bank, rows, parts, c, loss, regularizer, C, intercept, joint, seed, kept)

    def _learn(self, posed):
        """Solve the problems one after another and set the attributes."""
        from ..solvers import solve

        joint, parts, bank = posed.joint, posed.parts, posed.bank
        # one-vs-rest fits read the kernels again and again
        held = bank if joint else bank.held(posed.regularizer.exact)
        labels = [""] if joint else [f", class {label!s}" for label in self.classes_]
        last = getattr(self, "_solutions", []) if self.warm_start else []
        solutions = []
        if self.verbose and isinstance(self.kernels, str) and self.kernels == "auto":
            print(bank.predictor(np.arange(1)).kernel_list.chosen, file=sys.stderr)
        for k, label in enumerate(labels):
            problem = posed.problem(k, held)
            warm = last[k] if k < len(last) else None
            with show_progress(f"{bank.M} kernels{label}", self.tol) if self.verbose else nullcontext() as callback:
                options = dict(solver=self.solver, tol=self.tol, max_iter=self.max_iter, callback=callback)
                options |= dict(random_state=posed.seed, checkpoint=posed.kept[k], fits=len(labels))
                solutions.append(solve(problem, warm=warm, **options))
            if solutions[-1].interrupted:
                break
        if self.warm_start:
            self._solutions = solutions + last[len(solutions) :]
        if len(solutions) == len(parts):
            weight = problem.c[0] if posed.regularizer.bayesian else None
            self._store(bank, posed.rows, solutions, joint, weight)
        if solutions[-1].interrupted:
            raise KeyboardInterrupt
        self._report(solutions, labels)
        self._warn(posed, stacklevel=6)
        return self

    def _warn(self, posed, stacklevel):
        """Of a fit that is done: parameters and kernels that may not be what was meant."""
        warn_lengths(self, stacklevel)
        warn_units(posed.loss, np.concatenate(posed.parts), posed.c, posed.C, stacklevel)
        warn_diagonal(self, posed.bank, stacklevel)

    def _report(self, solutions, labels):
        """A ConvergenceWarning where a solution is not as near the optimum as `tol` asks, a UserWarning where float64
        numbers cannot hold it so near.
        """
        short = [s for s in solutions if not s.converged]
        if not short:
            rough = next((s.reason for s in solutions if s.reason), "")
            which = _listed(label for s, label in zip(solutions, labels, strict=True) if label and s.reason)
            if rough:
                warnings.warn(f"{type(self).__name__} has converged{which}, but {rough}.", UserWarning, stacklevel=5)
            return
        bayes = hasattr(self, "stationarity_")
        early = all(s.n_iter < self.max_iter for s in short)
        cure = next((s.reason for s in short if s.reason), "")
        cure = cure or ("it no longer improves; raise tol" if early else "raise max_iter or tol")
        what = f"stationarity of {self.stationarity_:.2e}" if bayes else f"duality gap of {self.duality_gap_:.2e}"
        which = _listed(label for s, label in zip(solutions, labels, strict=True) if label and not s.converged)
        warnings.warn(
            f"{type(self).__name__} stopped at a {'' if bayes else 'relative '}{what}, above tol={self.tol:g}, after "
            f"{max(s.n_iter for s in short)} steps{which}: {cure}.",
            ConvergenceWarning,
            stacklevel=5,
        )

    def _store(self, bank, rows, solutions, joint, weight=None):
        """Fitted attributes; what prediction needs is kept for the support examples only.

        Those are the examples with a ≠ 0; with EmpiricalBayes all that have a `weight`.
        """
        a = np.concatenate([s.a for s in solutions])
        support = np.flatnonzero(a.any(axis=0) if weight is None else weight)
        self.support_ = rows[support]
        self.dual_coef_ = a[:, support]
        self.intercept_ = np.concatenate([np.atleast_1d(s.b) for s in solutions]).astype(float)
        theta = solutions[0].theta if joint else np.stack([s.theta for s in solutions])
        M = self._store_slack(theta, bank.M)
        self.kernel_weights_ = theta[..., :M]
        self.kernel_names_ = list(bank.names)[:M]
        self.kernel_scale_ = np.array(bank.scale[:M], dtype=float)
        self.objective_ = float(sum(s.primal for s in solutions))
        self.duality_gap_ = float(np.max([s.gap for s in solutions]))  # NaN, no certificate, where one of them is
        self.n_iter_ = max(s.n_iter for s in solutions)
        labels = [{}] if joint else [{"class": label} for label in self.classes_.tolist()]
        self.history_ = [label | step for label, s in zip(labels, solutions, strict=True) for step in s.history]
        self._predictor = bank.predictor(support)
        for name in OPTIONAL:  # of an earlier fit
            vars(self).pop(name, None)
        kernels = self._predictor.kernel_list
        if kernels is not None and kernels.tasks is not None:
            self.tasks_ = kernels.tasks
        if kernels is not None and kernels.chosen:
            self.kernels_chosen_ = kernels.chosen
        if solutions[0].stationarity is not None:
            self.log_marginal_likelihood_ = float(sum(s.log_marginal_likelihood for s in solutions))
            self.stationarity_ = float(max(s.stationarity for s in solutions))
            self.support_weight_ = np.array(weight[support], dtype=float)
            self.noise_ = solutions[0].noise if joint else np.array([s.noise for s in solutions])

    def _store_slack(self, theta, M):
        """Sets `slack_weight_` where there is slack, the last of M kernels; the number of the others."""
        vars(self).pop("slack_weight_", None)  # of an earlier fit
        if not getattr(self, "slack", False):
            return M
        self.slack_weight_ = float(theta[-1]) if theta.ndim == 1 else theta[:, -1].copy()
        return M - 1

    def _decide(self, X, task=None):
        """Σ_m f_m(x) + b, (n, T)."""
        check_is_fitted(self)
        if is_source(X):
            return decide(self, X, lambda block: self._decide(block, task))
        with blas_for(len(self.support_), self.n_jobs):
            X = self._new_X(X, task)
            found = _finite(self._predictor.decision(X, self.dual_coef_, self.kernel_weights_).T + self.intercept_)
        self._tell_news(X)
        return found

    def _tell_news(self, X):
        """Of new data that could be read: what no training example had."""
        tell_news(self, X)

    def decision_parts(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """θ_m Σ_i a_i k_m(x_i, x): the exact share of each kernel in the decision, the intercept apart.

        Shape (n, M), or (n, T, M) with T outputs: more than two classes, several labels or targets; the sum over the
        last axis plus `intercept_` is the decision.
        """
        check_is_fitted(self)
        if is_source(X):
            return decide(self, X, lambda block: self.decision_parts(block, task))
        with blas_for(len(self.support_), self.n_jobs):
            X = self._new_X(X, task)
            parts = np.moveaxis(_finite(self._predictor.parts(X, self.dual_coef_, self.kernel_weights_)), 0, 1)
        self._tell_news(X)
        return parts[:, 0] if parts.shape[1] == 1 else parts

    def combined_kernel(
        self, X: Any, Y: Any = None, task: ArrayLike | None = None, task_Y: ArrayLike | None = None
    ) -> np.ndarray:
        """Σ_m θ_m k_m(X, Y) of the normalised kernels, (n_X, n_Y), for SVC, KernelPCA, SpectralClustering and others.

        One-vs-rest models take the mean of the weights over the classes. With kernels="precomputed" X is the
        (n, n_train, M) stack itself and Y is not allowed. `task` and `task_Y` are the tasks of X and Y.
        """
        check_is_fitted(self)
        if Y is not None and self._is_precomputed():
            raise ValueError('Y is not allowed with kernels="precomputed": X already holds the kernel values.')
        theta = np.mean(np.atleast_2d(self.kernel_weights_), axis=0)
        with blas_for(len(self.support_), self.n_jobs):
            X = self._new_X(X, task)
            Y = None if Y is None else self._new_X(Y, task_Y)
            found = _finite(self._predictor.gram(X, Y, theta=theta))
        for new in (X,) if Y is None else (X, Y):
            self._tell_news(new)
        return found

    def to_state(self) -> dict[str, Any]:
        """What the file of a fitted model holds; see `manykernels._state`."""
        from .persist import state_of

        return state_of(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The fitted model of what `to_state` gave."""
        from .persist import restore

        return restore(cls, state)

    def save(self, path: str | PathLike[str]) -> None:
        """Write the fitted model to one file that `manykernels.load` reads, without pickle.

        The file takes the place of an old one when it is whole. What only code could restore is refused by name;
        classes of your own that declare a `file_tag` are written, and given to `load` as `parts`.
        """
        from .persist import save

        check_is_fitted(self)
        save(self, path)


def _listed(labels):
    """The first of these labels, each with its comma."""
    labels = list(labels)
    return "".join(labels[:3]) + ", …" * (len(labels) > 3)


def _finite(values):
    if not np.isfinite(values).all():
        raise ValueError("X holds NaN or infinity, or kernel values overflow: clean or rescale it first.")
    return values


def _take(X, rows):
    if is_views(X) and not isinstance(X, Views):
        return {name: _take(view, rows) for name, view in X.items()}
    unsliced = getattr(X, "format", None) in ("coo", "bsr", "dia")  # scipy cuts no rows of these
    return _safe_indexing(X.tocsr() if unsliced else X, rows)
