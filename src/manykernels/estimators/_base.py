"""What the three estimators share: data → bank → problem → solution → predictions."""

from __future__ import annotations

import os
import sys
import warnings
from contextlib import nullcontext, suppress
from numbers import Integral
from os import PathLike
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import check_is_fitted, validate_data

from .._validation import check_choice, check_integer, check_number, parse_bytes
from ..kernels._frames import check_names, completed, is_frame
from ..kernels._low_rank import APPROXIMATIONS
from ..kernels._views import is_views
from ..kernels.normalize import CHOICES as NORMALIZATIONS
from ..kernels.views import Views
from ..streaming import is_source
from ..streaming.stream import Stream
from ._diagonal import warn_diagonal
from ._html import WeightBars
from ._params import NamedParts
from ._posed import Posed
from ._report import HasReport
from ._slack import with_slack
from ._streamed import decide, learn
from .checkpoint import parts_of
from .inputs import check_kernel_order, check_stack, check_table, check_views
from .progress import show_progress
from .tasks import check_task, with_task
from .tensors import card_for, to_host

OPTIONAL = (  # not of every model
    "tasks_", "log_marginal_likelihood_", "stationarity_", "noise_", "support_weight_", "kernels_chosen_",
)  # fmt: skip


class MKLBase(WeightBars, NamedParts, HasReport, BaseEstimator):
    """min over f_m, b, θ ≥ 0:  Σ_i c_i V(y_i, Σ_m f_m(x_i) + b) + ½ Σ_m ‖f_m‖² / θ_m + Ω(θ)."""

    device = "cpu"  # of those that have no such parameter
    approximation: str | None
    rank: int

    def _is_precomputed(self):
        return isinstance(self.kernels, str) and self.kernels == "precomputed"

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        precomputed = self._is_precomputed()
        tags.input_tags.pairwise = precomputed
        tags.input_tags.three_d_array = precomputed
        reads = _reads(self.kernels)
        tags.input_tags.string = "sequences" in reads
        tags.input_tags.two_d_array = tags.input_tags.sparse = not (precomputed or reads & {"sequences", "objects"})
        return tags

    def _check_params(self):
        from ..banks.choice import FEATURES

        check_choice("normalize", self.normalize, NORMALIZATIONS)
        check_choice("features", self.features, FEATURES)
        if self._is_precomputed() and self.features not in ("auto", "never"):
            raise ValueError(f'features={self.features!r} has no effect with kernels="precomputed": take "auto".')
        check_choice("approximation", self.approximation, APPROXIMATIONS)
        check_integer("rank", self.rank)
        if self.approximation is not None:
            self._check_approximation()
        check_number("tol", self.tol)
        check_integer("max_iter", self.max_iter)
        if not isinstance(getattr(self, "slack", False), bool | np.bool_):
            raise ValueError(f"slack={self.slack!r} is not allowed: give True or False.")
        if self.n_jobs is not None and not (isinstance(self.n_jobs, Integral) and self.n_jobs):
            raise ValueError(f"n_jobs={self.n_jobs!r} is not allowed: give None, a positive integer or -1.")
        if self.checkpoint is not None and not (self.checkpoint and isinstance(self.checkpoint, str | os.PathLike)):
            raise ValueError(f"checkpoint={self.checkpoint!r} is not allowed: give None or the path of a file.")

    def _check_approximation(self):
        from ..banks._base import Source

        what = f"approximation={self.approximation!r}"
        if self._is_precomputed() or isinstance(self.kernels, Source):
            raise ValueError(f"{what} has no effect on matrices or on kernels with a bank of their own: take None.")
        if self.device not in ("cpu", "auto"):
            raise ValueError(f"{what} is for the processor, but device={self.device!r}: take device='cpu'.")

    def _check_X(self, X, *, reset):
        """X as kernels take it; records (or, with reset=False, compares) the number and names of the features."""
        from ..banks._base import Source

        X, card = to_host(X)
        if reset and card is not None:
            self._card = card  # until there is a bank
        if is_source(X):
            raise ValueError(f"X={X!r} is read block by block, which {type(self).__name__} cannot do here: load it.")
        if isinstance(X, Stream):
            self._check_X(X.head, reset=reset)
        elif self._is_precomputed():
            X = check_stack(X, reset, None if reset else self._predictor.trained)
            self._check_width(X.shape[1], "columns (training examples)", reset)
            if not reset:
                check_kernel_order(X, self.kernel_names_)
        elif is_views(X) or (not reset and self._views() is not None):
            X = check_views(X, None if reset else self._views(), reset, None if reset else self._needs())
            self._check_width(X.shape[1] if isinstance(X, Views) else len(X), "views", reset)
        elif _is_pairs(X):
            if not isinstance(self.kernels, Source):
                raise ValueError(f"X holds pairs of objects, but kernels={self.kernels!r}: give kernels=Pairwise(...).")
            self._check_width(2, "objects an example", reset)
        elif is_frame(X):
            check_names(X)
            X = validate_data(self, X if reset else self._without_unread(X), reset=reset, skip_check_array=True)
        elif _holds_objects(X, _reads(self.kernels)) or _is_mixed(X) and _reads(self.kernels, parts=True) - {"numeric"}:
            self._check_width(X.shape[1] if len(getattr(X, "shape", ())) == 2 else 1, "features", reset)
        else:
            finite = isinstance(
                self.kernels, str
            )  # else what a kernel sees is looked at, and it may have missing="zero"
            finite = "allow-nan" if isinstance(self.kernels, Source) else finite
            options = dict(accept_sparse="csr", dtype=(np.float64, np.float32), ensure_all_finite=finite)
            X = check_table(self, X, reset, options)
        if reset and _n_examples(X) < 2:
            raise ValueError(f"X has n_samples={_n_examples(X)}: at least two examples are needed.")
        return X

    def _views(self):
        """The names of the views that the model was fitted on, None where X was one array."""
        kernels = self._predictor.kernel_list
        return list(kernels.n_features) if kernels is not None and isinstance(kernels.n_features, dict) else None

    def _needs(self):
        """{view: columns or None for all} that prediction reads, see `KernelList.needs`; None where that is all."""
        theta, predictor = vars(self).get("kernel_weights_"), self._predictor
        if theta is None or not predictor.skips:  # what is not fitted yet reads all
            return None
        return predictor.kernel_list.needs((np.atleast_2d(theta) * predictor.scale != 0).any(axis=0))

    def _without_unread(self, frame):
        """New data with empty columns in the place of those that are missing and that no kernel with weight sees."""
        names, needs = getattr(self, "feature_names_in_", ()), self._needs()
        lost = set(names) - set(frame.columns)
        seen = None if needs is None else needs.get(None, set())
        return frame if not lost or seen is None or lost & seen else completed(frame, list(names))

    def _check_width(self, width, what, reset):
        if reset:
            self.n_features_in_ = width
            vars(self).pop("feature_names_in_", None)
        elif width != self.n_features_in_:
            cure = (
                ": give the kernel values with those examples, stack[np.ix_(new, train)]; a model from a file does not "
                "know which rows of a stack they were."
            )
            raise ValueError(
                f"X has {width} {what}, but {type(self).__name__} is expecting {self.n_features_in_} as in fit"
                + (cure if self._is_precomputed() else ".")
            )

    def _new_X(self, X, task=None):
        """New data X, of tasks `task`, as the fitted model takes them."""
        X = self._check_X(X, reset=False)
        known = getattr(self, "tasks_", None)
        if task is None and known is None:
            return X
        return with_task(X, check_task(task, _n_examples(X), known, self._predictor))

    def _make_bank(self, X, weight, exact=False):
        """The bank of the kernels on X (n examples), normalised with the sample weights; None = all equal."""
        from ..banks._base import Source
        from ..banks.choice import choose_bank, stack_bank

        limit = parse_bytes(self.memory_limit)
        options = dict(weights=weight, normalize=self.normalize, memory_limit=limit, n_jobs=self.n_jobs)
        if self._is_precomputed():
            return stack_bank(X, self._place(), **options)
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
        from ..solvers import seed_of

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
                kept = posed.kept[k]
                solutions.append(solve(problem, warm=warm, random_state=posed.seed, checkpoint=kept, **options))
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
        self._warn_of_kernels(bank, stacklevel=6)
        return self

    def _warn_of_kernels(self, bank, stacklevel):
        warn_diagonal(self, bank, stacklevel)

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
        X = self._new_X(X, task)
        return _finite(self._predictor.decision(X, self.dual_coef_, self.kernel_weights_).T + self.intercept_)

    def decision_parts(self, X: Any, task: ArrayLike | None = None) -> np.ndarray:
        """θ_m Σ_i a_i k_m(x_i, x): the exact share of each kernel in the decision, the intercept apart.

        Shape (n, M), or (n, T, M) with T outputs: more than two classes, several labels or targets; the sum over the
        last axis plus `intercept_` is the decision.
        """
        check_is_fitted(self)
        if is_source(X):
            return decide(self, X, lambda block: self.decision_parts(block, task))
        X = self._new_X(X, task)
        parts = np.moveaxis(_finite(self._predictor.parts(X, self.dual_coef_, self.kernel_weights_)), 0, 1)
        return parts[:, 0] if parts.shape[1] == 1 else parts

    def combined_kernel(
        self, X: Any, Y: Any = None, task: ArrayLike | None = None, task_Y: ArrayLike | None = None
    ) -> np.ndarray:
        """Σ_m θ_m k_m(X, Y) of the normalised kernels, (n_X, n_Y), for SVC, KernelPCA, SpectralClustering and others.

        One-vs-rest models take the mean of the weights over the classes. With kernels="precomputed" X is the
        (n, n_train, M) stack itself and Y is not allowed. `task` and `task_Y` are the tasks of X and Y.
        """
        check_is_fitted(self)
        X = self._new_X(X, task)
        theta = np.mean(np.atleast_2d(self.kernel_weights_), axis=0)
        if Y is None:
            return _finite(self._predictor.gram(X, theta=theta))
        if self._is_precomputed():
            raise ValueError('Y is not allowed with kernels="precomputed": X already holds the kernel values.')
        return _finite(self._predictor.gram(X, self._new_X(Y, task_Y), theta=theta))

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


