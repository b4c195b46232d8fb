"""Base blocks: one pairwise quantity between two sides, computed by BLAS if possible, for dense and CSR data."""

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from .._parts import declared
from .._threads import run_blocks, slices

KINDS = {"dot": 0, "sqdist": 1, "l1": 2, "chi2": 3, "min": 4}
MAX_PLAIN_VALUES = 2**24  # kernel values of one call that NumPy computes, in some 0.1 s
MAX_LOST = {4: 1e-4, 8: 1e-9}  # of a kernel value by rounding of ‖x‖² + ‖y‖² − 2⟨x, y⟩, by the bytes of a number
NEAR = {4: 1e-3, 8: 1e-6}  # of ‖x‖² + ‖y‖²: smaller distances are then computed from x − y
MAX_GATHERED = 2**18  # numbers of such pairs at a time
FAR_COLUMN = 3.0  # standard deviations of a sparse column from 0 to its mean, which is then subtracted
_MAX_LOOP_COLUMNS = 4  # of a direct loop, which is as fast as BLAS here, and free of cancellation


@dataclass
class BlockSide:
    """One side of a block: its examples, B(x, x), ‖x‖² if needed, and the numbers of the training examples."""

    x: object  # (d, n) array, (n, d) CSR, or None
    own: np.ndarray  # (n,)
    square: np.ndarray | None
    index: np.ndarray | None
    factor: np.ndarray | None = None  # (kernels, n): factors of the kernels' rows
    cache: np.ndarray | None = None  # B between all training examples, if it is kept
    task: np.ndarray | None = None  # (n,): the numbers of the tasks, if a kernel compares tasks
    bounds: tuple[float, float] | None = None  # of a single dense column; `take` keeps them

    def reach(self):
        """Bounds of a single column."""
        if self.bounds is None:
            self.bounds = float(np.minimum.reduce(self.x, axis=None)), float(np.maximum.reduce(self.x, axis=None))
        return self.bounds

    def take(self, rows, cached=True):
        """The side of some examples, by a slice or an index array; of `cached` B it needs no examples."""
        x, cache = self.x, self.cache if cached else None
        if x is not None:
            x = None if cache is not None else x[:, rows] if isinstance(x, np.ndarray) else x[rows]
        square = None if self.square is None else self.square[rows]  # no helper: there are thousands of small sides
        index = None if self.index is None else self.index[rows]
        factor = None if self.factor is None else self.factor[:, rows]
        task = None if self.task is None else self.task[rows]
        return BlockSide(x, self.own[rows], square, index, factor, cache, task, self.bounds)

    def double(self, kind):
        """The same examples in float64, with B(x, x) and ‖x‖² computed from the stored x."""
        own, square, x = self.own.astype(np.float64), self.square, self.x
        if kind in KINDS:
            x = x.astype(np.float64)
            norms = np.asarray(x.multiply(x).sum(axis=1)).ravel() if sp.issparse(x) else np.einsum("ij,ij->j", x, x)
            own = {"dot": norms, "min": x.sum(axis=0)}.get(kind, own)
            square = None if square is None else norms
        factor = None if self.factor is None else self.factor.astype(np.float64)
        return type(self)(x, own, square, self.index, factor, self.cache, self.task)


@declared
class Entries:
    """The entries of n examples that are not 0: those of example i are start[i] to start[i + 1]."""

    start: Any
    column: Any
    value: Any

    @classmethod
    def of(cls, X, dtype):
        """The entries of the rows of an array or a CSR matrix X."""
        if sp.issparse(X):
            X = X.tocsr()
            return cls(X.indptr.astype(np.int64), X.indices.astype(np.int64), X.data.astype(dtype))
        n, d = X.shape
        at = np.flatnonzero(X)
        return cls(np.searchsorted(at, d * np.arange(n + 1)), at % d, X.ravel()[at].astype(dtype))

    def __getitem__(self, rows):
        """The entries of a slice of the examples."""
        first, last, _ = rows.indices(len(self.start) - 1)
        start = self.start[first : max(first, last) + 1]
        part = slice(start[0], start[-1])
        return Entries(start - start[0], self.column[part], self.value[part])

    def squares(self):
        """‖x‖², (n,) float64."""
        total = np.append(0.0, np.cumsum(self.value.astype(np.float64) ** 2))
        return total[self.start[1:]] - total[self.start[:-1]]

    def times(self, Z, out, plain):
        """⟨x, z⟩ for the dense examples Z (d, cols) into `out` (n, cols); `plain` asks for NumPy."""
        if plain and len(out) == 1:  # a call of SciPy takes longer
            np.matmul(self.value, Z[self.column], out=out[0])
            return
        if plain:
            out[:] = sp.csr_array((self.value, self.column, self.start), shape=(len(out), len(Z))) @ Z
            return
        from ..loops.rows import multiply_entries

        multiply_entries(self.start, self.column, self.value, np.ascontiguousarray(Z), out)  # a part of the columns


