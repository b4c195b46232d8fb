"""What a notebook shows above scikit-learn's diagram of a fitted model: the kernel weights as bars, and the gap."""

from __future__ import annotations

from html import escape

import numpy as np

_SHOWN = 12
_LONGEST = 60  # letters of a name
_BAR = '<div style="background:#4a78b5;height:0.8em;min-width:1px;width:{:.1f}%"></div>'
_ROW = '<tr style="text-align:left"><td>{}</td><td>{:.1%}</td><td style="width:12em">{}</td></tr>'


class WeightBars:
    """The HTML of a fitted model begins with its kernel weights."""

    def _repr_mimebundle_(self, **kwargs):
        bundle = super()._repr_mimebundle_(**kwargs)
        if "text/html" in bundle:
            bundle["text/html"] = weights_html(self) + bundle["text/html"]
        return bundle

    @property
    def _repr_html_(self):
        diagram = super()._repr_html_  # an AttributeError where scikit-learn is set to show text
        return lambda: weights_html(self) + diagram()


def weights_html(model):
    """The heaviest kernels, by their share of Σθ, and the duality gap; "" before a fit.

    One-vs-rest models show the mean over their classes.
    """
    if not hasattr(model, "kernel_weights_"):
        return ""
    theta = np.atleast_2d(model.kernel_weights_)
    mean = theta.mean(axis=0)
    share = mean / (mean.sum() or 1.0)
    order = np.argsort(-share, kind="stable")
    order = order[share[order] > 0]
    shown = order[:_SHOWN]
    rows = [_row(model.kernel_names_[m], share[m], share[shown[0]]) for m in shown]
    if len(order) > len(shown):
        rows.append(_ROW.format(f"… and {len(order) - len(shown)} more", share[order[_SHOWN:]].sum(), ""))
    of = f", mean over {len(theta)} classes" if len(theta) > 1 else ""
    title = f"{len(order)} of {len(share)} kernels have weight (shares{of}); {_certificate(model)}"
    return f'<div><div style="padding:4px 8px">{escape(title)}</div><table>{"".join(rows)}</table></div>'


def _row(name, share, top):
    name = str(name)
    name = name if len(name) <= _LONGEST else name[: _LONGEST - 1] + "…"
    return _ROW.format(escape(name), share, _BAR.format(100 * share / top))


def _certificate(model):
    if hasattr(model, "stationarity_"):
        return f"stationarity {model.stationarity_:.1e}"
    return f"relative duality gap {model.duality_gap_:.1e}, tol {model.tol:g}"
