"""Predictions with fewer operations: some of the support examples, float32, entries that are not 0, tables that stay.

A prediction of M kernels on one view computes, for each of n support examples, one pairwise quantity B (2d operations
for a distance or a product of d columns) and M functions of it. Here

* kernels of one product alone, Σ_i a_i ⟨x, z_i⟩ = ⟨x, Σ_i a_i z_i⟩, need the support only once;
* B takes 2 operations for each entry of x that is not 0, if x has few of them;
* exponentials of one base are one look-up in a table of their weighted sum, whether there are few examples or many.
"""

import copy
from dataclasses import replace

import numpy as np
from scipy.linalg import cho_solve, cholesky
from scipy.linalg.lapack import dpstrf
from scipy.sparse import issparse

from .._state import check_is
from ..kernels.pair_blocks import BlockSide, Entries
from ..kernels.tasks import ALL
from ._kernel_groups import merge_equal_sides
from ._tiled_sums import Tiles
from .pairwise_predictor import PairwisePredictor, decide

MAX_DENSITY = 0.35  # of entries that are not 0, up to which products go through these entries
MIN_COLUMNS = 32  # of such products
MAX_ENTRY = 1e9  # of such products; `PairBase.side` checks larger ones
OPERATIONS = {"dot": 2.0, "sqdist": 2.0, "l1": 3.0, "chi2": 6.0, "min": 2.0}  # for each column of a pair
ROUNDING = 2.0**-23
EXPONENTIAL = {4: 16.0, 8: 30.0}  # operations by the bytes of a number
TABLE = {4: 13.0, 8: 22.0}
MIN_TABLE = 3  # exponentials
CALLED = 100.0  # operations of a value of a kernel that is called on objects; a guess
JITTER = 1e-12  # of the largest diagonal entry, on the diagonal of K_SS
MARGIN = 0.01  # share of the tolerance that the examples beyond the last pivot may use


