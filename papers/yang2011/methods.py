"""The four methods of the paper, and how it chooses C."""

import numpy as np

from .._page import mean
from .._verdict import above

NAMES = ("GMKL", "L1-MKL", "L2-MKL", "UW-MKL")
CS = 10.0 ** np.arange(-2, 4)


def regularizer(name, v=0.5):
    from manykernels.regularizers import ElasticNet, LpNorm, Uniform

    return {"GMKL": ElasticNet(v), "L1-MKL": LpNorm(1), "L2-MKL": LpNorm(2), "UW-MKL": Uniform()}[name]


def word(difference):
    """Whether a difference of accuracies, pair by pair, counts."""
    words = {"agree": "ahead", "disagree": "behind", "tie": "no difference is seen"}
    return f"{words[above(difference)]}, {mean(difference, 1)} points"
