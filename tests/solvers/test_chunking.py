"""The interleaved solver: every partner it accepts, the row cache, starts and interrupts."""

from functools import partial

import numpy as np
import pytest
from agreement import assert_agree
from numpy.testing import assert_allclose
from sklearn.metrics.pairwise import rbf_kernel

from manykernels import losses
from manykernels.banks import DenseBank, PairwiseBank
from manykernels.kernels import RBF, KernelList, KernelStack
from manykernels.problem import Problem
from manykernels.regularizers import (
    LpNorm,
)
from manykernels.solvers import Solver, _run, solve
from manykernels.solvers.classical import _kernel_rows, chunking
from manykernels.solvers.classical._kernel_rows import CachedRows, ComputedRows, MatrixRows, rows_of
from manykernels.solvers.classical.chunking import Interleaved


def data(n=60, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    target = np.sin(2 * X[:, 0]) + 0.5 * X[:, 1] + 0.3 * rng.standard_normal(n)
    return X, target


def bank(n=60, seed=0, **options):
    X, _ = data(n, seed)
    D = ((X[:, None] - X) ** 2).sum(-1)
    S = [np.exp(-D * g) for g in (0.1, 0.5, 2.0)] + [X @ X.T, np.outer(X[:, 2], X[:, 2])]
    return DenseBank(KernelStack(np.array(S)), **options)


def make_problem(loss="hinge", regularizer=2, n=60, intercept=True, c=1.0, kernels=None, seed=0):
    loss = losses.get(loss)
    _, target = data(n, seed)
    y = target if loss.targets == "real" else np.where(target > np.median(target), 1.0, -1.0)
    c = 1 / (0.3 * n) if loss.total else c
    regularizer = LpNorm(regularizer) if np.isscalar(regularizer) else regularizer
    return Problem(bank(n, seed) if kernels is None else kernels, y, loss, regularizer, c, intercept)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("size", [2, 10, None])
def test_any_working_set_arrives(size, p):
    problem = make_problem(regularizer=p, n=40)
    solution = solve(problem, Solver("chunking", size=size), tol=1e-3, max_iter=5000)
    assert solution.gap <= 1e-3


def test_the_closed_form_as_printed_arrives_later():
    problem = make_problem(regularizer=1.2)
    printed = solve(problem, Solver("chunking", accelerate=False), tol=1e-5)
    quick = solve(problem, "chunking", tol=1e-5)
    assert printed.gap <= 1e-5 and quick.n_iter < printed.n_iter
    assert printed.primal == pytest.approx(quick.primal, rel=2e-5)


def on_the_fly(n=80):
    """Kernels given as functions: dear to compute, so that their rows are cached."""
    X, _ = data(n)
    kernels = [(f"k{g}", partial(rbf_kernel, gamma=g)) for g in (0.05, 0.2, 1.0, 5.0)]
    return PairwiseBank(KernelList.from_spec(kernels, X), X, dtype=np.float64)


def test_rows_cached_within_a_tiny_limit_give_the_same_result():
    problem = make_problem(n=80, kernels=on_the_fly())
    whole = solve(problem, "chunking", tol=1e-6)
    tight = on_the_fly()
    for slots in (0, 5, 40):
        tight.memory_limit = 2 * slots * tight.M * tight.n * 8
        assert rows_of(tight, np.arange(tight.M)).slots == slots
        solution = solve(make_problem(n=80, kernels=tight), Solver("chunking", size=30), tol=1e-6)
        assert solution.gap <= 1e-6
        assert_agree(problem, solution, whole)


def test_cheap_kernels_are_computed_and_matrices_that_fit_are_kept():
    X, _ = data()
    cheap = PairwiseBank(KernelList.from_spec([(f"k{k}", RBF(gamma=1.2**k)) for k in range(30)], X), X)
    assert type(rows_of(cheap, np.arange(30))) is ComputedRows
    assert solve(make_problem(kernels=cheap), "chunking", tol=1e-4).gap <= 1e-4
    assert type(rows_of(on_the_fly(), np.arange(4))) is MatrixRows


def test_matrices_are_not_copied():
    kernels = bank()
    rows = rows_of(kernels, np.arange(kernels.M))
    assert type(rows) is MatrixRows and rows.bank is kernels


def test_a_warm_start_revives_weights_of_zero():
    sparse = solve(make_problem(regularizer=1), "newton", tol=1e-5)
    assert not sparse.theta.all()
    problem = make_problem(regularizer=2)
    solution = solve(problem, "chunking", tol=1e-5, warm=sparse)
    assert solution.gap <= 1e-5 and solution.theta.all()


@pytest.mark.parametrize("p", [1, 1.5])
def test_a_run_that_does_not_converge_reports_the_objective_at_outputs_computed_anew(p, monkeypatch):
    """It reported the objective at sums over many steps, here with a rounding of 1e-6."""
    problem, add = make_problem(regularizer=p, n=80), MatrixRows.add
    monkeypatch.setattr(MatrixRows, "add", lambda rows, g, index, change: add(rows, g, index, (1 + 1e-6) * change))
    s = solve(problem, Solver("chunking", size=6), tol=1e-9, max_iter=20)
    P = problem.bank.products(s.a, np.arange(80))
    q, f = np.einsum("tmi,ti->m", P, s.a), np.einsum("m,tmi->ti", s.theta, P)
    anew = problem.certificate(problem.losses(f, s.b), s.a, s.b, s.theta, q)
    assert not s.converged and s.primal == pytest.approx(anew.primal, rel=1e-12)


def test_only_outputs_computed_anew_are_certified(monkeypatch):
    """Steps update sums, and the last point is confirmed."""
    anew, refresh = [], Interleaved._refresh
    monkeypatch.setattr(Interleaved, "_refresh", lambda run: (anew.append(len(run.history)), refresh(run))[1])
    found = solve(make_problem(regularizer=1.5, n=80), Solver("chunking", size=6), tol=1e-4, max_iter=5000)
    certified = np.flatnonzero([step["certified"] for step in found.history])
    assert found.converged and certified[-1] == len(found.history) - 1
    assert set(certified) - {0} <= set(anew) and len(certified) < len(found.history) / 2


@pytest.mark.parametrize("size", [1, 2.5, "all"])
def test_a_working_set_too_small_or_no_number_is_an_error(size):
    with pytest.raises(ValueError, match="size must be"):
        solve(make_problem(), Solver("chunking", size=size))


n, COUNT = 230, 80  # n COUNT numbers are more than a block of columns has, and no multiple of it
rng = np.random.default_rng(4)
X = rng.normal(size=(n, 3))


def many_on_the_fly(count=COUNT):
    kernels = [(f"k{m}", RBF(gamma=0.01 * 1.1**m)) for m in range(count)]
    return PairwiseBank(KernelList.from_spec(kernels, X), X, dtype=np.float64)


@pytest.mark.parametrize("slots, step", [(7, 512), (50, 11), (150, 64), (1, 512)])
def test_rows_that_are_cached_are_those_of_the_bank_after_any_sequence_of_steps(slots, step, monkeypatch):
    """Rows are dropped and fetched again, used more than once, and asked for in blocks of working sets in between."""
    monkeypatch.setattr(_kernel_rows, "ROWS_PER_STEP", step)
    bank, kernels = many_on_the_fly(), np.arange(COUNT)[::-1].copy()[:-1]
    rows = CachedRows(bank, kernels, slots * len(kernels) * n * 8)
    assert rows.slots == slots
    K, draw = bank.matrices()[kernels], np.random.default_rng(slots)
    a, g = np.zeros(n), np.zeros((len(kernels), n))
    for size in (3, 90, 1, 40, 140, 12, 90):
        index = np.sort(draw.permutation(n)[:size])
        change = draw.normal(size=size)
        a[index] += change
        rows.add(g, index, change)
        assert_allclose(g, K @ a, atol=1e-8)
        held = np.flatnonzero(rows.slot >= 0)
        assert len(held) <= slots and (rows.owner[rows.slot[held]] == held).all()
        assert len(np.unique(rows.slot[held])) == len(held)
        theta = draw.random(len(kernels)) * (draw.random(len(kernels)) < 0.5)
        working = np.sort(draw.permutation(n)[:100])
        exact = np.tensordot(theta, K[:, working][:, :, working], 1)
        assert_allclose(rows.block(theta, working, np.float64, False), exact, atol=1e-8)
        single = rows.block(theta, working, np.float32, True)
        assert single.dtype == np.float32
        assert_allclose(single, exact - exact.mean(), atol=2e-5 * np.abs(exact).max())


def test_the_rows_that_were_used_last_stay_in_the_cache():
    bank = many_on_the_fly(4)
    rows, g = CachedRows(bank, np.arange(4), 6 * 4 * n * 8), np.zeros((4, n))
    for index in ([0, 1, 2], [3, 4, 5], [0, 2, 9], [10, 11]):
        rows.add(g, np.array(index), np.ones(len(index)))
    assert set(np.flatnonzero(rows.slot >= 0)) == {0, 2, 5, 9, 10, 11}
    computed, stripes = [], bank.stripes
    bank.stripes = lambda missing, *rest: computed.append(missing.tolist()) or stripes(missing, *rest)
    rows.add(g, np.array([2, 9, 11]), np.ones(3))
    assert not computed
    rows.add(g, np.array([1, 2]), np.ones(2))
    assert computed == [[1]]


def test_blocks_become_float64_where_float32_no_longer_gains(monkeypatch):
    monkeypatch.setattr(_run, "MIN_FLOAT32_EXAMPLES", 0)
    improve, types = Interleaved.improve, []

    def of_float64_alone(run, *given):
        types.append(np.dtype(run.dtype))
        if run.dtype == np.float64:
            improve(run, *given)

    monkeypatch.setattr(Interleaved, "improve", of_float64_alone)
    found = solve(make_problem(), "chunking", tol=1e-3)
    idle = types.count(np.dtype(np.float32))
    assert found.converged and chunking.MAX_IDLE_STEPS <= idle <= chunking.MAX_IDLE_STEPS + 1
    assert set(types[idle:]) == {np.dtype(np.float64)}
