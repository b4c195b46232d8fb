"""What new examples have and no training example had: missing values, categories, lengths of sequences.

A `KernelList` keeps the `TrainingFacts` of its training examples, and `news` compares new examples with them.
"""

from contextlib import suppress
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._packed import Packed
from .._state import check, check_value, read_entries
from .annotated import NamedMatrix
from .frames import are_missing_texts, is_frame, is_pandas, len_, missing_entries, values
from .table_scaler import TableScaler
from .transformers import first_step
from .view_data import blank_entries, total

SOME = 100  # examples whose k(x, x) is compared with 1
LONGER = 1.5  # ratio of two lengths above which they count as unequal


class NewDataWarning(UserWarning):
    """New examples have values that no training example had."""


class TrainingFacts(NamedTuple):
    """Facts of the training examples.

    `gaps` has for each view the columns with missing values, by name or position, and also None if examples lack the
    view. `lengths` has for each view the lengths of its shortest and its longest sequence, or None. `grows`: kernels
    count words of sequences of unequal lengths, and all other kernels have k(x, x) = 1 or 0.
    """

    gaps: dict[Any, list[Any]]
    lengths: list[tuple[int, int] | None]
    grows: bool = False

    def to_state(self):
        """The state for a file, see `_state`."""
        gaps = [[view, list(columns)] for view, columns in self.gaps.items()]
        return {"gaps": gaps, "lengths": self.lengths, "grows": self.grows}


def facts_of_state(state, sizes, n_views):
    """The checked TrainingFacts of a state; None for the state of an older file, which has none."""
    if state is None:
        return None
    saved = {"gaps": "list _ list 2 any", "lengths": "list V ?tuple", "grows": "?flag"}
    own = read_entries(saved, state, V=n_views)
    for view, columns in own["gaps"]:
        check(view in sizes, f"there is no view {view!r}")
        check_value("gaps", columns, "list _ plain", {})
    for span in filter(None, own["lengths"]):
        check_value("lengths", sorted(span), "list 2 int 0", {"big": 2**48})
    return TrainingFacts(dict(own["gaps"]), own["lengths"], bool(own["grows"]))


class News(NamedTuple):
    """One novelty: its `kind` ("missing", "category", "short", "length"), where, in which rows, and an example."""

    kind: str
    where: str
    rows: np.ndarray
    example: Any = None


def learn_facts(kernels, arrays):
    """Sets `training_facts` of a KernelList, and of the lists of its joins, from the training examples."""
    gaps = {view: list(lost) for view, lost in _gaps(kernels, arrays, np.ones(kernels.M, bool)).items()}
    for view, present in arrays.present.items():
        gaps[view] += [None] * (present is not None and not present.all())
    for one in (kernels, *(plan.join for plan in kernels.view_plans if plan.join is not None)):
        one.training_facts = TrainingFacts(gaps, [_span(plan, arrays) for plan in one.view_plans])


def news(kernels, arrays, used, growing):
    """What is new in these arrays to the kernels in the mask `used` (M,); with `growing`, lengths of sequences too."""
    gaps = [] if kernels.training_facts is None else _new_gaps(kernels, arrays, used)
    return gaps + _new_in_views(kernels, arrays, used, growing)


def _new_in_views(kernels, arrays, used, growing):
    found = []
    for v in np.unique(kernels.view_of[used]):
        plan = kernels.view_plans[v]
        if plan.join is not None:
            found += _new_in_views(plan.join, arrays, np.ones(plan.join.M, bool), growing)
        elif plan.transformer is not None:
            found += _new_categories(plan, arrays)
    return found + _new_sizes(kernels, arrays, used, growing)


def unequal(kernels, used):
    """(kernel, shortest, longest training length) of the first kernel whose norm grows with unequal lengths."""
    for m in np.flatnonzero(used):
        for name, _, _, (low, high) in _grown(kernels, [m]):
            if high > LONGER * max(low, 1):
                return name, low, high
        join = kernels.view_plans[kernels.view_of[m]].join
        if join is not None and (found := unequal(join, np.ones(join.M, bool))) is not None:
            return kernels.names[m], *found[1:]
    return None


def learn_growth(kernels, X):
    """Sets `training_facts.grows` of a KernelList."""
    if unequal(kernels, np.ones(kernels.M, bool)) is None:
        return
    numbers = [m for m, k in enumerate(kernels.kernels) if not k.exempt and k.sizes(np.ones(2)) is None]
    views = kernels.views(X, np.unique(kernels.view_of[numbers]))
    seen = ((kernels.kernels[m], views[kernels.view_of[m]].X) for m in numbers)
    own = (kernel.diag(x[:SOME]) if x is not None and len_(x) else np.full(1, np.nan) for kernel, x in seen)
    kernels.training_facts = kernels.training_facts._replace(grows=all(np.allclose(k, k != 0) for k in own))


