"""`gkm train` and `gkm predict`: support vector machines on gapped words, with the letters and files of LS-GKM."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer

import manykernels as mk

from ..strings.gapped_kmer import Indefinite
from ._columns import seen
from ._data import is_number, read_table
from ._sequences import sequence_columns
from ._talk import Debug, Json, Quiet, Wrong, command, complain, pandas, show, speaker
from ._written import results, written
from .gkm_folds import split
from .learn import progress, read_C

ROWS_AT_ONCE = 2**14
MOST_SHIFT = 2.0  # times the weight of equal words in the nearest kernel; above, it is nearly diagonal
THEIRS = "Of LS-GKM, without effect here."
WORKS = "they work without it here: fits stop at a relative duality gap of 0.001, and memory and threads are chosen"

Output = Annotated[str, typer.Argument(help="The file to write; - is stdout.")]
Model = Annotated[str, typer.Argument(help="A model of `gkm train`, of `fit`, or a text model of LS-GKM.")]


@dataclass(frozen=True)
class TrainOptions:
    positives: Annotated[str, typer.Argument(help="FASTA of the positives; with --scores the PREFIX.")]
    negatives: Annotated[str | None, typer.Argument(help="FASTA of the negatives.")] = None
    prefix: Annotated[str | None, typer.Argument(help="How the names of the results begin.")] = None
    scores: Annotated[
        str | None,
        typer.Option(help="CSV or TSV with a column of DNA and one of numbers to predict: --scores T PREFIX."),
    ] = None
    loss: Annotated[str, typer.Option(help="With --scores: squared, epsilon_insensitive, huber, ...")] = "squared"
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
    by_chromosome: Annotated[
        bool, typer.Option("--by-chromosome", help="Folds of -x of whole chromosomes, read from ids like chr1:100-201.")
    ] = False
    threads: Annotated[int | None, typer.Option("-T", min=1, help="Threads; by default all cores.")] = None
    precision: Annotated[float | None, typer.Option("-e", help=THEIRS)] = None
    cache: Annotated[float | None, typer.Option("-m", help=THEIRS)] = None
    verbosity: Annotated[int | None, typer.Option("-v", help=THEIRS)] = None
    shrink: Annotated[bool, typer.Option("-s", help=THEIRS)] = False
    json: Json = False
    quiet: Quiet = False
    debug: Debug = False


@command
def train(asked: TrainOptions) -> None:
    """Learn to tell positives from negatives, or to predict --scores; write PREFIX.model.mk, if possible
    PREFIX.model.txt, and with -x PREFIX.cvpred.txt."""
    say, (prefix, *given) = speaker(asked.quiet), _names(asked)
    _note_theirs(say, {"-e": asked.precision, "-m": asked.cache, "-v": asked.verbosity, "-s": asked.shrink or None})
    cvpred = f"cvpred.{asked.fold}.txt" if asked.fold else "cvpred.txt"
    files = results(prefix, ("model.mk", "model.txt", cvpred), *given)
    if asked.fold > asked.folds or asked.folds == 1:
        raise Wrong(f"-x {asked.folds} -i {asked.fold}: give -x 2 or more, and -i at most as large.")
    kernel = _kernel(asked)
    ids, X, y = read_scores(given[0]) if asked.scores else _read_classes(given, say)
    facts: dict[str, Any] = {"sequences": len(X)}
    if not asked.scores:
        facts = {"positives": int((y == 1).sum()), "negatives": int((y == -1).sum())}
    fewest, what = min(facts.values()), "" if asked.scores else " of a class"
    if asked.folds > fewest:
        raise Wrong(f"-x {asked.folds} is more than the {fewest} sequences{what}: give -x {fewest}.")
    _check_letters(X, asked)
    if asked.by_chromosome and not asked.folds:
        raise Wrong("--by-chromosome belongs to -x: give -x 5 too.")
    folds = split(ids, X, y, asked, say) if asked.folds else []
    model = _model(_definite(kernel, X, asked, say), asked)
    if asked.folds:
        facts |= _validate(model, ids, X, y, folds, asked, files[2], say)
    if not asked.fold:
        facts |= _fit(model, X, y, files, say)
    show(facts, asked.json)


def _names(asked):
    """[the prefix, the files to read]."""
    if asked.scores is None:
        if asked.prefix is None:
            raise Wrong("Give POSITIVES NEGATIVES PREFIX, or --scores TABLE PREFIX.")
        if asked.loss != "squared":
            raise Wrong(f"--loss {asked.loss} has no meaning for two classes: it belongs to --scores.")
        return [asked.prefix, asked.positives, asked.negatives]
    if asked.negatives is not None:
        raise Wrong("--scores TABLE takes the place of both FASTA files: give PREFIX alone.")
    if asked.weight != 1:
        raise Wrong(f"-w {asked.weight:g} has no meaning with --scores, which has no positives: leave it out.")
    return [asked.positives, asked.scores]


def _read_classes(paths, say):
    """(ids, sequences, 1 of positives and -1 of negatives) of two FASTA files."""
    parts = [read_fasta(path) for path in paths]
    texts = [set(map(str, X)) for _, X in parts]
    common = len(texts[0] & texts[1])
    if common and texts[0] == texts[1]:
        raise Wrong(f"{paths[0]} and {paths[1]} have the same sequences: give others as negatives.")
    if common:
        say(f"{common} sequences are positives and negatives at once: no model can tell these apart.")
    ids = [name for names, _ in parts for name in names]
    X = mk.sequences.Sequences.concatenate([X for _, X in parts])
    return ids, X, np.repeat([1, -1], [len(X) for _, X in parts])


def read_scores(path: str) -> tuple[list[str], Any, np.ndarray]:
    """(ids, sequences, numbers) of a table; the ids are its first other column, else the numbers of its rows."""
    frame = read_table(path)
    texts, numbers = sequence_columns(frame), [name for name in frame.columns if is_number(frame[name])]
    if len(texts) != 1 or len(numbers) != 1:
        raise Wrong(
            f"{path} has {len(texts)} columns of DNA and {len(numbers)} of numbers: --scores takes one of each below a "
            "line of names, such as sequence and score; `manykernels fit --target NAME` takes other tables."
        )
    if not np.isfinite(frame[numbers[0]]).all() or frame[texts[0]].isna().any():
        raise Wrong(f"{path} has rows without a sequence or without a finite number: leave them out.")
    others = [name for name in frame.columns if name not in (*texts, *numbers)]
    ids = frame[others[0]] if others else range(1, len(frame) + 1)
    X = mk.sequences.Sequences.encode(frame[texts[0]].str.upper().tolist(), "dna", "ignore", checked=True)
    return list(map(str, ids)), X, frame[numbers[0]].to_numpy(float)


def _check_letters(X, asked):
    """Say how many letters match nothing; an error if no sequence has a word."""
    unknown = X.n_unknown()
    if not unknown.any():
        return
    complain(f"{unknown.sum()} letters are not A, C, G or T: they match nothing here; LS-GKM reads them as A.")
    blank = int((X.lengths - unknown < asked.compared).sum())
    if blank == len(X):
        raise Wrong(f"No sequence has {asked.compared} letters A, C, G and T: there is nothing to learn from.")
    if blank:
        complain(f"{blank} sequences have fewer than {asked.compared} letters A, C, G and T: all of them look alike.")


def _note_theirs(say, options):
    """Say that options of LS-GKM have no effect."""
    given = [option for option, value in options.items() if value is not None]
    if given:
        say(f"{', '.join(given)}: options of LS-GKM without effect; {WORKS}.")


def _kernel(asked):
    """LS-GKM's kernel that the options describe."""
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
    kernel = mk.strings.GappedKmer(
        asked.letters, asked.compared, nearest=False, filter=rule, unknown="ignore",
        d=_or(asked.d, min(3, max(asked.letters - asked.compared, 0))),
        reverse_complement=not asked.one_strand,
        gamma=_or(asked.gamma, 1.0) if smooth else None,
        centre=(_or(asked.most, 50), _or(asked.half, 50.0)) if central else None,
    )  # fmt: skip
    kernel.check(None)
    return kernel


