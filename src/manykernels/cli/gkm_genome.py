"""`gkm kmers`, `weights`, `peaks` and `variants`: words, training sets and effects of variants in a genome."""

from dataclasses import dataclass
from typing import Annotated

import typer

import manykernels as mk

from ._talk import Debug, Quiet, Wrong, command, speaker
from ._written import results, written
from .gkm import Model, Output, in_options, read_model

Word = Annotated[int, typer.Argument(min=1, max=12, help="Letters of a word; deltaSVM takes 10 or 11.")]
Genome = Annotated[str, typer.Argument(help="FASTA of the reference; gzipped, it is unpacked into memory.")]
Seed = Annotated[int, typer.Option("-r", min=0, help="The seed.")]
PYTHON = {'invalid="skip"': "--skip", "width=None, but": "Without --width,", "give width,": "give --width,"}


def kmers(k: Word, output: Output, quiet: Quiet = False, debug: Debug = False) -> None:
    """Write all words of k letters as FASTA, one of each pair of reverse complements."""
    with written(output) as path:
        mk.genome.write_kmers(path, k)
    speaker(quiet)(f"{output} is written with the non-redundant words of {k} letters.")


def weights(model: Model, k: Word, output: Output, quiet: Quiet = False, debug: Debug = False) -> None:
    """Write the score of every word of k letters, the weights that deltaSVM reads."""
    say, fitted = speaker(quiet), read_model(model)
    with written(output, model) as path:
        say(f"scoring the words of {k} letters, about {4**k // 2:,} without reverse complements.")
        found = mk.genome.kmer_weights(fitted, k)
        if found.values.min() == found.values.max():
            same = f"All words of {k} letters have the same score, {found.values[0]:g}"
            raise Wrong(f"{same}: give as many as a window has.")
        mk.genome.write_kmer_weights(path, found)
    say(f"{output} is written, with a first line of titles, which deltaSVM passes over.")


def peaks(
    peaks: Annotated[str, typer.Argument(help="BED or narrowPeak.")],
    genome: Genome,
    prefix: Annotated[str, typer.Argument(help="How the names of the results begin.")],
    width: Annotated[
        int | None, typer.Option(min=1, help="Letters of a window around the summit; by default the whole peak.")
    ] = None,
    ratio: Annotated[int, typer.Option(min=1, help="Negatives for each positive.")] = 1,
    tolerance: Annotated[float, typer.Option(help="Largest difference of GC content and of repeats.")] = 0.02,
    exclude: Annotated[list[str] | None, typer.Option(help="BED of places without negatives; may be repeated.")] = None,
    seed: Seed = 0,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write windows of peaks as PREFIX.pos.fa and matched negatives of the genome as PREFIX.neg.fa."""
    say = speaker(quiet)
    *_, matching = results(prefix, ("pos.fa", "neg.fa", "matching.tsv"), peaks, genome, *(exclude or ()))
    data = mk.genome.training_set(
        peaks, genome, width, ratio=ratio, exclude=exclude or [], tolerance=tolerance, random_state=seed
    )
    say(f"{' and '.join(data.write(prefix))} are written.")
    data.negatives.to_csv(matching)
    say(f"{matching} is written: quantiles of GC content and repeats in both sets.")
    typer.echo(data.summary())


@dataclass(frozen=True)
class VariantOptions:
    model: Model
    variants: Annotated[str, typer.Argument(help="VCF, or a table as --format says.")]
    genome: Genome
    output: Output
    width: Annotated[
        int | None, typer.Option(min=1, help="Letters of a window; by default as in training, if all had the same.")
    ] = None
    format: Annotated[str | None, typer.Option(help="vcf, chrombpnet, bed, plink or original.")] = None
    weights: Annotated[str | None, typer.Option(help="Weights of words: adds deltaSVM's score.")] = None
    shuffles: Annotated[int, typer.Option(min=0, help="Shuffled windows of a variant, for p and q; 0: none.")] = 10
    skip: Annotated[bool, typer.Option("--skip", help="Leave out variants that do not fit the genome.")] = False
    seed: Seed = 0
    quiet: Quiet = False
    debug: Debug = False


@command
def variants(asked: VariantOptions) -> None:
    """Write the scores of both alleles of variants, their difference, p and q values; between tabs if OUT is .tsv."""
    say, fitted = speaker(asked.quiet), read_model(asked.model)
    with written(asked.output, asked.model, asked.variants, asked.genome, asked.weights) as path:
        given = mk.genome.read_variants(asked.variants, asked.format)
        say(f"scoring {len(given):,} variants, each between {asked.shuffles} shuffled flanks too.")
        with in_options(PYTHON):
            found = mk.genome.score_variants(
                fitted, given, asked.genome, asked.width,
                weights=asked.weights, n_shuffles=asked.shuffles, invalid="skip" if asked.skip else "error",
                random_state=asked.seed,
            )  # fmt: skip
        found.to_csv(path)
    say(f"{asked.output} is written.")
    typer.echo(found.summary(), err=asked.output == "-")
