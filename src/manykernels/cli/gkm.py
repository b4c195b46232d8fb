"""`gkm train` and `gkm predict`: support vector machines on gapped words, with the letters and files of LS-GKM."""

import sys
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import manykernels as mk

from ._columns import seen
from ._models import check_output
from ._talk import Debug, Json, Quiet, Wrong, command, pandas, show, speaker
from .learn import progress, read_C

ROWS_AT_ONCE = 2**14

Model = Annotated[str, typer.Argument(help="A model of `gkm train`, of `fit`, or a text model of LS-GKM.")]


@dataclass(frozen=True)
class TrainOptions:
    positives: Annotated[str, typer.Argument(help="FASTA of the positives.")]
    negatives: Annotated[str, typer.Argument(help="FASTA of the negatives.")]
    prefix: Annotated[str, typer.Argument(help="How the names of the results begin.")]
    kind: Annotated[
        int,
        typer.Option(
            "-t", min=0, max=5, help="0 counts, 1 full filter, 2 truncated filter, 3 RBF of 2, 4 centre, 5 RBF of 4."
        ),
    ] = 2
    letters: Annotated[int, typer.Option("-l", help="Letters of a window.")] = 11
    compared: Annotated[int, typer.Option("-k", help="Letters of a window that are compared.")] = 7
    d: Annotated[int | None, typer.Option("-d", help="Most mismatches; by default 3, or l - k if less.")] = None
    gamma: Annotated[float | None, typer.Option("-g", help="Of the RBF, for -t 3 and 5; by default 1.")] = None
    most: Annotated[int | None, typer.Option("-M", help="Weight of the centre, for -t 4 and 5; by default 50.")] = None
    half: Annotated[
        float | None, typer.Option("-H", help="Letters to half the weight, for -t 4 and 5; by default 50.")
    ] = None
    one_strand: Annotated[bool, typer.Option("-R", help="One strand, without reverse complements.")] = False
    C: Annotated[str, typer.Option("-c", help="Factor of the loss, or auto, which chooses it.")] = "1"
    weight: Annotated[float, typer.Option("-w", help="Factor of the loss of positives.")] = 1.0
    folds: Annotated[int, typer.Option("-x", min=0, help="Folds of a cross-validation; 0: none.")] = 0
    fold: Annotated[int, typer.Option("-i", min=0, help="Only this fold of -x, from 1, and no model; 0: all.")] = 0
    seed: Annotated[int, typer.Option("-r", min=0, help="The seed of the folds.")] = 1
    threads: Annotated[int | None, typer.Option("-T", min=1, help="Threads; by default all cores.")] = None
    json: Json = False
    quiet: Quiet = False
    debug: Debug = False


@command
def train(asked: TrainOptions) -> None:
    """Learn to tell positives from negatives; write PREFIX.model.mk, if possible PREFIX.model.txt, and with -x
    PREFIX.cvpred.txt."""
    say, prefix = speaker(asked.quiet), asked.prefix
    files = [f"{prefix}.{end}" for end in ("model.mk", "model.txt", _cvpred(asked))]
    for path in files:
        check_output(path, asked.positives, asked.negatives, option="")
    if asked.fold > asked.folds or asked.folds == 1:
        raise Wrong(f"-x {asked.folds} -i {asked.fold}: give -x 2 or more, and -i at most as large.")
    model = _model(asked, say)
    parts = [read_fasta(path) for path in (asked.positives, asked.negatives)]
    sizes = [len(X) for _, X in parts]
    if asked.folds > min(sizes):
        raise Wrong(f"-x {asked.folds} is more than the {min(sizes)} sequences of a class: give -x {min(sizes)}.")
    ids = [name for names, _ in parts for name in names]
    X, y = mk.sequences.Sequences.concatenate([X for _, X in parts]), np.repeat([1, -1], sizes)
    strange = int((X.letters() >= X.alphabet.size).sum()) if X.bits > 2 else 0
    if strange:
        say(f"{strange} letters are not A, C, G or T: they match nothing here; LS-GKM reads them as A.")
    facts: dict[str, Any] = {"positives": sizes[0], "negatives": sizes[1]}
    if asked.folds:
        facts |= _validate(model, ids, X, y, asked, files[2], say)
    if not asked.fold:
        facts |= _fit(model, X, y, files, say)
    show(facts, asked.json)


def _cvpred(asked):
    return f"cvpred.{asked.fold}.txt" if asked.fold else "cvpred.txt"


def _model(asked, say):
    """The unfitted model that the options describe."""
    from ..estimators.lsgkm import TYPES

    rule, smooth, central = list(TYPES.values())[asked.kind]
    for option, value, wanted, kinds in (
        ("-g", asked.gamma, smooth, "3 and 5"),
        ("-M", asked.most, central, "4 and 5"),
        ("-H", asked.half, central, "4 and 5"),
    ):
        if value is not None and not wanted:
            raise Wrong(f"{option} {value:g} has no meaning for -t {asked.kind}: it belongs to -t {kinds}.")
    if not asked.weight > 0:
        raise Wrong(f"-w {asked.weight:g} is not positive: give -w 1, for example.")
    options = {
        "d": _or(asked.d, min(3, max(asked.letters - asked.compared, 0))),
        "filter": rule,
        "reverse_complement": not asked.one_strand,
        "unknown": "ignore",
        "gamma": _or(asked.gamma, 1.0) if smooth else None,
        "centre": (_or(asked.most, 50), _or(asked.half, 50.0)) if central else None,
    }
    kernel = mk.strings.GappedKmer(asked.letters, asked.compared, **options)
    kernel.check(None)
    theirs = mk.strings.GappedKmer(asked.letters, asked.compared, nearest=False, **options)
    if not theirs.psd:
        ours, before = kernel.mismatches(4)[1][0], theirs.mismatches(4)[1][0]
        say(
            f"-d {kernel.d} is not positive semidefinite: the nearest kernel that is one is trained, with the weight "
            f"{ours:.4g} of equal words instead of {before:.4g}; -d {kernel.l - kernel.k} needs no change."
        )
    return mk.MKLClassifier(
        [("gkm", kernel)], C=read_C(asked.C, "-c"), normalize="spherical", class_weight={1: asked.weight, -1: 1.0},
        n_jobs=asked.threads, random_state=asked.seed, verbose=progress(asked.quiet),
    )  # fmt: skip


