"""`predict`, `score`, `inspect`, `init` and `kernels`: use and score models, write a configuration, list kernels."""

import sys
from inspect import Parameter
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

import manykernels as mk

from ._talk import Json, Wrong, check_output, pandas, say, show, write
from .learn import Data, Id, Labels, Target, Task, coefficients

Model = Annotated[str, Argument(help="A file that `manykernels fit` wrote.")]


def predict(
    model: Model,
    data: Data,
    output: Annotated[str, Option("--output", "-o", help="The file of the predictions; - is stdout.")] = "-",
    id: Id = None,
    json: Json = False,
) -> None:
    """Predict new examples: one row each, with decision values, and probabilities if the model has them."""
    from ._models import covariates_of, read_for, read_model

    over = "" if output == "-" or output.startswith("/dev/") else check_output(output, model, data)
    fitted = read_model(model)
    frame = read_for(fitted, data, id, unique=False)
    made = predictions(fitted, columns_of(fitted, frame), covariates_of(fitted, frame))
    text = made.to_json(orient="records") + "\n" if json else made.to_csv(index=frame.index.name is not None)
    if output == "-":
        sys.stdout.write(text)
        return
    write(output, [text])
    say(f"{output} is written with {len(made)} predictions{over}.")


def columns_of(model: Any, frame: Any) -> Any:
    """The columns that a model uses; an error if one has empty rows and its kernel does not accept them."""
    from ._columns import encode
    from ._config import kinds_of

    X = encode(frame, list(model.feature_names_in_), kinds_of(model.kernels))
    specs = mk.kernels.spec.specs_of(model.kernels)
    whole = [spec for spec in specs if spec.missing == "error" and spec.kernel.reads != "anything"]
    strict = {column for spec in whole for column in spec.columns or ()}
    for name in X.columns[X.isna().any()]:
        if name in strict:
            raise Wrong(
                f"Column {name!r} is empty in {int(X[name].isna().sum())} rows, but the configuration of the fit has "
                'missing = "error" for its kernel: fill it in, or fit with missing = "zero" in its kernels.'
            )
    return X


def predictions(model: Any, X: Any, extra: dict[str, Any]) -> Any:
    """A frame of predictions, decisions and, if the model has them, probabilities; `extra` may hold covariates."""
    from sklearn.base import is_regressor

    found = {"prediction": model.predict(X, **extra)}
    if isinstance(model, mk.MKLSurvival):
        found = {"risk": found["prediction"]}
    elif not is_regressor(model):
        decision = model.decision_function(X, **extra)
        if decision.ndim == 1:
            found["decision"] = decision
        else:
            found |= {f"decision:{name}": decision[:, k] for k, name in enumerate(model.classes_)}
    if hasattr(model, "predict_proba"):  # as scikit-learn asks it
        P = model.predict_proba(X, **extra)
        found |= {f"probability:{name}": P[:, k] for k, name in enumerate(model.classes_)}
    return pandas().DataFrame(found, index=X.index)


def score(
    model: Model,
    data: Data,
    target: Target = None,
    id: Id = None,
    labels: Labels = None,
    json: Json = False,
) -> None:
    """Compare predictions with the targets: accuracy for classes, R² for numbers, concordance for times."""
    import numpy as np
    from sklearn.base import is_outlier_detector, is_regressor
    from sklearn.metrics import balanced_accuracy_score, mean_absolute_error, r2_score

    from ._models import as_classes, covariates_of, only_label, read_for, read_model, target_of

    fitted = read_model(model)
    if is_outlier_detector(fitted):
        raise Wrong(f"{model} is a one-class model, which has no score: use predict.")
    frame = read_for(fitted, data, id, labels, target=target)
    y = as_classes(fitted, target_of(fitted, frame, target or only_label(labels)))
    X, extra = columns_of(fitted, frame), covariates_of(fitted, frame)
    guess = fitted.predict(X, **extra)
    facts: dict[str, Any] = {"examples": len(y)}
    if isinstance(fitted, mk.MKLSurvival):
        facts |= {"concordance": float(fitted.score(X, y, **extra)), "events": int(y["event"].sum())}
    elif is_regressor(fitted):
        own = {"D2": float(fitted.score(X, y, **extra))} if mk.losses.get(fitted.loss).own_score else {}
        facts |= own | {"R2": float(r2_score(y, guess)), "mean_error": float(mean_absolute_error(y, guess))}
    else:
        facts |= {"accuracy": float((y == guess).mean()), "balanced": float(balanced_accuracy_score(y, guess))}
        facts["commonest"] = float(np.unique(y, return_counts=True)[1].max() / len(y))  # the accuracy of a guess
    show(facts, json)


