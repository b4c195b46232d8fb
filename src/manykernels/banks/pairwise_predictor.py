"""Prediction with kernels computed on the fly, and functions that their bank shares."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
from scipy.sparse import csr_array, issparse

from .._state import check_integer
from ..kernels.normalize import check_normalize
from ..kernels.pair_blocks import BlockSide
from ..kernels.tasks import ALL, split
from ..kernels.view_data import View, n_examples
from ..sequences import Sequences
from ._degree_walks import WalkTiles, grouped
from ._kernel_groups import merge_equal_sides
from .base import Predictor, each_output
from .words.linadd import AT_ANY_PLACE, WordBank
from .words.tables import TableBank, fits_tables, pair_seconds, table_seconds

TILES = ("scale", "mean", "n_jobs", "budget")
MAX_KEPT_BYTES = 2**28  # of values of words that stay for the next call


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
            elif isinstance(side.x, Sequences):  # which share the storage of all sequences
                side.x = side.x.compact()
            self.sides.append(side.double(group.pairs.kind))
        self.sides = merge_equal_sides(groups, self.sides)
        self.tiles = WalkTiles(
            groups, np.dtype(np.float64), bank.scale, bank.tiles.mean, bank.n_jobs, bank.tiles.budget
        )

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
        self.tiles = WalkTiles(groups, np.dtype(np.float64), *options)

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
        """(`WordSums` of the kernels on words with weight, theta of the others); X is new data that are asked once."""
        if self._word_sums is None:
            found = self.kernel_list, self.tiles.groups, self.sides, self.normalize, self.tiles.scale, self.tiles.n_jobs
            self._word_sums = word_sums(*found)
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
        return found[0] if isinstance(found[0], Sequences) else None

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


class WordSums:
    """The kernels `members` of a list, on words of one view, between new data and the support X.

    They are computed from the sums of the words of the support, and not by pairs.

    factor : array (|members|, n), None for 1: those of spherical normalisation
    """

    def __init__(self, kernel_list, members, X, factor, scale, n_jobs):
        self.members, self.kernels = members, kernel_list.part(members)
        views = [View(X, None)]
        kind = TableBank if fits_tables(self.kernels, views, None) else WordBank
        if kind is WordBank and any(kernel.window_weights(1) is not None for kernel in self.kernels.kernels):
            raise ValueError("the stores of words have no weights of windows")
        root = None if factor is None else np.ascontiguousarray(factor.T)
        self.bank = kind.of_support(self.kernels, views, root, scale[members], n_jobs)
        self.kept = None  # the last A, and its vectors

    def _vectors(self, A):
        """The vectors of each row of A, one at a time where all do not fit in memory."""
        last = self.kept  # read once: another thread may replace it
        if last is not None and np.array_equal(last[0], A):
            return last[1]
        size = len(A) * self.bank.vectors().nbytes
        found = map(self.bank.vectors_of, A)
        if size > MAX_KEPT_BYTES:
            return found
        found = list(found)
        self.kept = A.copy(), found
        return found

    def dear(self, X, T):
        """Whether tables of all words for T functions cost more than the pairs of X, which all functions share."""
        if not isinstance(self.bank, TableBank):
            return False
        new, own, kernels = self.kernels.views(X)[0].X, self.bank.views[0].X, self.kernels.kernels
        letters = 0 if new is None else max(new.lengths.mean(), own.lengths.mean())
        return new is None or len(new) * len(own) * pair_seconds(kernels, letters) < T * table_seconds(kernels)

    def parts(self, X, A, theta):
        """θ_tm K_m(X, support) @ A[t], (T, n_new, |members|), for theta (T, |members|)."""
        each = self._at(X, A, [None] * len(A), (len(self.members),))
        return each * theta[:, None, :]

    def decision(self, X, A, theta):
        """Σ_m θ_tm K_m(X, support) @ A[t], (T, n_new); kernels without weight are not looked up."""
        return self._at(X, A, theta, ())

    def _at(self, X, A, thetas, shape):
        view, *_ = views = self.kernels.views(X)
        if view.X is None:
            return np.zeros((len(A), view.present.size, *shape))
        pairs = zip(self._vectors(A), thetas, strict=True)
        found = np.array([vectors.at(views, theta) for vectors, theta in pairs])
        return found if view.present is None else found * view.present.reshape(-1, *(1 for _ in shape))


def word_sums(kernel_list, groups, sides, normalize, scale, n_jobs):
    """`WordSums` of those groups of kernels, with their support in `sides`, that are on words at any place."""
    found = []
    for group, side in zip(groups, sides, strict=True):
        spherical = side.factor is not None
        if (
            {kernel.family for kernel in group.kernels} <= set(AT_ANY_PLACE)
            and group.task == ALL
            and len(side.x)
            and spherical == (normalize == "spherical")
        ):
            with suppress(ValueError):  # words that the stores cannot hold are compared by pairs
                found.append(WordSums(kernel_list, group.members, side.x, side.factor, scale, n_jobs))
    return found
