"""A stack of precomputed kernel matrices that scikit-learn's cross-validation can slice without a bad layout."""

import numpy as np


class KernelStack:
    """M kernel matrices between n examples and n_train training examples.

    Stored as (M, n, n_train), reported as `shape == (n, n_train, M)`, and sliced by examples: `stack[rows]`,
    `stack[np.ix_(rows, cols)]`. `test_diagonals` (M, n), k_m(x, x) of the n examples, is needed only to predict
    with `normalize="spherical"`.
    """

    ndim = 3

    def __init__(self, matrices, names=None, test_diagonals=None):
        if not isinstance(matrices, np.ndarray):
            matrices = [np.asarray(K) for K in matrices]
            if not matrices or len({K.shape for K in matrices}) > 1 or matrices[0].ndim != 2:
                shapes = sorted({K.shape for K in matrices})
                raise ValueError(f"matrices must be 2-D and of one shape, and there must be one; got shapes {shapes}")
            matrices = np.stack(matrices)
        if matrices.ndim != 3:
            raise ValueError(f"matrices has shape {matrices.shape}; a KernelStack is (M, n, n_train)")
        if matrices.dtype not in (np.float32, np.float64):
            matrices = matrices.astype(np.float64)
        self.matrices = np.ascontiguousarray(matrices)
        self.names = None if names is None else list(names)
        if self.names is not None and (len(self.names) != len(matrices) or len(set(self.names)) < len(self.names)):
            raise ValueError(f"names must be {len(matrices)} different names, one a kernel; got {self.names}")
        self.test_diagonals = None if test_diagonals is None else np.asarray(test_diagonals, float)
        if self.test_diagonals is not None and self.test_diagonals.shape != matrices.shape[:2]:
            raise ValueError(
                f"test_diagonals has shape {self.test_diagonals.shape}; it must be (M, n) = {matrices.shape[:2]}"
            )

    @property
    def shape(self):
        M, n, n_train = self.matrices.shape
        return n, n_train, M

    @property
    def dtype(self):
        return self.matrices.dtype

    def __len__(self):
        return self.matrices.shape[1]

    def __getitem__(self, index):
        rows, cols = index if isinstance(index, tuple) else (index, None)
        rows = np.asarray(rows) if not isinstance(rows, slice) else np.arange(len(self))[rows]
        if rows.dtype == bool:
            rows = np.flatnonzero(rows)
        rows = np.atleast_1d(rows).ravel()
        cut = self.matrices[:, rows] if cols is None else self.matrices[:, rows[:, None], _columns(cols, self)]
        diagonals = None if self.test_diagonals is None else self.test_diagonals[:, rows]
        return KernelStack(cut, self.names, diagonals)

    def __array__(self, dtype=None, copy=None):
        return np.moveaxis(self.matrices, 0, 2).astype(dtype or self.dtype, copy=bool(copy))

    def __repr__(self):
        return f"KernelStack(shape={self.shape}, dtype={self.dtype})"


def _columns(cols, stack):
    if isinstance(cols, slice):
        return np.arange(stack.shape[1])[cols]
    cols = np.asarray(cols)
    return np.flatnonzero(cols) if cols.dtype == bool else np.atleast_1d(cols).ravel()
