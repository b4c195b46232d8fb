"""A `KernelList` in files: its state, and the checks of a state that was read; see `_state`."""

from numbers import Integral, Real
from operator import attrgetter

import numpy as np

from .._state import check, check_index, check_integer, check_is, check_list, check_plain
from ..sequences.alphabet import check_encoding
from ._protocol import READS
from ._scaled import ScaledKernel
from .base import Kernel, Product, Sum
from .new_data import facts_of_state
from .placed import ViewKernel
from .tasks import SAME
from .transformers import Pipe
from .view_plan import ViewPlan

FIELDS = ("kernels", "names", "columns", "view_of", "n_features", "tasks", "task_of")  # names in files


def state_of(kernels):
    """The state of a list: its views, its kernels, and facts of the training examples."""
    facts = None if kernels.training_facts is None else kernels.training_facts.to_state()
    own = dict(zip(FIELDS, attrgetter(*FIELDS)(kernels), strict=True))
    return {"views": [plan.to_state() for plan in kernels.view_plans], "known": facts} | own


def restore(found, state):
    """`found` with the attributes of a state; version 1 has no transformers, version 2 has no `known`."""
    views = check_is("views", state["views"], list)
    vars(found).update({name: state[name] for name in state.keys() & FIELDS})
    found.view_plans = [ViewPlan.from_state(view) for view in views]
    found.training_facts = facts_of_state(state.get("known"), _checked_sizes(found), len(views))
    return found


def _checked_sizes(kernels):
    """{view: number of features}, or a ValueError if banks cannot use the kernels of a file."""
    M, V = len(check_is("kernels", kernels.kernels, list)), kernels.n_views
    check(M > 0 and V > 0, "there are no kernels")
    check_list("kernels", kernels.kernels, Kernel, M)
    check_list("names", kernels.names, str, M)
    check_index("view_of", kernels.view_of, V, M)
    check_list("columns", kernels.columns, (np.ndarray, type(None)), M)
    sizes = kernels.n_features if isinstance(kernels.n_features, dict) else {None: kernels.n_features}
    for name, size in sizes.items():
        check_plain("the name of a view", name)
        check_integer("n_features", size, 1, 2**48)
    for plan in kernels.view_plans:
        _check_plan(plan, sizes, type(kernels))
    for kernel, v, columns in zip(kernels.kernels, kernels.view_of, kernels.columns, strict=True):
        plan = kernels.view_plans[v]
        _check_reads(kernel, plan.reads, plan.join)
        check(kernel.split() is None, f"{type(kernel).__name__} in it was never fitted")
        _check_resolved(kernel)
        if columns is not None:
            check_index("columns", columns, sizes[plan.name])
    _check_tasks(kernels, M)
    return sizes


def _check_plan(plan, sizes, kind):
    """`kind` is the class of a join."""
    encoding = check_is("encoding", plan.encoding, (tuple, type(None)))
    reads = check_is("reads", plan.reads, str)
    transformer = check_is("pipe", plan.transformer, (Pipe, type(None)))
    check(reads in READS, f"a view is for {reads!r}")
    check((encoding is not None) == (reads == "sequences"), "a view is not for its kernels")
    check(plan.name in sizes, f"there is no view {plan.name!r}")
    if plan.columns is not None:
        check_index("columns", plan.columns, sizes[plan.name])
    if plan.column_names is not None:
        check_list("names of columns", plan.column_names, object, len(plan.columns))
        check_plain("names of columns", plan.column_names)
    if encoding is not None:
        check_encoding(encoding)
    check(transformer is None or encoding is None and reads != "objects", "a transformer stands before strings")
    check((plan.join is not None) == (reads == "views"), "a view is not for its kernels")
    if plan.join is not None:
        check(transformer is None and plan.sees_nothing, "a join has columns or a transformer")
        check_is("join", plan.join, kind)
        check(all(part.join is None for part in plan.join.view_plans), "a join has a join")


def _check_reads(kernel, reads, join):
    """A ValueError if a kernel, or a part of a kernel across views, does not read the data of its view."""
    if join is None or kernel.constant:
        loose = kernel.reads in ("anything", "nothing")
        able = ("numeric", "anything", "nothing", "objects", *["views"] * (join is not None))
        check(reads in (able if loose else (kernel.reads,)), "a kernel sees a view that is not for it")
    elif isinstance(kernel, Sum | Product):
        _check_reads(kernel.k1, reads, join)
        _check_reads(kernel.k2, reads, join)
    else:
        part = check_integer("part", check_is("a kernel across views", kernel, ViewKernel).part, 0, join.n_views - 1)
        _check_reads(kernel.kernel, join.view_plans[part].reads, None)


def _check_resolved(kernel):
    """A ValueError if a kernel, or a kernel within it, has a gamma that is not a number."""
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
