"""Transformers of scikit-learn in files: those whose state is numbers, texts and categories, by class name.

A state is {"name", "parameters", "fitted"}: the result of `get_params`, and the attributes of a fitted transformer,
else None. `from_state` calls the constructor, checks and sets the attributes, and transforms an example. `to_state`
reads the state again at once, so that no file holds a transformer that `load` refuses.
"""

import re
from importlib import import_module
from numbers import Real
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._state import check, check_array, check_index, check_integer, check_is, check_jobs, check_list, check_plain
from .._tags import TRANSFORMER, Tagged

MAX_COLUMNS = 2**24  # of the input of a transformer
# {class: (module, {attribute: kinds})}; kinds are the axes of an array (d columns, k others), "number" or "none"
_SAVED_ATTRIBUTES = {
    "StandardScaler": ("preprocessing", {"n_samples_seen_": "number d", "mean_": "d none", "var_": "d none",
                                         "scale_": "d none"}),
    "MinMaxScaler": ("preprocessing", {"n_samples_seen_": "number", "scale_": "d", "min_": "d", "data_min_": "d",
                                       "data_max_": "d", "data_range_": "d"}),
    "MaxAbsScaler": ("preprocessing", {"n_samples_seen_": "number", "max_abs_": "d", "scale_": "d"}),
    "RobustScaler": ("preprocessing", {"center_": "d none", "scale_": "d none"}),
    "Normalizer": ("preprocessing", {}),
    "PCA": ("decomposition", {"components_": "kd", "mean_": "d", "explained_variance_": "k", "n_samples_": "number",
                              "explained_variance_ratio_": "k", "singular_values_": "k", "noise_variance_": "number",
                              "n_components_": "number"}),
    "TruncatedSVD": ("decomposition", {"components_": "kd", "explained_variance_": "k", "singular_values_": "k",
                                       "explained_variance_ratio_": "k"}),
    "RBFSampler": ("kernel_approximation", {"random_weights_": "dk", "random_offset_": "k"}),
    "Nystroem": ("kernel_approximation", {"components_": "kd", "normalization_": "kk", "component_indices_": "k"}),
    "TfidfTransformer": ("feature_extraction.text", {"idf_": "d none"}),
    "OneHotEncoder": ("preprocessing", None),
    "SimpleImputer": ("impute", None),
    "CountVectorizer": ("feature_extraction.text", None),
    "TfidfVectorizer": ("feature_extraction.text", None),
    "Pipeline": ("pipeline", None),
}  # fmt: skip
_DTYPES = ("float64", "float32", "int64", "int32", "object")
_ENCODINGS = ("utf-8", "utf8", "ascii", "latin-1", "latin1", "iso-8859-1", "cp1252", "utf-16")
_REPEATS = re.compile(r"[*+?{]")


class Transformer(Tagged):
    """Reads and writes transformers; `_codec` finds the class by its tag."""

    file_tag = TRANSFORMER

    @staticmethod
    def to_state(transformer: Any) -> dict[str, Any]:
        """The state of a transformer of scikit-learn, or a ValueError that says what to do instead."""
        try:
            cls = _class(type(transformer).__name__)
            check(type(transformer) is cls, "files cannot hold this class")
            state = _state(transformer)
            Transformer.from_state(state | {"parameters": dict(state["parameters"])})
        except Exception as error:  # scikit-learn's errors too
            raise ValueError(
                f"{transformer!r} before a kernel cannot be saved without pickle ({error}): transform X before fit and "
                "predict, and save a model of plain kernels, or pickle the model."
            ) from error
        return state

    @staticmethod
    def from_state(state: dict[str, Any]) -> Any:
        """The transformer of a state; any exception means that the file is damaged."""
        name = check_is("name", state["name"], str)
        params, fitted = dict(check_is("parameters", state["parameters"], dict)), state["fitted"]
        if name == "Pipeline":
            return _pipeline(params)
        for key, value in params.items():
            check_plain(key, value)
        if "dtype" in params:
            params["dtype"] = np.dtype(_dtype(params["dtype"])).type
        found = _class(name)(**params)
        found._validate_params()
        _check_params(found)
        if fitted is not None:
            _RESTORERS.get(name, _restore)(found, check_is("fitted", fitted, dict))
            found.transform(example(found))
        return found


def _class(name):
    check(name in _SAVED_ATTRIBUTES, f"files cannot hold the class {name[:80]}")
    return getattr(import_module(f"sklearn.{_SAVED_ATTRIBUTES[name][0]}"), name)  # a class of scikit-learn


def _dtype(name):
    check(name in _DTYPES, f"dtype is {str(name)[:80]!r}")
    return name


