"""Inner problems against their definitions: costs of 0, covariates, shifts, free variables, and their curvature."""

import numpy as np
import pytest
from operators import Matrix

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.inner import InnerProblem, matrix_free, systems
from manykernels.inner.adjusted import AdjustedProblem
from manykernels.inner.coupled import CoupledProblem
from manykernels.inner.matrix_free import MatrixFreeProblem
from manykernels.inner.systems import Damped, Free, HalfHessian, cut_out, matvec
from manykernels.problem import Problem, covariate_basis
from manykernels.regularizers import LpNorm
from problems import make, times

LOSSES = ["hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive", "huber", "quantile", "smooth_hinge"]


def gap_of(inner, K, a, b, shift, E):
    """Primal minus dual from the definition, with f = K a + shift + E b."""
    V, y, c, f = inner.loss, inner.y, inner.c, K @ a + shift + (b if E is None else E @ b)
    used = c > 0
    dual = c[used] @ V.conjugate(y[used], -a[used] / c[used]) + a @ (K @ a + shift)
    return c @ V.value(y, f) + V.total * (0.0 if E is not None else b) + dual


@pytest.mark.parametrize("how", ["dense", "float32", "products", "Cholesky"])
@pytest.mark.parametrize("free", ["intercept", "nothing", "covariates"])
@pytest.mark.parametrize("loss", [*LOSSES, "one_class", "poisson"])
def test_an_inner_problem_returns_a_feasible_point_its_outputs_and_its_gap(loss, free, how, monkeypatch):
    """From the start and from a feasible point elsewhere, with a shift and without, at a loose and a tight target."""
    monkeypatch.setattr(matrix_free, "MAX_FACTORED_VARIABLES", 1200 if how == "Cholesky" else 0)
    V, rng = losses.get(loss), np.random.default_rng(4)
    if free not in ("intercept", "nothing") and (how in ("products", "Cholesky") or V.total):
        pytest.skip("not offered")
    if loss == "one_class" and free != "intercept" or free == "nothing" and V.targets == "count":
        pytest.skip("defined with an intercept")
    size = 30
    Ks, y = make(5, size, 4, real={"real": True, "count": "count"}.get(V.targets, False))
    K = Ks.sum(axis=0).astype(np.float32 if how == "float32" else np.float64)
    c = rng.uniform(0.2, 3.0, size) if loss != "one_class" else rng.uniform(0.5, 1.0, size) / (0.3 * size)
    c[[4, 11]] = 0.0
    E = covariate_basis(np.column_stack([rng.normal(size=size), np.arange(size) % 3]), True)[0]
    E = E if free == "covariates" else None
    shape = V, y, c, free == "intercept"
    for shift in (0.0, rng.normal(size=size)):
        whole = how in ("dense", "float32")
        inner = (
            (InnerProblem if whole else MatrixFreeProblem)(*shape, 2) if E is None else AdjustedProblem(*shape, 2, E)
        )
        start = V.start(y, c, free == "intercept")
        if E is not None and V.interior:
            problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), y, V, LpNorm(2), c, True,
                              E[:, 1:])  # fmt: skip
            start, E = problem.start()[0], problem.covariates
            inner = AdjustedProblem(*shape, 2, E)
        for target in (1.0, 1e-3 if how == "float32" else 1e-7):
            given = start.copy()
            a, outputs, b, gap = inner.solve(K if whole else Matrix(K), start, target, shift=shift)
            np.testing.assert_array_equal(start, given)  # it is left as it was
            lo, hi = V.box(y, c)
            slack = 1e-12 * np.maximum(c, np.abs(a))
            assert (a >= lo - slack).all() and (a <= hi + slack).all() and not a[c == 0].any()
            lack = a.sum() - V.total if E is None else E.T @ a
            if free != "nothing":
                assert np.abs(lack).max() <= 1e-8 * max(1.0, np.abs(a).sum())
            one = K.astype(np.float64)
            noise = (3e-5 if how == "float32" else 1e-9) * (1 + np.abs(a).sum() * np.abs(one).max())
            np.testing.assert_allclose(outputs, one @ a + shift, rtol=0, atol=noise)
            true = gap_of(inner, one, a, b, shift, E)
            size_of = 1 + c @ np.abs(V.value(y, outputs)) + abs(a @ outputs)
            assert gap <= target and gap == pytest.approx(true, abs=(1e-3 if how == "float32" else 1e-9) * size_of)
            start = a  # the next starts there


