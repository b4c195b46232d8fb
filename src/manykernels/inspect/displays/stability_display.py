from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..._pictures import COLOURS, as_shares, height, left_out, note, rows_of
from ..._validation import check_number
from ..bootstrap import bootstrap_weights
from .base import Display, check_fitted, grouped, members_of, weights_of


@dataclass(eq=False, repr=False)
class StabilityDisplay(Display):
    """Intervals of the shares θ / Σθ over bootstrap samples, their median, and how often a kernel has weight.

    A narrow interval means a well determined weight, not a relevant kernel: see `relevance`.

    Parameters
    ----------
    shares : array (B, M)
        The shares of each sample.
    names : list of M str
    fitted : array (M,), optional
        The shares of the model fitted on all examples, drawn as ◆.
    level : float, default 0.9
        The share of samples within the interval.
    top : int, default 20
        The number of rows, those with the largest means.
    what : str, default "kernels"
        What the names denote.

    Examples
    --------
    >>> from manykernels.inspect import StabilityDisplay
    >>> shown = StabilityDisplay([[0.2, 0.8], [0.4, 0.6], [0.3, 0.7]], ["rna", "text"]).plot()
    >>> [label.get_text() for label in shown.ax_.get_yticklabels()]
    ['text', 'rna']
    """

    shares: Any
    names: Sequence[str]
    fitted: Any = None
    level: float = 0.9
    top: int = 20
    what: str = "kernels"

    shapes = {"shares": ("samples", "names"), "fitted": ("names",)}

    def __post_init__(self) -> None:
        super().__post_init__()
        check_number("level", self.level, 0, 1)
        ends = [0.5 - self.level / 2, 0.5, 0.5 + self.level / 2]
        self.low, self.median, self.high = np.quantile(self.shares, ends, axis=0)
        self.selected = (self.shares > 0).mean(axis=0)

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, y: Any, *, n_boot: int = 20, by: str = "kernel", sources: dict[str, Any] | None = None,
        random_state: Any = 0, n_jobs: int | None = None, **drawn: Any,
    ) -> Self:  # fmt: skip
        """Compute `bootstrap_weights` of a fitted model, and draw them with the keywords of `from_weights`."""
        found = check_fitted(model)
        members_of(found, by, sources)  # raises before the fits
        boot = bootstrap_weights(found, X, y, n_boot, random_state, n_jobs)
        return cls.from_weights(boot, found, by=by, sources=sources, **drawn)

    @classmethod
    def from_weights(
        cls, boot: ArrayLike, model: Any, *, by: str = "kernel", sources: dict[str, Any] | None = None,
        output: Any = None, level: float = 0.9, top: int = 20, ax: Any = None,
    ) -> Self:  # fmt: skip
        """Draw the weights (B, M) or (B, T, M) of `bootstrap_weights` of a fitted model.

        `output` is a class; None: the mean over the classes.
        """
        model, boot = check_fitted(model), np.asarray(boot, float)
        theta = np.asarray(model.kernel_weights_)
        if boot.shape[1:] != theta.shape:
            raise ValueError(f"boot has shape {boot.shape}: give (samples, *{theta.shape}), as the model's weights.")
        names, members = members_of(model, by, sources)
        shares, fitted = (grouped(as_shares(weights_of(model, output, one)), members) for one in (boot, theta))
        return cls(shares, names, fitted, level, top, f"{by}s").plot(ax)

    def plot(self, ax: Any = None) -> Self:
        mean = self.shares.mean(axis=0)
        alive = np.argsort(-mean, kind="stable")
        alive = alive[mean[alive] > 0]
        rows = alive[: self.top]
        ax = self._one(ax, (7.2, height(len(rows)) + 0.3))
        place = np.arange(len(rows))
        within = f"{self.level:.0%} of {len(self.shares)} samples"
        ax.barh(
            place, self.high[rows] - self.low[rows], left=self.low[rows], height=0.45, color="#9ecae1", label=within
        )
        ax.plot(self.median[rows], place, "|", color=COLOURS[0], markersize=10, markeredgewidth=2, label="median")
        if self.fitted is not None:
            ax.plot(self.fitted[rows], place, "D", color=COLOURS[1], markersize=4.5, label="all examples")
        rows_of(ax, [self.names[m] for m in rows])
        for k, m in enumerate(rows):
            if self.selected[m] < 1:
                look: Any = dict(xytext=(4, 0), textcoords="offset points", va="center", fontsize="small", color="0.35")
                right = max(self.high[m], 0.0 if self.fitted is None else self.fitted[m])
                ax.annotate(f"weight in {self.selected[m]:.0%}", (right, k), **look)
        ax.set_xlim(left=0)
        ax.set_xlabel("share of the kernel weights")
        note(ax, left_out(len(rows), len(alive), self.what, 1.0 - mean[rows].sum()))
        ax.legend(frameon=False, fontsize="small", loc="lower right")
        return self
