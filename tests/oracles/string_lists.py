"""Strings with a planted word, and lists of string kernels on them, for tests of banks and estimators."""

import numpy as np

from manykernels import strings as ms
from manykernels.kernels import Constant, Identity


def acceptors(n, length=20, seed=0, letters="ACGT"):
    """Strings of which half have ACGTA, one letter in five changed, at place 8; and whether they have it."""
    rng = np.random.default_rng(seed)
    codes, y = rng.integers(len(letters), size=(n, length)), np.arange(n) % 2
    codes[:, 8:13] = np.where((y == 1)[:, None] & (rng.random((n, 5)) < 0.8), [0, 1, 2, 3, 0], codes[:, 8:13])
    return ["".join(letters[c] for c in row) for row in codes], y


X, y = acceptors(60)
NEW, y_new = acceptors(15, seed=1)
LISTS = {
    "degree": ms.degree_kernels(6),
    "positions": ms.position_kernels(20, 3, 6),
    "both": ms.degree_position_kernels(20, 3, 7),
    "mixed": [
        *ms.degree_kernels(3),
        *ms.position_kernels(20, 2, 10),
        ms.WeightedDegree(5),
        ms.WeightedDegreeShift(3, 2),
        ms.Spectrum(3, stop=10),
        ms.GappedKmer(4, 3),
        ms.Mismatch(3, 1),
        ms.Spectrum(2) * ms.Degree(1) + 1,
        Constant(2.0),
        Identity(),
    ],
}