def strata_problem(adjust):
    rng, V = np.random.default_rng(6), losses.get("cox")
    size = 70
    Ks = make(6, size, 3)[0]
    y = times(Ks[0][:, 0], rng, strata=2)
    c = rng.uniform(0.5, 2.0, size)
    E = covariate_basis(rng.normal(size=(size, 2)), False)[0] if adjust else None
    return Ks, y, c, E, V


@pytest.mark.parametrize("size", [10.0, 1e3])
def test_a_start_where_the_loss_has_no_curvature_is_left_for_none(size):
    """As a warm start for a much larger C may be: its outputs are far apart, and all risk sets have one member left."""
    Ks, y, c, E, V = strata_problem(True)
    K = 30.0 * Ks.sum(axis=0)
    inner = CoupledProblem(V, y, c, 1, E)
    a, outputs, b, gap = inner.solve(K, -V.slope(y, c, np.zeros(len(y))), 1e-8)
    assert gap <= 1e-8
    far = size * a[::-1]
    found = inner.solve(K, far - E @ (E.T @ far) / len(E), 1e-8)
    assert found[3] <= 1e-8
    np.testing.assert_allclose(found[1] + E @ found[2], outputs + E @ b, atol=1e-4 * np.abs(outputs).max())


def test_outputs_and_coefficients_belong_together_after_a_shortened_step(monkeypatch):
    """Every other trial of a step is refused, as one that goes too far would be."""
    Ks, y, c, E, V = strata_problem(True)
    K = Ks.sum(axis=0)
    expected = CoupledProblem(V, y, c, 1, E).solve(K, np.zeros(len(y)), 1e-10)
    plain, calls = CoupledProblem._value, []

    def refusing(self, a, outputs, f):
        calls.append(plain(self, a, outputs, f))
        np.testing.assert_allclose(outputs, K @ a, atol=1e-9)
        return calls[-1] + (1e9 if len(calls) in (2, 5, 8) else 0.0)  # the first trials of three steps

    monkeypatch.setattr(CoupledProblem, "_value", refusing)
    a, outputs, b, gap = CoupledProblem(V, y, c, 1, E).solve(K, np.zeros(len(y)), 1e-10)
    assert gap <= 1e-10 and len(calls) > 9
    np.testing.assert_allclose(outputs + E @ b, expected[1] + E @ expected[2], atol=1e-4)