def _definite(kernel, X, asked, say):
    """LS-GKM's kernel where it is positive semidefinite on the sequences, else the nearest one that is everywhere."""
    from sklearn.base import clone

    try:
        return kernel.resolve(X)
    except Indefinite as error:
        why = str(error).partition(": ")[2].partition(", and")[0]
    nearest = clone(kernel).set_params(nearest=True)
    before, now = kernel.mismatches(4)[1][0], nearest.mismatches(4)[1][0]
    widest = kernel.l if kernel.filter == "full" else kernel.l - kernel.k
    cures = [f"-d {widest}"] * clone(kernel).set_params(d=widest).psd + ["-t 2"] * (asked.kind != 2)
    advice = " or ".join(cures or [f"-t 0 -d {widest}"])
    says = (
        f"-t {asked.kind} -d {kernel.d} is not positive semidefinite: {why}. The nearest kernel that is one has the "
        f"weight {now:.4g} of equal words instead of {before:.4g}"
    )
    if now > MOST_SHIFT * before:
        raise Wrong(f"{says}, so that it is nearly diagonal: give {advice}.")
    say(f"{says}. It is trained; {advice} needs no change.")
    return nearest


def _model(kernel, asked):
    """The unfitted model that the options describe."""
    shared: dict[str, Any] = dict(
        C=read_C(asked.C, "-c"), normalize="spherical", n_jobs=asked.threads, random_state=asked.seed,
        verbose=progress(asked.quiet),
    )  # fmt: skip
    if asked.scores:
        return mk.MKLRegressor([("gkm", kernel)], loss=asked.loss, **shared)
    return mk.MKLClassifier([("gkm", kernel)], class_weight={1: asked.weight, -1: 1.0}, **shared)


