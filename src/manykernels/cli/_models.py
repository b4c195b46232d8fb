"""From data and settings to an estimator and its arguments."""

from collections.abc import Collection
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import manykernels as mk

from .._validation import shown
from ..estimators.check_inputs import is_precomputed
from ..kernels.column_kinds import CODE, THOUSANDS, is_number_text
from ..kernels.frames import are_missing_texts
from ..kernels.normalize import CHOICES_OF_MODELS
from ._columns import as_numbers, as_texts, encode, guess_task, read_texts, seen, suggest
from ._config import build, kinds_of, read_config
from ._data import full_name, is_number, pandas, pick, read_data, read_file
from ._talk import Wrong, say

HINT = " `manykernels init` writes them to an editable file."
TASKS = ("classification", "regression", "one-class", "survival")
LOSSES_OF_NUMBERS = ("poisson", "quantile", "huber", "epsilon_insensitive")  # which classes do not have
WRONG_TARGET = "correct it, or leave the row out"  # what to do about a text among numbers
CATEGORY = ":category"  # after a column of --adjust
MAX_CODES = 10  # different whole numbers that may be codes of a category


class Job(NamedTuple):
    """A fit: kernels on X (n, d), the targets y (n,) or None, and the settings."""

    task: str
    kernels: list[Any]
    X: Any
    y: Any
    settings: dict[str, Any]
    chosen: str  # a sentence on the automatic choices
    groups: Any = None  # (n,), the group of each row
    covariates: Any = None  # {column: values (n,)} that the fit adjusts for
    commas: Collection[str] = ()  # the columns of texts with decimal commas


def prepare(data: str, config: str | None, given: dict[str, Any]) -> Job:
    """Read and check all inputs before the fit; options override the configuration."""
    settings = read_config(config) if config else {}
    settings |= {name: value for name, value in given.items() if value is not None}
    labels, groups = settings.pop("labels", None), settings.pop("groups", None)
    frame = read_data(data, settings.get("id"), labels, target=settings.get("target"))
    if "target" not in settings:
        settings["target"] = only_label(labels)
    settings["target"] = full_target(frame, settings["target"])
    task = settings.get("task") or ("regression" if settings.get("loss") in LOSSES_OF_NUMBERS else None)
    task, y, frame = split_target(frame, task, settings.get("target"), data)
    of, frame = (None, frame) if groups is None else split_groups(frame, groups)
    frame, commas = read_texts(frame)
    covariates, frame = (None, frame) if "adjust" not in settings else split_covariates(frame, settings["adjust"])
    if covariates is not None and task == "one-class":
        raise Wrong("--adjust needs targets, and --task one-class has none: leave it out.")
    tables, chosen = (settings.pop("kernel"), "") if "kernel" in settings else suggest(frame, HINT)
    kernels, names = build(tables, frame)
    X = encode(frame, names, kinds_of(kernels))
    return Job(task, kernels, X, y, settings, chosen, of, covariates, commas)


def read_for(
    model: Any,
    data: str,
    id: str | None,
    labels: str | None = None,
    target: str | None = None,
    unique: bool = True,
) -> Any:
    """The data, by `read_data`, as the fit of the model read them: with its ids and its decimal commas."""
    known = vars(model)
    frame = read_data(data, id, labels, unique, target or known.get("target_name_"), known.get("id_name_"))
    id = known.get("id_name_")
    frame = frame.set_index(id) if frame.index.name is None and id in frame.columns else frame
    wanted, names = set(map(str, known.get("feature_names_in_", ()))), {}
    for stem, columns in frame.attrs.get("sources", {}).items():  # a table of one column now, of several then, or not
        for name in columns:
            other = name.removeprefix(f"{stem}.") if name.startswith(f"{stem}.") else f"{stem}.{name}"
            if name not in wanted and other in wanted and other not in frame.columns:
                names[name] = other
    frame = frame.rename(columns=names)
    commas = frame.columns.intersection(known.get("decimal_commas_", ()))
    return frame.assign(**{name: as_numbers(frame[name], decimal=",") for name in commas})


def full_target(frame: Any, target: str | None) -> str | None:
    """The target with the `full_name` of its column, or of each of EVENT,TIME,STRATA."""
    if target is None or target in frame.columns:
        return target
    return ",".join(full_name(frame, name) for name in target.split(","))


def only_label(labels: str | None) -> str | None:
    """The only column of the labels, or None if there are several."""
    if labels is None:
        return None
    found = list(read_file(labels).columns)[1:]
    return found[0] if len(found) == 1 else None


def split_groups(frame: Any, groups: str) -> tuple[Any, Any]:
    """(the group of each row (n,), the other columns)."""
    if groups == frame.index.name:
        return frame.index.to_numpy(), frame
    column = pick(frame, groups, "--groups")
    if column.isna().any():
        raise Wrong(f"--groups {groups!r} is empty in {int(column.isna().sum())} rows: fill it in or remove them.")
    say(f"rows of the same {groups!r} ({column.nunique()} groups) are held out together; the column is not a feature.")
    return column.to_numpy(), frame.drop(columns=column.name)


