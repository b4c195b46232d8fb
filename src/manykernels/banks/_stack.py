"""A stack of matrices in either memory order, the passes over it, and the checks of each matrix."""

import numpy as np
from scipy.linalg.lapack import dpotrf

from .._threads import run_blocks
from ..kernels.matrix_files import MatrixFiles
from ..kernels.stack import KernelStack

STACK_ROWS = 64  # of a block; fixed, so that results do not depend on the number of threads
MIRROR_ROWS = 128
BELOW_DIAGONAL = np.tri(MIRROR_ROWS, k=-1, dtype=bool)
HALF_BLOCKS = 128  # of products with the upper triangles of all kernels, at least: the work for the threads
FEW_ENTRIES = 2**19  # that NumPy picks and sums: for so few the loops are not worth the seconds of compiling them
LEAST_SHIFT = 1e-30  # in sums in float32, relative to the diagonal


class Stack:
    """A stack of M matrices (n × n') in one of two memory orders."""

    on_disk = False  # whether every pass reads the matrices from files
    rounding = 1e-5  # how far below 0 rounding may push an eigenvalue, relative to the diagonal
    unit = 2.0**-53  # unit roundoff of the entries that the user gave

    def __init__(self, array, last=False):
        self.array, self.last = array, last
        self.shape = array.shape if last else (*array.shape[1:], array.shape[0])  # (n, n', M)

    @classmethod
    def of(cls, X):
        """Wraps X of shape (n, n', M) or a `KernelStack`, without a copy if the memory order allows it."""
        if isinstance(X, KernelStack):
            stack = FileStack(X.matrices) if isinstance(X.matrices, MatrixFiles) else cls(_open(X.matrices))
            stack.rounding, stack.unit = _rounding(X.given), _unit(X.given)
            return stack
        X = np.asarray(X)
        rounding, unit = _rounding(X.dtype), _unit(X.dtype)
        if X.ndim != 3:
            raise ValueError(
                f"X has shape {X.shape}; precomputed kernels are (n, n_train, M), one matrix along the last axis "
                "for each kernel (np.stack(matrices, axis=2)), or a KernelStack"
            )
        if X.dtype not in (np.float32, np.float64):
            X = X.astype(np.float64 if X.dtype.itemsize > 2 else np.float32)
        first, stack = np.moveaxis(X, 2, 0), None
        if X.flags.c_contiguous and not first.flags.c_contiguous:
            stack = cls(_open(X), last=True)
        else:
            stack = cls(_open(np.ascontiguousarray(first)))
        stack.rounding, stack.unit = rounding, unit
        return stack

    def matrix(self, m):
        return self.array[..., m] if self.last else self.array[m]

    def diagonals(self):
        """(M, n) float64."""
        return np.array([np.diagonal(self.matrix(m)) for m in range(self.shape[2])], dtype=np.float64)

    def corner(self, m, pick):
        """S_m[pick, pick]."""
        return self.matrix(m)[np.ix_(pick, pick)]

    def first_rows(self):
        """The first row of every matrix, (n', M)."""
        return self.array[0] if self.last else self.array[:, 0].T

    def copied(self, kernels, rows, n_jobs=None):
        """S_m[rows, rows] of some kernels, (|kernels|, |rows|, |rows|)."""
        from ..loops.stack import gather_last

        out = np.empty((len(kernels), len(rows), len(rows)), self.array.dtype)

        def block(k):
            if self.last:
                part = slice(k, k + STACK_ROWS)
                gather_last(self.array, kernels, rows[part], rows, out[:, part])
            else:
                self.gather(kernels[k], rows, out[k])

        run_blocks(block, range(0, len(rows), STACK_ROWS) if self.last else range(len(kernels)), n_jobs)
        return out

    def gather(self, m, rows, out):
        """out = S_m[rows, rows], for a stack of shape (M, n, n')."""
        from ..loops.rows import gather

        gather(self.array[m], rows, rows, out)

    def _few(self, kernels, rows, cols, dtype):
        """S_m[rows, cols] of some kernels in this type, (|kernels|, |rows|, |cols|), or None if they are many."""
        if (self.shape[2] if self.last else len(kernels)) * len(rows) * len(cols) > FEW_ENTRIES:
            return None
        if self.last:
            picked = np.moveaxis(self.array[np.ix_(rows, cols)], 2, 0)[kernels]
        elif self.shape[1] > 4 * len(cols):
            picked = self.array[kernels[:, None, None], rows[:, None], cols]
        else:
            picked = self.array[kernels[:, None], rows]  # whole rows are quick to copy
            picked = picked if len(cols) == self.shape[1] else np.take(picked, cols, axis=2)
        return picked.astype(dtype, copy=False)

    def combined(self, w, rows, cols, dtype, symmetric=False, n_jobs=None, shift=None):
        """Σ_m w_m (S_m[rows, cols] − shift_m), cols sorted; of a `symmetric` result the upper triangle counts."""
        kernels = w.nonzero()[0]
        if not len(kernels):
            return np.zeros((len(rows), len(cols)), dtype)
        _check_sorted(cols)
        own = np.result_type(self.array.dtype, dtype)  # a scale may be outside the range of float32
        shift = np.zeros(len(w), own) if shift is None else shift.astype(own)
        w, out = np.asarray(w, dtype=own), np.empty((len(rows), len(cols)), dtype)
        few = self._few(kernels, rows, cols, own)
        if few is None:
            self._combine(kernels, w, shift, rows, cols, symmetric, out, n_jobs)
        else:
            few -= shift[kernels][:, None, None]
            np.einsum("m,mij->ij", w[kernels], few, out=out, casting="same_kind")
        if symmetric:
            _mirror(out)
        return out

    def _combine(self, kernels, w, shift, rows, cols, symmetric, out, n_jobs):
        """`combined` by the loops, into `out`; if symmetric, only its upper triangle."""
        from ..loops import stack as loops

        far = _are_far(cols)
        runs = not (self.last or far)  # of columns, four kernels at a time
        if self.last and 2 * len(kernels) > self.shape[2]:
            kernels = kernels[:0]  # empty means all
        else:
            w, shift = w[kernels], shift[kernels]
        if runs:  # the last kernel again, with weight 0
            count = len(kernels)
            four = np.minimum(np.arange(count + -count % 4), count - 1)
            kernels, w, shift = kernels[four], w[four], shift[four]
            w[count:] = 0.0
        loop = loops.combine_last if self.last else loops.combine_picked if far else loops.combine_first

        def block(r0):
            part, line = slice(r0, r0 + STACK_ROWS), [np.empty(cols[-1] + 1, out.dtype)] if runs else []
            loop(self.array, kernels, w, shift, rows[part], cols, r0 if symmetric else -1, out[part], *line)

        run_blocks(block, range(0, len(rows), STACK_ROWS), n_jobs)

    def products(self, A, cols, rows, kernels, shift, n_jobs=None, symmetric=False):
        """S_m[rows, cols] @ A[t], (T, |kernels|, |rows|), cols sorted, in float64.

        `symmetric` says that every S_m is: kernels between new and training examples are not, even if they are square.
        """
        _check_sorted(cols)
        A = np.ascontiguousarray(A, dtype=np.float64)
        sums = A.sum(axis=1)
        few = self._few(kernels, rows, cols, np.float64)
        if few is not None:
            few -= shift[kernels][:, None, None]
            return np.einsum("mij,tj->tmi", few, A) + shift[kernels][:, None] * sums[:, None, None]
        if symmetric and not self.last and np.array_equal(rows, cols):
            return self._half_products(A, cols, kernels, shift, n_jobs) + shift[kernels][:, None] * sums[:, None, None]
        from ..loops import stack as loops

        out, wide = np.empty((len(A), len(kernels), len(rows))), A if self.last else _spread(A, cols)

        def block(r0):
            part = slice(r0, r0 + STACK_ROWS)
            if self.last:
                loops.multiply_last(self.array, kernels, shift, A, sums, cols, rows[part], out[:, :, part])
            else:
                line, own = self._lines(cols)[0], shift[kernels]
                loops.multiply_first(self.array, kernels, own, wide, sums, cols, rows[part], r0, line, out)

        run_blocks(block, range(0, len(rows), STACK_ROWS), n_jobs)
        return out

    def _half_products(self, A, cols, kernels, shift, n_jobs):
        """(S_m[cols, cols] − shift_m) @ A[t], (T, |kernels|, |cols|), from the upper triangle of each matrix."""
        from ..loops.stack import multiply_half

        C, parts = len(cols), max(1, min(HALF_BLOCKS // max(len(kernels), 1), len(cols) // STACK_ROWS))
        cuts = (C * (1 - np.sqrt(1 - np.arange(parts + 1) / parts))).astype(int) // 4 * 4  # parts of equal area
        cuts[-1] = C
        wide = _spread(A, cols)
        at = np.arange(C) if wide is A else cols - cols[0]
        out = np.zeros((parts, len(kernels), *wide.shape))

        def block(part):
            (k, i), lines = part, self._lines(cols)
            K, h = self.array[kernels[k]], shift[kernels[k]]
            multiply_half(K, h, wide, cols, at, cuts[i], cuts[i + 1], lines, out[i, k])

        run_blocks(block, [(k, i) for k in range(len(kernels)) for i in range(parts)], n_jobs)
        found = out.sum(axis=0).transpose(1, 0, 2)
        return found if wide is A else np.take(found, at, axis=2)

    def _lines(self, cols):
        """Scratch for the entries of four rows at columns that are far between; else empty: whole runs are read."""
        return np.empty((4, len(cols) if _are_far(cols) else 0), self.array.dtype)


def _are_far(cols):
    """Whether sorted columns are few and far between."""
    return cols[-1] + 1 - cols[0] > 4 * len(cols)


def _spread(A, cols):
    """A (T, |cols|) with zeros for the columns between cols, unless they are far between."""
    width = cols[-1] + 1 - cols[0]
    if _are_far(cols) or width == len(cols):
        return A
    wide = np.zeros((len(A), width))
    wide[:, cols - cols[0]] = A
    return wide


def _mirror(K):
    """Copies the upper triangle of a square matrix onto the lower, tile by tile."""
    for i in range(0, len(K), MIRROR_ROWS):
        rows = slice(i, i + MIRROR_ROWS)
        tile = K[rows, rows]
        np.copyto(tile, tile.T.copy(), where=BELOW_DIAGONAL[: len(tile), : len(tile)])
        for j in range(i + MIRROR_ROWS, len(K), MIRROR_ROWS):
            cols = slice(j, j + MIRROR_ROWS)
            K[cols, rows] = K[rows, cols].T


class ByKernel(Stack):
    """A stack whose sums and products go kernel by kernel: `blocks` yields (where, S_m[rows[where], cols])."""

    def combined(self, w, rows, cols, dtype, symmetric=False, n_jobs=None, shift=None):
        out, own = np.zeros((len(rows), len(cols)), dtype), np.result_type(self.array.dtype, dtype)
        for m in np.flatnonzero(w):
            for where, block in self.blocks(m, rows, cols):
                block = block.astype(own, copy=False)
                if shift is not None:
                    block -= own.type(shift[m])
                block *= own.type(w[m])
                out[where] += block
        return out

    def products(self, A, cols, rows, kernels, shift, n_jobs=None, symmetric=False):
        A, out = np.ascontiguousarray(A, dtype=np.float64), np.empty((len(A), len(kernels), len(rows)))
        for k, m in enumerate(kernels):
            for where, block in self.blocks(m, rows, cols):
                out[:, k, where] = A @ block.astype(np.float64, copy=False).T
        return out


class FileStack(ByKernel):
    """The same for files: `array` is a `MatrixFiles`, which passes read kernel by kernel, some megabytes at a time."""

    on_disk = True

    def __init__(self, files):
        self.array, self.last = files, False
        self.shape = (*files.shape[1:], files.shape[0])

    def diagonals(self):
        return self.array.diagonals().astype(np.float64)

    def corner(self, m, pick):
        return self.array.read(m, pick, pick)

    def first_rows(self):
        return self.array[:, 0].T

    def gather(self, m, rows, out):
        for where, block in self.blocks(m, rows, rows):
            out[where] = block

    def blocks(self, m, rows, cols):
        at, cols = 0, _all(cols, self.shape[1])
        for part in self.array.blocks(rows):
            yield slice(at, at + len(part)), self.array.read(m, part, cols)
            at += len(part)


class RootedStack(ByKernel):
    """The matrices of a stack times `left` (M, n) and `right` (M, n'), 1/√k_m(x, x), in `combined` and `products`."""

    def __init__(self, stack, left, right):
        vars(self).update(vars(stack))
        self.on_disk, self.left, self.right = stack.on_disk, left, right

    def combined(self, w, rows, cols, dtype, *order, **options):
        return super().combined(w, rows, cols, dtype)  # the shift is that of other matrices

    def blocks(self, m, rows, cols):
        yield slice(None), self.matrix(m)[np.ix_(rows, cols)] * self.left[m][rows, None] * self.right[m][cols]


def _all(cols, n):
    """`cols`, or None if these are all n columns."""
    return None if len(cols) == n and np.array_equal(cols, np.arange(n)) else cols


def _check_sorted(cols):
    if (cols[1:] <= cols[:-1]).any():
        raise ValueError("cols and support must be ascending and without repetitions")


def _open(X):
    """X, or a writable view of a read-only X: numba would compile the loops again for read-only arrays."""
    if X.flags.writeable:
        return X
    interface = dict(X.__array_interface__)
    interface["data"] = (interface["data"][0], False)
    holder = type("Holder", (), {"__array_interface__": interface, "owner": X})()
    return np.asarray(holder)


def _rounding(dtype):
    """How far below 0 rounding to this type may push an eigenvalue, relative to the diagonal."""
    return 1e-2 if dtype == np.float16 else 1e-5


def _unit(dtype):
    """The unit roundoff of this type."""
    return float(np.finfo(dtype).eps) / 2 if dtype.kind == "f" else 2.0**-53


def survey_exactly(K, w, out):
    """out = (Σ w_i w_j k_ij, largest |k_ij − k_ji|) in float64."""
    K = K.astype(np.float64)
    out[:] = w @ K @ w, largest_skew(K)


def largest_skew(K):
    """The largest |k_ij − k_ji|."""
    return np.abs(K - K.T).max()


def floor(rows, diagonals):
    """The constant to subtract from each kernel: the entry nearest to 0 of some rows (·, M) and the diagonals (M, n).

    It keeps the digits of nearly constant kernels; 0 if entries have both signs. It is at most √(k_ii k_jj), which
    bounds |k_ij|, so that its rounding is not larger than that of k_ij may be.
    """
    some = np.concatenate([np.asarray(rows, dtype=np.float64), diagonals.T])
    return np.maximum(some.min(axis=0), 0.0) + np.minimum(some.max(axis=0), 0.0)


def not_0(shift, diagonals):
    """The shift for sums in float32: what it leaves of entries near 0 is no subnormal number.

    Some processors multiply such numbers a hundred times slower.
    """
    least = LEAST_SHIFT * np.abs(diagonals).max(axis=1)
    return np.where(np.abs(shift) < least, least, shift)


def spread_out(n, size=64):
    return np.unique(np.linspace(0, n - 1, min(size, n)).astype(int))


def is_indefinite(K, rounding):
    """Whether a small principal submatrix K has a clearly negative eigenvalue."""
    block = np.array(K, dtype=np.float64)
    block.flat[:: len(block) + 1] += rounding * np.abs(np.diagonal(block)).max() + 1e-300
    return dpotrf(block, lower=1)[1] != 0
