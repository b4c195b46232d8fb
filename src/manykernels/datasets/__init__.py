"""Generated data sets of any size, with a known truth."""

from .splice import iter_splice, make_splice, splice_information

__all__ = ["iter_splice", "make_splice", "splice_information"]
__dir__ = __all__.copy  # dir() lists the public names alone
