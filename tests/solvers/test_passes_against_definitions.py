"""The passes of `primal` and the visits of `coordinate` against sums over all examples, in blocks of a few of them."""

from dataclasses import replace

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks.choice import explicit_bank
from manykernels.banks.dense import DenseBank
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import BlockElasticNet, LpNorm
from manykernels.solvers import Control, _primal_passes, _primal_quadratic, coordinate, primal, solve
from manykernels.solvers._primal_passes import MOVABLE_DISTANCE, LinearModel, Stage
from manykernels.solvers._primal_quadratic import Answer, Curvature
from manykernels.solvers.coordinate import REST_DISTANCE, Coordinate, Passes, VisitedOutput
from manykernels.solvers.primal import Descent

LOSSES = [
    "hinge",
    "squared_hinge",
    "logistic",
    "squared",
    "epsilon_insensitive",
    "huber",
    "quantile",
    "one_class",
    "wide",
]
pytestmark = pytest.mark.filterwarnings("ignore:kernels without variance")


def make(loss, n=40, T=2, intercept=True, seed=0):
    """(problem, features √scale φ (n, 7), the kernel of each) with a kernel without variance, and costs of 0."""
    rng = np.random.default_rng(seed)
    V = losses.EpsilonInsensitive(epsilon=0.6) if loss == "wide" else losses.get(loss)
    X = rng.normal(size=(n, 7))
    X[:, 2] = 0.0
    specs = [("a", Linear(), [0, 1]), ("flat", Linear(), [2]), ("b", Linear(), [3, 4, 5]), ("c", Linear(), [6])]
    f = X[:, 0] + 0.6 * X[:, 4] + 0.4 * rng.normal(size=n) + 0.3
    Y = np.array([f, -np.roll(f, 1) + X[:, 6]])[:T]
    Y = Y if V.targets == "real" else np.ones_like(Y) if loss == "one_class" else np.where(Y > 0, 1.0, -1.0)
    c = rng.uniform(0.3, 2.0, size=Y.shape)
    c = c / (0.3 * c.sum(axis=1, keepdims=True)) if loss == "one_class" else c
    c[0, 3] = c[-1, n - 1] = 0.0
    bank = explicit_bank(KernelList.from_spec(specs, X), X)
    owners = np.array([0, 0, 1, 2, 2, 2, 3])
    return Problem(bank, Y, V, LpNorm(2), c, intercept), X * np.sqrt(bank.scale)[owners], owners


