"""What every solver keeps to on every kind of bank that it takes: `small_banks` has one of each kind."""

from functools import cache

import numpy as np
import pytest
from covering import covering
from small_banks import BANKS, problem_on

from manykernels.regularizers import BlockNorm, EmpiricalBayes, LpNorm
from manykernels.solvers import DEFAULTS, SOLVERS, Solver, best_for, coordinate, primal, solve
from problems import evaluate, partner

CONVEX = [name for name in SOLVERS if name != "mackay"]
TOL = {"simplemkl": 1e-2}  # it creeps where kernels are of low rank
SLOW = {"in blocks"}  # its inner problems are solved by products, which take long where there is nothing to gain
EXPLICIT = ["columns", "columns, CSR", "low rank", "low rank, float32", "joined", "degrees", "trie", "words"]
TAKES = {
    "coordinate": EXPLICIT,
    "interior": ["columns", "columns, CSR", "low rank"],
    "primal": ["columns", "low rank", "low rank, float32"],
}
CELLS = [(name, kind) for name in CONVEX for kind in TAKES.get(name, BANKS)]
QUICK = [(name, kind) for name, kind in CELLS if kind not in SLOW or name in ("newton", "chunking")]
every = pytest.mark.parametrize(("name", "kind"), QUICK)


def sample(first):
    """A third of the cells, which has every solver and every bank; the others are slow."""
    places = [(CONVEX.index(name) + TAKES.get(name, list(BANKS)).index(kind) + first) % 3 for name, kind in QUICK]
    cells = [
        pytest.param(*cell, marks=[pytest.mark.slow] * (place > 0)) for cell, place in zip(QUICK, places, strict=True)
    ]
    return pytest.mark.parametrize(("name", "kind"), cells)


def rounding(kind):
    """How far products in the precision of a bank may be from the kernels written out, relative."""
    return 1e-5 if "float32" in kind or kind in ("degrees", "slack") else 1e-9


@cache
def posed(name, kind):
    return problem_on(kind, "hinge", partner(name))


@cache
def solved(name, kind):
    """The solution, and what the callback was told."""
    records = []
    return solve(posed(name, kind)[0], name, TOL.get(name, 1e-3), callback=records.append), records


@cache
def truth(regularizer, kind):
    solver = "reweighted" if isinstance(regularizer, BlockNorm) else "newton"
    return solve(problem_on(kind, "hinge", regularizer)[0], solver, tol=1e-5)


def assert_honest(problem, Ks, s, near):
    """Values and gap are those of the points that are returned, and these are feasible."""
    proof = s.a if s.dual_a is None else s.dual_a
    lo, hi = problem.loss.box(problem.Y[0], problem.c[0])
    for a in (s.a, proof):
        assert np.all(a >= lo - 1e-12) and np.all(a <= hi + 1e-12) and abs(a.sum()) < 1e-9
    primal, _, scale = evaluate(problem, Ks, s.theta, s.a, s.b)
    assert s.primal == pytest.approx(primal, abs=near * scale)
    assert evaluate(problem, Ks, s.theta, proof, s.b)[1] >= s.dual - near * scale
    assert s.gap == pytest.approx((s.primal - s.dual) / scale, rel=1e-4, abs=1e-12)


@pytest.mark.parametrize("kind", BANKS)
@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_takes_a_bank_or_names_itself_and_the_reason(name, kind):
    loss, regularizer = ("squared", EmpiricalBayes(0.5)) if name == "mackay" else ("hinge", partner(name))
    problem, _ = problem_on(kind, loss, regularizer)
    reason = Solver(name).refusal(problem)
    assert (reason is None) == (kind in TAKES.get(name, BANKS))
    if reason is not None:
        with pytest.raises(ValueError, match=f"solver '{name}' cannot take this problem: .*features.*'auto'"):
            solve(problem, name)


@pytest.mark.parametrize("kind", BANKS)
def test_auto_is_a_solver_of_the_contract(kind):
    for regularizer in (LpNorm(1), LpNorm(2), BlockNorm(3)):
        problem, _ = problem_on(kind, "hinge", regularizer)
        name = best_for(problem).name
        assert name in DEFAULTS and (name, kind) in CELLS


@every
def test_the_certificate_belongs_to_the_points_that_are_returned(name, kind):
    s, best = solved(name, kind)[0], truth(partner(name), kind)
    assert s.converged and s.gap <= TOL.get(name, 1e-3)
    assert_honest(*posed(name, kind), s, rounding(kind))
    near = 1e-6 * best.primal
    assert s.dual <= best.primal + near and best.dual <= s.primal + near


@every
def test_the_history_tells_the_way_and_its_gap_never_rises(name, kind):
    s, records = solved(name, kind)
    assert [r["iteration"] for r in s.history] == list(range(1, s.n_iter + 1))
    assert len(records) == s.n_iter == len(s.history)
    times = [r["time"] for r in s.history]
    assert times == sorted(times) and s.gap <= s.history[-1]["gap"] + rounding(kind)
    assert {"primal", "dual", "gap", "certified", "n_support", "n_kernels"} <= s.history[0].keys()
    gaps = [r["gap"] for r in s.history if r["certified"] or name != "primal"]  # those are estimates, of a smooth loss
    assert all(after <= before * (1 + 1e-9) + rounding(kind) for before, after in zip(gaps, gaps[1:], strict=False))


