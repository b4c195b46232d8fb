from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._pictures import COLOURS, MARKERS, legend, note, short
from ..._validation import check_choice
from .base import Display, check_fitted

MIN_GAP = 1e-16  # a gap of 0 is drawn as
MAX_MARKED_STEPS = 20  # with more steps only the last one has a mark


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