def smoothed(V, y, c, f, mu):
    """(a, Σ c V_μ) of one output: a maximises −a f − c V*(−a/c) − (μ/2c) a², on a fine grid for a kinked loss."""
    a, value = np.zeros(len(y)), 0.0
    lo, hi = V.box(y, c)
    for i in np.flatnonzero(c > 0):
        one = slice(i, i + 1)
        if V.interior:
            a[i] = -c[i] * V.gradient(y[one], f[one])[0]
            value += c[i] * V.value(y[one], f[one])[0]
            continue
        linear, diagonal, kink = (np.ravel(part)[0] for part in V.quadratic(y[one], c[one], np.zeros(1)))
        curve = diagonal + mu / c[i]
        tries = [lo[i], hi[i], 0.0] + ([-(f[i] + linear + s * kink) / curve for s in (-1, 1)] if curve > 0 else [])
        tries = [t for t in tries if np.isfinite(t) and lo[i] <= t <= hi[i]]
        dual = [-t * (f[i] + linear) - 0.5 * curve * t * t - kink * abs(t) for t in tries]
        a[i], value = tries[int(np.argmax(dual))], value + max(dual)
    return a, value


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_pass_has_the_slope_the_curvature_and_the_values_of_all_examples(loss, intercept, monkeypatch):
    monkeypatch.setattr(_primal_passes, "ROWS_PER_BLOCK", 7)
    monkeypatch.setattr(_primal_quadratic, "MAX_WAITING_ROWS", 9)
    if loss == "one_class" and not intercept:
        pytest.skip("defined with an intercept")
    problem, F, owners = make(loss, intercept=intercept)
    run, rng, V = Descent(problem, Control()), np.random.default_rng(1), problem.loss
    run.per_feature = 10**9  # every example enters the curvature
    theta, spread = np.array([0.5, 0.2, 0.7]), np.array([0.5, 0.5, 0.0, 0.2, 0.2, 0.2, 0.7])
    w = rng.normal(size=(2, 7)) * (owners != 1)
    place = LinearModel(w, rng.normal(size=(2, int(intercept))), theta)
    b = place.b.sum(axis=1)
    mu = 0.0 if run.smooth else 0.4
    every = np.arange(40)
    for kept in (None, np.full((40, 7), np.nan)):
        level = Stage(every, 1e-3, None, kept)
        for first in (True, False):
            visit = run._visit(level, place, mu, first)
        f = w @ F.T + b[:, None]
        np.testing.assert_allclose(visit.f, f, atol=1e-12)
        lift = 1e-6
        for t in range(2):
            y, c = problem.Y[t], problem.c[t]
            a, value = smoothed(V, y, c, f[t], mu)
            np.testing.assert_allclose(visit.a[t], a, atol=1e-9)
            assert run.sides[t].value(every, f[t], mu) == pytest.approx(value, rel=1e-9, abs=1e-9)
            np.testing.assert_allclose(visit.v[t], a @ F, atol=1e-9)
            S = -(smoothed(V, y, c, f[t] + lift, mu)[0] - smoothed(V, y, c, f[t] - lift, mu)[0]) / (2 * lift)
            H = (F.T * S) @ F
            if intercept and S.sum() > 0:
                H -= np.outer(S @ F, S @ F) / S.sum()
            V_ = rng.normal(size=(7, 2))
            np.testing.assert_allclose(visit.curves[t].multiply(V_), H @ V_, rtol=0, atol=1e-4 * np.abs(H).max())
        if not V.interior:  # an example that is not near keeps its bound within that distance
            far = ~visit.near
            for move in (-0.999, 0.999):
                moved = [smoothed(V, y, c, f_t + move * MOVABLE_DISTANCE, mu)[0]
                         for y, c, f_t in zip(problem.Y, problem.c, f, strict=True)]  # fmt: skip
                np.testing.assert_allclose(np.array(moved)[:, far], visit.a[:, far], atol=1e-9)
            away = np.array([
                [smoothed(V, y, c, f_t + move * MOVABLE_DISTANCE, mu)[0] for move in (-1.2, 1.2)]
                for y, c, f_t in zip(problem.Y, problem.c, f, strict=True)
            ]) - visit.a[:, None]  # fmt: skip
            assert (np.abs(away).max(axis=(0, 1))[visit.near & (problem.c > 0).all(axis=0)] > 0).all()
        risk = sum(c @ V.value(y, f_t) for y, c, f_t in zip(problem.Y, problem.c, f, strict=True))
        half = 0.5 * np.sum(w**2 @ np.divide(1, spread, out=np.zeros(7), where=spread > 0))
        q = np.array([np.sum(visit.v[:, owners == m] ** 2) for m in (0, 2, 3)])
        off = (V.total - visit.a.sum(axis=1)) * intercept
        shrunk = problem.regularizer.shrink(0.5 * q)
        dual = off @ b - problem.conjugates(visit.a).sum() - problem.regularizer.conjugate(0.5 * shrunk**2 * q)
        primal = risk + V.total * b.sum() + half + problem.regularizer.value(theta)
        assert visit.certificate.primal == pytest.approx(primal, rel=1e-9)
        assert visit.certificate.dual == pytest.approx(dual, rel=1e-9)
        assert visit.smoothing == pytest.approx(
            risk + problem.conjugates(visit.a).sum() + np.sum(visit.a * f), rel=1e-6, abs=1e-8
        )
        np.testing.assert_allclose(run._sums(visit.a), visit.a @ F, atol=1e-9)
        np.testing.assert_allclose(run._norms(visit.v), q, rtol=1e-12)
    near = np.flatnonzero(visit.near)
    if 0 < len(near) < 40:  # the others are held: at the same place nothing changes
        small = Stage(near, 1e-3, visit.far, np.full((len(near), 7), np.nan))
        part = run._visit(small, place, mu, True)
        np.testing.assert_allclose(part.v, visit.v, atol=1e-9)
        assert part.certificate.primal == pytest.approx(visit.certificate.primal, rel=1e-9)
        assert part.certificate.dual == pytest.approx(visit.certificate.dual, rel=1e-9)
        np.testing.assert_allclose(run._off(small, part.a).sum(axis=1), off, atol=1e-9)


