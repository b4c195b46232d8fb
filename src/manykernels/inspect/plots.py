"""Kernel weights as a picture, in one call."""

from __future__ import annotations

from typing import Any

from .._pictures import as_shares
from .displays.base import check_fitted, weights_of
from .displays.weights_display import WeightsDisplay


def plot_weights(model: Any, ax: Any = None, top: int = 20) -> Any:
    """Bars of the shares θ / Σθ of the heaviest kernels, heaviest on top: `WeightsDisplay` as a function.

    Parameters
    ----------
    model : estimator
        Fitted.
    ax : matplotlib axes, optional
    top : int, default 20
        The largest number of kernels.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import plot_weights
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    >>> plot_weights(MKLClassifier().fit(X, y), top=5).get_xlabel()
    'share of the kernel weights'
    """
    model = check_fitted(model)
    shares = as_shares(weights_of(model))
    return WeightsDisplay(model.kernel_names_, shares, top=top).plot(ax).ax_
