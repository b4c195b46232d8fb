"""Kernels on pairs of objects: the vec trick is the matrix between all pairs, and so is what is learned with it."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.banks._vec_trick import PairOperator
from manykernels.banks.pairs import PairBank
from manykernels.kernels import RBF, Identity, Linear
from manykernels.pairs import Pairs, Pairwise
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve

rng = np.random.default_rng(0)
LEFT, RIGHT = rng.normal(size=(17, 3)), rng.normal(size=(11, 2))
KERNELS = Pairwise([RBF(gamma=0.3), Linear()], [RBF(gamma=1.0), ("own", Identity()), ("line", Linear())])
GRID = Pairs.grid(LEFT, RIGHT)
FULL = GRID[np.sort(rng.choice(len(GRID), 150, replace=False))]
FEW = Pairs(rng.integers(0, 60, size=(50, 2)), rng.normal(size=(60, 3)), rng.normal(size=(60, 2)))
TWICE = FULL[np.r_[0:40, 0:40]]
SETS = {"a grid": GRID, "most of a grid": FULL, "little of a grid": FEW, "pairs that occur twice": TWICE}
COMBINE = ["kronecker", "cartesian", "sum", ["kronecker", "sum"]]


def naive(X, Y=None, combine="kronecker"):
    """The kernels of `KERNELS` written out, (M, n, n)."""
    Y = X if Y is None else Y
    sides = []
    for column, kernels in enumerate(([RBF(gamma=0.3), Linear()], [RBF(gamma=1.0), None, Linear()])):
        x, y = X.index[:, column], Y.index[:, column]
        tables = [(Z.left, Z.right)[column] for Z in (X, Y)]
        own = [(x[:, None] == y) * 1.0 if k is None else k(tables[0][x], tables[1][y]) for k in kernels]
        sides.append((own, (x[:, None] == y) * 1.0))
    (A, same_a), (B, same_b) = sides
    found = []
    for way in [combine] if isinstance(combine, str) else combine:
        if way == "kronecker":
            found += [a * b for a in A for b in B]
        else:
            found += [a * (same_b if way == "cartesian" else 1.0) for a in A]
            found += [b * (same_a if way == "cartesian" else 1.0) for b in B]
    return np.stack(found)


def bank_of(X, combine="kronecker", **options):
    return Pairwise(KERNELS.left, KERNELS.right, combine).bank(X, **options)


@pytest.mark.filterwarnings("ignore:kernels without variance")
@pytest.mark.parametrize("combine", COMBINE)
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@pytest.mark.parametrize("name", SETS)
def test_the_vec_trick_is_the_matrix_between_all_pairs(name, normalize, combine):
    X = SETS[name]
    weights = np.arange(len(X)) % 3 + 1.0
    bank = bank_of(X, combine, normalize=normalize, weights=weights)
    stack = DenseBank(np.moveaxis(naive(X, None, combine), 0, 2), normalize=normalize, weights=weights)
    np.testing.assert_array_equal(bank.usable, stack.usable)
    np.testing.assert_allclose(bank.scale, stack.scale, rtol=1e-9)
    every, theta = np.arange(len(X)), np.linspace(0, 1, bank.M)
    rows, cols, some = every[::3], every[5:40], np.array([0, bank.M - 1])
    A = rng.normal(size=(2, len(cols)))
    size = 1e-11 * np.abs(stack.diagonals()).max() * np.abs(A).sum()
    np.testing.assert_allclose(bank.diagonals(), stack.diagonals(), atol=size)
    np.testing.assert_allclose(bank.combined(theta, rows, cols), stack.combined(theta, rows, cols), atol=size)
    for r, kernels in ((None, None), (rows, some)):
        np.testing.assert_allclose(bank.products(A, cols, r, kernels), stack.products(A, cols, r, kernels), atol=size)
    np.testing.assert_allclose(bank.outputs(theta, A, cols), stack.outputs(theta, A, cols), atol=size)
    small = bank.restrict(rows, some)
    np.testing.assert_allclose(
        small.combined(np.ones(2)), stack.combined(np.isin(every[: bank.M], some) * 1.0, rows, rows), atol=size
    )
    operator = PairOperator(bank._terms(theta), bank.places, np.float64)
    V = rng.normal(size=(5, len(X)))
    np.testing.assert_allclose(operator.multiply(V), V @ stack.combined(theta), atol=10 * size)
    np.testing.assert_allclose(operator.multiply(V[:1]), V[:1] @ stack.combined(theta), atol=10 * size)
    np.testing.assert_allclose(operator.take(rows).array(), stack.combined(theta, rows, rows), atol=size)
    np.testing.assert_allclose(operator.diagonal(), np.diagonal(stack.combined(theta)), atol=size)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("loss", ["squared", "squared_hinge", "logistic", "hinge", "huber", "epsilon_insensitive"])
def test_a_fit_without_the_matrix_is_the_fit_with_it(loss, p, monkeypatch):
    monkeypatch.setattr(PairBank, "dense", 0)
    loss, y = losses.get(loss), np.sin(2 * LEFT[FULL.index[:, 0], 0]) * RIGHT[FULL.index[:, 1], 1]
    y = np.where(y > 0, 1.0, -1.0) if loss.targets == "binary" else y
    stack = DenseBank(np.moveaxis(naive(FULL), 0, 2))
    free, dense = (solve(Problem(b, y, loss, LpNorm(p)), "newton", tol=1e-6) for b in (bank_of(FULL), stack))
    assert free.gap <= 1e-6 and dense.gap <= 1e-6
    assert free.primal == pytest.approx(dense.primal, rel=2e-6)


@pytest.mark.parametrize("loss", ["squared", "hinge"])
def test_conjugate_gradients_finish_what_is_too_large_to_factor(loss, monkeypatch):
    from manykernels.inner import matrix_free

    monkeypatch.setattr(PairBank, "dense", 0)
    monkeypatch.setattr(matrix_free, "MAX_FACTORED_VARIABLES", 0)
    loss, y = losses.get(loss), np.where(LEFT[FULL.index[:, 0], 0] * RIGHT[FULL.index[:, 1], 1] > 0, 1.0, -1.0)
    stack = DenseBank(np.moveaxis(naive(FULL), 0, 2))
    free, dense = (solve(Problem(b, y, loss, LpNorm(1.5)), "newton", tol=1e-4) for b in (bank_of(FULL), stack))
    assert free.gap <= 1e-4 and free.primal == pytest.approx(dense.primal, rel=2e-4)


def test_a_block_that_is_too_large_is_refused_with_the_cure():
    bank = bank_of(GRID, memory_limit=1000)
    with pytest.raises(ValueError, match="memory_limit.*newton"):
        bank.combined(np.ones(bank.M))
