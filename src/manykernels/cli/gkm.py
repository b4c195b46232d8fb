"""`gkm train`: support vector machines on gapped words, with the letters and files of LS-GKM."""

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from typer import Argument, Option

import manykernels as mk

from ._talk import Json, Wrong, complain, results, say, show, write
from .gkm_use import THEIRS, note_theirs, read_fasta, score
from .learn import progress, read_C

MOST_SHIFT = 2.0  # times the weight of equal words in the nearest kernel; above, it is nearly diagonal


@dataclass
class TrainOptions:
    positives: Annotated[str, Argument(help="FASTA of the positives; with --scores the PREFIX.")]
    negatives: Annotated[str | None, Argument(help="FASTA of the negatives.")] = None
    prefix: Annotated[str | None, Argument(help="How the names of the results begin.")] = None
    scores: Annotated[
        str | None,
        Option(help="CSV or TSV with a column of DNA and one of numbers to predict: --scores T PREFIX."),
    ] = None
    loss: Annotated[str, Option(help="With --scores: squared, epsilon_insensitive, huber, ...")] = "squared"
    kind: Annotated[
        int,
        Option(
            "-t", min=0, max=5, help="0 counts, 1 full filter, 2 truncated filter, 3 RBF of 2, 4 centre, 5 RBF of 4."
        ),
    ] = 2
    letters: Annotated[int, Option("-l", help="Letters of a window.")] = 11
    compared: Annotated[int, Option("-k", help="Letters of a window that are compared.")] = 7
    d: Annotated[int | None, Option("-d", help="Most mismatches; by default 3, or l - k if less.")] = None
    gamma: Annotated[float | None, Option("-g", help="Of the RBF, for -t 3 and 5; by default 1.")] = None
    most: Annotated[int | None, Option("-M", help="Weight of the centre, for -t 4 and 5; by default 50.")] = None
    half: Annotated[float | None, Option("-H", help="Letters to half the weight, for -t 4 and 5; by default 50.")] = (
        None
    )
    one_strand: Annotated[bool, Option("-R", help="One strand, without reverse complements.")] = False
    C: Annotated[str, Option("-c", help="Factor of the loss, or auto, which chooses it.")] = "1"
    weight: Annotated[float, Option("-w", help="Factor of the loss of positives.")] = 1.0
    folds: Annotated[int, Option("-x", min=0, help="Folds of a cross-validation; 0: none.")] = 0
    fold: Annotated[int, Option("-i", min=0, help="Only this fold of -x, from 1, and no model; 0: all.")] = 0
    seed: Annotated[int, Option("-r", min=0, help="The seed of the folds.")] = 1
    by_chromosome: Annotated[
        bool, Option("--by-chromosome", help="Folds of -x of whole chromosomes, read from ids like chr1:100-201.")
    ] = False
    threads: Annotated[int | None, Option("-T", min=1, help="Threads; by default all cores.")] = None
    precision: Annotated[float | None, Option("-e", help=THEIRS)] = None
    cache: Annotated[float | None, Option("-m", help=THEIRS)] = None
    verbosity: Annotated[int | None, Option("-v", help=THEIRS)] = None
    shrink: Annotated[bool, Option("-s", help=THEIRS)] = False
    json: Json = False


def train(asked: TrainOptions) -> None:
    """Learn to tell positives from negatives, or to predict --scores; write PREFIX.model.mk, if possible
    PREFIX.model.txt, and with -x PREFIX.cvpred.txt."""
    (prefix, *given) = _names(asked)
    note_theirs({"-e": asked.precision, "-m": asked.cache, "-v": asked.verbosity, "-s": asked.shrink or None})
    cvpred = f"cvpred.{asked.fold}.txt" if asked.fold else "cvpred.txt"
    files = results(prefix, ("model.mk", "model.txt", cvpred), *given)
    if asked.fold > asked.folds or asked.folds == 1:
        raise Wrong(f"-x {asked.folds} -i {asked.fold}: give -x 2 or more, and -i at most as large.")
    kernel = _kernel(asked)
    ids, X, y = read_scores(given[0]) if asked.scores else _read_classes(given)
    facts: dict[str, Any] = {"sequences": len(X)}
    if not asked.scores:
        facts = {"positives": int((y == 1).sum()), "negatives": int((y == -1).sum())}
    fewest, what = min(facts.values()), "" if asked.scores else " of a class"
    if asked.folds > fewest:
        raise Wrong(f"-x {asked.folds} is more than the {fewest} sequences{what}: give -x {fewest}.")
    _check_letters(X, asked)
    if asked.by_chromosome and not asked.folds:
        raise Wrong("--by-chromosome belongs to -x: give -x 5 too.")
    folds = _split(ids, X, y, asked) if asked.folds else []
    model = _model(_definite(kernel, X, asked), asked)
    if asked.folds:
        facts |= _validate(model, ids, X, y, folds, asked, files[2])
    if not asked.fold:
        facts |= _fit(model, X, y, files)
    show(facts, asked.json)


