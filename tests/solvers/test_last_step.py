"""At p = 1 a fit ends with the weights at 0 that its gap allows."""

import numpy as np
import pytest

import manykernels.solvers
from manykernels import MKLClassifier
from manykernels.banks import DenseBank
from manykernels.datasets import make_splice
from manykernels.kernels import RBF, rank_one_kernels
from manykernels.losses import Hinge, Squared
from manykernels.problem import Problem
from manykernels.regularizers import BlockElasticNet, LpNorm, LpSum, MixedNorm, Wedge, WeightedLpNorm
from manykernels.solution import Solution
from manykernels.solvers import LAST_PATIENCE, Control, solve
from manykernels.solvers._run import Stall
from manykernels.solvers._warm import thinned
from manykernels.solvers._wrapper import Wrapper
from manykernels.solvers.newton import NewtonStep
from manykernels.strings import degree_kernels

SEEDS = range(4)
SMALL = 1e-4  # of the sum of the weights


def texts(n=100, m=220, seed=0):
    """Rows of word frequencies, two topics: 20 of the words are more frequent in one of them."""
    rng = np.random.default_rng(seed)
    topic, lift = rng.integers(2, size=n), np.ones((2, m))
    lift[1, :10] = lift[0, 10:20] = 6
    X = (rng.random((n, m)) < 0.04 * lift[topic]) * rng.exponential(size=(n, m))
    return X / np.maximum(np.linalg.norm(X, axis=1, keepdims=True), 1e-9), topic


def splice(n=150):
    return make_splice(n, 60, positives=0.4, random_state=0)


