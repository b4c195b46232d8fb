"""The generated genome: its peaks hold motifs, and its variants fit its letters."""

import numpy as np
import pytest

from manykernels.datasets import make_genome
from manykernels.datasets.genome import MOTIFS


def contigs(path):
    parts = path.split(">")[1:]
    return {part.split("\n")[0]: "".join(part.split("\n")[1:]) for part in parts}


def rows(path):
    return [line.split("\t") for line in open(path).read().splitlines() if not line.startswith("#")]


def test_motifs_stand_around_the_summits_and_variants_break_one_or_none(tmp_path):
    genome = make_genome(tmp_path, peaks=80)
    letters = contigs(open(genome.reference).read())
    assert {len(text) for text in letters.values()} == {60_000} and list(letters) == ["chr1", "chr2", "chr3", "chr4"]
    summits = {(row[0], int(row[1]) + int(row[9])) for row in rows(genome.peaks)}
    assert len(summits) == 80
    held = [
        letters[chrom][at + place :].startswith(motif)
        for chrom, at in summits for place, motif in MOTIFS.items()
    ]  # fmt: skip
    assert 0.8 < np.mean(held) < 0.95
    first = {(chrom, at + place) for chrom, at in summits for place in range(-16, -8)}
    for chrom, pos, name, ref, alt, *_ in rows(genome.variants):
        start = int(pos) - 1
        assert letters[chrom][start : start + len(ref)].upper() == ref and ref != alt
        assert ((chrom, start) in first) == name.startswith("broken")
    assert all(
        text[:500] == "N" * 500 and 0.1 < np.mean([c.islower() for c in text]) < 0.3 for text in letters.values()
    )


def test_the_seed_decides_and_peaks_must_fit(tmp_path):
    texts = []
    for folder, seed in (("a", 1), ("b", 1), ("c", 2)):
        (tmp_path / folder).mkdir()
        texts.append([open(path).read() for path in make_genome(tmp_path / folder, peaks=8, random_state=seed)])
    assert texts[0] == texts[1] and not set(texts[0]) & set(texts[2])
    with pytest.raises(ValueError, match="peaks=1000 do not fit"):
        make_genome(tmp_path, peaks=1000)
