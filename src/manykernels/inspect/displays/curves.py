"""Curves: weights along a parameter of the kernels or along a path, and the gap of a fit."""

from dataclasses import dataclass
from numbers import Real
from typing import Any, Self

import numpy as np

from ..._pictures import COLOURS, MARKERS, as_shares, curves, left_out, legend, note, short
from ..._validation import check_choice
from ...estimators.path import Path
from .base import Display, check_fitted, weights_of

MIN_GAP = 1e-16  # a gap of 0 is drawn as
MAX_MARKED_STEPS = 20  # with more steps only the last one has a mark


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


@dataclass(eq=False, repr=False)
class ConvergenceDisplay(Display):
    """The relative gap after each step of a fit, a curve for each class; certified steps have filled marks.

    EmpiricalBayes has no gap: the distance from a stationary point is drawn.

    Parameters
    ----------
    history : list of dict
        `history_` of a fitted model.
    tol : float, optional
        The gap to reach, drawn as a dashed line.
    against : str, default "time"
        "time" in seconds, or "steps".
    name : str, optional
        The name of the model, for several on one axes.
    top : int, default 7
        The number of coloured classes, those that took longest; the others are grey.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import ConvergenceDisplay
    >>> X = np.random.default_rng(0).normal(size=(40, 2))
    >>> model = MKLClassifier().fit(X, X[:, 0] > 0)
    >>> shown = ConvergenceDisplay.from_estimator(model, against="steps")
    >>> len(shown.ax_.get_lines()[0].get_ydata()) == len(model.history_)
    True
    """

    history: list[dict]
    tol: float | None = None
    against: str = "time"
    name: str | None = None
    top: int = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        check_choice("against", self.against, ("time", "steps"))
        if not self.history:
            raise ValueError("history is empty: the weights were found without steps, as by a rule such as Uniform().")

    @classmethod
    def from_estimator(
        cls, model: Any, *, against: str = "time", name: str | None = None, top: int = 7, ax: Any = None
    ) -> Self:
        """Draw a fitted model; `ax` may hold the curves of another model, to compare solvers."""
        model = check_fitted(model)
        return cls(model.history_, model.tol, against, name, top).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        before = 0 if ax is None else len(ax.get_legend_handles_labels()[1])
        ax = self._one(ax, (6.4, 3.6))
        runs: dict[Any, list[dict]] = {}
        for step in self.history:
            runs.setdefault(step.get("class"), []).append(step)
        measure = "stationarity" if np.isnan([step["gap"] for step in self.history]).all() else "gap"
        order = sorted(runs, key=lambda label: -self._x(runs[label])[-1])
        for k, label in reversed(list(enumerate(order))):
            self._curve(ax, runs[label], measure, k + before, label, k < self.top)
        if self.tol is not None:
            ax.axhline(self.tol, color="0.6", linestyle="--", linewidth=0.8, zorder=0)
            place = dict(xycoords=("axes fraction", "data"), textcoords="offset points", ha="right")
            ax.annotate("tol", (1.0, self.tol), xytext=(0, 2), color="0.4", fontsize="small", **place)
        ax.set_yscale("log")
        ax.set_xlabel("seconds" if self.against == "time" else "steps")
        ax.set_ylabel("relative duality gap" if measure == "gap" else "distance from stationary")
        if len(order) > self.top:
            note(ax, f"{self.top} of {len(order)} classes named, the slowest; the others grey")
        if self.against == "steps":
            ax.xaxis.get_major_locator().set_params(integer=True)
        legend(ax)
        return self

    def _x(self, run):
        return np.array([step["time" if self.against == "time" else "iteration"] for step in run], float)

    def _curve(self, ax, run, measure, k, label, named):
        gap = np.maximum([step[measure] for step in run], MIN_GAP)
        colour = COLOURS[k % len(COLOURS)] if named else "0.8"
        parts = [self.name, None if label is None else f"class {label}"]
        text = short(", ".join(part for part in parts if part)) if named else None
        marker = MARKERS[k % len(MARKERS)] if named else ""
        x, crowded = self._x(run), len(run) > MAX_MARKED_STEPS
        look = dict(color=colour, marker="" if crowded else marker, markersize=5, markerfacecolor="white")
        ax.plot(x, gap, label=text or None, linewidth=1.3, zorder=2 + named, **look)
        done = np.flatnonzero([bool(step.get("certified", True)) for step in run])
        if named:
            done = done[-1:] if crowded else done
            ax.plot(x[done], gap[done], marker, color=colour, markersize=5, zorder=4)


@dataclass(eq=False, repr=False)
class PathDisplay(Display):
    """Shares θ / Σθ of the heaviest kernels and, dashed, the score along a `Path`.

    Parameters
    ----------
    path : Path
    against : str, default "C"
        "C", or "p" for the regularizers of the path, side by side.
    at : int, optional
        The index of the regularizer (against "C"), or of C (against "p"); by default that of the best score.
    top : int, default 7
        The largest number of curves.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.inspect import PathDisplay
    >>> X = np.random.default_rng(0).normal(size=(30, 2))
    >>> shown = PathDisplay.from_estimator(MKLRegressor(), X, X[:, 0], Cs=[0.1, 1], regularizer=[1, 2], against="p")
    >>> [label.get_text() for label in shown.ax_.get_xticklabels()]
    ['1', '2']
    """

    path: Path
    against: str = "C"
    at: Any = None
    top: int = 7

    def __post_init__(self) -> None:
        super().__post_init__()
        path = self.path
        if not isinstance(path, Path):
            raise ValueError(f"path is a {type(path).__name__}: give the result of model.path(X, y).")
        check_choice("against", self.against, ("C", "p"))
        axis, what = (0, "regularizers") if self.against == "C" else (1, "values of C")
        n = path.score.shape[axis]
        if self.at is None:
            self.at = int(np.unravel_index(int(np.argmax(path.score)), path.score.shape)[axis])
        if not 0 <= self.at < n:
            raise ValueError(f"at={self.at}: the path has {n} {what}, numbered from 0 to {n - 1}.")

    @classmethod
    def from_path(cls, path: Path, *, against: str = "C", at: int | None = None, top: int = 7, ax: Any = None) -> Self:
        """Draw the result of `model.path(X, y)`."""
        return cls(path, against, at, top).plot(ax)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, Cs: Any = 10, regularizer: Any = None, test: Any = None, **drawn: Any
    ) -> Self:
        """Compute `model.path(X, y)`, and draw it with the keywords of `from_path`."""
        return cls.from_path(model.path(X, y, Cs=Cs, regularizer=regularizer, test=test), **drawn)

    def plot(self, ax: Any = None) -> Self:
        path, ax = self.path, self._panels(ax, (8.0, 3.8))[0, 0]
        x: Any
        if self.against == "C":
            at, x, label = self.at, path.Cs, "C"
            label += f", at regularizer {_called(path.regularizers[at])}" * (len(path.regularizers) > 1)
        else:
            at, x, label = (slice(None), self.at), [_called(value) for value in path.regularizers], "regularizer"
            label += f", at C = {path.Cs[self.at]:.3g}" * (len(path.Cs) > 1)
        path.draw(ax, path.weights[at], path.score[at], x, label, self.top)
        return self


def _called(regularizer):
    number = isinstance(regularizer, int | float | np.number)
    return "∞" if number and np.isinf(regularizer) else f"{regularizer:.3g}" if number else str(regularizer)
