"""Pairs of objects: data, kernels, and cross-validation splits that separate objects.

MKLClassifier(Pairwise(kernels_of_drugs, kernels_of_targets)).fit(Pairs(index, left=drugs, right=targets), y)
"""

from ..banks.pairs import Pairwise
from ..kernels.pairs import Pairs, PairSplit

__all__ = ["PairSplit", "Pairs", "Pairwise"]
__dir__ = __all__.copy  # dir() lists the public names alone
