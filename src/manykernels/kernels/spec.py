"""The specification of one kernel: name, kernel, columns, missing, task, transformer, prior.

The parameters of named kernels in a list are `NAME` and `NAME__gamma`.
"""

from typing import Any, NamedTuple

from sklearn.base import BaseEstimator

from .._parts import declared, with_params
from .._state import tagged
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


def is_list(kernels):
    """Whether several kernels are given, and not one as a tuple."""
    return isinstance(kernels, list | tuple) and not isinstance(kernels, KernelSpec)


def specs_of(kernels):
    """The specifications of the `kernels` of an estimator, [] if it has no list of them."""
    return [as_spec(one) for one in kernels] if is_list(kernels) else []


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


def named_params(kernels: Any) -> dict[str, Any]:
    """{NAME: kernel, NAME__parameter: value} of the kernels of a list that have a name."""
    params = {}
    for name, kernel in named(kernels):
        params[name] = kernel
        if hasattr(kernel, "get_params") and not isinstance(kernel, type):  # the user's kernel may have none
            params |= {f"{name}__{key}": value for key, value in kernel.get_params().items()}
    return params


def named(kernels):
    """(name, kernel) of the specifications that have a name."""
    return [(spec[0], _kernel(spec)) for spec in kernels if _has_name(spec)] if is_list(kernels) else []


def _kernel(spec):
    """The kernel of a specification with a name, together with the transformer before it."""
    if has_transformer(spec):
        return Transformed(spec[1], spec[2])
    if isinstance(spec, KernelSpec) and spec.transformer is not None:
        return Transformed(spec.transformer, spec.kernel)
    return spec[1]


def _has_name(spec):
    return isinstance(spec, tuple) and len(spec) > 1 and isinstance(spec[0], str)


def with_named(kernels, params):
    """The kernels with {NAME or NAME__parameter: value} set, in all kernels of that name (several tasks share one)."""
    names, wanted = {name for name, _ in named(kernels)}, {}
    for key, value in params.items():
        name = max((name for name in names if key == name or key.startswith(name + "__")), key=len, default=None)
        if name is None:
            raise ValueError(
                f"Invalid parameter {key!r} for kernels: none has that name. The named kernels are {sorted(names)}; "
                "name a kernel by (name, kernel)."
            )
        wanted.setdefault(name, {})[key[len(name) + 2 :]] = value
    return type(kernels)(
        _replaced(spec, wanted[spec[0]]) if _has_name(spec) and spec[0] in wanted else spec for spec in kernels
    )


def _replaced(spec, params):
    params = dict(params)
    kernel = params.pop("", _kernel(spec))
    kernel = with_params(kernel, params, f"kernels__{spec[0]}") if params else kernel
    before = kernel.transformer if isinstance(kernel, Transformed) else None
    kernel = kernel.kernel if isinstance(kernel, Transformed) else kernel
    if isinstance(spec, KernelSpec):
        return spec._replace(kernel=kernel, transformer=before)
    if has_transformer(spec):
        return (spec[0], *((kernel,) if before is None else (before, kernel)), *spec[3:])
    return (spec[0], kernel, *spec[2:])
