"""The record of a run, what `solve` makes of its result, its bounds at rare ends, and the word for its end."""

from contextlib import suppress
from dataclasses import replace

import numpy as np
import pytest
from numpy.testing import assert_array_equal

from manykernels import losses, regularizers, solvers
from manykernels.banks import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.kernels import KernelList, Linear
from manykernels.losses import Hinge, Squared
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, EmpiricalBayes, LpNorm
from manykernels.solution import Solution, Status
from manykernels.solvers import BaseSolver, Chunking, Control, Newton, _run, diagnosis, seed_of, solve
from manykernels.solvers import diagnosis as words
from manykernels.solvers._run import Finished, Run
from manykernels.solvers._warm import _continued, thinned
from problems import make, small_problem


def two_outputs(regularizer, n=30):
    Ks, y = make(0, n)
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    return Problem(bank, [y, -np.roll(y, 3)], Hinge(), regularizer, np.linspace(0.3, 1.5, n)), Ks


def test_the_best_point_does_not_follow_arrays_that_change_later():
    problem, _ = two_outputs(LpNorm(2))
    good = solve(problem, tol=1e-2)
    theta, a, b = good.theta.copy(), good.a.copy(), good.b.copy()
    run = Run(problem, Control(1e-12, 50))
    run.certify(theta, a, b=b)
    theta[:], a[:] = 0.0, 0.0
    for name, value in (("theta", good.theta), ("a", good.a)):
        assert_array_equal(run.best[name], value)
    assert_array_equal(run.best_dual, good.a)
    start = problem.start()
    run.certify(np.full(4, 0.5), start)  # worse: the best stays
    assert_array_equal(run.best["a"], good.a)
    assert run.upper == pytest.approx(good.primal) and len(run.history) == 2
    warm = Run(problem, Control(1e-3, 9, warm=good))
    warm.a[:] = 0.0
    assert good.a.any()


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("name", ["auto", "silp", "newton"])
def test_examples_of_several_outputs_are_counted_once(name, p):
    problem, _ = two_outputs(LpNorm(1) if name == "silp" else LpNorm(p))
    found = solve(problem, name, tol=1e-3)
    last = found.history[-1]
    assert last["n_support"] == np.count_nonzero(found.a.any(axis=0)) < np.count_nonzero(found.a)
    assert last["n_kernels"] == np.count_nonzero(found.theta)
    assert last["gap"] == found.gap and found.converged


def test_the_clock_of_a_second_solver_goes_on():
    problem = small_problem("hinge", LpNorm(2))[0]
    control = Control(1e-3, 9)
    control.history = [{"time": 100.0, "gap": 0.5}]
    run = Run(problem, control)
    with suppress(Finished):
        run.certify(run.theta, run.a)
    assert run.history[-1]["time"] >= 100.0 and run.history[-1]["iteration"] == 2


def test_only_a_whole_run_is_thinned():
    problem = small_problem("hinge", LpNorm(1), M=8)[0]
    found = solve(problem, tol=1e-2, thin=False)

    def fails(*_):
        pytest.fail("it goes on")

    for other in (replace(found, converged=False), replace(found, interrupted=True)):
        assert thinned(problem, other, 1e-2, fails) is other
    smooth = small_problem("hinge", LpNorm(2), M=8)[0]
    whole = solve(smooth, tol=1e-2)
    assert thinned(smooth, whole, 1e-2, fails) is whole


@pytest.mark.parametrize("gap", [1e-2, 1e-5])
def test_an_interrupt_of_the_smaller_problem_is_that_of_the_fit(gap):
    problem = small_problem("hinge", LpNorm(1), M=8)[0]
    found = replace(solve(problem, tol=1e-2, thin=False), gap=gap)
    keep = np.flatnonzero(found.theta)
    for interrupted in (False, True):

        def again(small, aim, warm, interrupted=interrupted):
            return replace(solve(small, tol=1e-6, thin=False), interrupted=interrupted)

        assert _continued(problem, found, 1e-2, again, keep, 1e-6).interrupted is interrupted
    assert _continued(problem, found, 1e-2, None, keep[:0], 1e-6) is found


