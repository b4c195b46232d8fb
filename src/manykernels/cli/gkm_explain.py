"""`gkm explain` and `motifs`: what the letters of sequences do to the score, and the motifs in them."""

import csv
from dataclasses import dataclass, replace
from typing import Annotated, Any

import numpy as np
import typer

import manykernels as mk

from ._models import check_output
from ._talk import Debug, Json, Quiet, Wrong, command, show, speaker
from ._written import results, written
from .gkm import Model, Output, alphabet_of, estimator_and_data, in_options, read_fasta, read_model

ROWS_AT_ONCE = 4096
PYTHON = {"method='mutagenesis'": "--mutagenesis", "method='gkmexplain'": "gkmexplain", "mode=": "-m "}

Test = Annotated[str, typer.Argument(help="FASTA of the sequences to explain.")]


@dataclass(frozen=True)
class ExplainOptions:
    test: Test
    model: Model
    output: Output
    mode: Annotated[int | None, typer.Option("-m", min=0, max=4, help="Mode of gkmexplain; by default 0.")] = None
    mutagenesis: Annotated[
        bool, typer.Option("--mutagenesis", help="Exact changes of the score by substitutions, for every kernel.")
    ] = False
    modisco: Annotated[
        str | None, typer.Option(help="Also write PREFIX.ohe.npz and PREFIX.shap.npz for TF-MoDISco.")
    ] = None
    bigwig: Annotated[str | None, typer.Option(help="Also write a track; headers must be chrom:start-stop.")] = None
    genome: Annotated[str | None, typer.Option(help="FASTA of the reference: the sizes of contigs of --bigwig.")] = None
    quiet: Quiet = False
    debug: Debug = False


@command
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
    say = speaker(asked.quiet)
    with written(asked.output, asked.test, asked.model, asked.genome) as path:
        ids, found = _explained(asked.test, asked.model, None if asked.mutagenesis else asked.mode or 0, say)
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


def _explained(test, path, mode, say):
    """(ids, explanation) of the sequences of a file, by gkmexplain's mode or by mutagenesis (None)."""
    model = read_model(path)
    ids, X = read_fasta(test, alphabet_of(model))
    parts = []
    for low in range(0, len(X), ROWS_AT_ONCE):
        estimator, data = estimator_and_data(model, X[low : low + ROWS_AT_ONCE])
        method = "mutagenesis" if mode is None else "gkmexplain"
        with in_options(PYTHON):
            parts.append(mk.inspect.explain_sequences(estimator, data, method, mode=mode))
        say(f"{min(low + ROWS_AT_ONCE, len(X)):,} of {len(X):,} sequences explained.")
    return ids, _joined(parts)


def _joined(parts: list[Any]) -> Any:
    """One explanation of the sequences of all parts."""
    longest = max(part.values.shape[1] for part in parts)
    values = [
        np.pad(p.values, ((0, 0), (0, longest - p.values.shape[1]), (0, 0)), constant_values=np.nan) for p in parts
    ]
    sequences = mk.sequences.Sequences.concatenate([part.sequences for part in parts])
    decision, base = (np.concatenate([vars(part)[name] for part in parts]) for name in ("decision", "base"))
    return replace(parts[0], values=np.concatenate(values), sequences=sequences, decision=decision, base=base)


@dataclass(frozen=True)
class MotifOptions:
    test: Test
    model: Model
    prefix: Annotated[str, typer.Argument(help="How the names of the results begin.")]
    mode: Annotated[
        int | None, typer.Option("-m", min=0, max=4, help="Mode of gkmexplain; by default exact mutagenesis.")
    ] = None
    window: Annotated[int, typer.Option(min=3, help="Letters of a seqlet; motifs may be longer.")] = 8
    seqlets: Annotated[
        int | None, typer.Option(min=2, help="Seqlets of a motif, at least; by default 10, or 3 % of all.")
    ] = None
    words: Annotated[int, typer.Option(min=1, max=15, help="Letters of the words in PREFIX.words.tsv.")] = 6
    json: Json = False
    quiet: Quiet = False
    debug: Debug = False


@command
def motifs(asked: MotifOptions) -> None:
    """Find motifs in sequences, such as the positives; write PREFIX.meme, a page PREFIX.motifs.html with the logos,
    and the tables PREFIX.motifs.tsv, PREFIX.hits.tsv and PREFIX.words.tsv."""
    ends = "meme", "motifs.html", "motifs.tsv", "hits.tsv", "words.tsv"
    meme, page, table, hits, words = results(asked.prefix, ends, asked.test, asked.model)
    say = speaker(asked.quiet)
    ids, explanation = _explained(asked.test, asked.model, asked.mode, say)
    found = mk.inspect.find_motifs(explanation, window=asked.window, min_seqlets=asked.seqlets)
    found.to_meme(meme)
    found.to_html(page, f"Motifs in {asked.test}")
    _write(table, found.columns, found.columns.values())
    places: dict[str, Any] = found.hits | {
        "strand": np.where(found.hits["strand"] > 0, "+", "-"),
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