def split_covariates(frame: Any, adjust: str) -> tuple[dict[str, Any], Any]:
    """({column: values} of --adjust, the other columns); "batch:category" makes a category of a column of numbers."""
    asked = [part.strip() for part in adjust.split(",") if part.strip()]
    kinds = {part.removesuffix(CATEGORY): part.endswith(CATEGORY) for part in asked}
    found, codes = {}, []
    for name, category in kinds.items():
        column = pick(frame, name, "--adjust", "the data besides the target")
        category = category or not is_number(column)
        found[column.name] = _covariate(column, category)
        whole = not category and 2 < column.nunique() <= MAX_CODES and bool((column == column.round()).all())
        codes += [column.name] if whole else []
    if not found:
        raise Wrong(f"--adjust {adjust!r} names no column: give columns, separated by commas, --adjust age,sex.")
    say(f"adjusted for: {', '.join(map(repr, found))}, without a penalty; these columns are not features.")
    for name in codes:
        say(f"{name!r} has few whole numbers and is taken as a number; --adjust {name}{CATEGORY} makes it a category.")
    return found, frame.drop(columns=list(found))


def _covariate(column, category):
    """The values of a covariate: texts of a category, else floats."""
    return as_texts(column) if category else as_numbers(column, decimal=".")


def covariates_of(model: Any, frame: Any) -> dict[str, Any]:
    """{"covariates": {column: values}}, read by name, if the model adjusts for some, else {}."""
    known = vars(model).get("covariate_columns_")
    if known is None:
        return {}
    made = {name: _covariate(pick(frame, name, "covariate"), levels is not None) for name, levels in known.items()}
    return {"covariates": made}


def split_target(frame, task, target, data):
    """(task, y, the other columns), without rows that lack a target."""
    if task is not None and task not in TASKS:
        raise Wrong(f"--task {task!r} is unknown: give {', '.join(TASKS)}.")
    if target is None:
        if task == "one-class":
            return task, None, frame
        few = ", ".join(map(repr, list(frame.columns)[:8]))
        raise Wrong(
            f"--target is missing: name the column to predict ({few}), give a table of targets with --labels, or give "
            "--task one-class."
        )
    target = full_target(frame, target)
    if task == "survival":
        y = pick_times(frame, target)
        return task, y, frame.drop(columns=target.split(","))
    y = without_marks(pick(frame, target, "--target", data))
    frame = frame.drop(columns=target)
    if task == "one-class":
        return task, None, frame
    lost = int(y.isna().sum())
    if lost == len(y):
        raise Wrong(f"--target {target!r} is empty in all rows: name another column.")
    if lost:
        say(f"{target!r} is missing in {lost} of {len(y)} rows, which are left out.")
        frame, y = frame[y.notna()], y[y.notna()]
    if task is None:
        task = guess_task(y)
        say(f"task: {task}, from the {y.nunique()} different values of {target!r}; --task changes it.")
    return task, read_target(y, task), frame


def without_marks(y):
    """A column of targets; one of numbers, also with commas, and of texts such as ? or - is one of numbers."""
    marks = are_missing_texts(y.to_numpy(object))
    rest = [str(entry) for entry in y[~marks].dropna()]
    parted = [entry for entry in rest if "," in entry]
    commas = not all(map(THOUSANDS.fullmatch, parted)) and not any("." in entry for entry in rest)
    plain = [entry.replace(",", ".") if commas else entry for entry in rest]
    if is_number(y) or not (marks.any() or commas):
        return y
    if not all(map(is_number_text, plain)):
        asked = y.astype(str).str.strip() == "?"
        return y.mask(asked) if y[~asked].nunique() > 1 else y
    y = y.mask(marks)
    if commas:
        say(f"{y.name!r} has decimal commas: {parted[0]} is read as {parted[0].replace(',', '.')}.")
        y = y.map(lambda entry: str(entry).replace(",", "."), na_action="ignore")
    return y if any(map(CODE.fullmatch, rest)) else pandas().to_numeric(y)


def pick_times(frame, target):
    """The targets of the columns EVENT,TIME or EVENT,TIME,STRATA."""
    names = target.split(",")
    if not 2 <= len(names) <= 3:
        raise Wrong(f"--target {target!r} names no event and time: give --event and --time, or EVENT,TIME here.")
    options = ("--event", "--time", "--strata")[: len(names)]
    event, time, *strata = (pick(frame, name, option) for name, option in zip(names, options, strict=True))
    events = as_numbers(event, "give 1 for events and 0 for censored times")
    return mk.survival_targets(events, as_numbers(time, WRONG_TARGET), *(column.to_numpy() for column in strata))