def test_a_sample_of_the_examples_stands_for_all_in_the_curvature(monkeypatch):
    monkeypatch.setattr(_primal_passes, "ROWS_PER_BLOCK", 16)
    problem, _, _ = make("squared", n=64, T=1)
    problem.c = np.full((1, 64), 0.5)
    run = Descent(problem, Control())
    place = LinearModel(np.zeros((1, 7)), np.zeros((1, 1)), np.full(3, 0.5))
    for run.per_feature, rows in ((10**9, 64), (4, 32), (2, 16)):
        curve = run._visit(Stage(np.arange(64), 1e-3), place, 0.0).curves[0]
        assert curve.H is not None or len(curve.R) == rows
        assert curve.s.item() == pytest.approx(64.0)  # Σ S, S = 2 c = 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [0, 1, 2])
@pytest.mark.parametrize("blocks", [(3,), (5, 30, 2, 9), (20, 1)])
def test_the_quadratic_model_and_its_minimum_are_those_of_dense_matrices(blocks, k, dtype, monkeypatch):
    """Few rows are kept, more are summed; θ = 0 holds its features. k is the number of free coefficients."""
    monkeypatch.setattr(_primal_quadratic, "MAX_WAITING_ROWS", 6)
    rng, D = np.random.default_rng(sum(blocks)), 8
    curve, root, rows, roots, columns = Curvature(D, k), rng.uniform(0.5, 2.0, D), [], [], []
    for size in (*blocks, 0):
        G, r = rng.normal(size=(size, D)).astype(dtype), rng.random(size)
        E = rng.normal(size=(size, k))
        curve.add(G, r, E)
        columns.append(E)
        rows.append(G.astype(float))
        roots.append(r)
    curve.close(root)
    G, S, E = np.vstack(rows) * root, np.concatenate(roots) ** 2, np.vstack(columns)
    h, s = (E.T * S) @ G, (E.T * S) @ E
    H = (G.T * S) @ G - h.T @ np.linalg.solve(s, h)
    close = dict(rtol=0, atol=(1e-5 if dtype == np.float32 else 1e-11) * np.abs(H).max())
    np.testing.assert_allclose(curve.multiply(np.eye(D)), H, **close)
    np.testing.assert_allclose(curve.h, h, **close)
    np.testing.assert_allclose(curve.s, s, rtol=1e-6, atol=1e-12)
    for theta in (np.array([0.5, 0.3, 0.2]), np.array([0.5, 0.0, 0.9])):

        class Held:  # what `Answer` asks of a run
            owners, kernels, bank = np.array([0, 0, 1, 1, 1, 2, 2, 2]), np.arange(3), type("Bank", (), {"M": 3})
            D = 8

            @staticmethod
            def _spread(theta):
                return theta[Held.owners]

        spread, x, linear = theta[Held.owners], rng.normal(size=D), rng.normal(size=(2, D))
        A = np.eye(D) + np.sqrt(spread)[:, None] * H * np.sqrt(spread)
        np.testing.assert_allclose(curve.factor(spread)(x), np.linalg.solve(A, x), rtol=0, atol=close["atol"] * 10)
        answer, value = Answer(Held, [curve, curve], list(linear), theta), 0.0
        for t in range(2):
            used = spread > 0
            w = np.zeros(D)
            w[used] = np.linalg.solve(H[np.ix_(used, used)] + np.diag(1 / spread[used]), -linear[t][used])
            value += linear[t] @ w + 0.5 * w @ H @ w + 0.5 * np.sum(w[used] ** 2 / spread[used])
            np.testing.assert_allclose(answer.w[t], w, rtol=0, atol=1e-4 if dtype == np.float32 else 1e-10)
        assert answer.value == pytest.approx(value, rel=1e-4 if dtype == np.float32 else 1e-9)
        half, step = answer.half_hessian(), 1e-4
        if (theta > 0).all() and dtype == np.float64:  # of the value in θ, by differences of −½ ‖v‖²
            slopes = []
            for m, sign in np.ndindex(3, 2):
                moved = theta + (step if sign else -step) * (np.arange(3) == m)
                v = Answer(Held, [curve, curve], list(linear), moved).v
                slopes.append([-0.5 * np.sum(v[:, Held.owners == k] ** 2) for k in range(3)])
            slopes = np.array(slopes).reshape(3, 2, 3)
            expected = (slopes[:, 1] - slopes[:, 0]) / (2 * step)
            np.testing.assert_allclose(half.T @ half, expected, rtol=0, atol=1e-5 * np.abs(expected).max())


