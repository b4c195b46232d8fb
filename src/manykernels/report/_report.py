"""`Report`: the facts of a model, their page, and the files of both."""

import base64
import hashlib
import json
import math
import os
import time
from dataclasses import dataclass, field, replace
from importlib.resources import files
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from .._archive import write_text
from .._pictures import render
from .._validation import check_number
from ..estimators.advice import new_data
from ..estimators.check_inputs import is_precomputed, open_annotated, optional
from ..estimators.check_views import among_themselves
from ..estimators.covariates import Covariates, new_covariates
from ..estimators.cross_validated import CrossValidated
from ..estimators.progress import show_stages
from ..estimators.survival_times import read_times
from ..inspect.displays.base import members_of
from ..inspect.sources import listed
from ..inspect.tables import check_model, kind_of
from ..kernels.view_data import n_examples
from . import _charts, _words, _worth
from ._case import MAX_INSIDE, MAX_SOURCES, Case, Facts, ReportOptions
from ._decisions import check_examples, is_list
from ._measure import measure
from ._repeat import report_lines
from .describe import describe_data, describe_model, versions

TOOLS = {  # what the templates may call
    **{key: value for key, value in vars(_words).items() if callable(value) and value.__module__ == _words.__name__},
    "charts": _charts, "log10": _charts.log10, "exp": math.exp, "words": _words, "few": listed, "worth": _worth,
    "MAX_INSIDE": MAX_INSIDE, "MAX_SOURCES": MAX_SOURCES,
}  # fmt: skip


