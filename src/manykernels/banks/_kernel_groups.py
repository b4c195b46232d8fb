"""Groups of kernels that share a base on one view, and the sides of blocks of kernels without a base."""

import copy

import numpy as np
from scipy.sparse import issparse

from .._packed import Packed
from .._state import check, check_is, check_value, read_entries
from ..kernels.frames import len_
from ..kernels.normalize import inverse_root
from ..kernels.pair_blocks import KINDS, BlockSide, PairBase, check_block
from ..kernels.tasks import ALL, SAME
from ..kernels.views import JoinedViews
from ._exponential_table import LOG2E

TRIAL_EXAMPLES = 16  # on which a kernel from a file is called
CHECKED_EXAMPLES = 5  # on which a kernel that is called is checked
OFF = 1e-3  # relative difference of two values of one kernel that rounding does not explain
KNOWN_BASES = {*KINDS, "same", None}  # bases that files may contain


# the entries of a side in files
SIDE = {"x": "any", "own": "f8 n", "square": "?f8 n", "factor": "?f8 M n", "task": "?i8 n <big >=-1"}


class KernelGroup:
    """The kernels `members`, which share a base on one view: it computes them from a base block.

    `task` is ALL, the number of the only task that they compare, or SAME: each task with itself, times `n_tasks`.
    """

    task, n_tasks = ALL, 1
    max_entries: int | None = None  # of separate kernels in one thread; None if it never sums all its kernels at once

    def __init__(self, view, kernels, members, X, dtype, task=ALL, n_tasks=1):
        self.view, self.members, self.task, self.n_tasks = view, np.array(members), task, n_tasks
        self.kernels = [kernels[m] for m in members]
        base = self.kernels[0].base
        pairs = {None: Called, "gram": Gram}.get(base)
        self.pairs = PairBase(base, X, dtype) if pairs is None else pairs(self.kernels[0], dtype)
        vars(self).update(self._read_forms(dtype))
        self.pairs.rate = float(self.rate.max()) if (self.degree == 0).all() else np.inf

    def _read_forms(self, dtype):
        """{attribute: value} of the attributes that follow from the kernels and the task."""
        base = self.kernels[0].base
        forms = [(1, 1.0, 0.0) if base is None else kernel.form() for kernel in self.kernels]
        forms = [None] * len(forms) if self.task == SAME else forms  # they also depend on the tasks
        forms = [None if form is None or form[0] < 0 or form[0] % 1 else form for form in forms]  # loops multiply
        generic = np.array([form is None for form in forms])
        forms = np.array([(1, 1.0, 0.0) if form is None else form for form in forms])
        degree, rate = forms[:, 0].astype(np.int64), -forms[:, 1]
        with np.errstate(over="ignore"):
            forms[degree == 0] *= LOG2E
        return {
            "generic": generic, "degree": degree, "rate": rate, "forms": forms, "g": forms[:, 1].astype(dtype),
            "c": forms[:, 2].astype(dtype), "exponential": (degree == 0) & (forms[:, 2] == 0),
            "tabular": base in ("sqdist", "l1", "chi2"),
        }  # fmt: skip

    def to_state(self):
        """The state of the group besides its kernels; see `_state`."""
        return self.pairs.to_state()

    @classmethod
    def from_state(cls, view, kernels, members, task, n_tasks, state):
        """The group, in float64, of these kernels and this state."""
        bases = {kernels[m].base for m in members}
        check(bases <= KNOWN_BASES, f"a base is {bases}")
        X = None if None in bases else PairBase.like(state)
        return cls(view, kernels, members, X, np.float64, task, n_tasks)

    def restore_side(self, state, n, width, reads):
        """The side of n examples from a file, or a ValueError; the view has `width` columns, None for strings."""
        kind = BlockSide if self.pairs.kind in (*KINDS, "same") else Rows
        side = kind(index=None, cache=None, **read_entries(SIDE, state, n=n, M=self.members.size))
        check(self.task != SAME or side.task is not None, "a side has no tasks")
        self._check_side(side, n, width, reads)
        return side

    def _check_side(self, side, n, width, reads):
        """Checks the examples of a side, since the loops trust their number."""
        kind, sizes = self.pairs.kind, {"n": n, "d": width}
        if kind == "same":
            check(side.x is None, "a side has examples that its kernels do not read")
        elif kind is None:
            check_rows(side.x, n, width, reads)
            try_kernel(self.kernels[0], side.x, n)
        else:
            check(width is not None, "a side has numbers, but its kernels read strings")
            sparse = issparse(side.x) and kind in ("dot", "sqdist")  # the other bases are dense
            check_value("x", side.x, "csr n d" if sparse else "f8 d n", sizes)
            check(kind not in ("chi2", "min") or side.x.min(initial=0) >= 0, "x has negative entries")
            check((side.square is None) == (kind != "sqdist"), "square does not belong to the base")
            check_value("centre", self.pairs.centre, "?f8 d", sizes)

    def subset(self, chosen, members):
        """The group of the chosen kernels, whose numbers become `members`."""
        part, own = object.__new__(type(self)), vars(self)
        forms = ("generic", "degree", "rate", "forms", "g", "c", "exponential")
        cut = {name: own[name][chosen] for name in forms}
        part.__dict__.update(own | cut, members=members, kernels=[self.kernels[m] for m in chosen])
        return part

    def fused(self, left, right):
        """Whether `add` and `products` sum all its kernels between two sides at once."""
        return False

    def in_type(self, dtype):
        """The same group in the arithmetic of this type."""
        group = copy.copy(self)
        group.g, group.c = (self.forms[:, k].astype(dtype) for k in (1, 2))
        group.pairs = copy.copy(self.pairs)
        group.pairs.dtype = np.dtype(dtype)
        return group

    def side(self, view, index=None, normalize=None, side=None, n_jobs=1):
        """The examples of a View prepared for this group's base, with the factors of its kernels' rows.

        `side` holds the examples if they are already prepared.
        """
        side = self.pairs.side(view.X, index, n_jobs) if side is None else side
        if view.present is None and self.task == ALL and normalize != "spherical":
            return side
        factor = np.ones((self.members.size, len_(view.X)))
        if view.present is not None:
            factor *= view.present
        if self.task >= 0:
            factor *= view.task == self.task
        if self.task == SAME:
            side.task = view.task
        if normalize == "spherical":
            scaled = [not kernel.exempt for kernel in self.kernels]
            own = self.diagonals(side)
            if np.isnan(own).any():
                raise ValueError(
                    f'normalize="spherical" needs k(x, x), which {self.kernels[0]!r} does not give for new examples: '
                    "take another normalisation."
                )
            with np.errstate(over="ignore", invalid="ignore"):
                factor[scaled] *= inverse_root(own)[scaled]
        if (factor != 1).any():
            side.factor = factor.astype(self.pairs.dtype)
        return side

    def codes(self, side):
        """(codes (n, L) int16, alphabet) if the side holds sequences of one length, else None."""
        return side.x.table() if isinstance(side.x, Packed) else None

    def diagonals(self, side):
        """k_m(x, x) before factors, (members, n) float64."""
        own = side.own.astype(np.float64)
        if self.pairs.kind is None:
            diagonals = own[None]
        else:
            diagonals = np.empty((len(self.kernels), len(own)))
            for kernel, out in zip(self.kernels, diagonals, strict=True):
                kernel.from_base(own, out, own, own)
        return diagonals if self.task != SAME else diagonals * (self.n_tasks * (side.task >= 0))

    def pieces(self, B, left, right, chosen):
        """Yields (block, chosen kernels that are a `form` of it): first B, then one block per generic kernel."""
        plain = chosen[~self.generic[chosen]]
        if plain.size:
            yield B, plain
        for m in chosen[self.generic[chosen]]:
            called = self.pairs.kind is None
            K = B.copy() if called else self.kernels[m].from_base(B, np.empty_like(B), left.own[:, None], right.own)
            if self.task == SAME:
                equal = (left.task[:, None] == right.task) & (right.task >= 0)
                K *= (self.n_tasks * equal).astype(K.dtype)
            yield K, np.array([m])

    def indefinite(self, ms, block, left, right):
        """Yields those of the kernels ms that violate |k(x, y)|² <= k(x, x) k(y, y) in the block.

        Examples with the factor 0, which lack the view or belong to another task, do not count.
        """
        for m in ms:
            if not self.kernels[m].psd:
                k = block
                if self.pairs.kind is not None and not self.generic[m]:
                    k = self.kernels[m].from_base(block, np.empty_like(block), left.own[:, None], right.own)
                bound = np.multiply.outer(np.abs(self.diagonals(left)[m]), np.abs(self.diagonals(right)[m]))
                above = k.astype(float) ** 2 > bound * (1 + 1e-3) + 1e-30
                if left.factor is not None:
                    above &= left.factor[m][:, None] != 0
                if right.factor is not None:
                    above &= right.factor[m] != 0
                if above.any():
                    yield self.members[m]

    def cost(self, chosen=slice(None), sums=1):
        """Estimated nanoseconds to sum an entry of its kernels `sums` times (reading a stored entry takes 0.5)."""
        if self.pairs.kind in (None, "gram"):
            return 20.0
        exponential = self.exponential[chosen]
        count, generic = np.add.reduce(exponential), np.add.reduce(self.generic[chosen])
        exponentials = min(1.2 * count, 3.0) if self.tabular else 1.2 * count
        return 0.5 + 3.0 * generic + sums * (exponentials + 0.7 * (exponential.size - count))

    def top(self, left, right):
        """An upper bound of the base between two sides."""
        if self.pairs.kind == "sqdist" and left.square is not None and left.square.size and right.square.size:
            return 1.001 * (np.sqrt(np.maximum.reduce(left.square)) + np.sqrt(np.maximum.reduce(right.square))) ** 2
        return np.inf

    def column(self, left, right):
        """(middle, half-width) of the interval of the column if the base is smooth on one dense column, else None."""
        if self.pairs.kind not in ("dot", "sqdist") or not isinstance(left.x, np.ndarray) or len(left.x) != 1:
            return None
        if not left.x.size or not right.x.size:
            return None
        (low, high), (least, most) = left.reach(), right.reach()
        low, high = min(low, least), max(high, most)
        # errors are relative to the largest value on the interval, so that a constant column has the narrowest one
        return (high + low) / 2, (high - low) / 2 * (1 + 1e-6) or float(np.finfo(float).tiny)


