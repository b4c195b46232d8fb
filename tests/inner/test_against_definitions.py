"""Problems and inner problems against their definitions: costs of 0, covariates, shifts, any rows and kernels."""

import numpy as np
import pytest
from problems import make, times

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.inner import InnerProblem, matrix_free, systems
from manykernels.inner.coupled import CoupledProblem
from manykernels.inner.matrix_free import MatrixFreeProblem
from manykernels.inner.operator import Operator
from manykernels.inner.systems import Damped, Free, HalfHessian, cut_out, matvec
from manykernels.problem import Problem, covariate_basis, in_units
from manykernels.regularizers import Entropy, Fixed, LpNorm

n = 14
FREE = ["intercept", "nothing", "covariates", "covariates alone"]
LOSSES = ["hinge", "squared_hinge", "logistic", "squared", "epsilon_insensitive", "huber", "quantile", "smooth_hinge"]


def data(loss, T=2, seed=0):
    """(Ks (4, n, n), Y (T, n), c (T, n) with costs of 0, Z (n, 3) of rank 2); kernel 1 does not vary."""
    rng, V = np.random.default_rng(seed), losses.get(loss)
    Ks, y = make(seed, n, 4, real=V.targets == "real")
    Ks[1] = 1.0
    Y = np.array([y, -np.roll(y, 3)])[:T]
    c = rng.uniform(0.3, 2.0, size=Y.shape)
    c[0, 2], c[-1, 5] = 0.0, 0.0
    Z = np.column_stack([20 + rng.normal(size=n), np.arange(n) % 2])
    return Ks, Y, c, np.column_stack([Z, Z[:, 0] - 3 * Z[:, 1]])


def problem_of(loss, free, regularizer=None, T=2):
    Ks, Y, c, Z = data(loss, T)
    with pytest.warns(UserWarning, match="without variance"):
        bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    extra = dict(intercept=free in ("intercept", "covariates"), covariates=Z if "covariates" in free else None)
    return Problem(bank, Y, losses.get(loss), regularizer or LpNorm(2), c, **extra), Ks, Y, c, Z


def inside(problem, rng):
    """a (T, n) in its box, at random."""
    boxes = [problem.loss.box(y, c) for y, c in zip(problem.Y, problem.c, strict=True)]
    return np.array([np.clip(rng.normal(size=n), lo, hi) * 0.9 for lo, hi in boxes])


@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("loss", LOSSES)
def test_the_parts_of_a_certificate_are_sums_over_examples(loss, free):
    problem, Ks, Y, c, Z = problem_of(loss, free)
    rng, V, E = np.random.default_rng(1), problem.loss, problem.covariates
    a, outputs, rows = inside(problem, rng), rng.normal(size=(2, n)), np.array([0, 3, 4, 9, 13])
    b = rng.normal(size=problem.no_b().shape) * (free != "nothing")
    assert list(problem.kernels) == [0, 2, 3] and problem.n_outputs == 2 and not problem.no_b().any()
    for part in (slice(None), rows):
        some = np.arange(n)[part]
        level = np.array([[b[t] if E is None else b[t] @ E[i] for i in some] for t in range(2)])
        np.testing.assert_allclose(np.broadcast_to(problem.level(b, part), level.shape), level)
        risk, dual, lack = np.zeros(2), np.zeros(2), problem.no_b()
        for t in range(2):
            for k, i in enumerate(some):
                one = slice(i, i + 1)
                risk[t] += c[t, i] * V.value(Y[t, one], outputs[t, one] + level[t, k])[0]
                if c[t, i] > 0:
                    dual[t] += c[t, i] * V.conjugate(Y[t, one], -a[t, one] / c[t, i])[0]
            if E is not None:
                lack[t] = -sum(a[t, i] * E[i] for i in some)
            elif problem.intercept:
                lack[t] = -sum(a[t, i] for i in some)
        np.testing.assert_allclose(problem.losses(outputs[:, part], b, part), risk, rtol=1e-10)
        np.testing.assert_allclose(problem.conjugates(a[:, part], part), dual, rtol=1e-10, atol=1e-12)
        np.testing.assert_allclose(problem.lack(a[:, part], part), lack, atol=1e-12)
        theta, q = np.array([0.5, 0.1, 0.3]), rng.random(3)
        found = problem.certificate(risk, a[:, part], b, theta, q, part)
        omega = problem.regularizer.value(theta)
        expected = -dual.sum() - problem.regularizer.conjugate(0.5 * q) + np.sum(lack * b)
        far = np.array([np.abs(lack[t]).max() > 1e-6 * (1 + np.abs(a[t][part]).sum()) for t in range(2)])
        assert found.primal == pytest.approx(risk.sum() + 0.5 * theta @ q + omega, rel=1e-12)
        assert found.dual == (-np.inf if far.any() else pytest.approx(expected, rel=1e-10))
        assert found.scale == pytest.approx(risk.sum() + 0.5 * theta @ q + omega, rel=1e-12)
    if free != "nothing":  # one output alone is not feasible
        a = problem.start()
        a[1] += 1e-3 * problem.c[1] * np.sign(a[1] + (np.abs(a[1]) < 1e-9))
        assert problem.certificate(np.ones(2), a, b, theta, q).dual == -np.inf
    np.testing.assert_allclose(problem.lack(problem.start()), 0.0, atol=1e-9)


