"""Small genomes in files, and random variants of them."""

from pathlib import Path

import numpy as np

from manykernels.genome import Variants


def write_genome(path, contigs):
    Path(path).write_text("".join(f">{name}\n{letters}\n" for name, letters in contigs.items()))
    return path


def random_variants(contigs, n, rng, longest=4):
    """Substitutions, insertions and deletions with random anchors, all over the contigs."""
    rows = []
    for k in range(n):
        chrom = str(rng.choice(sorted(contigs)))
        start = int(rng.integers(0, len(contigs[chrom]) - longest))
        ref = contigs[chrom][start : start + int(rng.integers(1, longest))].upper()
        alt = ref
        while alt == ref:
            alt = "".join(rng.choice(list("ACGT"), size=int(rng.integers(1, longest))))
            alt = ref[0] + alt if k % 2 else alt
        rows.append((f"v{k}", chrom, start + 1, ref, alt))
    ids, chrom, pos, ref, alt = map(list, zip(*rows, strict=True))
    return Variants(ids, np.array(chrom), np.array(pos), ref, alt)
