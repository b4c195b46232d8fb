"""Fitted models as files, and their states; `_archive` writes and reads them, docs/file-format.md describes them."""

import os
from collections.abc import Iterable
from os import PathLike
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, is_classifier

from .. import pairs, solvers, strings  # noqa: F401  # loaded, so that their classes are registered
from .._archive import check_file, read, wholeness
from .._state import check, check_is, check_plain, check_value, entries, outside, read_entries
from .._validation import check_choice, check_number, parse_bytes
from ..banks import choice  # noqa: F401  # as above
from ..banks.base import Predictor
from ..banks.dense_predictor import DensePredictor
from ..losses import Loss
from ..regularizers import papers  # noqa: F401  # as above
from ._checks import Checks
from .check_inputs import is_precomputed
from .choose_c import is_auto
from .covariates import check_saved
from .lsgkm import is_lsgkm, load_lsgkm, unpacked
from .outputs import n_outputs

FITTED = {  # the attributes that files hold, see `_state`: of T outputs, M kernels and n support examples
    "predictor as predictor_": "Predictor", "dual_coef_": "f8 T n", "intercept_": "f8 T", "intercept_shift_": "?f8 T",
    "kernel_weights_": "f8 M or f8 T M", "slack_weight_": "?number or f8 T", "support_": "i8 n <big",
    "support_weight_": "?f8 n", "kernel_names_": "list M text", "kernel_scale_": "f8 M", "kernel_scale_error_": "?f8 M",
    "kernels_chosen_": "?text", "metric_": "?dict", "objective_": "number", "duality_gap_": "number",
    "n_iter_": "number", "history_": "records", "searched_": "?int 1", "solutions as _solutions": "?list _ Solution",
    "C_": "?finite", "C_scores_": "?dict", "calibration_": "?f8 T 2", "compression_": "?dict",
    "n_features_in_": "int 1", "feature_names_in_": "?object n_features_in_", "view_feature_names_in_": "?dict",
    "id_name_": "?text", "target_name_": "?text", "target_names_": "?list _ text",
    "decimal_commas_": "?list _ any",
    "classes_": "?labels", "multi_class_": "?of ovr shared", "multi_class_reason_": "?text", "multilabel_": "?flag",
    "n_outputs_": "?int 1", "covariate_names_": "?list z text", "covariate_columns_": "?dict",
    "covariate_coef_": "?f8 T z", "strata_": "?labels", "unique_times_": "?f8 _", "baseline_times_": "?f8 times",
    "baseline_hazard_": "?f8 _ times", "n_events_": "?int 1", "log_marginal_likelihood_": "?number",
    "stationarity_": "?number", "noise_": "?number or f8 T", "square as _square": "?number", "radius_": "?number",
}  # fmt: skip
ATTRIBUTES = {name for _, name, _ in entries(FITTED)}
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


class StoredModel(BaseEstimator):
    """Adds the state that files hold to an estimator."""

    def to_state(self) -> dict[str, Any]:
        """The content of the file of a fitted model: its parameters, fitted attributes and predictor; see `_state`."""
        params, own = self.get_params(deep=False), vars(self)
        strange = own.keys() - params.keys() - ATTRIBUTES - NOT_IN_FILES
        if strange:
            raise ValueError(
                f"{type(self).__name__} has the attribute {min(strange)!r}, which a file cannot keep: delete it, or "
                "pickle the model."
            )
        return {"parameters": params} | {entry: own[name] for entry, name, _ in entries(FITTED) if name in own}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Self:
        """The fitted model of a state of `to_state`."""
        params = check_is("parameters", state.pop("parameters"), dict)
        if isinstance(params.get("kernels"), list):  # each entry is one or more kernels
            check(len(params["kernels"]) <= len(state["kernel_names_"]), "there are more kernels than names")
        model: Any = cls(**params)
        names = {entry: name for entry, name, _ in entries(FITTED)}
        for entry, value in state.items():
            check(entry in names, f"{cls.__name__} has no {entry!r}")
            setattr(model, names[entry], value)
        model._check_params()
        predictor = check_is("predictor", model.predictor_, Predictor)
        n, M = predictor.sizes()
        here = {entry: spec.removeprefix("?") for entry, _, spec in entries(FITTED) if spec[0] != "?" or entry in state}
        read_entries(here, state, n=n, M=M, T=n_outputs(model))
        check_model(model, vars(model), predictor, params)
        check_saved(vars(model))
        kernels = predictor.kernel_list
        if kernels is not None and kernels.tasks is not None:
            model.tasks_ = kernels.tasks
        return model


def check_model(model, own, predictor, params):
    """A ValueError unless the attributes go together, and with the parameters and the predictor."""
    for names, wanted, parameter in (
        (("classes_", "multi_class_", "multi_class_reason_", "multilabel_"), is_classifier(model), "the estimator"),
        (("slack_weight_",), bool(model.slack), "slack"),
        (("calibration_",), params.get("calibrate") is not None, "calibrate"),
        (("C_", "C_scores_"), is_auto(params.get("C")), "C"),
        (("baseline_times_",), "baseline_hazard_" in own, "baseline_hazard_"),
        (("unique_times_", "n_events_"), "strata_" in own, "strata_"),
        (("_square", "radius_"), params.get("formulation") == "svdd", "formulation"),
    ):
        for name in names:
            check((name in own) == wanted, f"{name} does not go with {parameter}")
    if is_classifier(model):
        check_is("loss", model.loss, (str, Loss))
    several = np.ndim(model.kernel_weights_) == 2
    check(not model.slack or np.ndim(model.slack_weight_) == several, "slack_weight_ does not go with the weights")
    if "C_" in own:
        check_number("C_", model.C_)
        read_entries({"C": "f8 c", "score": "f8 c"}, model.C_scores_)
    for metric in own.get("metric_", {}).values():
        read_entries({"column": "list d text", "scale": "f8 d", "share": "f8 d"}, metric)
    if "baseline_hazard_" in own:
        check(len(own.get("strata_", ())) == len(model.baseline_hazard_), "strata_ does not go with baseline_hazard_")
    check_plain("compression_", own.get("compression_", {}))
    check_plain("feature_names_in_", list(own.get("feature_names_in_", [])))
    precomputed = isinstance(predictor, DensePredictor)
    check(is_precomputed(model) == precomputed, "kernels are not those of the model")
    check(not precomputed or predictor.n_train == model.n_features_in_, "n_features_in_ is not that of the kernels")
    sizes = predictor.widths()
    for view, columns in own.get("view_feature_names_in_", {}).items():
        check(view in sizes, f"there is no view {view!r}")
        check_value("view_feature_names_in_", columns, f"list {sizes[view] or '_'} text", {})
