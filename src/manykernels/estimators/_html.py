"""Bars of the kernel weights, and the gap, above scikit-learn's diagram of a fitted model in a notebook."""

import numpy as np

from .._pictures import render
from .check_inputs import optional

_MAX_KERNELS = 12
_MAX_LETTERS = 60  # of a name


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
