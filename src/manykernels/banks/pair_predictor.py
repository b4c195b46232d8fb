"""Prediction of new pairs: kernels between their objects and the support objects, then the vec trick."""

from typing import Any

import numpy as np

from .._state import check, check_value
from ..kernels.pairs import Pairs, take
from ._pair_side import objects_of
from ._vec_trick import Places, add, combine, dense, each
from .base import Predictor


class PairPredictor(Predictor):
    """The kernels between new pairs and the support pairs of a `PairBank`; it keeps the objects of the latter."""

    file_tag = ("predictor/pairs", 1)
    saved = {
        "left": "PairSide", "right": "PairSide", "l": "i8 n", "r": "i8 n", "pairs": "i8 M 2", "scale": "f8 M",
        "sizes as _sizes": "list 2 any",
    }  # fmt: skip

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
        sides = self.left, self.right
        self.size = (len(self.left.objects), len(self.right.objects))
        for column, (side, at) in enumerate(zip(sides, (self.l, self.r), strict=True)):
            sizes = {"objects": self.size[column], "names": len(side.names)}
            check(side.side == ("left", "right")[column], f"the side {side.side!r} is in the wrong place")
            check_value("the places of pairs", at, "i8 _ <objects", sizes)
            check_value("pairs", self.pairs[:, column], "i8 _ <names", sizes)
            check_value("sizes", self._sizes[column], "f8 names positive", sizes)

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
            tables = [(pairs.left, pairs.right)[column] for pairs in (X, Y)]
            (x, at), (y, to) = (objects_of(t, pairs.index[:, column]) for t, pairs in zip(tables, (X, Y), strict=True))
            values.append(side.among(tables[0], x, tables[1], y))
            places[0].append((at, len(x)))
            places[1].append((to, len(y)))
        rows, cols = (Places(left[0], right[0], (left[1], right[1])) for left, right in places)
        return dense(self._terms(theta, *values), rows, cols, np.empty((rows.n, cols.n)))

    def news(self, X: Any, used: np.ndarray, growing: bool) -> list[Any]:
        """The new values of the objects of each side, with the rows of the pairs that contain them."""
        found = []
        for column, side in enumerate((self.left, self.right)):
            if side.kernel_list is not None:
                table, own = (X.left, X.right)[column], np.isin(np.arange(side.size), self.pairs[used, column])
                numbers, place = objects_of(table, X.index[:, column])
                for one in side.kernel_list.news(take(table, numbers), own, growing):
                    rows = np.flatnonzero(np.isin(place, one.rows))
                    found.append(one._replace(where=f"{side.side}: {one.where}", rows=rows))
        return found

    def support_data(self):
        """The views of the support objects, left and right."""
        return self.left.views, self.right.views
