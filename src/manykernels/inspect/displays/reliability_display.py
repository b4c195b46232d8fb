from dataclasses import InitVar, dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..._pictures import COLOURS, legend
from ..._validation import check_choice, check_integer
from ...kernels.rows import check_rows
from .base import Display


@dataclass(eq=False, repr=False)
class ReliabilityDisplay(Display):
    """The frequency of an event against its predicted probability or decision value.

    The event is the second of two classes; with more classes, that the predicted class is right. Bins hold equal
    numbers of examples; bars are Wilson's 95 % intervals. Calibrated probabilities lie on the diagonal. Use examples
    outside the training data.

    Parameters
    ----------
    predicted : array (n,)
        Probabilities, or decision values.
    true : array (n,) of bool
        Whether the event happened.
    n_bins : int, default 10
        The largest number of bins; equal predictions share a bin.
    probability : bool, default True
        Whether `predicted` are probabilities.
    event : str, default "the event"
    name : str, optional
        The name of the model, for several on one axes.

    Examples
    --------
    >>> from manykernels.inspect import ReliabilityDisplay
    >>> shown = ReliabilityDisplay([0.1, 0.2, 0.8, 0.9], [False, False, True, True], n_bins=2).plot()
    >>> shown.frequency.tolist(), shown.counts.tolist()
    ([0.0, 1.0], [2, 2])
    """

    predicted: InitVar[Any]
    true: InitVar[Any]
    n_bins: InitVar[int] = 10
    probability: bool = True
    event: str = "the event"
    name: str | None = None

    def __post_init__(self, predicted: Any, true: Any, n_bins: int) -> None:
        check_integer("n_bins", n_bins)
        p, true = np.asarray(predicted, float), np.asarray(true)
        if p.ndim != 1 or p.shape != true.shape or not len(p):
            raise ValueError(f"predicted and true have shapes {p.shape} and {true.shape}: give (n,) each.")
        if not np.isfinite(p).all() or self.probability and ((p < 0) | (p > 1)).any():
            raise ValueError(f"predicted reaches from {p.min():g} to {p.max():g}: probabilities lie in [0, 1].")
        edges = np.unique(np.quantile(p, np.linspace(0, 1, n_bins + 1)[1:-1]))
        bins = np.unique(np.searchsorted(edges, p, side="left"), return_inverse=True)[1]
        self.counts = np.bincount(bins)
        self.mean = np.bincount(bins, p) / self.counts
        self.frequency = np.bincount(bins, true.astype(float)) / self.counts
        self.low, self.high = _wilson(self.frequency, self.counts)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: ArrayLike, *, response: str = "auto", n_bins: int = 10, name: str | None = None,
        ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw any fitted classifier on X, y; `response` "auto": predict_proba if it exists, else decisions."""
        check_choice("response", response, ("auto", "predict_proba", "decision_function"))
        check_is_fitted(model)
        if not is_classifier(model):
            raise ValueError(f"model is a {type(model).__name__}, which has no classes: give a classifier.")
        able = hasattr(model, "predict_proba")  # a classifier of scikit-learn's kind
        proba = able if response == "auto" else response == "predict_proba"
        if proba and not able:
            raise ValueError(
                f"response='predict_proba': this {type(model).__name__} has none; take loss='logistic', "
                "CalibratedClassifierCV, or 'decision_function'."
            )
        check_rows(X, y=y)
        f = np.asarray(model.predict_proba(X) if proba else model.decision_function(X))
        y, classes = np.asarray(y), np.asarray(model.classes_)
        if y.ndim != 1:
            raise ValueError(f"y has shape {y.shape}: give one label per example, (n,).")
        if not np.isin(y, classes).all():
            raise ValueError(f"y holds {np.setdiff1d(y, classes)[:5].tolist()}, which are no classes of the model.")
        if len(classes) == 2:
            f, true, event = f[:, 1] if proba else f, y == classes[1], f"class {classes[1]}"
        else:
            k = f.argmax(axis=1)
            f, true, event = f.max(axis=1), y == classes[k], "the predicted class"
        return cls(f, true, n_bins, proba, event, name).plot(ax)

    @classmethod
    def from_predictions(
        cls, y_true: ArrayLike, y_prob: ArrayLike, *, n_bins: int = 10, name: str | None = None, ax: Any = None
    ) -> Self:
        """Draw true values, 0 and 1, against probabilities of 1."""
        true = np.asarray(y_true)
        if not np.isin(true, (0, 1)).all():
            raise ValueError(f"y_true holds {np.unique(true)[:5].tolist()}: give 0 and 1.")
        return cls(y_prob, true.astype(bool), n_bins, name=name).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        k = 0 if ax is None else len(ax.containers)
        ax = self._one(ax, (4.8, 4.2))
        colour = COLOURS[k % len(COLOURS)]
        reach = np.abs(np.array([self.low, self.high]) - self.frequency)
        look = dict(fmt="osD^vP*"[k % 7] + "-", color=colour, markersize=5, linewidth=1.2, capsize=2)
        ax.errorbar(self.mean, self.frequency, yerr=reach, elinewidth=0.9, label=self.name, **look)
        ax.set_ylim(-0.03, 1.03)
        what = "probability of" if self.probability else "decision for"
        ax.set(xlabel=f"{what} {self.event}", ylabel="frequency, with 95% intervals")
        if self.probability:
            ax.set_xlim(-0.03, 1.03)
            ax.plot([0, 1], [0, 1], color="0.6", linestyle="--", linewidth=0.8, zorder=0)
            ax.set_aspect("equal")
        else:
            ax.axvline(0.0, color="0.6", linestyle="--", linewidth=0.8, zorder=0)
        legend(ax, 9, loc="upper left")
        return self


def _wilson(frequency, n, z=1.959964):
    """The ends of Wilson's intervals for frequencies of n trials."""
    centre = (frequency + z * z / (2 * n)) / (1 + z * z / n)
    half = z / (1 + z * z / n) * np.sqrt(frequency * (1 - frequency) / n + z * z / (4 * n * n))
    return np.clip(centre - half, 0.0, frequency), np.clip(centre + half, frequency, 1.0)
