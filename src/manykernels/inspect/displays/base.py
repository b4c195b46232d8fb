"""The base class of displays, and functions that read a fitted model."""

from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from ..._pictures import panels, plain
from ..._validation import check_integer
from ..sources import default_sources, given_sources
from ..tables import check_model, chosen_model


@dataclass(eq=False, repr=False)
class Display:
    """A picture and its numbers; `plot` draws it and sets `ax_`, `axes_` (all panels) and `figure_`.

    `shapes` has the axes of the parameters that are arrays: an axis is another parameter, which has one entry for each
    place, or any word.
    """

    shapes: ClassVar[dict[str, tuple[str, ...]]] = {}

    def __post_init__(self) -> None:
        parameters = vars(self)
        check_integer("top", parameters.get("top", 1))
        for key, axes in self.shapes.items():
            if getattr(self, key) is None:
                continue
            value, own = np.asarray(getattr(self, key), float), [parameters.get(axis) for axis in axes]
            sizes = [n if one is None else len(one) for n, one in zip(value.shape, own, strict=False)]
            if value.ndim != len(axes) or value.shape != tuple(sizes):
                wanted = [axis if one is None else f"{len(one)} {axis}" for axis, one in zip(axes, own, strict=True)]
                raise ValueError(f"{key} has shape {value.shape}: give ({', '.join(wanted)}).")
            setattr(self, key, value)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on a new figure."""
        raise NotImplementedError

    def _one(self, ax, size):
        """The axes to draw on, with two sides of their frame."""
        return plain(self._panels(ax, size)[0, 0])

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


def weights_of(model, output=None, theta=None):
    """θ (…, M) of one class, or the mean over the classes, of weights like those of the model, (…, T, M) or (…, M)."""
    own = np.asarray(model.kernel_weights_)
    theta = own if theta is None else theta
    if own.ndim == 1:
        if output is not None:
            raise ValueError(f"output={output!r}: the model has one vector of weights; leave output=None.")
        return theta
    return theta.mean(axis=-2) if output is None else theta[..., output_number(model, output), :]


def grouped(values, members):
    """Sums of values (…, M) over the kernels of each member."""
    return np.stack([values[..., which].sum(axis=-1) for which in members], axis=-1)


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