@pytest.mark.parametrize("intercept", [True, False])
@pytest.mark.parametrize("loss", [loss for loss in LOSSES if loss != "logistic"])
def test_a_visit_solves_for_its_examples_and_keeps_every_sum(loss, intercept):
    if loss == "one_class" and not intercept:
        pytest.skip("defined with an intercept")
    problem, F, owners = make(loss, T=1, intercept=intercept)
    V, y, c, n = problem.loss, problem.Y[0], problem.c[0], 40
    rng, start = np.random.default_rng(2), problem.start()[0]
    side = VisitedOutput(problem, y, c, start, 0.3 * intercept, None)
    theta = np.array([0.5, 0.0, 0.2, 0.7])
    weighted = F * np.sqrt(theta)[owners]
    K, (lo, hi), b = weighted @ weighted.T, V.box(y, c), 0.3 * intercept
    np.testing.assert_array_equal(side.active, np.flatnonzero(c > 0))
    for turn in range(1, 18):
        rows, before = rng.permutation(np.flatnonzero(c > 0))[: rng.integers(2, 9)], side.a.copy()
        force = np.trace(K[np.ix_(rows, rows)]) / len(rows) if intercept else 0.0
        excess = before.sum() - V.total
        side.visit(rows, theta, 1e-10)
        others = np.setdiff1d(np.arange(n), rows)
        np.testing.assert_array_equal(side.a[others], before[others])
        np.testing.assert_allclose(side.outputs[rows], K[rows] @ before, atol=1e-9)
        now = side.a.sum() - V.total
        np.testing.assert_allclose(side.excess, now, atol=1e-9)
        assert (side.a >= lo).all() and (side.a <= hi).all()

        def value(a, rows=rows, b=b, before=before, force=force, excess=excess):
            """½ aᵀK a + Σ c V*(−a/c) + b Σa + ½ force (Σa − total)²."""
            return 0.5 * a @ K @ a + V.dual_value(y, c, a) + b * a.sum() + 0.5 * force * (a.sum() - V.total) ** 2

        for i in rows:
            for move in (-1e-3, 1e-3, 0.2, -0.2):
                other = side.a.copy()
                other[i] = np.clip(other[i] + move, lo[i], hi[i])
                assert value(other) >= value(side.a) - 1e-8
        if turn % 8 == 0:
            b += 0.5 * force * now
        assert side.b == pytest.approx(b, abs=1e-9) and side.turn == turn
    q = np.array([np.sum((side.a @ F)[owners == m] ** 2) for m in range(4)])
    np.testing.assert_allclose(side.vectors.q, q, atol=1e-8)
    moved = side.a.sum()
    side.settle()
    if intercept:
        assert side.a.sum() == pytest.approx(V.total, abs=1e-9) and (side.a >= lo).all() and (side.a <= hi).all()
    else:
        assert side.a.sum() == moved
    assert side.excess == 0.0
    np.testing.assert_allclose(side.look_up(theta), K @ side.a, atol=1e-9)
    np.testing.assert_allclose(side.outputs, K @ side.a, atol=1e-9)
    side.rest()
    f = K @ side.a + side.b
    quiet = []
    for i in np.setdiff1d(np.flatnonzero(c > 0), side.active):  # a stays the best while f moves less than the distance
        one = slice(i, i + 1)
        for move in (-0.99, 0.99):
            best, _ = smoothed(V, y[one], c[one], f[one] + move * REST_DISTANCE, 0.0)
            quiet.append(abs(best[0] - side.a[i]))
    assert max(quiet, default=0.0) < 1e-9 and set(side.active) <= set(np.flatnonzero(c > 0))
    free = (side.a > lo + 1e-9) & (side.a < hi - 1e-9) & (np.abs(side.a) > 1e-9)
    assert set(np.flatnonzero(free)) <= set(side.active)
    assert side.risk() == pytest.approx(c[side.active] @ V.value(y[side.active], f[side.active]), rel=1e-9, abs=1e-12)
    state = side.state()
    again = VisitedOutput(problem, y, c, side.a, side.b, state)
    np.testing.assert_array_equal(again.active, side.active)
    assert (again.turn, again.excess) == (side.turn, side.excess) and again.outputs is state["outputs"]


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive", "squared_hinge"])
def test_every_turn_visits_every_active_example_once_and_every_certificate_wakes_all(loss, monkeypatch):
    problem, _, _ = make(loss, n=60)
    run = Passes(problem, Control(tol=1e-6, max_iter=4), 7, 0)
    seen, visit, certify = [], VisitedOutput.visit, Passes._certify

    def noted(self, rows, theta, precision):
        assert len(rows) <= 7
        seen.append((id(self), rows))
        visit(self, rows, theta, precision)

    def checked(self):
        certify(self)
        assert all(
            np.array_equal(side.active, np.flatnonzero(c > 0)) for side, c in zip(self.sides, problem.c, strict=True)
        )

    first = {}

    def passed(self, side, closed, run_pass=Passes._pass):
        seen.clear()
        active = side.active.copy()
        run_pass(self, side, closed)
        found = np.concatenate([rows for who, rows in seen if who == id(side)])
        np.testing.assert_array_equal(np.sort(found), active)
        first.setdefault(id(side), found)

    monkeypatch.setattr(VisitedOutput, "visit", noted)
    monkeypatch.setattr(Passes, "_pass", passed)
    monkeypatch.setattr(Passes, "_certify", checked)
    run.run(Passes.iterate)
    assert all((np.diff(order) < 0).any() for order in first.values()) and len(first) == 2  # in random order