def widths(n=100):
    """RBF kernels of four widths on each of eight columns, of which two matter."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n, 8))
    kernels = [(f"{j}, {g}", RBF(gamma=g), [j]) for j in range(8) for g in (0.1, 0.3, 1.0, 3.0)]
    return X, X[:, 0] + X[:, 1] ** 2 + 0.5 * rng.normal(size=n) > 1, kernels


def shares(X, y, kernels, **options):
    model = MKLClassifier(kernels, regularizer=1, **options).fit(X, y)
    assert model.duality_gap_ <= model.tol
    weights = model.kernel_weights_.ravel()
    return weights / weights.sum()


SETS = {
    "texts": (texts, lambda: rank_one_kernels(220), ("interior", "coordinate")),
    "splice": (splice, lambda: degree_kernels(20), ("newton", "chunking")),
}


@pytest.mark.parametrize("C", [0.1, 1.0])
@pytest.mark.parametrize("name", SETS)
def test_orders_of_one_set_and_a_finer_gap_have_the_same_number_of_weights(name, C):
    """Orders of rows and kernels and seeds of the solver at tol 1e-3, beside one fit at tol 1e-6."""
    make, kernels, solvers = SETS[name]
    (X, y), kernels = make(), kernels()
    fine = shares(X, y, kernels, C=C, tol=1e-6, solver=solvers[0])
    expected = np.count_nonzero(fine > SMALL)
    for seed in SEEDS:
        rng = np.random.default_rng(seed)
        rows, order = rng.permutation(len(y)), rng.permutation(len(kernels))
        solver = solvers[C == 0.1 and seed < 3]
        options = dict(C=C, solver=solver, random_state=seed)
        found = shares(X[rows], y[rows], [kernels[m] for m in order], **options)
        assert np.count_nonzero(found) == expected, (seed, solver)


def dense(seed=0, n=60, M=12):
    """A bank of M kernels of few features, and targets that depend on three of them."""
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(M, n, 3))
    y = np.sign(F[0, :, 0] + F[1, :, 1] + 0.5 * F[2, :, 2] + 0.5 * rng.normal(size=n))
    return DenseBank(np.einsum("mik,mjk->ijm", F, F)), y


@pytest.mark.parametrize("solver", ["newton", "silp", "level", "chunking", "simplemkl", "hessian"])
def test_every_solver_ends_with_the_same_kernels(solver):
    bank, y = dense()
    problem = Problem(bank, y, Hinge(), LpNorm(1), 0.2)
    fine = solve(problem, "newton", 1e-6).theta
    found = solve(problem, solver, 1e-3)
    assert found.converged
    np.testing.assert_array_equal(found.theta > 0, fine > SMALL * fine.sum())


@pytest.mark.parametrize(
    "regularizer", [LpNorm(1), WeightedLpNorm(1, np.linspace(1, 2, 12)), MixedNorm(0.5, 1), LpSum(1),
                    BlockElasticNet(0), Wedge()], ids=repr,
)  # fmt: skip
@pytest.mark.parametrize("T", [1, 2])
@pytest.mark.parametrize("close", [0.0, 1.0])
def test_the_gap_after_the_last_step_is_that_of_its_weights(regularizer, T, close, monkeypatch):
    """With the bound of the run, or with a new one: primal at (θ, a, b), dual at `dual_a` over all kernels."""
    monkeypatch.setattr(manykernels.solvers._warm, "CLOSE", close)
    bank, y = dense()
    Y = np.array([y, np.roll(y, 7)])[:T]
    problem = Problem(bank, Y, Squared(), regularizer, 0.2)
    found = solve(problem, tol=1e-3)
    proof = found.a if found.dual_a is None else found.dual_a
    K = bank.matrices(dtype=np.float64)

    def norms(a):
        return np.einsum("ti,mij,tj->m", a, K, a)

    outputs = np.einsum("m,mij,tj->ti", found.theta, K, found.a)
    risk = problem.losses(outputs, found.b)
    primal = problem.certificate(risk, found.a, found.b, found.theta, norms(found.a))
    dual = problem.certificate(risk, proof, found.b, found.theta, norms(proof)).dual
    assert found.primal == pytest.approx(primal.primal, rel=1e-9)
    assert dual >= found.dual - 1e-9 * abs(found.dual)
    assert found.gap == pytest.approx((found.primal - found.dual) / primal.scale, abs=1e-6)
    assert found.gap <= 1e-3
    assert found.history[-1]["n_kernels"] == np.count_nonzero(found.theta)
    assert found.history[-1]["gap"] == found.gap


def test_smaller_weights_stay_if_the_gap_needs_them(monkeypatch):
    """With a share of 1 every weight but the largest would go: as many go as the gap allows."""
    monkeypatch.setattr("manykernels.solvers._warm.LEAST_SHARE", 1.0)
    bank, y = dense()
    found = solve(Problem(bank, y, Hinge(), LpNorm(1), 0.2), tol=1e-3)
    assert found.gap <= 1e-3 and np.count_nonzero(found.theta) > 1


def test_the_last_step_is_of_sparse_regularizers_alone(monkeypatch):
    asked = []
    monkeypatch.setattr(manykernels.solvers, "_finisher", lambda small, gap: asked.append(small) or 1 / 0)
    bank, y = dense()
    assert isinstance(solve(Problem(bank, y, Hinge(), LpNorm(2), 0.2)), Solution) and not asked
    with pytest.raises(ZeroDivisionError):
        solve(Problem(bank, y, Hinge(), LpNorm(1), 0.2), "silp")


def test_ctrl_c_in_the_last_step_gives_the_fit_before_it(monkeypatch):
    def stop(small, gap):
        raise KeyboardInterrupt

    monkeypatch.setattr(manykernels.solvers, "_finisher", stop)
    bank, y = dense()
    found = solve(Problem(bank, y, Hinge(), LpNorm(1), 0.2), "silp")
    assert found.interrupted and found.gap <= 1e-3


def test_one_class_of_several_and_shared_weights_lose_the_same_kernels():
    X, y, kernels = widths()
    classes = y.astype(int) + (X[:, 1] > 1)
    for multi_class in ("ovr", "shared"):
        count = []
        for options in (dict(solver="chunking"), dict(tol=1e-6)):
            model = MKLClassifier(kernels, regularizer=1, multi_class=multi_class, **options).fit(X, classes)
            weights = np.atleast_2d(model.kernel_weights_)
            count.append(np.sum(weights > SMALL * weights.sum(axis=1, keepdims=True), axis=1).tolist())
            assert np.max(model.duality_gap_) <= model.tol
        assert count[0] == count[1]


@pytest.mark.parametrize(("dtype", "most"), [(np.float32, 1e-5), (np.float64, 1e-8)])
def test_the_last_step_asks_for_the_digits_that_the_kernels_have(dtype, most, monkeypatch):
    """No more rounds without other kernels, and no gap below the rounding of float32."""
    X, y, kernels = widths(80)
    stack = np.stack([kernel(X[:, columns]) for _, kernel, columns in kernels]).astype(dtype)
    problem = Problem(DenseBank.from_scaled(stack, [name for name, *_ in kernels]), 2.0 * y - 1, Hinge(), LpNorm(1))
    found, asked = solve(problem, "newton", thin=False), []

    def again(small, gap, warm):
        asked.append((gap, len(small.kernels)))
        return solve(small, "newton", gap, warm=warm, thin=False)

    result = thinned(problem, found, 1e-3, again)
    assert result.gap <= 1e-3 and result.primal <= found.primal
    assert {gap for gap, _ in asked} == {most}
    assert len(asked) == 1 and asked[0][1] < problem.bank.M


def test_a_last_step_ends_soon_where_rounding_holds_the_gap():
    """Its steps halve the gap, or end; a run goes on as long as the gap falls at all."""
    last, run = Stall(*LAST_PATIENCE), Stall(20)
    assert not any(run(gap) for gap in 0.99 ** np.arange(100))
    assert not any(last(gap) for gap in 0.7 ** np.arange(100))
    assert [last(gap) for gap in 0.7**99 * 0.99 ** np.arange(1, 6)][-1]
    control, y = Control(), widths(40)[1]
    control.stalled = last
    problem = Problem(DenseBank(np.eye(40)[:, :, None]), 2.0 * y - 1, Hinge(), LpNorm(1))
    assert Wrapper(problem, NewtonStep(), control).stalled is last


def test_a_single_kernel_on_the_simplex_takes_no_last_step():
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = np.where(X[:, 0] + X[:, 1] ** 2 > 1, 1, -1)
    problem = Problem(DenseBank((X @ X.T + np.eye(60))[:, :, None]), y, Hinge(), LpNorm(1), 1.0)
    found = solve(problem, "silp", tol=0.1, thin=False)

    def again(*given):
        raise AssertionError("nothing is to be thinned")

    assert thinned(problem, found, 0.1, again) is found
