"""The base class of displays, and functions that read a fitted model."""

from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..._pictures import panels
from ..._validation import check_integer
from ..sources import default_sources, given_sources
from ..tables import check_model, chosen_model


class Display:
    """A picture and its numbers; `plot` draws it and sets `ax_`, `axes_` (all panels) and `figure_`."""

    ax_: Any
    axes_: np.ndarray
    figure_: Any

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on a new figure."""
        raise NotImplementedError

    def _panels(self, ax, size, rows=1, columns=1, **options):
        """The axes to draw on, (rows, columns)."""
        self.figure_, self.axes_ = panels(ax, rows, columns, size, **options)
        self.ax_ = self.axes_[0, 0]
        return self.axes_


def check_fitted(model):
    """The fitted model, or the one that a search chose; a ValueError if it has no kernels."""
    check_model(model)
    check_is_fitted(model)
    return chosen_model(model)


def check_top(top):
    check_integer("top", top)


def class_names(model) -> list[str]:
    """The names of the outputs, [] if there is one."""
    if len(model.intercept_) == 1:
        return []
    labels = model.classes_ if is_classifier(model) else np.arange(len(model.intercept_))
    labels = labels if len(labels) == len(model.intercept_) else range(len(model.intercept_))
    return [str(label) for label in np.asarray(labels).tolist()]


def output_number(model, output):
    """The index of the output of a class, or of a target number."""
    labels = class_names(model)
    if str(output) in labels:
        return labels.index(str(output))
    raise ValueError(f"output={output!r} is no output of the model: it has {', '.join(labels) or 'one'}.")


def weights_of(model, output=None):
    """θ (M,) of one class, or the mean over the classes."""
    theta = np.atleast_2d(model.kernel_weights_)
    if output is None:
        return theta.mean(axis=0)
    if len(theta) == 1:
        raise ValueError(f"output={output!r}: the model has one vector of weights; leave output=None.")
    return theta[output_number(model, output)]


def members_of(model, by: str, sources: dict[str, Any] | None = None) -> tuple[list[str], list[np.ndarray]]:
    """(names, [indices of kernels]): each "kernel" by itself, or the kernels of each "source"."""
    names = [str(name) for name in model.kernel_names_]
    if by not in ("kernel", "source"):
        raise ValueError(f"by={by!r}: choose 'kernel' or 'source'.")
    if by == "kernel":
        if sources is not None:
            raise ValueError("sources has no effect with by='kernel': take by='source'.")
        return names, list(np.arange(len(names))[:, None])
    found = default_sources(model.predictor_.kernel_list, names)
    found = found if sources is None else given_sources(sources, names, found)
    return list(found), list(found.values())
