"""`report`: a page of a saved model, measured on data."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Annotated, Any

import typer

from ._columns import seen
from ._data import pick, read_data
from ._models import as_classes, check_output, only_label, read_model, target_of
from ._talk import Debug, Json, Quiet, Wrong, complain, speaker
from .learn import Data, Id, Labels, Target, progress
from .use import Model, columns_of


def report(
    model: Model,
    data: Data,
    target: Target = None,
    output: Annotated[str, typer.Option("--output", "-o", help="Where the page is written.")] = "report.html",
    cv: Annotated[int, typer.Option(min=0, help="Folds of the cross-validation; 0 for none.")] = 5,
    relevance: Annotated[str, typer.Option(help="auto, full (refits without each source) or fast.")] = "auto",
    stability: Annotated[int, typer.Option(min=0, help="Bootstrap samples; 0 for none.")] = 10,
    examples: Annotated[str, typer.Option(help="Rows to take apart, with commas between; else six are chosen.")] = "",
    max_examples: Annotated[int | None, typer.Option(min=10, help="Examples that are looked at, at most.")] = None,
    title: Annotated[str | None, typer.Option(help="Of the page.")] = None,
    groups: Annotated[
        str | None, typer.Option(help="The column that says whom rows are of: those of one are held out together.")
    ] = None,
    scoring: Annotated[str | None, typer.Option(help="A score of scikit-learn, such as balanced_accuracy.")] = None,
    threshold: Annotated[
        float | None, typer.Option(help="Of two classes: the decision above which a row counts as the second; else 0.")
    ] = None,
    id: Id = None,
    labels: Labels = None,
    json: Json = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a page on what the model has learned, how surely, and which columns matter: one HTML file."""
    from sklearn.base import is_outlier_detector

    say = speaker(quiet)
    if output == "-":
        raise Wrong("-o - would write a page to the terminal: give a path, -o report.html.")
    over = [check_output(str(path), model, data, labels) for path in (Path(output), Path(output).with_suffix(".json"))]
    fitted = read_model(model)
    frame = read_data(data, id, say, labels)
    target = target or only_label(labels)
    one_class = is_outlier_detector(fitted)
    y = None if one_class and target is None else target_of(fitted, frame, target, say)
    X, rows = columns_of(fitted, frame), _rows(examples)
    truth = None if y is None else as_classes(fitted, y)
    if not quiet and not progress(quiet):
        complain("measuring: held-out scores, what each source is worth, stability.")
    options: dict[str, Any] = dict(cv=cv or None, relevance=relevance, stability=stability, examples=rows)
    options |= dict(max_examples=max_examples, title=title, target=None if y is None else str(y.name))
    options |= dict(groups=None if groups is None else pick(frame, groups, "--groups").to_numpy(), scoring=scoring)
    options |= dict(threshold=threshold)
    found = fitted.report(X, truth, verbose=progress(quiet), **options)
    _describe(found.facts, fitted, frame, truth, None if y is None else str(y.name))
    found.facts["reproduce"] = _commands(model, data, target, output, cv, relevance, stability, threshold)
    place = found.write(output)
    seconds = sum(found.facts["cost"].values())
    say(
        f"{place} is written{over[0]}, in {seconds:.1f} s: open it in a browser. Its numbers are in "
        f"{place.stem}.json{over[1]}."
    )
    if json:
        typer.echo(found.json())
    else:
        typer.echo(str(place))


def _describe(facts, model, frame, truth, target):
    """The columns as they stand in the data, and those that the model does not see."""
    from ..report._describe import describe_data

    known = set(map(seen, model.feature_names_in_))
    plain = frame.drop(columns=[target] if target in frame.columns else [])
    facts["data"] = describe_data(model, plain, truth)
    facts["data"]["unused"] = [str(name) for name in plain.columns if name not in known]


def _rows(text):
    if not text:
        return None
    try:
        return [int(part) for part in text.split(",")]
    except ValueError:
        raise Wrong(f"--examples {text!r} is no list of row numbers: give --examples 0,5,17.") from None


def _commands(model, data, target, output, cv, relevance, stability, threshold=None):
    """How to repeat it, with what tells the files from others of the same names."""
    wanted = f" --target {target!r}" if target else ""
    wanted += "" if threshold is None else f" --threshold {threshold:g}"
    options = f"{wanted} --cv {cv} --relevance {relevance} --stability {stability} -o {output}"
    lines = [f"manykernels report {model} {data}{options}", ""]
    for path in (model, data):
        place = Path(path)
        for file in sorted(place.iterdir()) if place.is_dir() else [place]:
            if file.is_file():
                lines.append(f"# sha256 {hashlib.sha256(file.read_bytes()).hexdigest()}  {file.name}")
    return lines
