"""The specification of one kernel: name, kernel, columns, missing, task, transformer, prior."""

from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from .._declared import declared
from .._tags import tagged
from .base import Kernel
from .placed import PlacedKernel


@tagged("kernel/spec", 1)
class KernelSpec(NamedTuple):
    """One kernel, its name and its columns.

    Parameters
    ----------
    name : str or None
        If None, the name is made from the kernel.
    kernel : Kernel, function or str
    columns : column, list of columns, slice, name of a view, (view, columns) or None, default None
        If None, the view called `name` if there is one, else all columns.
    missing : "error" or "zero", default "error"
        Whether an example that lacks the view, or has NaN in it, raises an error or has k = 0 with all others.
    task : optional
        The pairs of examples that the kernel compares, by their tasks, see `multi_task`; None for all pairs.
    transformer : optional
        A transformer, fitted on the columns or view of the training data and applied before the kernel.
    prior : float, default 1
        A factor of the normalised kernel: at 0.2 the kernel must explain five times as much for the same weight.

    Examples
    --------
    >>> from manykernels.kernels import RBF, KernelSpec
    >>> spec = KernelSpec("age", RBF(gamma=0.1), columns=[0])
    >>> spec.name, spec.columns, spec.missing
    ('age', [0], 'error')
    """

    name: str | None
    kernel: Any
    columns: Any = None
    missing: str = "error"
    task: Any = None
    transformer: Any = None
    prior: float = 1.0


def as_spec(spec):
    if not isinstance(spec, KernelSpec):
        spec = _from_tuple(spec) if isinstance(spec, tuple) else KernelSpec(None, spec)
    if isinstance(spec.kernel, PlacedKernel) and spec.transformer is None:
        if spec.columns is not None:
            raise ValueError(f"{spec.kernel!r} has its own columns: leave columns={spec.columns!r} out.")
        return as_spec(spec._replace(**spec.kernel.placed()))
    return spec


def _from_tuple(spec):
    named = len(spec) > 1 and (spec[0] is None or isinstance(spec[0], str))
    if named and has_transformer(spec) and len(spec) <= 5:
        name, transformer, kernel, *rest = spec
        return KernelSpec(name, kernel, *rest, transformer=transformer)
    if not named or len(spec) > 4:
        raise ValueError(
            f"{spec!r} is not (name, kernel), (name, kernel, columns) or (name, kernel, columns, missing), with or "
            "without a transformer before the kernel."
        )
    return KernelSpec(*spec)


def has_transformer(spec):
    """Whether a tuple is (name, transformer, kernel, ...)."""
    return len(spec) > 2 and isinstance(spec[2], Kernel) and not isinstance(spec, KernelSpec)


@declared
class Transformed(BaseEstimator):
    """A transformer and the kernel behind it, so that a search can set the parameters of both."""

    transformer: Any
    kernel: Any
