"""Kernels of words at positions, with or without shifts, as explicit features in tries with shared prefixes.

    k_m(x, y) = Σ_{l, p} Σ_k coef_m[|p − l|, min(p, l), k−1] · [x[p:p+k] = y[l:l+k]]

It takes any list of Degree, WeightedDegree and WeightedDegreeShift. Linadd (Sonnenburg et al. 2006, sections 3.2 and
3.3): one store for each position l holds v[l][word] = Σ_i a_i [x_i[l:l+|word|] = word], without coefficients, so that
all kernels share it. A look-up of x walks down the stores of l − S … l + S with its word at l. The stores hold only
words of examples that were added since the last clear. Unlike in the paper, a table holds words of a few letters, a run
without a branch is one node, and the look-up handles shifts, where the paper adds each word 2 S + 1 times.
"""

from copy import copy

import numpy as np

from ..._limits import MemoryBudget
from ..._state import check, check_value
from ..._threads import n_threads, run_blocks, slices
from ...kernels.normalize import inverse_root, kind_of
from ...strings.base import check_alike, check_length
from ...strings.planes import planes
from ..explicit import ExplicitBank, Vectors, diagonals, len_of
from ._trie_stores import TRIE_LANES, Store, TrieGroup, letters

PACKED_ROWS = 4096  # sequences packed at a time
MIN_ROWS = 128  # looked up by a thread
NO_CELLS = np.empty(0, np.int64)


class TrieBank(ExplicitBank):
    """`groups` is a list of `TrieGroup`s: kernels of one view that share stores."""

    file_tag = ("bank/trie", 1)
    saved = ExplicitBank.of_words | {"shared as shared_stores": "list _ dict"}
    by_words = True

    def __init__(self, kernels, X, tables, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=1):
        self.hold(kernels, kernels.views(X), n_jobs, memory_limit)
        self.own = self._sizes(tables)
        self.root = inverse_root(self.own) if kind_of(normalize) == "spherical" else None
        self.groups, self.planes = self._group(tables, memory_limit), {}
        self.normalise(weights, normalize)

    @classmethod
    def from_list(cls, kernels, X, **options):
        """The bank of a `KernelList`; None if a kernel has another family."""
        views, tables = kernels.views(X), []
        for kernel, view in zip(kernels.kernels, kernels.view_of, strict=True):
            if kernel.family == "degree":
                tables.append(kernel.degree_table(views[view].X.length)[None])
            elif kernel.family == "shift":
                tables.append(kernel.shift_table(views[view].X.length))
            else:
                return None
        return cls(kernels, X, tables, **options)

    def _sizes(self, tables):
        """k_m(x_i, x_i); without shifts and unknown letters, the sum of all coefficients."""
        own = np.empty((self.n, self.M))
        for m, (kernel, view) in enumerate(zip(self.kernels.kernels, self.kernels.view_of, strict=True)):
            X = self.views[view].X
            own[:, m] = tables[m].sum() if len(tables[m]) == 1 and X.bits == 2 else kernel.diag(X)
        return own

    def _group(self, tables, memory_limit):
        """Groups the kernels of one view whose roots, if any, are proportional."""
        members = {}
        for m, view in enumerate(self.kernels.view_of):
            row_factor, factor = None, 1.0
            if self.root is not None:
                factor = self.root[:, m].max() or 1.0
                row_factor = self.root[:, m] / factor
            key = view, None if row_factor is None else row_factor.tobytes()
            members.setdefault(key, (row_factor, [], []))
            members[key][1].append(m)
            members[key][2].append(factor)
        limit = MemoryBudget(memory_limit).share("tables of words") // len(members)
        return [
            TrieGroup(view, self.views[view].X.alphabet, which, [tables[m] for m in which], row_factor, factors, limit)
            for (view, _), (row_factor, which, factors) in members.items()
        ]

    def square_mean(self, w):
        def squares(lane):
            vectors = TrieVectors(self, [lane])
            vectors.add(np.arange(self.n), np.zeros(self.n), w)
            return vectors.q

        # lane by lane, since the words of all examples may not fit
        return np.sum(run_blocks(squares, range(TRIE_LANES), self.n_jobs), axis=0)

    @property
    def shared_stores(self):
        """The states of the groups."""
        return [group.to_state() for group in self.groups]

    def check_state(self):
        super().check_state()
        self.planes, M = {}, self.M
        self.groups = [TrieGroup.from_state(own) for own in vars(self).pop("shared_stores")]
        for group in self.groups:
            check_value("which", group.which, "i8 _ <M", {"M": M})
            check((self.kernels.view_of[group.which] == group.view).all(), "shared has kernels of another view")
            check((group.row_factor is None) == (self.root is None), "share and spherical contradict each other")
            group.look_at(self.views[group.view].X)
        check_value("which", np.sort(np.concatenate([group.which for group in self.groups])), "i8 M asc", {"M": M})

    def vectors(self):
        return TrieVectors(self)

    def products(self, A, support, rows=None, kernels=None):
        """By pairs for a small support: words of many letters are rarely shared, and comparing bits finds them all."""
        if not all(group.compares(len(support)) for group in self.groups):
            return super().products(A, support, rows, kernels)
        out = np.empty((len(A), self.M, self.n if rows is None else len(rows)))
        for group in self.groups:
            own, by_row = group.row_factors(support), group.row_factors(slice(None) if rows is None else rows)
            a = np.atleast_2d(np.asarray(A, dtype=float)) * (1.0 if own is None else own)
            left, right = (self._planes(group.view, which) for which in (rows, support))
            found = group.pair_products(left, right, a, self.n_jobs)
            found *= (self.scale[group.which] * group.factor**2)[:, None]
            out[:, group.which] = found if by_row is None else found * by_row
        return out if kernels is None else out[:, kernels]

    def _summed(self, A, support):
        vectors, own = self.vectors(), np.zeros(self.n)
        for a in A:
            vectors.clear()
            vectors.put(support, a)
            own[support] = a
            yield vectors, own

    def _planes(self, view, rows):
        """The bit planes of these rows; those of all rows are kept where they fit."""
        X = self.views[view].X
        if view not in self.planes:
            size = len(X) * planes(X[:1]).nbytes
            if size > MemoryBudget(self.memory_limit).share("values of words"):
                return planes(X if rows is None else X[rows])
            self.planes[view] = planes(X)
        return self.planes[view] if rows is None else self.planes[view][rows]

    def take(self, support):
        part = super().take(support)
        part.groups, part.planes = [copy(group) for group in self.groups], {}
        for group in part.groups:
            group.row_factor = group.row_factors(support)
        return part

    def block(self, rows, theta):
        K = np.zeros((len(rows), len(rows)))
        for group in self.groups:
            weight = group.weight(theta * self.scale)
            if weight.any():
                found = group.block(self._planes(group.view, rows), weight, self.n_jobs)
                by_row = group.row_factors(rows)
                K += found if by_row is None else found * by_row[:, None] * by_row
        return K