def _split(ids, X, y, asked):
    """[(rows to learn, rows to test)] of the folds."""
    import numpy as np
    from sklearn.model_selection import StratifiedGroupKFold

    from ..genome.split import overlap_groups, places

    chromosomes = [place and place[0] for place in places(ids)]
    n_chromosomes = len({*chromosomes} - {None})
    if asked.by_chromosome:
        if None in chromosomes:
            raise Wrong(
                "--by-chromosome reads chromosomes from ids such as chr1:100-201, and "
                f"{ids[chromosomes.index(None)]!r} is none: correct the headers, or leave it out."
            )
        groups, what = np.array(chromosomes), "chromosomes"
    else:
        groups, what = overlap_groups(X, ids), "sets of sequences that do not overlap"
        if len(X) > groups.max() + 1:
            say(f"{len(X) - groups.max() - 1:,} sequences overlap others or equal them: folds keep these together.")
        if n_chromosomes > 1:
            say(
                f"note: folds mix {n_chromosomes} chromosomes, and neighbours in a genome resemble each other, so that "
                "a model may look better than it is: give --by-chromosome."
            )
    n_groups = len(np.unique(groups))
    if asked.folds > n_groups:
        raise Wrong(f"-x {asked.folds} is more than the {n_groups} {what}: give fewer folds.")
    classes = np.zeros(len(y)) if asked.scores else y
    drawn = StratifiedGroupKFold(asked.folds, shuffle=True, random_state=asked.seed)
    folds = list(drawn.split(y, classes, groups))
    if any(len(set(classes[learn])) < len(set(classes)) for learn, _ in folds):
        raise Wrong(f"-x {asked.folds} leaves a fold without one of the classes to learn from: give fewer folds.")
    return folds


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


def _read_classes(paths):
    """(ids, sequences, 1 of positives and -1 of negatives) of two FASTA files."""
    import numpy as np

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


def read_scores(path: str) -> tuple[list[str], Any, Any]:
    """(ids, sequences, numbers) of a table; the ids are its first other column, else the numbers of its rows."""
    import numpy as np

    from ._columns import read_texts
    from ._data import is_number, read_table
    from ._sources import sequence_columns

    frame, _ = read_texts(read_table(path))
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


def _definite(kernel, X, asked):
    """LS-GKM's kernel where it is positive semidefinite on the sequences, else the nearest one that is everywhere."""
    from sklearn.base import clone

    from ..strings.word_table import Indefinite

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
        verbose=progress(),
    )  # fmt: skip
    if asked.scores:
        return mk.MKLRegressor([("gkm", kernel)], loss=asked.loss, **shared)
    return mk.MKLClassifier([("gkm", kernel)], class_weight={1: asked.weight, -1: 1.0}, **shared)


def _or(value, default):
    return default if value is None else value


def _validate(model, ids, X, y, folds, asked, path):
    """Write the scores of held-out folds; returns the area under the curve, or correlations."""
    import numpy as np
    from sklearn.base import clone

    scores, fold = np.empty(len(y)), np.zeros(len(y), int)
    for number, (learn, test) in enumerate(folds, 1):
        if asked.fold in (0, number):
            say(f"fold {number} of {asked.folds}: {len(learn)} sequences to learn, {len(test)} to test.")
            one = clone(model).set_params(kernels=model.kernels)  # on fewer examples it is positive semidefinite too
            scores[test], fold[test] = score(one.fit(X[learn], y[learn]), X[test]), number
    rows = np.flatnonzero(fold)
    write(path, (f"{ids[i]}\t{scores[i]:g}\t{y[i]:g}\t{fold[i]}\n" for i in rows))
    say(f"{path} is written with {len(rows)} scores: id, score, {'target' if asked.scores else 'label'} and fold.")
    return _measures(y[rows], scores[rows], asked.scores)


def _measures(y, scores, real):
    import numpy as np
    from scipy.stats import spearmanr
    from sklearn.metrics import average_precision_score, r2_score, roc_auc_score

    if real:
        pearson, spearman = np.corrcoef(y, scores)[0, 1], spearmanr(y, scores)[0]
        return {"R2": float(r2_score(y, scores)), "pearson": float(pearson), "spearman": float(spearman)}
    return {"auROC": float(roc_auc_score(y, scores)), "auPRC": float(average_precision_score(y, scores))}


def _fit(model, X, y, files):
    import numpy as np

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
