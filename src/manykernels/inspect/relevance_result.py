"""The result of `relevance`: a table, a frame, a picture."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .._pictures import COLOURS, left_out, legend, note, one_axes, plain, render, rows_of, short
from .._validation import check_choice, one_line
from .sources import Shared, listed
from .tables import mean_shares, said

MEASURES = ("relevance", "drop", "permute", "gain", "alone")
ROWS_SHOWN = 25  # of each kind, in a printed table
SHARED_SHOWN = 5  # sources, or groups of sources, that share columns with others, which a table names below
_COLUMNS = ("relevance", "drop", "permute", "alone")


class Spread(NamedTuple):
    """Means over the folds, their standard errors, and the ends of the intervals, (rows,) each."""

    mean: np.ndarray
    se: np.ndarray
    low: np.ndarray
    high: np.ndarray


def spread_of(values: np.ndarray, overlap: float, level: float) -> Spread:
    """The `Spread` over the folds of values (J, rows), with n_test / n_train = `overlap`; NaN for a single fold."""
    from scipy.stats import t

    J, mean = len(values), values.mean(axis=0)
    if J < 2:
        lost = np.full_like(mean, np.nan)
        return Spread(mean, lost, lost, lost)
    se = values.std(axis=0, ddof=1) * np.sqrt(1.0 / J + overlap)
    half = t.ppf(0.5 + 0.5 * level, J - 1) * se
    return Spread(mean, se, mean - half, mean + half)


class Group(NamedTuple):
    """Interchangeable sources: the drop of the score without all of them, and their mean alignment."""

    names: list[str]
    drop: float
    drop_se: float
    low: float
    high: float
    alignment: float


@dataclass
class Relevance:
    """The relevance of sources and kernels on held-out examples; made by `relevance`.

    J folds, a row for each source and each kernel. It prints as a table, the most relevant sources first, then kernels.
    Rows that were only permuted have NaN where a measure needs refits, and come after the others.

    Parameters
    ----------
    names, kinds : list of str
        The names and kinds of the rows; a kind is "source" or "kernel", or "column" in `column_relevance`.
    score_all, score_nothing : ndarray (J,)
        The scores of all sources and of the best constant.
    score_without, score_permuted : ndarray (J, rows)
        The scores without the source, and with its rows permuted.
    score_alone, score_alone_permuted : ndarray (J, rows)
        The scores of the source by itself, and with its rows permuted.
    weights, alignments : ndarray (rows,)
        Shares of the kernel weights (of a column: of kernels that see it alone), and centred alignments with the
        targets, off the diagonal; means over the folds.
    overlap : float
        n_test / n_train.
    gap : float
        The largest relative duality gap of all fits.
    level : float, default 0.95
        Of the intervals.
    scoring : str, default "score"
        The name of the score.
    groups : list of Group
        (names, drop, drop_se, low, high, alignment) of each set of interchangeable sources.
    shared : list of Shared
        (name, others, taken) of each source that reads columns of smaller sources; where columns are the sources
        (`taken`), of the kernels that see several of them.
    overlapping : list of lists of str
        Groups of sources of kernels, such as gene sets: two sources are in a group if they share at least half of the
        columns of the smaller one, directly or through others.
    short : int
        The number of fits that stopped above their tolerance.
    metric : {source: {column: share}}
        If kernels learn a metric, the share of each column in the distances between examples, the mean over the folds.
    covariates : list of str
        The covariates that every fit adjusts for; `score_nothing` is then that of the covariates alone.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.inspect import relevance
    >>> from manykernels.kernels import Linear
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> found = relevance(MKLRegressor([("one", Linear(), [0]), ("two", Linear(), [1])]), X, X[:, 1])
    >>> [row["name"] for row in found.table()]
    ['two', 'one']
    >>> found.measure("drop").low[found.names.index("two")] > 0.5
    np.True_
    """

    names: list[str]
    kinds: list[str]
    score_all: np.ndarray
    score_nothing: np.ndarray
    score_without: np.ndarray
    score_permuted: np.ndarray
    score_alone: np.ndarray
    score_alone_permuted: np.ndarray
    weights: np.ndarray
    alignments: np.ndarray
    overlap: float
    gap: float
    level: float = 0.95
    scoring: str = "score"
    groups: list[Group] = field(default_factory=list)
    shared: list[Shared] = field(default_factory=list)
    overlapping: list[list[str]] = field(default_factory=list)
    short: int = 0
    metric: dict[str, dict[str, float]] = field(default_factory=dict)
    covariates: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, rows, found, level, scoring):
        """From the rows and the measurements of each fold."""
        each = {
            name: np.array([measured[name] for measured in found])
            for name in found[0]
            if name not in ("every", "metric")
        }
        return cls(
            [row.name for row in rows], [row.kind for row in rows], each["all"], each["nothing"], each["without"],
            each["permuted"], each["alone"], each["alone_permuted"], each["weight"].mean(axis=0),
            each["alignment"].mean(axis=0), float(each["overlap"].mean()), float(each["gap"].max()), level, scoring,
            short=int(each["short"].sum()), metric=mean_shares([measured["metric"] for measured in found]),
        )  # fmt: skip

    @property
    def n_splits(self) -> int:
        return len(self.score_all)

    def differences(self, measure: str) -> np.ndarray:
        """The values of a measure in each fold, (J, rows): "relevance", "drop", "permute", "gain" or "alone"."""
        check_choice("measure", measure, MEASURES)
        drop = self.score_all[:, None] - self.score_without
        gain = self.score_alone - self.score_alone_permuted
        values = {"drop": drop, "gain": gain, "relevance": 0.5 * (drop + gain), "alone": self.score_alone}
        return values[measure] if measure in values else self.score_all[:, None] - self.score_permuted

    def measure(self, measure: str) -> Spread:
        """Mean, standard error and interval of a measure, (rows,) each."""
        return self.spread(self.differences(measure))

    def spread(self, values: np.ndarray) -> Spread:
        """The same of values (J, rows) of the folds; NaN for a single fold."""
        return spread_of(values, self.overlap, self.level)

    def order(self) -> np.ndarray:
        """The rows in the order of the table."""
        mean, permute, refitted = self.measure("relevance").mean, self.measure("permute").mean, self.refitted
        worth = np.where(refitted, mean, permute)
        key = lambda m: (self.kinds[m] != "source", not refitted[m], -worth[m])  # noqa: E731
        return np.array(sorted(range(len(self.names)), key=key))

    @property
    def refitted(self) -> np.ndarray:
        """Whether each row was left out and tried alone, (rows,); the others were only permuted."""
        return ~np.isnan(self.score_without).any(axis=0)

    def table(self) -> list[dict[str, Any]]:
        """A dict per row: name, kind, each measure with its _se, _low and _high, weight and alignment."""
        ends = ("", "_se", "_low", "_high")
        columns = {
            measure + end: values
            for measure in MEASURES
            for end, values in zip(ends, self.measure(measure), strict=True)
        } | {"weight": self.weights, "alignment": self.alignments}
        return [
            {"name": self.names[m], "kind": self.kinds[m]} | {key: float(v[m]) for key, v in columns.items()}
            for m in self.order()
        ]

    def to_frame(self) -> Any:
        """The table as a pandas DataFrame."""
        import pandas as pd

        return pd.DataFrame(self.table())

    def of_kind(self, kind: str) -> list[int]:
        """The rows of a kind, "source" or "kernel", in the order of the table."""
        if kind not in self.kinds:
            raise ValueError(f"kind={kind!r}: the rows are of the kind {' and '.join(sorted(set(self.kinds)))}.")
        return [int(m) for m in self.order() if self.kinds[m] == kind]

    def row(self, name: str) -> int:
        """The row of this name; a ValueError if it was not measured."""
        for called in (name, f"kernel {name}"):
            if called in self.names:
                return self.names.index(called)
        known = ", ".join(self.names[:10]) + (", …" if len(self.names) > 10 else "")
        raise ValueError(
            f"relevance has no row {name!r}: it has {known}; measure it with the same sources and kernels=True."
        )

    def plot(self, ax: Any = None, kind: str | None = None, top: int = 20) -> Any:
        """Draws drop, permute and gain of the `top` most relevant rows of a kind, with intervals; returns the axes.

        The kind is by default that of the first row.
        """
        kind = self.kinds[0] if kind is None else kind
        rows = self.of_kind(kind)
        shown = rows[:top]
        ax, some = plain(one_axes(ax, (7.2, 1.2 + 0.5 * len(shown)))), self.refitted.any()
        looks = (("gain", "alone", "s"), ("permute", "permuted", "o"), ("drop", "left out", "D"))
        for k, (measure, label, marker) in enumerate(looks if some else looks[1:2]):
            place = np.arange(len(shown)) + (0.2 * (k - 1) if some else 0.0)
            self.draw(ax, measure, shown, place, fmt=marker, color=COLOURS[k], label=label)
        rows_of(ax, [f"{short(self.names[m], 24)} ({self.weights[m]:.0%} of weight)" for m in shown], 60)
        ax.set_xlabel(f"change of the {self.scoring}, {self.level:.0%} intervals over {self.n_splits} folds")
        note(ax, left_out(len(shown), len(rows), f"{kind}s"))
        legend(ax, 3)
        return ax

    def draw(self, ax: Any, measure: str, rows: list[int], place: Any, **look: Any) -> None:
        """Draw a measure of these rows with its intervals, and a line at 0."""
        spread = self.measure(measure)
        reach = np.abs(np.array([spread.low[rows], spread.high[rows]]) - spread.mean[rows])
        reach = None if np.isnan(reach).any() else reach
        ax.errorbar(spread.mean[rows], place, xerr=reach, markersize=5, capsize=2, **look)
        ax.axvline(0.0, color="0.6", linewidth=0.8, zorder=0)

    def _cells(self):
        """(head, rows of text, lines below): the first rows of each kind, and a line that counts the others."""
        what = self.kinds[0]
        head = [what, *_COLUMNS, "weight", "alignment"]
        body, every = [], self.table()
        kinds = {kind: [row for row in every if row["kind"] == kind] for kind in dict.fromkeys(self.kinds)}
        for row in (row for own in kinds.values() for row in own[:ROWS_SHOWN]):
            name = row["name"] if row["kind"] == what else f"  {row['name']}"
            values = [f"{row[c]:{'.3f' if c == 'alone' else '+.3f'}} ± {row[c + '_se']:.3f}" for c in _COLUMNS]
            cells = [name, *values, f"{row['weight']:.2f}", f"{row['alignment']:.2f}"]
            body.append([cell.replace("+nan ± nan", "").replace("nan ± nan", "").replace("nan", "") if k else cell
                         for k, cell in enumerate(cells)])  # fmt: skip
        whole, nothing = (self.spread(v[:, None]) for v in (self.score_all, self.score_nothing))
        none = "the covariates alone" if self.covariates else "none"
        below = [
            f"… and {len(own) - ROWS_SHOWN} more {kind}s, which table() and to_frame() have"
            for kind, own in kinds.items()
            if len(own) > ROWS_SHOWN
        ]
        below += [
            f"{self.scoring} of all sources {whole.mean[0]:.3f} ± {whole.se[0]:.3f}, of {none} {nothing.mean[0]:.3f}; "
            f"{self.n_splits} folds, ± one standard error; largest gap {self.gap:.1e}"
        ]
        if self.covariates:
            below.append(f"beyond the covariates {', '.join(self.covariates)}, which every fit adjusts for")
        own, done = self.kinds.count(what), int(self.refitted[np.array(self.kinds) == what].sum())
        if not self.refitted.all():
            some = f"{done} of {own} {what}s, those with the largest permute, were left out and tried alone; the others"
            below.append(
                f"{some if done else f'{what.capitalize()}s'} were only permuted: a small permute does not say that a "
                f"{what} is worthless, since others may replace it"
            )
        for group in self.groups:
            below.append(
                f"{', '.join(group.names)} stand in for each other: without all of them {group.drop:+.3f} ± "
                f"{group.drop_se:.3f}"
            )
        below += [said(source, shares) for source, shares in self.metric.items()]
        return head, body, [*below, *self._shared_lines()]

    def _shared_lines(self):
        """Sentences on sources that share columns; many sources of kernels are named in groups."""
        many = len(self.shared) > SHARED_SHOWN
        if not many or self.shared[0].taken:
            lines = [one.said() for one in self.shared[:SHARED_SHOWN]]
            return [*lines, f"{len(self.shared) - SHARED_SHOWN} more sources see columns of others"] if many else lines
        place = {self.names[m]: k for k, m in enumerate(self.order())}
        groups = sorted((sorted(names, key=place.__getitem__) for names in self.overlapping), key=lambda g: place[g[0]])
        lines = [
            f"{listed(names)} share half of their columns or more: leaving out one does not take these columns away"
            for names in groups[:SHARED_SHOWN]
        ]
        rest = len(groups) - SHARED_SHOWN
        lines += [f"{rest} more groups of sources share half of their columns or more"] if rest > 0 else []
        return [*lines, f"{len(self.shared)} sources have some columns in common with smaller ones"]

    def __str__(self) -> str:
        head, body, below = self._cells()
        widths = [max(len(row[k]) for row in [head, *body]) for k in range(len(head))]
        lines = [
            "  ".join(
                cell.ljust(w) if k == 0 else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths, strict=True))
            )
            for row in [head, *body]
        ]
        return "\n".join(map(one_line, [*lines, *below]))

    def _repr_html_(self) -> str:
        head, body, below = self._cells()
        return render("inspect/relevance.html.jinja", head=head, body=body, below=below)
