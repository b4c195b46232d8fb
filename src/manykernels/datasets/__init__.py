"""Generated data sets of any size, with a known truth."""

from .genome import Genome, make_genome
from .splice import iter_splice, make_splice, splice_information

__all__ = ["Genome", "iter_splice", "make_genome", "make_splice", "splice_information"]
__dir__ = __all__.copy  # dir() lists the public names alone
