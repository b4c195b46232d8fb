"""Points of inner problems: a start without steps, what a smooth loss leaves for its curvature, coupled losses."""

import numpy as np
import pytest
from operators import Matrix

from manykernels import losses
from manykernels.inner import InnerProblem, matrix_free
from manykernels.inner.coupled import CoupledProblem
from manykernels.inner.matrix_free import MatrixFreeProblem
from manykernels.inner.systems import HalfHessian
from manykernels.problem import covariate_basis
from problems import make, times


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "epsilon_insensitive", "huber", "quantile"])
def test_a_point_without_steps_has_its_outputs_and_its_gap(loss, intercept):
    """The start itself where the box is finite."""
    rng, V, size = np.random.default_rng(0), losses.get(loss), 24
    Ks, y = make(1, size, real=V.targets == "real")
    K, c, shift = Ks.sum(axis=0), rng.uniform(0.5, 2.0, size), rng.normal(size=size)
    inner = InnerProblem(V, y, c, intercept)
    start = inner.solve(K, np.zeros(size), 0.1, shift=shift)[0]
    assert start.any()
    a, outputs, b, gap = inner.solve(K, start, 1e-9, max_rounds=0, shift=shift)
    if np.isfinite(V.box(y, c)).all():
        np.testing.assert_allclose(a, start, atol=1e-12)
    np.testing.assert_allclose(outputs, K @ a + shift, atol=1e-9)
    value = c @ V.value(y, K @ a + shift + b) + a @ (K @ a + shift) + V.dual_value(y, c, a)
    assert gap == pytest.approx(value, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("factored", [0, 1200], ids=["products", "Cholesky"])
@pytest.mark.parametrize("loss", ["logistic", "poisson"])
def test_a_smooth_loss_without_a_matrix_leaves_the_curvature_of_its_solution(loss, factored, intercept, monkeypatch):
    """The terms of the conjugate at the a that was found, and with them the curvature in the weights."""
    monkeypatch.setattr(matrix_free, "MAX_FACTORED_VARIABLES", factored)
    rng, V, size = np.random.default_rng(2), losses.get(loss), 30
    if not intercept and V.targets == "count":
        pytest.skip("defined with an intercept")
    Ks, y = make(2, size, real="count" if V.targets == "count" else False)
    K, c = Ks.sum(axis=0), rng.uniform(0.3, 4.0, size)
    found = []
    for inner, block in ((MatrixFreeProblem(V, y, c, intercept), Matrix(K)), (InnerProblem(V, y, c, intercept), K)):
        a = inner.solve(block, V.start(y, c, intercept), 1e-9)[0]
        linear, diagonal, _ = V.quadratic(y, c, a)
        np.testing.assert_allclose(inner.diagonal, diagonal, rtol=1e-9)
        np.testing.assert_allclose(inner.linear, linear, rtol=1e-9, atol=1e-9)
        half = inner.half_hessian(block, np.ones(size, bool), Ks @ a)
        found.append(half.Z.T @ half.Z)
    assert isinstance(half, HalfHessian)
    np.testing.assert_allclose(found[0], found[1], atol=2e-2 * np.abs(found[1]).max())


@pytest.mark.parametrize("adjust", [False, True])
def test_the_curvature_of_a_coupled_loss_at_a_warm_start_has_the_shift(adjust):
    rng, V, size = np.random.default_rng(6), losses.get("cox"), 50
    Ks = make(6, size, 3)[0]
    y, c, shift = times(Ks[0][:, 0], rng, strata=2), rng.uniform(0.5, 2.0, size), 2.0 * rng.normal(size=size)
    E = covariate_basis(rng.normal(size=(size, 2)), False)[0] if adjust else None
    K, free = Ks.sum(axis=0), np.ones(size, bool)
    first, again = CoupledProblem(V, y, c, 1, E), CoupledProblem(V, y, c, 1, E)
    a = first.solve(K, np.zeros(size), 1e-12, shift=shift)[0]
    expected = first.half_hessian(K, free, Ks @ a)
    assert again.solve(K, a, 1e-6, shift=shift)[3] <= 1e-6 and again.system_at is None
    for block in (K, K.astype(np.float32)):
        again.system_at = None
        found = again.half_hessian(block, free, Ks @ a)
        size_of = np.abs(expected.Z.T @ expected.Z).max()
        np.testing.assert_allclose(found.Z.T @ found.Z, expected.Z.T @ expected.Z, rtol=0, atol=1e-3 * size_of)
    assert (first.slack(a, K @ a, 0.0) == -np.inf).all()  # every example is in the sums of others
    np.testing.assert_array_equal(CoupledProblem(V, y, np.where(free, c, 0.0) * (np.arange(size) > 3), 1).free(a),
                                  np.arange(size) > 3)  # fmt: skip


@pytest.mark.parametrize("adjust", [False, True])
def test_the_curvature_of_a_coupled_loss_leaves_out_examples_without_cost(adjust):
    """The same as without these examples, wherever they stand; B holds K_m a of the others."""
    rng, V, size = np.random.default_rng(9), losses.get("cox"), 50
    Ks = make(6, size, 3)[0]
    y, c = times(Ks[0][:, 0], rng, strata=2), rng.uniform(0.5, 2.0, size)
    c[[0, 3, 4, 17, 31]] = 0.0
    kept, E = np.flatnonzero(c), covariate_basis(rng.normal(size=(size, 2)), False)[0] if adjust else None
    found = []
    for rows in (np.arange(size), kept):
        inner = CoupledProblem(V, y[rows], c[rows], 1, None if E is None else E[rows])
        K = Ks[np.ix_(range(len(Ks)), rows, rows)]
        a = inner.solve(K.sum(axis=0), np.zeros(len(rows)), 1e-12)[0]
        free = inner.free(a)
        found.append(inner.half_hessian(K.sum(axis=0), free, (K @ a)[:, free]).Z)
    H, expected = (Z.T @ Z for Z in found)
    np.testing.assert_allclose(H, expected, rtol=0, atol=1e-3 * np.abs(expected).max())
