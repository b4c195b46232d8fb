"""A `KernelList` in files: its state, and the checks of what was read; see `_state`."""

from __future__ import annotations

from numbers import Integral, Real

import numpy as np

from .._state import check, check_index, check_integer, check_is, check_list, check_plain
from ..sequences.alphabet import check_encoding
from ._base import READS, Kernel, Product, ScaledKernel, Sum
from ._news import known_of_state
from ._pipes import Pipe
from .on import Seen
from .tasks import SAME

FIELDS = ("kernels", "names", "columns", "view_of", "n_features", "tasks", "task_of")  # under these names in files


def state_of(kernels):
    """The state of a list: that of each view, and of its kernels."""
    each = zip(
        kernels._keys, kernels._encodings, kernels._zero.tolist(), kernels._reads, kernels._pipes, kernels._joins,
        strict=True,
    )  # fmt: skip
    views = []
    for (name, columns, names), encoding, zero, reads, pipe, join in each:
        view = {"name": name, "columns": columns, "column_names": names, "encoding": encoding, "zero": zero}
        views.append(view | {"reads": reads, "pipe": pipe, "join": join})
    known = None if kernels.known is None else kernels.known.to_state()
    return {"views": views, "known": known} | {name: getattr(kernels, name) for name in FIELDS}


def restore(found, state, none):
    """`found` with what a state says; `none` are the columns of views that show nothing.

    Version 1 has no pipes, version 2 does not know what the training examples lacked.
    """
    views = check_is("views", state["views"], list)
    vars(found).update({name: state[name] for name in state.keys() & FIELDS})
    found._keys = [(view["name"], _columns(view["columns"], none), view["column_names"]) for view in views]
    found._encodings, found._reads = ([view[name] for view in views] for name in ("encoding", "reads"))
    found._zero = np.array([check_is("zero", view["zero"], bool) for view in views])
    found._pipes, found._joins = ([view.get(name) for view in views] for name in ("pipe", "join"))
    check_kernels(found)
    sizes = found.n_features if isinstance(found.n_features, dict) else {None: found.n_features}
    found.known = known_of_state(state.get("known"), sizes, len(views))
    return found


def _columns(columns, none):
    return none if isinstance(columns, np.ndarray) and not columns.size else columns


def check_kernels(kernels):
    """A ValueError where a file has restored what banks cannot work with."""
    M, V = len(check_is("kernels", kernels.kernels, list)), len(kernels._keys)
    check(M > 0 and V > 0, "there are no kernels")
    check_list("kernels", kernels.kernels, Kernel, M)
    check_list("names", kernels.names, str, M)
    check_index("view_of", kernels.view_of, V, M)
    check_list("columns", kernels.columns, (np.ndarray, type(None)), M)
    check_list("encodings", kernels._encodings, (tuple, type(None)), V)
    check_list("reads", kernels._reads, str, V)
    check_list("pipes", kernels._pipes, (Pipe, type(None)), V)
    sizes = kernels.n_features if isinstance(kernels.n_features, dict) else {None: kernels.n_features}
    for name, size in sizes.items():
        check_plain("the name of a view", name)
        check_integer("n_features", size, 1, 2**48)
    for view in zip(kernels._keys, kernels._encodings, kernels._reads, kernels._pipes, kernels._joins, strict=True):
        _check_view(*view, sizes, type(kernels))
    for kernel, v, columns in zip(kernels.kernels, kernels.view_of, kernels.columns, strict=True):
        _check_sight(kernel, kernels._reads[v], kernels._joins[v])
        check(kernel.split() is None, f"{type(kernel).__name__} in it was never fitted")
        _check_resolved(kernel)
        if columns is not None:
            check_index("columns", columns, sizes[kernels._keys[v][0]])
    _check_tasks(kernels, M)


def _check_view(key, encoding, reads, pipe, join, sizes, kind):
    name, columns, names = key
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
    check(pipe is None or encoding is None and reads != "objects", "a transformer stands before strings")
    check((join is not None) == (reads == "views"), "a view is not for its kernels")
    if join is not None:
        check(pipe is None and columns is not None and not len(columns), "a join has columns or a transformer")
        check_is("join", join, kind)
        check(not any(inner is not None for inner in join._joins), "a join has a join")


def _check_sight(kernel, reads, join):
    """A kernel sees a view that is for it; across views, each part of it sees its own."""
    if join is None or kernel.constant:
        loose = kernel.reads in ("anything", "nothing")
        able = ("numeric", "anything", "nothing", "objects", *["views"] * (join is not None))
        check(reads in (able if loose else (kernel.reads,)), "a kernel sees a view that is not for it")
    elif isinstance(kernel, Sum | Product):
        _check_sight(kernel.k1, reads, join)
        _check_sight(kernel.k2, reads, join)
    else:
        part = check_integer("part", check_is("a kernel across views", kernel, Seen).part, 0, len(join._keys) - 1)
        _check_sight(kernel.kernel, join._reads[part], None)


def _check_resolved(kernel):
    """A fitted kernel, and each that it is made of, has its numbers."""
    if isinstance(kernel, ScaledKernel):
        check_is(f"gamma of {type(kernel).__name__}", kernel.gamma, Real)
    for part in kernel.to_state().values():
        if isinstance(part, Kernel):
            _check_resolved(part)


def _check_tasks(kernels, M):
    n_tasks = 0
    if kernels.tasks is not None:
        check(type(kernels.tasks) is np.ndarray and kernels.tasks.ndim == 1, "tasks is not a list of tasks")
        check_plain("tasks", kernels.tasks.tolist())
        n_tasks = len(kernels.tasks)
    check_list("task_of", kernels.task_of, Integral, M)
    for task in kernels.task_of:
        check_integer("task_of", task, SAME, n_tasks - 1)
