"""Parameters of an estimator's parts by name: `regularizer__p`, `loss__epsilon`, `kernels__NAME__gamma`."""

from __future__ import annotations

from typing import Any, Self

from .._parts import with_params

_SHOWN = 20  # named kernels up to which a notebook lists their parameters
_EXAMPLES = {"regularizer": "LpNorm(2)", "loss": "losses.Huber()", "solver": 'Solver("level")'}


class NamedParts:
    """`get_params` and `set_params` that also reach kernels given as (name, kernel, ...), by their names.

    A part or kernel whose parameters are set is copied first: what was given stays as it is.
    """

    kernels: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """{name: value}; `deep` with those of the parts and of the kernels that have a name."""
        params = super().get_params(deep=deep)  # type: ignore[misc]  # of BaseEstimator, which stands behind it
        for name, kernel in _named(self.kernels) if deep else ():
            params[f"kernels__{name}"] = kernel
            if hasattr(kernel, "get_params") and not isinstance(kernel, type):
                params |= {f"kernels__{name}__{key}": value for key, value in kernel.get_params().items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """The estimator itself with these parameters, `part__parameter` for those of its parts."""
        inner: dict[str, dict[str, Any]]
        own, inner = self._get_param_names(), {}  # type: ignore[attr-defined]  # of BaseEstimator
        for key in list(params):
            name, nested, rest = key.partition("__")
            if nested and name in own:
                inner.setdefault(name, {})[rest] = params.pop(key)
        super().set_params(**params)  # type: ignore[misc]  # of BaseEstimator
        for name, values in inner.items():
            value = getattr(self, name)
            if name == "kernels" and isinstance(value, list | tuple):
                setattr(self, name, _with_kernels(value, values))
            else:
                setattr(self, name, with_params(value, values, name, _EXAMPLES.get(name, "")))
        return self

    def _get_params_html(self, deep=True, *args, **kwargs):
        return super()._get_params_html(deep and len(_named(self.kernels)) <= _SHOWN, *args, **kwargs)


def _named(kernels):
    """(name, kernel) of the specifications that have a name."""
    several = isinstance(kernels, list | tuple) and not hasattr(kernels, "_fields")
    return [(spec[0], _kernel(spec)) for spec in kernels if _has_name(spec)] if several else []


def _kernel(spec):
    """The kernel of a specification with a name, together with the transformer before it."""
    from ..kernels.spec import Transformed, has_transformer

    if has_transformer(spec):
        return Transformed(spec[1], spec[2])
    transformer = getattr(spec, "transformer", None)
    return spec[1] if transformer is None else Transformed(transformer, spec[1])


def _has_name(spec):
    return isinstance(spec, tuple) and len(spec) > 1 and isinstance(spec[0], str)


def _with_kernels(kernels, params):
    """The kernels with {NAME or NAME__parameter: value} set; kernels of one name, as of several tasks, alike."""
    names, wanted = {name for name, _ in _named(kernels)}, {}
    for key, value in params.items():
        name = max((name for name in names if key == name or key.startswith(name + "__")), key=len, default=None)
        if name is None:
            raise ValueError(
                f"Invalid parameter {key!r} for kernels: none has that name. Those that have one are {sorted(names)}; "
                "give a kernel as (name, kernel) to reach it."
            )
        wanted.setdefault(name, {})[key[len(name) + 2 :]] = value
    return type(kernels)(
        _replaced(spec, wanted[spec[0]]) if _has_name(spec) and spec[0] in wanted else spec for spec in kernels
    )


def _replaced(spec, params):
    from ..kernels.spec import Transformed, has_transformer

    params = dict(params)
    kernel = params.pop("", _kernel(spec))
    kernel = with_params(kernel, params, f"kernels__{spec[0]}") if params else kernel
    before = kernel.transformer if isinstance(kernel, Transformed) else None
    kernel = kernel.kernel if isinstance(kernel, Transformed) else kernel
    if hasattr(spec, "_fields"):
        return spec._replace(kernel=kernel, transformer=before)
    if has_transformer(spec):
        return (spec[0], *((kernel,) if before is None else (before, kernel)), *spec[3:])
    return (spec[0], kernel, *spec[2:])
