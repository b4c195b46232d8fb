"""What a notebook shows of a model, the weights and the gap, and parameters of its parts by name."""

import re
from typing import Any, Self

import numpy as np

from .._parts import with_params
from .._pictures import render
from ..kernels.spec import named, named_params, with_named
from .check_inputs import optional

_MAX_KERNELS = 12
_MAX_LETTERS = 60  # of a name
_MAX_NAMED_KERNELS = 20  # whose parameters a notebook lists
_EXAMPLES = {"regularizer": "LpNorm(2)", "loss": "losses.Huber()", "solver": 'Solver("level")'}


class WeightBars:
    """The HTML of a fitted model begins with its kernel weights."""

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = weights_html(self) + bundle["text/html"]
        return bundle

    @property
    def _repr_html_(self):
        diagram = super()._repr_html_  # an AttributeError if scikit-learn is set to show text
        return lambda: weights_html(self) + diagram()


def weights_html(model):
    """The shares θ / Σθ of the heaviest kernels, and the duality gap; "" before a fit.

    One-vs-rest models show the mean over their classes.
    """
    if optional(model, "kernel_weights_") is None:
        return ""
    theta = np.atleast_2d(model.kernel_weights_)
    mean = theta.mean(axis=0)
    share = mean / (mean.sum() or 1.0)
    order = np.argsort(-share, kind="stable")
    order = order[share[order] > 0]
    shown = order[:_MAX_KERNELS]
    rows = [(_short(model.kernel_names_[m]), share[m], share[m] / share[shown[0]]) for m in shown]
    if len(order) > len(shown):
        rows.append((f"… and {len(order) - len(shown)} more", share[order[_MAX_KERNELS:]].sum(), 0.0))
    of = f", mean over {len(theta)} classes" if len(theta) > 1 else ""
    title = f"{len(order)} of {len(share)} kernels have weight (shares{of}); {_certificate(model)}"
    return render("estimators/weights.html.jinja", title=title, rows=rows)


def _short(name):
    name = str(name)
    return name if len(name) <= _MAX_LETTERS else name[: _MAX_LETTERS - 1] + "…"


def _certificate(model):
    if optional(model, "stationarity_") is not None:
        return f"stationarity {model.stationarity_:.1e}"
    if np.isnan(model.duality_gap_):
        return "no certificate"
    return f"relative duality gap {model.duality_gap_:.1e}, tol {model.tol:g}"


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
