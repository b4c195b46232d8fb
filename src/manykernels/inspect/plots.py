"""Kernel weights as pictures; matplotlib is imported on first use."""

from __future__ import annotations

from typing import Any

from .tables import top_weights


def plot_weights(model: Any, ax: Any = None, top: int = 20) -> Any:
    """Bars of the shares θ / Σθ of the heaviest kernels, heaviest on top.

    Parameters
    ----------
    model : estimator
        Fitted.
    ax : matplotlib axes, optional
    top : int, default 20
        Kernels at most.

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
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(layout="constrained")[1]
    names, _, shares = top_weights(model, top)
    ax.barh(range(len(names)), shares)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("share of the kernel weights")
    return ax