def _state(transformer):
    name, params = type(transformer).__name__, transformer.get_params(deep=False)
    if name == "Pipeline":
        params["steps"] = [list(step) for step in params["steps"]]
        return {"name": name, "parameters": params, "fitted": None}
    if "dtype" in params:
        params["dtype"] = np.dtype(params["dtype"]).name
    own = vars(transformer)
    if name in ("CountVectorizer", "TfidfVectorizer"):
        fitted = _words(transformer) if "vocabulary_" in own else None
    else:
        fitted = _fitted(transformer, name) if "n_features_in_" in own else None
    return {"name": name, "parameters": params, "fitted": fitted}


def _fitted(transformer, name):
    own = vars(transformer)
    found = {"n_features_in_": transformer.n_features_in_}
    if name == "OneHotEncoder":
        drop = transformer.drop_idx_
        return found | {"categories_": transformer.categories_, "drop_idx_": None if drop is None else drop.tolist()}
    if name == "SimpleImputer":
        types = {key: own[f"_{key}"].name for key in ("fit_dtype", "fill_dtype") if f"_{key}" in own}
        return found | types | {"statistics_": transformer.statistics_}
    return found | {key: own[key] for key in _SAVED_ATTRIBUTES[name][1] if key in own}


def _words(transformer):
    """The words in the order of their columns, and their weights."""
    words = transformer.vocabulary_
    found = {"words": sorted(words, key=words.__getitem__), "fixed": bool(transformer.fixed_vocabulary_)}
    return found | {"idf_": transformer.idf_} if getattr(transformer, "use_idf", False) else found  # TfidfVectorizer's


def _check_params(found):
    """Refuses parameters that scikit-learn takes but a file must not set: paths, slow patterns, objects."""
    given = found.get_params(deep=False)
    for name in ("feature_range", "quantile_range", "ngram_range"):
        if name in given:
            check_list(name, list(given[name]), Real, 2)
    if "analyzer" in given:
        check(given["input"] == "content", "input is not 'content'")
        check(given["encoding"] in _ENCODINGS, f"encoding is {given['encoding']!r}, none of {_ENCODINGS}")
        check_pattern(given["token_pattern"])
        for size in given["ngram_range"]:
            check_integer("ngram_range", size, 1, 1000)
        if isinstance(given["stop_words"], list):
            check_list("stop_words", given["stop_words"], str, len(given["stop_words"]))
    if "kernel_params" in given:
        check(given["kernel"] != "precomputed" and given["kernel_params"] is None, "it has kernel_params, or no kernel")
        check_jobs(given["n_jobs"])
    if "max_categories" in given:
        check(given["max_categories"] is None and given["min_frequency"] is None, "it groups infrequent categories")
    if "add_indicator" in given:
        check(not given["add_indicator"], "it has add_indicator=True")
        for name in ("fill_value", "missing_values"):
            check_plain(name, [given[name]])
            check(given[name] is None or isinstance(given[name], Real | str | np.generic), f"{name} is no plain value")


def check_pattern(pattern):
    """A ValueError for a token_pattern that may be very slow: one with groups, or more than three repetitions."""
    if pattern is None:
        return
    plain = pattern.removeprefix("(?u)")
    check(
        len(plain) <= 200 and "(" not in plain.replace("\\(", "") and len(_REPEATS.findall(plain)) <= 3,
        f"token_pattern={pattern[:80]!r} has groups, or more than three repetitions",
    )
    re.compile(pattern)


def _restore(found, state):
    """Sets attributes that are arrays and numbers, after a check that their shapes fit each other."""
    name = type(found).__name__
    sizes = {"d": check_integer("n_features_in_", state["n_features_in_"], 1, MAX_COLUMNS)}
    check(state.keys() <= {"n_features_in_", *_SAVED_ATTRIBUTES[name][1]}, f"{name} has no {sorted(state)}")
    for key, kinds in _SAVED_ATTRIBUTES[name][1].items():
        if key in state:
            _check_attribute(key, state[key], kinds.split(), sizes)
            setattr(found, key, state[key])
        else:
            check("none" in kinds, f"{name} lacks {key}")
    found.n_features_in_ = sizes["d"]
    if "k" in sizes and not hasattr(found, "_n_features_out"):  # scikit-learn's, for some a property
        found._n_features_out = sizes["k"]
    if name == "Nystroem":
        check_index("component_indices_", found.component_indices_, 2**48, sizes["k"])


