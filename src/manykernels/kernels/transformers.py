"""Transformers before kernels: fitted on the training examples that have a view, applied to all examples."""

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._state import Stored
from ._saved_transformers import first_step, settle, tried
from .column_scales import ColumnScales
from .frames import in_double, is_frame, missing_entries, to_numbers, values, without_na
from .table_scaler import TableScaler
from .view_data import View, checked_view, is_numeric, object_view


@dataclass(frozen=True, eq=False)
class Pipe(Stored):
    """A transformer of one view: a fitted copy of `given`, and the number `width` of its output columns."""

    file_tag = ("kernel/pipe", 1)
    saved = {"fitted": "any", "width": "int 1"}

    given: Any
    fitted: Any = None
    width: Any = None

    def to_state(self):
        tried(self.fitted)
        return super().to_state()

    def check_state(self):
        from sklearn.base import clone

        check_transformer(self.fitted, "a file")
        vars(self)["given"] = clone(tried(self.fitted), safe=False)  # it is frozen

    def fit(self, view, weights):
        """The Pipe fitted on the examples that have the view, with weights or None."""
        from sklearn.base import clone

        X = view.X
        if X is None or view.present is not None and not view.present.any():
            raise ValueError(f"X has no example at all in the view of {self.given!r}: leave its kernels out.")
        if view.present is not None:
            X, weights = X[np.flatnonzero(view.present)], None if weights is None else weights[view.present]
        weighed = {} if weights is None else dict.fromkeys(_weights_of(self.given), weights)
        try:
            # e.g. the root of a variance of −1e-27; `transform` refuses numbers that are not finite
            with np.errstate(invalid="ignore"):
                fitted = settle(clone(self.given, safe=False).fit(X, **weighed))
        except ValueError as error:
            raise ValueError(
                f"{self.given!r} cannot be fitted on its columns of X: {error} Change it, or leave its kernels out."
            ) from error
        found = replace(self, fitted=fitted)
        return replace(found, width=int(found._apply(X[:1]).shape[1]))

    def transform(self, view):
        """The transformed view, rows of numbers."""
        if view.X is None:
            return view._replace(X=np.zeros((len(view.present), self.width)))
        x = self._apply(view.X)
        if view.present is not None and not sp.issparse(x):  # scalers keep NaN, and kernels are 0 there
            x = np.where(view.present[:, None], x, 0.0)
        data = x.data if sp.issparse(x) else x
        if x.shape[1] != self.width:
            raise ValueError(f"{self.given!r} made {x.shape[1]} columns of X, {self.width} in fit: give X as in fit.")
        if not np.isfinite(data).all():
            where = "" if sp.issparse(x) else f" (in row {int(np.argmin(np.isfinite(x).all(axis=1)))})"
            raise ValueError(
                f"{self.given!r} made NaN or infinity of X{where}: change it, or put SimpleImputer() before it."
            )
        return view._replace(X=x)

    def _apply(self, X):
        x = self.fitted.transform(X)
        x = values(x) if is_frame(x) else x
        x = x.tocsr() if sp.issparse(x) else np.asarray(x)
        if x.ndim != 2:
            raise ValueError(f"{self.given!r} made X an array of shape {x.shape}: kernels take a row per example.")
        return x if is_numeric(x) else to_numbers(x, lambda: list(range(x.shape[1])))


def rescaled(pipe, scales):
    """The fitted Pipe, or None, followed by `ColumnScales`."""
    from sklearn.pipeline import make_pipeline

    after = ColumnScales(scales)
    given, fitted = (after, after) if pipe is None else (make_pipeline(own, after) for own in (pipe.given, pipe.fitted))
    return Pipe(given, fitted, len(scales))


def signatures(transformers):
    """A value for each transformer that is the same for equal ones, and None for None."""
    given = {id(transformer): transformer for transformer in transformers if transformer is not None}
    found = {key: key for key in given}
    if len(given) > 1:
        from joblib import hash as hash_of

        for key, transformer in given.items():
            with suppress(Exception):  # the transformer cannot be pickled
                found[key] = hash_of(transformer, "sha1")
    return [found.get(id(transformer)) for transformer in transformers]


def check_transformer(transformer, called):
    """A ValueError if the user's object is no transformer."""
    # the user's object
    if isinstance(transformer, type) or not (hasattr(transformer, "fit") and hasattr(transformer, "transform")):
        raise ValueError(
            f"transformer={transformer!r} of {called} must have fit and transform, such as StandardScaler() or "
            "RBFSampler(gamma=0.1, random_state=0)."
        )


def _tags(transformer):
    from sklearn.utils import get_tags

    with suppress(Exception):  # a transformer of another library may have none
        return get_tags(first_step(transformer)).input_tags
    return None


def reads_of(transformer):
    """What a transformer reads: "objects" for one text per example, "anything" for tables."""
    return "objects" if _of_texts(_tags(transformer)) else "anything"


def _of_texts(tags):
    return tags is not None and tags.string and not tags.two_d_array


def raw_view(arrays, key, transformer, zero):
    """The input View of a transformer: texts (n,), a frame, numbers or objects (n, d)."""
    (name, columns, names), tags = key, _tags(transformer)
    if _of_texts(tags):
        return _texts(arrays.X[name] if columns is None and not is_frame(arrays.X[name]) else arrays.cut(*key), zero)
    frame = arrays.X[name]
    if is_frame(frame) and hasattr(first_step(transformer), "transformers"):  # a ColumnTransformer knows names
        return View(in_double(frame if columns is None else frame[names or [frame.columns[c] for c in columns]]), None)
    x = without_na(in_double(arrays.cut(*key)))
    x = x.reshape(-1, 1) if len(x.shape) == 1 else x
    first = first_step(transformer)
    if zero and type(first).__name__ == "StandardScaler":
        first = TableScaler([("numbers", x.shape[1])])
    x = first.read(x, lambda: arrays.labels(*key)) if isinstance(first, TableScaler) else x
    if is_numeric(x) and not (tags is not None and tags.allow_nan):
        return checked_view(x, zero, arrays.finite, lambda: arrays.labels(*key))
    if not zero or sp.issparse(x):
        return View(x, None)
    present = ~missing_entries(x).all(axis=1)
    return View(x, None if present.all() else present)


def _texts(x, zero):
    view = object_view(x, zero)
    if view.X is None:
        return view
    if len(view.X.shape) != 1:
        raise ValueError(f"X of shape {view.X.shape} must be one text per example: give a vectorizer one column.")
    wrong = [i for i, item in enumerate(view.X) if not isinstance(item, str | bytes)]
    if wrong:
        raise ValueError(
            f"X has {len(wrong)} entries that are no text ({view.X[wrong[0]]!r}, in row {wrong[0]}): fill them in, or "
            'give the kernel as (name, kernel, view, "zero") for examples that lack the text.'
        )
    return view


def _weights_of(transformer):
    """The parameters of `fit` that take sample weights; for a pipeline, the parameters of its steps."""
    from sklearn.pipeline import Pipeline
    from sklearn.utils.validation import has_fit_parameter

    if isinstance(transformer, Pipeline):
        return [
            f"{name}__sample_weight" for name, step in transformer.steps if has_fit_parameter(step, "sample_weight")
        ]
    return ["sample_weight"] if has_fit_parameter(transformer, "sample_weight") else []
