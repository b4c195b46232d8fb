"""The Shapley values of columns: result, tables and pictures."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._pictures import COLOURS, GREY, height, left_out, note, one_axes, plain, rows_of, short
from .._validation import check_choice, check_integer
from .tables import check_place, evenly, heaviest

KINDS = ("bar", "beeswarm", "waterfall")
MAX_DOTS = 2000  # examples of a beeswarm


@dataclass(frozen=True, eq=False)
class FeatureShares:
    """The result of `feature_shares`: what each of P columns adds to the decisions of n examples, source by source.

    A model of several outputs has a last axis for them.

    Parameters
    ----------
    parts : array (Q, n, P) or (Q, n, P, T)
        The values of the kernels of each source; they sum to `values`.
    part_base : array (Q, n) or (Q, n, T)
        What the kernels of each source are worth without any column.
    intercept : float or array (T,)
        With covariates their part is in it, (n,) or (n, T).
    decision : array (n,) or (n, T)
        The decisions: base + Σ_j values_j.
    names, sources : list of P and Q str
    data : array (n, P)
        What X has in the columns, NaN where a column is the output of a transformer.
    outputs : list of T str
        The classes or targets; [] if there is one output.
    baseline : str
        What absent columns are.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import FeatureShares
    >>> parts = np.array([[[1.0, -2.0]], [[0.5, 0.0]]])
    >>> found = FeatureShares(parts, np.zeros((2, 1)), 0.25, np.array([-0.25]), ["a", "b"], ["one", "two"],
    ...                       np.zeros((1, 2)), [], "an absent column adds nothing")
    >>> found.values, found.base, found.top(1)
    (array([[ 1.5, -2. ]]), array([0.25]), [('b', 2.0)])
    """

    parts: np.ndarray
    part_base: np.ndarray
    intercept: Any
    decision: np.ndarray
    names: list[str]
    sources: list[str]
    data: np.ndarray
    outputs: list[str]
    baseline: str

    @property
    def values(self) -> np.ndarray:
        """The Shapley value of each column in the decision, (n, P) or (n, P, T)."""
        return self.parts.sum(axis=0)

    @property
    def base(self) -> np.ndarray:
        """The decision without any column, the intercept included, (n,) or (n, T)."""
        return self.part_base.sum(axis=0) + self.intercept

    def of(self, source: str | None = None, output: Any = None) -> np.ndarray:
        """The values (n, P) of one source, None for all together, in one output, which may be None if it is the one."""
        values = self._part(source)
        if not self.outputs:
            return values
        if str(output) not in self.outputs:
            raise ValueError(f"output={output!r}: the model has several outputs, give one of {self.outputs}.")
        return values[..., self.outputs.index(str(output))]

    def _part(self, source):
        """The values (n, P) or (n, P, T) of one source, None for all together."""
        check_choice("source", source, (None, *self.sources))
        return self.values if source is None else self.parts[self.sources.index(source)]

    def top(self, many: int = 10, source: str | None = None) -> list[tuple[str, float]]:
        """[(column, mean |value| over examples and outputs)] of the columns that count most."""
        values = self._part(source)
        size = np.abs(values).reshape(len(values), len(self.names), -1).mean(axis=(0, 2))
        return [(self.names[p], float(size[p])) for p in heaviest(size, many)]

    def to_frame(self, output: Any = None) -> Any:
        """The values of one output as a pandas DataFrame, an example a row, a column for each column."""
        import pandas as pd

        return pd.DataFrame(self.of(output=output), columns=self.names)

    def to_shap(self) -> Any:
        """A `shap.Explanation` with these values, for the pictures of the package shap."""
        import shap

        return shap.Explanation(
            self.values, self.base, self.data, feature_names=self.names, output_names=self.outputs or None
        )

    def plot(
        self, kind: str = "bar", *, i: int = 0, output: Any = None, source: str | None = None, top: int = 15,
        ax: Any = None,
    ) -> Any:  # fmt: skip
        """Draw the `top` columns of all sources or of one, and return the axes.

        "bar": the mean |value| over the examples. "beeswarm": a dot for each example, coloured by what X has in the
        column. "waterfall": from the base to the decision of example i.
        """
        check_choice("kind", kind, KINDS)
        check_integer("top", top)
        values, waterfall = self.of(source, output), kind == "waterfall"
        if waterfall:
            check_place(i, len(values), "examples")
        size = np.abs(values[i]) if waterfall else np.abs(values).mean(axis=0)
        shown = heaviest(size, top)
        ax = plain(one_axes(ax, (7.2, height(len(shown)) + 0.4 * waterfall)))
        what = "the decision" if source is None else f"the part of {short(source)}"
        what += f" for {output}" if self.outputs else ""
        if waterfall:
            base = self.base if source is None else self.part_base[self.sources.index(source)]
            base = base if not self.outputs else base[:, self.outputs.index(str(output))]
            self._waterfall(ax, values[i], float(base[i]), shown, i, what)
        else:
            if kind == "bar":
                ax.barh(range(len(shown)), size[shown], color=COLOURS[0], height=0.7)
            else:
                self._swarm(ax, values, shown)
            rows_of(ax, [self.names[p] for p in shown])
            ax.set_xlabel(f"{'mean |share|' if kind == 'bar' else 'share'} of a column in {what}")
            note(ax, left_out(len(shown), int((size > 0).sum()), "columns"))
        return ax

    def _swarm(self, ax, values, shown):
        """Dots side by side where they would cover each other; grey if the column has no numbers."""
        rows = evenly(len(values), MAX_DOTS)
        ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)
        dots = None
        for k, p in enumerate(shown):
            x, colour = values[rows, p], _ranks(self.data[rows, p])
            place = k + _spread(x, np.ptp(values[np.ix_(rows, shown)]))
            look = dict(s=9, linewidths=0)
            if colour is None:
                ax.scatter(x, place, color=GREY, **look)
            else:
                dots = ax.scatter(x, place, c=colour, cmap="cividis", vmin=0, vmax=1, **look)
        if dots is not None:
            bar = ax.figure.colorbar(dots, ax=ax, ticks=[0, 1], pad=0.02, aspect=30)
            bar.ax.set_yticklabels(["low", "high"])
            bar.set_label("value of the column", labelpad=-12)
            bar.outline.set_visible(False)

    def _waterfall(self, ax, values, base, shown, i, what):
        others = float(values.sum() - values[shown].sum())
        steps = [float(values[p]) for p in shown] + ([others] if abs(others) > 0 else [])
        names = [_labelled(self.names[p], self.data[i, p]) for p in shown]
        names += [f"{int((values != 0).sum()) - len(shown)} other columns"] if len(steps) > len(shown) else []
        steps, names = steps[::-1], names[::-1]  # from the base at the bottom to the decision at the top
        ends = base + np.cumsum(steps)
        for k, (step, end) in enumerate(zip(steps, ends, strict=True)):
            at = len(steps) - 1 - k
            ax.barh(at, step, left=end - step, height=0.7, color=COLOURS[0 if step > 0 else 1])
            ax.annotate(f"{step:+.3g}", (max(end, end - step), at), (3, 0), textcoords="offset points", va="center",
                        fontsize="small")  # fmt: skip
            if k + 1 < len(steps):
                ax.plot([end, end], [at + 0.35, at - 1.35], color="0.6", linewidth=0.8)
        ax.axvline(base, color="0.6", linewidth=0.8, linestyle=":", zorder=0)
        rows_of(ax, names[::-1], 40)
        ax.use_sticky_edges = False
        ax.margins(x=0.1)
        ax.set_xlabel(f"{what} of example {i}\n{base:.3g} without columns, {base + values.sum():.3g} with all")


def _labelled(name, value):
    """The name of a column with its value, where it has one."""
    if isinstance(value, float | np.floating):
        return name if np.isnan(value) else f"{name} = {value:.3g}"
    return f"{name} = {short(value, 12)}"


def _ranks(column):
    """The ranks of numbers, from 0 to 1; None if the column has other entries or one value."""
    try:
        x = np.asarray(column, float)
    except (TypeError, ValueError):
        return None
    known = np.isfinite(x)
    if not known.any() or np.ptp(x[known]) == 0:
        return None
    values, at = np.unique(x[known], return_inverse=True)
    found = np.full(len(x), 0.5)
    found[known] = at / (len(values) - 1)
    return found


def _spread(x, width, most=0.38):
    """Offsets of dots at x (n,): up and down in turn within each of a hundred bins of the picture's width."""
    if not len(x) or width <= 0:
        return np.zeros(len(x))
    bins = np.floor((x - x.min()) / width * 100).astype(int)
    order, turn = np.argsort(bins, kind="stable"), np.zeros(len(x))
    counts = np.bincount(bins)
    turn[order] = np.arange(len(x)) - np.repeat(np.cumsum(counts) - counts, counts)
    side = np.where(turn % 2, -1, 1) * np.ceil(turn / 2)
    return side * min(0.07, 2 * most / max(counts.max(), 1))
