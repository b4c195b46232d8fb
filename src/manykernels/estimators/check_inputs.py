"""Checks of X and y as users give them; every error names the cure."""

import sys
from collections.abc import Iterator
from numbers import Integral
from types import MappingProxyType
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.utils import _safe_indexing
from sklearn.utils.validation import validate_data

from .._validation import shown
from ..kernels.annotated import obs_columns, read_annotated
from ..kernels.column_kinds import is_number_text
from ..kernels.frames import (
    check_entries,
    is_frame,
    is_pandas,
    listed,
    not_numeric,
    values,
    without_na,
)
from ..kernels.rows import check_rows, ids_of
from ..kernels.view_data import checked_view, is_views, n_examples
from ..kernels.views import Views

BLANKS = {"", "na", "n/a", "nan", "<na>", "<nan>"}  # labels of no class, in any case


def is_precomputed(model):
    """Whether X holds kernel matrices, (n, n_train, M)."""
    return isinstance(model.kernels, str) and model.kernels == "precomputed"


def optional(model, name, default=None):
    """An attribute that only some fits set, such as `tasks_`; `default` if the last fit has not set it."""
    return vars(model).get(name, default)


def with_texts(frame, known):
    """The frame; an empty one with the texts of the names that are numbers, unless these count the columns.

    `known` has the names of fit, and is None in fit. scikit-learn compares texts only.
    """
    names = list(frame.columns)
    if not is_pandas(frame) or not all(isinstance(name, Integral) for name in names):
        return frame
    texts, counted = list(map(str, names)), list(range(len(names)))
    if names == counted and (known is None or {*known} != {*texts}):
        return frame
    if known == [] and names != counted and sorted(names) == counted:
        raise ValueError(
            f"X has the columns {listed(names)}, which fit had in ascending order: give X[sorted(X.columns)]."
        )
    return frame.iloc[:0].set_axis(texts, axis=1)


def check_table(model, X, reset, options):
    """X as a float array or CSR matrix, by scikit-learn's `validate_data`; errors name the columns."""
    if hasattr(X, "collect") and not hasattr(X, "shape"):  # a lazy frame of polars
        raise ValueError(f"X is a {type(X).__name__}, not yet computed: give X.collect().")
    if X is None:
        raise ValueError(f"X is {X!r}: give a table with a row per example, an array, a DataFrame or a sparse matrix.")
    check_entries("X", X)
    try:
        return validate_data(model, X, reset=reset, **options)
    except (TypeError, ValueError, OverflowError) as error:
        if "NAType" in str(error):
            return check_table(model, without_na(np.asarray(X, object)), reset, options)
        if "inhomogeneous" in str(error):
            raise ValueError(
                "X has rows of different lengths: make them equal, or give your own kernel for these examples."
            ) from error
        if isinstance(error, OverflowError) or "infinity" in str(error) or "contains NaN" in str(error):
            x = X if sp.issparse(X) else np.asarray(X)
            checked_view(x, False, False, lambda: range(x.shape[1]))  # names the columns
        table = None
        if "dim" in str(error) or "convert" in str(error):
            table = np.asarray(X, dtype=None if hasattr(X, "dtype") else object)  # an array of any library
        if table is not None and table.ndim > 2:
            raise ValueError(
                f"X has shape {table.shape}, but kernels take a row of numbers per example: give X.reshape(len(X), -1)"
                ', or kernels="precomputed" if X holds M kernel matrices, (n, n, M).'
            ) from error
        sentence = None if table is None or table.ndim != 2 else not_numeric(table, lambda: range(table.shape[1]))
        if sentence:
            raise ValueError(sentence) from error
        raise


def open_annotated(X, y, covariates, order=MappingProxyType({}), **columns):
    """(X, y, covariates, *columns) with an AnnData or MuData as views, and names of its obs as these columns.

    Everything that has one entry per example is matched, see `check_rows`, and views in `order` have their columns in
    this order, see `read_annotated`.
    """
    check_rows(X, y=y, covariates=covariates, **columns)
    covariates = obs_columns(X, covariates)
    X, y, *opened = read_annotated(X, y, *columns.values(), order=order)
    groups = dict(zip(columns, opened, strict=False)).get("groups")
    if groups is not None and len(groups) != n_examples(X):
        raise ValueError(f"groups has {len(groups)} entries, and X {n_examples(X)} rows: give one group per example.")
    return X, y, covariates, *opened


def checked_targets(y, numeric):
    """y, whole numbers of dtype object as an array of numbers; a ValueError for entries that are no targets.

    With `numeric` texts must be numbers.
    """
    labels = as_labels(y)
    if labels.dtype.names:
        raise ValueError(
            f"y has the fields {listed(labels.dtype.names)}: fit MKLSurvival to times that may be censored, or give "
            "one field, such as y['time']."
        )
    given = np.asarray(y, object) if isinstance(y, list | tuple) else labels  # NumPy writes NaN beside texts as a text
    check_entries("y", given)
    _check_types(labels, numeric)
    if labels.ndim > 2:
        raise ValueError(f"y has shape {labels.shape}: give one target per example, (n,), or T of them, (n, T).")
    entries = labels.ravel() if labels.dtype.kind in "OUS" else ()
    for k, value in enumerate(entries):
        blank = isinstance(value, str) and value.strip().lower() in BLANKS
        if blank or numeric and isinstance(value, str) and not is_number_text(value):
            row, ids = k * len(labels) // labels.size, ids_of(y)
            why = "is not a number: give numbers, or fit MKLClassifier to classes."
            if blank:
                why = "looks like a missing value: leave this example out of X and y, or give the class another name."
            of = "" if ids is None else f", of {ids[row]!r}"
            raise ValueError(f"y has {str(value)!r} in row {row}{of}, which {why}")
    whole = labels.dtype == object and not any(isinstance(value, str) for value in labels.flat)
    return np.array(labels.tolist()) if whole else labels if is_frame(y) or labels.dtype.kind == "U" else y