def grouped(kernel_list):
    """[(class, view, members, task)]: one group for each base, view and task, and for each `group` of kernels.

    A kernel that is called or fitted has its own group.
    """
    members, of = {}, zip(kernel_list.kernels, kernel_list.view_of, kernel_list.task_of, strict=True)
    for m, (kernel, view, task) in enumerate(of):
        kind = kernel.group or KernelGroup
        alone = m if kind is KernelGroup and kernel.base in (None, "gram") else -1
        members.setdefault((kind, int(view), kernel.base, alone, task), []).append(m)
    return [(kind, view, ms, task) for (kind, view, _, _, task), ms in members.items()]


def make_groups(kernel_list, views, dtype):
    """The groups of the kernels on these views."""
    n_tasks = 1 if kernel_list.tasks is None else len(kernel_list.tasks)
    return [
        kind(view, kernel_list.kernels, ms, views[view].X, dtype, task, n_tasks)
        for kind, view, ms, task in grouped(kernel_list)
    ]


class Called:
    """The block of a kernel without a base, which is called on the examples of the tile."""

    kind: str | None = None

    def __init__(self, kernel, dtype):
        self.kernel, self.dtype = kernel, np.dtype(dtype)

    def to_state(self):
        return {}

    def side(self, X, index=None, n_jobs=1):
        return Rows(X, np.asarray(self.kernel.diag(X), float).astype(self.dtype), None, index)

    def block(self, left, right, out, hits=None, plain=False):
        if left.cache is not None and right.cache is not None:
            return PairBase.block(self, left, right, out)  # reads the cache
        out[:] = check_block(self.kernel, self.kernel.between(left.x, right.x), out.shape)
        if hits is not None:
            out[hits] = left.own[hits[0]]
        return out


