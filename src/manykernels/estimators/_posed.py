"""What a fit is about to solve: the kernels of its examples, and the targets and costs of its problems."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np


class Posed(NamedTuple):
    """The problems of one fit, `parts` their targets (T, n) each, on the bank of the examples `rows`.

    c (n,) are the costs, C that of an example of weight 1; `joint` says that there is one θ, for one part of T rows.
    """

    bank: Any
    rows: np.ndarray
    parts: list[np.ndarray]
    c: np.ndarray
    loss: Any
    regularizer: Any
    C: float
    intercept: bool
    joint: bool
    seed: int
    kept: list[Any]

    def problem(self, k, bank=None):
        """Problem number k, or the same with the kernels of another bank of these examples."""
        from ..problem import Problem

        y, bank = self.parts[k], self.bank if bank is None else bank
        costs = np.tile(self.c, (len(y), 1))
        regularizer, costs = self.regularizer.bind(bank, y, costs, self.loss, self.intercept, self.C)
        return Problem(bank, y, self.loss, regularizer, costs, intercept=self.intercept)


def pose(model, X, y, sample_weight=None):
    """(a clone of the model, what its fit would solve): X and y are checked, and nothing is solved."""
    from sklearn.base import clone

    found: list[Posed] = []
    twin = clone(model).set_params(checkpoint=None, verbose=False, warm_start=False)  # a file is that of one fit
    twin._learn = found.append  # what `_fit` does next
    twin.fit(X, y, sample_weight)
    del twin._learn
    return twin, found[0]
