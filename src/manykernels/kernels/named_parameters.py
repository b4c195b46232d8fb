"""Parameters of named kernels in a list: `NAME`, `NAME__gamma`."""

from typing import Any

from .._parts import with_params
from .spec import KernelSpec, Transformed, has_transformer


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
    several = isinstance(kernels, list | tuple) and not isinstance(kernels, KernelSpec)
    return [(spec[0], _kernel(spec)) for spec in kernels if _has_name(spec)] if several else []


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