@pytest.mark.parametrize("free", FREE)
@pytest.mark.parametrize("loss", LOSSES)
def test_no_other_b_has_less_loss_and_the_origin_has_its_certificate(loss, free):
    problem, Ks, Y, c, Z = problem_of(loss, free)
    outputs = np.random.default_rng(2).normal(size=(2, n))
    b = problem.best_b(outputs)
    least = problem.losses(outputs, b)
    for t, k in np.ndindex(*b.reshape(2, -1).shape):
        for move in (-1e-3, 1e-3, 0.3, -0.3):
            other = b.copy()
            other.reshape(2, -1)[t, k] += move
            assert free == "nothing" or problem.losses(outputs, other)[t] >= least[t] - 1e-9
    (theta, a, b), certificate = problem.origin()
    assert not a.any() and (theta >= 0).all() and len(theta) == 3
    expected = [V @ cost for V, cost in zip(problem.loss.value(Y, problem.level(b) + 0 * Y), c, strict=True)]
    assert certificate.primal == pytest.approx(sum(expected) + problem.regularizer.value(theta), rel=1e-10)
    mean = (c * Y).sum(axis=1) / c.sum(axis=1) if problem.intercept else np.zeros(2)
    reach = 2 * c * np.abs(Y - mean[:, None]) if loss == "squared" else c
    np.testing.assert_allclose(problem.reach(), reach)
    size = 1e-12 * (Y - mean[:, None]) ** 2 + 1e-24 * Y**2 if loss == "squared" else 1e-12
    nothing = problem.certificate(np.zeros(2), np.zeros((2, n)), problem.no_b(), np.zeros(3), np.zeros(3))
    assert nothing.scale == pytest.approx(np.sum(c * size), rel=1e-12)


def test_the_origin_of_one_class_problems_has_the_sum_that_is_required():
    Ks, _ = make(0, n, 4)
    problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), np.ones((1, n)), losses.get("one_class"),
                      LpNorm(2), np.linspace(0.1, 0.4, n))  # fmt: skip
    (theta, a, b), found = problem.origin()
    f, q = np.einsum("m,mij,tj->ti", theta, Ks, a), np.einsum("ti,mij,tj->m", a, Ks, a)
    assert a.sum() == pytest.approx(1.0) and found.gap > 0
    assert found.primal == pytest.approx(
        problem.losses(f, b).sum() + problem.loss.total * b.sum() + 0.5 * theta @ q + problem.regularizer.value(theta)
    )
    assert found.dual == pytest.approx(problem.dual_value(a, q), rel=1e-9)


