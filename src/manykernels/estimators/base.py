"""The base class of the estimators: the kernels of X, the fit, and predictions."""

from __future__ import annotations

from dataclasses import field
from os import PathLike
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils.validation import check_is_fitted

from .. import solvers
from .._archive import write
from .._callers import OFFERS
from .._parts import declared_by_keyword
from .._state import Tagged
from .._validation import check_choice, parse_bytes
from ..banks.base import Source
from ..banks.choice import choose_bank, stack_bank
from ..inner.systems import blas_for
from ..kernels import KernelList
from ..kernels.annotated import obs_columns
from ..kernels.nystroem import approximated
from ..kernels.precomputed import with_psd
from ..kernels.rows import check_rows
from ..kernels.view_data import n_examples
from ..losses.base import Loss
from ..regularizers.base import Regularizer
from ..solvers import seed_of
from ..solvers.base import BaseSolver
from ..streaming import is_source
from ..streaming.stream import Stream
from ._checks import Checks
from ._notebook import NamedParts, WeightBars
from .advice import tell_news, warn_convergence
from .check_inputs import card_for, check_finite, is_precomputed, optional
from .compress import compressed
from .covariates import level_of, part_of
from .lsgkm import save_lsgkm
from .persist import StoredModel
from .plan import FitPlan
from .streamed import StreamPlan, decide

if TYPE_CHECKING:
    from ..report import Report


