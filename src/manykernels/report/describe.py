"""Facts about the data, the settings and the versions of a report."""

import platform
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

from .. import losses
from ..estimators.check_inputs import is_precomputed, optional
from ..kernels.frames import is_frame, missing_entries
from ..kernels.pairs import Pairs
from ..kernels.stack import KernelStack
from ..kernels.view_data import is_views, n_examples
from ..kernels.views import Views, by_name
from ..sequences import Sequences
from ._case import Facts
from ._words import count as counted
from ._worth import identical

MAX_COLUMNS = 40  # of a description
MAX_ROWS = 20_000  # that a description reads
HISTOGRAM_BINS = 12
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")
SHOWN_PARAMETERS = (
    "loss", "C", "nu", "formulation", "regularizer", "epsilon", "normalize", "slack", "solver", "features", "tol",
    "max_iter", "fit_intercept", "class_weight", "multi_class", "device", "random_state",
)  # fmt: skip


def describe_data(model: Any, X: Any, y: Any) -> Facts:
    """The number of examples, their columns or views, and the target."""
    n = n_examples(X)
    found: Facts = {"examples": n, "form": _form(model, X)}
    if is_precomputed(model):
        found["parts"] = []
    elif isinstance(X, Pairs):
        found["parts"], found["total"], found["what"] = [_side(X, side) for side in ("left", "right")], 2, "side"
    elif is_views(X):
        parts, present = list(by_name(X).items()), X.present if isinstance(X, Views) else {}
        found["parts"] = [_view(name, part, present.get(name)) for name, part in parts[:MAX_COLUMNS]]
        found["total"], found["what"] = len(parts), "view"
    else:
        columns, total = _columns(X)
        found["parts"], found["total"], found["what"] = columns, total, "column"
    found["identical"] = _identical(X)
    found["unused"] = _unused(model, X)
    if y is not None:
        found["target"] = _target(model, np.asarray(y))
    return found


def _identical(X):
    """Lists of the names of columns, or views, with the same values in every row."""
    groups: dict[Any, list[str]] = {}
    label = str if is_frame(X) or is_views(X) else lambda key: f"column {key}"
    for column, first in identical(X).items():
        groups.setdefault(first, [label(first)]).append(label(column))
    return list(groups.values())


def _unused(model, X):
    """The columns of a frame that no kernel sees."""
    kernel_list = model.predictor_.kernel_list
    if not is_frame(X) or kernel_list is None:
        return []
    seen = kernel_list.needs(np.ones(kernel_list.M, bool))
    known: set = set().union(*(columns or X.columns for columns in seen.values()))
    return [str(name) for name in X.columns if name not in known]


def _form(model, X):
    """A short description of the data."""
    if is_precomputed(model):
        return f"kernel matrices of {len(model.kernel_names_)} kernels"
    if isinstance(X, Pairs):
        return f"pairs of {n_examples(X.left):,} left and {n_examples(X.right):,} right objects"
    if is_views(X):
        return counted(len(by_name(X)), "view")
    if _is_texts(X):
        return "sequences or texts"
    shape = _shape(X)
    if len(shape) == 2:
        return f"a {'sparse ' if sp.issparse(X) else ''}table of {counted(shape[1], 'column')}"
    return f"objects ({type(X).__name__})"


def _is_texts(X):
    texts = isinstance(X, list | tuple | np.ndarray) and n_examples(X) and isinstance(X[0], str)
    return texts or isinstance(X, Sequences)


def _shape(X):
    return getattr(X, "shape", ())  # an array or frame of any library


def _view(name, part, present):
    n = None if part is None else n_examples(part)
    shape = _shape(part)
    kind = (
        "texts" if part is not None and _is_texts(part) else f"{shape[1]:,} columns" if len(shape) == 2 else "objects"
    )
    lost = 0 if present is None else int(np.sum(~present))
    return {"name": str(name), "kind": "missing" if n is None else kind, "missing": lost}


def _side(X, side):
    """A side of pairs: the kind of its table, and the number of its objects without a pair."""
    table = X.left if side == "left" else X.right
    if isinstance(table, KernelStack) or np.ndim(table) == 3:
        kind = "kernel matrices"
    elif isinstance(table, dict):
        kind = counted(len(table), "view")
    else:
        kind = _view(side, table, None)["kind"]
    met = len(np.unique(X.index[:, 0 if side == "left" else 1]))
    return {"name": side, "kind": f"{n_examples(table):,} objects, {kind}", "missing": n_examples(table) - met}


