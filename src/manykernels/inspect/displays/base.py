"""What all displays share: the manner of scikit-learn, and how they read a fitted model."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..._pictures import panels
from ..._validation import check_integer
from ..sources import default_sources, given_sources
from ..tables import check_model


class Display:
    """A picture that knows its numbers; `plot` draws it and sets `ax_`, `axes_` (all panels) and `figure_`."""

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
    """The model where it is fitted and has kernels; of `MKLClassifierCV` and its kin the best one."""
    check_model(model)
    check_is_fitted(model)
    return getattr(model, "best_estimator_", model)


def check_top(top):
    check_integer("top", top)


def class_names(model) -> list[str]:
    """The labels of the rows of `kernel_weights_`, or of the outputs; [] where there is one."""
    if len(model.intercept_) == 1:
        return []
    labels = getattr(model, "classes_", np.arange(len(model.intercept_)))
    labels = labels if len(labels) == len(model.intercept_) else range(len(model.intercept_))
    return [str(label) for label in np.asarray(labels).tolist()]


def output_number(model, output):
    """The number of an output that is called by its class, or by its number."""
    labels = class_names(model)
    if str(output) in labels:
        return labels.index(str(output))
    raise ValueError(f"output={output!r} is none of the model's: {', '.join(labels) or 'it has one'}.")


def weights_of(model, output=None):
    """θ (M,): of one class, or the mean over the classes."""
    theta = np.atleast_2d(model.kernel_weights_)
    if output is None:
        return theta.mean(axis=0)
    if len(theta) == 1:
        raise ValueError(f"output={output!r}: the model has one vector of weights; leave output=None.")
    return theta[output_number(model, output)]


def members_of(model, by: str, sources: dict[str, Any] | None = None) -> tuple[list[str], list[np.ndarray]]:
    """(names, the numbers of the kernels of each): each "kernel" by itself, or the kernels of each "source"."""
    names = [str(name) for name in model.kernel_names_]
    if by not in ("kernel", "source"):
        raise ValueError(f"by={by!r}: choose 'kernel' or 'source'.")
    if by == "kernel":
        if sources is not None:
            raise ValueError("sources is given with by='kernel', which does not read it: take by='source'.")
        return names, list(np.arange(len(names))[:, None])
    found = default_sources(model.predictor_.kernel_list, names)
    found = found if sources is None else given_sources(sources, names, found)
    return list(found), list(found.values())
