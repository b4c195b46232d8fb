"""Kernels as games between columns: sums of products of functions of Σ_j B_j, where B_j belongs to column j.

A kernel k(x, z) = f(Σ_j B(x_j, z_j)) with f = exp is a product over the columns; a power of a sum is a power of a sum.
Products and sums of such kernels are sums of `GameTerm`s, and the Shapley values of a term are those of `loops.shares`.
"""

import math
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from .._threads import n_threads, run_blocks, slices
from ..kernels.base import Constant, Product, Sum
from ..kernels.column_encoders import Indicators
from ..kernels.gower import Agreement, Agreements
from ..kernels.metric import MetricKernel
from ..kernels.normalize import inverse_root
from ..kernels.pair_blocks import KINDS
from ..kernels.placed import ViewKernel
from ..kernels.views import JoinedViews

DISTANCES = ("sqdist", "l1", "chi2")
PRECISION = 1e-16  # of the quadrature, relative to the largest value of a product
SIZES = (4, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256, 384, 512)  # of sets of nodes


class GameAtom(NamedTuple):
    """(rate · Σ_j B_j + shift)^degree, or exp(rate · Σ_j B_j) for degree 0, of the columns of view number `part`."""

    part: int
    base: str
    degree: int
    rate: float
    shift: float
    scales: np.ndarray | None  # of the columns, which a metric multiplies
    normed: bool = False  # divided by √(d_x d_z) of `Gower`, which is held fixed


class GameTerm(NamedTuple):
    """factor · Π of atoms."""

    factor: float
    atoms: tuple[GameAtom, ...]


def terms_of(kernel: Any, name: str, part: int = 0) -> list[GameTerm]:
    """The terms whose sum is the kernel called `name`; a ValueError for kernels that are no functions of such sums."""
    if isinstance(kernel, Sum):
        return terms_of(kernel.k1, name, part) + terms_of(kernel.k2, name, part)
    if isinstance(kernel, Product):
        pairs = [(a, b) for a in terms_of(kernel.k1, name, part) for b in terms_of(kernel.k2, name, part)]
        return [GameTerm(a.factor * b.factor, a.atoms + b.atoms) for a, b in pairs]
    if isinstance(kernel, ViewKernel):
        return terms_of(kernel.kernel, name, kernel.part)
    if isinstance(kernel, Constant):
        return [GameTerm(float(kernel.value), ())]
    scales = None
    if isinstance(kernel, MetricKernel) and kernel.metric is not None:
        scales, kernel = np.asarray(kernel.metric, float), kernel.with_metric(None)
    if isinstance(kernel, Agreement):
        return [GameTerm(1.0, (GameAtom(part, kernel.base, 1, 1.0, 0.0, None, True),))]
    form = kernel.form() if kernel.base in KINDS else None
    if form is None or form[0] < 0 or form[0] % 1 or form[0] == 0 and (kernel.base not in DISTANCES or form[1] > 0):
        other = " explain_sequences divides kernels of sequences." if kernel.reads == "sequences" else ""
        raise ValueError(
            f"kernel {name!r} ({kernel!r}) cannot be divided among columns: it is no function of a sum over columns, "
            f"such as RBF, Laplacian, Chi2, Linear, Polynomial or Categorical, and no product or sum of these.{other}"
        )
    degree, rate, shift = int(form[0]), float(form[1]), float(form[2])
    factor, shift = (math.exp(shift), 0.0) if degree == 0 else (1.0, shift)
    return [GameTerm(factor, (GameAtom(part, kernel.base, degree, rate, shift, scales),))]


class GamePart(NamedTuple):
    """The columns of one view, (·, d) each: of the examples, of the support, of the background; their names (d,).

    `counts`: whether kernels sum up what columns have in common, as in `Categorical` and `Gower`. An absent column
    counts as equal to that of the support.
    """

    X: np.ndarray
    Z: np.ndarray
    background: np.ndarray
    names: list[str]
    counts: bool


def split_views(X: Any) -> list[np.ndarray]:
    """The arrays of a view, or of several joined ones, dense."""
    views = X.views if isinstance(X, JoinedViews) else [X]
    return [view.toarray() if sp.issparse(view) else np.asarray(view, float) for view in views]


def counts_columns(plan: Any) -> bool:
    """Whether the last step before the kernels is that of `Categorical` or `Gower`."""
    step: Any = None if plan.transformer is None else plan.transformer.fitted
    while hasattr(step, "steps"):  # scikit-learn's pipeline
        step = step.steps[-1][1]
    return isinstance(step, Indicators | Agreements)


def divided(
    term: GameTerm, parts: list[GamePart], A: np.ndarray, name: str, n_jobs: int | None
) -> tuple[list[str], np.ndarray, np.ndarray]:
    """(players, Shapley values (T, players, n), worth (T, n) of no player) of Σ_i A_ti term(x, z_i)."""
    A, factor = A * term.factor, np.ones(len(parts[0].X))
    for part in (parts[atom.part] for atom in term.atoms if atom.normed):
        factor, A = factor * inverse_root(part.X.sum(axis=1)), A * inverse_root(part.Z.sum(axis=1))
    players, values, base = _divided(term, parts, np.ascontiguousarray(A), name, n_jobs)
    return players, values * factor, base[:, None] * factor


