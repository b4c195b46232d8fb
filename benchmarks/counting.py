"""A bank that counts the kernel entries a solver reads; a pass is M n² of them."""

import numpy as np

from manykernels.banks import DenseBank


class CountingBank(DenseBank):
    """A `DenseBank` with `entries`, those read so far; of a symmetric block the upper half is read."""

    def __init__(self, X, **options):
        self.counter = [0.0]
        super().__init__(X, **options)

    @property
    def passes(self):
        return self.counter[0] / (self.M * float(self.n) ** 2)

    def count(self, entries):
        self.counter[0] += entries

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        height, width = (self.n if index is None else len(index) for index in (rows, cols))
        same = rows is cols or (rows is not None and cols is not None and np.array_equal(rows, cols))
        self.count(np.count_nonzero(theta) * height * width * (0.5 if same else 1.0))
        return super().combined(theta, rows, cols, dtype, shifted)

    def products(self, A, support, rows=None, kernels=None):
        height = self.n if rows is None else len(rows)
        half = not self.stack.last and height == len(support) and np.array_equal(rows, support)
        self.count((self.M if kernels is None else len(kernels)) * height * len(support) * (0.5 if half else 1.0))
        return super().products(A, support, rows, kernels)

    def restrict(self, rows, kernels=None):
        small = super().restrict(rows, kernels)
        if small is not None:
            self.count(small.M * float(small.n) ** 2)
            small.__class__, small.counter = CountingBank, self.counter
        return small