def _or(value, default):
    return default if value is None else value


def _validate(model, ids, X, y, asked, path, say):
    """Write the scores of held-out folds; returns the area under the curve."""
    from sklearn.base import clone
    from sklearn.metrics import average_precision_score, roc_auc_score
    from sklearn.model_selection import StratifiedKFold

    scores, fold = np.empty(len(y)), np.zeros(len(y), int)
    splitter = StratifiedKFold(asked.folds, shuffle=True, random_state=asked.seed)
    for number, (learn, test) in enumerate(splitter.split(y, y), 1):
        if asked.fold in (0, number):
            say(f"fold {number} of {asked.folds}: {len(learn)} sequences to learn, {len(test)} to test.")
            scores[test], fold[test] = clone(model).fit(X[learn], y[learn]).decision_function(X[test]), number
    rows = np.flatnonzero(fold)
    with open(path, "w") as file:
        file.writelines(f"{ids[i]}\t{scores[i]:g}\t{y[i]}\t{fold[i]}\n" for i in rows)
    say(f"{path} is written with {len(rows)} scores: id, score, label and fold.")
    area, precision = roc_auc_score(y[rows], scores[rows]), average_precision_score(y[rows], scores[rows])
    return {"auROC": float(area), "auPRC": float(precision)}


def _fit(model, X, y, files, say):
    model.fit(X, y).save(files[0])
    say(f"{files[0]} is written; `manykernels gkm predict NEW.fa {files[0]} OUT` uses it.")
    try:
        model.save(files[1], format="lsgkm")
        say(f"{files[1]} is written, for gkmpredict.")
    except ValueError as error:
        why = str(error).partition(": ")[2].partition(", or save")[0]
        stale = "; the file there is of an older model" if Path(files[1]).exists() else ""
        say(f"{files[1]}, for gkmpredict, is not written: {why}{stale}.")
    support = int(np.count_nonzero(model.dual_coef_))
    return {**mk.inspect.tables.chosen_C(model), "support": support, "gap": float(model.duality_gap_)}


def predict(
    test: Annotated[str, typer.Argument(help="FASTA of the sequences to score.")],
    model: Model,
    output: Annotated[str, typer.Argument(help="The file of the scores; - is stdout.")],
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score sequences: a line with the id (the first word of the header), a tab and the score for each."""
    if output != "-":
        check_output(output, test, model, option="")
    say, fitted = speaker(quiet), read_model(model)
    count = 0
    with nullcontext(sys.stdout) if output == "-" else open(output, "w") as file:
        for X, names in mk.sequences.fasta.stream_fasta(test, "dna", "ignore", first_words, ROWS_AT_ONCE):
            scores = fitted.decision_function(X)
            file.writelines(f"{name}\t{score:g}\n" for name, score in zip(names.tolist(), scores, strict=True))
            count += len(X)
            if len(X) >= ROWS_AT_ONCE:
                say(f"{count:,} sequences scored.")
    if output != "-":
        say(f"{output} is written with {count} scores.")


def first_words(headers: list[str]) -> list[str]:
    """The first word of each header, the id."""
    return [header.split(None, 1)[0] if header.strip() else "" for header in headers]


def read_fasta(path: str) -> tuple[list[str], Any]:
    """(ids, sequences of DNA) of a file; other letters match nothing."""
    X, names = mk.sequences.read_fasta(path, "dna", "ignore", labels=first_words)
    return names.tolist(), X


class _Column:
    """A model that was fitted to a table with one column of sequences, as one of sequences."""

    def __init__(self, model, name):
        self.model, self.name = model, name
        self.kernel_names_, self.predictor_ = model.kernel_names_, model.predictor_

    def table(self, X):
        return pandas().DataFrame({self.name: list(map(str, X))})

    def decision_function(self, X):
        return self.model.decision_function(self.table(X))

    def decision_parts(self, X):
        return self.model.decision_parts(self.table(X))


def read_model(path: str) -> Any:
    """A model with decisions of sequences."""
    model = mk.load(path)
    if not hasattr(model, "decision_function"):  # as scikit-learn asks it
        raise Wrong(f"{path} has no classes, and so no score of positives: use `manykernels predict`.")
    names = vars(model).get("feature_names_in_")
    columns = set() if names is None else set(map(seen, names))
    if len(columns) > 1:
        raise Wrong(f"{path} uses {len(columns)} columns, and sequences are one: use `manykernels predict`.")
    return model if names is None else _Column(model, names[0])


def estimator_and_data(model: Any, X: Any) -> tuple[Any, Any]:
    """A model of `read_model` as it was fitted, and sequences in the form in which it takes them."""
    return (model.model, model.table(X)) if isinstance(model, _Column) else (model, X)


def in_options(text: str, words: dict[str, str]) -> str:
    """The message of an error, in which options replace arguments of Python."""
    for before, after in words.items():
        text = text.replace(before, after)
    return text
