"""Sequences as data: alphabets, packed storage, FASTA and FASTQ files. Their kernels are in `strings`."""

from .alphabet import BYTES, DNA, POLICIES, PROTEIN, RNA, Alphabet, check_encoding
from .fasta import read_fasta
from .packed import Sequences

__all__ = ["Alphabet", "BYTES", "DNA", "POLICIES", "PROTEIN", "RNA", "Sequences", "check_encoding", "read_fasta"]
__dir__ = __all__.copy  # dir() lists the public names alone