def check_y(model, y, numeric, several=False):
    """y (n,), or with `several` (n, T), by scikit-learn's `validate_data`, or a ValueError that names the cure."""
    refuse_iterator("y", y)
    labels, targets = as_labels(y), checked_targets(y, numeric)
    several = several and labels.ndim == 2 and labels.shape[1] > 1
    if several and is_frame(y):
        model.target_names_ = list(map(str, y.columns))
    return validate_data(model, y=targets, y_numeric=numeric, multi_output=several)


def check_target_order(model, y):
    """A ValueError if y is a frame of several targets whose columns are not those of fit, in the same order."""
    known, names = optional(model, "target_names_"), list(map(str, y.columns)) if is_frame(y) else None
    if known is not None and names is not None and names != known:
        raise ValueError(
            f"y has the targets {listed(names)}, but fit had {listed(known)}: give these, in this order, or "
            "y.to_numpy() to match them by position."
        )


def as_mixed(X):
    """Rows of texts and numbers, in lists of one length, as an array of objects: NumPy would write all as texts."""
    rows = isinstance(X, list | tuple) and len(X) > 0 and all(isinstance(row, list | tuple) for row in X)
    if not rows or len({len(row) for row in X}) > 1 or not any(isinstance(item, str) for row in X for item in row):
        return X
    table = np.empty((len(X), len(X[0])), object)
    table[:] = X
    return table


def refuse_text(X):
    """A ValueError if X is one text, or an iterator."""
    refuse_iterator("X", X)
    X = X.item() if isinstance(X, np.ndarray) and X.ndim == 0 else X
    if isinstance(X, str | bytes):
        some = shown(X if len(X) <= 20 else X[:20]) + ", ..." * (len(X) > 20)
        raise ValueError(
            f"X is one text ({some}): give a list of sequences or texts, [X] for one, or a "
            "table, which pandas.read_csv reads from a file."
        )


def refuse_iterator(name, value):
    """A ValueError if the value is an iterator, such as a generator."""
    if isinstance(value, Iterator):
        raise ValueError(f"{name} is a {type(value).__name__}, which can be read only once: give list({name}).")


def _check_types(labels, numeric):
    """A ValueError for targets that are bytes, of mixed types, or neither texts nor numbers."""
    kinds = {type(value) for value in labels.ravel()} if labels.dtype == object else {labels.dtype.type}
    if any(issubclass(kind, bytes) for kind in kinds):
        raise ValueError("y holds bytes: give texts, [label.decode() for label in y], or numbers.")
    texts, names = {kind for kind in kinds if issubclass(kind, str)}, ", ".join(sorted(k.__name__ for k in kinds))
    # the types of the user's targets
    if labels.dtype == object and any(not hasattr(kind, "__float__") for kind in kinds - texts):
        raise ValueError(f"y holds values of type {names}: give {'numbers' if numeric else 'texts or numbers'}.")
    if texts and kinds - texts and not numeric:
        raise ValueError(f"y mixes values of type {names}: give all of one type, [str(label) for label in y].")


def as_labels(y):
    """y as an array, an empty one if y is no list or array."""
    if is_frame(y):
        return values(y)
    # y of any library
    labels = np.asarray(y) if isinstance(y, list | tuple) or hasattr(y, "__array__") else np.empty(0)
    # scikit-learn does not know NumPy's strings of any width
    return labels.astype(object).astype(str) if labels.dtype.kind == "T" else labels


def take_examples(X, rows):
    """These rows of X, of any type."""
    if is_views(X) and not isinstance(X, Views):
        return {name: take_examples(view, rows) for name, view in X.items()}
    unsliced = sp.issparse(X) and X.format in ("coo", "bsr", "dia")  # scipy cuts no rows of these
    return _safe_indexing(X.tocsr() if unsliced else X, rows)


def check_finite(compute):
    """The kernel values or decisions compute(); a ValueError if some are not finite, without NumPy's warnings."""
    with np.errstate(over="ignore", invalid="ignore"):
        values = compute()
    if not np.isfinite(values).all():
        raise ValueError("X holds NaN or infinity, or kernel values overflow: clean or rescale it first.")
    return values


def to_host(X: Any) -> tuple[Any, str | None]:
    """(X as a NumPy array, the card it lies on or None) if X is a tensor; else (X, None).

    The host needs a copy, to check the examples, and to predict without the card.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(X, torch.Tensor):
        return X, None
    short = X.dtype in (torch.float16, torch.bfloat16)
    host = (X.float() if short else X).detach().cpu().resolve_conj().resolve_neg().numpy()
    return host, str(X.device) if X.is_cuda else None


def card_for(device: str, card: str | None) -> str:
    """The device of a fit whose X lies on this card; None is the host."""
    if card is None or device == card:
        return device
    if device not in ("cpu", "auto", "cuda"):
        raise ValueError(f"X lies on {card!r}, but device={device!r}: move X there, or take device='auto'.")
    return card