class Gram(Called):
    """The block of an object with fit_transform: rows of its Gram matrix, one column per training example."""

    kind = "gram"

    def side(self, X, index=None, n_jobs=1):
        if index is None:
            K = self.kernel.transform(X)
            return Rows(K.astype(self.dtype), np.full(len(K), np.nan, self.dtype), None, None)
        self.kernel = copy.copy(self.kernel)
        K = self.kernel.fit(X)
        if K.shape != (len_(X), len_(X)):
            raise ValueError(f"fit_transform of {self.kernel.transformer!r} returned {K.shape} for {len_(X)} examples.")
        return Rows(K.astype(self.dtype), np.diag(K).astype(self.dtype), None, index)

    def block(self, left, right, out, hits=None, plain=False):
        out[:] = left.x[:, right.index]
        return out


class Rows(BlockSide):
    """A side whose examples are the rows of an array or the items of a list x."""

    def take(self, rows, cached=True):
        x = None if self.x is None else rows_of(self.x, rows)
        factor = None if self.factor is None else self.factor[:, rows]
        index, task = (None if v is None else v[rows] for v in (self.index, self.task))
        return Rows(x, self.own[rows], None, index, factor, self.cache if cached else None, task)


def rows_of(x, rows):
    """Some examples of x."""
    return x[rows] if hasattr(x, "shape") else [x[i] for i in np.arange(len(x))[rows]]  # an array, or the user's list