@pytest.mark.parametrize("regularizer", [LpNorm(1), LpNorm(2), ElasticNet(0.5), BlockNorm(3)], ids=repr)
def test_warm_weights_outside_the_domain_are_taken_into_it(regularizer):
    """As after a change of the regularizer: a run begins at weights that it allows."""
    problem, _ = two_outputs(regularizer)
    found = solve(two_outputs(LpNorm(2))[0], tol=1e-2)
    for theta in (np.array([0.1, 3.0, 0.0, 2.0]), np.zeros(4), np.array([0.3, -0.2, 0.1, 0.1])):
        run = Run(problem, Control(warm=replace(found, theta=theta)))
        assert run.theta.any() and (run.theta >= 0).all()
        if regularizer.has("value"):
            assert np.isfinite(problem.regularizer.value(run.theta))
    inside = problem.regularizer.start(4)
    assert_array_equal(Run(problem, Control(warm=replace(found, theta=inside))).theta, inside)


def test_weights_that_are_not_finite_end_a_run_at_the_point_without_kernels():
    problem, _ = two_outputs(LpNorm(2))
    found = Run(problem, Control(1e-9)).run(lambda run: run.certify(np.full(4, np.nan), run.a))
    _, origin = problem.origin()
    assert found.primal == pytest.approx(origin.primal) and found.dual == pytest.approx(origin.dual)
    assert found.history[-1]["gap"] == found.gap < np.inf and not found.a.any()
    assert found.reason.startswith("a step led to weights that are negative, not finite or outside")
    good = solve(problem, tol=1e-2)
    reached = Run(problem, Control(0.5)).run(lambda run: run.certify(good.theta, good.a))
    assert reached.converged and reached.reason == ""


n = 50
SPECS = [("a", Linear(), [0, 1]), ("b", Linear(), [2, 3]), ("c", Linear(), [4])]


def posed(explicit=True, T=2, p=2):
    rng = np.random.default_rng(3)
    X = rng.normal(size=(n, 5))
    f = X[:, 0] - X[:, 2] + 0.5 * rng.normal(size=n) + 0.2
    Y = np.where(np.array([f, np.roll(f, 2)])[:T] > 0, 1.0, -1.0)
    bank = FeatureBank.from_list(KernelList.from_spec(SPECS, X), X)
    if not explicit:
        bank = DenseBank(np.stack([X[:, c] @ X[:, c].T for *_, c in SPECS], axis=2))
    return Problem(bank, Y, losses.get("hinge"), LpNorm(p), rng.uniform(0.5, 2.0, (T, n)))


@pytest.mark.parametrize("explicit", [True, False])
@pytest.mark.parametrize("off", [3e-8, -3e-8])
def test_a_bound_has_the_rounding_of_its_sum_at_the_intercepts_of_the_result(off, explicit):
    """Σa is off by so much at the dual point, and its b is far from that of the best point."""
    problem = posed(explicit)
    good = solve(problem, "newton", tol=1e-4)
    proof = good.a.copy()
    for t, (a, c) in enumerate(zip(proof, problem.c, strict=True)):
        proof[t, np.flatnonzero((np.abs(a) > 0.01) & (np.abs(a) < 0.9 * c))[0]] += off * (t + 1)

    def method(run):
        run.certify(good.theta, proof, b=good.b + np.array([300.0, -200.0]))
        run.certify(good.theta, 0.9 * good.a, b=good.b)

    found = Run(problem, Control(1e-12)).run(method)
    assert_array_equal(found.b, good.b)
    assert_array_equal(found.dual_a, proof)
    q = np.einsum("tmi,ti->m", problem.bank.products(proof, np.arange(n)), proof)
    exact = problem.certificate(np.zeros(2), proof, good.b, good.theta, q)
    assert found.dual == pytest.approx(exact.dual, abs=1e-9)


@pytest.mark.parametrize("way", ["before a point", "worse", "better"])
def test_ctrl_c_in_a_spare_solver_gives_the_better_of_both_points(way, monkeypatch):
    """Where "auto" goes on with another solver after one that has stalled."""
    problem, short = posed(explicit=False), solve(posed(explicit=False), "newton", tol=1e-2, max_iter=2)
    short = replace(short, converged=False)
    monkeypatch.setattr(Newton, "solve", lambda self, problem, control: short)

    def broken(self, problem, control):
        if way == "before a point":
            raise KeyboardInterrupt
        return replace(short, interrupted=True, gap=short.gap * (2.0 if way == "worse" else 0.5), theta=np.ones(3))

    monkeypatch.setattr(Chunking, "solve", broken)
    found = solve(problem, tol=1e-14)
    assert found.interrupted and found.status is Status.INTERRUPTED
    assert found.gap == (0.5 * short.gap if way == "better" else short.gap)
    assert_array_equal(found.theta, np.ones(3) if way == "better" else short.theta)


