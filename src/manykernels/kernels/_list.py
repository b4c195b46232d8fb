"""Kernel specifications `(name, kernel, columns, missing)` made concrete on one data set, and the views they see."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from copy import copy
from numbers import Integral
from typing import Any

import numpy as np

from .._state import check, check_array, check_index, check_integer, check_is, check_list, check_plain
from ..sequences.alphabet import check_encoding
from ._base import READS, Kernel
from ._views import Source, View, checked_view, is_numeric, object_view, string_view
from ._wrap import as_kernel
from .spec import KernelSpec, as_spec
from .tasks import SAME, numbers, split, spread

NONE = np.empty(0, int)  # the columns of kernels that see no data


class KernelList:
    """Resolved kernels `kernels` called `names`; kernel m sees view number `view_of[m]`, cut out by `columns[m]`.

    `task_of[m]` is ALL, SAME or the number in `tasks` of the one task it is for; `tasks` is None without task kernels.
    """

    task_of: Any
    tasks: Any
    _encodings: Any
    _keys: list[tuple[Any, Any, Any]]
    task_of, tasks, _encodings = (), None, ()

    @classmethod
    def from_spec(
        cls, kernels: Any, X: Any, memory_limit: float | None = None, weights: np.ndarray | None = None
    ) -> KernelList:
        """Reads what a user may give as `kernels`: a list of specifications, one kernel, or "auto".

        Parameters that come from the data are those of examples of these weights (n,); None for all equal.
        """
        if isinstance(kernels, KernelList):
            return kernels
        if isinstance(kernels, str) and kernels == "auto":
            from .grids import auto_kernels

            kernels = auto_kernels(split(X)[0], memory_limit, weights)
        if isinstance(kernels, dict):
            raise ValueError("kernels is a dict: give a list [(name, kernel), ...], list(kernels.items()).")
        if isinstance(kernels, Kernel | str | KernelSpec) or not hasattr(kernels, "__iter__"):
            kernels = [kernels]
        specs = [as_spec(k) for k in kernels]
        if not specs:
            raise ValueError("kernels=[] has no kernel; give at least one, such as RBF(gamma=0.1).")
        return cls(specs, X, weights)

    def __init__(self, specs: list[KernelSpec], X: Any, weights: np.ndarray | None = None) -> None:
        specs, self.task_of, self.tasks = spread(specs, split(X)[1])
        wrapped = [as_kernel(spec.kernel) for spec in specs]
        source = Source(split(X)[0], objects=_object_views(wrapped, specs))
        self.n_features = source.n_features
        self._keys, self.view_of, self.columns = [], np.empty(len(specs), int), []
        self._encodings = []  # of each view: (alphabet, unknown) where string kernels see it
        numbers, labels = {}, []
        for m, spec in enumerate(specs):
            blind = wrapped[m].base == "same" and spec.columns is None and spec.missing != "zero"  # sees no data
            view, columns, label = (next(iter(source.X)), None, "all") if blind else source.resolve(spec.columns)
            encoding, objects = wrapped[m].encoding, wrapped[m].reads == "objects"
            identity = blind or (view, None if columns is None else columns.tobytes(), encoding, objects)
            if identity not in numbers:
                numbers[identity] = len(self._keys)
                self._keys.append((view, NONE, []) if blind else (view, columns, source.names(view, columns)))
                self._encodings.append(encoding)
            self.view_of[m] = numbers[identity]
            self.columns.append(columns)
            labels.append(label)
        self._zero = np.ones(len(self._keys), bool)  # views whose missing rows give zero kernel rows
        self._reads = ["nothing"] * len(self._keys)  # of each view: what its kernels read
        for v, kernel, spec in zip(self.view_of, wrapped, specs, strict=True):
            if spec.missing not in ("error", "zero"):
                raise ValueError(f'missing={spec.missing!r} of {spec.name or kernel} must be "error" or "zero".')
            self._zero[v] &= spec.missing == "zero"
            self._reads[v] = min(self._reads[v], kernel.reads, key=READS.index)
        looks = [type(kernel).resolve is not Kernel.resolve for kernel in wrapped]  # what no kernel sees is not cut
        views = self.views(X, np.unique(self.view_of[looks]))
        parts = zip(self.view_of, wrapped, looks, strict=True)
        self.kernels = [_resolved(kernel, views[v], weights) if look else kernel for v, kernel, look in parts]
        self.names = _names(specs, self.kernels, labels)

    @property
    def M(self) -> int:
        return len(self.kernels)

    @property
    def n_views(self) -> int:
        return len(self._keys)

    @property
    def encodings(self) -> Sequence[tuple | None]:
        """(alphabet, unknown) of each view, None where it holds numbers."""
        return self._encodings

    @property
    def widths(self) -> list[int | None]:
        """How many columns each view has, None where it holds strings."""
        return [
            None if encoding is not None else len(columns) if columns is not None
            else self.n_features[name] if isinstance(self.n_features, dict) else self.n_features
            for (name, columns, _), encoding in zip(self._keys, self._encodings, strict=True)
        ]  # fmt: skip

    def seen(self, m: int) -> str | None:
        """What to call what kernel m sees: its view, or of one table its columns; None where it looks at nothing."""
        view, columns, names = self._keys[self.view_of[m]]
        if columns is not None and not len(columns):
            return None
        if view is not None:
            return str(view)
        if columns is None:
            return "all columns"
        labels = [str(label) for label in (columns.tolist() if names is None else names)]
        if names is None and len(labels) > 3 and (np.diff(columns) == 1).all():
            return f"columns {labels[0]} to {labels[-1]}"
        some = ", ".join(labels if len(labels) <= 4 else [*labels[:3], f"… {len(labels)} in all"])
        return f"column{'s'[: len(labels) > 1]} {some}"

    def check_state(self) -> None:
        """A ValueError where a file has restored what banks cannot work with; see `_state`."""
        M, V = len(check_is("kernels", self.kernels, list)), len(check_is("_keys", self._keys, list))
        check(M > 0 and V > 0, "there are no kernels")
        check_list("kernels", self.kernels, Kernel, M)
        check_list("names", self.names, str, M)
        check_index("view_of", self.view_of, V, M)
        check_list("columns", self.columns, (np.ndarray, type(None)), M)
        check_list("_encodings", self._encodings, (tuple, type(None)), V)
        check_array("_zero", self._zero, bool, V)
        check_list("_reads", self._reads, str, V)
        check_list("_keys", self._keys, tuple, V)
        sizes = self.n_features if isinstance(self.n_features, dict) else {None: self.n_features}
        for name, size in sizes.items():
            check_plain("the name of a view", name)
            check_integer("n_features", size, 1, 2**48)
        for (name, columns, names), encoding, reads in zip(self._keys, self._encodings, self._reads, strict=True):
            check(reads in READS and reads != "objects", f"a view is for {reads!r}")
            check((encoding is not None) == (reads == "sequences"), "a view is not for its kernels")
            check(name in sizes, f"there is no view {name!r}")
            if columns is not None:
                check_index("columns", columns, sizes[name])
            if names is not None:
                check_list("names of columns", names, object, len(columns))
                check_plain("names of columns", names)
            if encoding is not None:
                check_encoding(encoding)
        for kernel, view, columns in zip(self.kernels, self.view_of, self.columns, strict=True):
            able = ("numeric", "anything", "nothing") if kernel.reads in ("anything", "nothing") else (kernel.reads,)
            check(self._reads[view] in able, "a kernel sees a view that is not for it")
            if columns is not None:
                check_index("columns", columns, sizes[self._keys[view][0]])
        self._check_tasks(M)

    def _check_tasks(self, M):
        n_tasks = 0
        if self.tasks is not None:
            check(type(self.tasks) is np.ndarray and self.tasks.ndim == 1, "tasks is not a list of tasks")
            check_plain("tasks", self.tasks.tolist())
            n_tasks = len(self.tasks)
        check_list("task_of", self.task_of, Integral, M)
        for task in self.task_of:
            check_integer("task_of", task, SAME, n_tasks - 1)

    def __len__(self):
        return len(self.kernels)

    def part(self, which: Sequence[int] | np.ndarray) -> KernelList:
        """The list of these kernels alone, resolved as they are."""
        part, seen = copy(self), np.unique(self.view_of[which])
        part.kernels, part.names = [self.kernels[m] for m in which], [self.names[m] for m in which]
        part.columns, part.view_of = [self.columns[m] for m in which], np.searchsorted(seen, self.view_of[which])
        part.task_of = [self.task_of[m] for m in which] if len(self.task_of) else self.task_of
        part._keys, part._encodings = [self._keys[v] for v in seen], [self._encodings[v] for v in seen]
        part._zero, part._reads = self._zero[seen], [self._reads[v] for v in seen]
        return part

    def views(self, X: Any, which: Iterable[int] | None = None) -> list[Any]:
        """The distinct views of X, checked: a list of View, None for those whose number is not in `which`."""
        X, task = split(X)
        objects = [key[0] for key, reads in zip(self._keys, self._reads, strict=True) if reads == "objects"]
        source = Source(X, self.n_features, objects)
        if source.n_features != self.n_features:
            raise ValueError(
                f"X has {source.n_features} features, but the kernels were specified on {self.n_features}; "
                "give X with the columns it was fitted with."
            )
        code = numbers(self.tasks, task)
        views = [None] * len(self._keys)
        for v in range(len(views)) if which is None else which:
            view = self._view(v, source)
            views[v] = view if code is None else view._replace(task=code)
        return views

    def _view(self, v, source):
        """View number v; its X is None where it has strings or objects and no example has them."""
        key, zero, encoding = self._keys[v], self._zero[v], self._encodings[v]
        if key[1] is not None and not len(key[1]):
            return View(np.zeros((source.n, 1)), None)  # for kernels that see no data
        if key[0] in source.X and source.X[key[0]] is None:
            if not zero:
                raise ValueError(
                    f"X[{key[0]!r}] is None, but kernels need it: give it, or fit them with missing, "
                    f'(name, kernel, {key[0]!r}, "zero"), to predict without.'
                )
            width = source.n_features[key[0]] if key[1] is None else len(key[1])
            plain = self._reads[v] == "numeric"
            return View(np.zeros((source.n, width)) if plain else None, np.zeros(source.n, bool))
        if encoding is not None:
            return string_view(source.column(*key), encoding, zero)
        x = source.cut(*key)
        if self._reads[v] == "objects":
            return object_view(x, zero)
        if self._reads[v] in ("anything", "nothing") and not is_numeric(x):
            return View(x, None)
        return checked_view(x, zero, source.finite, lambda: source.labels(*key))


def _object_views(kernels, specs):
    """The names of the views that kernels of objects see as a whole, None for X itself; or a ValueError."""
    for kernel in kernels:
        if kernel.reads not in READS:
            raise ValueError(f"reads={kernel.reads!r} of {type(kernel).__name__} must be one of {', '.join(READS)}.")
    pairs = zip(kernels, (spec.columns for spec in specs), strict=True)
    return [c for kernel, c in pairs if kernel.reads == "objects" and (c is None or isinstance(c, str))]


def _resolved(kernel, view, weights):
    """The kernel with what depends on the examples filled in, from those that have the view, by weight."""
    X = view.X
    if X is None:
        raise ValueError(f"X has no example at all in the view of {kernel!r}: leave the kernel out.")
    if view.present is not None and view.present.any() and kernel.reads != "sequences":
        X, weights = X[view.present], None if weights is None else weights[view.present]
    return kernel.resolve(X) if weights is None else kernel.resolve(X, weights)


def _names(specs, kernels, labels):
    ends = ["" if spec.task is None else spec.task.suffix for spec in specs]
    given = [spec.name + end for spec, end in zip(specs, ends, strict=True) if spec.name is not None]
    twice = sorted({name for name in given if given.count(name) > 1}) if len(set(given)) < len(given) else []
    if twice:
        raise ValueError(f"Kernel names must differ, but {twice} occur more than once.")
    taken, count, names = set(given), {}, []
    for spec, kernel, label, end in zip(specs, kernels, labels, ends, strict=True):
        name = None if spec.name is None else spec.name + end
        if name is None:
            stem = name = f"{describe(kernel)}[{label}]{end}"
            while name in taken:
                count[stem] = count.get(stem, 1) + 1
                name = f"{stem} #{count[stem]}"
            taken.add(name)
        names.append(name)
    return names


def describe(kernel):
    """A short name such as rbf(gamma=0.1)."""
    if not isinstance(kernel, Kernel):
        return f"{kernel:.6g}" if isinstance(kernel, float) else getattr(kernel, "__name__", str(kernel))
    params = kernel.get_params(deep=False)
    if kernel.reads == "sequences" and "alphabet" in params:  # what is as usual goes without saying
        params["alphabet"] = getattr(params["alphabet"], "name", params["alphabet"])
        params = {k: v for k, v in params.items() if v not in (None, "dna", "error")}
    text = ", ".join(f"{key}={describe(value)}" for key, value in params.items())
    return type(kernel).__name__.lower() + (f"({text})" if text else "")
