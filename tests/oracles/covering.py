"""Products of cases: a covering sample runs always, the whole product with `-m slow`."""

from itertools import product

import pytest


def covering(*axes, steps=None, first=0):
    """The cells of the product of the axes, slow where the indices plus `first` do not sum to a multiple of `steps`.

    By default `steps` is the length of the shortest axis: then the sample has each value of two axes, each pair of
    values of three axes, and so on. A smaller `steps` has more cells.
    """
    steps, cells = steps or min(map(len, axes)), []
    for cell in product(*map(enumerate, axes)):
        places, values = zip(*cell, strict=True)
        marks = [pytest.mark.slow] * ((sum(places) + first) % steps != 0)
        cells.append(pytest.param(*values, marks=marks, id="-".join(map(str, values))))
    return cells
