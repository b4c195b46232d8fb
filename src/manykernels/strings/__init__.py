"""String kernels; alphabets, packed sequences and files come from `sequences`."""

from ..banks.words import holders  # noqa: F401  # which say how these kernels are held
from ..sequences import BYTES, DNA, PROTEIN, RNA, Alphabet, Sequences, read_fasta
from .degree import Degree, WeightedDegree, WeightedDegreeShift
from .gapped_kmer import GappedKmer
from .lists import degree_kernels, degree_position_kernels, position_kernels, sequence_kernels
from .spectrum import Mismatch, Spectrum

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
    "sequence_kernels",
]
__dir__ = __all__.copy  # dir() lists the public names alone
