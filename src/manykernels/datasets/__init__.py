"""Generated data sets of any size, with a known truth."""

from .genome import Genome, make_genome
from .grammar import Grammar, make_grammar
from .multiomics import MultiOmics, make_multiomics, make_survival
from .splice import iter_splice, make_splice, splice_information

__all__ = [
    "Genome", "Grammar", "MultiOmics", "iter_splice", "make_genome", "make_grammar", "make_multiomics", "make_splice",
    "make_survival", "splice_information",
]  # fmt: skip
__dir__ = __all__.copy  # dir() lists the public names alone
