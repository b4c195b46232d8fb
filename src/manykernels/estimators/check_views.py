"""Checks of views as users give them: their names, their numbers of examples, and the names of their columns."""

from numbers import Integral

from ..kernels.frames import is_frame, listed
from ..kernels.view_data import is_views
from ..kernels.views import Views, check_dict


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


def names_of_columns(X):
    """{view: names of its columns}, for the frames with texts, or numbers that do not count, as names."""
    found = {}
    for view in X.names if isinstance(X, Views) else X:
        names = list(X[view].columns) if is_frame(X[view]) else []
        if names != list(range(len(names))) and all(isinstance(name, str | Integral) for name in names):
            found[view] = [str(name) for name in names]
    return found


def check_columns(X, known, needs):
    """A ValueError if a view has other columns than in fit, `known`, or the same ones in another order.

    `needs` is {view: columns or None} that prediction reads. It finds single columns by name; so only views that
    kernels read as a whole are compared.
    """
    for view, names in names_of_columns(X).items():
        wanted = known.get(view, names)
        if names == wanted or needs.get(view, ()) is not None:
            continue
        strange, lost = [n for n in names if n not in set(wanted)], [n for n in wanted if n not in set(names)]
        wrong = [f"has {listed(strange)}, which fit did not have"] * bool(strange)
        wrong += [f"lacks {listed(lost)}"] * bool(lost)
        said = ", and ".join(wrong) or f"has the columns of fit in another order, {listed(names)}"
        before = "add or rename columns, then " if lost else ""
        known_as = f"model.view_feature_names_in_[{view!r}]"
        known_as = known_as if isinstance(X[view].columns[0], str) else f"list(map(int, {known_as}))"
        cure = f"{before}give X[{view!r}][names], names = {known_as}"
        raise ValueError(f"X[{view!r}] {said}: {cure}.")