def _columns(X):
    """(the first columns as dicts, the number of columns)."""
    if _is_texts(X):
        lengths = np.array([len(x) for x in X[:MAX_ROWS]])
        return [_numbers("length", lengths)], 1
    shape = _shape(X)
    if len(shape) != 2:
        return [], 0
    if is_frame(X):
        names = [str(name) for name in X.columns][:MAX_COLUMNS]
        head = X[:MAX_ROWS]
        values = [np.asarray(head[name]) for name in list(X.columns)[:MAX_COLUMNS]]
    else:
        names = [f"column {j}" for j in range(min(shape[1], MAX_COLUMNS))]
        head = (X.tocsr() if sp.issparse(X) else X)[:MAX_ROWS, :MAX_COLUMNS]  # some formats cannot be cut
        values = list((head.toarray() if sp.issparse(head) else np.asarray(head)).T)
    return [_column(name, value) for name, value in zip(names, values, strict=True)], shape[1]


def _column(name, values):
    missing = missing_entries(values)
    kept = values[~missing]
    try:
        numbers = kept.astype(float) if kept.dtype.kind in "biufO" else None
    except (TypeError, ValueError):
        numbers = None
    if numbers is not None and values.dtype.kind != "b":
        return _numbers(name, numbers, int(missing.sum()))
    levels, counts = np.unique(kept.astype(str), return_counts=True)
    order = np.argsort(-counts, kind="stable")
    found = {"name": name, "kind": "texts", "missing": int(missing.sum()), "different": len(levels)}
    if len(levels) > max(HISTOGRAM_BINS, len(kept) // 2):
        lengths = np.array([len(text) for text in kept.astype(str)])
        shape = np.histogram(lengths, HISTOGRAM_BINS)[0].tolist() if lengths.min() < lengths.max() else [len(kept)]
        return found | {"shortest": int(lengths.min()), "longest": int(lengths.max()), "counts": shape}
    common = [str(levels[k]) for k in order[:3]]
    return found | {"kind": "categories", "common": common, "counts": counts[order[:HISTOGRAM_BINS]].tolist()}


def _times(event, time):
    """The times of events and those that are censored, with histograms over the same range."""
    parts = (("events", time[event]), ("censored", time[~event]))
    span = float(time.min()), float(time.max())
    return [_numbers(name, own, span=span) | {"examples": len(own)} for name, own in parts if len(own)]


def _numbers(name, values, missing=0, span=None):
    values = np.asarray(values, float)
    values = values[np.isfinite(values)]
    if not len(values):
        return {"name": name, "kind": "empty", "missing": missing}
    low, high = float(values.min()), float(values.max())
    first, last = span or (low, high)
    counts = np.histogram(values, HISTOGRAM_BINS, (first, last))[0].tolist() if last > first else [len(values)]
    found = {"name": name, "kind": "numbers", "missing": missing, "mean": float(np.mean(values))}
    return found | {"sd": float(np.std(values)), "low": low, "high": high, "counts": counts}


def _target(model, y):
    if y.dtype.names:
        return {"kind": "times", "events": int(y["event"].sum()), "parts": _times(y["event"], y["time"])}
    if y.ndim > 1:
        return {"kind": "several", "outputs": int(y.shape[1])}
    if y.dtype.kind in "iuf" and not is_classifier(model):
        return _numbers("target", y)
    classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    return {
        "kind": "classes",
        "total": len(classes),
        "classes": [{"name": str(classes[k]), "count": int(counts[k])} for k in order[:MAX_COLUMNS]],
    }


def describe_model(model: Any) -> Facts:
    """The estimator, its distance from the optimum, and its parameters."""
    params = model.get_params(deep=False)
    names = [name for name in SHOWN_PARAMETERS if name in params]
    gap, C = float(model.duality_gap_), optional(model, "C_")
    chosen = {"C": f'"auto", which chose {C:g}'} if params.get("C") == "auto" and C is not None else {}
    return {
        "estimator": type(model).__name__,
        "parameters": {name: repr(params[name]) for name in names} | chosen,
        "gap": gap if np.isfinite(gap) else None,
        "stationarity": optional(model, "stationarity_"),
        "tol": float(model.tol),
        "steps": int(model.n_iter_),
        "support": len(model.support_),
        "classes": [str(c) for c in model.classes_.tolist()] if is_classifier(model) else None,
        "covariates": _covariates(model),
        "quantile": _quantile(model),
    }


def _quantile(model):
    """The share of targets that should lie below the prediction, for the loss "quantile", else None."""
    loss = losses.get(model.loss) if is_regressor(model) else None
    if not isinstance(loss, losses.Quantile):
        return None
    own = model.get_params(deep=False).get("q")
    return float(loss.q if own is None else own)


def _covariates(model):
    """The columns that the model adjusts for, and the coefficients (T, q) of their names; None without covariates."""
    if (columns := optional(model, "covariate_columns_")) is None:
        return None
    coefficients = model.covariate_coef_.tolist()
    names, ratio = list(model.covariate_names_), losses.get(model.loss).ratio
    return {"columns": list(columns), "names": names, "coefficients": coefficients, "ratio": ratio}


def versions() -> dict[str, str]:
    """The versions of the packages on which the numbers depend."""
    from .. import __version__

    found = {"manykernels": __version__, "Python": platform.python_version()}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except PackageNotFoundError:
            continue
    return found | {"system": f"{platform.system()} {platform.machine()}"}
