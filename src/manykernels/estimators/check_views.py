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
    names = list(X.names if isinstance(X, Views) else X)
    if known is None and not fit:
        raise ValueError(f"X is a dict of views ({names}), but the model was fitted on one table: give one table.")
    unread = [] if needs is None else [name for name in known or () if name not in needs and name not in names]
    if unread:
        X = X.with_nothing(unread) if isinstance(X, Views) else X | dict.fromkeys(unread)
    _check_each(X, known, fit, unread)
    return X


def _check_each(X, known, fit, unread):
    views = X if isinstance(X, Views) else None
    X = X if views is None else {name: views[name] for name in views.names}
    lost, strange = [v for v in known or () if v not in X], [v for v in X if known is not None and v not in known]
    if strange or lost:
        cure = [f"leave out {strange}"] if strange else []
        cure += [f'give {lost} (None where its kernels have missing="zero")'] if lost else []
        have = [name for name in X if name not in unread]
        raise ValueError(f"X has the views {have}, but the model was fitted on {known}: {' and '.join(cure)}.")
    empty = [name for name, x in X.items() if x is None and name not in unread]
    if empty and fit:
        raise ValueError(
            f"X[{empty[0]!r}] is None: fit needs examples of every view; leave out the view, or put NaN in the rows of "
            'examples without it and give its kernels as (name, kernel, view, "zero").'
        )
    if views is None and len(empty) == len(X) - len(unread):
        raise ValueError(f"X has nothing in its views {list(X)}: give {{name: array}}.")
    for name, x in X.items():
        # a view may be an object of any library
        if x is not None and (isinstance(x, str) or not hasattr(x, "__len__") and not hasattr(x, "shape")):
            raise ValueError(f"X[{name!r}] is a {type(x).__name__}: give an array with a row per example.")
    if views is None:
        check_dict(X)


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
