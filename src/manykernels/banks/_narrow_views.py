"""Kernels of many views with few columns each: one loop goes through all views of a tile.

A call per view would cost as much as the sums of a small tile, and block the other threads in Python.
"""

import numpy as np

from ..kernels.pair_blocks import KINDS, is_narrow


class NarrowViews:
    """T sums of kernels of many views of one base, by tables, by their forms, or both."""

    def __init__(self, kind):
        self.kind, self.views = KINDS[kind], []

    @staticmethod
    def takes(group, chosen, left, right):
        """Whether the base of the group between two sides is fast to compute and exact at equal examples."""
        plain = group.tabular and not group.generic[chosen].any() and left.cache is None
        return plain and is_narrow(left.x) and is_narrow(right.x)

    def append(self, left, right, table, forms, weights):
        """Adds a view: its sides, (tables (T, cells, terms), delta, first) or None, (degree, g, c, shift) of the
        other kernels and their weights (T, kernels)."""
        self.views.append((left.x, right.x, table, forms, weights))

    def ready(self):
        """Puts the views side by side."""
        from ..loops.elementwise import ViewBounds

        left, right, tables, forms, weights = zip(*self.views, strict=True)
        dtype, T = left[0].dtype, len(weights[0])
        self.left, self.right = np.concatenate(left), np.concatenate(right)
        terms = max((table[0].shape[2] for table in tables if table is not None), default=4)
        tables = [(np.empty((T, 0, terms), dtype), 1, 0) if table is None else table for table in tables]
        cells, delta, first = zip(*tables, strict=True)
        self.tables, self.delta, self.first = np.concatenate(cells, axis=1), np.array(delta, dtype), np.array(first)
        sizes = [len(x) for x in left], [table.shape[1] for table in cells], [w.shape[1] for w in weights]
        self.bounds = ViewBounds(*(np.cumsum([0, *size]) for size in sizes))
        self.forms = tuple(np.concatenate(part) for part in zip(*forms, strict=True))
        self.weights = np.concatenate(weights, axis=1).astype(dtype)[:, :, None]
        self.views = []

    def add(self, total, rows, cols):
        """Adds all views to a tile (T, rows, cols)."""
        from ..loops.elementwise import add_views

        X, Y = np.ascontiguousarray(self.left[:, rows]), np.ascontiguousarray(self.right[:, cols])
        for sums, tables, weights in zip(total, self.tables, self.weights, strict=True):
            view = self.bounds, tables, self.delta, self.first, self.forms
            add_views(self.kind, X, Y, *view, weights, sums)