def wordless(kernels, used):
    """(kernel, its shortest word, shortest training sequence) of the first kernel that is 0 for a training sequence."""
    grown = _grown(kernels, np.flatnonzero(used))
    return next(((name, one.shortest, low) for name, one, _, (low, _) in grown if low < one.shortest), None)


def _grown(kernels, which):
    """(name, kernel, plan, least and largest size of the training sequences) of the kernels whose norms grow."""
    for m in which if kernels.training_facts is not None else ():
        kernel, v = kernels.kernels[m], kernels.view_of[m]
        span = kernels.training_facts.lengths[v]
        sizes = None if span is None else kernel.sizes(np.array(span))
        if sizes is not None:
            yield kernels.names[m], kernel, kernels.view_plans[v], (int(sizes[0]), int(sizes[1]))


def _new_sizes(kernels, arrays, used, growing):
    """Sequences without a word, and those of unusual length."""
    short, unusual = [], []
    read = cache(lambda plan, known: _sizes(plan, arrays, known))  # once for all kernels of a view
    for name, kernel, plan, (low, high) in _grown(kernels, np.flatnonzero(used)):
        if low >= kernel.shortest > 0:
            lengths, rows = read(plan, True)
            sizes = kernel.sizes(lengths)
            if (few := np.flatnonzero(sizes < kernel.shortest)).size:
                short.append(News("short", f"kernel {name!r}", rows[few], (kernel.shortest, int(sizes[few].min()))))
        if growing:
            lengths, rows = read(plan, False)
            sizes = kernel.sizes(lengths)
            far = np.flatnonzero((sizes > LONGER * max(high, 1)) | (sizes * LONGER < low))
            if len(far):
                worst = far[np.argmax(np.abs(np.log(np.maximum(sizes[far], 1) / max(high, 1))))]
                unusual.append(News("length", f"kernel {name!r}", rows[far], (int(sizes[worst]), low, high)))
    return short + unusual


def _new_gaps(kernels, arrays, used):
    found, gaps = [], _gaps(kernels, arrays, used)
    for view, columns in kernels.needs(used).items():
        old, x, present = kernels.training_facts.gaps.get(view, []), arrays.X[view], arrays.present.get(view)
        of = "" if view is None else f" of the view {view!r}"
        lost = np.ones(arrays.n, bool) if x is None else np.zeros(arrays.n, bool) if present is None else ~present
        if lost.any() and None not in old:
            found.append(News("missing", f"the view {view!r}", np.flatnonzero(lost)))
        for column, rows in gaps[view].items():
            rows = rows[~lost[rows]]
            if len(rows) and column not in old and (columns is None or column in columns):
                whole = len(x.shape) == 1
                where = (f"the view {view!r}" if view is not None else "X") if whole else f"column {column!r}{of}"
                found.append(News("missing", where, rows))
    return found


def _gaps(kernels, arrays, used):
    """{view: {name or position of a column: rows with missing values}}, of texts such as NA where they were read so."""
    found = {view: _missing(x) for view, x in arrays.X.items()}
    plans = [kernels.view_plans[v] for v in np.unique(kernels.view_of[used])]
    for plan in plans:
        plans += () if plan.join is None else plan.join.view_plans
        if plan.encoding is not None:
            _add_blanks(found[plan.name], plan, arrays)
        numbers = plan.join is None and plan.reads == "numeric" and not plan.takes_objects
        x = arrays.cut(*plan.where) if numbers else None
        marks = np.zeros((1, 1), bool) if x is None or x.dtype.kind not in "OSU" else are_missing_texts(x)
        view = plan.before_transformer(arrays) if marks.ndim == 2 and marks.any() else None
        if view is None or is_frame(view.X):
            continue
        marks &= missing_entries(view.X) | (False if view.present is None else ~view.present[:, None])
        for column, marked in zip(arrays.keys(*plan.where), marks.T, strict=True):
            _add(found[plan.name], column, marked)
    return found


def _add(gaps, column, marked):
    """Adds the rows that are marked to {name or position of a column: rows}."""
    if len(rows := np.flatnonzero(marked)):
        gaps[column] = np.union1d(gaps.get(column, rows), rows)


