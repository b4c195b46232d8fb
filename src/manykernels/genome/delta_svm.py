"""deltaSVM: the sum of the differences of weights over the words that a variant touches."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike

import numpy as np

from .kmers import KmerWeights, read_kmer_weights
from .reference import Reference, opened
from .variants import Variants, as_variants, located


@dataclass(frozen=True, eq=False)
class DeltaSVM:
    """The result of `deltasvm`.

    Parameters
    ----------
    id : list of n str
    score : array (n,)
    skipped : dict
        {reason: ids} of variants that were left out.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.genome import DeltaSVM
    >>> DeltaSVM(["rs1"], np.array([0.5]), {}).score
    array([0.5])
    """

    id: list[str]
    score: np.ndarray
    skipped: dict[str, list[str]]

    def write(self, path: str | PathLike[str]) -> None:
        """Write the id, a tab and the score with six digits a line, as deltaSVM does."""
        with open(path, "w") as file:
            file.writelines(f"{name}\t{score:.6f}\n" for name, score in zip(self.id, self.score, strict=True))


def deltasvm(
    weights: KmerWeights | str | PathLike[str], variants: str | PathLike[str] | Variants,
    reference: str | PathLike[str] | Reference, *, invalid: str = "error",
) -> DeltaSVM:  # fmt: skip
    """Σ w(words of the alternative) − Σ w(words of the reference), over the words that overlap a variant.

    Both alleles have k − 1 letters of the reference on each side, fewer at the ends of a contig. Words with N count 0.

    Parameters
    ----------
    weights : KmerWeights or path
    variants : path or Variants
    reference : path or Reference
    invalid : {"error", "skip"}
        As in `score_variants`.

    Returns
    -------
    DeltaSVM

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import KmerWeights, deltasvm
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     found = deltasvm(KmerWeights(2, np.zeros(16)), genome.variants, genome.reference)
    ...     found.write(f"{folder}/scores.txt")
    ...     with open(f"{folder}/scores.txt") as file:
    ...         print(file.readline())
    broken0	0.000000
    """
    weights = weights if isinstance(weights, KmerWeights) else read_kmer_weights(weights)
    around, texts = weights.k - 1, []
    with opened(reference) as genome:
        variants = located(as_variants(variants), genome, invalid)
        for k, chrom in enumerate(variants.chrom.tolist()):
            start, ref, alt = variants.changed(k)
            stop = start + len(ref)
            left, right = genome.fetch(chrom, start - around, start), genome.fetch(chrom, stop, stop + around)
            texts += [left + ref + right, left + alt + right]
    sums = weights.sums(texts).reshape(-1, 2)
    return DeltaSVM(variants.id, sums[:, 1] - sums[:, 0], variants.skipped)
