"""A stack of matrices in files: the passes of `_stack.Stack`, kernel after kernel in the order of the disk."""

import numpy as np

from ._stack import Stack


class FileStack(Stack):
    """`array` are `MatrixFiles`; a pass holds some megabytes of a matrix, and what it makes of them."""

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

    def gather(self, m, rows, scale, out):
        at = 0
        for part in self.array.blocks(rows):
            out[at : at + len(part)] = self.array.read(m, part, rows)
            at += len(part)
        out *= scale

    def combined(self, w, rows, cols, dtype, symmetric=False, n_jobs=None, shift=None):
        out = np.zeros((len(rows), len(cols)), dtype)
        own = np.result_type(self.array.dtype, dtype)
        cols = _all(cols, self.shape[1])
        for m in np.flatnonzero(w):
            at = 0
            for part in self.array.blocks(rows):
                block = self.array.read(m, part, cols).astype(own, copy=False)
                if shift is not None:
                    block -= own.type(shift[m])
                block *= own.type(w[m])
                out[at : at + len(part)] += block
                at += len(part)
        return out

    def products(self, A, cols, rows, kernels, shift, n_jobs=None):
        A = np.ascontiguousarray(A, dtype=np.float64)
        out, cols = np.empty((len(A), len(kernels), len(rows))), _all(cols, self.shape[1])
        for k, m in enumerate(kernels):
            at = 0
            for part in self.array.blocks(rows):
                block = self.array.read(m, part, cols).astype(np.float64, copy=False)
                out[:, k, at : at + len(part)] = A @ block.T
                at += len(part)
        return out


def _all(cols, n):
    """None where these are all columns."""
    return None if len(cols) == n and np.array_equal(cols, np.arange(n)) else cols