@pytest.mark.parametrize("adjust", [False, True])
@pytest.mark.parametrize("factored", [5000, 10])
def test_coupled_losses_have_their_optimum_and_its_curvature_in_the_weights(adjust, factored, monkeypatch):
    """More than 64 examples in two strata. H by differences of the slope; [I + HK, HE; Eᵀ, 0] by a dense solve."""
    monkeypatch.setattr("manykernels.inner.coupled.MAX_FACTORED", factored)
    Ks, y, c, E, V = strata_problem(adjust)
    size, shift = len(y), np.random.default_rng(7).normal(size=len(y)) * 0.3
    theta = np.array([0.4, 0.7, 0.2])
    K = np.tensordot(theta, Ks, 1)
    for by in (0.0, shift):
        inner = CoupledProblem(V, y, c, 1, E)
        a, outputs, b, gap = inner.solve(K, np.zeros(size), 1e-13, shift=by)
        f = K @ a + by + (0.0 if E is None else E @ b)
        np.testing.assert_allclose(outputs, K @ a + by, atol=1e-9)
        np.testing.assert_allclose(a, -V.slope(y, c, f), atol=1e-5)
        assert gap <= 1e-10 and (E is None or np.abs(E.T @ a).max() < 1e-6)
        H, step = np.empty((size, size)), 1e-5
        for j in range(size):
            move = step * (np.arange(size) == j)
            H[:, j] = (V.slope(y, c, f + move) - V.slope(y, c, f - move)) / (2 * step)
        B = Ks @ a
        half = inner.half_hessian(K, np.ones(size, bool), B)
        left, right = np.eye(size) + H @ K, H @ B.T
        if E is not None:
            k = E.shape[1]
            left = np.block([[left, H @ E], [E.T, np.zeros((k, k))]])
            right = np.vstack([right, np.zeros((k, 3))])
        expected = B @ np.linalg.solve(left, right)[:size]
        np.testing.assert_allclose(half.Z.T @ half.Z, expected, atol=1e-4 * np.abs(expected).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("equality", ["none", "sum", "columns"])
def test_systems_of_any_free_variables_are_solved_by_factors_and_by_gradients(equality, dtype, monkeypatch):
    monkeypatch.setattr(systems, "MAX_SERIAL_ROWS", 4)
    rng, size = np.random.default_rng(8), 40
    K = make(8, size)[0].sum(axis=0).astype(dtype)
    index, diagonal, r = np.sort(rng.permutation(size)[:23]), rng.uniform(0.5, 2.0, size), rng.normal(size=23)
    E = {"none": None, "sum": np.ones((23, 1)), "columns": rng.normal(size=(23, 3))}[equality]
    given = {"none": False, "sum": True, "columns": E}[equality]
    A = K.astype(np.float64)[np.ix_(index, index)] + np.diag(diagonal[index])
    s = None if E is None else (np.array([0.7]) if equality == "sum" else rng.normal(size=3))
    whole, right = A, r
    if E is not None:
        k = E.shape[1]
        whole, right = np.block([[A, E], [E.T, np.zeros((k, k))]]), np.concatenate([r, s])
    expected = np.linalg.solve(whole, right)[:23]
    close = dict(rtol=0, atol=(1e-4 if dtype == np.float32 else 1e-8) * np.abs(expected).max())
    np.testing.assert_array_equal(cut_out(K, index, np.float64, 2), K[np.ix_(index, index)])
    for most in (10**4, 5):
        monkeypatch.setattr(systems, "MAX_FACTORED_VARIABLES", most)
        for kind in (Free, Damped):
            target = 0.0 if s is None else float(s[0]) if equality == "sum" else s
            x, _ = kind(K, index, diagonal, given, 2).solve(r, target)
            np.testing.assert_allclose(x, expected, **close)
    free = np.zeros(size, bool)
    free[index] = True
    B = rng.normal(size=(3, 23))
    for most in (10**4, 9):
        monkeypatch.setattr(systems, "MAX_FACTORED_VARIABLES", most)
        half = HalfHessian(K, free, diagonal, given, B, 2)
        some = np.searchsorted(index, half.index)
        A_, E_ = A[np.ix_(some, some)], None if E is None else E[some]
        P = np.linalg.inv(A_)
        if E_ is not None:
            P -= P @ E_ @ np.linalg.solve(E_.T @ P @ E_, E_.T @ P)
        assert len(some) == min(most, 23)
        size_of = np.abs(B[:, some] @ P @ B[:, some].T).max()
        np.testing.assert_allclose(half.Z.T @ half.Z, B[:, some] @ P @ B[:, some].T, rtol=0, atol=2e-4 * size_of)
        move = np.array([0.3, -1.0, 0.2])
        np.testing.assert_allclose(half.response(move), -P @ B[:, some].T @ move, rtol=0, atol=1e-3 * size_of)
    for support in (np.arange(0), np.arange(size), index):
        v = np.zeros(size)
        v[support] = rng.normal(size=len(support))
        np.testing.assert_allclose(
            matvec(K, v, 2), K.astype(np.float64) @ v, atol=1e-4 if dtype == np.float32 else 1e-11
        )


@pytest.mark.parametrize("loss", LOSSES)
def test_the_objective_of_an_inner_problem_has_its_shift_once(loss):
    """½ aᵀK a + shiftᵀa + Σ c V*(−a/c), whose slope is K a + shift + linear + diagonal a for a quadratic conjugate."""
    rng, V, size = np.random.default_rng(11), losses.get(loss), 12
    Ks, y = make(11, size, real=V.targets == "real")
    K, c, shift = Ks.sum(axis=0), rng.uniform(0.3, 2.0, size), rng.normal(size=size)
    inner = InnerProblem(V, y, c, True)
    inner.shift = shift
    lo, hi = V.box(y, c)
    a = np.clip(rng.normal(size=size), lo + 0.1 * np.minimum(c, hi - lo), hi - 0.1 * np.minimum(c, hi - lo))
    np.testing.assert_allclose(inner.outputs(K, a), K @ a + shift, atol=1e-12)
    value = 0.5 * a @ K @ a + shift @ a + c @ V.conjugate(y, -a / c)
    assert inner.objective(a, K @ a + shift) == pytest.approx(value, rel=1e-12)
