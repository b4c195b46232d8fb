"""A small genome with peaks that hold three motifs, and variants that break a motif or none."""

import os
from os import PathLike
from typing import NamedTuple

import numpy as np

MOTIFS = {-16: "TGACTCAT", 2: "CCACGTGG", 14: "GGAAGTGA"}  # by their place from the summit
PRESENT = 0.85  # of each motif, in peaks without a broken one
PEAK, EDGE, BLOCK, REPEAT = 200, 500, 1000, 250  # letters of a peak, of N at the start, of one GC content, of a repeat


class Genome(NamedTuple):
    """The paths of the files of `make_genome`.

    Parameters
    ----------
    reference : str
        FASTA.
    peaks : str
        narrowPeak.
    variants : str
        VCF.

    Examples
    --------
    >>> from manykernels.datasets import Genome
    >>> Genome("genome.fa", "peaks.narrowPeak", "variants.vcf").peaks
    'peaks.narrowPeak'
    """

    reference: str
    peaks: str
    variants: str


def make_genome(
    folder: str | PathLike[str], peaks: int = 200, *, contigs: int = 4, length: int = 60_000, random_state: int = 0
) -> Genome:
    """Write a genome, its peaks and variants as files: three motifs at fixed places around the summits of the peaks.

    The letters have a GC content that changes every 1,000 letters; a fifth of them are soft-masked copies of one
    element; the first 500 letters of each contig are N. A motif is absent from 15 % of the peaks.

    Parameters
    ----------
    folder : str or path
        Where genome.fa, peaks.narrowPeak and variants.vcf are written.
    peaks : int, default 200
        Their number, spread over the contigs. Every second peak has a variant, "broken0", … in its first motif and
        "neutral0", … outside motifs, in turn. Every fifth of each is a deletion of two letters.
    contigs : int, default 4
        chr1, chr2, …
    length : int, default 60,000
        The letters of a contig.
    random_state : int, default 0

    Returns
    -------
    Genome

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.datasets import make_genome
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=8)
    ...     with open(genome.peaks) as file:
    ...         len(file.readlines())
    8
    """
    rng = np.random.default_rng(random_state)
    share = -(-peaks // contigs)
    room = (length - EDGE - PEAK) // share
    if room < 2 * PEAK:
        raise ValueError(f"peaks={peaks} do not fit {contigs} contigs of length={length}: raise contigs or length")
    element = _random(REPEAT, 0.42, rng)
    letters = [_contig(length, element, rng) for _ in range(contigs)]
    found, changed = [], []
    for k in range(peaks):
        contig, place = k % contigs, k // contigs
        start = EDGE + place * room + int(rng.integers(room - PEAK))
        summit = start + int(rng.integers(60, PEAK - 60))
        broken = k % 4 == 0
        for at, motif in MOTIFS.items():
            if rng.random() < PRESENT or broken:
                letters[contig][summit + at : summit + at + len(motif)] = list(motif)
        found.append((contig, start, summit))
        if k % 2 == 0:
            changed.append((contig, summit + (min(MOTIFS) + int(rng.integers(2, 5)) if broken else -28), broken))
    folder = os.fsdecode(folder)
    paths = Genome(*(os.path.join(folder, name) for name in ("genome.fa", "peaks.narrowPeak", "variants.vcf")))
    with open(paths.reference, "w") as file:
        for number, contig in enumerate(letters, 1):
            text = "".join(contig)
            file.write(f">chr{number}\n" + "".join(f"{text[at : at + 60]}\n" for at in range(0, length, 60)))
    with open(paths.peaks, "w") as file:
        for k, (contig, start, summit) in enumerate(found):
            row = (f"chr{contig + 1}", start, start + PEAK, f"peak{k}", 0, ".", 0, -1, -1, summit - start)
            print(*row, sep="\t", file=file)
    with open(paths.variants, "w") as file:
        print("##fileformat=VCFv4.2", "#CHROM\tPOS\tID\tREF\tALT\tQUAL\tFILTER\tINFO", sep="\n", file=file)
        for k, (contig, at, broken) in enumerate(changed):
            name = f"{'broken' if broken else 'neutral'}{k // 2}"
            ref, alt = _alleles(letters[contig], at, k // 2 % 5 == 4, rng)
            print(f"chr{contig + 1}", at + 1, name, ref, alt, ".", ".", ".", sep="\t", file=file)
    return paths


def _alleles(letters, at, deletion, rng):
    """Another letter than the one there, or that letter without the two after it."""
    here = letters[at].upper()
    if deletion:
        return "".join(letters[at : at + 3]).upper(), here
    return here, str(rng.choice(sorted(set("ACGT") - {here})))


def _random(n, gc, rng):
    return rng.choice(list("ACGT"), size=n, p=[(1 - gc) / 2, gc / 2, gc / 2, (1 - gc) / 2])


def _contig(length, element, rng):
    """Blocks of one GC content, repeats in lower case, N at the start."""
    blocks = [_random(BLOCK, gc, rng) for gc in rng.uniform(0.35, 0.6, size=-(-length // BLOCK))]
    letters = np.concatenate(blocks)[:length]
    for at in rng.integers(length - REPEAT, size=length // (5 * REPEAT)):
        copy = np.where(rng.random(REPEAT) < 0.9, element, _random(REPEAT, 0.42, rng))
        letters[at : at + REPEAT] = np.char.lower(copy)
    letters[:EDGE] = "N"
    return letters