def _add_blanks(gaps, plan, arrays):
    """Adds to {name or position of a column: rows} the rows of empty strings in the column of string kernels."""
    X = arrays.X[plan.name]
    x = None if X is None or isinstance(X, Packed) else np.asarray(arrays.column(*plan.where), object)
    if x is not None and x.size <= len(x):  # no table of letters
        _add(gaps, arrays.keys(*plan.where)[0], blank_entries(x.ravel()))


def _missing(x):
    """{name or position of a column: rows with missing values} of one view."""
    if x is None or sp.issparse(x) or isinstance(x, NamedMatrix | Packed) or len(x.shape) > 2:
        return {}
    if is_frame(x):
        lost, labels = np.asarray(x.isna()) if is_pandas(x) else missing_entries(values(x)), list(x.columns)
    elif x.dtype.kind == "f" and np.isfinite(total(x)):
        return {}
    else:
        lost = missing_entries(x if x.ndim == 2 else x[:, None])
        labels = list(range(lost.shape[1]))
    return {labels[j]: np.flatnonzero(lost[:, j]) for j in np.flatnonzero(lost.any(axis=0))}


def _new_categories(plan, arrays):
    first = first_step(plan.transformer.fitted)
    if not len(_learned(first)) and not hasattr(first, "transformers_"):  # no encoder and no ColumnTransformer
        return []
    view = plan.before_transformer(arrays)
    if view.X is None:
        return []
    labels = arrays.labels(*plan.where)
    return [
        News("category", f"column {labels[j]!r}", rows, example)
        for j, rows, example in _strange(first, view.X, range(len(labels)), view.present)
    ]


def _strange(transformer, X, columns, present):
    """(column, rows, example) of categories that no encoder, alone or in a ColumnTransformer, was fitted on."""
    from sklearn.utils import _safe_indexing

    for _, part, which in getattr(transformer, "transformers_", ()):  # of a ColumnTransformer
        part = first_step(part)
        if len(_learned(part)):
            at = list(X.columns) if is_frame(X) else list(range(X.shape[1]))
            x = _safe_indexing(X, which, axis=1)
            own = [at.index(name) for name in x.columns] if is_frame(x) else np.arange(X.shape[1])[which]
            yield from _strange(part, x, [columns[j] for j in np.atleast_1d(own)], present)
    learned = _learned(transformer)
    x = values(X) if is_frame(X) else np.asarray(X)
    x = x[:, None] if x.ndim == 1 else x
    if len(learned) != x.shape[1]:
        return
    lost = missing_entries(x) if present is None else missing_entries(x) | ~present[:, None]
    for j, categories in enumerate(learned):
        if categories is None:
            continue
        with suppress(TypeError):  # the encoder refuses values that cannot be compared
            here = set(categories if isinstance(categories, list) else categories.tolist())
            column = x[:, j].tolist()
            rows = np.array([i for i, value in enumerate(column) if not lost[i, j] and value not in here], int)
            if len(rows):
                yield columns[j], rows, column[rows[0]]


def _learned(transformer):
    """The categories of each column of an encoder, ours, scikit-learn's or a user's; None of columns without some."""
    if not isinstance(transformer, TableScaler):
        # of Gower, of scikit-learn, or the user's
        return getattr(transformer, "known_categories", None) or getattr(transformer, "categories_", ())
    found: list[Any] = []
    for (kind, width), learned in zip(transformer.parts, transformer.learned_, strict=True):
        found += learned.categories_ if kind == "categories" else [None] * width
    return found if any(categories is not None for categories in found) else ()


def _sizes(plan, arrays, known):
    """(lengths, rows) of the sequences of a view, without missing ones; `known` leaves out unknown letters."""
    if arrays.X[plan.name] is None:
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    x = arrays.column(*plan.where)
    if isinstance(x, Packed):
        return x.sizes(known), np.arange(len(x))
    if known:
        x, present, _ = plan.before_transformer(arrays)
        rows = np.arange(arrays.n) if present is None else np.flatnonzero(present)
        return np.zeros(0, np.int64) if x is None else x.sizes(True)[rows], rows
    items = np.asarray(x, object)
    if items.ndim == 2 and items.shape[1] > 1:  # a table of letters
        return np.full(len(items), items.shape[1], np.int64), np.arange(len(items))
    items = items.ravel()
    sizes = np.array([len(item.strip()) if isinstance(item, str | bytes) else 0 for item in items], np.int64)
    present = arrays.present.get(plan.name)
    rows = np.flatnonzero(sizes if present is None else sizes * present)
    return sizes[rows], rows


def _span(plan, arrays):
    """The least and the largest length of the sequences of a view; None for other views."""
    lengths = [] if plan.encoding is None else _sizes(plan, arrays, known=False)[0]
    return (int(lengths.min()), int(lengths.max())) if len(lengths) else None
