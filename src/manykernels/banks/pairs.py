"""Kernels on pairs of objects, products of one kernel per side, without the matrix between all pairs.

    k_pq((a, b), (a', b')) = k_p(a, a') k_q(b, b')

The bank holds the kernels between the objects of each side. The products with every kernel, the exact normalisation and
the combined kernel, an `Operator`, use the grid of objects, see `_vec_trick`.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np

from .._limits import MemoryBudget
from .._parts import Part
from .._state import check, check_value
from .._validation import check_choice
from ..inner.matrix_free import MatrixFreeProblem
from ..kernels.normalize import PSD, check_normalize, precision, scales
from ..kernels.pairs import Pairs, take
from ..kernels.spec import named_params, with_named
from ._pair_side import ANY, SAME, PairSide, objects_of
from ._vec_trick import PairOperator, Places, add, combine, dense, each
from .base import Bank, Predictor, Source, each_output, every
from .dense import report_unusable, warn_indefinite

MAX_DENSE_PAIRS = 2000  # pairs up to which the combined kernel is built
COMBINE = ("kronecker", "cartesian", "sum")


class PairBank(Bank):
    """The kernels `pairs[m]` = (p, q) of the matrices A_p, B_q between objects, on the pairs at `places`.

    `A` and `B` are lists of symmetric (m_a, m_a) and (m_b, m_b) matrices, already divided by √(k_ii k_jj) if normalize
    is "spherical"; `sides` is the pair of `PairSide` that the predictor needs.
    """

    dense, even = MAX_DENSE_PAIRS, True

    def __init__(
        self,
        A: list[np.ndarray],
        B: list[np.ndarray],
        pairs: np.ndarray,
        places: Places,
        names: list[str],
        *,
        weights: np.ndarray | None = None,
        normalize: str | None = "multiplicative",
        memory_limit: float | None = None,
        n_jobs: int | None = None,
        sides: tuple | None = None,
        indefinite: list[str] | None = None,
    ) -> None:
        check_normalize(normalize)
        self.A, self.B, self.pairs, self.places, self.names = A, B, pairs, places, list(names)
        self.n, self.M, self.n_jobs, self.memory_limit = places.n, len(pairs), n_jobs, memory_limit
        self.sides, self.normalize = sides, normalize
        self._sizes = [np.maximum([np.abs(np.diagonal(K)).mean() for K in side], 1e-300) for side in (A, B)]
        w = np.ones(self.n) if weights is None else np.asarray(weights, float)
        w = w / w.sum()
        self.scale, self.usable = np.ones(self.M), np.ones(self.M, bool)
        left, right = (
            np.array([np.diagonal(K)[place] for K in side]) for side, place in ((A, places.left), (B, places.right))
        )
        diagonals = left[pairs[:, 0]] * right[pairs[:, 1]]
        means = np.array([P @ w for P in self.products(w[None], np.arange(self.n))[0]])
        mean = diagonals @ w
        scale, usable = scales(mean, mean - means, normalize, precision(self.dtype))
        self.scale, self.usable = scale, usable
        self._diagonals = diagonals * self.scale[:, None]
        if indefinite:
            self.indefinite = "kernel " + ", ".join(map(repr, indefinite[:10]))
            warn_indefinite(self.indefinite)
        report_unusable(self.names, self.usable)

    def diagonals(self):
        return self._diagonals

    def _terms(self, theta):
        """The combined kernel as few Kronecker products."""
        return combine(np.asarray(theta, float) * self.scale, self.pairs, self.A, self.B, self._sizes)

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        left, right, dtype = self.places.take(rows), self.places.take(cols), np.dtype(dtype or self.dtype)
        size = float(left.n) * right.n * dtype.itemsize
        limit = MemoryBudget(self.memory_limit).share("one matrix of pairs")
        if size > limit:
            raise ValueError(
                f"the kernel between {left.n} × {right.n} pairs takes {size / 2**30:.1f} GiB, above "
                f"{'memory_limit' if self.memory_limit else 'the limit of a matrix'} ({limit / 2**30:.1f} GiB): use a "
                "solver that does not build it, solver='newton', 'analytic' or 'level', or fewer pairs."
            )
        return dense(self._terms(theta), left, right, np.empty((left.n, right.n), dtype))

    def matrix(self, theta, rows, dtype, shifted):
        """An `Operator` above `dense` pairs."""
        places = self.places.take(rows)
        if places.n <= self.dense:
            return self.combined(theta, rows, rows, dtype, shifted)
        return PairOperator(self._terms(theta), places, dtype or self.dtype, self.n_jobs)

    def inner(self, loss, y, c, intercept):
        return MatrixFreeProblem(loss, y, c, intercept, self.n_jobs)

    def products(self, A, support, rows=None, kernels=None):
        kernels = every(kernels, self.M)
        V = np.atleast_2d(np.asarray(A, float))
        places = self.places.take(rows), self.places.take(support)
        P = each(self.A, self.B, self.pairs[kernels], V, *places, self.n_jobs)
        P *= self.scale[kernels, None]
        return P

    def outputs(self, theta, A, support, rows=None):
        """Sums the kernels first, into few Kronecker products."""
        left, right = self.places.take(rows), self.places.take(support)
        out, terms = np.zeros((len(A), left.n)), self._terms(theta)
        if terms:
            add(out, terms, np.asarray(A, float), left, right)
        return out

    def restrict(self, rows, kernels=None):
        """The bank of these pairs and of the objects that they have."""
        kernels = every(kernels, self.M)
        (left, at_left), (right, at_right) = (np.unique(side[rows], return_inverse=True) for side in self.places[:2])
        small = object.__new__(PairBank)
        vars(small).update(vars(self))
        small.A, small.B = ([K[np.ix_(keep, keep)] for K in side] for side, keep in ((self.A, left), (self.B, right)))
        small.places, small.pairs = Places(at_left, at_right, (len(left), len(right))), self.pairs[kernels]
        small.n, small.M, small.names = len(rows), len(kernels), [self.names[m] for m in kernels]
        small.scale, small.usable = self.scale[kernels], self.usable[kernels]
        small._diagonals, small.sides = self._diagonals[np.ix_(kernels, rows)], None
        return small

    def predictor(self, support):
        if self.sides is None:
            raise ValueError("a part of a bank of pairs has no objects to predict with: take the whole bank.")
        return PairPredictor(self.sides, self.places.take(np.asarray(support)), self.pairs, self.scale, self._sizes)


class Pairwise(Part, Source):
    """Kernels on pairs (a, b) from kernels k_1 … k_P on the left objects and h_1 … h_Q on the right ones.

    The fit learns the weights of all kernels without the matrix between all pairs; X is `Pairs`.

    Parameters
    ----------
    left, right : kernels of each side, in any form that an estimator accepts, or "precomputed"
    combine : "kronecker", "cartesian", "sum", or a list of several
        "kronecker": P·Q kernels k_p(a, a') h_q(b, b'), which predict pairs of two new objects; "cartesian": P + Q
        kernels k_p(a, a') [b = b'] and [a = a'] h_q(b, b'), which are 0 for pairs of two new objects; "sum": P + Q
        kernels k_p(a, a') and h_q(b, b'), the separate effects of the two sides. Objects are equal if they have the
        same number in `Pairs`.
    psd : "warn", "clip", "shift" or "error"
        Treatment of "precomputed" matrices that are not positive semidefinite; see `MKLClassifier`. Here "shift"
        adds to every k(a, a), also in new pairs.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import RBF, Linear
    >>> from manykernels.pairs import Pairs, Pairwise
    >>> rng = np.random.default_rng(0)
    >>> drugs, targets = rng.normal(size=(12, 3)), rng.normal(size=(8, 2))
    >>> X = Pairs.grid(drugs, targets)
    >>> y = np.outer(drugs[:, 0], targets[:, 1]).ravel()
    >>> kernels = Pairwise([("line", Linear()), ("near", RBF(gamma=1.0))], [("flat", Linear())])
    >>> model = MKLRegressor(kernels, loss="squared", regularizer=1, C=100).fit(X, y)
    >>> dict(zip(model.kernel_names_, model.kernel_weights_.round(2).tolist()))
    {'line × flat': 1.0, 'near × flat': 0.0}
    """

    file_tag = ("source/pairs", 1)

    def __init__(self, left: Any, right: Any, combine: Any = "kronecker", psd: str = "warn") -> None:
        self.left, self.right, self.combine, self.psd = left, right, combine, psd
        check_choice("psd", psd, PSD)
        if psd != "warn" and not any(isinstance(side, str) and side == "precomputed" for side in (left, right)):
            raise ValueError(f'psd={psd!r} is for sides that are "precomputed", and no side is: leave it at "warn".')
        ways = [combine] if isinstance(combine, str) else list(combine)
        wrong = [way for way in ways if way not in COMBINE]
        if wrong or not ways or len(set(ways)) < len(ways):
            raise ValueError(f"combine={combine!r} must be one or several of {', '.join(map(repr, COMBINE))}.")

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """{name: value}; `deep` includes the named kernels of each side, `left__NAME`, `left__NAME__gamma`."""
        params = super().get_params(deep)
        for side in ("left", "right") if deep else ():
            params |= {f"{side}__{key}": value for key, value in named_params(params[side]).items()}
        return params

    def set_params(self, **params: Any) -> Self:
        """Sets these parameters, `left__NAME__gamma` for a parameter of a named kernel, and returns the source."""
        for side, own in (("left", self.left), ("right", self.right)):
            kernels = params.get(side, own)
            inner = {key: params.pop(key) for key in list(params) if key.startswith(f"{side}__")}
            if inner and not isinstance(kernels, list | tuple):
                key = next(iter(inner))
                raise ValueError(f"Invalid parameter {key!r}: {side}={kernels!r} is no list of named kernels.")
            if inner:
                params[side] = with_named(kernels, {key[len(side) + 2 :]: value for key, value in inner.items()})
        return super().set_params(**params)

    def check_state(self):
        """Nothing to check: the constructor has checked `combine`, and fit checks the kernels."""

    def bank(
        self,
        X,
        *,
        weights=None,
        normalize="multiplicative",
        memory_limit=None,
        n_jobs=None,
    ):
        if not isinstance(X, Pairs):
            raise ValueError(
                f"X is a {type(X).__name__}, but kernels=Pairwise(...) take pairs: give Pairs(index, left, right)."
            )
        ways = [self.combine] if isinstance(self.combine, str) else list(self.combine)
        extra = tuple(name for name, way in ((SAME, "cartesian"), (ANY, "sum")) if way in ways)
        parts, places = [], []
        sides = ("left", self.left, X.left), ("right", self.right, X.right)
        for column, (name, kernels, table) in enumerate(sides):
            objects, place = objects_of(table, X.index[:, column])
            parts.append(PairSide(name, kernels, table, objects, extra))
            places.append((place, len(objects)))
        spherical = normalize == "spherical"
        left, right = parts
        A, B = left.fit(X.left, spherical, self.psd), right.fit(X.right, spherical, self.psd)
        pairs = _pairs(ways, left, right)
        return PairBank(
            A, B, pairs, Places(places[0][0], places[1][0], (places[0][1], places[1][1])),
            [f"{left.names[p]} × {right.names[q]}" for p, q in pairs], weights=weights, normalize=normalize,
            memory_limit=memory_limit, n_jobs=n_jobs, sides=(left, right),
            indefinite=[*left.indefinite, *right.indefinite],
        )  # fmt: skip


def _pairs(ways, left, right):
    """(M, 2): the kernels of the two sides whose product is kernel m."""
    found = []
    for way in ways:
        if way == "kronecker":
            found += [(p, q) for p in range(left.size) for q in range(right.size)]
        else:
            name = SAME if way == "cartesian" else ANY
            p0, q0 = (side.size + side.extra.index(name) for side in (left, right))
            found += [(p, q0) for p in range(left.size)] + [(p0, q) for q in range(right.size)]
    return np.array(found, dtype=np.int64)


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

    @property
    def pair_sides(self):
        return self.left, self.right

    def sizes(self):
        return len(self.l), len(self.scale)

    def check_state(self):
        self.size = (len(self.left.objects), len(self.right.objects))
        for column, (side, at) in enumerate(zip(self.pair_sides, (self.l, self.r), strict=True)):
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
        values, (A, theta) = self._open(X), each_output(A, theta)
        out = np.zeros((len(A), values[2].n))
        for t in range(len(A)):
            terms = self._terms(theta[t], *values[:2])
            if terms:
                add(out[t : t + 1], terms, A[t : t + 1], values[2], self.places)
        return out

    def parts(self, X, A, theta):
        (left, right, rows), (A, theta) = self._open(X), each_output(A, theta)
        P = each(left, right, self.pairs, A, rows, self.places)
        return (P * (theta * self.scale)[:, :, None]).transpose(0, 2, 1)

    def combined(self, X, theta):
        A, B, rows = self._open(X)
        return dense(self._terms(theta, A, B), rows, self.places, np.empty((rows.n, len(self.l))))

    def gram(self, X, Y=None, theta=None):
        Y = X if Y is None else Y
        values, places = [], [[], []]
        for column, side in enumerate(self.pair_sides):
            tables = [(pairs.left, pairs.right)[column] for pairs in (X, Y)]
            (x, at), (y, to) = (objects_of(t, pairs.index[:, column]) for t, pairs in zip(tables, (X, Y), strict=True))
            values.append(side.among(tables[0], x, tables[1], y))
            places[0].append((at, len(x)))
            places[1].append((to, len(y)))
        rows, cols = (Places(left[0], right[0], (left[1], right[1])) for left, right in places)
        return dense(self._terms(theta, *values), rows, cols, np.empty((rows.n, cols.n)))

    def needs(self):
        return self.left.needs() | self.right.needs()

    def widths(self):
        return self.left.widths() | self.right.widths()

    def news(self, X, used, growing):
        """The new values of the objects of each side, with the rows of the pairs that contain them."""
        found = []
        for column, side in enumerate(self.pair_sides):
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