def _centre(X):
    """The mean of X (n, d), or the median of some rows if a few outliers have moved the mean far away.

    ‖x‖² + ‖y‖² − 2⟨x, y⟩ is accurate for examples near the centre. Outliers among the test examples of a matrix that
    folds share must not reduce the accuracy for the training examples.
    """
    if not len(X):  # a model without support
        return np.zeros(X.shape[1])
    mean = np.add.reduce(X, axis=0, dtype=np.float64) / len(X)
    some = X[:: max(1, len(X) // 100)].astype(np.float64)
    if len(some) < 3 or not np.logical_and.reduce(np.isfinite(mean)):
        return mean
    with np.errstate(over="ignore", invalid="ignore"):  # `check_size` refuses numbers that are too large
        middle = _middle(some)
        usual = _middle(np.add.reduce((some - middle) ** 2, axis=1))
        return middle if np.add.reduce((mean - middle) ** 2) > 100 * usual > 0 else mean


def _middle(x):
    """The median along the first axis."""
    x = x.copy()
    x.sort(axis=0)
    return (x[(len(x) - 1) // 2] + x[len(x) // 2]) / 2


def _sparse_centre(X):
    """The means (d,) of the columns of a sparse X far from 0, 0 of the others; None if no column is.

    At least 1 − 1 / (1 + `FAR_COLUMN`²) of the entries of such a column are stored, so that few are filled in.
    """
    X, n = sp.csr_array(X, dtype=np.float64), max(X.shape[0], 1)
    with np.errstate(over="ignore", invalid="ignore"):
        mean, square = X.sum(axis=0) / n, X.multiply(X).sum(axis=0) / n
        far = mean**2 > FAR_COLUMN**2 * (square - mean**2)
    return np.where(far, mean, 0.0) if far.any() else None


class TooLarge(ValueError):
    """The numbers are too large for the precision."""


class PairBase:
    """The base `kind` on data like X, with the centre of X, which both sides of a distance subtract.

    `rate` is the largest one of its kernels exp(−rate B), from which follows how precise B must be.
    """

    def __init__(self, kind, X, dtype, rate=np.inf):
        if kind not in (*KINDS, "same"):
            raise ValueError(f"base={kind!r} of a kernel must be None or one of {', '.join(map(repr, KINDS))}.")
        self.kind, self.dtype, self.rate = kind, np.dtype(dtype), rate
        self.centre = None
        if kind in ("sqdist", "l1"):
            self.centre = _sparse_centre(X) if sp.issparse(X) else _centre(np.asarray(X))

    def to_state(self):
        """The state for a file; `like` reads it."""
        return {"centre": self.centre}

    @classmethod
    def like(cls, state):
        """An X of one example, from which the constructor computes the centre of this state."""
        centre = state["centre"]
        if centre is None:
            return sp.csr_array((1, 1))
        return centre[None]

    def side(self, X, index=None, n_jobs=1):
        """The prepared examples X (n, d); `index` has their numbers as training examples, None for new examples."""
        n = X.shape[0]
        if self.kind == "same":
            return BlockSide(None, np.full(n, float(index is not None), self.dtype), None, index)
        if sp.issparse(X):
            if self.kind not in ("dot", "sqdist"):
                raise ValueError(f"A kernel on {self.kind!r} needs dense data, X is sparse; pass X.toarray().")
            x = X.tocsr()
            if self.centre is not None:
                x = sp.csr_array(x) - sp.csr_array(np.ones((n, 1))) @ sp.csr_array(self.centre[None])
            x = x.astype(self.dtype)
            if x.nnz:
                self.check_size(abs(x).max(axis=0).toarray().reshape(-1, 1))
            square = np.asarray(x.multiply(x).sum(axis=1, dtype=np.float64), self.dtype).ravel()
        else:
            X = np.asarray(X)
            if self.kind in ("chi2", "min") and n and X.min(initial=0) < 0:
                raise ValueError(
                    f"X has the negative value {X.min():g}, but a kernel on {self.kind!r} is for histograms; "
                    "shift X to be non-negative or leave that kernel out."
                )
            x, square = np.empty((X.shape[1], n), self.dtype), np.empty(n, self.dtype)

            def prepare(rows):
                part = x[:, rows]
                with np.errstate(over="ignore", invalid="ignore"):
                    part[:] = (X[rows] if self.centre is None else X[rows] - self.centre).T
                self.check_size(part)
                if self.kind in ("dot", "sqdist"):
                    square[rows] = np.einsum("ij,ij->j", part, part, dtype=np.float64)

            run_blocks(prepare, slices(n, 1 + n // 2000), n_jobs)
        own = square if self.kind == "dot" else np.zeros(n, self.dtype)
        if self.kind == "min":
            own = x.sum(axis=0, dtype=np.float64).astype(self.dtype)
        side = BlockSide(x, own, square if self.kind == "sqdist" else None, index)
        if x.shape[0] == 1 and n and isinstance(x, np.ndarray):
            side.reach()
        if index is not None and self.dtype == np.float32:
            self.check_digits(side)
        return side

    def check_digits(self, side):
        """A `TooLarge` if examples in float32 have too few digits for their distances."""
        if self.kind not in ("sqdist", "l1") or self.rate == np.inf:
            return
        size = np.sqrt(self.rate * side.square) if self.kind == "sqdist" else self.rate * np.abs(side.x).sum(axis=0)
        most = float(np.max(size, initial=0.0))
        if most * np.finfo(np.float32).eps > MAX_LOST[4]:
            raise TooLarge(
                f"X holds examples {most:.0e} widths of a kernel away from the others, and float32 does not "
                "have the digits for their distances: take float64, or rescale X, for example with StandardScaler()."
            )

    def check_size(self, x):
        """A `TooLarge` if B between examples like x (d, n) would overflow."""
        power = 2 if self.kind in ("dot", "sqdist", "chi2") else 1
        reach = float(max(np.maximum.reduce(x, axis=None, initial=0), -np.minimum.reduce(x, axis=None, initial=0)))
        limit = np.finfo(self.dtype).max / (8 * max(len(x), 1))
        if not (reach == 0 or np.log(reach) * power < np.log(limit)):
            top = np.maximum(x.max(axis=1), -x.min(axis=1)).astype(np.float64)
            j = int(np.argmax(np.where(np.isnan(top), np.inf, top)))
            raise TooLarge(
                f"X holds values of about {top[j]:.0e} in column {j} of the {len(x)} that a kernel sees: products of "
                f"these numbers overflow. Rescale the column, for example with StandardScaler()."
            )

    def block(self, left, right, out, hits=None, plain=False):
        """B (rows, cols) between two sides into `out`, exactly B(x, x) at `hits`, the result of `same`.

        `plain` asks for NumPy, which takes longer and needs no compiler.
        """
        if left.cache is not None and right.cache is not None:
            rows, cols = span(left.index), span(right.index)
            both = isinstance(rows, slice) or isinstance(cols, slice)
            out[:] = left.cache[rows, cols] if both else left.cache[rows[:, None], cols]
            return out
        narrow = is_narrow(left.x)
        if self.kind == "same":
            out[:] = 0
        elif isinstance(left.x, Entries):
            left.x.times(right.x, out, plain)
        elif not isinstance(left.x, np.ndarray):
            out[:] = (left.x @ right.x.T).toarray()
        elif narrow or self.kind not in ("dot", "sqdist"):
            if plain:
                plain_pair(KINDS[self.kind], left.x, right.x, out)
            else:
                from ..loops.elementwise import pair

                pair(KINDS[self.kind], np.ascontiguousarray(left.x), 0, np.ascontiguousarray(right.x), out)
        else:
            np.matmul(left.x.T, right.x, out=out)
        if self.kind == "sqdist" and not narrow:
            out *= -2
            out += left.square[:, None]
            out += right.square
            np.maximum(out, 0, out=out)
            size = float(np.max(left.square, initial=0)) + float(np.max(right.square, initial=0))
            lost = self.rate * size * float(np.finfo(out.dtype).eps)
            if lost > MAX_LOST[out.itemsize] and not isinstance(left.x, Entries):
                self._near(left, right, out)
        if hits is not None:
            out[hits] = left.own[hits[0]]
        return out

    def _near(self, left, right, out):
        """Computes the distances of near examples again, from differences."""
        pairs = np.nonzero(out <= NEAR[out.itemsize] * (left.square[:, None] + right.square))
        x, z = (side.x if sp.issparse(side.x) else side.x.T for side in (left, right))
        step = max(1, MAX_GATHERED // max(x.shape[1], 1))
        for first in range(0, len(pairs[0]), step):
            i, j = (part[first : first + step] for part in pairs)
            move = x[i] - z[j]
            out[i, j] = np.ravel((move.multiply(move) if sp.issparse(move) else move * move).sum(axis=1))


def width(x):
    """The columns that a direct loop over a side goes through."""
    return len(x) if isinstance(x, np.ndarray) else 1


def few(n_rows, n_cols, kernels):
    """Whether NumPy computes these kernel values: compiled loops are faster, and take seconds to compile or load."""
    return n_rows * n_cols * max(kernels, 1) <= MAX_PLAIN_VALUES


def plain_pair(kind: int, X: np.ndarray, Y: np.ndarray, out: np.ndarray) -> None:
    """`loops.elementwise.pair` in NumPy: out_ij = Σ_k of a function of x_ki and y_kj, X (d, rows), Y (d, cols)."""
    out[:] = 0
    for x, y in zip(X, Y, strict=True):
        column = x[:, None]
        if kind == 0:
            out += column * y
        elif kind == 4:
            out += np.minimum(column, y)
        else:
            part = column - y
            if kind == 2:
                np.abs(part, out=part)
            else:
                part *= part
            if kind == 3:
                total = column + y
                np.divide(part, total, out=part, where=total > 0)
            out += part


def is_narrow(x):
    """Whether a side has few enough columns for a direct loop, which is exact for equal examples."""
    return isinstance(x, np.ndarray) and len(x) <= _MAX_LOOP_COLUMNS


def same(left, right):
    """Positions (i, j) at which two index arrays name the same training example."""
    if left is None or right is None or left.size == 0 or right.size == 0:
        return np.empty(0, int), np.empty(0, int)
    rows, cols = span(left), span(right)
    if isinstance(rows, slice) and isinstance(cols, slice):
        both = np.arange(max(rows.start, cols.start), min(rows.stop, cols.stop))
        return both - rows.start, both - cols.start
    if left[-1] < right[0] or right[-1] < left[0]:  # a shortcut for ascending blocks
        if np.all(left[1:] >= left[:-1]) and np.all(right[1:] >= right[:-1]):
            return np.empty(0, int), np.empty(0, int)
    order = np.argsort(left, kind="stable")
    at = np.searchsorted(left, right, sorter=order)
    at[at == left.size] = 0
    i = order[at]
    j = np.flatnonzero(left[i] == right)
    return i[j], j


def span(index):
    """The index as a slice, if its entries are consecutive."""
    run = index.size and index[-1] - index[0] == index.size - 1 and (index[1:] > index[:-1]).all()
    return slice(int(index[0]), int(index[-1]) + 1) if run else index


def check_block(kernel, K, shape):
    """The block K that a kernel returned, as an array; a ValueError if it has another shape."""
    if np.shape(K) != shape:
        raise ValueError(
            f"{kernel!r} returned an array of shape {np.shape(K)} for {shape[0]} and {shape[1]} examples: "
            f"__call__(X, Y=None) must return (len(X), len(Y)), here {shape}."
        )
    return np.asarray(K)
