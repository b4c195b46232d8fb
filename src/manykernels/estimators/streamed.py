"""Fits and predictions on sources that are read block by block."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_regressor

from .. import regularizers
from .._callers import warn
from .._limits import MemoryBudget
from .._validation import parse_bytes
from ..banks.base import Source
from ..banks.choice import worth_features
from ..kernels import Kernel, KernelList, KernelSpec
from ..kernels.annotated import obs_columns, opened_column
from ..kernels.frames import check_entries, is_frame, len_
from ..kernels.metric import MetricKernel
from ..kernels.rows import check_beside, check_rows
from ..kernels.spec import as_spec
from ..regularizers import Regularizer
from ..solution import Solution
from ..solvers import Monitor, get
from ..streaming import as_source, is_source
from ..streaming.driver import ActiveKernels, Driver, DriverOptions, Streamed
from ..streaming.shards import blocks_of, concatenate, filled_blocks, take
from ..streaming.sources import naming
from ..streaming.stream import Stream, normalisation, stand_in
from .advice import gathered
from .check_inputs import check_target_order, checked_targets, optional
from .choose_c import is_auto, with_chosen_C
from .plan import Examples, FitPlan, Solved

BYTES_PER_ENTRY = 24  # of the matrix of active examples, with its copies and factors
BYTES_PER_LETTER, BYTES_PER_KERNEL, BYTES_PER_FEATURE = 24, 16, 40  # of an active example, roughly


class FitsSources:
    """Adds `fit`, in memory or on a source, to a classifier or a regressor."""

    def fit(
        self: Any,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        task: ArrayLike | None = None,
        *,
        covariates: Any = None,
    ) -> Any:
        """Learn from X and the targets y; `task` (n,) names the task of each example if kernels are `multi_task`.

        y is (n,), a class or a real number per example, or (n, T): of 0 and 1, any number of labels per example; or T
        real targets, which share the kernel weights and C, and should have one scale. X may be a source of
        `manykernels.streaming`; y is then an array or the name of a column of the source.

        `covariates` (n, q), a frame, a dict of columns or an array, are adjusted for and not penalised: the predictor
        is Σ_m f_m(x) + zᵀw + b. Columns that are not numbers are categories. Predictions need them too.
        """
        if is_source(X):
            return _fit_source(self, X, y, sample_weight, task, covariates)
        return self._fit(self._read(X, y, sample_weight, task, covariates))


def _fit_source(model, X, y, sample_weight, task, covariates):
    """Fits the model on a source, whose targets y are an array, a Dask collection or a name in the source."""
    source = as_source(X)
    named, name = isinstance(y, str), y
    if isinstance(model.kernels, str):
        stack = "X = KernelStack.from_files(paths), which reads matrices from files"
        raise ValueError(
            f"X={source!r} is read block by block, and kernels={model.kernels!r} is for data in memory: give "
            f"{stack if model.kernels == 'precomputed' else 'a list of kernels'}."
        )
    if y is None:
        raise ValueError(
            f"y=None has no targets of {source!r}: give an array, or the name of the targets in the source."
        )
    with Stream(source.with_target(y) if named else source, model.n_jobs) as stream:
        if not named:
            y = y.compute() if hasattr(y, "compute") else y  # Dask's
            check_rows(None, y=y, sample_weight=sample_weight, task=task)
        y = stream.y if named else np.asarray(y)
        if named and (lost := int(np.sum(y != y))):
            raise ValueError(f"{source!r}: y={name!r} has {lost} missing values: leave these examples out.")
        if len(y) != len(stream):
            raise ValueError(f"y has {len(y)} targets, and {source!r} has {len(stream)} examples.")
        return model.fit(stream, y, sample_weight, task, covariates=covariates)


def scored_targets(
    model: Any, X: Any, y: Any, sample_weight: Any, task: Any, covariates: Any
) -> tuple[Any, np.ndarray, Any]:
    """(X, y, covariates) of a score; the targets themselves where y is their name in a source, an AnnData or a MuData.

    Rows of all arguments are matched with those of X, see `check_beside`.
    """
    check_beside(None if is_source(X) else X, dict(task=task, covariates=covariates), y=y, sample_weight=sample_weight)
    if is_frame(y):
        check_entries("y", np.asarray(y))
    y = opened_column(X, y)
    if isinstance(y, str) and is_source(X):
        X, found = as_source(X).with_target(y), []
        for piece in X.pieces():
            with naming(X.where(piece)):
                found += [np.asarray(targets) for _, targets in blocks_of(X, piece)]
        y = np.concatenate(found)
    check_target_order(model, y)
    return X, checked_targets(y, numeric=is_regressor(model)), obs_columns(X, covariates)


@dataclass(frozen=True)
class StreamPlan(FitPlan):
    """The problems of one fit on a `Stream`, which is X of the examples.

    `max_active` is the number of active examples that memory_limit has room for.
    """

    max_active: int = 0

    @classmethod
    def of(cls, model: Any, examples: Examples, make_bank: Any = None) -> StreamPlan:
        """The plan of `model` for these examples, after one pass over them."""
        stream = examples.X
        if examples.covariates is not None:
            raise ValueError(f"X={stream!r} is read block by block, and covariates are for data in memory: load X.")
        _refuse(model, stream, examples.loss, regularizers.get(model.regularizer), examples.task)
        limit = parse_bytes(model.memory_limit)
        settings, budget = cls.settings(model, examples, stream.identity()), MemoryBudget(limit)
        stream.room = budget.share("blocks of a stream")
        Y = examples.Y.astype(np.int8) if np.isin(examples.Y, (-1, 1)).all() else examples.Y
        stream.arrange(Y, examples.c, examples.uneven_weight())
        with naming(stream.begin):  # the first examples lie there
            kernels = _resolve(model, stream, limit)
            scaled, far = normalisation(stream, kernels, stream.head, model._normalization(None))
        wanted = model.solver != "auto" and get(model.solver).explicit
        explicit = model.features != "never" and (
            model.features != "auto" or wanted or worth_features(kernels, stream.n)
        )
        if far and explicit:
            explicit = False
            warn(
                "kernels see columns far from the origin: all are compared pair by pair, which takes long for many "
                "examples; centre the columns first")  # fmt: skip
        features, room = model.features if explicit else "never", budget.share("bank of a stream")
        active = ActiveKernels(
            kernels, scaled, model.tol, explicit, features, None if limit is None else room, model.n_jobs
        )
        plan = cls(**settings, rows=None, bank=active, max_active=_max_active(limit, kernels, stream, explicit))
        if is_auto(model.C):
            plan = with_chosen_C(model, plan)
            stream.arrange(Y, plan.examples.c, examples.uneven_weight())
        return plan

    def part(self, model: Any, rows: np.ndarray) -> FitPlan:
        X = self.examples.X.fetch(rows)
        same = {of.name: getattr(self, of.name) for of in fields(FitPlan)}
        some = dict(examples=self.examples.take(rows, X), rows=rows, bank=self.bank.bank(X))
        return FitPlan(**same | some | dict(checkpoints=[None] * len(self.labels)))

    def solve_part(self, k: int, bank: Any = None, warm: Solution | None = None, callback: Any = None) -> Streamed:
        """The solution of problem number k on its active examples; streams have no warm start."""
        examples = self.examples
        options = DriverOptions(
            loss=examples.loss, regularizer=self.regularizer, intercept=examples.intercept, solver=self.solver,
            tol=self.tol, max_iter=self.max_iter, seed=self.seed, max_active=self.max_active,
        )  # fmt: skip
        outputs = slice(0, len(examples.Y)) if examples.joint else slice(k, k + 1)
        return Driver(examples.X, self.bank, options, outputs, callback or Monitor(), self.checkpoints[k]).run()

    def _begin(self) -> tuple[str, Any]:
        return f"{self.bank.kernels.M} kernels, {self.examples.X.n:,} examples", None

    def _together(self, found):
        """The solutions on one bank of all their support examples."""
        rows, first = np.unique(np.concatenate([one.rows for one in found]), return_index=True)
        X = found[0].X if len(found) == 1 else take(concatenate([one.X for one in found]), first)
        solutions = []
        for one in found:
            a = np.zeros((len(one.solution.a), len(rows)))
            a[:, np.searchsorted(rows, one.rows)] = one.solution.a
            solutions.append(replace(one.solution, a=a))
        return Solved(self.bank.bank(X), rows, solutions)

    def advise(self, model: Any) -> None:
        super().advise(model)
        model.predictor_.kernel_list.training_facts = None  # it describes a part of the examples


def _refuse(model, stream, loss, regularizer, task):
    """A ValueError for options that need all examples in memory."""
    where, calibrate = f"X={stream!r} is read block by block", optional(model, "calibrate")
    if calibrate is not None:
        raise ValueError(f"calibrate={calibrate!r} needs data in memory: give arrays, or calibrate=None.")
    if not loss.flat:
        raise ValueError(
            f"{where}, and with loss={loss.name!r} every example takes part in the predictor, so that all must be in "
            "memory: take 'hinge', 'squared_hinge' or 'epsilon_insensitive' (epsilon > 0), a class of your own with "
            "flat = True, or load X."
        )
    if type(regularizer).bind is not Regularizer.bind:
        raise ValueError(f"{where}, and regularizer={regularizer!r} looks at all kernel values at once: load X.")
    for name, value, plain in (
        ("task", task, None), ("slack", model.slack, False), ("warm_start", model.warm_start, False),
        ("approximation", model.approximation, None), ("psd", model.psd, "warn"),
    ):  # fmt: skip
        if value is not plain and value != plain:
            raise ValueError(f"{where}, and {name} is for data in memory: leave it at {plain}, or load X.")
    if model.device not in ("cpu", "auto"):
        raise ValueError(f"{where}, and device={model.device!r} is for data in memory: take device='cpu', or load X.")


def _resolve(model, stream, limit):
    """The KernelList, with parameters that depend on means and variances of all examples."""
    if isinstance(model.kernels, Source):
        raise ValueError(f"kernels={model.kernels!r} make their own bank, for data in memory: load X.")
    several = isinstance(model.kernels, list | tuple) and not isinstance(model.kernels, KernelSpec)
    learns = set()
    for spec in model.kernels if several else [model.kernels]:
        spec = as_spec(spec)
        kernel = spec.kernel
        name = spec.name or repr(kernel)
        if isinstance(kernel, MetricKernel) and kernel.metric is not None:
            raise ValueError(
                f'kernel {name} has a metric, which is for data in memory: fit a sample with metric="learn", and '
                "multiply the columns of the source by the scales of its metric_."
            )
        what = kernel.learns() if isinstance(kernel, Kernel) else ""
        if spec.transformer is not None or what == "data" or isinstance(kernel, Kernel) and kernel.split() is not None:
            raise ValueError(
                f"kernel {name} is fitted on all examples, which are not in memory: give a number instead of "
                'gamma="median", and transform the columns before. If resolve of your own kernel uses no examples, '
                'let its learns(self) return "".'
            )
        if spec.task is not None or isinstance(kernel, Kernel) and kernel.base == "same" and not kernel.constant:
            raise ValueError(
                f"kernel {name} compares the identity of examples, and is for data in memory: leave it out."
            )
        learns.add(what)
    head = stand_in(stream.head, *stream.columns()) if "moments" in learns else stream.head
    return KernelList.from_spec(model.kernels, head, limit)


def _max_active(limit, kernels, stream, explicit):
    """The number of active examples whose features, or whose matrix, fit in their share of memory_limit."""
    if limit is None:
        return stream.n
    if not explicit:
        return max(2, int(np.sqrt(MemoryBudget(limit).share("active examples") / BYTES_PER_ENTRY)))
    views, width = kernels.views(take(stream.head, np.arange(2) % len_(stream.head))), 0
    for view, kernel in zip(kernels.view_of, kernels.kernels, strict=True):
        x = views[view].X
        if kernel.family == "features":
            width += BYTES_PER_FEATURE * kernel.features(x).shape[1]
        else:
            width = max(width, BYTES_PER_LETTER * int(x.lengths.max()))
    return max(2, MemoryBudget(limit).share("active examples") // (width + BYTES_PER_KERNEL * kernels.M))


def decide(model: Any, X: Any, covariates: Any, function: Any) -> np.ndarray:
    """function(block) of all blocks of a source, concatenated; a ValueError if there are covariates."""
    if covariates is not None:
        raise ValueError(f"X={X!r} is read block by block, and covariates are for data in memory: load X.")
    found, names = [], optional(model, "feature_names_in_")
    source = as_source(X)
    with gathered():
        for piece in source.pieces():
            with naming(source.where(piece)):
                for block in filled_blocks(source, piece):
                    if names is not None and is_frame(block) and set(names) <= set(block.columns):
                        block = block[list(names)]
                    found.append(function(block))
    return np.concatenate(found)
