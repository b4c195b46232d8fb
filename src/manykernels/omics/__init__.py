"""Gene sets, AnnData and MuData: one kernel for each set, modalities as views, and results written back."""

from .annotate import annotate, views
from .gene_sets import MatchedSets, databases, match_sets, read_gmt, set_kernels

__all__ = ["MatchedSets", "annotate", "databases", "match_sets", "read_gmt", "set_kernels", "views"]
__dir__ = __all__.copy  # dir() lists the public names alone
