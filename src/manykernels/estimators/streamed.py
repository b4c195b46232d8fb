"""Fits and predictions on sources that are read block by block."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import regularizers
from .._callers import caller_level
from .._memory import MemoryBudget
from .._validation import parse_bytes
from ..banks.base import Source
from ..banks.choice import choose_bank, worth_features
from ..kernels import Kernel, KernelList, KernelSpec
from ..kernels.base import len_
from ..kernels.frames import is_frame
from ..kernels.spec import as_spec
from ..regularizers import Regularizer
from ..solution import Solution
from ..solvers import Monitor, get, seed_of
from ..streaming import as_source, is_source
from ..streaming.driver import Driver
from ..streaming.examples import concatenate, take
from ..streaming.moments import normalisation
from ..streaming.shards import blocks_of
from ..streaming.sources.base import naming
from ..streaming.stream import Stream, stand_in
from ._new_data_warning import gathered, warn_lengths
from ._unit_warning import warn_units
from .checkpoint import parts_of
from .plan import Examples, Solved
from .progress import show_progress

BYTES_PER_ENTRY = 24  # of the matrix of active examples, with its copies and factors
BYTES_PER_LETTER, BYTES_PER_KERNEL, BYTES_PER_FEATURE = 24, 16, 40  # of an active example, roughly


def fit_source(model: Any, X: Any, y: Any, sample_weight: Any, task: Any) -> Any:
    """Fits the model on a source, whose targets y are an array, a Dask collection or a name in the source."""
    source = as_source(X)
    named, name = isinstance(y, str), y
    if isinstance(model.kernels, str):
        stack = "X = KernelStack.from_files(paths), which reads matrices from files"
        raise ValueError(
            f"X={source!r} is read block by block, and kernels={model.kernels!r} is for data in memory: give "
            f"{stack if model.kernels == 'precomputed' else 'a list of kernels'}."
        )
    with Stream(source.with_target(y) if named else source, model.n_jobs) as stream:
        y = stream.y if named else np.asarray(y.compute() if hasattr(y, "compute") else y)  # Dask's
        if named and (lost := int(np.sum(y != y))):
            raise ValueError(f"{source!r}: y={name!r} has {lost} missing values: leave these examples out.")
        if len(y) != len(stream):
            raise ValueError(f"y has {len(y)} targets, and {source!r} has {len(stream)} examples.")
        return model.fit(stream, y, sample_weight, task)


def read_targets(X: Any, y: Any) -> tuple[Any, Any]:
    """(X, y); the targets themselves where y is their name in a source X."""
    if not (isinstance(y, str) and is_source(X)):
        return X, y
    source, found = as_source(X).with_target(y), []
    for piece in source.pieces():
        with naming(source.where(piece)):
            found += [np.asarray(targets) for _, targets in blocks_of(source, piece)]
    return source, np.concatenate(found)


@dataclass(frozen=True)
class StreamPlan:
    """The plan of a fit on a `Stream`, with the methods of `FitPlan`.

    Attributes
    ----------
    examples : Examples
        X is the stream.
    kernels : KernelList
    scaled : Scaled
        The normalisation of the kernels over all examples.
    labels, checkpoints : lists
        The name and the `CheckpointSlot` of each problem.
    bank : dict
        Options of the bank of the active examples.
    driver : dict
        Options of the `Driver`.
    verbose : bool
    """

    examples: Examples
    kernels: Any
    scaled: Any
    labels: list[str]
    checkpoints: list[Any]
    bank: dict[str, Any]
    driver: dict[str, Any]
    verbose: bool = False

    @classmethod
    def of(cls, model: Any, examples: Examples) -> StreamPlan:
        """The plan of `model` for these examples, after one pass over them."""
        stream, regularizer = examples.X, regularizers.get(model.regularizer)
        _refuse(model, stream, examples.loss, regularizer, examples.task)
        seed, limit = seed_of(model.random_state), parse_bytes(model.memory_limit)
        labels = examples.labels(vars(model).get("classes_"))
        known_by = stream.identity(), examples.Y, examples.weight, None
        checkpoints = parts_of(model, len(labels), seed, *known_by)
        budget = MemoryBudget(limit)
        stream.room = budget.share("blocks of a stream")
        stream.arrange(_compact(examples.Y), examples.c, examples.uneven_weight())
        with naming(stream.begin):  # the first examples lie there
            kernels = _resolve(model, stream, limit)
            scaled, far = normalisation(stream, kernels, stream.head, model.normalize)
        wanted = model.solver != "auto" and get(model.solver).explicit
        explicit = model.features != "never" and (
            model.features != "auto" or wanted or worth_features(kernels, stream.n)
        )
        if far and explicit:
            explicit = False
            warnings.warn(
                "kernels see columns far from the origin: all are compared pair by pair, which takes long for many "
                "examples; centre the columns first", UserWarning, stacklevel=caller_level(),
            )  # fmt: skip
        bank = dict(
            features=model.features if explicit else "never", wanted=explicit,
            memory_limit=None if limit is None else budget.share("bank of a stream"), n_jobs=model.n_jobs,
        )  # fmt: skip
        driver = dict(
            loss=examples.loss, regularizer=regularizer, intercept=examples.intercept, tol=model.tol,
            max_iter=model.max_iter, solver=model.solver, seed=seed, bank=bank, explicit=explicit,
            most=_max_active(limit, kernels, stream, explicit),
        )  # fmt: skip
        return cls(examples, kernels, scaled, labels, checkpoints, bank, driver, model.verbose)

    def solve(self, warm: Sequence[Solution] = ()) -> Solved:
        """Solves the problems one after another; `warm` is empty, since streams have no warm start."""
        stream, joint, found = self.examples.X, self.examples.joint, []
        for k, (label, kept) in enumerate(zip(self.labels, self.checkpoints, strict=True)):
            title = f"{self.kernels.M} kernels, {stream.n:,} examples{label}"
            outputs = slice(0, len(stream.Y)) if joint else slice(k, k + 1)
            with show_progress(title, self.driver["tol"]) if self.verbose else nullcontext(Monitor()) as monitor:
                own = dict(outputs=outputs, monitor=monitor, kept=kept)
                driver = Driver(stream, self.kernels, self.scaled, **own, **self.driver)
                found.append(driver.run())
        return self._together(found)

    def _together(self, found):
        """The solutions on one bank of all their support examples."""
        rows, first = np.unique(np.concatenate([one.rows for one in found]), return_index=True)
        X = found[0].X if len(found) == 1 else take(concatenate([one.X for one in found]), first)
        solutions = []
        for one in found:
            a = np.zeros((len(one.solution.a), len(rows)))
            a[:, np.searchsorted(rows, one.rows)] = one.solution.a
            solutions.append(replace(one.solution, a=a))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            bank = choose_bank(self.kernels, X, tol=self.driver["tol"], normalize=self.scaled, **self.bank)
        return Solved(bank, rows, solutions)

    def support_weight(self) -> None:
        """None: empirical Bayes needs all examples in memory."""

    def advise(self, model: Any) -> None:
        """Warns of parameters of the fitted model that are probably unintended."""
        examples = self.examples
        warn_units(examples.loss, examples.Y, examples.c, examples.C)
        warn_lengths(model)
        model.predictor_.kernel_list.training_facts = None  # it describes a part of the examples


def _refuse(model, stream, loss, regularizer, task):
    """A ValueError for options that need all examples in memory."""
    where = f"X={stream!r} is read block by block"
    if not loss.flat:
        raise ValueError(
            f"{where}, and with loss={loss.name!r} every example takes part in the predictor, so that all must be in "
            "memory: take 'hinge', 'squared_hinge' or 'epsilon_insensitive' (epsilon > 0), or load X."
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
        what = kernel.learns() if isinstance(kernel, Kernel) else ""
        if spec.transformer is not None or what == "data" or isinstance(kernel, Kernel) and kernel.split() is not None:
            raise ValueError(
                f"kernel {name} is fitted on all examples, which are not in memory: give a number instead of "
                'gamma="median", and transform the columns before.'
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


def _compact(Y):
    """±1 as int8, other targets as they are."""
    return Y.astype(np.int8) if np.isin(Y, (-1, 1)).all() else Y


def decide(model: Any, X: Any, function: Any) -> np.ndarray:
    """function(block) of all blocks of a source, concatenated."""
    found, names = [], vars(model).get("feature_names_in_")
    source = as_source(X)
    with gathered():
        for piece in source.pieces():
            with naming(source.where(piece)):
                for block, _ in blocks_of(source, piece):
                    if names is not None and is_frame(block) and set(names) <= set(block.columns):
                        block = block[list(names)]
                    found.append(function(block))
    return np.concatenate(found)
