"""`fit` and `cv`: learn models from data, and score them."""

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

import manykernels as mk

from ._talk import Json, Wrong, check_output, is_quiet, say, show

if TYPE_CHECKING:
    from ._models import Job

Data = Annotated[
    str, Argument(help="CSV, TSV, FASTA (.gz), Parquet, NPZ, a folder of tables with ids, or - for stdin.")
]
Target = Annotated[
    str | None, Option("--target", "-t", help="The column to predict; in FASTA headers the word before =.")
]
Labels = Annotated[str | None, Option(help="A table of targets, with ids in its first column.")]
Task = Annotated[str | None, Option(help="classification, regression, survival or one-class; by default guessed.")]
Groups = Annotated[
    str | None, Option(help="A column of groups, such as patients: rows of a group are held out together.")
]
Id = Annotated[str | None, Option(help="The column of ids of the examples.")]


@dataclass
class Learned:
    data: Data
    target: Target = None
    event: Annotated[str | None, Option(help="With --time: the column that is 1 for events, 0 for censored times.")] = (
        None
    )
    time: Annotated[str | None, Option(help="With --event: the column of times, for the risk of an event.")] = None
    strata: Annotated[str | None, Option(help="With --event and --time: a column of groups that are not compared.")] = (
        None
    )
    config: Annotated[str | None, Option(help="A TOML file of kernels; `manykernels init` writes one.")] = None
    task: Task = None
    loss: Annotated[str | None, Option(help="hinge, logistic, squared, huber, quantile, poisson, ...")] = None
    q: Annotated[float | None, Option("--q", help="The quantile, for --loss quantile; default 0.5.")] = None
    normalize: Annotated[
        str | None, Option(help="multiplicative, spherical (for unequal lengths), trace or none; chosen by default.")
    ] = None
    id: Id = None
    labels: Labels = None
    adjust: Annotated[
        str | None,
        Option(help="Columns to adjust for, without a penalty, separated by commas: age,sex,batch:category."),
    ] = None
    approximation: Annotated[
        str | None, Option(help="nystroem or rff: kernels of low rank, for many examples; docs/lowrank.md.")
    ] = None
    json: Json = False


@dataclass
class FitOptions(Learned):
    C: Annotated[str | None, Option("-C", "--C", help="Factor of the loss; by default auto, which chooses it.")] = None
    p: Annotated[float | None, Option("-p", "--p", help="1: few kernels, inf: equal weights; default 2.")] = None
    nu: Annotated[float | None, Option(help="The share of outliers, for --task one-class.")] = None
    probabilities: Annotated[
        bool, Option("--probabilities", help="Let predict write probabilities, for any loss; takes 5 more fits.")
    ] = False
    output: Annotated[str, Option("--output", "-o", help="The file of the model.")] = "model.mk"


def fit(asked: FitOptions) -> None:
    """Learn a model and the weights of its kernels from a table, and write the model to a file."""
    from ._models import estimator, prepare

    output = asked.output
    if output == "-":
        raise Wrong("-o - would write a model to the terminal: give a path, for example -o model.mk.")
    over = check_output(output, asked.data, asked.config, asked.labels)
    job = prepare(asked.data, asked.config, settings_of(asked) | {"C": read_C(asked.C)})
    model = estimator(job, verbose=verbose(), **_calibration(job, asked.probabilities))
    extra = {} if job.covariates is None else {"covariates": job.covariates}
    model.fit(job.X, job.y, **extra) if job.y is not None else model.fit(job.X)
    if job.y is not None:
        model.target_name_ = job.settings["target"]  # the default target of `score`, `inspect` and `report`
    model.id_name_, model.decimal_commas_ = job.settings.get("id", ""), job.commas
    if job.chosen:
        model.kernels_chosen_ = job.chosen
    model.verbose = False
    model.save(output)
    say(f"{output} is written{over}; `manykernels predict {output} NEW` uses it, with NEW data like {asked.data}.")
    facts = summary(job, model)
    if len(facts["weights"]) < facts["kernels"]:
        say(f"the {len(facts['weights'])} heaviest of {facts['kernels']} kernels; `manykernels inspect` shows more.")
    show(facts, asked.json)


@dataclass
class CVOptions(Learned):
    C: Annotated[str, Option("-C", "--C", help="Candidates, separated by commas.")] = "0.1,1,10"
    p: Annotated[str, Option("-p", "--p", help="Candidates, separated by commas.")] = "1,2"
    folds: Annotated[int, Option(min=2, help="Folds of the cross-validation.")] = 5
    groups: Groups = None