def test_rounding_has_the_costs_roots_and_weights_of_its_formula():
    for loss in ("hinge", "squared"):
        problem, Ks, _, c, _ = problem_of(loss, "intercept")
        rng = np.random.default_rng(3)
        a, theta, total = rng.normal(size=(2, n)), np.array([0.4, 0.0, 0.0, 0.7]), 0.0
        for t, i in np.ndindex(2, n):
            slope = abs(a[t, i]) if loss == "squared" else max(abs(a[t, i]), c[t, i])
            for m in (0, 3):
                own = np.sqrt(np.diag(Ks[m]))
                total += slope * theta[m] * own[i] * (np.abs(a[t]) @ own)
        assert problem.rounding(a, theta) == pytest.approx(2.0**-52 * total, rel=1e-10)


def test_a_problem_among_some_kernels_has_their_part_of_the_regularizer():
    problem, Ks, Y, c, _ = problem_of("hinge", "intercept", Fixed([0.5, 1.0, 2.0, 0.3]))
    part = problem.among(np.array([0, 2]))
    assert list(part.kernels) == [0, 3] and list(problem.kernels) == [0, 2, 3]
    np.testing.assert_allclose(part.regularizer.start(2), [0.5, 0.3])
    np.testing.assert_allclose(problem.among(np.array([1])).regularizer.start(1), [2.0])
    entropy = problem_of("hinge", "intercept", Entropy(0.5))[0]
    assert entropy.among(np.array([2, 0])).regularizer.start(2).shape == (2,)


@pytest.mark.parametrize("intercept", [False, True])
def test_a_basis_of_covariates_is_orthogonal_and_goes_back_to_their_units(intercept):
    Z = data("hinge")[3]
    for given in (Z, Z[:, :1], np.column_stack([np.ones(n), Z[:, 0]]), 1e6 + Z[:, :2], np.zeros((n, 0))):
        if given.shape[1] + intercept == 0:
            continue
        E, back = covariate_basis(given, intercept)
        whole = np.column_stack([np.ones(n), given]) if intercept else given
        np.testing.assert_allclose(E.T @ E, n * np.eye(E.shape[1]), atol=1e-8)
        np.testing.assert_allclose(whole @ back, E, atol=1e-7)
        assert E.shape[1] == np.linalg.matrix_rank((whole - whole.mean(axis=0) * (np.arange(whole.shape[1]) > 0)
                                                    if intercept else whole), tol=1e-7 * n)  # fmt: skip
        b = np.random.default_rng(0).normal(size=(2, E.shape[1]))
        level, w = in_units(b, back, intercept)
        assert intercept or not level.any()
        np.testing.assert_allclose(level[:, None] + w @ given.T, b @ E.T, atol=1e-6)


class Matrix(Operator):
    """A matrix that only multiplies."""

    def __init__(self, K):
        self.K, self.shape, self.dtype = K, K.shape, K.dtype

    def multiply(self, V):
        return V @ self.K

    def diagonal(self):
        return np.diagonal(self.K)

    def take(self, index):
        return Matrix(self.K[np.ix_(index, index)])

    def array(self):
        return self.K.copy()


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
        extra = dict(covariates=E) if how in ("dense", "float32") else {}
        inner = (InnerProblem if extra else MatrixFreeProblem)(*shape, 2, **extra)
        start = V.start(y, c, free == "intercept")
        if E is not None and V.interior:
            problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), y, V, LpNorm(2), c, True,
                              E[:, 1:])  # fmt: skip
            start, E = problem.start()[0], problem.covariates
            inner = InnerProblem(*shape, 2, covariates=E)
        for target in (1.0, 1e-3 if how == "float32" else 1e-7):
            given = start.copy()
            a, outputs, b, gap = inner.solve(K if extra else Matrix(K), start, target, shift=shift)
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
