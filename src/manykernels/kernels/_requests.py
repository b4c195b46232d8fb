"""Specifications taken apart: the transformer and the kernel of each, the part of X that they see, and their names."""

from collections.abc import Hashable
from typing import Any, NamedTuple

import numpy as np

from ..sequences import Alphabet
from ._protocol import READS
from .base import Kernel, Sum, as_kernel
from .metric import MetricKernel
from .placed import PlacedKernel, leaves
from .spec import KernelSpec, as_spec
from .transformers import Pipe, check_transformer, reads_of
from .view_data import ViewArrays
from .view_plan import NO_COLUMNS, ViewPlan


class Request(NamedTuple):
    """One specification taken apart: `transformer`, or None, is applied to a part of X before `kernel`.

    `given` is the kernel of the user; a kernel such as Features is split into a transformer and a kernel.
    """

    spec: KernelSpec
    given: Kernel
    transformer: Any
    kernel: Kernel

    @property
    def sees_nothing(self) -> bool:
        """Whether the kernel looks at no data."""
        return self.kernel.base == "same" and self.spec.columns is None and self.spec.missing != "zero"

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


class KernelColumns(NamedTuple):
    """The part of X that one kernel sees, and its label; kernels with the same `key` share a view."""

    key: Hashable
    name: str | None
    columns: np.ndarray | None
    label: str
    join: Any = None  # the KernelList of the parts of a kernel across views


def columns_of(request: Request, arrays: ViewArrays, join: Any, signature: Hashable) -> KernelColumns:
    """The KernelColumns of a request whose transformer has this `signature`; a kernel across views shares no view."""
    spec, _, _, kernel = request
    if join is not None:
        return KernelColumns(id(join), next(iter(arrays.X)), None, "", join)
    if request.sees_nothing:
        return KernelColumns("nothing", next(iter(arrays.X)), None, "all")
    name, columns, label = arrays.resolve(spec.columns, spec.name)
    cut = None if columns is None else columns.tobytes()
    key = name, cut, kernel.encoding, kernel.reads == "objects", signature
    return KernelColumns(key, name, columns, label)


def planned(requests: list[Request], seen: list[KernelColumns], arrays: ViewArrays) -> tuple[Any, list[ViewPlan]]:
    """(the number of each kernel's view (M,), the plans of the views); the transformers are not fitted yet."""
    members: dict[Hashable, list[int]] = {}
    for m, one in enumerate(seen):
        members.setdefault(one.key, []).append(m)
    number = {key: v for v, key in enumerate(members)}
    plans = [_plan(seen[own[0]], [requests[m] for m in own], arrays) for own in members.values()]
    return np.array([number[one.key] for one in seen]), plans


def _plan(seen, requests, arrays):
    """The plan of the view that the kernels of these requests share."""
    for spec, _, _, kernel in requests:
        if spec.missing not in ("error", "zero"):
            raise ValueError(f'missing={spec.missing!r} of {spec.name or kernel} must be "error" or "zero".')
    first = requests[0]
    blind = seen.join is not None or seen.key == "nothing"
    return ViewPlan(
        name=seen.name,
        columns=NO_COLUMNS if blind else seen.columns,
        column_names=[] if blind else arrays.names(seen.name, seen.columns),
        encoding=None if seen.join is not None else first.kernel.encoding,
        transformer=None if first.transformer is None else Pipe(first.transformer),
        join=seen.join,
        missing="zero" if {request.spec.missing for request in requests} == {"zero"} else "error",
        reads=min([request.kernel.reads for request in requests], key=READS.index),
    )


def names_of(specs, kernels, labels):
    """The names of the kernels: given, or made from kernel and label; all differ."""
    ends = ["" if spec.task is None else spec.task.suffix for spec in specs]
    given = [spec.name + end for spec, end in zip(specs, ends, strict=True) if spec.name is not None]
    twice = sorted({name for name in given if given.count(name) > 1}) if len(set(given)) < len(given) else []
    if twice:
        raise ValueError(f"Kernel names must differ, but {twice} occur more than once.")
    taken, count, names = set(given), {}, []
    for spec, kernel, label, end in zip(specs, kernels, labels, ends, strict=True):
        name = None if spec.name is None else spec.name + end
        if name is None:
            stem = name = describe(kernel) + (f"[{label}]" if label else "") + end
            while name in taken:
                count[stem] = count.get(stem, 1) + 1
                name = f"{stem} #{count[stem]}"
            taken.add(name)
        names.append(name)
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
    params = kernel.get_params(deep=False)
    if isinstance(kernel, MetricKernel):
        del params["metric"]
    if kernel.reads == "sequences" and "alphabet" in params:  # defaults are not shown
        if isinstance(params["alphabet"], Alphabet):
            params["alphabet"] = params["alphabet"].name
        usual = [("reverse_complement", False), ("filter", "counts"), ("nearest", True), ("counts", "all")]
        params = {k: v for k, v in params.items() if v not in (None, "dna", "error") and (k, v) not in usual}
    text = ", ".join(f"{key}={describe(value)}" for key, value in params.items())
    return type(kernel).__name__.lower() + (f"({text})" if text else "")
