from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from ..._validation import check_choice
from ...estimators.path import Path
from .base import Display


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
        if self.against == "C":
            label = "C" if len(path.regularizers) == 1 else f"C, at regularizer {_called(path.regularizers[self.at])}"
            path.draw(ax, path.weights[self.at], path.score[self.at], path.Cs, label, self.top)
        else:
            names = [_called(value) for value in path.regularizers]
            label = "regularizer" if len(path.Cs) == 1 else f"regularizer, at C = {path.Cs[self.at]:.3g}"
            path.draw(ax, path.weights[:, self.at], path.score[:, self.at], names, label, self.top)
        return self


def _called(regularizer):
    number = isinstance(regularizer, int | float | np.number)
    return "∞" if number and np.isinf(regularizer) else f"{regularizer:.3g}" if number else str(regularizer)
