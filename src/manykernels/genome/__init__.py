"""From peaks and variants in a genome to sequences and scores: windows, negatives, folds, effects of variants."""

from .kmers import (
    DeltaSVM,
    KmerWeights,
    deltasvm,
    kmer_weights,
    non_redundant_kmers,
    read_kmer_weights,
    write_kmer_weights,
    write_kmers,
)  # fmt: skip
from .peaks import Peaks, Windows, read_bed, windows
from .reference import Reference
from .scores import VariantScores, dinucleotide_shuffle, score_variants
from .split import ChromosomeSplit
from .training import MatchedNegatives, TrainingSet, matched_negatives, training_set
from .variants import Variants, read_variants

__all__ = [
    "ChromosomeSplit",
    "DeltaSVM",
    "KmerWeights",
    "MatchedNegatives",
    "Peaks",
    "Reference",
    "TrainingSet",
    "VariantScores",
    "Variants",
    "Windows",
    "deltasvm",
    "dinucleotide_shuffle",
    "kmer_weights",
    "matched_negatives",
    "non_redundant_kmers",
    "read_bed",
    "read_kmer_weights",
    "read_variants",
    "score_variants",
    "training_set",
    "windows",
    "write_kmer_weights",
    "write_kmers",
]
__dir__ = __all__.copy  # dir() lists the public names alone
