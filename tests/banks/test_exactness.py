"""The engine against conic programs: every loss, every p, the gap as a certificate."""

import numpy as np
import pytest
from conic import solve_conic
from covering import covering

from manykernels import losses, regularizers
from manykernels.banks import DenseBank, _stack
from manykernels.problem import Problem
from manykernels.solvers import solve
from problems import costs, kind, make

P = [1, 1.1, 4 / 3, 2, 4, 16, np.inf]


@pytest.fixture(autouse=True, params=[0, _stack.FEW_ENTRIES], ids=["loops", "NumPy"])
def either_way(request, monkeypatch):
    monkeypatch.setattr(_stack, "FEW_ENTRIES", request.param)


def fit(Ks, y, name, p, tol, C=1.0, intercept=True, **options):
    loss = losses.get(name)
    intercept = intercept and name != "level_set"
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    c = costs(loss, Ks.shape[1], C)
    return solve(Problem(bank, y, loss, regularizers.get(p), c, intercept), tol=tol, **options)


@pytest.mark.parametrize("name, p", covering(sorted(losses.LOSSES), P, steps=3))
def test_objective_equals_the_conic_programs(name, p):
    Ks, y = make(real=kind(name))
    options = {"nu": 0.4} if name == "one_class" else {"intercept": name != "level_set"}
    truth = solve_conic(Ks, y, name, p, C=1.0, **options)["objective"]
    for tol in (1e-4, 1e-6):
        solution = fit(Ks, y, name, p, tol)
        assert solution.converged and solution.gap <= tol
        scale = (solution.primal - solution.dual) / max(solution.gap, 1e-300) if solution.gap > 1e-12 else abs(truth)
        assert solution.primal - truth <= tol * scale + 1e-7 * abs(truth)
        # the gap is never below the true suboptimality, nor the dual above the optimum
        assert solution.primal >= truth - 2e-7 * (1 + abs(truth))
        assert solution.dual <= truth + 2e-7 * (1 + abs(truth))


@pytest.mark.parametrize("name", sorted(set(losses.LOSSES) - {"one_class"}))
@pytest.mark.parametrize("p", [1, 2])
def test_without_intercept(name, p):
    Ks, y = make(1, real=kind(name))
    truth = solve_conic(Ks, y, name, p, C=0.5, intercept=False)["objective"]
    solution = fit(Ks, y, name, p, 1e-6, C=0.5, intercept=False)
    assert solution.converged
    assert solution.primal == pytest.approx(truth, rel=3e-6)


@pytest.mark.parametrize("p", [1, 4 / 3, 3])
@pytest.mark.parametrize("name", ["hinge", "logistic", "squared"])
def test_shared_weights_over_several_outputs(name, p):
    Ks, y = make(2)
    Y = np.stack([y, np.where(Ks[1][:, 0] > 0, 1.0, -1.0), -y * np.sign(Ks[0].mean(0) - Ks[0].mean())])
    truth = solve_conic(Ks, Y, name, p, C=1.0)
    solution = fit(Ks, Y, name, p, 1e-6)
    assert solution.converged
    assert solution.primal == pytest.approx(truth["objective"], rel=3e-6)


SOLVERS, LOSSES = ["analytic", "hessian", "sip", "level", "spicy"], ["hinge", "logistic", "squared_hinge"]


@pytest.mark.parametrize("order", ["first", "last", "fortran"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_active_examples_and_memory_orders_change_nothing(order, dtype):
    rng = np.random.default_rng(5)
    n = 1500  # enough for the active set to start small
    X = rng.normal(size=(n, 4))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=n) > 0, 1.0, -1.0)
    D = ((X[:, None] - X[None]) ** 2).sum(-1)
    S = np.stack([np.exp(-g * D) for g in (0.02, 0.1, 0.5, 2.0)]).astype(dtype)
    Z = {"first": np.moveaxis(S, 0, 2), "last": np.ascontiguousarray(np.moveaxis(S, 0, 2))}.get(
        order, np.asfortranarray(np.moveaxis(S, 0, 2))
    )
    loss, regularizer = losses.get("hinge"), regularizers.get(1)
    solution = solve(Problem(DenseBank(Z), y, loss, regularizer, 1.0), tol=1e-3)
    assert solution.converged and min(h["n_active"] for h in solution.history) < n
    tight = solve(Problem(DenseBank(S.astype(np.float64).transpose(1, 2, 0)), y, loss, regularizer, 1.0), tol=1e-7)
    assert tight.converged
    assert abs(solution.primal - tight.primal) <= 1.01e-3 * solution.primal


