"""Checks of kernel matrices, of views and of the tables of pairs: names, numbers of examples, names of columns."""

import re
from numbers import Integral

import numpy as np

from ..kernels.frames import (
    check_masks,
    is_frame,
    listed,
)
from ..kernels.pairs import Pairs, by_table
from ..kernels.stack import KernelStack
from ..kernels.stack_examples import StackColumns, StackExamples
from ..kernels.view_data import is_views
from ..kernels.views import Views, by_name, check_dict


def check_kernel_order(X, known, called="X"):
    """A ValueError if a stack has other kernel names than the model, or these in another order.

    Names that only number the kernels, also those of `multi_task_stack`, are names that nobody gave.
    """
    names = X.names if isinstance(X, KernelStack) else None
    if names is None or names == list(known):
        return
    if any(all(re.fullmatch(r"kernel \d+(@.*)?", str(name)) for name in side) for side in (names, known)):
        return
    raise ValueError(
        f"{called} has the kernels {', '.join(names[:10])}, but the model was fitted on {', '.join(known[:10])}: give "
        "these, in this order."
    )


def check_train_ids(X, known):
    """A ValueError if the columns of a stack have other ids than `known`, or the same ids in another order.

    Without ids in fit (None) the numbers of the examples are compared, if the columns have them.
    """
    ids = names_of_train(X)
    if ids is None or np.array_equal(ids, known):
        return
    names = "model.feature_names_in_" + ".astype(int)" * isinstance(X.train_ids[0], Integral)
    if known is None:
        known, names = list(map(str, range(len(ids)))), f"range({len(ids)})"
        if np.array_equal(ids, known) or {*ids} != {*known}:
            return
    lost = [name for name in known if name not in set(ids)]
    said = f"lack {listed(lost)} of fit" if lost else "are in another order than in fit"
    raise ValueError(f"the columns (training examples) of X {said}: give K[names] of each matrix K, names = {names}.")


def names_of_train(X):
    """The ids of the columns of a stack (n_train,), texts or whole numbers, as texts like scikit-learn's names."""
    ids = X.train_ids if isinstance(X, KernelStack) else None
    known = ids is not None and all(isinstance(name, str | Integral) for name in ids)
    return np.array(list(map(str, ids)), object) if known else None


def check_stack(X, square, trained=None):
    """Precomputed kernels X as an array or a KernelStack of shape (n, n_train, M), `square` for fit; else raise.

    `trained` is (number of the stack, positions of the training examples): a slice of that stack is cut to the columns
    of these examples.
    """
    if isinstance(X, StackColumns):
        if square:
            raise ValueError(f"X is {X!r}, whose rows may have moved: fit on the stack, and use X for scores only.")
        known = trained is not None and (X.stack.link() or (None,))[0] == trained[0]
        return X.with_columns(X.stack.where(trained[1]) if known else np.arange(X.stack.shape[1]))
    if isinstance(X, StackExamples):
        known = not square and trained is not None and trained[0] == X.stack.link()[0]
        X = X.with_examples() if square else X.with_examples(X.stack.where(trained[1])) if known else X.stack[X.rows]
    elif isinstance(X, KernelStack):
        if square and X.is_part():
            X = X.square()
        elif not square and trained is not None and (X.link() or (None,))[0] == trained[0]:
            X = X.columns(trained[1])
    if is_views(X):
        given = "X.to_dict()" if isinstance(X, Views) else "X"
        raise ValueError(
            f'X is a {type(X).__name__}, but kernels="precomputed" needs kernel matrices: give KernelStack({given}), '
            "or KernelStack(matrices, names=[...]) with a list of matrices."
        )
    check_masks("X", X)
    X = X if isinstance(X, KernelStack) else np.asarray(X)
    if X.dtype.kind not in "biufO":
        raise ValueError(f"X has entries of type {X.dtype}, but kernel matrices are real: give X.real, or numbers.")
    if len(X.shape) == 3 and not (square and X.shape[0] != X.shape[1]):
        if square:
            _check_no_distances(X)
            check_own_ids(X)
        return X
    cure = "stack M kernel matrices with np.stack(matrices, axis=2) or KernelStack(matrices)."
    if len(X.shape) == 3 and X.shape[1] == X.shape[2]:
        cure = "the kernels lie along the first axis; give KernelStack(X)."
    elif len(X.shape) == 3 and X.shape[0] < X.shape[1]:
        cure = (
            "rows alone, as train_test_split cuts them, are for predict; give a KernelStack, whose slices keep track "
            "of their examples, or split the indices, train, test = "
            f"train_test_split(np.arange({X.shape[1]})), and give X[np.ix_(train, train)] to fit and "
            "X[np.ix_(test, train)] to predict."
        )
    raise ValueError(
        f'X has shape {X.shape}, but kernels="precomputed" needs (n, n_train, M), square (n = n_train) in fit: {cure}'
    )


def check_own_ids(X, called="X"):
    """A ValueError if rows and columns of a square stack have ids in another order."""
    rows, columns = (X.ids, X.train_ids) if isinstance(X, KernelStack) else (None, None)
    if rows is not None and columns is not None and not np.array_equal(rows, columns):
        raise ValueError(
            f"{called} has other ids in its rows than in its columns: give K.loc[ids, ids] of each matrix K."
        )


