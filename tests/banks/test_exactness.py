"""The engine against conic programs: every loss, every p, the gap as a certificate."""

import numpy as np
import pytest
from conic import solve_conic

from manykernels import losses, regularizers
from manykernels.banks import DenseBank, _stack
from manykernels.problem import Problem
from manykernels.solvers import solve
from problems import costs, kind, make


@pytest.fixture(autouse=True, params=[0, _stack.FEW_ENTRIES], ids=["loops", "NumPy"])
def either_way(request, monkeypatch):
    monkeypatch.setattr(_stack, "FEW_ENTRIES", request.param)


def fit(Ks, y, name, p, tol, C=1.0, intercept=True, **options):
    loss = losses.get(name)
    intercept = intercept and name != "level_set"
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    c = costs(loss, Ks.shape[1], C)
    return solve(Problem(bank, y, loss, regularizers.get(p), c, intercept), tol=tol, **options)


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
    """k(x_1, x_1) = 1e-20 lost eleven digits to a constant of 1e-10, the smallest entry of the first row."""
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
    """The copy kept scale · K in float32, so that a gap of 6e-9 was 7e-8 (fuzz, seed 20261122, 1560)."""
    S = np.array([np.eye(32), *make(8, n=32)[0], *5 * make(9, n=32)[0]], np.float32)
    bank = DenseBank(np.ascontiguousarray(np.moveaxis(S, 0, 2)) if last else np.moveaxis(S, 0, 2))
    rows, A = np.arange(32 if last else 12), np.random.default_rng(0).normal(size=(1, 12))
    small = bank.restrict(rows, np.array([0, 2]))
    found, wanted = (one.products(A, np.arange(12), rows, which) for one, which in ((small, None), (bank, [0, 2])))
    np.testing.assert_allclose(found, wanted, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(small.diagonals(), bank.diagonals()[[0, 2]][:, rows], rtol=1e-14)