def _or(value, default):
    return default if value is None else value


def _validate(model, ids, X, y, folds, asked, path, say):
    """Write the scores of held-out folds; returns the area under the curve, or correlations."""
    from sklearn.base import clone

    scores, fold = np.empty(len(y)), np.zeros(len(y), int)
    for number, (learn, test) in enumerate(folds, 1):
        if asked.fold in (0, number):
            say(f"fold {number} of {asked.folds}: {len(learn)} sequences to learn, {len(test)} to test.")
            one = clone(model).set_params(kernels=model.kernels)  # on fewer examples it is positive semidefinite too
            scores[test], fold[test] = score(one.fit(X[learn], y[learn]), X[test]), number
    rows = np.flatnonzero(fold)
    with open(path, "w") as file:
        file.writelines(f"{ids[i]}\t{scores[i]:g}\t{y[i]:g}\t{fold[i]}\n" for i in rows)
    say(f"{path} is written with {len(rows)} scores: id, score, {'target' if asked.scores else 'label'} and fold.")
    return _measures(y[rows], scores[rows], asked.scores)


def _measures(y, scores, real):
    from scipy.stats import spearmanr
    from sklearn.metrics import average_precision_score, r2_score, roc_auc_score

    if real:
        pearson, spearman = np.corrcoef(y, scores)[0, 1], spearmanr(y, scores)[0]
        return {"R2": float(r2_score(y, scores)), "pearson": float(pearson), "spearman": float(spearman)}
    return {"auROC": float(roc_auc_score(y, scores)), "auPRC": float(average_precision_score(y, scores))}


def _fit(model, X, y, files, say):
    model.fit(X, y).save(files[0])
    say(f"{files[0]} is written; `manykernels gkm predict NEW.fa {files[0]} OUT` uses it.")
    try:
        model.save(files[1], format="lsgkm")
        say(f"{files[1]} is written, for gkmpredict.")
    except ValueError as error:
        why = str(error).partition(": ")[2].partition(", or save")[0]
        stale = "; the file of an older model there is removed" if Path(files[1]).exists() else ""
        Path(files[1]).unlink(missing_ok=True)
        say(f"{files[1]}, for gkmpredict, is not written: {why}{stale}.")
    support = int(np.count_nonzero(model.dual_coef_))
    return {**mk.inspect.tables.chosen_C(model), "support": support, "gap": float(model.duality_gap_)}