def _check_no_distances(X):
    """A ValueError if some rows of a square stack look like distances: 0 on the diagonal and nonzero elsewhere."""
    rows = np.unique(np.linspace(0, X.shape[0] - 1, min(X.shape[0], 32)).astype(int))
    stack = np.moveaxis(X.matrices, 0, 2) if isinstance(X, KernelStack) and isinstance(X.matrices, np.ndarray) else X
    if not isinstance(stack, np.ndarray) or stack.dtype.kind not in "biuf":  # files are read once, by the bank
        return
    part = stack[np.ix_(rows, rows)]
    own = np.diagonal(part).any(axis=1)  # (M,)
    strange = np.flatnonzero(~own & part.any(axis=(0, 1)))
    if len(strange):
        names = X.names if isinstance(X, KernelStack) else None
        name = f"kernel {strange[0]}" if names is None else names[strange[0]]
        raise ValueError(
            f"{name!r} of X is 0 on its diagonal and not elsewhere, as distances are: turn them into a kernel, such as "
            "np.exp(-D / np.median(D))."
        )


def among_themselves(X):
    """X; for a slice of rows of a stack the square stack of its examples, whose rows and columns can be cut alike."""
    return X.square() if isinstance(X, KernelStack) and X.is_part() else X


def check_views(X, known, fit, needs=None):
    """X, or a ValueError unless it is a dict of views of one length, with the names `known` from fit, if not None.

    Prediction reads the views `needs` only (None: all); other missing views become None.
    """
    if not is_views(X):
        raise ValueError(f"X is a {type(X).__name__}, but the model was fitted on views: give Views with {known}.")
    whole = isinstance(X, Views)
    names = list(X.names if whole else X)
    if known is None and not fit:
        raise ValueError(f"X is a dict of views ({names}), but the model was fitted on one table: give one table.")
    unread = [] if needs is None else [name for name in known or () if name not in needs and name not in names]
    lost = [name for name in known or () if name not in (*names, *unread)]
    strange = [] if known is None else [name for name in names if name not in known]
    if strange or lost:
        cure = [f"leave out {strange}"] if strange else []
        cure += [f'give {lost} (None where its kernels have missing="zero")'] if lost else []
        raise ValueError(f"X has the views {names}, but the model was fitted on {known}: {' and '.join(cure)}.")
    given = {name: X[name] for name in names}
    empty = [name for name, x in given.items() if x is None]
    if empty and fit:
        raise ValueError(
            f"X[{empty[0]!r}] is None: fit needs examples of every view; leave out the view, or put NaN in the rows of "
            'examples without it and give its kernels as (name, kernel, view, "zero").'
        )
    if not whole and len(empty) == len(names):
        raise ValueError(f"X has nothing in its views {[*names, *unread]}: give {{name: array}}.")
    for name, x in given.items():
        # a view may be an object of any library
        if x is not None and (isinstance(x, str) or not hasattr(x, "__len__") and not hasattr(x, "shape")):
            raise ValueError(f"X[{name!r}] is a {type(x).__name__}: give an array with a row per example.")
    if unread:
        X = X.with_nothing(unread) if whole else X | dict.fromkeys(unread)
    if not whole:
        check_dict(X)
    return X


def check_sides(X, sides):
    """A ValueError if matrices of pairs have rows in another order than columns, or names of kernels other than in fit.

    `sides` are those of the fitted model, () in fit.
    """
    for called in ("left", "right"):
        check_own_ids(getattr(X, called), f"X.{called}")
    for side in sides:
        if side.kernel_list is None:
            check_kernel_order(getattr(X, side.side), side.names[: side.size], f"X.{side.side}")


def _tables(X):
    """{name: table} of views, or of the sides of pairs."""
    if isinstance(X, Pairs):
        return by_table("left", _tables(X.left)) | by_table("right", _tables(X.right))
    return by_name(X) if is_views(X) else {None: X}


def _names(table):
    """The names of the columns of a frame, or the ids of the objects of a stack; [] if there are none."""
    if isinstance(table, KernelStack):
        return [] if table.train_ids is None else table.train_ids.tolist()
    return list(table.columns) if is_frame(table) else []


def names_of_columns(X):
    """{view or table of pairs: names of its columns}, of texts or of numbers that do not count them."""
    found = {}
    for view, table in _tables(X).items():
        names = _names(table)
        if names != list(range(len(names))) and all(isinstance(name, str | Integral) for name in names):
            found[view] = [str(name) for name in names]
    return found


def check_columns(X, known, needs):
    """A ValueError if a view has other columns than in fit, `known`, or the same ones in another order.

    `needs` is {view: columns or None} that prediction reads. It finds single columns by name; so only views that
    kernels read as a whole are compared. Of the objects of matrices of pairs those are compared that fit had too.
    """
    tables = _tables(X)
    for view, names in names_of_columns(X).items():
        wanted, table = known.get(view, names), tables[view]
        called, what = f"X.{view}" if isinstance(X, Pairs) else f"X[{view!r}]", "columns"
        if isinstance(table, KernelStack):
            size = min(len(names), len(wanted))
            names, wanted, what = names[:size], wanted[:size], "objects"
        if names == wanted or needs.get(view, ()) is not None:
            continue
        strange, lost = [n for n in names if n not in set(wanted)], [n for n in wanted if n not in set(names)]
        wrong = [f"has {listed(strange)}, which fit did not have"] * bool(strange)
        wrong += [f"lacks {listed(lost)}"] * bool(lost)
        moved = [name for name, before in zip(names, wanted, strict=False) if name != before]
        said = ", and ".join(wrong) or f"has the {what} of fit in another order, {listed(moved)}"
        before = f"add or rename {what}, then " if lost else ""
        known_as = f"model.view_feature_names_in_[{view!r}]"
        known_as = known_as if isinstance(_names(table)[0], str) else f"list(map(int, {known_as}))"
        cure = "K.loc[names, names] of each matrix K" if what == "objects" else f"{called}[names]"
        raise ValueError(f"{called} {said}: {before}give {cure}, names = {known_as}.")
