"""`gkm predict`, `explain`, `motifs`, `kmers`, `weights`, `peaks` and `variants`: models of words, and genomes."""

import csv
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer
from typer import Argument, Option

import manykernels as mk

from ._talk import Json, Wrong, check_output, pandas, results, say, show, written

ROWS_AT_ONCE = 4096
SCORED_AT_ONCE = 2**14
THEIRS = "Of LS-GKM, without effect here."
WORKS = "they work without it here: fits stop at a relative duality gap of 0.001, and memory and threads are chosen"
PYTHON = {  # how messages call what options say
    "method='mutagenesis'": "--mutagenesis", "method='gkmexplain'": "gkmexplain", "mode=": "-m ",
    'invalid="skip"': "--skip", "width=None, but": "Without --width,", "give width,": "give --width,",
}  # fmt: skip

Output = Annotated[str, Argument(help="The file to write; - is stdout.")]
Model = Annotated[str, Argument(help="A model of `gkm train`, of `fit`, or a text model of LS-GKM.")]
Test = Annotated[str, Argument(help="FASTA of the sequences to explain.")]


def predict(
    test: Annotated[str, Argument(help="FASTA of the sequences to score.")],
    model: Model,
    output: Output,
    threads: Annotated[int | None, Option("-T", help=THEIRS)] = None,
    verbosity: Annotated[int | None, Option("-v", help=THEIRS)] = None,
) -> None:
    """Score sequences: a line with the id (the first word of the header), a tab and the score for each."""
    fitted = read_model(model)
    note_theirs({"-T": threads, "-v": verbosity})
    count = 0
    with written(output, test, model) as path, open(path, "w") as file:
        options = alphabet_of(fitted), "ignore", first_words, SCORED_AT_ONCE, True
        for X, names in mk.sequences.fasta.stream_fasta(test, *options):
            scores = score(fitted, X)
            file.writelines(f"{name}\t{score:g}\n" for name, score in zip(names.tolist(), scores, strict=True))
            count += len(X)
            if len(X) >= SCORED_AT_ONCE:
                say(f"{count:,} sequences scored.")
    say(f"{output} is written with {count} scores.")


def score(model: Any, X: Any) -> Any:
    """The decisions (n,) of a classifier, or the predictions of a regressor."""
    found = (model.decision_function if hasattr(model, "decision_function") else model.predict)(X)  # as scikit-learn
    if found.ndim > 1:
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
    if names is None:
        return model
    if len(names) > 1:
        raise Wrong(f"{path} uses {len(names)} columns, and sequences are one: use `manykernels predict`.")
    return _OfSequences(model, names[0])


@contextmanager
def in_options() -> Iterator[None]:
    """In the messages of errors, options replace arguments of Python."""
    try:
        yield
    except ValueError as error:
        text = str(error)
        for before, after in PYTHON.items():
            text = text.replace(before, after)
        raise Wrong(text) from error


def note_theirs(options):
    """Say that options of LS-GKM have no effect."""
    given = [option for option, value in options.items() if value is not None]
    if given:
        say(f"{', '.join(given)}: options of LS-GKM without effect; {WORKS}.")


@dataclass
class ExplainOptions:
    test: Test
    model: Model
    output: Output
    mode: Annotated[int | None, Option("-m", min=0, max=4, help="Mode of gkmexplain; by default 0.")] = None
    mutagenesis: Annotated[
        bool, Option("--mutagenesis", help="Exact changes of the score by substitutions, for every kernel.")
    ] = False
    modisco: Annotated[str | None, Option(help="Also write PREFIX.ohe.npz and PREFIX.shap.npz for TF-MoDISco.")] = None
    bigwig: Annotated[str | None, Option(help="Also write a track; headers must be chrom:start-stop.")] = None
    genome: Annotated[str | None, Option(help="FASTA of the reference: the sizes of contigs of --bigwig.")] = None