class Asked(BaseSolver):
    """Keeps its request, and returns the solution of another solver without a history."""

    def __init__(self):
        self.seen = []

    def solve(self, problem, control):
        self.seen.append((control.tol, control.max_iter, control.warm, control.random_state))
        return replace(solve(problem, "newton", tol=1e-6), history=[], n_iter=0)


def test_a_solver_gets_a_feasible_start_the_seed_and_the_limits():
    large, small = small_problem("hinge", LpNorm(2), C=10.0)[0], small_problem("hinge", LpNorm(2), C=0.1)[0]
    warm, solver = solve(large, tol=1e-4), Asked()
    found = solve(small, solver, 1e-4, 77, warm, random_state=5)
    (tol, most, start, seed), *rest = solver.seen
    assert (tol, most, seed, rest) == (1e-4, 77, 5, [])
    assert np.abs(warm.a).max() > 0.1 >= np.abs(start.a).max() and abs(start.a.sum()) < 1e-12
    assert found.n_iter == len(found.history) == 1 and found.history[0]["gap"] == found.gap
    solve(small, solver)
    assert solver.seen[-1][2:] == (None, None)
    for bad in (0, -3):
        with pytest.raises(ValueError, match="max_iter must be at least 1"):
            solve(small, "newton", max_iter=bad)


def test_seeds_are_whole_numbers_of_at_least_0_or_drawn():
    assert [seed_of(value) for value in (None, 0, 7, np.int64(3))] == [0, 0, 7, 3]
    for make_one in (np.random.default_rng, np.random.RandomState):
        generator = make_one(1)
        first, second = seed_of(generator), seed_of(generator)
        assert first != second and first == seed_of(make_one(1)) and 0 <= first < 2**31
    for bad in (True, False, -1, 1.5, "1", np.array([])):
        with pytest.raises(ValueError, match="give None, an integer >= 0"):
            seed_of(bad)


def own(problem, found, tol=1e-3):
    return words.certified(problem, "mine", found, tol)


def test_a_result_from_outside_keeps_a_proof_that_is_better_and_says_what_it_claimed():
    problem = small_problem("hinge", LpNorm(2))[0]
    good, poor = solve(problem, tol=1e-6), solve(problem, tol=0.3, max_iter=1)
    rough = replace(good, a=0.9 * good.a, dual_a=good.a)
    found = own(problem, rough)
    assert found.dual_a is good.a and found.dual == pytest.approx(good.dual, rel=1e-5)
    worse = own(problem, replace(good, dual_a=0.5 * good.a))
    assert worse.dual_a is None and worse.dual == pytest.approx(good.dual, rel=1e-5)
    assert own(problem, replace(good, reason="mine")).reason == "mine"
    claimed = own(problem, replace(good, a=0.5 * good.a, dual_a=None, gap=0.0), 1e-4)
    assert claimed.reason.startswith("solver 'mine' claimed a gap of 0.0e+00, and its theta, a and b have")
    assert not claimed.converged and own(problem, replace(poor, gap=0.5), 1e-4).reason == poor.reason


def test_a_reason_is_told_of_a_gap_that_is_not_reached_alone():
    problem = small_problem("hinge", LpNorm(2))[0]
    good = solve(problem, tol=1e-3)

    def algorithm(run):
        run.reason = "a reason"
        run.certify(good.theta, good.a)

    for tol, reason in ((0.5, ""), (1e-12, "a reason")):
        assert Run(problem, solvers.Control(tol, 1)).run(algorithm).reason == reason
    assert isinstance(solvers.get("newton"), Newton)


rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)


def problem(*matrices, C=1.0, normalize="multiplicative"):
    return Problem(DenseBank(np.stack(matrices, axis=2), normalize=normalize), y, Hinge(), LpNorm(2), C)


PLAIN = X @ X.T, np.exp(-((X[:, :1] - X[:, 0]) ** 2))


def test_a_gap_that_is_reached():
    found = solve(problem(*PLAIN))
    assert found.status is Status.REACHED and found.reason == ""


