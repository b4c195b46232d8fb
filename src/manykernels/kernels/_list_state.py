"""A list of kernels in a file."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Self

import numpy as np

from .._state import check, check_index, check_integer, check_is, check_list, check_plain
from ..sequences.alphabet import check_encoding
from ._base import READS, Kernel
from .tasks import SAME

NAMES = ("kernels", "names", "columns", "view_of", "n_features", "tasks", "task_of")  # under these in files


class ListState:
    """to_state and from_state of a `KernelList`, and the checks of what a file has restored."""

    kernels: list[Kernel]
    names: list[str]
    view_of: np.ndarray
    n_features: Any
    columns: list[Any]
    task_of: Any
    tasks: Any
    _encodings: Any
    _keys: list[tuple[Any, Any, Any]]
    _pipes: list[Any]  # of each view: the transformer before its kernels, or None
    _joins: list[Any]  # of each view: the KernelList of the kernels that are multiplied or added across views, or None
    _zero: np.ndarray  # of each view: whether missing rows give zero kernel rows
    _reads: list[str]  # of each view: what its kernels read
    task_of, tasks, _encodings = (), None, ()

    def to_state(self) -> dict[str, Any]:
        """For a file, see `_state`."""
        self.check_plain()
        each = zip(self._keys, self._encodings, self._zero.tolist(), self._reads, strict=True)
        views = [
            {
                "name": name,
                "columns": columns,
                "column_names": names,
                "encoding": encoding,
                "zero": zero,
                "reads": reads,
            }
            for (name, columns, names), encoding, zero, reads in each
        ]
        return {"views": views} | {name: getattr(self, name) for name in NAMES}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        found, views = cls.__new__(cls), check_is("views", state.pop("views"), list)
        vars(found).update({name: state[name] for name in state.keys() & NAMES})
        found._keys = [(view["name"], view["columns"], view["column_names"]) for view in views]
        found._encodings, found._reads = ([view[name] for view in views] for name in ("encoding", "reads"))
        found._zero = np.array([check_is("zero", view["zero"], bool) for view in views])
        found._pipes, found._joins = [None] * len(views), [None] * len(views)
        found.check_state()
        return found

    def check_plain(self) -> None:
        """A ValueError that says what of it cannot stand in a file."""
        for pipe in self._pipes:
            if pipe is not None:
                raise ValueError(
                    f"{pipe.given!r} before a kernel cannot be saved without pickle: transform X before fit and "
                    "predict, and save a model of plain kernels, or pickle the model."
                )
        for kernel, view in zip(self.kernels, self.view_of, strict=True):
            if self._joins[view] is not None:
                raise ValueError(
                    f"{kernel!r}, a kernel across columns or views, cannot be saved without pickle: pickle the model."
                )

    def check_state(self) -> None:
        """A ValueError where a file has restored what banks cannot work with."""
        M, V = len(check_is("kernels", self.kernels, list)), len(self._keys)
        check(M > 0 and V > 0, "there are no kernels")
        check_list("kernels", self.kernels, Kernel, M)
        check_list("names", self.names, str, M)
        check_index("view_of", self.view_of, V, M)
        check_list("columns", self.columns, (np.ndarray, type(None)), M)
        check_list("encodings", self._encodings, (tuple, type(None)), V)
        check_list("reads", self._reads, str, V)
        sizes = self.n_features if isinstance(self.n_features, dict) else {None: self.n_features}
        for name, size in sizes.items():
            check_plain("the name of a view", name)
            check_integer("n_features", size, 1, 2**48)
        for (name, columns, names), encoding, reads in zip(self._keys, self._encodings, self._reads, strict=True):
            check(reads in READS, f"a view is for {reads!r}")
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
            able = (
                ("numeric", "anything", "nothing", "objects")
                if kernel.reads in ("anything", "nothing")
                else (kernel.reads,)
            )
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