def explain(asked: ExplainOptions) -> None:
    """Write what every letter does to the score of sequences: id, score and a,c,g,t;a,c,g,t;… as gkmexplain does."""
    names = [f"{asked.modisco}.{kind}.npz" for kind in ("ohe", "shap")] if asked.modisco else []
    for path in filter(None, (*names, asked.bigwig)):
        check_output(path, asked.test, asked.model, asked.genome, option="")
    if asked.mutagenesis and asked.mode is not None:
        raise Wrong(f"-m {asked.mode} is a mode of gkmexplain: give it without --mutagenesis.")
    if asked.modisco and not asked.mutagenesis and not asked.mode:
        raise Wrong("--modisco needs values for letters that are not there: give -m 1, -m 2 or --mutagenesis.")
    if asked.genome and not asked.bigwig:
        raise Wrong("--genome has a use only with --bigwig: give both.")
    with written(asked.output, asked.test, asked.model, asked.genome) as path:
        ids, found = _explained(asked.test, asked.model, None if asked.mutagenesis else asked.mode or 0)
        found.to_gkmexplain(path, ids)
    say(f"{asked.output} is written with {len(ids)} lines: id, score and values.")
    if names:
        found.to_modisco(*names)
        say(f"{names[0]} and {names[1]} are written, for TF-MoDISco.")
    if asked.bigwig:
        sizes = None
        if asked.genome:
            with mk.genome.Reference(asked.genome) as reference:
                sizes = reference.lengths
        found.to_bigwig(asked.bigwig, ids, sizes)
        say(f"{asked.bigwig} is written.")


def _explained(test, path, mode):
    """(ids, explanation) of the sequences of a file, by gkmexplain's mode or by mutagenesis (None)."""
    model = read_model(path)
    ids, X = read_fasta(test, alphabet_of(model))
    parts = []
    for low in range(0, len(X), ROWS_AT_ONCE):
        some = X[low : low + ROWS_AT_ONCE]
        own = (model.model, model.table(some)) if isinstance(model, _OfSequences) else (model, some)
        with in_options():
            parts.append(mk.inspect.explain_sequences(*own, "mutagenesis" if mode is None else "gkmexplain", mode=mode))
        say(f"{min(low + ROWS_AT_ONCE, len(X)):,} of {len(X):,} sequences explained.")
    return ids, _joined(parts)


def _joined(parts: list[Any]) -> Any:
    """One explanation of the sequences of all parts."""
    import numpy as np

    longest = max(part.values.shape[1] for part in parts)
    values = [
        np.pad(p.values, ((0, 0), (0, longest - p.values.shape[1]), (0, 0)), constant_values=np.nan) for p in parts
    ]
    sequences = mk.sequences.Sequences.concatenate([part.sequences for part in parts])
    decision, base = (np.concatenate([vars(part)[name] for part in parts]) for name in ("decision", "base"))
    return replace(parts[0], values=np.concatenate(values), sequences=sequences, decision=decision, base=base)


@dataclass
class MotifOptions:
    test: Test
    model: Model
    prefix: Annotated[str, Argument(help="How the names of the results begin.")]
    mode: Annotated[
        int | None, Option("-m", min=0, max=4, help="Mode of gkmexplain; by default exact mutagenesis.")
    ] = None
    window: Annotated[int, Option(min=3, help="Letters of a seqlet; motifs may be longer.")] = 8
    seqlets: Annotated[
        int | None, Option(min=2, help="Seqlets of a motif, at least; by default 10, or 3 % of all.")
    ] = None
    words: Annotated[int, Option(min=1, max=15, help="Letters of the words in PREFIX.words.tsv.")] = 6
    json: Json = False


def motifs(asked: MotifOptions) -> None:
    """Find motifs in sequences, such as the positives; write PREFIX.meme, a page PREFIX.motifs.html with the logos,
    and the tables PREFIX.motifs.tsv, PREFIX.hits.tsv and PREFIX.words.tsv."""
    ends = "meme", "motifs.html", "motifs.tsv", "hits.tsv", "words.tsv"
    meme, page, table, hits, words = results(asked.prefix, ends, asked.test, asked.model)
    ids, explanation = _explained(asked.test, asked.model, asked.mode)
    found = mk.inspect.find_motifs(explanation, window=asked.window, min_seqlets=asked.seqlets)
    found.to_meme(meme)
    found.to_html(page, f"Motifs in {asked.test}")
    _write(table, found.columns, found.columns.values())
    places: dict[str, Any] = found.hits | {
        "strand": ["+" if strand > 0 else "-" for strand in found.hits["strand"]],
        "sequence": [ids[int(i)] for i in found.hits["sequence"]],
    }
    _write(hits, ["id", *list(places)[1:]], places.values())
    top = mk.inspect.top_words(explanation, asked.words)
    _write(words, ("word", "count", "contribution"), zip(*top, strict=True))
    say(f"{meme}, for Tomtom and others, {table}, {hits} and {words} are written.")
    say(f"{page} is written: open it in a browser.")
    if asked.json:
        rows = [dict(zip(found.columns, row, strict=True)) for row in zip(*found.columns.values(), strict=True)]
        show({"sequences": found.n_sequences, "seqlets": found.n_seqlets, "motifs": rows}, True)
    else:
        typer.echo(found.summary())


