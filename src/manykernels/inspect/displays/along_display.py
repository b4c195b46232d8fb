from __future__ import annotations

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np

from ..._pictures import as_shares, curves, left_out, legend, note
from .base import Display, check_fitted, weights_of


@dataclass(eq=False, repr=False)
class WeightsAlongDisplay(Display):
    """Shares θ / Σθ of kernels against one of their parameters, a curve for each kind of kernel on each source.

    Kernels of one curve with equal values are summed.

    Parameters
    ----------
    values : array (M,)
        Values of the parameter; NaN leaves out the kernel.
    shares : array (M,)
    groups : list of M str
        The curve of each kernel.
    parameter : str, default "parameter"
    top : int, default 7
        The number of curves, those with the highest peaks.

    Examples
    --------
    >>> from manykernels.inspect import WeightsAlongDisplay
    >>> shown = WeightsAlongDisplay([0.1, 1, 10], [0.2, 0.7, 0.1], ["rbf"] * 3, "gamma").plot()
    >>> shown.ax_.get_xscale(), shown.ax_.get_lines()[0].get_ydata().tolist()
    ('log', [0.2, 0.7, 0.1])
    """

    values: Any
    shares: Any
    groups: list[str]
    parameter: str = "parameter"
    top: int = 7

    shapes = {"values": ("groups",), "shares": ("groups",)}

    @classmethod
    def from_estimator(
        cls, model: Any, parameter: str = "gamma", *, output: Any = None, top: int = 7, ax: Any = None
    ) -> Self:
        """Draw a fitted model along an attribute of its kernels; `output` is a class, None the mean over classes."""
        model = check_fitted(model)
        kernels = model.predictor_.kernel_list
        if kernels is None:
            raise ValueError("the kernels are precomputed and have no parameters: make the display from numbers.")
        found = [getattr(kernel, parameter, None) for kernel in kernels.kernels]  # an attribute the user names
        values = [float(v) if isinstance(v, Real) and not isinstance(v, bool) else np.nan for v in found]
        if np.isnan(values).all():
            kinds = sorted({type(kernel).__name__ for kernel in kernels.kernels})
            raise ValueError(f"parameter={parameter!r} is no number of any kernel: the kernels are {', '.join(kinds)}.")
        kinds = [type(kernel).__name__ for kernel in kernels.kernels]
        seen = [str(kernels.seen(m) or "all") for m in range(kernels.M)]
        counted = [k for k, v in zip(kinds, values, strict=True) if not np.isnan(v)]
        several = len(set(counted)) > 1
        groups = [f"{k}, {s}" if several else s for k, s in zip(kinds, seen, strict=True)]
        return cls(values, as_shares(weights_of(model, output)), groups, parameter, top).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        has = ~np.isnan(self.values)
        x = np.unique(self.values[has])
        names = list(dict.fromkeys(g for g, h in zip(self.groups, has, strict=True) if h))
        table = np.full((len(x), len(names)), np.nan)
        for m in np.flatnonzero(has):
            place = np.searchsorted(x, self.values[m]), names.index(self.groups[m])
            table[place] = np.nansum([table[place], self.shares[m]])
        ax = self._one(ax, (7.2, 3.8))
        shown = curves(ax, x, table, names, self.top)
        alive, outside = int(np.nansum(table, axis=0).astype(bool).sum()), 1.0 - self.shares[has].sum()
        said = left_out(len(shown), alive, "curves", 1.0 - np.nansum(table[:, shown]))
        note(ax, said or (f"{outside:.0%} of the weight is on kernels without it" if outside >= 0.005 else ""))
        if (x > 0).all() and x[-1] > 20 * x[0]:
            ax.set_xscale("log")
        ax.set_xlabel(self.parameter)
        legend(ax)
        return self