def cv(asked: CVOptions) -> None:
    """Score candidates for C and p by cross-validation."""
    from ._models import estimator, prepare

    Cs, ps = numbers(asked.C, "-C"), numbers(asked.p, "-p")
    job = prepare(asked.data, asked.config, settings_of(asked) | {"C": None, "p": None})
    if job.task == "one-class":
        raise Wrong("cv needs targets for its scores, and --task one-class has none: give another task.")
    splits = _splits(job, asked.folds)
    search = estimator(job, search=True, Cs=Cs, cv=splits, verbose=verbose())
    search.set_params(regularizer=ps)
    search.fit(job.X, job.y, groups=job.groups, covariates=job.covariates)
    found = search.cv_results_
    rows = [
        {"C": float(c["C"]), "p": float(c["regularizer"]), "score": float(mean), "std": float(std)}
        for c, mean, std in zip(found["params"], found["mean_test_score"], found["std_test_score"], strict=True)
    ]
    best = rows[int(search.best_index_)]
    say(f"the best of {len(rows)}: -C {best['C']:g} -p {best['p']:g}; the choice makes its score a little too good.")
    measure = mk.inspect.held_out.own_measure(search).replace("²", "2")
    facts = {"task": job.task, "measure": measure, "folds": len(splits), "C": best["C"], "p": best["p"], "scores": rows}
    show(facts, asked.json)


def _calibration(job, wanted):
    """The estimator setting for probabilities, unless the loss has them."""
    if not wanted:
        return {}
    if job.task != "classification":
        raise Wrong(f"--probabilities needs classes, and --task {job.task} has none: leave it out.")
    return {} if job.settings.get("loss") == "logistic" else {"calibrate": "sigmoid"}


def summary(job: "Job", model: Any) -> dict[str, Any]:
    """The main numbers of a fit."""
    names, _, shares = mk.inspect.tables.top_weights(model, 10)
    return {
        "task": job.task,
        "examples": len(job.X),
        "kernels": len(model.kernel_names_),
        **mk.inspect.tables.chosen_C(model),
        "gap": float(model.duality_gap_),
        **coefficients(model),
        "weights": [{"kernel": name, "share": float(share)} for name, share in zip(names, shares, strict=True)],
    }


def coefficients(model: Any) -> dict[str, Any]:
    """{"covariates": the coefficient of each covariate}, of a model with one output; else {}."""
    names, coef = vars(model).get("covariate_names_"), vars(model).get("covariate_coef_")
    if names is None or coef is None or len(coef) > 1:
        return {}
    rows = zip(names, coef[0], strict=True)
    return {"covariates": [{"covariate": name, "coefficient": float(value)} for name, value in rows]}


def progress() -> bool:
    """Whether to show progress bars, which go to stderr: only if stderr is a terminal, and the command not quiet."""
    import rich

    if is_quiet() or not sys.stderr.isatty():
        return False
    rich.reconfigure(stderr=True)
    return True


def verbose() -> bool | str:
    """The `verbose` of estimators: bars, or lines of fits that take long where stderr is no terminal."""
    return progress() or (False if is_quiet() else "lines")


def settings_of(asked: Any) -> dict[str, Any]:
    """The settings that options give; --event, --time and --strata are the target EVENT,TIME[,STRATA] of a task."""
    from ._config import SETTINGS

    given = {name: value for name, value in vars(asked).items() if name in (*SETTINGS, "labels", "groups")}
    names = [asked.event, asked.time] + ([] if asked.strata is None else [asked.strata])
    if names == [None, None]:
        return given
    if None in names:
        raise Wrong("--event, --time and --strata belong together: give --event and --time, and --strata with them.")
    if asked.target is not None:
        raise Wrong("--target is the column of a class or a number: leave it out with --event and --time.")
    return given | {"target": ",".join(names), "task": "survival"}


def read_C(text: str | None, option: str = "-C") -> float | str | None:
    """The value of -C: a number, "auto", or None."""
    if text is None or text == "auto":
        return text
    try:
        return float(text)
    except ValueError:
        raise Wrong(f"{option} {text!r} is not a number: give {option} 10, for example, or {option} auto.") from None


def numbers(text: str, option: str, example: str = "0.1,1,10", what: str = "numbers", kind: Any = float) -> list[Any]:
    """The numbers of an option, which commas separate."""
    try:
        return [kind(part) for part in text.split(",")]
    except ValueError:
        raise Wrong(f"{option} {text!r} is not a list of {what}: give {option} {example}, for example.") from None


def _splits(job, folds):
    """The folds: stratified by class or event and shuffled, rows of a group together."""
    if job.groups is not None and folds > len({*job.groups}):
        raise Wrong(f"--folds {folds} is more than the {len({*job.groups})} groups: give fewer folds.")
    classes = job.task == "classification"
    splits = mk.estimators.check_targets.make_splits(folds, job.y, job.y, classes, job.groups, 0)
    if not splits:
        raise Wrong(f"--folds {folds} needs two events, two groups or two examples of two classes: give more data.")
    return splits