class CompactPredictor(PairwisePredictor):
    """The kernels between new data and some support examples, in the type `dtype`, with few operations.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.banks.compact import CompactPredictor
    >>> from manykernels.kernels import RBF
    >>> X = np.random.default_rng(0).normal(size=(50, 2))
    >>> model = MKLClassifier([RBF(gamma=0.1)], C=1.0).fit(X, X[:, 0] > 0)
    >>> compact = CompactPredictor.of(model.predictor_, slice(0, 2), np.float32)
    >>> compact.sizes(), compact.decision(X, np.ones((1, 2)), np.ones(1)).shape
    ((2, 1), (1, 50))
    """

    file_tag = ("predictor/compact", 1)
    _lines: tuple | None = None  # (A, theta, {group: vectors}) of the last decision; files do not contain it

    @classmethod
    def of(cls, predictor, rows, dtype):
        """The predictor of these support examples of a `PairwisePredictor`."""
        found, tiles, dtype = cls.__new__(cls), predictor.tiles, np.dtype(dtype)
        found.kernel_list, found.normalize, groups = predictor.kernel_list, predictor.normalize, []
        found.sides, found.n_support = [], len(np.arange(predictor.n_support)[rows])
        for group, side in zip(tiles.groups, predictor.sides, strict=True):
            group, side = _uncentred(group.in_type(dtype), replace(side.take(rows), bounds=None))
            groups.append(group)
            found.sides.append(_typed(group, side))
        found.sides = merge_equal_sides(groups, found.sides)
        found.tiles = Tiles(groups, dtype, tiles.scale, tiles.mean, tiles.n_jobs, tiles.budget)
        found.tiles.kept = {}
        return found

    def to_state(self):
        """That of a `PairwisePredictor`, whose numbers are float64, and whether they are float32 here."""
        state = super().to_state()
        for side in (*state["data"], *state["groups"]):
            side |= {name: _double(side[name]) for name in ("x", "own", "square", "factor") if name in side}
        return state | {"single": self.tiles.dtype == np.float32}

    @classmethod
    def from_state(cls, state):
        single = check_is("single", state.pop("single"), bool)
        return cls.of(PairwisePredictor.from_state(state), slice(None), np.float32 if single else np.float64)

    def __getstate__(self):
        state = super().__getstate__()
        state.pop("_lines", None)
        tiles = state["tiles"] = copy.copy(self.tiles)
        tiles.kept = {}
        return state

    def _side(self, i, group, view, index):
        own = self.sides[i]
        if view.X is None or not _by_entries(group, own):
            return super()._side(i, group, view, index)
        side = _entries(group, view.X if issparse(view.X) else np.asarray(view.X), index)
        if side is None:
            return super()._side(i, group, view, index)
        return group.side(view, index, self.normalize, side)

    def _by_pairs(self, X, A, theta):
        left, n = self._new(X, (theta * self.tiles.scale != 0).any(axis=0))
        return self._between(left, A, theta, n)

    def on_support(self, whole, A, theta):
        """Decisions (T, n) on the support examples of another predictor, of which these are a part."""
        left = []
        for group, side in zip(self.tiles.groups, whole.sides, strict=True):
            side = replace(side, index=None, bounds=None)
            if type(side) is BlockSide and isinstance(side.x, np.ndarray) and group.pairs.kind == "sqdist":
                centre = 0.0 if group.pairs.centre is None else group.pairs.centre[:, None]
                whole_centre = whole.tiles.groups[len(left)].pairs.centre
                side.x = side.x + (0.0 if whole_centre is None else whole_centre[:, None]) - centre
            side = _typed(group, side)
            entries = _entries(group, side.x.T, None) if _by_entries(group, side) else None
            left.append(side if entries is None else replace(entries, factor=side.factor, task=side.task))
        return self._between(left, np.atleast_2d(np.asarray(A, float)), np.atleast_2d(theta), whole.n_support)

    def density(self, X):
        """The share of entries of X that are not 0, among those of kernels whose products go through them."""
        wanted = self.tiles.scale != 0
        groups = [g for i, g, _ in self.tiles.active(wanted) if _by_entries(g, self.sides[i])]
        views = self.kernel_list.views(X, {group.view for group in groups})
        found = [views[group.view].X for group in groups if views[group.view].X is not None]
        size = sum(x.shape[0] * x.shape[1] for x in found)
        return sum(x.nnz if issparse(x) else np.count_nonzero(x) for x in found) / size if size else 1.0

    def _between(self, left, A, theta, n):
        """Σ_m θ_tm K_m @ A[t] between the sides `left` of n examples and the support, (T, n)."""
        total, rest = np.zeros((len(A), n)), theta.copy()
        for i, (group, chosen, vectors) in self._vectors(A, theta).items():
            x, factor = left[i].x, left[i].factor
            for k, (W, constant) in zip(chosen, vectors, strict=True):
                if isinstance(x, Entries):
                    part = np.empty((n, len(W)), W.dtype)
                    x.times(np.ascontiguousarray(W.T), part, plain=True)
                    part = part.T
                else:
                    part = (x @ W.T).T if issparse(x) else W @ x
                total += (part + constant[:, None]) * (1.0 if factor is None else factor[k])
            rest[:, group.members] = 0.0
        if (rest * self.tiles.scale).any():
            total += decide(self.tiles, left, self.sides, A, rest, n)
        return total

    def _vectors(self, A, theta):
        """{number of a group: (group, its kernels with weight, [(Σ_i a_i z_i (T, d), constants (T,))])}."""
        last = self._lines  # read once: another thread may replace it
        if last is not None and all(map(np.array_equal, last[:2], (A, theta))):
            return last[2]
        weights, found = theta * self.tiles.scale, {}
        for i, group, chosen in self.tiles.active((weights != 0).any(axis=0)):
            if not _is_line(group, chosen):
                continue
            side, parts = self.sides[i], []
            for k in chosen:
                a = A * weights[:, group.members[k], None]
                a = a if side.factor is None else a * side.factor[k]
                w = (side.x.T @ a.T).T if issparse(side.x) else a @ side.x.T
                parts.append(((group.forms[k, 1] * w).astype(self.tiles.dtype), group.forms[k, 2] * a.sum(axis=1)))
            found[i] = group, chosen, parts
        self._lines = A.copy(), theta.copy(), found
        return found