def test_steps_that_are_used_up():
    found = solve(problem(*PLAIN), tol=1e-10, max_iter=1, solver="analytic")
    assert found.status is Status.STEPS and found.reason == diagnosis.CURES[Status.STEPS]


def test_a_kernel_that_is_not_positive_semidefinite():
    with pytest.warns(UserWarning, match="positive semidefinite"):
        given = problem(np.tanh(X @ X.T - 1.0), C=100.0, normalize=None)
    found = solve(given, tol=1e-9)
    assert not found.converged and found.status is Status.INDEFINITE and "psd=" in found.reason


def test_values_that_float64_cannot_hold():
    found = solve(problem(X @ X.T + 1e9, normalize=None), tol=1e-9)
    assert found.status in (Status.ROUNDING, Status.ROUGH) and found.reason.startswith("rounding alone")


def test_work_that_is_used_up(monkeypatch):
    monkeypatch.setattr("manykernels.solvers.SMALL_FIT_WORK", 1.0)
    found = solve(problem(*PLAIN), tol=1e-10, solver="newton")
    assert found.status is Status.WORK and found.reason.startswith(diagnosis.CURES[Status.WORK])


@pytest.mark.parametrize("tol, precision", [(1e-2, "float32"), (1e-6, "float64")])
def test_precision_is_that_of_the_combined_kernel(tol, precision, monkeypatch):
    assert solve(problem(*PLAIN), tol=tol, solver="newton").precision == "float64"  # few examples
    monkeypatch.setattr(_run, "MIN_FLOAT32_EXAMPLES", 0)
    assert solve(problem(*PLAIN), tol=tol, solver="newton").precision == precision


def test_a_file_keeps_both_and_old_files_have_neither():
    found = solve(problem(*PLAIN))
    state = found.to_state()
    assert type(state["status"]) is str
    again = Solution.from_state(state)
    assert (again.status, again.precision) == (found.status, found.precision)
    old = {name: value for name, value in state.items() if name not in ("status", "precision")}
    assert Solution.from_state(old).status is None
    for wrong in ({"status": "fine"}, {"precision": "float16"}):
        with pytest.raises(ValueError):
            Solution.from_state(state | wrong)


def test_a_noise_that_vanishes():
    bank = DenseBank(np.exp(-50 * (X[:, :1] - X[:, 0]) ** 2)[:, :, None])
    found = solve(Problem(bank, X[:, 0], Squared(), EmpiricalBayes(noise="learn"), 1.0))
    assert found.converged and found.status is Status.NOISELESS
    assert found.reason == diagnosis.sentence_for(Status.NOISELESS, noise=found.noise)


def rounded(regularizer, c, offset=1.0):
    """Targets without a trace of the two kernels, whose norms at a = c y are nothing but rounding."""
    t = np.arange(28)
    x = np.where(t % 2 == 0, 1e-3, -1e-3)
    y = 0.5 * np.where(t % 4 < 2, 1.0, -1.0) * (1 + np.repeat([0.19, 0.08, 0.01, 0.005, 0.24, 0.27, 0.18], 4))
    K = np.stack([np.outer(f, f) for f in (offset + x, offset - x)], axis=2)
    return Problem(DenseBank(K, normalize=None), y, losses.get("huber"), regularizer, c)


@pytest.mark.parametrize("regularizer", [regularizers.Wedge(), regularizers.BlockElasticNet(0.0)])
@pytest.mark.parametrize("c", [1e7, 1e8])
def test_norms_that_are_all_rounding_are_told_of(regularizer, c):
    """A gap of 0 and no word, since the primal value of weights near 0 is well known."""
    asked = rounded(regularizer, c)
    found = solve(asked)
    assert found.converged and found.reason.startswith("rounding alone")
    assert asked.rounding(np.abs(found.a), found.theta) < 1e-3 * found.primal  # the primal value alone says nothing


@pytest.mark.parametrize("regularizer", [regularizers.Wedge(), regularizers.LpNorm(1), regularizers.LpNorm(2)])
@pytest.mark.parametrize(("c", "offset"), [(1.0, 1.0), (1e3, 1.0), (1e8, 0.0)])
def test_norms_that_are_known_well_enough_are_not(regularizer, c, offset):
    assert solve(rounded(regularizer, c, offset)).reason == ""