def _write(path, names, columns):
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="\t", lineterminator="\n")
        writer.writerow(names)
        writer.writerows([f"{v:.6g}" if isinstance(v, float) else v for v in row] for row in zip(*columns, strict=True))


Word = Annotated[int, Argument(min=1, max=12, help="Letters of a word; deltaSVM takes 10 or 11.")]
Genome = Annotated[str, Argument(help="FASTA of the reference; gzipped, it is unpacked into memory.")]
Seed = Annotated[int, Option("-r", min=0, help="The seed.")]


def kmers(k: Word, output: Output) -> None:
    """Write all words of k letters as FASTA, one of each pair of reverse complements."""
    with written(output) as path:
        mk.genome.write_kmers(path, k)
    say(f"{output} is written with the non-redundant words of {k} letters.")


def weights(model: Model, k: Word, output: Output) -> None:
    """Write the score of every word of k letters, the weights that deltaSVM reads."""
    fitted = read_model(model)
    with written(output, model) as path:
        say(f"scoring the words of {k} letters, about {4**k // 2:,} without reverse complements.")
        found = mk.genome.kmer_weights(fitted, k)
        if found.values.min() == found.values.max():
            same = f"All words of {k} letters have the same score, {found.values[0]:g}"
            raise Wrong(f"{same}: give as many as a window has.")
        mk.genome.write_kmer_weights(path, found)
    say(f"{output} is written, with a first line of titles, which deltaSVM passes over.")


def peaks(
    peaks: Annotated[str, Argument(help="BED or narrowPeak.")],
    genome: Genome,
    prefix: Annotated[str, Argument(help="How the names of the results begin.")],
    width: Annotated[
        int | None, Option(min=1, help="Letters of a window around the summit; by default the whole peak.")
    ] = None,
    ratio: Annotated[int, Option(min=1, help="Negatives for each positive.")] = 1,
    tolerance: Annotated[float, Option(help="Largest difference of GC content and of repeats.")] = 0.02,
    exclude: Annotated[list[str] | None, Option(help="BED of places without negatives; may be repeated.")] = None,
    seed: Seed = 0,
) -> None:
    """Write windows of peaks as PREFIX.pos.fa and matched negatives of the genome as PREFIX.neg.fa."""
    *_, matching = results(prefix, ("pos.fa", "neg.fa", "matching.tsv"), peaks, genome, *(exclude or ()))
    data = mk.genome.training_set(
        peaks, genome, width, ratio=ratio, exclude=exclude or [], tolerance=tolerance, random_state=seed
    )
    say(f"{' and '.join(data.write(prefix))} are written.")
    data.negatives.to_csv(matching)
    say(f"{matching} is written: quantiles of GC content and repeats in both sets.")
    typer.echo(data.summary())


@dataclass
class VariantOptions:
    model: Model
    variants: Annotated[str, Argument(help="VCF, or a table as --format says.")]
    genome: Genome
    output: Output
    width: Annotated[
        int | None, Option(min=1, help="Letters of a window; by default as in training, if all had the same.")
    ] = None
    format: Annotated[str | None, Option(help="vcf, chrombpnet, bed, plink or original.")] = None
    weights: Annotated[str | None, Option(help="Weights of words: adds deltaSVM's score.")] = None
    shuffles: Annotated[int, Option(min=0, help="Shuffled windows of a variant, for p and q; 0: none.")] = 10
    skip: Annotated[bool, Option("--skip", help="Leave out variants that do not fit the genome.")] = False
    seed: Seed = 0


def variants(asked: VariantOptions) -> None:
    """Write the scores of both alleles of variants, their difference, p and q values; between tabs if OUT is .tsv."""
    fitted = read_model(asked.model)
    with written(asked.output, asked.model, asked.variants, asked.genome, asked.weights) as path:
        given = mk.genome.read_variants(asked.variants, asked.format)
        say(f"scoring {len(given):,} variants, each between {asked.shuffles} shuffled flanks too.")
        with in_options():
            found = mk.genome.score_variants(
                fitted, given, asked.genome, asked.width,
                weights=asked.weights, n_shuffles=asked.shuffles, invalid="skip" if asked.skip else "error",
                random_state=asked.seed,
            )  # fmt: skip
        found.to_csv(path)
    say(f"{asked.output} is written.")
    typer.echo(found.summary(), err=asked.output == "-")
