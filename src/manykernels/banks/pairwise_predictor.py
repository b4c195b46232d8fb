"""Prediction with kernels computed on the fly, and functions that their bank shares."""

from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, issparse

from .._packed import Packed
from .._state import check_integer
from ..kernels.normalize import check_normalize
from ..kernels.pair_blocks import BlockSide
from ..kernels.tasks import split
from ..kernels.view_data import n_examples
from ._kernel_groups import grouped, merge_equal_sides
from ._tiled_sums import Tiles
from .base import Predictor, each_output
from .holders import HOLDERS, Holder

TILES = ("scale", "mean", "n_jobs", "budget")


class PairwisePredictor(Predictor):
    """The kernels between new data and the support examples of a PairwiseBank.

    In float64, so that the prediction of an example does not depend on its batch.
    """

    file_tag = ("predictor/pairwise", 1)
    saved = {
        "kernels as kernel_list": "KernelList M", "normalize": "any", "n_support": "int 0", "scale": "f8 M",
        "mean": "f8 M", "n_jobs": "jobs", "budget": "?int 1", "data": "list _ dict", "groups": "list _ dict",
    }  # fmt: skip
    skips = True
    device: str | None = None  # of PyTorch; decisions use it if it is available. Files do not contain it
    _word_sums: list | None = None  # made by the first decision, and not kept in files

    def __init__(self, bank, support):
        self.kernel_list, self.normalize, self.n_support = bank.kernel_list, bank.normalize, support.size
        double = bank.dtype == np.float64
        groups, self.sides = bank.groups if double else [group.in_type(np.float64) for group in bank.groups], []
        for side, group in zip(bank.sides, groups, strict=True):
            side = side.take(support, cached=False)
            if group.pairs.kind == "gram":
                side.x = None
            elif isinstance(side.x, Packed):  # which share the storage of all sequences
                side.x = side.x.compact()
            self.sides.append(side.double(group.pairs.kind))
        self.sides = merge_equal_sides(groups, self.sides)
        self.tiles = Tiles(groups, np.dtype(np.float64), bank.scale, bank.tiles.mean, bank.n_jobs, bank.tiles.budget)

    @property
    def scale(self):
        return self.tiles.scale

    def sizes(self):
        return self.n_support, self.tiles.scale.size

    def to_state(self):
        data, number, groups = [], {}, []
        for group, side in zip(self.tiles.groups, self.sides, strict=True):
            at = number.setdefault(id(side.own), len(data))  # groups that differ only in tasks share the examples
            if at == len(data):
                data.append({"x": side.x, "own": side.own, "square": side.square})
            groups.append(group.to_state() | {"data": at, "factor": side.factor, "task": side.task})
        tiles = {name: getattr(self.tiles, name) for name in TILES}
        own = {"kernels": self.kernel_list, "normalize": self.normalize, "n_support": self.n_support}
        return own | tiles | {"data": data, "groups": groups}

    def check_state(self):
        own, kernels = vars(self), self.kernel_list
        data, states, options = own.pop("data"), own.pop("groups"), [own.pop(name) for name in TILES]
        check_normalize(self.normalize)
        n_tasks, widths, reads = 1 if kernels.tasks is None else len(kernels.tasks), kernels.widths, kernels.reads
        groups, self.sides = [], []
        for (kind, view, members, task), state in zip(grouped(kernels), states, strict=True):
            group = kind.from_state(view, kernels.kernels, members, task, n_tasks, state)
            side = data[check_integer("data", state["data"], 0, len(data) - 1)] | state
            self.sides.append(group.restore_side(side, self.n_support, widths[view], reads[view]))
            groups.append(group)
        self.tiles = Tiles(groups, np.dtype(np.float64), *options)

    def _new(self, X, wanted, index=None):
        """(the sides of new data for the groups with a wanted kernel, the number of examples)."""
        active = self.tiles.active(wanted)
        views = self.kernel_list.views(X, {group.view for _, group, _ in active})
        sides = [None] * len(self.tiles.groups)
        for i, group, _ in active:
            if group.pairs.kind == "gram" and (self.normalize == "spherical" or index is not None):
                raise ValueError(f"{group.kernels[0].transformer!r} gives no kernel between two new examples.")
            sides[i] = self._side(i, group, views[group.view], index)
        return sides, n_examples(split(X)[0])

    def _side(self, i, group, view, index):
        """The side of new data for group i, sparse or dense like the support."""
        own = self.sides[i]
        if view.X is None:  # any placeholder will do, since the factors are 0
            if group.pairs.kind == "gram" or not self.n_support:
                raise ValueError(f"X lacks all examples of {group.kernels[0]!r}: give some.")
            factor = np.zeros((group.members.size, view.present.size))
            return replace(own.take(np.zeros(view.present.size, int)), index=index, factor=factor, task=view.task)
        if issparse(own.x) and not issparse(view.X):
            view = view._replace(X=csr_array(view.X))
        elif issparse(view.X) and isinstance(own.x, np.ndarray):
            view = view._replace(X=view.X.toarray())
        return group.side(view, index, self.normalize)

    def combined(self, X, theta):
        theta = np.asarray(theta, float)
        left, n = self._new(X, theta * self.tiles.scale != 0)
        return self._gram(left, self.sides, theta, n, self.n_support)

    def gram(self, X, Y=None, theta=None):
        theta = np.asarray(theta, float)
        wanted = theta * self.tiles.scale != 0
        left, n = self._new(X, wanted, np.arange(n_examples(split(X)[0])) if Y is None else None)
        right, m = (left, n) if Y is None else self._new(Y, wanted)
        if any(group.pairs.kind == "gram" for _, group, _ in self.tiles.active(wanted)):
            raise ValueError("An object with fit_transform has no kernel between two new data sets.")
        return self._gram(left, right, theta, n, m)

    def diagonal(self, X, theta):
        theta, n = np.asarray(theta, float) * self.tiles.scale, n_examples(split(X)[0])
        sides, total = self._new(X, theta != 0, np.arange(n))[0], np.zeros(n)
        for i, group, chosen in self.tiles.active(theta != 0):
            own = group.diagonals(sides[i])[chosen]
            factor = 1.0 if sides[i].factor is None else sides[i].factor[chosen] ** 2
            total += theta[group.members[chosen]] @ (own * factor)
        return total

    def support_gram(self, theta):
        theta = np.asarray(theta, float)
        if any(group.pairs.kind == "gram" for _, group, _ in self.tiles.active(theta * self.tiles.scale != 0)):
            return None
        return self._gram(self.sides, self.sides, theta, self.n_support, self.n_support)

    def _gram(self, left, right, theta, n, m):
        out = np.empty((n, m), self.tiles.dtype)
        self.tiles.weighted(left, right, theta[None], n, m, writer(out[None]))
        return out

    def __getstate__(self):
        return {name: value for name, value in vars(self).items() if name != "_word_sums"}

    def _words(self, theta, X=None):
        """(the sums of the kernels on words with weight, theta of the others); X is new data that are asked once."""
        if self._word_sums is None:
            how = self.normalize, self.tiles.scale, self.tiles.n_jobs
            found = [
                HOLDERS.get(group.kernels[0].family, Holder()).sums(self.kernel_list, group, side, *how)
                for group, side in zip(self.tiles.groups, self.sides, strict=True)
            ]
            self._word_sums = [sums for sums in found if sums is not None]
        used = [sums for sums in self._word_sums if (theta * self.tiles.scale)[:, sums.members].any()]
        used = [sums for sums in used if X is None or not sums.dear(X, len(theta))]
        rest = theta.copy()
        for sums in used:
            rest[:, sums.members] = 0.0
        return used, rest

    def by_pairs(self, theta):
        """The weights (T, M) of the kernels that compare new examples with each support example; 0 for the others."""
        return self._words(np.atleast_2d(np.asarray(theta, float)))[1]

    def decision(self, X, A, theta):
        A, theta = np.atleast_2d(np.asarray(A, float)), np.atleast_2d(np.asarray(theta, float))
        words, rest = self._words(theta)
        found = [sums.decision(X, A, each_output(A, theta)[1][:, sums.members]) for sums in words]
        if (rest * self.tiles.scale).any() or not found:
            found.append(self._by_pairs(X, A, rest))
        return sum(found)

    def _by_pairs(self, X, A, theta):
        left, n = self._new(X, (theta * self.tiles.scale != 0).any(axis=0))
        if self.device is not None:
            from ._device_parts import decide_there

            found = decide_there(self, left, A, theta, n)
            if found is not None:
                return found
        return decide(self.tiles, left, self.sides, A, theta, n)

    def parts(self, X, A, theta):
        A, theta = each_output(A, theta)
        words, rest = self._words(theta, X if self.once else None)
        wanted = (rest * self.tiles.scale != 0).any(axis=0)
        left, n = self._new(X, wanted)
        kernels = np.flatnonzero(wanted)
        result = np.zeros((len(A), n, theta.shape[1]))
        if len(kernels):
            result[:, :, kernels] = self.tiles.products(left, self.sides, A, n, kernels).transpose(0, 2, 1)
        result *= theta[:, None, :]
        for sums in words:
            result[:, :, sums.members] = sums.parts(X, A, theta[:, sums.members])
        return result

    def support_data(self):
        """The examples of each group of kernels, (columns, n) for numbers."""
        return [side.x for side in self.sides]

    def expansion(self, m, A):
        for group, side in zip(self.tiles.groups, self.sides, strict=True):
            if m in group.members and side.x is not None:
                at = int(np.flatnonzero(group.members == m)[0])
                B = A * (self.tiles.scale[m] * (1.0 if side.factor is None else side.factor[at]))
                by_column = type(side) is BlockSide and isinstance(side.x, np.ndarray)
                Z = side.x.T if by_column else side.x
                return (
                    group.kernels[at],
                    Z + group.pairs.centre if by_column and group.pairs.centre is not None else Z,
                    B,
                )
        return None

    def support_sequences(self, m):
        found = [side.x for group, side in zip(self.tiles.groups, self.sides, strict=True) if m in group.members]
        return found[0] if isinstance(found[0], Packed) else None

    def support_codes(self):
        return self.tiles.groups[0].codes(self.sides[0])

    def row_factors(self):
        if all(side.factor is None for side in self.sides):
            return None
        factors = np.ones((self.tiles.scale.size, self.n_support))
        for group, side in zip(self.tiles.groups, self.sides, strict=True):
            factors[group.members] = 1.0 if side.factor is None else side.factor
        return factors

    def coefficients(self, A, theta):
        for group, side in zip(self.tiles.groups, self.sides, strict=True):
            for k, m in enumerate(group.members):
                a = A if side.factor is None else A * side.factor[k]
                w = (side.x.T @ a.T).T if issparse(side.x) else a @ side.x.T
                yield m, w * (theta[:, m] * self.tiles.scale[m])[:, None]