def _divided(term, parts, A, name, n_jobs):
    """The same without norms, worth (T,)."""
    from ..loops.shares import Groups, Nodes, divide

    n, T = len(parts[0].X), len(A)
    if [(atom.base, atom.degree, parts[atom.part].counts) for atom in term.atoms] == [("dot", 1, False)]:
        return _inner_product(term.atoms[0], parts[term.atoms[0].part], A)
    columns = [parts[atom.part].names for atom in term.atoms]
    players = list(dict.fromkeys(name for names in columns for name in names))
    sums = [k for k, atom in enumerate(term.atoms) if atom.degree > 0 and len(set(columns[k])) > 1]
    if len(sums) > 1:
        raise ValueError(
            f"kernel {name!r} multiplies kernels that are each a sum over several columns (Linear, Polynomial or "
            "Categorical): no closed form divides this product; add them as separate kernels, or take RBF."
        )
    order, groups = [], []
    for k, (atom, names) in enumerate(zip(term.atoms, columns, strict=True)):
        own = parts[atom.part].counts and atom.base in ("dot", "min")
        rate = atom.rate * (math.log2(math.e) if atom.degree == 0 else 1.0)
        where: dict[str, list[int]] = {}
        for column, called in enumerate(names):
            where.setdefault(called, []).append(column)
        for called, at in where.items():
            degree = -1 if k in sums else atom.degree
            groups.append((KINDS[atom.base], degree, rate, atom.shift, players.index(called), len(at), own))
            order += [(k, column) for column in at]
    if not groups:
        return [], np.zeros((T, 0, n)), A.sum(axis=1)
    kinds, degrees, rates, shifts, player, widths, owns = map(np.array, zip(*groups, strict=True))
    first = np.append(0, np.cumsum(widths))
    ready = Groups(kinds, degrees, rates.astype(float), shifts.astype(float), player, first, owns)
    sides = [_columns(term, [part[side] for part in parts], order) for side in range(3)]
    power = term.atoms[sums[0]] if sums else None
    d, c = (power.degree, power.shift) if power is not None else (0, 0.0)
    nodes = Nodes(*_nodes(len(players), d, len(term.atoms) == len(sums), bool(((degrees <= 0) | owns).all())))
    blocks = slices(n, min(n, 4 * n_threads(n_jobs)))
    found, base = np.zeros((T, len(players), n)), np.zeros((len(blocks), T))

    def block(k):
        rows = blocks[k]
        out = np.zeros((T, len(players), rows.stop - rows.start))
        divide(np.ascontiguousarray(sides[0][:, rows]), sides[1], sides[2], ready, d, c, nodes, A, out, base[k])
        found[:, :, rows] = out

    run_blocks(block, range(len(blocks)), n_jobs)
    return players, found, base[0] if len(base) else np.zeros(T)


def _inner_product(atom, part, A):
    """The values w_j x_j, minus those of the mean of the background, of the linear function w = Σ_i A_i z_i."""
    scales = 1.0 if atom.scales is None else atom.scales**2
    w, mean = (A @ part.Z) * (atom.rate * scales), part.background.mean(axis=0) if len(part.background) else 0.0
    players = list(dict.fromkeys(part.names))
    values = w[:, :, None] * (part.X - mean).T
    base = A.sum(axis=1) * atom.shift + w @ (mean + np.zeros(len(part.names)))
    if len(players) < len(part.names):
        values = np.stack([values[:, [name == p for name in part.names]].sum(axis=1) for p in players], axis=1)
    return players, values, base


def _columns(term, rows, order):
    """The columns (C, ·) that the atoms see of the `rows` of each part, in this order of (atom, column)."""
    found = np.empty((len(order), len(rows[0])))
    for out, (k, column) in zip(found, order, strict=True):
        atom = term.atoms[k]
        out[:] = rows[atom.part][:, column]
        out *= 1.0 if atom.scales is None else atom.scales[column]
    return found


def _nodes(players, degree, is_power, bounded):
    """(t, w, first, reach) of `loops.shares.Nodes`, Gauss–Legendre nodes on [0, 1] that integrate the gains.

    The gain is a polynomial of degree players − 1 in t, and of `degree` − 1 if there are no other atoms: half as many
    nodes integrate it exactly. If all factors lie between 0 and 1, its Chebyshev coefficients above K sum to at most
    4 exp(v (cosh λ − 1) − λK) for every λ and v = ½ Σ_p |V_p − V0_p| <= players/2, so that fewer nodes give the same
    digits. An even number has no node at ½, where factors of opposite signs cancel.
    """
    many = max(-(-(degree if is_power else players) // 2), 1)
    fewer = [m for m in SIZES if degree < m < many] if bounded and not is_power else []
    reach = {m: 2 * _reach(2 * (m - degree)) for m in fewer}
    last = next((m for m in fewer if reach[m] >= players), many if bounded else many + many % 2)
    sizes = [m for m in fewer if m < last and degree == 0] + [last]
    each = [np.polynomial.legendre.leggauss(m) for m in sizes]
    t, w = (np.concatenate([one[k] for one in each]) for k in range(2))
    first = np.append(0, np.cumsum(sizes))
    return (t + 1) / 2, w / 2, first, np.array([reach[m] for m in sizes[:-1]] + [np.inf])


def _reach(K):
    """The largest v with 4 exp(v (cosh λ − 1) − λK) <= PRECISION at the best λ, sinh λ = K/v."""
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        v = math.exp(middle)
        bound = v * (math.hypot(1.0, K / v) - 1.0) - K * math.asinh(K / v)
        low, high = (middle, high) if bound <= math.log(PRECISION / 4) else (low, middle)
    return math.exp(low)