def predict(
    test: Annotated[str, typer.Argument(help="FASTA of the sequences to score.")],
    model: Model,
    output: Output,
    threads: Annotated[int | None, typer.Option("-T", help=THEIRS)] = None,
    verbosity: Annotated[int | None, typer.Option("-v", help=THEIRS)] = None,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Score sequences: a line with the id (the first word of the header), a tab and the score for each."""
    say, fitted = speaker(quiet), read_model(model)
    _note_theirs(say, {"-T": threads, "-v": verbosity})
    count = 0
    with written(output, test, model) as path, open(path, "w") as file:
        options = alphabet_of(fitted), "ignore", first_words, ROWS_AT_ONCE, True
        for X, names in mk.sequences.fasta.stream_fasta(test, *options):
            scores = score(fitted, X)
            file.writelines(f"{name}\t{score:g}\n" for name, score in zip(names.tolist(), scores, strict=True))
            count += len(X)
            if len(X) >= ROWS_AT_ONCE:
                say(f"{count:,} sequences scored.")
    say(f"{output} is written with {count} scores.")


def score(model: Any, X: Any) -> np.ndarray:
    """The decisions (n,) of a classifier, or the predictions of a regressor."""
    found = (model.decision_function if hasattr(model, "decision_function") else model.predict)(X)  # as scikit-learn
    if np.ndim(found) > 1:
        raise Wrong("The model has several scores for a sequence: use `manykernels predict`.")
    return found


def first_words(headers: list[str]) -> list[str]:
    """The first word of each header, the id."""
    return [header.split(None, 1)[0] if header.strip() else "" for header in headers]


def read_fasta(path: str, alphabet: Any = "dna") -> tuple[list[str], Any]:
    """(ids, sequences) of a file; other letters match nothing, and are an error if they are many."""
    X, names = mk.sequences.read_fasta(path, alphabet, "ignore", labels=first_words, checked=True)
    return names.tolist(), X


def alphabet_of(model: Any) -> Any:
    """The alphabet of the sequences that a model reads."""
    kernels = model.predictor_.kernel_list
    return next((encoding[0] for encoding in kernels.encodings if encoding), None) or "dna" if kernels else "dna"


class _OfSequences:
    """A model that was fitted to a table with one column of sequences, as one of sequences."""

    def __init__(self, model, name):
        self.model, self.name, self.predictor_ = model, name, model.predictor_
        self.kernel_names_, self.kernel_weights_ = model.kernel_names_, model.kernel_weights_

    def table(self, X):
        return pandas().DataFrame({self.name: list(map(str, X))})

    def decision_function(self, X):
        return score(self.model, self.table(X))

    def decision_parts(self, X):
        return self.model.decision_parts(self.table(X))


def read_model(path: str) -> Any:
    """A model of sequences."""
    model = mk.load(path)
    if adjusted := vars(model).get("covariate_names_"):
        raise Wrong(
            f"{path} is adjusted for {', '.join(adjusted)}, of which these commands know nothing: use `manykernels "
            "predict`, or `manykernels.genome` in Python."
        )
    names = vars(model).get("feature_names_in_")
    columns = set() if names is None else set(map(seen, names))
    if len(columns) > 1:
        raise Wrong(f"{path} uses {len(columns)} columns, and sequences are one: use `manykernels predict`.")
    return model if names is None else _OfSequences(model, names[0])


def estimator_and_data(model: Any, X: Any) -> tuple[Any, Any]:
    """A model of `read_model` as it was fitted, and sequences in the form in which it takes them."""
    return (model.model, model.table(X)) if isinstance(model, _OfSequences) else (model, X)


@contextmanager
def in_options(words: dict[str, str]) -> Iterator[None]:
    """In the messages of errors, options replace arguments of Python."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        for before, after in words.items():
            text = text.replace(before, after)
        raise Wrong(text) from error
