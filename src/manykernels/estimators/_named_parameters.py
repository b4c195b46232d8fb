"""Parameters of an estimator's parts by name: `regularizer__p`, `loss__epsilon`, `kernels__NAME__gamma`."""

import re
from typing import Any, Self

from .._parts import with_params
from ..kernels.spec import named, named_params, with_named

_MAX_NAMED_KERNELS = 20  # whose parameters a notebook lists
_EXAMPLES = {"regularizer": "LpNorm(2)", "loss": "losses.Huber()", "solver": 'Solver("level")'}


class NamedParts:
    """`get_params` and `set_params` that also reach kernels given as (name, kernel, ...), by their names.

    Setting a parameter copies its part or kernel first: the objects that the user gave do not change.
    """

    kernels: Any

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """{name: value}; `deep` adds the parameters of the parts and of named kernels."""
        params = super().get_params(deep=deep)  # type: ignore[misc]  # of BaseEstimator, a later base
        own = named_params(self.kernels) if deep else {}
        return params | {f"kernels__{key}": value for key, value in own.items()}

    def set_params(self, **params: Any) -> Self:
        """Sets parameters, `part__parameter` for those of a part, and returns the estimator."""
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
                setattr(self, name, with_named(value, values))
            else:
                setattr(self, name, with_params(value, values, name, _EXAMPLES.get(name, "")))
        return self

    def _get_params_html(self, deep=True, *args, **kwargs):
        """scikit-learn's table; it puts keys into scripts and patterns, so special characters are encoded."""
        found = super()._get_params_html(deep and len(named(self.kernels)) <= _MAX_NAMED_KERNELS, *args, **kwargs)
        found.data = {_coded(key): value for key, value in found.data.items()}
        found.non_default = tuple(map(_coded, found.non_default))
        return found


def _coded(key: str) -> str:
    """The key with %5B for [ and the like: letters, digits, spaces and - . , : = / stay."""
    return re.sub(r"[^\w \-.,:=/]", lambda found: f"%{ord(found[0]):02X}", key)
