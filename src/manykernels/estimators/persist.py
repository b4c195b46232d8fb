"""Fitted models as files, and their states; `_archive` writes and reads them, docs/file-format.md describes them."""

import os
from collections.abc import Iterable
from numbers import Real
from os import PathLike
from typing import Any

import numpy as np
from sklearn.base import is_classifier

from .. import pairs, solvers, strings  # noqa: F401  # loaded, so that their classes are registered
from .._archive import check_file, read, wholeness
from .._state import check, check_array, check_index, check_integer, check_is, check_list, check_plain, check_records
from .._tags import outside
from .._validation import check_choice, check_number, parse_bytes
from ..banks import choice  # noqa: F401  # as above
from ..banks.base import Predictor
from ..banks.dense_predictor import DensePredictor
from ..losses import Loss
from ..solution import Solution
from ._checks import Checks
from .check_inputs import is_precomputed
from .choose_c import is_auto
from .covariates import check_saved
from .lsgkm import is_lsgkm, load_lsgkm, unpacked
from .outputs import checked_outputs

FITTED_ATTRIBUTES = (
    "C_", "C_scores_", "baseline_hazard_", "baseline_times_", "calibration_",
    "classes_", "compression_", "covariate_coef_", "covariate_columns_", "covariate_names_",
    "decimal_commas_", "dual_coef_", "duality_gap_", "feature_names_in_", "history_", "id_name_",
    "intercept_", "intercept_shift_", "kernel_names_",
    "kernel_scale_", "kernel_scale_error_", "kernel_weights_", "kernels_chosen_",
    "log_marginal_likelihood_", "metric_", "multi_class_", "multi_class_reason_", "multilabel_",
    "n_events_", "n_features_in_", "n_iter_", "n_outputs_", "noise_", "objective_", "radius_", "searched_",
    "slack_weight_", "stationarity_", "strata_", "support_", "support_weight_", "target_name_", "target_names_",
    "unique_times_",
    "view_feature_names_in_",
)  # fmt: skip
NAMES_IN_FILES = {"predictor_": "predictor", "_solutions": "solutions", "_square": "square"}
NOT_IN_FILES = {"tasks_"}  # the predictor has them


def load(
    path: str | PathLike[str],
    memory_limit: float | str | None = None,
    parts: Iterable[type] = (),
    format: str | None = None,  # noqa: A002 (as in `save`)
) -> Any:
    """Read a model that `save` wrote, or a text model of LS-GKM; it runs no code from the file, and checks all content.

    Parameters
    ----------
    path : the file
    memory_limit : the largest unpacked size, in bytes or as "4GB"; by default 256 MiB, and 100 times the size of files
        beyond 20 MB
    parts : your own classes (losses, regularizers, kernels, …) in the model. Each declares
        `file_tag = ("name", version)`, by which the file names it. `load` makes objects of no other outside classes.
    format : "manykernels" or "lsgkm", the format that the file must have, as in `save`; None takes both

    Returns
    -------
    The fitted estimator, whose predictions equal those before saving, bit by bit. A model of LS-GKM, gzipped or not,
    becomes an `MKLClassifier` of one `GappedKmer`, whose `decision_function` is their score (docs/sequences.md), and
    one of its regression an `MKLRegressor`.

    Examples
    --------
    >>> import tempfile, manykernels
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = manykernels.MKLClassifier([manykernels.kernels.RBF(gamma=0.1)]).fit(X, y)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     model.save(f"{folder}/iris.mk")
    ...     again = manykernels.load(f"{folder}/iris.mk")
    >>> bool((again.decision_function(X) == model.decision_function(X)).all())
    True
    """
    limit, found, says = parse_bytes(memory_limit), outside(parts), os.fspath(path)
    cure = "if you trust it, give load(path, memory_limit=...)"
    check_choice("format", format, (None, "manykernels", "lsgkm"))
    check_file(path)
    with open(path, "rb") as stream:  # errors above are about the path, below about the content
        if _is_pickle(stream.peek(16)):
            raise ValueError(
                f"{says} is a pickle, as joblib and pickle write them, and loading it runs any code in it: if you "
                "trust it, read it with joblib.load or pickle.load, and write the model with model.save(path)."
            )
        text = unpacked(stream)
        theirs = is_lsgkm(text)
        if format is not None and theirs != (format == "lsgkm"):
            there = "a text model of LS-GKM" if theirs else "no text model of LS-GKM"
            raise ValueError(f"format={format!r}, but {says} is {there}: give another file, or leave format out.")
        if theirs:
            return load_lsgkm(text, says, limit)
        with wholeness(says, "is damaged or not a whole manykernels model ({}): save it again."):
            model = read(stream, "model", limit, cure, found)["model"]
            check(isinstance(model, Checks | Predictor), f"it holds a {type(model).__name__}")
    return model


