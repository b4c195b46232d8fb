"""Decisions that are equal but for the rounding of the kernels."""

import numpy as np

EQUAL = 2.0**-24, 2.0**-27  # of the range and of the size of decisions: what differs by less is rounding of the kernels


def untied(decision, favour):
    """The decisions (n_test, T) of a classifier without their last digits, which would decide between equal ones.

    The hinge loss gives −1 to every class where none has half of the examples, such as those of one category. Of equal
    classes the one with the largest `favour` (T,), each at most 1, comes first.
    """
    size = max(EQUAL[0] * np.ptp(decision), EQUAL[1] * np.abs(decision).max())
    if not 0 < size < np.inf:
        return decision
    unit = 2.0 ** np.ceil(np.log2(size))  # of which ±1 and 0 are multiples
    return unit * (np.round(decision / unit) + 0.4 * favour)
