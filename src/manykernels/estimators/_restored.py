"""What may stand in a model file, by class, and the checks of what is not checked by the classes themselves."""

from __future__ import annotations

import types
from importlib import import_module
from inspect import signature
from numbers import Real

import numpy as np
from sklearn.base import is_classifier

from .._state import (
    check,
    check_array,
    check_index,
    check_integer,
    check_is,
    check_jobs,
    check_list,
    check_plain,
    check_records,
)

_HOMES = (
    "banks",
    "estimators",
    "kernels",
    "losses",
    "regularizers",
    "sequences",
    "solution",
    "solvers",
    "strings",
    "weighting",
)
_OWN = tuple(f"manykernels.{home}." for home in _HOMES)
_PROCESS = "sklearn.gaussian_process.kernels"
_PAIRWISE = "sklearn.metrics.pairwise"
_FUNCTIONS = ("_kernel", "_similarity", "_distances")
_BARRED: dict[tuple[type, str], bool] = {}


def may_be_stored(cls):
    """Whether objects of the class may stand in files."""
    module = cls.__module__
    return module == _PROCESS or (module + ".").startswith(_OWN) and checker(cls) is not None


def is_function(value):
    """Whether it is a kernel function of scikit-learn, which stands in files by its name."""
    plain = isinstance(value, types.FunctionType) and value.__module__ == _PAIRWISE
    return plain and value.__name__.endswith(_FUNCTIONS) and not value.__name__.startswith("_")


def find(module, name):
    """The class or function of that name, from a module that may be named and defined there itself."""
    value = None
    if module in (_PROCESS, _PAIRWISE) or isinstance(module, str) and (module + ".").startswith(_OWN):
        value = getattr(import_module(module), name, None)
    if getattr(value, "__module__", None) != module:
        raise ValueError(f"it names {module}.{name}, which is not part of this release of manykernels")
    return value


def restore(cls, state):
    """An object of the class with these attributes, checked."""
    check(isinstance(cls, type) and may_be_stored(cls), f"{cls!r} is no class for files")
    for name in check_is("state", state, dict):
        if (cls, name) not in _BARRED:
            _BARRED[cls, name] = _is_barred(cls, name)
        check(not _BARRED[cls, name], f"{cls.__name__} cannot have the attribute {name!r}")
    value = object.__new__(cls)
    vars(value).update(state)
    checker(cls)(value)
    return value


def _is_barred(cls, name):
    """Whether an attribute of that name would stand in for a method or property of the class."""
    if not isinstance(name, str) or not name.isidentifier() or name.startswith("__"):
        return True
    found = next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)
    return callable(found) or hasattr(type(found), "__get__")


def checker(cls):
    """The function that checks restored objects of the class; None where there is none."""
    return _check_process if cls.__module__ == _PROCESS else getattr(cls, "check_state", None)


def _check_process(kernel):
    """A kernel of scikit-learn's Gaussian processes: its parameters and nothing else."""
    from sklearn.gaussian_process.kernels import Kernel

    check_is("a kernel", kernel, Kernel)
    check(set(vars(kernel)) == set(signature(type(kernel)).parameters), f"{type(kernel).__name__} has other parameters")
    for name, value in vars(kernel).items():
        check_plain(name, value, (Kernel,))
        numbers = not name.endswith(("_bounds", "metric", "_kwargs"))
        check(not (numbers and isinstance(value, str | None)), f"{name} is {value!r}")


def check_model(model):
    """A fitted estimator: its attributes have the shapes that follow from the examples and kernels of `_predictor`."""
    from ..banks._base import Predictor
    from ..banks.dense import DensePredictor
    from ..losses import Loss
    from ..solution import Solution

    predictor, outputs = check_is("_predictor", model._predictor, Predictor), 1
    n, M = predictor.sizes()
    if "slack" in model._get_param_names():
        vars(model).setdefault("slack", False)  # of files from before there was slack
        check(isinstance(model.slack, bool | np.bool_), f"slack is {model.slack!r}")
        check(hasattr(model, "slack_weight_") == bool(model.slack), "slack_weight_ does not go with slack")
    check(set(model._get_param_names()) <= set(vars(model)), f"{type(model).__name__} lacks parameters")
    check_jobs(model.n_jobs)
    check(model.normalize in ("multiplicative", "spherical", "trace", None), f"normalize is {model.normalize!r}")
    if is_classifier(model):
        classes = model.classes_
        check(type(classes) is np.ndarray and classes.ndim == 1 and len(classes) > 1, "classes_ is no list of classes")
        outputs = 1 if len(classes) == 2 else len(classes)
        check_is("loss", model.loss, (str, Loss))
    check_array("dual_coef_", model.dual_coef_, np.float64, outputs, n)
    check_array("intercept_", model.intercept_, np.float64, outputs)
    several = np.ndim(model.kernel_weights_) == 2
    check_array("kernel_weights_", model.kernel_weights_, np.float64, *((outputs, M) if several else (M,)))
    if hasattr(model, "slack_weight_"):
        check_slack(model.slack_weight_, outputs if several else None)
    check_index("support_", model.support_, 2**48, n)
    check_list("kernel_names_", model.kernel_names_, str, M)
    check_array("kernel_scale_", model.kernel_scale_, np.float64, M)
    check_integer("n_features_in_", model.n_features_in_, 1, 2**48)
    check_records("history_", model.history_)
    for name in ("objective_", "duality_gap_", "n_iter_"):
        check_is(name, getattr(model, name), Real)
    precomputed = isinstance(predictor, DensePredictor)
    check(model._is_precomputed() == precomputed, "kernels are not those of the model")
    check(not precomputed or predictor.n_train == model.n_features_in_, "n_features_in_ is not that of the kernels")
    tasks = None if predictor.kernel_list is None else predictor.kernel_list.tasks
    check(getattr(model, "tasks_", None) is tasks, "tasks_ are not those of the kernels")
    if hasattr(model, "feature_names_in_"):
        check_array("feature_names_in_", model.feature_names_in_, object, model.n_features_in_)
        check_plain("feature_names_in_", model.feature_names_in_.tolist())
    if getattr(model, "formulation", None) == "svdd":
        check_is("_square", model._square, Real)
        check_is("radius_", model.radius_, Real)
    for solution in getattr(model, "_solutions", []):
        check_is("_solutions", solution, Solution)


def check_slack(weight, rows):
    """`slack_weight_`: a number, or one a class."""
    if rows is None:
        check_is("slack_weight_", weight, Real)
    else:
        check_array("slack_weight_", weight, np.float64, rows)