def page(facts: Facts) -> str:
    """The whole page."""
    style, script = (files(__package__).joinpath(f"page.{end}").read_text(encoding="utf-8") for end in ("css", "js"))
    policy = (
        f"default-src 'none'; style-src '{_hash(style)}'; script-src '{_hash(script)}'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    )
    return section("page", facts, style=style, script=script, policy=policy)


def section(key: str, facts: Facts, **values: Any) -> str:
    """The HTML of one of the templates."""
    given = {"facts": _words.foreign(facts), **values, **TOOLS}
    return render(f"report/templates/{key}.html.jinja", _words.MARKS, **given)


def _hash(content):
    """Of a style or script, for the content policy."""
    return "sha256-" + base64.b64encode(hashlib.sha256(content.encode()).digest()).decode()


@dataclass
class Report:
    """The measurements of a model and their page; `make_report` and the method `report` of an estimator return it.

    Parameters
    ----------
    facts : dict
        Numbers and names by section, as in the JSON file.
    path : Path, optional
        The file of the page.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import RBF
    >>> X, y = load_iris(return_X_y=True)
    >>> model = MKLClassifier([("sepals", RBF(0.5), [0, 1]), ("petals", RBF(0.5), [2, 3])]).fit(X, y)
    >>> report = model.report(X, y, cv=3, stability=0)
    >>> report.facts["sources"]["rows"][0]["name"], report.html().startswith("<!doctype html>")
    ('petals', True)
    """

    facts: dict[str, Any] = field(repr=False)
    path: Path | None = None

    def html(self) -> str:
        """The page."""
        return page(self.facts)

    def json(self) -> str:
        """The facts as JSON; NaN and infinity become null."""
        return json.dumps(_finite(self.facts), ensure_ascii=False, indent=1, allow_nan=False)

    def write(self, path: str | PathLike[str], data: bool = True) -> Path:
        """Write the page, and with `data` the facts to a .json file of the same name; returns the path of the page."""
        place = Path(path)
        if data and place.suffix == ".json":
            raise ValueError(f"path={str(path)!r}: the facts take this name; give the page another, such as .html.")
        write_text(place, [self.html()])
        if data:
            write_text(place.with_suffix(".json"), [self.json(), "\n"])
        self.path = place.absolute()
        return self.path


def make_report(model: Any, X: Any, y: Any = None, path: str | PathLike[str] | None = None, **options: Any) -> Report:
    """Measure a fitted model on data and write a page about it: one HTML file, which loads nothing from other places.

    The work has a limit in kernel entries, of which each fit reads n² M: folds, bootstrap samples and refits without
    each source. If the limit does not allow all examples, a random sample is measured, and the page says so.

    Parameters
    ----------
    model : estimator
        Fitted. The page of an `MKLClassifierCV` or `MKLRegressorCV` shows the chosen model. Its scores are nested: the
        search is repeated within each training fold. If this exceeds the limit, the page says that they are not nested.
    X, y : as in `fit`
        `MKLOneClass` does not need y; with y = 1 and −1 it is scored.
    path : path, optional
        The file of the page; None: no file is written.
    **options : the parameters of `ReportOptions`
        `cv`, `relevance`, `stability`, `examples` and others.

    Returns
    -------
    Report

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import Linear
    >>> from manykernels.report import make_report
    >>> X = np.random.default_rng(0).normal(size=(60, 2))
    >>> model = MKLRegressor([("one", Linear(), [0]), ("two", Linear(), [1])]).fit(X, X[:, 1])
    >>> make_report(model, X, X[:, 1], stability=0).facts["sources"]["rows"][0]["name"]
    'two'
    """
    check_model(model)
    check_is_fitted(model)
    search = model if isinstance(model, CrossValidated) else None
    chosen = model if search is None else search.best_estimator_
    asked = ReportOptions(**options)
    target = asked.target or (y if isinstance(y, str) else None)
    order = optional(chosen, "view_feature_names_in_", {})
    X, y, adjusted, groups = open_annotated(X, y, asked.covariates, order, groups=asked.groups)
    X = among_themselves(X)
    kind, n = kind_of(chosen), n_examples(X)
    if is_list(asked.examples):
        check_examples(asked.examples, n)
    called = getattr(y, "name", None)  # a column of pandas or polars
    target = target or (called if isinstance(called, str) and called else None)
    y = _targets(chosen, kind, y, n)
    if is_precomputed(chosen) and (n != X.shape[1] or n != chosen.n_features_in_):
        raise ValueError(
            f"X has shape {tuple(X.shape)}: give the matrices between the {chosen.n_features_in_} training "
            "examples, which are held out in turn."
        )
    if optional(chosen, "tasks_") is None:
        new_data(chosen, X, told=False)  # refuses other columns than in fit
    place = None if path is None else _checked(path)
    if asked.threshold is not None:
        check_number("threshold", asked.threshold, -np.inf)
        if kind != "classification" or len(chosen.classes_) != 2 or y.ndim > 1:
            raise ValueError(f"threshold={asked.threshold!r} is for models with two classes: leave it out.")
    groups = None if groups is None else np.asarray(groups)
    covariates = None
    if (Z := new_covariates(chosen, adjusted, n)) is not None:
        covariates = Covariates(Z, chosen.covariate_names_, chosen.covariate_columns_)
    with show_stages(chosen.verbose if asked.verbose is None else asked.verbose) as tick:
        case = Case(chosen, X, y, kind, asked.sources or _kernels_of_one(chosen), asked.scoring, asked.n_jobs,
                    asked.random_state, tick, groups, search,
                    asked.threshold or 0.0, covariates)  # fmt: skip
        found = measure(case, asked.cv, asked.relevance, asked.stability, asked.examples, asked.max_examples)
    title = asked.title or (f"What predicts {target}" if target else f"{type(chosen).__name__}, {n:,} examples")
    facts = {
        "title": title,
        "made": time.strftime("%Y-%m-%d %H:%M"),
        "kind": kind,
        "target": target,
        "model": describe_model(chosen),
        "data": describe_data(chosen, X, y),
        **found,
        "versions": versions(),
        "reproduce": report_lines(chosen, y, replace(asked, groups=groups, target=target)),
    }
    report = Report(facts)
    if place is not None:
        report.write(place, asked.data)
    return report


def _kernels_of_one(model: Any) -> dict[str, list[int]] | None:
    """Each kernel as a source if all kernels see the same data, as kernels on sequences do."""
    names = [str(name) for name in model.kernel_names_]
    alone = len(members_of(model, "source")[0]) == 1 and 1 < len(names) == len(set(names))
    return {name: [m] for m, name in enumerate(names)} if alone else None


def _targets(model, kind, y, n):
    if y is None:
        if kind != "one-class":
            raise ValueError("y=None: give the targets of X, which the report compares with predictions.")
        return None
    y = read_times(y) if kind == "survival" else np.asarray(y)
    if y.ndim not in (1, 2) or len(y) != n:
        raise ValueError(f"y has shape {y.shape} for {n} examples: give one target per example.")
    y = y[:, 0] if y.ndim == 2 and y.shape[1] == 1 else y
    strange = sorted(set(np.unique(y).tolist()) - set(model.classes_.tolist())) if kind == "classification" else []
    if strange and y.ndim == 1:
        raise ValueError(f"y has {strange[0]!r}, which is not among the model's classes {model.classes_.tolist()[:8]}.")
    return y


def _checked(path):
    """The path, after a check that a file can be written there."""
    place = Path(path)
    folder = place.absolute().parent
    if not folder.is_dir():
        raise ValueError(f"path={str(path)!r}: the folder {str(folder)!r} does not exist; make it first.")
    if place.is_dir() or place.suffix == ".json" or not os.access(folder, os.W_OK):
        raise ValueError(f"path={str(path)!r} cannot be the page: give the path of a file, such as 'report.html'.")
    return place


def _finite(value: Any) -> Any:
    """The value without numbers and lone surrogates that JSON cannot hold."""
    if isinstance(value, dict):
        return {_finite(str(k)): _finite(v) for k, v in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(v) for v in value]
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode("utf-8")
    return value if value is None or isinstance(value, int | bool) else str(value)
