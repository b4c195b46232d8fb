"""The names of kernels."""

from ..sequences import Alphabet
from .base import Kernel, Sum
from .metric import MetricKernel
from .placed import PlacedKernel, leaves


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