def _is_mixed(X):
    """Whether X is an array (n, d) of objects or texts."""
    return isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "OUS"


def _reads(kernels, parts=False):
    """What the kernels that are given for X as a whole, or for `parts` of it too, read, a set; see `kernels._base`."""
    from ..kernels import Kernel, KernelSpec
    from ..kernels._pipes import reads_of
    from ..kernels.spec import as_spec

    several = isinstance(kernels, list | tuple) and not isinstance(kernels, KernelSpec)
    found = set()
    for spec in kernels if several else [kernels]:
        with suppress(ValueError):  # what is no kernel is refused where it is read
            spec = as_spec(spec)
            if (parts or spec.columns is None) and isinstance(spec.kernel, Kernel):
                found.add(spec.kernel.reads if spec.transformer is None else reads_of(spec.transformer))
    return found


def _holds_objects(X, reads):
    """Whether X holds strings, graphs and the like, for kernels that read them or for functions given by the user."""
    if hasattr(X, "alphabet") or "sequences" in reads:
        return True
    if "objects" in reads and (isinstance(X, list | tuple) or str(getattr(X, "dtype", "")) == "object"):
        return True
    if hasattr(X, "to_numpy"):  # a column of a frame
        X = X.to_numpy()
    if isinstance(X, np.ndarray):
        return X.ndim == 1 and X.dtype.kind in "OUS"
    if not isinstance(X, (list, tuple)) or len(X) == 0:
        return False
    try:
        return np.asarray(X[0]).dtype.kind not in "biufc"
    except ValueError:  # ragged
        return True


def _is_pairs(X):
    from ..kernels.pairs import Pairs

    return isinstance(X, Pairs)


def _n_examples(X):
    from ..kernels._views import n_examples

    return n_examples(X)


def _take(X, rows):
    table = isinstance(X, Views) or not is_views(X)
    return _safe_indexing(X, rows) if table else {k: _safe_indexing(v, rows) for k, v in X.items()}