@sample(2)
def test_a_warm_start_from_the_solution_needs_hardly_a_step(name, kind):
    problem, best = posed(name, kind)[0], truth(partner(name), kind)
    s = solve(problem, name, tol=2 * TOL.get(name, 1e-3), warm=best)
    assert s.converged and s.n_iter <= 3
    assert_honest(*posed(name, kind), s, rounding(kind))


FEATURES = [(name, kind) for name, kind in CELLS if name in TAKES]


@pytest.mark.parametrize("cell, loss", covering(FEATURES, ["squared", "logistic", "epsilon_insensitive"]))
def test_solvers_on_features_are_honest_with_other_losses_and_regularizers(cell, loss):
    name, kind = cell
    problem, Ks = problem_on(kind, loss, LpNorm(1.5 if name == "interior" else 1))
    if Solver(name).refusal(problem) is not None:
        assert (name, loss) == ("coordinate", "logistic")
        return
    before = None
    for max_iter in (1, 4, 1000):
        s = solve(problem, name, tol=1e-2, max_iter=max_iter)
        assert s.n_iter <= max_iter and s.converged == (s.gap <= 1e-2)
        assert_honest(problem, Ks, s, rounding(kind))
        if before is not None and name != "primal":
            assert s.primal <= before.primal * (1 + 1e-6) and s.dual >= before.dual - 1e-6 * s.primal
        before = s
    assert s.converged
    warm = solve(problem, name, tol=2e-2, warm=solve(problem, name, tol=1e-3))
    assert warm.converged and warm.n_iter <= 3


@pytest.mark.parametrize("name", ["coordinate", "primal"])
def test_a_solver_that_hands_over_goes_on_counting(name, monkeypatch):
    """`primal` leaves the last digits to `coordinate`, and that goes on with `newton` where passes no longer help."""
    monkeypatch.setattr(primal, "SMOOTHED_TOL", 1e-2)
    monkeypatch.setattr(coordinate, "IDLE_BEFORE_NEWTON", 1)
    problem, _ = problem_on("columns", "hinge", LpNorm(1.5))
    s = solve(problem, name, tol=1e-8)
    assert [r["iteration"] for r in s.history] == list(range(1, s.n_iter + 1))
    times = [r["time"] for r in s.history]
    assert times == sorted(times)
    for max_iter in (s.n_iter - 1, s.n_iter - 2):
        assert solve(problem, name, tol=1e-8, max_iter=max_iter).n_iter <= max_iter


def bayes(kind, noise=0.5):
    return problem_on(kind, "squared", EmpiricalBayes(noise=noise))


def likelihood(problem, Ks, s):
    """(−log p, stationarity) of the weights and the noise of a solution, straight from the definition."""
    y = problem.Y[0] - problem.Y[0].mean()
    K = np.einsum("m,mij->ij", s.theta, Ks) + s.noise * np.eye(len(y))
    inverse, every = np.linalg.inv(K), np.concatenate([Ks, np.eye(len(y))[None]])
    value = 0.5 * (y @ inverse @ y + np.linalg.slogdet(K)[1] + len(y) * np.log(2 * np.pi))
    a, traces = inverse @ y, np.trace(every, axis1=1, axis2=2) / np.trace(K)
    gradient = 0.5 * (np.einsum("ij,mij->m", inverse, every) - np.einsum("i,mij,j->m", a, every, a))
    used = slice(None) if problem.regularizer.noise == "learn" else slice(-1)
    share, slope = (np.append(s.theta, s.noise) * traces)[used], (gradient / traces)[used]
    return value, np.max(np.abs(share - np.maximum(share - 2 / len(y) * slope, 0.0)))


@pytest.mark.parametrize("noise", [0.5, "learn"])
@pytest.mark.parametrize("kind", [kind for kind in BANKS if "float32" not in kind])  # estimators give it float64 values
def test_the_likelihood_and_the_stationarity_of_mackay_are_those_of_the_weights(kind, noise):
    problem, Ks = bayes(kind, noise)
    told, near, before = [], 10 * rounding(kind), np.inf
    for max_iter in (1, 3, 1000):
        told.clear()
        s = solve(problem, "mackay", tol=1e-4, max_iter=max_iter, callback=told.append)
        value, stationarity = likelihood(problem, Ks, s)
        assert s.primal == pytest.approx(value, rel=near) == pytest.approx(-s.log_marginal_likelihood, rel=near)
        assert s.stationarity == pytest.approx(stationarity, rel=1e-3, abs=1e-6) and np.isnan(s.gap)
        assert s.converged == (s.stationarity <= 1e-4) and s.n_iter <= max_iter and s.primal <= before
        values, before = [r["primal"] for r in s.history], s.primal
        assert values == sorted(values, reverse=True) and [r["iteration"] for r in told] == list(range(1, s.n_iter + 1))
    assert s.converged
    warm = solve(problem, "mackay", tol=1e-3, warm=s)
    assert warm.converged and warm.n_iter <= 3


@pytest.mark.parametrize("kind", BANKS)
def test_an_interrupt_of_mackay_gives_the_last_point(kind):
    def stop(record):
        if record["iteration"] >= 2:
            raise KeyboardInterrupt

    problem, Ks = bayes(kind)
    s = solve(problem, "mackay", tol=0, callback=stop)
    assert s.interrupted and not s.converged and s.primal == s.history[-1]["primal"]
    assert s.primal == pytest.approx(likelihood(problem, Ks, s)[0], rel=10 * rounding(kind))
