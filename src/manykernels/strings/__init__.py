"""Sequences as data: alphabets, packed storage, FASTA and FASTQ files, string kernels."""

from .alphabet import BYTES, DNA, PROTEIN, RNA, Alphabet
from .degree import Degree
from .fasta import read_fasta
from .gapped_kmer import GappedKmer
from .lists import degree_kernels, degree_position_kernels, position_kernels
from .mismatch import Mismatch
from .sequences import Sequences
from .spectrum import Spectrum
from .weighted_degree import WeightedDegree
from .weighted_degree_shift import WeightedDegreeShift

__all__ = [
    "Alphabet",
    "BYTES",
    "DNA",
    "Degree",
    "GappedKmer",
    "Mismatch",
    "PROTEIN",
    "RNA",
    "Sequences",
    "Spectrum",
    "WeightedDegree",
    "WeightedDegreeShift",
    "degree_kernels",
    "degree_position_kernels",
    "position_kernels",
    "read_fasta",
]
