"""Specifications taken apart: the transformer and the kernel of each, the part of X that they see, and their names."""

from collections import Counter
from collections.abc import Hashable
from typing import Any, NamedTuple

from .base import Kernel, Sum, as_kernel
from .metric import MetricKernel
from .placed import PlacedKernel, leaves
from .spec import KernelSpec, as_spec
from .transformers import Pipe, check_transformer, reads_of
from .view_data import READS, ViewArrays
from .view_plan import NO_COLUMNS, ViewPlan


class Request(NamedTuple):
    """One specification taken apart: `transformer`, or None, is applied to a part of X before `kernel`.

    `given` is the kernel of the user; a kernel such as Features is split into a transformer and a kernel.
    """

    spec: KernelSpec
    given: Kernel
    transformer: Any
    kernel: Kernel

    def named(self, resolved: Kernel) -> Kernel:
        """The kernel that names are made from: the `resolved` one, or the given one if it was split.

        Names say nothing of a metric, so that they are the same whether it has been learned or not.
        """
        whole = isinstance(self.given, MetricKernel) or self.kernel is self.given and not leaves(self.given)
        return resolved if whole else self.given

    def operands(self) -> list[KernelSpec]:
        """The specifications of the On kernels in a product or sum across views; [] for other kernels."""
        found = leaves(self.kernel)
        if not found:
            return []
        if self.spec.columns is not None:
            raise ValueError(f"{self.kernel!r} has its own columns: leave columns={self.spec.columns!r} out.")
        specs = [as_spec(leaf) for leaf in found]
        if any(leaves(part.kernel) for part in specs):
            raise ValueError(f"{self.kernel!r} has On within On: give each kernel its columns once.")
        return [part if self.spec.missing == "error" else part._replace(missing=self.spec.missing) for part in specs]


def read_spec(spec: KernelSpec) -> Request:
    """The Request of a specification, or a ValueError."""
    given = as_kernel(spec.kernel)
    before, parts = spec.transformer, None if leaves(given) else given.split()
    if before is not None:
        check_transformer(before, spec.name or type(given).__name__)
        if leaves(given) or given.reads in ("sequences", "objects") and parts is None:
            raise ValueError(
                f"{given!r} cannot stand behind a transformer, which makes rows of numbers: give a kernel of numbers, "
                "and in products On(columns, kernel, transformer)."
            )
    if parts is None:
        return Request(spec, given, before, given)
    if before is None:
        return Request(spec, given, *parts)
    from sklearn.pipeline import make_pipeline

    return Request(spec, given, make_pipeline(before, parts[0]), parts[1])


def object_views(requests: list[Request]) -> list[str | None]:
    """The names of the whole views that kernels of objects see, None for X itself; or a ValueError."""
    for _, _, _, kernel in requests:
        if kernel.reads not in READS:
            raise ValueError(f"reads={kernel.reads!r} of {type(kernel).__name__} must be one of {', '.join(READS)}.")
    found: list[str | None] = []
    for spec, _, transformer, kernel in requests:
        reads = kernel.reads if transformer is None else reads_of(transformer)
        columns = spec.name if spec.columns is None else spec.columns
        if reads == "objects" and (columns is None or isinstance(columns, str)):
            found += [columns, None] if spec.columns is None else [columns]
    return found


def plan_of(request: Request, arrays: ViewArrays, join: Any, signature: Hashable) -> tuple[Hashable, ViewPlan, str]:
    """(key, the plan of the part of X that the kernel sees, its label); kernels with the same key share a view.

    `signature` is that of the transformer, which is not fitted yet. `join` is the KernelList of the parts of a kernel
    across views, which shares no view.
    """
    spec, _, transformer, kernel = request
    if spec.missing not in ("error", "zero"):
        raise ValueError(f'missing={spec.missing!r} of {spec.name or kernel} must be "error" or "zero".')
    zero = spec.missing == "zero"
    if join is not None or kernel.base == "same" and spec.columns is None and not zero:  # it looks at no column
        plan = ViewPlan(next(iter(arrays.X)), NO_COLUMNS, [], join=join, zero=zero, reads=kernel.reads)
        return ("nothing", plan, "all") if join is None else (id(join), plan, "")
    name, columns, label = arrays.resolve(spec.columns, spec.name)
    before = None if transformer is None else Pipe(transformer)
    names = arrays.names(name, columns)
    plan = ViewPlan(name, columns, names, kernel.encoding, before, zero=zero, reads=kernel.reads)
    cut = None if columns is None else columns.tobytes()
    return (name, cut, kernel.encoding, kernel.reads == "objects", signature), plan, label


def names_of(specs, kernels, labels):
    """The names of the kernels: given, or made from kernel and label; all differ."""
    ends = ["" if spec.task is None else spec.task.suffix for spec in specs]
    names = [None if spec.name is None else spec.name + end for spec, end in zip(specs, ends, strict=True)]
    taken, count = Counter(name for name in names if name is not None), {}
    twice = sorted(name for name, times in taken.items() if times > 1)
    if twice:
        raise ValueError(f"Kernel names must differ, but {twice} occur more than once.")
    for m, (kernel, label, end) in enumerate(zip(kernels, labels, ends, strict=True)):
        if names[m] is None:
            stem = name = describe(kernel) + (f"[{label}]" if label else "") + end
            while name in taken:
                count[stem] = count.get(stem, 1) + 1
                name = f"{stem} #{count[stem]}"
            names[m], taken[name] = name, 1
    return names


def describe(kernel):
    """A short name such as rbf(gamma=0.1)."""
    if isinstance(kernel, PlacedKernel):
        return f"{describe(kernel.kernel)}[{kernel.columns}]"
    if leaves(kernel):
        return f"{describe(kernel.k1)} {'+' if isinstance(kernel, Sum) else '·'} {describe(kernel.k2)}"
    if isinstance(kernel, float):
        return f"{kernel:.6g}"
    if not isinstance(kernel, Kernel):
        return getattr(kernel, "__name__", str(kernel))  # the user's function or object
    if kernel.family == "low_rank":
        return f"{type(kernel).__name__.lower()}({describe(kernel.kernel)}, {kernel.rank})"
    params = kernel.told()
    if isinstance(kernel, MetricKernel):
        del params["metric"]
    text = ", ".join(f"{key}={describe(value)}" for key, value in params.items())
    return type(kernel).__name__.lower() + (f"({text})" if text else "")