def operations(predictor, A, theta, density=1.0):
    """Estimated operations (additions and products) of one prediction, in a batch that is large enough for tables.

    `density` is the share of entries of new examples that are not 0. It is 0 if no kernel compares pairs of examples.
    """
    compact, theta = isinstance(predictor, CompactPredictor), predictor.by_pairs(theta)
    if not (theta * predictor.scale).any():
        return 0.0
    T, total, exponential = len(A), 0.0, EXPONENTIAL[predictor.tiles.dtype.itemsize]
    for i, group, chosen in predictor.tiles.active((theta * predictor.scale != 0).any(axis=0)):
        side, kind, width = predictor.sides[i], group.pairs.kind, _width(predictor.sides[i])
        if compact and _is_line(group, chosen):
            total += 2.0 * T * len(chosen) * width
            continue
        entries = compact and _by_entries(group, side) and density <= MAX_DENSITY
        base = OPERATIONS.get(kind, 0.0) * width * (density if entries else 1.0) + 3.0 * (kind == "sqdist")
        ones, generic = group.exponential[chosen].sum(), group.generic[chosen].sum()
        table = group.tabular and side.factor is None and ones >= MIN_TABLE
        forms = TABLE[predictor.tiles.dtype.itemsize] if table else exponential * ones
        forms += 4.0 * (len(chosen) - ones - generic)
        called = (exponential if kind in OPERATIONS else CALLED) * generic
        total += predictor.n_support * (base + len(theta) * forms + called)
    return total + 2.0 * T * predictor.n_support


def members_of(predictor, theta):
    """The kernels with weight, as arrays of their numbers: those of one view and base, which share work."""
    return [group.members[chosen] for _, group, chosen in predictor.tiles.active((theta * predictor.scale).any(axis=0))]


def keeps_support(predictor, theta):
    """Whether kernels between support examples can be computed: they cannot for objects with fit_transform."""
    active = predictor.tiles.active((theta * predictor.scale).any(axis=0))
    return all(group.pairs.kind != "gram" for _, group, _ in active)


def density_of(predictor):
    """The share of entries that are not 0 among the support examples of kernels of products and distances."""
    size = count = 0
    for group, side in zip(predictor.tiles.groups, predictor.sides, strict=True):
        if _by_entries(group, side):
            size, count = size + side.x.size, count + np.count_nonzero(side.x)
    return count / size if size else 1.0


def _width(side):
    """The columns of a side; entries that are not 0, if it is sparse."""
    if issparse(side.x):
        return side.x.nnz / max(side.x.shape[0], 1)
    return len(side.x) if type(side) is BlockSide and side.x is not None else 1


def _by_entries(group, side):
    """Whether products with the dense examples of a side may go through the entries of x that are not 0."""
    if group.pairs.kind not in ("dot", "sqdist") or not isinstance(side.x, np.ndarray):
        return False
    return len(side.x) >= MIN_COLUMNS and group.pairs.centre is None and not _is_line(group, slice(None))


def _is_line(group, chosen):
    """Whether these kernels of a group are all of the form g⟨x, z⟩ + c."""
    plain = not group.generic[chosen].any() and (group.degree[chosen] == 1).all()
    return plain and group.pairs.kind == "dot" and group.task == ALL


def _uncentred(group, side):
    """(group, side) whose distances subtract no centre, if most entries of the examples are then 0."""
    centre = group.pairs.centre if group.pairs.kind == "sqdist" else None
    if centre is None or not isinstance(side.x, np.ndarray) or len(side.x) < MIN_COLUMNS:
        return group, side
    x = side.x + centre[:, None]
    x[np.abs(x) <= ROUNDING * np.abs(side.x)] = 0.0  # an entry 0 of X, from which float32 subtracted the centre
    if np.count_nonzero(x) > MAX_DENSITY * x.size:
        return group, side
    group.pairs.centre = None  # of a copy
    return group, replace(side, x=x)


def _typed(group, side):
    """The side in the type of the group, with norms of the rounded examples."""
    dtype, kind = group.pairs.dtype, group.pairs.kind
    if kind in OPERATIONS:
        side = replace(side, x=_cast(side.x, dtype)).double(kind)
        side = replace(side, x=_cast(side.x, dtype))
    square, factor = (None if v is None else v.astype(dtype) for v in (side.square, side.factor))
    return replace(side, own=side.own.astype(dtype), square=square, factor=factor)


def _entries(group, X, index):
    """The side of the rows of X, as their entries that are not 0; None if these are too many or too large."""
    x = Entries.of(X, group.pairs.dtype)
    few = x.value.size <= MAX_DENSITY * X.shape[0] * X.shape[1]
    if not few or not np.abs(x.value).max(initial=0.0) < MAX_ENTRY:  # or NaN
        return None
    square = x.squares().astype(group.pairs.dtype)
    if group.pairs.kind == "dot":
        return BlockSide(x, square, None, index)
    return BlockSide(x, np.zeros_like(square), square, index)


