"""The plan of one view: the part of X that its kernels see, and the steps before the kernels."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from .._state import Stored
from .transformers import Pipe, raw_view, reads_of, rescaled
from .view_data import READS, View, ViewArrays, checked_view, is_numeric, object_view, string_view

NO_COLUMNS = np.empty(0, int)  # the columns of kernels that see no data


@dataclass(frozen=True, eq=False)
class ViewPlan(Stored):
    """The part of X that a view is, and the steps before the kernels.

    `view(arrays)` cuts the columns out of X, refuses examples without these columns or marks them as absent, and
    applies the transformer. A `ViewArrays` holds X by the names of its parts.

    Attributes
    ----------
    name : str or None
        The part of X: the name of a view, or None if X is one array or frame.
    columns : array (d,) of int, or None
        The positions of the columns; None for all columns, and empty if kernels see no data.
    column_names : list or None
        The names of these columns if X has names; new data are selected by these names.
    encoding : tuple or None
        The `encoding` of its kernels, which reads texts.
    transformer : Pipe or None
        The transformer before the kernels.
    join : KernelList or None
        The kernels that are multiplied or added across views; the view then has no columns.
    zero : bool
        Whether an example that lacks the view gets zero kernel rows; if not, it raises an error.
    reads : str
        What the kernels of the view read, see `Kernel`.
    """

    saved = {
        "name": "plain", "columns": "?i8 d <big", "column_names": "?list d plain", "encoding": "?tuple", "zero": "flag",
        "reads": f"of {' '.join(READS)}", "pipe as transformer": "?Pipe", "join": "?KernelList",
    }  # fmt: skip
    name: str | None
    columns: np.ndarray | None
    column_names: list[Any] | None = None
    encoding: Any = None
    transformer: Pipe | None = None
    join: Any = None
    zero: bool = False
    reads: str = "numeric"

    def to_state(self) -> dict[str, Any]:
        return super().to_state() | {"encoding": None if self.encoding is None else tuple(self.encoding)}

    @property
    def where(self) -> tuple[str | None, np.ndarray | None, list[Any] | None]:
        """(name, columns, column_names), by which a `ViewArrays` cuts the view out."""
        return self.name, self.columns, self.column_names

    @property
    def sees_nothing(self) -> bool:
        """Whether its kernels look at no data."""
        return self.columns is not None and not len(self.columns)

    @property
    def takes_objects(self) -> bool:
        """Whether its kernels or its transformer read one object per example, so that lists of objects stay lists."""
        before = None if self.transformer is None else reads_of(self.transformer.given)
        return "objects" in (self.reads, before)

    @property
    def is_plain(self) -> bool:
        """Whether its kernels see unchanged columns of X, which every example must have."""
        return not self.zero and self.transformer is None

    @property
    def has_fitted_parts(self) -> bool:
        """Whether it has a transformer or a join, which are fitted on the training examples."""
        return self.transformer is not None or self.join is not None

    def fitted(self, arrays: ViewArrays, weights: np.ndarray | None) -> Self:
        """The plan with its transformer fitted on the examples of these arrays, with weights (n,) or None."""
        if self.transformer is None:
            return self
        return replace(self, transformer=self.transformer.fit(self.before_transformer(arrays), weights))

    def beside(self, other: Self) -> Self:
        """The plan of a view that its kernels share with those of another plan of the same columns."""
        zero, reads = self.zero and other.zero, min(self.reads, other.reads, key=READS.index)
        return self if (zero, reads) == (self.zero, self.reads) else replace(self, zero=zero, reads=reads)

    def rescaled(self, scales: np.ndarray) -> Self:
        """The fitted plan of a view of numbers whose columns are multiplied by these scales (d,)."""
        return replace(self, transformer=rescaled(self.transformer, scales))

    def view(self, arrays: ViewArrays) -> View:
        """The View of these arrays; its X is None if the kernels read strings or objects and all examples lack them."""
        view = self.before_transformer(arrays)
        before = self.transformer
        return view if before is None else before.transform(view, lambda: arrays.labels(*self.where))

    def before_transformer(self, arrays: ViewArrays) -> View:
        """The View of X before the transformer, with examples that lack this part of X marked as absent."""
        given = arrays.present.get(self.name)
        if given is None or arrays.X[self.name] is None or self.sees_nothing:
            return self._cut(arrays)
        if not self.zero:
            raise ValueError(
                f"X lacks the view {self.name!r} in {int((~given).sum())} of {arrays.n} examples, but kernels need it: "
                f'give them as (name, kernel, {self.name!r}, "zero"), in a product as On({self.name!r}, kernel, '
                f'missing="zero"), or keep the others, X[X.present[{self.name!r}]].'
            )
        view = self._cut(arrays)
        return view._replace(present=given if view.present is None else given & view.present)

    def _cut(self, arrays):
        """The View of the columns; if `zero`, examples with missing values are absent."""
        if self.sees_nothing:
            return View(np.zeros((arrays.n, 1)), None)
        if self.name in arrays.X and arrays.X[self.name] is None:
            return self._absent(arrays)
        if self.transformer is not None:
            pipe = self.transformer
            return raw_view(arrays, self.where, pipe.given if pipe.fitted is None else pipe.fitted, self.zero)
        if self.encoding is not None:
            return self._strings(arrays)
        x = arrays.cut(*self.where)
        if self.reads == "objects":
            return object_view(x, self.zero)
        if self.reads in ("anything", "nothing") and not is_numeric(x):
            return View(x, None)
        return checked_view(x, self.zero, arrays.finite, lambda: arrays.labels(*self.where))

    def _strings(self, arrays):
        """The View of sequences; an error about one of them names the view or its column."""
        try:
            return string_view(arrays.column(*self.where), self.encoding, self.zero)
        except ValueError as error:
            names = [str(name) for name in (self.name, *(self.column_names or ())) if name is not None]
            if not names:
                raise
            raise ValueError(f"In {': '.join(names)!r}, {error}") from None

    def _absent(self, arrays):
        """The View of an X without this part of X."""
        if not self.zero:
            raise ValueError(
                f"X[{self.name!r}] is None, but kernels need it: give it, or fit them with missing, "
                f'(name, kernel, {self.name!r}, "zero"), to predict without.'
            )
        width = arrays.n_features[self.name] if self.columns is None else len(self.columns)
        numbers = self.reads == "numeric" and self.transformer is None
        return View(np.zeros((arrays.n, width)) if numbers else None, np.zeros(arrays.n, bool))

    def width(self, n_features: Any) -> Any:
        """The number of columns, None for strings, a list of (width, reads) for a join; X has `n_features`."""
        if self.join is not None:
            return list(zip(self.join.widths, self.join.reads, strict=True))
        if self.encoding is not None:
            return None
        if self.transformer is not None:
            return self.transformer.width
        if self.columns is not None:
            return len(self.columns)
        return n_features[self.name] if isinstance(n_features, dict) else n_features

    def label(self) -> str | None:
        """The view's name, or the columns of a single table; "one × other" for a join; None for no data."""
        if self.join is not None:
            return " × ".join(dict.fromkeys(str(self.join.seen(part)) for part in range(self.join.M)))
        if self.sees_nothing:
            return None
        if self.name is not None:
            return str(self.name)
        if self.columns is None:
            return "the sequences" if self.reads == "sequences" else "all columns"
        labels = [str(label) for label in (self.columns.tolist() if self.column_names is None else self.column_names)]
        if self.column_names is None and len(labels) > 3 and (np.diff(self.columns) == 1).all():
            return f"columns {labels[0]} to {labels[-1]}"
        some = ", ".join(labels if len(labels) <= 4 else [*labels[:3], f"… {len(labels)} in all"])
        return f"column{'s'[: len(labels) > 1]} {some}"

    def made_columns(self, arrays: ViewArrays, d: int) -> list[str]:
        """The name of the column of X behind each of the d columns that kernels see, or of the transformer's output."""
        names = [name if isinstance(name, str) else f"column {name}" for name in arrays.labels(*self.where)]
        before = None if self.transformer is None else self.transformer.fitted
        if before is None:
            return names
        stem = "" if self.name is None else f"{self.name}: "
        try:  # a transformer of another library
            made = [str(name) for name in before.get_feature_names_out([name.removeprefix(stem) for name in names])]
        except (AttributeError, TypeError, ValueError):
            made = []
        made = made if len(made) == d else [f"number {k} of {type(before).__name__}" for k in range(d)]
        made = [f"{stem}{name}" for name in made]
        if self.name is not None or self.columns is None:
            return made
        return [name if name in names else f"{name} ({self.label()})" for name in made]  # two PCAs of one table

    def needs(self) -> dict[Any, set | None]:
        """{part of X: names or positions of the columns of the view, None for all}."""
        if self.join is not None:
            return self.join.needs(np.ones(self.join.M, bool))
        return {self.name: None if self.columns is None else set(self.column_names or self.columns.tolist())}