@pytest.mark.parametrize("solver", ["primal", "coordinate"])
@pytest.mark.parametrize("loss", LOSSES)
def test_explicit_solvers_find_the_optimum_of_the_matrices_in_few_steps(loss, solver, monkeypatch):
    """Two outputs, costs of 0, a kernel without variance; from nothing, and from the end of a fit at other costs."""
    monkeypatch.setattr(_primal_passes, "ROWS_PER_BLOCK", 50)
    if solver == "coordinate" and loss == "logistic":
        pytest.skip("its small problems are quadratic")
    problem, F, owners = make(loss, n=160, seed=3)
    Ks = np.array([F[:, owners == m] @ F[:, owners == m].T for m in (0, 2, 3)])
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    dense = Problem(bank, problem.Y, problem.loss, LpNorm(2), problem.c)
    whole = solve(dense, "newton", tol=1e-9)
    bent = solver == "primal" and not problem.loss.smooth
    tol = 1e-3 if bent else 1e-4
    found = solve(problem, solver, tol=tol)
    assert found.gap <= tol and abs(found.primal - whole.primal) <= tol * max(abs(whole.primal), 1.0)
    assert found.theta[1] == 0.0
    assert found.n_iter <= (30 if bent and loss != "one_class" else 52 if bent else 12 if solver == "primal" else 8)
    other = Problem(problem.bank, problem.Y, problem.loss, LpNorm(2), 0.9 * problem.c + 0.1 * problem.c.max())
    if loss != "one_class":
        far = solve(other, solver, tol=tol)
        warm = solve(problem, solver, tol=tol, warm=far)
        assert warm.gap <= tol and abs(warm.primal - whole.primal) <= tol * max(abs(whole.primal), 1.0)
    assert solve(problem, solver, tol=2 * tol, warm=found).n_iter <= 2


