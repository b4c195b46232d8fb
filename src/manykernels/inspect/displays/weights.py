"""The weights of kernels and sources, and how much they vary between bootstrap samples."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from ..._pictures import COLOURS, as_shares, height, left_out, note, plain, rows_of, short
from ..._validation import check_number
from ...estimators.check_inputs import optional
from ..bootstrap import bootstrap_weights
from ..relevance_result import Relevance
from ..tables import column_shares, heaviest
from .base import Display, check_fitted, class_names, grouped, members_of, weights_of


@dataclass(eq=False, repr=False)
class WeightsDisplay(Display):
    """Shares θ / Σθ of kernels or sources, as bars, as a heat map or as images.

    Several classes make a heat map, rows × classes, or, with `layout`, an image for each class, if the kernels lie on a
    grid. With `relevance` bars show the mean over the classes, and a second panel shows relevance with its intervals.

    Parameters
    ----------
    names : list of M str
    shares : array (M,) or (T, M)
    classes : list of T str, optional
    relevance : Relevance, optional
        With a row for each name.
    layout : (rows, columns), optional
        The grid of the kernels.
    images : array (T, h, w), optional
        Shown above the images of the weights, for example the mean images of the classes.
    top : int, default 20
        The number of rows, the heaviest ones.
    what : str, default "kernels"
        What the names denote.

    Examples
    --------
    >>> from manykernels.inspect import WeightsDisplay
    >>> shown = WeightsDisplay(["rna", "text"], [0.25, 0.75]).plot()
    >>> [float(bar.get_width()) for bar in shown.ax_.patches]
    [0.75, 0.25]
    """

    names: Sequence[str]
    shares: Any
    classes: Sequence[Any] | None = None
    relevance: Relevance | None = None
    layout: tuple[int, int] | None = None
    images: Any = None
    top: int = 20
    what: str = "kernels"

    def __post_init__(self) -> None:
        super().__post_init__()
        self.names, self.shares = list(self.names), np.asarray(self.shares, float)
        if self.shares.shape[-1] != len(self.names):
            raise ValueError(
                f"shares has shape {self.shares.shape} for {len(self.names)} names: give one share per name."
            )
        T = len(np.atleast_2d(self.shares))
        self.classes = None if self.shares.ndim == 1 else [str(c) for c in self.classes or range(T)]
        self.images = None if self.images is None else np.asarray(self.images)
        self._check_layout(T)

    @classmethod
    def from_estimator(
        cls,
        model: Any,
        *,
        by: str = "kernel",
        sources: dict[str, Any] | None = None,
        relevance: Relevance | None = None,
        per_class: bool | None = None,
        layout: tuple[int, int] | None = None,
        images: ArrayLike | None = None,
        top: int = 20,
        ax: Any = None,
    ) -> Self:
        """Draw a fitted model, by "kernel", "source", or "column" of a learned metric.

        `sources`, {name: kernels}, and their default are as in `relevance(...)`. `per_class` is by default True if the
        model has weights per class and `relevance` is None.
        """
        model = check_fitted(model)
        if by == "column":
            return cls._of_columns(model, sources, relevance, per_class, layout, top, ax)
        (names, members), theta = members_of(model, by, sources), np.atleast_2d(model.kernel_weights_)
        if per_class is None:
            per_class = len(theta) > 1 and relevance is None
        if per_class and len(theta) == 1:
            raise ValueError(
                "per_class=True: the model has one vector of weights; multi_class='ovr' learns one per class."
            )
        shares = grouped(as_shares(theta if per_class else theta.mean(axis=0)), members)
        classes = class_names(model) if per_class else None
        return cls(names, shares, classes, relevance, layout, images, top, f"{by}s").plot(ax)

    @classmethod
    def _of_columns(cls, model, sources, relevance, per_class, layout, top, ax):
        """Draw the shares of the columns in the learned metric."""
        shares = column_shares(optional(model, "metric_"))
        if not shares or any(value is not None for value in (sources, relevance, per_class, layout)):
            raise ValueError(
                'by="column" shows the metric of a model whose kernels have metric="learn", with top and ax alone: '
                'take by="kernel" or "source".'
            )
        names = [
            column if len(shares) == 1 else f"{source}, {column}" for source, own in shares.items() for column in own
        ]
        values = np.array([share for own in shares.values() for share in own.values()]) / len(shares)
        shown = cls(names, values, top=top, what="columns").plot(ax)
        shown.ax_.set_xlabel("share of the distances, learned metric")
        return shown

    @classmethod
    def from_relevance(cls, found: Relevance, *, kind: str = "source", top: int = 20, ax: Any = None) -> Self:
        """Draw the result of `relevance`, with the weights of its fits; `kind` is "source" or "kernel"."""
        rows = found.of_kind(kind)
        return cls([found.names[m] for m in rows], found.weights[rows], None, found, top=top, what=f"{kind}s").plot(ax)

    def plot(self, ax: Any = None) -> Self:
        """Draw on these axes, or on a new figure; several panels divide the space of `ax`."""
        if self.layout is not None:
            return self._images(ax)
        if self.classes is not None:
            return self._map(ax)
        pair = self.relevance is not None
        every = np.argsort(-self.shares, kind="stable") if pair else heaviest(self.shares)
        order = every[: self.top]
        size = (8.5 if pair else 6.4, height(len(order)))
        axes = self._panels(ax, size, 1, 1 + pair, **({"sharey": True} if pair else {}))[0]
        plain(axes[0]).barh(range(len(order)), self.shares[order], color=COLOURS[0], height=0.7)
        axes[0].set_xlabel(f"share of the {'kernel ' if not pair else ''}weights")
        rows_of(axes[0], [self.names[m] for m in order])
        if pair:
            self._relevance(plain(axes[1]), order)
        note(axes[-1], left_out(len(order), len(every), self.what, 1.0 - self.shares[order].sum()))
        return self

    def _relevance(self, ax, order):
        """Relevance of these rows with its intervals; rows that were not left out have none."""
        found = self.relevance
        several = {one.name for one in found.shared if one.taken}.difference(found.names)
        rows_at = {k: found.row(self.names[m]) for k, m in enumerate(order) if self.names[m] not in several}
        place = [k for k, row in rows_at.items() if found.refitted[row]]
        rows = [rows_at[k] for k in place]
        found.draw(ax, "relevance", rows, place, fmt="D", color=COLOURS[1])
        ax.tick_params(axis="y", length=0)
        ax.set_xlabel(f"relevance on held-out data, {found.level:.0%} intervals")

    def _map(self, ax):
        """Rows × classes, the share as colour."""
        every, T = heaviest(self.shares.mean(axis=0)), len(self.classes)
        order = every[: self.top]
        ax = self._panels(ax, (min(3.6 + 0.4 * T, 12.0), height(len(order)) + 0.3))[0, 0]
        image = ax.imshow(self.shares[:, order].T, aspect="auto", cmap="viridis", vmin=0, interpolation="nearest")
        rows_of(ax, [self.names[m] for m in order])
        ax.set_ylim(len(order) - 0.5, -0.5)
        names = [short(name, 14) for name in self.classes]
        step = 1 + (T - 1) // 25
        ax.set_xticks(range(0, T, step), names[::step], rotation=0 if max(map(len, names)) <= 2 else 40, ha="center")
        ax.set_xlabel("class")
        self.figure_.colorbar(image, ax=ax, label="share of the class's weights", pad=0.02)
        rest = 1.0 - self.shares[:, order].sum(axis=1).mean()
        note(ax, left_out(len(order), len(every), self.what, rest))
        return self

    def _images(self, ax):
        """The shares of each class on their grid, below the given images."""
        shares = np.atleast_2d(self.shares)
        T, above = len(shares), self.images is not None
        columns = min(T, 10)
        groups = -(-T // columns)
        deep = 1 + above
        size = (1.1 * columns + 0.8, 1.25 * groups * deep + 0.2)
        axes = self._panels(ax, size, groups * deep, columns)
        for panel in axes.flat:
            panel.set(xticks=[], yticks=[])
        options = dict(cmap="viridis", vmin=0, vmax=shares.max() or 1.0, interpolation="nearest")
        for t in range(groups * columns):
            block = axes[(t // columns) * deep : (t // columns + 1) * deep, t % columns]
            if t >= T:
                for panel in block:
                    panel.set_axis_off()
                continue
            if above:
                block[0].imshow(self.images[t], cmap="gray_r", interpolation="nearest")
                block[-1].set_ylabel("" if t % columns else "weights")
            image = block[-1].imshow(shares[t].reshape(self.layout), **options)
            if self.classes is not None:
                block[0].set_title(short(self.classes[t], 14))
        self.figure_.colorbar(image, ax=axes, label="share of the weights", aspect=12 * groups * deep, pad=0.01)
        return self

    def _check_layout(self, T):
        if self.layout is None:
            if self.images is not None:
                raise ValueError("images needs layout=(rows, columns), the grid of the kernels: give layout.")
            return
        if self.relevance is not None:
            raise ValueError("layout and relevance are two different pictures: give one of them.")
        if len(self.layout) != 2 or self.layout[0] * self.layout[1] != len(self.names):
            raise ValueError(f"layout={self.layout!r} has no place for each of {len(self.names)} {self.what}.")
        if self.images is not None and (self.images.ndim not in (3, 4) or len(self.images) != T):
            raise ValueError(
                f"images has shape {self.images.shape}: give (T, height, width), one image for each of {T}."
            )


def plot_weights(model: Any, ax: Any = None, top: int = 20) -> Any:
    """Bars of the shares θ / Σθ of the heaviest kernels, heaviest on top: `WeightsDisplay` as a function.

    Parameters
    ----------
    model : estimator
        Fitted.
    ax : matplotlib axes, optional
    top : int, default 20
        The largest number of kernels.

    Returns
    -------
    matplotlib axes

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import plot_weights
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    >>> plot_weights(MKLClassifier().fit(X, y), top=5).get_xlabel()
    'share of the kernel weights'
    """
    model = check_fitted(model)
    shares = as_shares(weights_of(model))
    return WeightsDisplay(model.kernel_names_, shares, top=top).plot(ax).ax_


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
        return cls.measured(boot, model, by, sources, output, level, top).plot(ax)

    @classmethod
    def measured(
        cls, boot: ArrayLike, model: Any, by: str = "kernel", sources: dict[str, Any] | None = None,
        output: Any = None, level: float = 0.9, top: int = 20,
    ) -> Self:  # fmt: skip
        """The same display, not drawn."""
        model, boot = check_fitted(model), np.asarray(boot, float)
        theta = np.asarray(model.kernel_weights_)
        if boot.shape[1:] != theta.shape:
            raise ValueError(f"boot has shape {boot.shape}: give (samples, *{theta.shape}), as the model's weights.")
        names, members = members_of(model, by, sources)
        shares, fitted = (grouped(as_shares(weights_of(model, output, one)), members) for one in (boot, theta))
        return cls(shares, names, fitted, level, top, f"{by}s")

    def plot(self, ax: Any = None) -> Self:
        mean = self.shares.mean(axis=0)
        alive = heaviest(mean)
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
