from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier, is_regressor

from ..._pictures import COLOURS, GREY, legend, rows_of, shorts
from ...estimators.check_inputs import take_examples
from ...estimators.covariates import part_of
from ...kernels.annotated import obs_columns
from ...kernels.rows import check_rows
from ...kernels.view_data import n_examples
from ..tables import heaviest
from .base import Display, check_fitted, class_names, grouped, members_of, output_number

DEFAULT_EXAMPLES = 10  # the first ones


@dataclass(eq=False, repr=False)
class DecisionDisplay(Display):
    """Decisions as stacked bars: the part of each kernel or source, the intercept, and ◆ their sum.

    Parameters
    ----------
    parts : array (n, M)
        The result of `decision_parts`.
    intercept : array (n,) or float
    names : list of M str
    examples : list of n str, optional
    top : int, default 6
        The number of parts with their own colour, the largest on average; the others are summed.
    what : str, default "kernels"
        What the names denote.
    label : str, default "decision"

    Examples
    --------
    >>> from manykernels.inspect import DecisionDisplay
    >>> shown = DecisionDisplay([[1.0, -0.5]], 0.25, ["rna", "text"]).plot()
    >>> [float(bar.get_width()) for bar in shown.ax_.patches], shown.decisions.tolist()
    ([1.0, -0.5, 0.25], [0.75])
    """

    parts: Any
    intercept: Any
    names: Sequence[str]
    examples: Any = None
    top: int = 6
    what: str = "kernels"
    label: str = "decision"

    shapes = {"parts": ("n", "names")}

    def __post_init__(self) -> None:
        super().__post_init__()
        self.intercept = np.broadcast_to(np.asarray(self.intercept, float), len(self.parts))
        self.examples = [str(k) for k in (range(len(self.parts)) if self.examples is None else self.examples)]
        self.decisions = self.parts.sum(axis=1) + self.intercept

    @classmethod
    def from_estimator(
        cls, model: Any, X: Any, examples: ArrayLike | None = None, *, by: str = "kernel",
        sources: dict[str, Any] | None = None, output: Any = None, top: int = 6, ax: Any = None, **more: Any,
    ) -> Self:  # fmt: skip
        """Draw a fitted model at the rows `examples` of X, by default the first ten.

        `output` is the class whose decision is drawn; None: the predicted class of each example. `more` holds `task`
        and `covariates` of all examples of X, as in `predict`. The covariates have a bar of their own, zᵀw less its
        mean over X, which the intercept holds.
        """
        model = check_fitted(model)
        if strange := sorted(more.keys() - {"task", "covariates"}):
            raise TypeError(f"from_estimator has no argument {strange[0]!r}: of the examples it takes task, covariates")
        names, members = members_of(model, by, sources)
        check_rows(X, **more)
        rows = _rows(examples, n_examples(X))
        extra = {} if more.get("task") is None else {"task": np.asarray(more["task"])[rows]}
        parts = model.decision_parts(take_examples(X, rows), **extra)
        own, level = part_of(model, obs_columns(X, more.get("covariates")), n_examples(X)), model.intercept_
        if own is not None:
            names, members = [*names, "covariates"], [*members, np.array([parts.shape[-1]])]
            mean = own.mean(axis=0)
            parts, level = with_covariates(parts, own[rows] - mean), level + mean
        (parts, intercept), labels, label = one_output(model, parts, output, level)
        texts = [f"{row}{f' → {text}' if text else ''}" for row, text in zip(rows, labels, strict=True)]
        return cls(grouped(parts, members), intercept, names, texts, top, f"{by}s", label).plot(ax)

    def plot(self, ax: Any = None) -> Self:
        n, size = len(self.parts), np.abs(self.parts).mean(axis=0)
        every = heaviest(size)
        shown, others = every[: self.top], every[self.top :]
        ax = self._one(ax, (8.2, 1.3 + 0.36 * max(n, 3)))
        labels = shorts([self.names[m] for m in shown])
        stacks: list[tuple] = [
            (self.parts[:, m], labels[k], dict(color=COLOURS[k % 6], hatch="//" if k >= 6 else None))
            for k, m in enumerate(shown)
        ]
        if len(others):
            stacks.append((self.parts[:, others].sum(axis=1), f"{len(others)} other {self.what}", dict(color=GREY)))
        if self.intercept.any():
            stacks.append((self.intercept, "intercept", dict(color="white", edgecolor="0.4", linewidth=0.8)))
        ends = np.zeros((2, n))  # of the bars right and left of 0
        for values, name, look in stacks:
            side = (values < 0).astype(int)
            start = ends[side, np.arange(n)]
            ax.barh(range(n), values, left=start, height=0.7, label=name, **look)
            ends[side, np.arange(n)] += values
        look = dict(color="black", markersize=6, markeredgecolor="white", linestyle="", zorder=5)
        ax.plot(self.decisions, range(n), "D", label="their sum", **look)
        ax.axvline(0.0, color="0.3", linewidth=0.8)
        rows_of(ax, self.examples)
        arrow = " → class" if any("→" in text for text in self.examples) else ""
        ax.set(xlabel=self.label, ylabel=f"example{arrow}")
        legend(ax, 1)
        return self


def _rows(examples, n):
    if examples is None:
        return np.arange(min(n, DEFAULT_EXAMPLES))
    rows = np.atleast_1d(np.asarray(examples))
    if rows.ndim != 1 or rows.dtype.kind not in "iu" or not len(rows) or (rows < -n).any() or (rows >= n).any():
        raise ValueError(f"examples={examples!r}: give indices of rows of X, from 0 to {n - 1}.")
    return rows % n


def with_covariates(parts, own):
    """The parts (n, M) or (n, T, M) of the kernels, and at their end those of the covariates, `own` (n, T)."""
    return np.concatenate([parts, own[:, :1] if parts.ndim == 2 else own[..., None]], axis=-1)


def one_output(model, parts, output, level):
    """((parts (n, M), intercepts (n,)), a text per example, the label of the decision) of one output per example.

    `level` is (T,), or (n, T) with covariates.
    """
    labels, b = class_names(model), np.broadcast_to(level, (len(parts), level.shape[-1]))
    if not labels:
        if output is not None:
            raise ValueError(f"output={output!r}: the model has one decision; leave output=None.")
        f = parts.sum(axis=1) + b[:, 0]
        if not is_classifier(model):
            label = "prediction" if is_regressor(model) else "decision"
            return (parts, b[:, 0]), [""] * len(parts), label
        no, yes = model.classes_.tolist()
        texts = [str(yes if v > 0 else no) for v in f]
        return (parts, b[:, 0]), texts, f"decision for {yes} against {no}"
    if output is not None:
        k = output_number(model, output)
        return (parts[:, k], b[:, k]), [""] * len(parts), f"decision for {labels[k]}"
    if not is_classifier(model) or model.multilabel_:
        raise ValueError(f"output=None: the model has {len(labels)} outputs, {', '.join(labels[:10])}; choose one.")
    k = (parts.sum(axis=2) + b).argmax(axis=1)
    every = np.arange(len(k))
    return (parts[every, k], b[every, k]), [labels[c] for c in k], "decision for the class that is predicted"
