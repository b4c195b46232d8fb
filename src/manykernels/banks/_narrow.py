"""Exponentials of many views of a few columns each: one loop goes through all views of a tile.

Called view by view, the way into compiled code would cost as much as the sums of a small tile, on one core at a time.
"""

import numpy as np

from ..kernels._pairs import _KINDS, is_narrow


class NarrowViews:
    """Views of one base whose kernels come from tables, one sum or more for each."""

    def __init__(self, kind):
        self.kind, self.left, self.right, self.tables, self.cells = _KINDS[kind], [], [], [], []

    @staticmethod
    def takes(group, left, right):
        """Whether the base of the group between two sides is quick to compute and exact at equal examples."""
        return group.tabular and left.cache is None and is_narrow(left.x) and is_narrow(right.x)

    def append(self, left, right, tables, delta, first):
        """One more view: its sides, tables (T, cells, terms) and where their cells are."""
        self.left.append(left.x)
        self.right.append(right.x)
        self.tables.append(tables)
        self.cells.append((tables.shape[1], delta, first))

    def ready(self):
        """Lays the views side by side."""
        self.start = np.cumsum([0, *(len(x) for x in self.left)])
        self.left, self.right = np.concatenate(self.left), np.concatenate(self.right)
        size, delta, first = zip(*self.cells, strict=True)
        self.cells = np.array(size), np.array(delta, self.left.dtype), np.array(first)
        width = max(size)
        self.tables = np.stack([np.pad(t, ((0, 0), (0, width - t.shape[1]), (0, 0))) for t in self.tables], axis=1)

    def add(self, total, rows, cols):
        """Adds all views to a tile (T, rows, cols)."""
        from ..loops.elementwise import tabulate_views

        X, Y = np.ascontiguousarray(self.left[:, rows]), np.ascontiguousarray(self.right[:, cols])
        for sums, tables in zip(total, self.tables, strict=True):
            tabulate_views(self.kind, X, Y, self.start, tables, *self.cells, sums)