@pytest.mark.parametrize("tol", [1e-3, 1e-4])
@pytest.mark.parametrize("C", [None, 1e3, 1e4])
def test_float32_blocks_never_certify_what_float64_would_not(C, tol):
    for seed in range(5):
        rng = np.random.default_rng(seed)
        X = rng.normal(size=(60, 3))
        y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
        D = ((X[:, None] - X[None]) ** 2).sum(-1)
        S = np.stack([np.exp(-g * D) for g in (0.01, 0.1, 1.0)], axis=2)
        c = 10.0 ** rng.uniform(-3, 4, 60) if C is None else np.full(60, C)
        bank, regularizer = DenseBank(S), regularizers.get(2)
        s = solve(Problem(bank, y, losses.get("hinge"), regularizer, c), tol=tol, max_iter=30)
        P = bank.products(s.a, np.arange(60))[0]
        q, f = P @ s.a[0], s.theta @ P + s.b[0]
        primal = c @ np.maximum(0, 1 - y * f) + 0.5 * s.theta @ q
        dual = s.a[0] @ y - regularizer.conjugate(q / 2)
        assert s.converged and (primal - dual) / primal <= tol * (1 + 1e-6)


@pytest.mark.parametrize("name", sorted(set(losses.LOSSES) - {"one_class"}))
def test_an_indefinite_kernel_leaves_everything_finite(name):
    rng = np.random.default_rng(0)
    B = rng.normal(size=(40, 40))
    Ks, y = make(7, n=40, M=2, real=kind(name))
    Ks[0] = B + B.T
    with pytest.warns(UserWarning, match="semidefinite"):
        s = fit(Ks, y, name, 2, 1e-3, max_iter=20)
    assert np.isfinite(s.theta).all() and np.isfinite(s.a).all() and np.isfinite(s.b).all()


@pytest.mark.parametrize("order", ["kernels last", "kernels first", "computed"])
def test_products_keep_the_digits_of_small_kernel_values_beside_large_ones(order):
    """Issue 11: k(x_1, x_1) = 1e-20 lost eleven digits to a constant of 1e-10, the smallest entry of the first row."""
    v = np.array([1.0, 1e-10, 0.7, 0.3])
    S = np.stack([np.outer(v, v), np.outer(v, v) ** 2], axis=2)
    if order == "computed":
        bank = DenseBank.from_scaled(S.transpose(2, 0, 1).copy(), ["a", "b"])
    else:
        laid = S if order == "kernels last" else np.ascontiguousarray(S.transpose(2, 0, 1)).transpose(1, 2, 0)
        bank = DenseBank(laid, normalize=None)
    found = bank.products(np.array([[1 / 3]]), np.array([1]))[0]
    np.testing.assert_allclose(found, S[:, 1].T / 3, rtol=1e-14)


@pytest.mark.parametrize("last", [True, False])
def test_a_copy_of_some_kernels_has_all_digits_of_the_matrices_given(last):
    """Issue 11: the copy kept scale · K in float32, so that a gap of 6e-9 was 7e-8 (fuzz, seed 20261122, 1560)."""
    S = np.array([np.eye(32), *make(8, n=32)[0], *5 * make(9, n=32)[0]], np.float32)
    bank = DenseBank(np.ascontiguousarray(np.moveaxis(S, 0, 2)) if last else np.moveaxis(S, 0, 2))
    rows, A = np.arange(32 if last else 12), np.random.default_rng(0).normal(size=(1, 12))
    small = bank.restrict(rows, np.array([0, 2]))
    found, wanted = (one.products(A, np.arange(12), rows, which) for one, which in ((small, None), (bank, [0, 2])))
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(small.diagonals(), bank.diagonals()[[0, 2]][:, rows], rtol=1e-14)
