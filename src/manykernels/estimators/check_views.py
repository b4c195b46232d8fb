"""Checks of views and of the tables of pairs: their names, their numbers of examples, and the names of columns."""

from numbers import Integral

from ..kernels.frames import is_frame, listed
from ..kernels.pairs import Pairs, by_table
from ..kernels.stack import KernelStack
from ..kernels.view_data import is_views
from ..kernels.views import Views, check_dict
from .check_inputs import check_kernel_order, check_own_ids


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
    return {name: X[name] for name in (X.names if isinstance(X, Views) else X)} if is_views(X) else {None: X}


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
        said = ", and ".join(wrong) or f"has the {what} of fit in another order, {listed(names)}"
        before = f"add or rename {what}, then " if lost else ""
        known_as = f"model.view_feature_names_in_[{view!r}]"
        known_as = known_as if isinstance(_names(table)[0], str) else f"list(map(int, {known_as}))"
        cure = "K.loc[names, names] of each matrix K" if what == "objects" else f"{called}[names]"
        raise ValueError(f"{called} {said}: {before}give {cure}, names = {known_as}.")