def by_source(plans: Sequence[ViewPlan]) -> tuple[list[ViewPlan], np.ndarray, list[np.ndarray | None]]:
    """(fewer plans, one for each part of X; the number of the new plan for each given plan; its columns there).

    All views hold numbers. Plans of all columns keep their own view, since new data are selected by the names of
    columns. Plans that are not plain keep theirs too, since an example may lack one view and have another. Columns are
    positions in the new view, None for all.
    """
    groups: dict[tuple, list[int]] = {}
    for v, plan in enumerate(plans):
        groups.setdefault((plan.name, plan.columns is None, None if plan.is_plain else v), []).append(v)
    found: list[ViewPlan] = []
    number = np.empty(len(plans), int)
    columns: list[np.ndarray | None] = [None] * len(plans)
    for members in groups.values():
        number[members] = len(found)
        first = replace(plans[members[0]], reads="numeric", encoding=None, join=None)
        if first.columns is None or first.transformer is not None:
            found.append(first)
            continue
        cuts: list[Any] = [plans[v].columns for v in members]
        union = np.unique(np.concatenate(cuts))
        names: dict[int, Any] = {}
        for v, cut in zip(members, cuts, strict=True):
            columns[v] = np.searchsorted(union, cut)
            names.update(zip(cut.tolist(), plans[v].column_names or (), strict=False))
        found.append(replace(first, columns=union, column_names=[names[c] for c in union.tolist()] if names else None))
    return found, number, columns
