"""Kernel specifications `(name, kernel, columns, missing)` made concrete on one data set, and the views they see."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from copy import copy
from typing import Any

import numpy as np

from ._base import READS, Kernel
from ._list_state import restore, state_of
from ._naming import names_of
from ._news import Known, News, learn, news
from ._pipes import Pipe, check_transformer, raw_view, reads_of, signature
from ._views import Source, View, checked_view, is_numeric, object_view, string_view
from ._wrap import as_kernel
from .on import READERS, Bundle, Seen, leaves, resolved
from .spec import KernelSpec, as_spec
from .tasks import numbers, split, spread

NONE = np.empty(0, int)  # the columns of kernels that see no data


class KernelList:
    """Kernels made concrete on one data set.

    `KernelList.from_spec(kernels, X)` reads what estimators take as `kernels`.

    Parameters
    ----------
    specs : list of KernelSpec
    X : array, DataFrame, sequences or dict of views
        The training data, from which kernels take what depends on it (gamma="scale").
    weights : array (n,), optional
        Of the examples in that.

    Attributes
    ----------
    kernels : list of Kernel
        The kernels, resolved.
    names : list of str
        What they are called.
    view_of, columns : array (M,) of int, list
        Kernel m sees view number `view_of[m]`, cut out by `columns[m]`.
    task_of, tasks : list of int, array or None
        `task_of[m]` is ALL, SAME or the number in `tasks` of the one task it is for; `tasks` is None without task
        kernels.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import RBF, KernelList, Linear
    >>> X = np.array([[0.0, 1.0], [2.0, 1.0], [4.0, 4.0]])
    >>> found = KernelList.from_spec([("width", RBF(gamma="scale"), [0]), Linear()], X)
    >>> found.names, found.n_views
    (['width', 'linear[all]'], 2)
    >>> [view.X.shape for view in found.views(X)]
    [(3, 1), (3, 2)]
    """

    columns: list[Any]
    task_of: Any
    tasks: Any
    _encodings: Any
    _keys: list[tuple[Any, Any, Any]]
    _pipes: list[Any]  # of each view: the transformer before its kernels, or None
    _joins: list[Any]  # of each view: the KernelList of the kernels that are multiplied or added across views, or None
    task_of, tasks, _encodings = (), None, ()
    known: Known | None = None  # what is known of the training examples, to say what is new; None: nothing
    chosen: str | None = None  # what "auto" stood for, in words; a file has it with the model

    @classmethod
    def from_spec(
        cls,
        kernels: Any,
        X: Any,
        memory_limit: float | None = None,
        weights: np.ndarray | None = None,
        change: Callable[[Kernel, int], Kernel] | None = None,
    ) -> KernelList:
        """Reads what a user may give as `kernels`: a list of specifications, one kernel, or "auto".

        Parameters that come from the data are those of examples of these weights (n,); None for all equal. `change`
        puts another in the place of a kernel, given with its number in the list.
        """
        if isinstance(kernels, KernelList):
            return kernels
        if isinstance(kernels, str) and kernels == "auto":
            from .auto import choose_kernels

            specs, chosen = choose_kernels(split(X)[0], memory_limit, weights)
            found = cls(specs, X, weights)._learned(X)
            found.chosen = chosen
            return found
        if isinstance(kernels, dict):
            raise ValueError("kernels is a dict: give a list [(name, kernel), ...], list(kernels.items()).")
        if isinstance(kernels, Kernel | str | KernelSpec) or not hasattr(kernels, "__iter__"):
            kernels = [kernels]
        specs = [as_spec(k) for k in kernels]
        if not specs:
            raise ValueError("kernels=[] has no kernel; give at least one, such as RBF(gamma=0.1).")
        if change is not None:
            specs = [spec._replace(kernel=change(as_kernel(spec.kernel), m)) for m, spec in enumerate(specs)]
        return cls(specs, X, weights)._learned(X)

    def __init__(self, specs: list[KernelSpec], X: Any, weights: np.ndarray | None = None) -> None:
        specs, self.task_of, self.tasks = spread(specs, split(X)[1])
        given = [as_kernel(spec.kernel) for spec in specs]
        before, wrapped = zip(*(_split(kernel, spec) for kernel, spec in zip(given, specs, strict=True)), strict=True)
        source = Source(split(X)[0], objects=_object_views(wrapped, specs, before))
        self.n_features = source.n_features
        self._keys, self.view_of, self.columns = [], np.empty(len(specs), int), []
        self._encodings = []  # of each view: (alphabet, unknown) where string kernels see it
        self._pipes, self._joins = [], []
        numbers, labels = {}, []
        for m, spec in enumerate(specs):
            if leaves(wrapped[m]):
                self.view_of[m] = len(self._keys)
                self._add_view((next(iter(source.X)), NONE, []), join=_join(wrapped[m], spec, X, weights))
                self.columns.append(None)
                labels.append("")
                continue
            blind = wrapped[m].base == "same" and spec.columns is None and spec.missing != "zero"  # sees no data
            where = (next(iter(source.X)), None, "all") if blind else source.resolve(spec.columns, spec.name)
            view, columns, label = where
            encoding, objects, pipe = wrapped[m].encoding, wrapped[m].reads == "objects", signature(before[m])
            identity = blind or (view, None if columns is None else columns.tobytes(), encoding, objects, pipe)
            if identity not in numbers:
                numbers[identity] = len(self._keys)
                key = (view, NONE, []) if blind else (view, columns, source.names(view, columns))
                self._add_view(key, encoding, before[m])
            self.view_of[m] = numbers[identity]
            self.columns.append(columns)
            labels.append(label)
        self._zero = np.ones(len(self._keys), bool)  # views whose missing rows give zero kernel rows
        self._reads = ["nothing"] * len(self._keys)  # of each view: what its kernels read
        for v, kernel, spec in zip(self.view_of, wrapped, specs, strict=True):
            if spec.missing not in ("error", "zero"):
                raise ValueError(f'missing={spec.missing!r} of {spec.name or kernel} must be "error" or "zero".')
            self._zero[v] &= spec.missing == "zero"
            self._reads[v] = min(self._reads[v], kernel.reads, key=READS.index)
        for v, pipe in enumerate(self._pipes):
            if pipe is not None:
                pipe.fit(self._raw(v, source), weights)
        looks = [type(kernel).resolve is not Kernel.resolve for kernel in wrapped]  # what no kernel sees is not cut
        looks = [look and self._joins[v] is None for look, v in zip(looks, self.view_of, strict=True)]
        views = self.views(X, np.unique(self.view_of[looks]))
        parts = zip(self.view_of, wrapped, looks, strict=True)
        self.kernels = [
            _resolved(kernel, views[v], weights) if look else self._joined(kernel, v) for v, kernel, look in parts
        ]
        shown = zip(given, wrapped, self.kernels, strict=True)
        self.names = names_of(
            specs, [kernel if one is other and not leaves(one) else one for one, other, kernel in shown], labels
        )

    def _learned(self, X):
        """The list itself, with what new examples are compared with."""
        learn(self, self._source(X))
        return self

    def _source(self, X):
        """X by views; lists of objects stay as they are."""
        parts = zip(self._keys, self._reads, self._pipes, strict=True)
        objects = [key[0] for key, reads, pipe in parts if "objects" in (reads, pipe and reads_of(pipe.given))]
        return Source(split(X)[0], self.n_features, objects)

    def news(self, X: Any, used: np.ndarray, growing: bool = True) -> list[News]:
        """What is new in X to the kernels in the mask `used` (M,), see `_news`."""
        return news(self, self._source(X), used, growing)

    def _add_view(self, key, encoding=None, transformer=None, join=None):
        self._keys.append(key)
        self._encodings.append(encoding)
        self._pipes.append(None if transformer is None else Pipe(transformer))
        self._joins.append(join)

    def _joined(self, kernel, v):
        """A kernel across views with those of its own list in the place of each On."""
        join = self._joins[v]
        if join is None:
            return kernel
        return resolved(kernel, [Seen(int(part), k) for part, k in zip(join.view_of, join.kernels, strict=True)])

    @property
    def M(self) -> int:
        return len(self.kernels)

    @property
    def n_views(self) -> int:
        return len(self._keys)

    @property
    def encodings(self) -> Sequence[tuple | None]:
        """(alphabet, unknown) of each view, None where it holds numbers."""
        return self._encodings

    @property
    def reads(self) -> list[str]:
        """What the kernels of each view read."""
        return self._reads

    @property
    def widths(self) -> list[Any]:
        """How many columns each view has, None where it holds strings; across views a list of (width, reads)."""
        return [
            list(zip(join.widths, join.reads, strict=True)) if join is not None
            else None if encoding is not None else pipe.width if pipe is not None
            else len(columns) if columns is not None
            else self.n_features[name] if isinstance(self.n_features, dict) else self.n_features
            for (name, columns, _), encoding, pipe, join
            in zip(self._keys, self._encodings, self._pipes, self._joins, strict=True)
        ]  # fmt: skip

    def to_state(self) -> dict[str, Any]:
        """For a file, see `_state`."""
        return state_of(self)

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> KernelList:
        return restore(cls.__new__(cls), state, NONE)

    def seen(self, m: int) -> str | None:
        """What to call what kernel m sees: its view, or of one table its columns; None where it looks at nothing.

        Kernels across views see "one × other".
        """
        (view, columns, names), join = self._keys[self.view_of[m]], self._joins[self.view_of[m]]
        if join is not None:
            return " × ".join(dict.fromkeys(str(join.seen(part)) for part in range(join.M)))
        if columns is not None and not len(columns):
            return None
        if view is not None:
            return str(view)
        if columns is None:
            return "all columns"
        labels = [str(label) for label in (columns.tolist() if names is None else names)]
        if names is None and len(labels) > 3 and (np.diff(columns) == 1).all():
            return f"columns {labels[0]} to {labels[-1]}"
        some = ", ".join(labels if len(labels) <= 4 else [*labels[:3], f"… {len(labels)} in all"])
        return f"column{'s'[: len(labels) > 1]} {some}"

    def needs(self, used: np.ndarray) -> dict[Any, set | None]:
        """{view: names or positions of its columns, None for all} that the kernels in the mask `used` (M,) see."""
        found: dict[Any, set | None] = {}
        for v in np.unique(self.view_of[used]):
            (name, columns, names), join = self._keys[v], self._joins[v]
            own = {name: None if columns is None else set(names or columns.tolist())}
            for view, seen in (own if join is None else join.needs(np.ones(join.M, bool))).items():
                if seen is None or found.get(view, seen) is None:
                    found[view] = None
                elif seen:
                    found[view] = found.get(view, set()) | seen  # type: ignore[operator]  # None was seen to above
        return found

    def __len__(self):
        return len(self.kernels)

    def part(self, which: Sequence[int] | np.ndarray) -> KernelList:
        """The list of these kernels alone, resolved as they are."""
        part, seen = copy(self), np.unique(self.view_of[which])
        part.kernels, part.names = [self.kernels[m] for m in which], [self.names[m] for m in which]
        part.columns, part.view_of = [self.columns[m] for m in which], np.searchsorted(seen, self.view_of[which])
        part.task_of = [self.task_of[m] for m in which] if len(self.task_of) else self.task_of
        part._keys, part._encodings = [self._keys[v] for v in seen], [self._encodings[v] for v in seen]
        part._zero, part._reads = self._zero[seen], [self._reads[v] for v in seen]
        if self.known is not None:
            part.known = self.known._replace(lengths=[self.known.lengths[v] for v in seen])
        part._pipes, part._joins = [self._pipes[v] for v in seen], [self._joins[v] for v in seen]
        return part

    def views(self, X: Any, which: Iterable[int] | None = None) -> list[Any]:
        """The distinct views of X, checked: a list of View, None for those whose number is not in `which`."""
        source = self._source(X)
        X, task = split(X)
        if source.n_features != self.n_features:
            raise ValueError(
                f"X has {source.n_features} features, but the kernels were specified on {self.n_features}; "
                "give X with the columns it was fitted with."
            )
        code = numbers(self.tasks, task)
        views = [None] * len(self._keys)
        for v in range(len(views)) if which is None else which:
            view = self._view(v, source) if self._joins[v] is None else _bundle(self._joins[v], X)
            views[v] = view if code is None else view._replace(task=code)
        return views

    def _view(self, v, source):
        """View number v; its X is None where it has strings or objects and no example has them."""
        view = self._raw(v, source)
        return view if self._pipes[v] is None else self._pipes[v].transform(view)

    def _raw(self, v, source):
        """View number v before a transformer, those examples absent that lack it."""
        name, given = self._keys[v][0], source.present.get(self._keys[v][0])
        if given is None or source.X[name] is None or self._keys[v][1] is NONE:
            return self._cut(v, source)
        if not self._zero[v]:
            raise ValueError(
                f"X lacks the view {name!r} in {int((~given).sum())} of {source.n} examples, but kernels need it: give "
                f'them as (name, kernel, {name!r}, "zero"), in a product as On({name!r}, kernel, missing="zero"), or '
                f"keep the others, X[X.present[{name!r}]]."
            )
        view = self._cut(v, source)
        return view._replace(present=given if view.present is None else given & view.present)

    def _cut(self, v, source):
        key, zero, encoding, pipe = self._keys[v], self._zero[v], self._encodings[v], self._pipes[v]
        if key[1] is not None and not len(key[1]):
            return View(np.zeros((source.n, 1)), None)  # for kernels that see no data
        if key[0] in source.X and source.X[key[0]] is None:
            if not zero:
                raise ValueError(
                    f"X[{key[0]!r}] is None, but kernels need it: give it, or fit them with missing, "
                    f'(name, kernel, {key[0]!r}, "zero"), to predict without.'
                )
            width = source.n_features[key[0]] if key[1] is None else len(key[1])
            plain = self._reads[v] == "numeric" and pipe is None
            return View(np.zeros((source.n, width)) if plain else None, np.zeros(source.n, bool))
        if pipe is not None:
            return raw_view(source, key, pipe.given, zero)
        if encoding is not None:
            return string_view(source.column(*key), encoding, zero)
        x = source.cut(*key)
        if self._reads[v] == "objects":
            return object_view(x, zero)
        if self._reads[v] in ("anything", "nothing") and not is_numeric(x):
            return View(x, None)
        return checked_view(x, zero, source.finite, lambda: source.labels(*key))


READERS.append(KernelList.from_spec)


def _split(kernel, spec):
    """(transformer or None, kernel) of a specification; a kernel that is both stands as its two parts."""
    before, parts = spec.transformer, None if leaves(kernel) else kernel.split()
    if before is not None:
        check_transformer(before, spec.name or type(kernel).__name__)
        if leaves(kernel) or kernel.reads in ("sequences", "objects") and parts is None:
            raise ValueError(
                f"{kernel!r} cannot stand behind a transformer, which makes rows of numbers: give a kernel of numbers, "
                "and to products On(columns, kernel, transformer) each."
            )
    if parts is None:
        return before, kernel
    if before is None:
        return parts
    from sklearn.pipeline import make_pipeline

    return make_pipeline(before, parts[0]), parts[1]


def _join(kernel, spec, X, weights):
    """The list of the kernels that a product or sum across views is made of."""
    if spec.columns is not None:
        raise ValueError(f"{kernel!r} has columns of its own: leave columns={spec.columns!r} out.")
    specs = [as_spec(leaf) for leaf in leaves(kernel)]
    specs = [part if spec.missing == "error" else part._replace(missing=spec.missing) for part in specs]
    if any(leaves(part.kernel) for part in specs):
        raise ValueError(f"{kernel!r} has On within On: give each kernel its columns once.")
    return KernelList(specs, split(X)[0], weights)


def _bundle(join, X):
    """The View of a product or sum across views: an example lacks it that lacks one of them."""
    views, present = join.views(X), None
    for view in views:
        if view.present is not None:
            present = view.present if present is None else present & view.present
    if any(view.X is None for view in views):
        return View(None, np.zeros(len(present), bool))
    return View(Bundle([view.X for view in views]), present)


def _object_views(kernels, specs, before):
    """The names of the views that kernels of objects see as a whole, None for X itself; or a ValueError."""
    for kernel in kernels:
        if kernel.reads not in READS:
            raise ValueError(f"reads={kernel.reads!r} of {type(kernel).__name__} must be one of {', '.join(READS)}.")
    found = []
    for kernel, spec, transformer in zip(kernels, specs, before, strict=True):
        reads = kernel.reads if transformer is None else reads_of(transformer)
        columns = spec.name if spec.columns is None else spec.columns
        if reads == "objects" and (columns is None or isinstance(columns, str)):
            found += [columns, None] if spec.columns is None else [columns]
    return found


def _resolved(kernel, view, weights):
    """The kernel with what depends on the examples filled in, from those that have the view, by weight."""
    X = view.X
    if X is None:
        raise ValueError(f"X has no example at all in the view of {kernel!r}: leave the kernel out.")
    if view.present is not None and view.present.any() and kernel.reads != "sequences":
        X, weights = X[view.present], None if weights is None else weights[view.present]
    return kernel.resolve(X) if weights is None else kernel.resolve(X, weights)
