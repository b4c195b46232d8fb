"""The checks of a `KernelList` from a file, whose views and kernels banks trust."""

from numbers import Real

from .._state import check, check_integer, check_is, check_plain, check_value
from ._scaled import ScaledKernel
from .base import Kernel, Product, Sum
from .placed import ViewKernel
from .tasks import SAME


def check_kernels(kernels):
    """{view: number of features}, or a ValueError if banks cannot use the kernels of a file."""
    check(kernels.M > 0, "there are no kernels")
    sizes = kernels.n_features if isinstance(kernels.n_features, dict) else {None: kernels.n_features}
    for name, size in sizes.items():
        check_plain("the name of a view", name)
        check_integer("n_features", size, 1, 2**48)
    for plan in kernels.view_plans:
        _check_plan(plan, sizes, type(kernels))
    for kernel, v, columns in zip(kernels.kernels, kernels.view_of, kernels.columns, strict=True):
        plan = kernels.view_plans[v]
        _check_reads(kernel, plan.reads, plan.join)
        check(kernel.encoding == plan.encoding, "a view has another alphabet than its kernels")
        check(kernel.split() is None, f"{type(kernel).__name__} in it was never fitted")
        _check_resolved(kernel)
        if columns is not None:
            check_value("columns", columns, "i8 _ <width", {"width": sizes[plan.name]})
    n_tasks = 0 if kernels.tasks is None else len(kernels.tasks)
    for task in kernels.task_of:
        check_integer("task_of", task, SAME, n_tasks - 1)
    return sizes


def _check_plan(plan, sizes, kind):
    """`kind` is the class of a join."""
    encoding, transformer = plan.encoding, plan.transformer
    check((encoding is not None) == (plan.reads == "sequences"), "a view is not for its kernels")
    check(plan.name in sizes, f"there is no view {plan.name!r}")
    check_value("columns", plan.columns, "?i8 _ <width", {"width": sizes[plan.name]})
    check(transformer is None or encoding is None and plan.reads != "objects", "a transformer stands before strings")
    check((plan.join is not None) == (plan.reads == "views"), "a view is not for its kernels")
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