def inspect(
    model: Model,
    data: Annotated[str | None, Argument(help="Training data, to measure the relevance of each source.")] = None,
    target: Target = None,
    id: Id = None,
    labels: Labels = None,
    top: Annotated[int, Option(min=1, help="The number of kernels to show.")] = 20,
    json: Json = False,
) -> None:
    """Show the weights, the gap and the settings of a model; with data, also the relevance of each source."""
    from ._models import only_label, read_for, read_model

    fitted = read_model(model)
    names, weights, shares = mk.inspect.tables.top_weights(fitted, top)
    settings = {name: v for name, v in fitted.get_params(deep=False).items() if name in ("loss", "C", "nu")}
    facts = {
        "model": type(fitted).__name__,
        "p": fitted.regularizer,
        **settings | mk.inspect.tables.chosen_C(fitted),
        "gap": float(fitted.duality_gap_),
        "kernels": len(fitted.kernel_names_),
        "columns": len(fitted.feature_names_in_),
        **coefficients(fitted),
        "weights": [
            {"kernel": name, "weight": float(weight), "share": float(share)}
            for name, weight, share in zip(names, weights, shares, strict=True)
        ],
    }
    if metric := mk.inspect.tables.column_shares(vars(fitted).get("metric_")):
        facts["metric"] = [
            {"source": source, "column": column, "share": share}
            for source, own in metric.items()
            for column, share in list(own.items())[:top]
        ]
    if data is not None:
        frame = read_for(fitted, data, id, labels, target=target)
        facts["relevance"] = _relevance(fitted, frame, target or only_label(labels))
    show(facts, json)


def _relevance(model, frame, target):
    from sklearn.base import is_outlier_detector

    from ..estimators.advice import tell_news
    from ._models import as_classes, covariates_of, target_of

    if is_outlier_detector(model):
        raise Wrong("A one-class model has no targets, which relevance needs: leave the data out.")
    y, X = as_classes(model, target_of(model, frame, target)), columns_of(model, frame)
    tell_news(model, X)
    say("relevance: the mean of the loss in score without a source and the gain from it alone, in 5 folds.")
    found = mk.inspect.relevance(model, X, y, kernels=False, **covariates_of(model, frame))
    if found.covariates:
        say(f"beyond {', '.join(found.covariates)}, which every fit adjusts for.")
    rows, keep = found.table(), ("relevance", "relevance_se")
    if not found.refitted.all():
        say("permute: the loss in score if the column is permuted; columns without relevance were only permuted.")
        keep = (*keep, "permute", "permute_se")
    return [{"name": row["name"]} | {key: row[key] for key in keep if row[key] == row[key]} for row in rows]


def init(
    data: Data,
    target: Target = None,
    task: Task = None,
    id: Id = None,
    labels: Labels = None,
    output: Annotated[str, Option("--output", "-o", help="The file of the configuration; - is stdout.")] = "-",
    force: Annotated[bool, Option("--force", help="Overwrite an existing file.")] = False,
) -> None:
    """Write a commented TOML file of kernels for the columns of a table, which you can edit and give to fit."""
    from ._columns import read_texts, suggest
    from ._config import write_config
    from ._data import read_data
    from ._models import split_target

    over = ""
    if output != "-":
        over = check_output(output, data, labels)
        if Path(output).exists() and not force:
            raise Wrong(f"{output} exists: give another path, or --force to overwrite it.")
    task, _, frame = split_target(read_data(data, id, labels, target=target), task, target, data)
    text = write_config({"target": target, "id": id, "task": task}, suggest(read_texts(frame)[0])[0], data)
    if output == "-":
        typer.echo(text, nl=False)
        return
    write(output, [text])
    say(f"{output} is written{over}; `manykernels fit {data} --config {output}` uses it.")


def kernels(json: Json = False) -> None:
    """List the kernels that a configuration may name, with their parameters."""
    from ._config import KERNELS, STRINGS, kernel_class, parameters

    rows = []
    for name in (*KERNELS, *STRINGS):
        cls = kernel_class(name)
        takes = parameters(cls)
        says = (cls.__doc__ or "").strip().splitlines()[0]
        takes = {key: "required" if value is Parameter.empty else value for key, value in takes.items()}
        plain = (key if value == "required" else f"{key}={value!r}" for key, value in takes.items())
        given = takes if json else ", ".join(plain)
        rows.append({"kernel": name, "parameters": given, "what": says})
    show({"kernels": rows}, json)
