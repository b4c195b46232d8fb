"""`report`: write the page of a saved model, measured on data."""

from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import Annotated

import typer
from typer import Option

import manykernels as mk

from ._talk import Json, Wrong, check_output, running, say
from .learn import Data, Groups, Id, Labels, Target, numbers, progress
from .use import Model, columns_of


@dataclass
class PageOptions:
    model: Model
    data: Data
    target: Target = None
    output: Annotated[str, Option("--output", "-o", help="The file of the page.")] = "report.html"
    cv: Annotated[int, Option(min=0, help="Folds of the cross-validation; 0 for none.")] = 5
    relevance: Annotated[str, Option(help="auto, full (leaves out more sources) or fast.")] = "auto"
    stability: Annotated[int | None, Option(min=0, help="Bootstrap samples, 0 for none; default up to 100.")] = None
    examples: Annotated[str, Option(help="Rows to explain, separated by commas; by default six.")] = ""
    max_examples: Annotated[int | None, Option(min=10, help="The size of a random sample to measure.")] = None
    title: Annotated[str | None, Option(help="The title of the page.")] = None
    groups: Groups = None
    scoring: Annotated[str | None, Option(help="A score of scikit-learn, for example balanced_accuracy.")] = None
    threshold: Annotated[
        float | None, Option(help="For two classes: decisions above it predict the second class; 0 by default.")
    ] = None
    id: Id = None
    labels: Labels = None
    json: Json = False


def report(asked: PageOptions) -> None:
    """Write one HTML page on a model: what it learned, how certain the findings are, and which columns matter."""
    from sklearn.base import is_outlier_detector

    from ..estimators.advice import tell_news
    from ._models import as_classes, covariates_of, only_label, read_for, read_model, split_groups, target_of

    output = asked.output
    if output == "-":
        raise Wrong("-o - would write a page to the terminal: give a path, for example -o report.html.")
    if Path(output).suffix == ".json":
        raise Wrong(f"-o {output}: the facts of the page take this name: give the page another, such as report.html.")
    read, pages = (asked.model, asked.data, asked.labels), (Path(output), Path(output).with_suffix(".json"))
    over = [check_output(str(path), *read) for path in pages]
    fitted = read_model(asked.model)
    frame = read_for(fitted, asked.data, asked.id, asked.labels, target=asked.target)
    target = asked.target or only_label(asked.labels)
    one_class = is_outlier_detector(fitted)
    y = None if one_class and target is None else target_of(fitted, frame, target)
    times = isinstance(fitted, mk.MKLSurvival)
    columns = (target or fitted.target_name_).split(",") if times else [None if y is None else str(y.name)]
    name = columns[0]
    X = columns_of(fitted, frame)
    rows = numbers(asked.examples, "--examples", "0,5,17", "row numbers", int) if asked.examples else None
    tell_news(fitted, X)
    truth = None if y is None else as_classes(fitted, y)
    if not progress():
        say("measuring held-out scores, the relevance of each source, and stability.")
    with running({"quiet": True}):
        groups = None if asked.groups is None else split_groups(frame, asked.groups)[0]
    options = vars(asked)
    same = {key: options[key] for key in ("relevance", "stability", "max_examples", "title", "scoring", "threshold")}
    found = fitted.report(
        X, truth, verbose=progress(), cv=asked.cv or None, examples=rows, target=name, groups=groups, **same,
        **covariates_of(fitted, frame),
    )  # fmt: skip
    _describe(found.facts, fitted, frame, truth, columns)
    keys = "cv", "relevance", "stability", "examples", "max_examples", "title", "groups", "scoring", "threshold"
    given = {"--" + key.replace("_", "-"): options[key] for key in keys} | {"--examples": asked.examples or None}
    where = {
        "--target": ",".join(map(str, columns)) if times else target or name,
        "--id": asked.id or vars(fitted).get("id_name_") or None,
        "--labels": asked.labels,
    }
    found.facts["reproduce"] = _commands(fitted, asked.model, asked.data, output, where, given)
    place = found.write(output)
    seconds = sum(found.facts["cost"].values())
    say(
        f"{place} is written{over[0]}, in {seconds:.1f} s: open it in a browser. Its numbers are in "
        f"{place.stem}.json{over[1]}."
    )
    typer.echo(found.json() if asked.json else str(place))


def _describe(facts, model, frame, truth, targets):
    """Replace the facts on the data by those of the original columns, and list the unused ones."""
    from ..report.describe import describe_data
    from ._models import unused

    plain = frame.drop(columns=[target for target in targets if target in frame.columns])
    facts["data"] = describe_data(model, plain, truth)
    facts["data"]["unused"] = unused(model, plain)


def _commands(fitted, model, data, output, where, asked):
    """The commands that repeat the report into new files, with the checksums of the model and the data."""
    import hashlib

    lines = ["# the data came from a pipe, which - stands for"] if data == "-" else []
    again, fit = _beside(model), _fit(fitted, data, where)
    if fit:
        lines += [
            "# fits the model if it was fitted to these data; otherwise use its file",
            f"{fit} {_said({'-o': again})}",
        ]
    else:
        lines.append("# no command fits these kernels: use the file of the model")
    options = _said(where | asked | {"-o": _beside(output)})
    lines += [f"manykernels report {quote(again if fit else model)} {quote(data)} {options}", ""]
    for path in (model, data):
        place = Path(path)
        for file in sorted(place.iterdir()) if place.is_dir() else [place]:
            if file.is_file():
                lines.append(f"# sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    return lines


def _fit(fitted, data, where):
    """The command that fits the model to the data, or "" if `fit` would choose other kernels."""
    from ._models import CATEGORY, estimator, prepare

    if data == "-":
        return ""
    task = mk.inspect.tables.kind_of(fitted)
    given = {"--task": task, "-p": fitted.regularizer}
    known = vars(fitted).get("covariate_columns_", {})
    marked = [name if levels is None else f"{name}{CATEGORY}" for name, levels in known.items()]
    given |= {"--adjust": ",".join(marked)} if marked else {}
    given |= {"--nu": fitted.nu} if task == "one-class" else {"-C": fitted.C, "--loss": fitted.loss}
    if not all(isinstance(value, str | int | float) for value in given.values()):
        return ""
    settings = {name.lstrip("-"): value for name, value in (where | given).items()}
    try:
        with running({"quiet": True}):
            other = estimator(prepare(data, None, settings))
    except Exception:  # the data do not suit the model
        return ""
    same = repr(other.set_params(verbose=fitted.verbose).get_params()) == repr(fitted.get_params())
    return f"manykernels fit {quote(data)} {_said(where | given)}" if same else ""


def _said(options):
    return " ".join(f"{name} {quote(str(value))}" for name, value in options.items() if value is not None)


def _beside(path):
    place = Path(path)
    return str(place.with_name(f"{place.stem}-again{place.suffix}"))