def read_target(y, task):
    """The targets as an array for an estimator."""
    if task == "regression":
        words = [value for value in y if not is_number_text(str(value))]
        if words:
            raise Wrong(
                f"--target {y.name!r} has {shown(words[0])}, which is not a number: give --task classification."
            )
        return as_numbers(y, WRONG_TARGET)
    if y.nunique() < 2:
        raise Wrong(f"--target {y.name!r} has only one class, {shown(y.iloc[0])}: a classifier needs two.")
    if y.nunique() > max(20, len(y) // 2):
        raise Wrong(
            f"--target {y.name!r} has {y.nunique()} different values in {len(y)} rows, too many for classes: name "
            "another column, or give --task regression if they are numbers."
        )
    if is_number(y):
        return y.to_numpy(int) if (y == y.round()).all() else y.map(str).to_numpy(str)
    return y.map(str).to_numpy(str)


def estimator(job: Job, search: bool = False, **more: Any) -> Any:
    """The unfitted estimator of a job; the default loss of regression is the squared loss."""
    settings, task = job.settings, job.task
    options = {"kernels": job.kernels, **more}
    options |= {name: settings[name] for name in ("approximation", "loss", "q") if name in settings}
    if "normalize" in settings:
        options["normalize"] = _normalization(settings["normalize"])
    if "q" in settings and task != "regression":
        raise Wrong("q is a setting of --loss quantile, for --task regression: leave it out.")
    if task == "one-class":
        wrong = [name for name in ("C", "loss") if name in settings]
        if wrong:
            raise Wrong(f"{wrong[0]} is not a setting of --task one-class: give nu, the share of outliers.")
        options |= {"regularizer": settings["p"]} if "p" in settings else {}
        return mk.MKLOneClass(nu=settings.get("nu", 0.1), **options)
    if "nu" in settings:
        raise Wrong(f"nu is a setting of --task one-class, not of {task}: give C.")
    default, single, searching = {
        "classification": ({"loss": "hinge"}, mk.MKLClassifier, mk.MKLClassifierCV),
        "regression": ({"loss": "squared"}, mk.MKLRegressor, mk.MKLRegressorCV),
        "survival": ({}, mk.MKLSurvival, mk.MKLSurvivalCV),
    }[task]
    if search:
        return searching(**default | options)
    return single(C=settings.get("C", "auto"), regularizer=settings.get("p", 2.0), **default | options)


def _normalization(name):
    """The setting `normalize`, a name, as an estimator takes it."""
    known = [str(choice).lower() for choice in CHOICES_OF_MODELS]
    if name not in known:
        raise Wrong(f"normalize {name!r} is unknown: give {', '.join(known)}.")
    return CHOICES_OF_MODELS[known.index(name)]


def read_model(path: str) -> Any:
    """A saved model with column names."""
    if not Path(path).exists():
        raise Wrong(f"{path} does not exist: `manykernels fit` makes models.")
    model = mk.load(path)
    if "feature_names_in_" not in vars(model) or is_precomputed(model):
        raise Wrong(f"{path} was fitted to data without column names: use it in Python.")
    return model


def target_of(model: Any, frame: Any, target: str | None) -> Any:
    """The target column: the named one, that of the fit, or the only column that the model does not use."""
    known = vars(model).get("target_name_")
    if isinstance(model, mk.MKLSurvival):
        return pick_times(frame, target or known)
    if target is None and known in frame.columns:
        target = known
    if target is None:
        asked = (
            f"the data lack the column {known!r} of the fit: add it, or name" if known else "--target is missing: name"
        )
        others = unused(model, frame)
        if len(others) != 1 or known:
            some = f" ({', '.join(map(repr, others[:8]))})" * bool(others)
            raise Wrong(f"{asked} the column to compare with{some}.")
        target = others[0]
        say(f"target: {target!r}, the only column that the model does not use.")
    y = without_marks(pick(frame, target, "--target"))
    if y.isna().any():
        raise Wrong(f"--target {target!r} is empty in {int(y.isna().sum())} rows: fill it in or remove them.")
    return y


def unused(model: Any, frame: Any) -> list[str]:
    """The columns that a model does not read."""
    names = model.feature_names_in_
    known = {*names, *map(seen, names), *vars(model).get("covariate_columns_", {})}
    return [str(name) for name in frame.columns if name not in known]


def as_classes(model: Any, y: Any) -> Any:
    """Targets in the type of the model's classes, or numbers for a regression."""
    if isinstance(model, mk.MKLSurvival):
        return y
    classes = vars(model).get("classes_", np.zeros(0))
    labels = as_numbers(y, WRONG_TARGET) if classes.dtype.kind in "iuf" else y.map(str).to_numpy(str)
    strange = sorted({*labels.tolist()} - {*classes.tolist()}) if len(classes) else ()
    if strange:
        raise Wrong(f"--target {y.name!r} has {strange[0]!r}, which is not among {', '.join(map(str, classes[:8]))}.")
    return labels
