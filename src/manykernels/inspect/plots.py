"""Kernel weights as pictures; matplotlib is imported on first use."""

from __future__ import annotations

from typing import Any

from .tables import top_weights


def plot_weights(model: Any, ax: Any = None, top: int = 20) -> Any:
    """Bars of the shares θ / Σθ of the `top` heaviest kernels, heaviest on top; returns the axes."""
    if ax is None:
        import matplotlib.pyplot as plt

        ax = plt.subplots(layout="constrained")[1]
    names, _, shares = top_weights(model, top)
    ax.barh(range(len(names)), shares)
    ax.set_yticks(range(len(names)), names)
    ax.invert_yaxis()
    ax.set_xlabel("share of the kernel weights")
    return ax