def _check_attribute(key, value, kinds, sizes):
    if value is None or isinstance(value, Real) and not isinstance(value, bool):
        check(("none" if value is None else "number") in kinds, f"{key} is {value!r}")
        return
    check(sp.issparse(value) or type(value) is np.ndarray, f"{key} is of type {type(value).__name__}")
    check(value.dtype.kind in "fi" and value.dtype.itemsize in (4, 8), f"{key} is of {value.dtype}")
    axes = next((kind for kind in kinds if kind not in ("none", "number")), "")
    check(value.ndim == len(axes) > 0, f"{key} has shape {value.shape}")
    for axis, size in zip(axes, value.shape, strict=True):
        check(sizes.setdefault(axis, size) == size, f"{key} has shape {value.shape}, which does not fit the others")


def _restore_categories(found, state):
    d = check_integer("n_features_in_", state["n_features_in_"], 1, MAX_COLUMNS)
    categories, drop = check_list("categories_", state["categories_"], np.ndarray, d), state["drop_idx_"]
    for values in categories:
        check(values.ndim == 1 and len(values) and values.dtype.kind in "biufUO", "categories_ has no categories")
        if values.dtype.kind in "biuf":  # found by bisection
            numbers = values[:-1] if values[-1] != values[-1] else values
            check((numbers[1:] > numbers[:-1]).all() and (numbers == numbers).all(), "categories_ do not ascend")
        else:
            for value in values:
                check(value is None or isinstance(value, str | Real | np.generic), f"categories_ has {value!r}")
            check(len(set(values.tolist())) == len(values), "categories_ has one twice")
    if drop is not None:
        for at, values in zip(check_list("drop_idx_", drop, (int, type(None)), d), categories, strict=True):
            check(at is None or check_integer("drop_idx_", at, 0, len(values) - 1) >= 0, "drop_idx_ is out of range")
        drop = np.array([*drop, None], dtype=object)[:-1]
    found.categories_, found.n_features_in_, found._infrequent_enabled = categories, d, False
    found.drop_idx_ = found._drop_idx_after_grouping = drop
    found._n_features_outs = found._compute_n_features_outs()


def _restore_imputer(found, state):
    d, values = check_integer("n_features_in_", state["n_features_in_"], 1, MAX_COLUMNS), state["statistics_"]
    if values.dtype.kind == "O":
        check_plain("statistics_", values.tolist())
        check(not any(isinstance(value, list | tuple | dict) for value in values.tolist()), "statistics_ holds lists")
    check_array("statistics_", values, values.dtype if values.dtype in _DTYPES else float, d)
    found.statistics_, found.n_features_in_, found.indicator_ = values, d, None
    for key in ("fit_dtype", "fill_dtype"):
        if key in state:
            setattr(found, f"_{key}", np.dtype(_dtype(state[key])))


def _restore_words(found, state):
    words = check_list("words", state["words"], str, len(state["words"]))
    found.vocabulary_ = {word: number for number, word in enumerate(words)}
    check(len(found.vocabulary_) == len(words) > 0, "words has one twice, or none")
    found.fixed_vocabulary_ = check_is("fixed", state["fixed"], bool)
    if hasattr(found, "use_idf"):  # a TfidfVectorizer
        names = ("norm", "use_idf", "smooth_idf", "sublinear_tf")
        fitted = {"n_features_in_": len(words), **({"idf_": state["idf_"]} if found.use_idf else {})}
        params = {name: getattr(found, name) for name in names}  # TfidfVectorizer's
        found._tfidf = Transformer.from_state({"name": "TfidfTransformer", "parameters": params, "fitted": fitted})


_RESTORERS = {
    "OneHotEncoder": _restore_categories,
    "SimpleImputer": _restore_imputer,
    "CountVectorizer": _restore_words,
    "TfidfVectorizer": _restore_words,
}


def _pipeline(params):
    steps = [tuple(step) for step in check_is("steps", params.pop("steps"), list)]
    for name, step in steps:
        check_is("a step", name, str)
        able = step in ("passthrough", None) or hasattr(step, "transform")  # scikit-learn's
        check(able, f"the step {name!r} is no transformer")
    check(params.pop("memory", None) is None and not params.pop("transform_input", None), "it has a memory")
    found = _class("Pipeline")(steps, verbose=check_is("verbose", params.pop("verbose", False), bool))
    check(not params and len(steps) > 0, f"a pipeline has {sorted(params)}")
    found._validate_names([name for name, _ in steps])
    return found


def settle(transformer: Any) -> Any:
    """The fitted transformer, its matrices in C order as in files, since products in another order may differ."""
    for _, step in getattr(transformer, "steps", ()):  # scikit-learn's Pipeline
        settle(step)
    if type(transformer).__module__.startswith("sklearn.") and type(transformer).__name__ in _SAVED_ATTRIBUTES:
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