def _is_pickle(head):
    """Whether a file begins like a pickle of protocol 2 to 5, or like one that joblib compressed."""
    plain = head[:1] == b"\x80" and 2 <= head[1] <= 5 if len(head) > 1 else False
    return plain or head[:2] in (b"\x78\x01", b"\x78\x5e", b"\x78\x9c", b"\x78\xda")


def state_of(model):
    """The state of a fitted estimator: its parameters, fitted attributes and predictor."""
    params, own = model.get_params(deep=False), vars(model)
    strange = own.keys() - params.keys() - {*FITTED_ATTRIBUTES, *NAMES_IN_FILES} - NOT_IN_FILES
    if strange:
        raise ValueError(
            f"{type(model).__name__} has the attribute {min(strange)!r}, which a file cannot keep: delete it, or "
            "pickle the model."
        )
    renamed = {NAMES_IN_FILES[name]: own[name] for name in NAMES_IN_FILES.keys() & own.keys()}
    return {"parameters": params} | {name: own[name] for name in FITTED_ATTRIBUTES if name in own} | renamed


def restore(cls, state):
    """The fitted estimator of a state."""
    params = check_is("parameters", state.pop("parameters"), dict)
    if isinstance(params.get("kernels"), list):  # each entry is one or more kernels
        check(len(params["kernels"]) <= len(state["kernel_names_"]), "there are more kernels than names")
    model = cls(**params)
    names = {name: name for name in FITTED_ATTRIBUTES} | {there: here for here, there in NAMES_IN_FILES.items()}
    for name, value in state.items():
        check(name in names, f"{cls.__name__} has no {name!r}")
        setattr(model, names[name], value)
    check_model(model)
    kernels = model.predictor_.kernel_list
    if kernels is not None and kernels.tasks is not None:
        model.tasks_ = kernels.tasks
    return model


