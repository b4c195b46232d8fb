"""Prediction of new pairs: kernels between their objects and those of the support pairs, then the vec trick."""

from __future__ import annotations

from typing import Any

import numpy as np

from .._state import check, check_array, check_index
from ..kernels.pairs import Pairs
from ._base import Predictor
from ._pair_side import PairSide, objects_of
from ._vec_trick import Places, add, combine, dense, each


class PairPredictor(Predictor):
    """The kernels between new pairs and the support pairs of a `PairBank`; it keeps the objects that these have."""

    def __init__(self, sides, places, pairs, scale, sizes):
        (left, at_left), (right, at_right) = (np.unique(side, return_inverse=True) for side in places[:2])
        self.left, self.right = sides[0].part(left), sides[1].part(right)
        self.l, self.r, self.size = at_left, at_right, (len(left), len(right))
        self.pairs, self.scale, self._sizes = pairs, scale, [np.asarray(size) for size in sizes]

    @property
    def places(self):
        return Places(self.l, self.r, self.size)

    def sizes(self) -> tuple[int, int]:
        return len(self.l), len(self.scale)

    def check_state(self) -> None:
        n, M = len(self.l), len(self.scale)
        check_array("scale", self.scale, np.float64, M)
        check(isinstance(self.left, PairSide) and isinstance(self.right, PairSide), "the sides are no sides of pairs")
        check_index("l", self.l, self.size[0], n)
        check_index("r", self.r, self.size[1], n)
        check_array("pairs", self.pairs, np.int64, M, 2)
        for column, side in enumerate((self.left, self.right)):
            side.check_state()
            check(len(side.known) == self.size[column], "a side has other objects than the pairs")
            check_index("pairs", np.ascontiguousarray(self.pairs[:, column]), len(side.names), M)

    def _open(self, X: Any):
        """(A, B, places) of new pairs against the support."""
        if not isinstance(X, Pairs):
            raise ValueError(
                f"X is a {type(X).__name__}, but the model was fitted on pairs: give Pairs(index, left, right)."
            )
        (left, at_left), (right, at_right) = objects_of(X.left, X.index[:, 0]), objects_of(X.right, X.index[:, 1])
        A, B = self.left.between(X.left, left), self.right.between(X.right, right)
        return A, B, Places(at_left, at_right, (len(left), len(right)))

    def _terms(self, theta, A, B):
        return combine(np.asarray(theta, float) * self.scale, self.pairs, A, B, self._sizes)

    def decision(self, X, A, theta):
        values, A = self._open(X), np.atleast_2d(np.asarray(A, float))
        theta = np.broadcast_to(np.atleast_2d(theta), (len(A), len(self.scale)))
        out = np.zeros((len(A), values[2].n))
        for t in range(len(A)):
            terms = self._terms(theta[t], *values[:2])
            if terms:
                add(out[t : t + 1], terms, A[t : t + 1], values[2], self.places)
        return out

    def parts(self, X, A, theta):
        left, right, rows = self._open(X)
        A = np.atleast_2d(np.asarray(A, float))
        theta = np.broadcast_to(np.atleast_2d(np.asarray(theta, float)), (len(A), len(self.scale)))
        P = each(left, right, self.pairs, A, rows, self.places)
        return (P * (theta * self.scale)[:, :, None]).transpose(0, 2, 1)

    def combined(self, X, theta):
        A, B, rows = self._open(X)
        return dense(self._terms(theta, A, B), rows, self.places, np.empty((rows.n, len(self.l))))

    def gram(self, X, Y=None, theta=None):
        Y = X if Y is None else Y
        values, places = [], [[], []]
        for column, side in enumerate((self.left, self.right)):
            tables = [getattr(pairs, side.side) for pairs in (X, Y)]
            (x, at), (y, to) = (objects_of(t, pairs.index[:, column]) for t, pairs in zip(tables, (X, Y), strict=True))
            values.append(side.among(tables[0], x, tables[1], y))
            places[0].append((at, len(x)))
            places[1].append((to, len(y)))
        rows, cols = (Places(left[0], right[0], (left[1], right[1])) for left, right in places)
        return dense(self._terms(theta, *values), rows, cols, np.empty((rows.n, cols.n)))

    def support_data(self):
        """The objects of the support as each side's kernels see them."""
        return self.left.views, self.right.views