def test_what_is_left_of_the_work_is_given_back():
    """Half of it is kept for Newton steps, which a run that converges does not need."""
    problem, _, _ = make("hinge", n=60)
    control = Control(tol=1e-3)
    control.work = 1e12
    assert Coordinate(size=16).solve(problem, control).converged
    assert 0.99e12 < control.work < 1e12


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_every_line_search_has_the_outputs_of_its_own_examples(loss, monkeypatch):
    """Between two places on all examples or on those near, f is that of these places."""
    problem, F, _ = make(loss, n=160, seed=3)
    between, seen = Descent._between, []

    def checked(self, level, last, place, visit, mu):
        for at, found in (last, (place, visit)):
            np.testing.assert_allclose(found.f, at.w @ F[level.rows].T + at.b, atol=1e-9)
        seen.append(len(level.rows))
        return between(self, level, last, place, visit, mu)

    monkeypatch.setattr(Descent, "_between", checked)
    monkeypatch.setattr(primal, "MAX_PARTIAL_SHARE", 0.99)
    assert solve(problem, "primal", tol=1e-3).gap <= 1e-3
    assert min(seen) < 160 == max(seen)


def test_the_part_of_the_gap_due_to_the_weights_is_finite_where_the_conjugate_is_an_indicator():
    problem, _, _ = make("hinge")
    theta, q = np.array([0.5, 0.1, 0.3]), np.array([4.0, 50.0, 9.0])
    for regularizer in (LpNorm(2), BlockElasticNet(0.0)):
        run = Descent(Problem(problem.bank, problem.Y, problem.loss, regularizer, problem.c), Control())
        omega = run.problem.regularizer
        t = omega.shrink(0.5 * q) ** 2
        assert (t < 1) == (not omega.finite_conjugate)
        expected = omega.value(theta) + omega.conjugate(0.5 * t * q) - 0.5 * t * theta @ q
        assert 0 <= run._weights_gap(theta, q) == pytest.approx(expected, rel=1e-12)


def test_the_seed_of_a_solver_comes_before_that_of_the_estimator():
    problem, _, _ = make("hinge", n=60)

    def outcome(own, given):
        return solve(problem, Coordinate(size=7, random_state=own), tol=1e-3, max_iter=2, random_state=given).a

    np.testing.assert_array_equal(outcome(3, 0), outcome(3, 1))
    np.testing.assert_array_equal(outcome(None, 3), outcome(3, 0))
    assert (outcome(None, 0) != outcome(None, 1)).any()


def test_the_better_of_the_passes_and_the_finish_is_returned(monkeypatch):
    problem, _, _ = make("hinge", n=60)
    monkeypatch.setattr(coordinate, "IDLE_BEFORE_NEWTON", 1)
    end = coordinate.Newton.solve
    for gap, worse in ((1.0, True), (0.0, False)):
        monkeypatch.setattr(coordinate.Newton, "solve", lambda *args, gap=gap: replace(end(*args), gap=gap))
        found = solve(problem, Coordinate(size=7), tol=1e-14)
        assert (found.gap < 1.0) and (found.gap > 0.0) == worse