def check_rows(x, n, width, reads):
    """Raises a ValueError unless x holds n examples: sequences, objects, or `width` numbers each.

    `width` is a list of (width, reads) for a `JoinedViews`.
    """
    if isinstance(width, list):
        check(len(check_is("x", x, JoinedViews).views) == len(width), "x and its kernels differ in their parts")
        for view, one in zip(x.views, width, strict=True):
            check_rows(view, n, *one)
        return
    if width is None:
        check(check_is("x", x, Packed).shape == (n,), f"x does not have {n} examples")
        return
    check(issparse(x) or isinstance(x, np.ndarray), f"x is of type {type(x).__name__}")
    if reads == "objects":
        check(x.dtype == object and x.shape[0] == n, f"x is {x.dtype} of shape {x.shape}, not {n} objects")
        return
    check(x.dtype.kind in "fiub" and x.shape == (n, width), f"x is {x.dtype} of shape {x.shape}, not {(n, width)}")


def try_kernel(kernel, x, n):
    """Calls a kernel from a file on some of the n examples x; an error means that they do not fit together."""
    rows = np.unique(np.linspace(0, n - 1, min(n, TRIAL_EXAMPLES)).astype(int))
    if isinstance(x, np.ndarray) and x.ndim == 2 and x.dtype.kind == "f" and n:
        rows = np.union1d(rows, x.min(axis=1).argmin())  # the example with the smallest entry, which may be negative
    if n:
        some = Rows(x, np.zeros(n), None, None).take(rows).x
        shape = np.asarray(kernel.between(some, some), dtype=np.float64).shape
        check(shape == (rows.size, rows.size), f"{type(kernel).__name__} gives {shape} for {rows.size} examples")


def check_called(kernel, side, present=None):
    """A ValueError if some values of a kernel depend on their order or their block, or differ from its `diag`.

    Examples that are not `present`, a mask, lack the view of the kernel.
    """
    rows = np.arange(side.own.size) if present is None else np.flatnonzero(present)
    if not len(rows):
        return
    some = side.take(rows[np.unique(np.linspace(0, len(rows) - 1, min(len(rows), CHECKED_EXAMPLES)).astype(int))])
    m = some.own.size
    K = np.asarray(check_block(kernel, kernel(some.x), (m, m)), float)
    row = check_block(kernel, kernel.between(some.take(np.arange(1)).x, some.x), (1, m))
    most = OFF * np.abs(K).max(initial=0)
    for what, value, other, why in (
        ("k(x, y)", K, K.T, "k(y, x): a kernel must be symmetric"),
        ("k(x, y)", row[0, 1:], K[0, 1:], "itself in a block with other examples: it may depend on x and y alone"),
        ("diag(x)", some.own, np.diag(K), "k(x, x)"),
    ):
        with np.errstate(invalid="ignore"):  # the bank reports values that are not finite
            wrong = np.argwhere(np.abs(value - other) > most)
        if len(wrong):
            at = tuple(wrong[0])
            raise ValueError(f"{kernel!r} has {what} = {value[at]:g}, which differs from {other[at]:g}, {why}.")


def merge_equal_sides(groups, sides):
    """The sides; groups that differ only in their tasks share one copy of the examples."""
    first = {}
    for group, side in zip(groups, sides, strict=True):
        if type(side) is BlockSide:
            twin = first.setdefault((group.view, group.pairs.kind), side)
            side.x, side.own, side.square = twin.x, twin.own, twin.square
    return sides


def data_of(side):
    """The arrays that hold the examples of a side."""
    x = side.x
    parts = (x.data, x.indices, x.indptr) if issparse(x) else (x,)
    return [part for part in parts if hasattr(part, "nbytes")]  # a user's list has none


def arrays_of(side):
    """All arrays of a side."""
    return [*data_of(side), *(a for a in (side.own, side.square, side.factor, side.cache) if a is not None)]


def nbytes(arrays):
    """Bytes of these arrays, each counted once."""
    return sum(array.nbytes for array in {id(array): array for array in arrays}.values())