class TrieVectors(Vectors):
    """A list of stores for each group of kernels, for the positions of these `lanes`."""

    def __init__(self, bank, lanes=range(TRIE_LANES)):
        self.bank, self.q, self.zero = bank, np.zeros(bank.M), True
        self.stores = [[Store(group, lane) for lane in lanes] for group in bank.groups]

    def clear(self):
        self.q, self.zero = np.zeros(self.bank.M), True
        for stores in self.stores:
            for store in stores:
                store.clear()

    def add(self, rows, before, delta):
        """q_m grows by δ'(parts before + parts after) = 2 δ'(parts half-way); from zero it is δ'(parts after)."""
        keep = np.flatnonzero(delta)
        if not len(keep):
            return
        rows, delta = np.asarray(rows)[keep], np.asarray(delta, dtype=float)[keep]
        if self.zero:
            self.put(rows, delta)
            self.q, self.zero = self._products(rows, delta), False
        else:
            self.put(rows, 0.5 * delta)
            self.q += 2 * self._products(rows, delta)
            self.put(rows, 0.5 * delta)

    def _products(self, rows, delta):
        """Σ_r delta_r ⟨v_m, φ_m(x_r)⟩, (M,)."""
        starts = range(0, len(rows), PACKED_ROWS)
        return sum(delta[s : s + PACKED_ROWS] @ self.parts(rows[s : s + PACKED_ROWS], None) for s in starts)

    def put(self, rows, delta):
        """`add` without q."""
        bank = self.bank
        for group, stores in zip(bank.groups, self.stores, strict=True):
            X, by_row = bank.views[group.view].X, group.row_factors(rows)
            step = delta if by_row is None else delta * by_row
            for start in range(0, len(rows), PACKED_ROWS):
                what = *group.pack(X[rows[start : start + PACKED_ROWS]]), step[start : start + PACKED_ROWS]
                run_blocks(lambda store, what=what: store.add(*what), stores, bank.n_jobs)

    def outputs(self, rows, theta, a):
        out = np.zeros(len(rows))
        for group, stores in zip(self.bank.groups, self.stores, strict=True):
            X, by_row = self.bank.views[group.view].X[rows], group.row_factors(rows)
            found = self._look_up(group, stores, X, group.weight(theta * self.bank.scale))[:, 0]
            out += found if by_row is None else found * by_row
        return out

    def parts(self, rows, a):
        out = np.empty((len(rows), self.bank.M))
        for group, stores in zip(self.bank.groups, self.stores, strict=True):
            X, by_row = self.bank.views[group.view].X[rows], group.row_factors(rows)
            found = self._look_up(group, stores, X) * (self.bank.scale[group.which] * group.factor**2)
            out[:, group.which] = found if by_row is None else found * by_row[:, None]
        return out

    def at(self, views, theta=None):
        bank, folded = self.bank, theta is not None and self.bank.root is None
        out = np.zeros(len_of(views) if folded else (len_of(views), bank.M))
        for group, stores in zip(bank.groups, self.stores, strict=True):
            X = views[group.view].X
            check_alike(X.alphabet, group.alphabet)
            check_length(X, group.shape[1])
            if folded:
                out += self._look_up(group, stores, X, group.weight(theta * bank.scale))[:, 0]
            else:
                out[:, group.which] = self._look_up(group, stores, X) * (bank.scale[group.which] * group.factor)
        if bank.root is not None:
            out *= inverse_root(diagonals(bank.kernels, views))
        return out if folded or theta is None else out @ theta

    def _look_up(self, group, stores, X, weight=None):
        """Σ weight · value of the words of X, (n, 1), or without weight the sum of every kernel, (n, M)."""
        if weight is None and len(group.which) == 1:
            weight = group.cells.toarray().reshape(group.shape)
        if weight is None:
            cells = (at.astype(np.int64, copy=False) for at in (group.cells.indptr, group.cells.indices))
            how = group.deep, np.zeros(group.shape), *cells, group.cells.data
        else:
            how = letters(weight), weight, NO_CELLS, NO_CELLS, np.empty(0)

        def some(rows):
            what = *group.pack(X[rows]), *how
            return np.sum([store.look_up(*what) for store in stores], axis=0)

        parts = max(1, -(-len(X) // PACKED_ROWS), min(n_threads(self.bank.n_jobs), len(X) // MIN_ROWS))
        return np.concatenate(run_blocks(some, slices(len(X), parts), self.bank.n_jobs))