def take(sides, rows, active):
    """The sides of some examples, None for all; inactive groups get None."""
    taken = [None] * len(sides)
    for i, _, _ in active:
        taken[i] = sides[i] if rows is None else sides[i].take(np.asarray(rows))
    return taken


def decide(tiles, left, right, A, theta, n_rows):
    """Σ_m θ_tm K_m @ A[t] between two lists of sides, (T, n_rows); theta is (1, M) or (T, M)."""
    found, total = [], np.zeros((len(A), n_rows))

    def emit(r0, r1, c0, c1, blocks):
        part = [blocks[t if len(blocks) > 1 else 0] @ a[c0:c1] for t, a in enumerate(A)]
        found.append((c0, r0, r1, np.array(part)))

    tiles.weighted(left, right, theta, n_rows, A.shape[1], emit)
    for _, r0, r1, part in sorted(found, key=lambda one: one[:2]):  # threads finish in any order
        total[:, r0:r1] += part
    return total


def writer(out, symmetric=False, layers=None):
    """An `emit` that writes tiles into out (layers, rows, cols), and their transposes if `symmetric`."""

    def emit(r0, r1, c0, c1, blocks):
        for layer, block in zip(range(len(out)) if layers is None else layers, blocks, strict=True):
            out[layer, r0:r1, c0:c1] = block
            if symmetric and c1 > r1:
                c = max(c0, r1)
                out[layer, c:c1, r0:r1] = block[:, c - c0 :].T

    return emit