def check_model(model):
    """A ValueError unless the attributes have the shapes that the examples and kernels of `predictor_` imply."""
    params, own = model.get_params(deep=False), vars(model)
    predictor = check_is("predictor", model.predictor_, Predictor)
    n, M = predictor.sizes()
    model._check_params()
    outputs = checked_outputs(model)
    check(is_classifier(model) == ("classes_" in own), "classes_ does not go with the estimator")
    if is_classifier(model):
        check_is("loss", model.loss, (str, Loss))
    check_array("dual_coef_", model.dual_coef_, np.float64, outputs, n)
    check_array("intercept_", model.intercept_, np.float64, outputs)
    check_array("intercept_shift_", own.get("intercept_shift_", np.zeros(outputs)), np.float64, outputs)
    check_saved(own, outputs)
    several = np.ndim(model.kernel_weights_) == 2
    check_array("kernel_weights_", model.kernel_weights_, np.float64, *((outputs, M) if several else (M,)))
    check(("slack_weight_" in own) == bool(model.slack), "slack_weight_ does not go with slack")
    if model.slack:
        if several:
            check_array("slack_weight_", model.slack_weight_, np.float64, outputs)
        else:
            check_is("slack_weight_", model.slack_weight_, Real)
    calibrated = params.get("calibrate") is not None
    check(("calibration_" in own) == calibrated, "calibration_ does not go with calibrate")
    if calibrated:
        check_array("calibration_", model.calibration_, np.float64, outputs, 2)
    check(("C_" in own) == is_auto(params.get("C")), "C_ does not go with C")
    if "C_" in own:
        check_number("C_", model.C_)
        check_is("C_scores_", model.C_scores_, dict)
        check(model.C_scores_.keys() == {"C", "score"}, "C_scores_ has other columns than C and score")
        check_array("C_scores_", model.C_scores_["C"], np.float64, None)
        check_array("C_scores_", model.C_scores_["score"], np.float64, len(model.C_scores_["C"]))
    for metric in check_is("metric_", own.get("metric_", {}), dict).values():
        check(check_is("metric_", metric, dict).keys() == {"column", "scale", "share"}, "metric_ has other columns")
        check_list("metric_", metric["column"], str, len(metric["scale"]))
        for name in ("scale", "share"):
            check_array("metric_", metric[name], np.float64, len(metric["column"]))
    check(
        ("baseline_hazard_" in own) == ("baseline_times_" in own), "baseline_times_ does not go with baseline_hazard_"
    )
    check_plain("compression_", check_is("compression_", own.get("compression_", {}), dict))
    if "baseline_hazard_" in own:
        check(type(model.strata_) is np.ndarray and model.strata_.ndim == 1, "strata_ is no list of strata")
        check_array("unique_times_", model.unique_times_, np.float64, None)
        check_array("baseline_times_", model.baseline_times_, np.float64, None)
        check_array("baseline_hazard_", model.baseline_hazard_, np.float64, None, len(model.baseline_times_))
        check(len(model.strata_) == len(model.baseline_hazard_), "strata_ does not go with baseline_hazard_")
        check_integer("n_events_", model.n_events_, 1, 2**48)
    check_index("support_", model.support_, 2**48, n)
    check_list("kernel_names_", model.kernel_names_, str, M)
    check_array("kernel_scale_", model.kernel_scale_, np.float64, M)
    if "kernel_scale_error_" in own:
        check_array("kernel_scale_error_", model.kernel_scale_error_, np.float64, M)
    check_integer("n_features_in_", model.n_features_in_, 1, 2**48)
    check_records("history_", model.history_)
    for name in ("id_name_", "kernels_chosen_", "target_name_"):
        check_is(name, own.get(name, ""), str)
    check_is("target_names_", own.get("target_names_", []), list)
    check_is("decimal_commas_", own.get("decimal_commas_", []), list)
    check_integer("searched_", own.get("searched_", 1), 1, 2**48)
    for name in ("objective_", "duality_gap_", "n_iter_"):
        check_is(name, getattr(model, name), Real)
    for name in ("stationarity_", "log_marginal_likelihood_"):  # of empirical Bayes
        check_is(name, own.get(name, 0.0), Real)
    if isinstance(noise := own.get("noise_", 0.0), np.ndarray):  # one for each class
        check_array("noise_", noise, np.float64, outputs)
    else:
        check_is("noise_", noise, Real)
    precomputed = isinstance(predictor, DensePredictor)
    check(is_precomputed(model) == precomputed, "kernels are not those of the model")
    check(not precomputed or predictor.n_train == model.n_features_in_, "n_features_in_ is not that of the kernels")
    if "feature_names_in_" in own:
        check_array("feature_names_in_", model.feature_names_in_, object, model.n_features_in_)
        check_plain("feature_names_in_", model.feature_names_in_.tolist())
    sizes = None if predictor.kernel_list is None else predictor.kernel_list.n_features
    for view, columns in check_is("view_feature_names_in_", own.get("view_feature_names_in_", {}), dict).items():
        check(isinstance(sizes, dict) and view in sizes, f"there is no view {view!r}")
        check_list("view_feature_names_in_", columns, str, sizes[view])
    if params.get("formulation") == "svdd":
        check_is("square", model._square, Real)
        check_is("radius_", model.radius_, Real)
    for solution in check_is("solutions", own.get("_solutions", []), list):
        check_is("solutions", solution, Solution)