@declared_by_keyword
class MKLBase(WeightBars, NamedParts, StoredModel, Checks, Tagged):
    """min over f_m, b, θ ≥ 0:  Σ_i c_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)."""

    kernels: Any = field(default="auto", kw_only=False)
    regularizer: float | Regularizer = 2
    loss: str | Loss = "hinge"
    C: float | str = "auto"
    normalize: str | None = "auto"
    slack: bool = False
    solver: str | BaseSolver = "auto"
    psd: str = "warn"
    features: str = "auto"
    approximation: str | None = None
    rank: int = 256
    tol: float = 1e-3
    max_iter: int = 1000
    memory_limit: float | str | None = None
    device: str = "cpu"
    n_jobs: int | None = None
    random_state: Any = None
    verbose: bool = False
    warm_start: bool = False
    checkpoint: str | PathLike[str] | None = None

    _solutions = ()  # of the last fit with warm_start

    def _make_bank(self, X, weight, exact=False, card=None, smooth=False, **more):
        """The bank of the kernels on X (n examples), normalised with the sample weights; None means equal weights.

        Kernels are computed on the `card` that X lay on, or else on `device`; the other arguments are those
        of `choose_bank`.
        """
        limit = parse_bytes(self.memory_limit)
        options = dict(weights=weight) | self._limits(None, limit)
        if is_precomputed(self):
            return stack_bank(X, card_for(self.device, card), psd=self.psd, **options)
        if isinstance(self.kernels, Source):
            if self.device not in ("cpu", "auto"):
                raise ValueError(
                    f"device={self.device!r} has no effect on kernels that make their own bank: take 'cpu'."
                )
            return self.kernels.bank(X, **options)
        kernels = self._kernel_list(X, limit, weight)
        options |= dict(tol=self.tol, exact=exact, device=card_for(self.device, card), smooth=smooth)
        options |= dict(normalize="exact" if self.normalize == "exact" else self._normalization(kernels), **more)
        return choose_bank(kernels, X, **self._features(), **options)

    def _limits(self, kernels, limit):
        """Arguments of all banks of these kernels: their normalisation, memory and threads."""
        return dict(normalize=self._normalization(kernels), memory_limit=limit, n_jobs=self.n_jobs)

    def _features(self):
        """Arguments of `choose_bank` about explicit features."""
        wanted = self.solver != "auto" and solvers.get(self.solver).explicit
        never = self.slack and not wanted and self.features == "auto"
        return dict(features="never" if never else self.features, wanted=wanted)  # slack shares none

    def _kernel_list(self, X, limit, weight):
        """The kernels on X, approximated if `approximation` is set, each with its own seed."""
        given, how = (self.kernels, X, limit, weight), (self.approximation, self.rank)
        if self.psd != "warn":
            return KernelList.from_spec(*given, lambda kernel, m: with_psd(kernel, self.psd))
        if self.approximation is None:
            return KernelList.from_spec(*given)
        seed = seed_of(self.random_state)
        return KernelList.from_spec(*given, lambda kernel, m: approximated(kernel, *how, seed + m))

    def _fit(self, examples):
        """Plans the fit, solves its problems and keeps the solutions."""
        with blas_for(examples.n, self.n_jobs):  # BLAS would use all cores
            plan = (StreamPlan if isinstance(examples.X, Stream) else FitPlan).of(self, examples)
            solved = plan.solve(self._solutions if self.warm_start else ())
            self._keep(plan, solved)
            plan.advise(self)
        return self

    def _keep(self, plan, solved):
        """Sets the fitted attributes, and warns if a gap is above `tol`.

        After an interrupt it sets them only if every problem has a solution, and raises the interrupt again.
        """
        solutions = solved.solutions
        if self.warm_start:
            self._solutions = [*solutions, *self._solutions[len(solutions) :]]
        if len(solutions) == len(plan.labels):
            self._store(plan, solved)
        if solutions[-1].interrupted:
            raise KeyboardInterrupt
        warn_convergence(self, solutions, plan.labels)

    def _store(self, plan, solved):
        """Sets the fitted attributes; the predictor keeps the support examples only.

        The support are the examples with a ≠ 0; with EmpiricalBayes all examples with weight.
        """
        (bank, rows, solutions), joint = solved, plan.examples.joint
        weight = plan.problem(0).c[0] if plan.regularizer.bayesian else None
        a = np.concatenate([s.a for s in solutions])
        support = np.flatnonzero(a.any(axis=0) if weight is None else weight)
        self.support_ = rows[support]
        self.dual_coef_ = np.ascontiguousarray(a[:, support])  # in the order of a file: sums round alike
        self.intercept_, coef = plan.coefficients(solutions)
        if coef is not None:
            self.covariate_coef_, covariates = coef, plan.examples.covariates
            self.covariate_names_, self.covariate_columns_ = list(covariates.names), dict(covariates.columns)
        theta = solutions[0].theta if joint else np.stack([s.theta for s in solutions])
        M = bank.M - bool(self.slack)
        if self.slack:  # the last kernel
            self.slack_weight_ = float(theta[-1]) if theta.ndim == 1 else theta[:, -1].copy()
        self.kernel_weights_ = np.ascontiguousarray(theta[..., :M])
        self.kernel_names_ = list(bank.names)[:M]
        self.kernel_scale_ = np.array(bank.scale[:M], dtype=float)
        if bank.scale_error is not None:
            self.kernel_scale_error_ = np.array(bank.scale_error[:M], dtype=float)
        self.objective_ = float(sum(s.primal for s in solutions))
        self.duality_gap_ = float(np.max([s.gap for s in solutions]))  # NaN if one has no certificate
        self.n_iter_ = max(s.n_iter for s in solutions)
        labels = [{}] if joint else [{"class": label} for label in self.classes_.tolist()]
        self.history_ = [label | step for label, s in zip(labels, solutions, strict=True) for step in s.history]
        self.predictor_ = bank.predictor(support)
        kernels = self.predictor_.kernel_list
        if kernels is not None and kernels.tasks is not None:
            self.tasks_ = kernels.tasks
        if kernels is not None and kernels.chosen:
            self.kernels_chosen_ = kernels.chosen
        vars(self).update(plan.chosen())
        if solutions[0].stationarity is not None:
            self.log_marginal_likelihood_ = float(sum(s.log_marginal_likelihood for s in solutions))
            self.stationarity_ = float(max(s.stationarity for s in solutions))
            self.support_weight_ = np.array(weight[support], dtype=float)
            self.noise_ = solutions[0].noise if joint else np.array([s.noise for s in solutions])

    def _decide(self, X, task=None, covariates=None, tell=True):
        """Σ_m f_m(x) + zᵀw + b, (n, T); with `tell` it warns of values that no training example had."""
        check_is_fitted(self)
        adjusted = optional(self, "covariate_names_") if covariates is None else covariates
        if is_source(X):
            return decide(self, X, adjusted, lambda block: self._decide(block, task, tell=tell))
        check_rows(X, task=task, covariates=covariates)
        covariates = obs_columns(X, covariates)

        def decision(new):
            f = self.predictor_.decision(new, self.dual_coef_, self.kernel_weights_).T
            return f + (self.intercept_ if adjusted is None else level_of(self, covariates, n_examples(new)))

        return self._ask(decision, (X, task), tell=tell)

    def _ask(self, ask, *given, tell=True):
        """ask(new examples) as the predictor takes them, finite, of the examples (X, task) as the user gives them."""
        with blas_for(len(self.support_), self.n_jobs):
            new = [self._new_X(*one) for one in given]
            found = check_finite(lambda: ask(*new))
        for X in new if tell else ():
            tell_news(self, X)
        return found

    def decision_parts(self, X: Any, task: ArrayLike | None = None, covariates: Any = None) -> np.ndarray:
        """θ_m Σ_i a_i k_m(x_i, x): the exact share of each kernel in the decision, without the intercept.

        Shape (n, M), or (n, T, M) with T > 1 classes, labels or targets; the sum over the last axis plus `intercept_`
        is the decision. If you give the covariates of a model that has some, their part zᵀw is the last entry, M + 1 in
        all; without them the kernels alone are split.
        """
        check_is_fitted(self)
        if is_source(X):
            return decide(self, X, covariates, lambda block: self.decision_parts(block, task))
        covariates = obs_columns(X, covariates)
        check_rows(X, task=task, covariates=covariates)
        known = self.dual_coef_, self.kernel_weights_
        parts = np.moveaxis(self._ask(lambda new: self.predictor_.parts(new, *known), (X, task)), 0, 1)
        if covariates is not None:
            own: Any = part_of(self, covariates, len(parts))
            parts = np.concatenate([parts, own[..., None]], axis=2)
        return parts[:, 0] if parts.shape[1] == 1 else parts

    def combined_kernel(
        self, X: Any, Y: Any = None, task: ArrayLike | None = None, task_Y: ArrayLike | None = None
    ) -> np.ndarray:
        """Σ_m θ_m k_m(X, Y) of the normalised kernels, (n_X, n_Y), for SVC, KernelPCA, SpectralClustering and others.

        θ of a one-vs-rest model is the mean over the classes. With kernels="precomputed" X is the (n, n_train, M) stack
        itself, and Y is not allowed. `task` and `task_Y` are the tasks of X and Y.
        """
        check_is_fitted(self)
        if Y is not None and is_precomputed(self):
            raise ValueError('Y is not allowed with kernels="precomputed": X already holds the kernel values.')
        check_rows(X, task=task)
        check_rows(Y, "Y", task_Y=task_Y)
        theta = np.mean(np.atleast_2d(self.kernel_weights_), axis=0)
        given = [(X, task)] if Y is None else [(X, task), (Y, task_Y)]
        return self._ask(lambda X, Y=None: self.predictor_.gram(X, Y, theta=theta), *given)

    def save(self, path: str | PathLike[str], format: str = "manykernels") -> None:  # noqa: A002 (the common name)
        """Write the fitted model to one file that `manykernels.load` reads, without pickle.

        An old file is replaced only when the new one is complete. A part that only code could restore, such as a
        function, raises an error. Your own classes need a `file_tag`; pass them to `load` as `parts`.

        `format="lsgkm"` writes the text of LS-GKM, for classifiers of one `GappedKmer` that its program can express.
        This text keeps six digits of the intercept, and what predictions need of the model (docs/sequences.md).
        """
        check_is_fitted(self)
        if check_choice("format", format, ("manykernels", "lsgkm")) == "lsgkm":
            save_lsgkm(self, path)
        else:
            write(path, "model", {"model": self})

    def compress(self, tol: float = 1e-3, X: Any = None, task: ArrayLike | None = None) -> Self:
        """A copy of this fitted model that predicts with fewer operations; its decisions differ by at most tol.

        Kernels on views that matter less than tol are left out. The support becomes a reduced set, if few examples
        suffice: f is projected onto their kernels (docs/performance.md). Predictions then use float32, one table for
        all exponentials of a distance, one vector for linear kernels, and only those entries of x that are not 0.
        `dual_coef_` holds coefficients, which are no dual variables any more.

        Parameters
        ----------
        tol : the greatest difference of decisions, as a share of their range over X
        X : examples on which the difference is measured, such as the training examples; None for the support examples
        task : (n,), the tasks of X, if kernels are `multi_task`

        Returns
        -------
        A model of the same class, whose `compression_` has "operations" for a prediction, before and after, "support",
        the numbers of support examples, "error", the greatest difference on X as a share of the range, "bound", an
        upper bound of the part that kernels and support examples left out have in it, for any x whose k(x, x) is at
        most the greatest on X, and "words". If nothing is gained, the copy predicts like the model, and "words" say
        why. Of a model that cross-validation chose, it is the plain model.

        Examples
        --------
        >>> import numpy as np
        >>> from manykernels import MKLRegressor
        >>> from manykernels.kernels import RBF
        >>> X = np.random.default_rng(0).uniform(-1, 1, size=(500, 2))
        >>> model = MKLRegressor([RBF(gamma=g) for g in (0.1, 0.3, 1.0)], C=1.0).fit(X, np.sin(3 * X[:, 0]) * X[:, 1])
        >>> small = model.compress(1e-3, X)
        >>> len(model.support_) > 5 * len(small.support_), small.compression_["error"] <= 1e-3
        (True, True)
        >>> bool(np.abs(small.predict(X) - model.predict(X)).max() <= 1e-3 * np.ptp(model.predict(X)))
        True
        """
        check_is_fitted(self)
        with blas_for(len(self.support_), self.n_jobs):
            return compressed(self, tol, X, task)

    def report(self, X: Any, y: Any = None, path: str | PathLike[str] | None = None, **options: Any) -> Report:
        """Write a report on this fitted model, measured on X and y: one HTML file that loads nothing from elsewhere.

        It shows the fit, the scores on held-out examples, the relevance and stability of the sources, the parts of
        single decisions, the data and the settings. A JSON file beside it has the numbers.

        Parameters
        ----------
        X, y : as in fit
        path : the file to write; None to only return the report
        options : `cv`, `relevance`, `stability`, `examples` and others, of `manykernels.report.make_report`

        Returns
        -------
        Report
            With its `facts`, `html()`, `json()` and `write(path)`.

        Examples
        --------
        >>> from sklearn.datasets import load_wine
        >>> from manykernels import MKLClassifier
        >>> from manykernels.kernels import RBF
        >>> X, y = load_wine(return_X_y=True)
        >>> model = MKLClassifier([("acids", RBF("median"), [1, 2]), ("colour", RBF("median"), [9, 10])]).fit(X, y)
        >>> report = model.report(X, y, cv=3, relevance="fast", stability=0)
        >>> report.facts["score"]["measure"], len(report.facts["score"]["folds"])
        ('accuracy', 3)
        """
        return OFFERS["report"]()(self, X, y, path, **options)
