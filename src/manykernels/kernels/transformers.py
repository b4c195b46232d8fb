"""Transformers before kernels: fitted on the training examples that have a view, applied to all examples.

Files hold those of a list of classes, whose state is numbers, texts and categories. A state is {"name", "parameters",
"fitted"}: the result of `get_params`, and the attributes that `fit` has set. `load` calls the constructor, sets the
attributes, and transforms an example. `to_state` reads the state again at once, so that no file holds a transformer
that `load` refuses.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._state import TRANSFORMER, Stored, Tagged, check, check_integer, check_plain, check_value
from .column_encoders import ColumnScales, Indicators
from .frames import called, check_entries, cut, in_double, is_frame, missing_entries, to_numbers, values, without_na
from .table_scaler import TableScaler
from .view_data import View, blank_entries, checked_view, is_numeric, object_view

MAX_COLUMNS = 2**24  # of the input of a transformer
MODULES = dict.fromkeys(
    ("StandardScaler", "MinMaxScaler", "MaxAbsScaler", "RobustScaler", "Normalizer", "OneHotEncoder"), "preprocessing"
) | {
    "PCA": "decomposition", "TruncatedSVD": "decomposition", "RBFSampler": "kernel_approximation",
    "Nystroem": "kernel_approximation", "TfidfTransformer": "feature_extraction.text", "SimpleImputer": "impute",
    "CountVectorizer": "feature_extraction.text", "TfidfVectorizer": "feature_extraction.text", "Pipeline": "pipeline",
}  # fmt: skip
DTYPES = ("float64", "float32", "int64", "int32", "object")


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
        check_transformer(self.fitted, "a file")
        vars(self)["given"] = clone(tried(self.fitted), safe=False)  # it is frozen

    def fit(self, view, weights):
        """The Pipe fitted on the examples that have the view, with weights or None."""
        X = view.X
        if X is None or view.present is not None and not view.present.any():
            raise ValueError(f"X has no example at all in the view of {self.given!r}: leave its kernels out.")
        if view.present is not None:
            X, weights = X[np.flatnonzero(view.present)], cut(weights, view.present)
        try:
            # e.g. the root of a variance of −1e-27; `transform` refuses numbers that are not finite
            with np.errstate(invalid="ignore"):
                fitted = fitted_copy(self.given, X, weights)
        except ValueError as error:
            raise ValueError(
                f"{self.given!r} cannot be fitted on its columns of X: {error} Change it, or leave its kernels out."
            ) from error
        found = replace(self, fitted=fitted)
        return replace(found, width=int(found._apply(X[:1]).shape[1]))

    def transform(self, view, labels):
        """The transformed view, rows of numbers; errors name columns by `labels()`."""
        if view.X is None:
            return view._replace(X=np.zeros((len(view.present), self.width)))
        x = self._apply(view.X)
        if view.present is not None and not sp.issparse(x):  # scalers keep NaN, and kernels are 0 there
            x = np.where(view.present[:, None], x, 0.0)
        data = x.data if sp.issparse(x) else x
        if x.shape[1] != self.width:
            raise ValueError(f"{self.given!r} made {x.shape[1]} columns of X, {self.width} in fit: give X as in fit.")
        if not np.isfinite(data).all():
            row = 0 if sp.issparse(x) else int(np.argmin(np.isfinite(x).all(axis=1)))
            if isinstance(first := first_step(self.fitted), TableScaler):
                column = labels()[first.owners()[np.argmin(np.isfinite(x[row]))]]
                raise ValueError(
                    f"X contains infinity, or a number too large to scale, in {called([column])} (in row {row}): "
                    "replace it or leave that column out."
                )
            where = "" if sp.issparse(x) else f" (in row {row})"
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
    (name, columns, _), tags = key, _tags(transformer)
    if _of_texts(tags):
        return _texts(arrays.X[name] if columns is None and not is_frame(arrays.X[name]) else arrays.cut(*key), zero)
    frame = arrays.X[name]
    if is_frame(frame) and hasattr(first_step(transformer), "transformers"):  # a ColumnTransformer knows names
        return View(in_double(frame if columns is None else frame[arrays.keys(*key)]), None)
    x = without_na(in_double(arrays.cut(*key)))
    x = x.reshape(-1, 1) if len(x.shape) == 1 else x
    first = first_step(transformer)
    if zero and type(first).__name__ == "StandardScaler":
        first = TableScaler([("numbers", x.shape[1])])
    x = first.read(x, lambda: arrays.labels(*key)) if isinstance(first, TableScaler) else x
    if zero and isinstance(first, Indicators | TableScaler) and not is_numeric(x):
        x = np.where(blank_entries(x), None, x)
    if kernel := {"Indicators": "Categorical", "Agreements": "Gower"}.get(type(first).__name__):
        for column, label in zip(x.T, arrays.labels(*key), strict=True):
            check_entries(f"X[{label!r}], which {kernel} reads,", column)
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


def fitted_copy(transformer, X, weights):
    """A fitted copy, with weights or None, which a pipeline hands to its steps."""
    from sklearn.pipeline import Pipeline

    parts = transformer.steps if isinstance(transformer, Pipeline) else [("", transformer)]
    names = [
        f"{name}__sample_weight".removeprefix("__") for name, one in parts if has_fit_parameter(one, "sample_weight")
    ]
    weighed = {} if weights is None else dict.fromkeys(names, weights)
    return settle(clone(transformer, safe=False).fit(X, **weighed))


class Transformer(Tagged):
    """Reads and writes transformers; `_archive` finds the class by its tag."""

    file_tag = TRANSFORMER

    @staticmethod
    def to_state(transformer: Any) -> dict[str, Any]:
        """The state of a transformer of scikit-learn, or a ValueError that says what to do instead."""
        try:
            check(type(transformer) is _class(type(transformer).__name__), "files cannot hold this class")
            params = transformer.get_params(deep=False)
            fitted = {
                name: value
                for name, value in vars(transformer).items()
                if name not in params and not name.startswith(("_sklearn", "_stop_words_id"))
            }
            if words := fitted.pop("vocabulary_", None):  # in the order of their columns
                fitted["words"] = sorted(words, key=words.__getitem__)
            if "steps" in params:
                params["steps"] = [list(step) for step in params["steps"]]
            state = {"name": type(transformer).__name__, "parameters": _named(params), "fitted": _named(fitted) or None}
            Transformer.from_state(state)
        except Exception as error:  # scikit-learn's errors too
            raise ValueError(
                f"{transformer!r} before a kernel cannot be saved without pickle ({error}): transform X before fit and "
                "predict, and save a model of plain kernels, or pickle the model."
            ) from error
        return state

    @staticmethod
    def from_state(state: dict[str, Any]) -> Any:
        """The transformer of a state; any exception means that the file is damaged."""
        params, fitted = _typed(state["parameters"]), state["fitted"]
        if "dtype" in params:
            params["dtype"] = params["dtype"].type
        if "steps" in params:
            params["steps"] = [(str(name), step) for name, step in params["steps"]]
        for key, value in params.items():
            check(key == "steps" or not hasattr(value, "transform"), f"{key} is a transformer")  # of scikit-learn
            check_plain(key, None if key in ("steps", "dtype") else value)
        check_value("n_jobs", params.get("n_jobs"), "jobs", {})
        check(params.get("memory") is None and params.get("input", "content") == "content", "it reads other files")
        found = _class(state["name"])(**params)
        found._validate_params()
        for _, step in params.get("steps", ()):
            is_step = step in (None, "passthrough") or hasattr(step, "transform")  # scikit-learn's
            check(is_step, "a step is no transformer")
        if fitted is not None:
            vars(found).update(_fitted(_typed(fitted), params))
            found.transform(example(found))
        return found


def _class(name):
    check(name in MODULES, f"files cannot hold the class {name!r:.80}")
    return getattr(import_module(f"sklearn.{MODULES[name]}"), name)  # a class of scikit-learn


def _named(values):
    """Types of numbers by their names, in entries whose names end in `dtype`; `_typed` reverses it."""
    return {name: np.dtype(value).name if name.endswith("dtype") else value for name, value in values.items()}


def _typed(values):
    types = {name: value for name, value in values.items() if name.endswith("dtype")}
    for name, value in types.items():
        check(value in DTYPES, f"{name} is {value!r:.80}")
    return values | {name: np.dtype(value) for name, value in types.items()}


def _fitted(own, params):
    """The attributes of a fitted transformer, which no parameter can be; indices are counted anew."""
    check_integer("n_features_in_", own.get("n_features_in_", 1), 1, MAX_COLUMNS)
    check(not own.keys() & params.keys(), f"there are attributes {sorted(own.keys() & params.keys())}")
    _of_old_files(own, params)
    if "words" in own:
        words = own.pop("words")
        check_value("words", words, "list _ text", {})
        own["vocabulary_"] = {word: number for number, word in enumerate(words)}
        check(len(own["vocabulary_"]) == len(words) > 0, "words has one twice, or none")
    if "categories_" in own:
        check(not own.get("_infrequent_enabled"), "it groups infrequent categories")
        own |= {"_infrequent_enabled": False, "_drop_idx_after_grouping": own["drop_idx_"], "_n_features_outs": []}
        for j, values in enumerate(own["categories_"]):
            drop = None if own["drop_idx_"] is None else own["drop_idx_"][j]
            ascend = values.dtype.kind in "OUS" or np.array_equal(np.unique(values), values, equal_nan=True)
            check(ascend, "categories_ do not ascend")  # numbers are found by bisection
            check(drop is None or 0 <= drop < len(values), "drop_idx_ is out of range")
            own["_n_features_outs"].append(len(values) - (drop is not None))
    return own


def _of_old_files(own, params):
    """Names the attributes as scikit-learn does, in states of the first version."""
    for old in ("fit_dtype", "fill_dtype"):
        if old in own:
            own[f"_{old}"] = own.pop(old)
    for length in ("random_offset_", "component_indices_"):
        if length in own:
            own.setdefault("_n_features_out", len(own[length]))
    if "statistics_" in own:
        own.setdefault("indicator_", None)
    if isinstance(own.get("drop_idx_"), list):
        own["drop_idx_"] = np.array([*own["drop_idx_"], None], dtype=object)[:-1]
    if "fixed" in own:
        own["fixed_vocabulary_"] = own.pop("fixed")
        if "use_idf" in params:
            own["_tfidf"] = tfidf = _class("TfidfTransformer")(
                **{name: params[name] for name in ("norm", "use_idf", "smooth_idf", "sublinear_tf")}
            )
            tfidf.n_features_in_ = len(own["words"])
            if params["use_idf"]:
                tfidf.idf_ = own.pop("idf_")


def settle(transformer: Any) -> Any:
    """The fitted transformer, its matrices in C order as in files, since products in another order may differ."""
    for _, step in getattr(transformer, "steps", ()):  # scikit-learn's Pipeline
        settle(step)
    if type(transformer).__module__.startswith("sklearn.") and type(transformer).__name__ in MODULES:
        for key, value in vars(transformer).items():
            if type(value) is np.ndarray and value.ndim == 2:
                setattr(transformer, key, np.ascontiguousarray(value))
    return transformer


def tried(transformer: Any) -> Any:
    """The fitted transformer, after it has transformed an example; a transformer of another library is trusted."""
    if type(transformer).__module__.partition(".")[0] in ("sklearn", __package__.partition(".")[0]):
        try:
            transformer.transform(example(transformer))
        except Exception as error:
            raise ValueError(
                f"{transformer!r} before a kernel cannot be saved without pickle, since it cannot transform an example "
                f"({error}): pickle the model."
            ) from error
    return transformer


def first_step(transformer: Any) -> Any:
    """The step of a pipeline that sees X, or the transformer itself."""
    while getattr(transformer, "steps", None):  # scikit-learn's Pipeline
        transformer = next((step for _, step in transformer.steps if step not in (None, "passthrough")), None)
    return transformer


def example(transformer: Any) -> Any:
    """One example that a fitted transformer, of scikit-learn or of `Categorical`, can transform."""
    transformer = first_step(transformer)
    if hasattr(transformer, "vocabulary_"):  # a CountVectorizer
        return np.array(["a text"], dtype=object)
    if hasattr(transformer, "categories_"):  # a OneHotEncoder, or Indicators
        row = [values[0] if len(values) else None for values in transformer.categories_]
        plain = all(isinstance(x, np.ndarray) and x.dtype.kind in "biuf" for x in transformer.categories_)
        return np.array([row], dtype=None if plain else object)
    if hasattr(transformer, "statistics_"):  # a SimpleImputer
        row = transformer.statistics_[None]
        return row.copy() if row.dtype == object else np.nan_to_num(row)
    blank = np.nan if hasattr(transformer, "learned_") else 0.0  # a TableScaler takes no numbers as dates
    return np.full((1, transformer.n_features_in_), blank)