def _double(x):
    """Numbers in float64; others as they are."""
    numbers = isinstance(x, np.ndarray) or issparse(x)
    return x.astype(np.float64) if numbers and x.dtype == np.float32 else x


def _cast(x, dtype):
    """The examples of a side in another type, row by row in memory."""
    return x.astype(dtype) if issparse(x) else np.ascontiguousarray(x, dtype)


class ReducedSet:
    """Fewer support examples: the projections of T decisions onto the kernels of the first `m` examples of `order`.

    f = Σ_i a_i k(z_i, ·) has, in the space H of the kernel k, the projection f̃ = Σ_{j in S} b_j k(z_j, ·) onto the
    kernels of the examples S, b = K_SS⁻¹ (K a)_S, and

        |f(x) − f̃(x)| ≤ ‖f − f̃‖ √k(x, x),    ‖f − f̃‖² = aᵀK a − 2 bᵀ(K a)_S + bᵀK_SS b.

    S are the first pivots of the Cholesky factor of (|a_i| k(z_i, z_j) |a_j|): the error of the examples that are left
    out is at most Σ_i |a_i| times the distance of k(z_i, ·) from the span. Equal examples, and kernels of low rank,
    lose nothing. Schölkopf et al., Input space versus feature space in kernel-based methods, 1999.

    Parameters
    ----------
    grams : list of 1 or T arrays (n, n)
        The combined kernel between the support examples, one for all decisions or one for each.
    A : array (T, n)
        Their coefficients.
    span : array (T,)
        The ranges of the decisions, in which errors are measured.
    tol : float
        The greatest error, as a share of `span`.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks.compact import ReducedSet
    >>> z = np.array([[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [1.0, 0.0]])
    >>> reduced = ReducedSet([z @ z.T], np.array([[1.0, 2.0, 3.0, 4.0]]), np.ones(1), 1e-3)
    >>> len(reduced.order), reduced.norms(2).round(6)
    (2, array([0.]))
    """

    def __init__(self, grams, A, span, tol):
        self.A, self.own = A, [grams[t if len(grams) > 1 else 0] @ a for t, a in enumerate(A)]
        size = np.abs(A) / span[:, None]
        if len(grams) == 1:
            weighted = grams[0] * (size.T @ size)
        else:
            weighted = sum(np.outer(s, s) * G for s, G in zip(size, grams, strict=True))
        n, top = len(weighted), max(float(np.diag(G).max(initial=0.0)) for G in grams)
        stop = (MARGIN * tol / (n * np.sqrt(top or 1.0))) ** 2
        stop = max(stop, n * np.finfo(float).eps * float(np.diag(weighted).max(initial=0.0)))
        _, pivots, rank, _ = dpstrf(weighted, tol=stop, lower=1)
        self.order = pivots[: max(rank, 1)] - 1
        self.grams = [G[np.ix_(self.order, self.order)] for G in grams]
        self.factors = [cholesky(G + JITTER * top * np.eye(len(G)), lower=True) for G in self.grams]
        self.energy = np.array([a @ own for a, own in zip(A, self.own, strict=True)])

    def coefficients(self, m):
        """b of each decision, (T, m), for the examples order[:m]."""
        of = [self.factors[t if len(self.factors) > 1 else 0][:m, :m] for t in range(len(self.A))]
        own = [own[self.order[:m]] for own in self.own]
        return np.stack([cho_solve((L, True), u) for L, u in zip(of, own, strict=True)])

    def norms(self, m):
        """‖f − f̃‖ of each decision, (T,), for the examples order[:m]."""
        B, left = self.coefficients(m), []
        for t, b in enumerate(B):
            G = self.grams[t if len(self.grams) > 1 else 0][:m, :m]
            left.append(self.energy[t] - 2 * b @ self.own[t][self.order[:m]] + b @ G @ b)
        return np.sqrt(np.maximum(left, 0.0))

    def fewest(self, error, tol):
        """The least m, by bisection, with error(order[:m], coefficients) ≤ tol; None if all pivots are too few."""
        if error(self.order, self.coefficients(len(self.order))) > tol:
            return None
        low, high = 0, len(self.order)
        while high - low > max(1, high // 50):
            m = (low + high) // 2
            low, high = (low, m) if error(self.order[:m], self.coefficients(m)) <= tol else (m, high)
        return high
