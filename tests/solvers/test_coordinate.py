"""Explicit features of sequences, the look-up by tables and nodes, and the coordinate solver on them."""

from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from agreement import assert_agree
from numpy.testing import assert_array_equal

from manykernels import MKLClassifier, losses
from manykernels.banks.choice import explicit_bank
from manykernels.banks.dense import DenseBank
from manykernels.banks.features import FeatureBank
from manykernels.banks.words.degree import DegreeBank
from manykernels.datasets import make_splice
from manykernels.kernels import RBF, KernelList, Linear, rank_one_kernels
from manykernels.problem import Problem
from manykernels.regularizers import Entropy, LpNorm
from manykernels.solvers import Solver, coordinate, solve
from manykernels.solvers.coordinate import VisitedOutput
from manykernels.strings import (
    WeightedDegree,
    degree_kernels,
    position_kernels,
)  # fmt: skip


def strings(unknown=True):
    """Strings that share words, some twice, some with an N."""
    rng = np.random.default_rng(0)
    S = ["".join(row) for row in rng.choice(list("ACGT"), p=[0.5, 0.2, 0.2, 0.1], size=(60, 24))]
    S[1] = S[0]
    if unknown:
        S[2], S[3] = S[2][:7] + "N" + S[2][8:], S[4][:20] + "NNNN"
    return S


def problem_pair(loss, n=150):
    """The same problem on explicit features and on matrices."""
    X, y = make_splice(n, length=41, positives=0.3, random_state=0)
    kernels = KernelList.from_spec(degree_kernels(6), X)
    banks = DegreeBank.from_list(kernels, X, n_jobs=2), DenseBank(np.stack([k(X) for k in kernels.kernels], axis=2))
    return (Problem(bank, y.astype(float), losses.get(loss), LpNorm(2)) for bank in banks)


@pytest.mark.parametrize("n", [60, 200])
def test_examples_without_cost_change_nothing(n):
    """Few examples are one block, of those that can move."""
    explicit, dense = problem_pair("hinge", n)
    costs = np.where(np.arange(n) % 3, 1.0, 0.0)
    explicit, dense = (Problem(p.bank, p.Y, p.loss, p.regularizer, costs) for p in (explicit, dense))
    one, two = solve(explicit, "coordinate", tol=1e-7), solve(dense, "newton", tol=1e-8)
    assert one.gap <= 1e-7 and not one.a[0, ::3].any()
    assert_agree(dense, one, two, rounding=1e-6)


def test_runs_repeat_exactly_for_one_random_state_and_any_number_of_threads():
    X, y = make_splice(400, length=41, positives=0.2, random_state=1)
    a = [
        MKLClassifier(degree_kernels(6), solver=Solver("coordinate", random_state=3), n_jobs=n_jobs)
        .fit(X, y)
        .dual_coef_
        for n_jobs in (1, 1, 2)
    ]
    assert_array_equal(a[0], a[1])
    assert_array_equal(a[0], a[2])


def test_what_has_no_explicit_features_is_refused():
    X, y = make_splice(60, length=41, positives=0.3)
    with pytest.raises(ValueError, match="coordinate.*explicit features"):
        MKLClassifier([RBF(gamma=1.0)], solver="coordinate").fit(np.random.default_rng(0).normal(size=(60, 2)), y)
    with pytest.raises(ValueError, match="coordinate.*logistic"):
        MKLClassifier(degree_kernels(3), solver="coordinate", loss="logistic").fit(X, y)
    with pytest.raises(ValueError, match="size"):
        MKLClassifier(degree_kernels(3), solver=Solver("coordinate", size=1)).fit(X, y)


def test_a_kernel_without_variance_is_named_and_has_no_weight():
    S = [s[:10] + "AG" + s[12:] for s in strings(unknown=False)]
    y = np.where(np.array([s[3] for s in S]) == "A", 1, -1)
    with pytest.warns(UserWarning, match="without variance.*position 10"):
        model = MKLClassifier(position_kernels(24, 1), solver="coordinate").fit(S, y)
    assert model.kernel_weights_[10] == 0 and model.kernel_weights_[3] == model.kernel_weights_.max()


def test_a_memory_limit_makes_the_table_smaller():
    S = strings()
    kernels = KernelList.from_spec(degree_kernels(7), S)
    assert DegreeBank.from_list(kernels, S, memory_limit=4 * 24 * 4 * 90).direct == 3


def test_overlapping_tables_are_left_to_matrices():
    S = strings()
    both = [("wd", WeightedDegree(4)), *degree_kernels(2)]
    for kernels in (both, both[::-1]):
        assert DegreeBank.from_list(KernelList.from_spec(kernels, S), S) is None


@pytest.mark.parametrize("C", [1e-4, 1e-2])
@pytest.mark.parametrize("p", [1, 2])
def test_small_costs_that_leave_no_example_between_its_bounds_lose_nothing(C, p):
    """All a are 0 or C after a pass, so that Σa = 0 must be met by moving some of them off their bounds."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 5))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=200) > 0.3, 1.0, -1.0)
    bank = FeatureBank.from_list(KernelList.from_spec(rank_one_kernels(5), X), X)
    s = solve(Problem(bank, y, losses.get("hinge"), LpNorm(p), C), "coordinate", tol=1e-3, max_iter=40)
    assert s.converged and s.a.any()


def test_the_multiplier_of_the_sum_is_found_on_the_way():
    """At fixed weights the passes alone, without a repair, bring Σa to its total: b rises where Σa is too large."""
    explicit, _ = problem_pair("squared_hinge")
    theta = explicit.regularizer.start(explicit.bank.M)
    side = VisitedOutput(explicit, explicit.Y[0], explicit.c[0], np.zeros(150), 0.0, None)
    rng = np.random.default_rng(0)
    for _ in range(30):
        for rows in np.split(rng.permutation(150), 5):
            side.visit(rows, theta, 1e-9)
    assert abs(side.a.sum()) < 1e-3 * np.abs(side.a).sum()


def test_small_programs_have_their_effort_anew_while_the_gap_falls():
    """What they take together is not what ends a run that gets on: of 400 examples it took all of it before 1e-5."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    rng.random((400, 20))
    f = X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=400)
    bank = FeatureBank.from_list(KernelList.from_spec(rank_one_kernels(20), X), X)
    problem = Problem(bank, np.where(f > np.median(f), 1.0, -1.0), losses.get("hinge"), LpNorm(1))
    assert solve(problem, "coordinate", tol=1e-5).converged


@pytest.mark.parametrize("seed", [None, 0, 1])
@pytest.mark.parametrize("name", ["coordinate", "interior"])
def test_an_entropy_that_is_small_beside_the_cuts_reaches_its_gap(name, seed):
    """Its Ω* is nearly a maximum there: slopes say little of the minimum of the cuts, and Newton steps of the optimum.

    Also of data that differ by rounding, as products on another processor do."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 12))
    y = np.where(X[:, :4].sum(axis=1) + 0.3 * rng.normal(size=200) > 0, 1.0, -1.0)
    if seed is not None:
        X *= 1 + 1e-13 * np.random.default_rng(seed).normal(size=X.shape)
    bank = FeatureBank.from_list(KernelList.from_spec(rank_one_kernels(12), X), X)
    found = solve(Problem(bank, y, losses.get("hinge"), Entropy(0.5), 10.0), name, tol=1e-5)
    assert found.converged and found.primal == pytest.approx(170.467, rel=3e-5)


@pytest.mark.parametrize("lam", [5.0, 0.05, 0.005])
@pytest.mark.parametrize("count", [1, 3, 40])
def test_the_minimum_of_cuts_and_an_entropy_is_certified(lam, count):
    from manykernels.solvers._cuts import CurvedCuts, cuts_for
    from manykernels.solvers._oracle import InnerPoint

    rng, regularizer = np.random.default_rng(count), Entropy(lam)
    cuts = cuts_for(regularizer)
    assert isinstance(cuts, CurvedCuts)
    for _ in range(count):
        q = rng.gamma(0.3, size=20) * rng.choice([1.0, 1000.0])
        cuts.add(InnerPoint(None, np.zeros((1, 2)), q, 500.0, float(rng.uniform(0, 500)), None, None, None))
    theta, lower = cuts.minimum(1e-3)
    assert theta.min() >= 0 and theta.sum() == pytest.approx(1)
    assert 0 <= cuts.values(theta).max() + regularizer.value(theta) - lower <= 1e-3
    dual = cuts.multipliers @ cuts.constants - regularizer.conjugate(-cuts.multipliers @ cuts.slopes)
    assert lower == pytest.approx(dual, abs=1e-9) and cuts.multipliers.sum() == pytest.approx(1)


def test_what_is_moved_onto_its_sum_has_no_excess():
    """A stale excess would pull at every later visit."""
    explicit, _ = problem_pair("squared_hinge")
    theta = explicit.regularizer.start(explicit.bank.M)
    side = VisitedOutput(explicit, explicit.Y[0], explicit.c[0], np.zeros(150), 0.0, None)
    for rows in np.split(np.random.default_rng(0).permutation(150), 5):
        side.visit(rows, theta, 1e-9)
    assert side.excess == pytest.approx(side.a.sum()) and abs(side.excess) > 1e-3
    side.settle()
    assert abs(side.excess - side.a.sum()) < 1e-12


def few_words(monkeypatch, p=1):
    """A problem of words whose passes may hand over to Newton steps, as those of many examples may."""
    monkeypatch.setattr(coordinate, "MAX_NEWTON_EXAMPLES", 10)
    sequences, targets = make_splice(250, length=30, positives=0.4, random_state=1)
    kernels = KernelList.from_spec(degree_kernels(4), sequences)
    return Problem(explicit_bank(kernels, sequences), np.where(targets > 0, 1.0, -1.0), losses.Hinge(), LpNorm(p))


def test_newton_steps_end_the_run_where_few_examples_matter(monkeypatch):
    """At p = 1: 20,000 sequences × 20 degrees take a third of the time, and a gap of 1e-5 hardly more."""
    problem, steps = few_words(monkeypatch), Mock(wraps=coordinate.Newton.solve)
    monkeypatch.setattr(coordinate.Newton, "solve", lambda self, *given: steps(self, *given))
    found = solve(problem, "coordinate", tol=1e-6, thin=False)
    assert steps.call_count == 1 and found.converged
    monkeypatch.setattr(coordinate, "NEWTON_GAP", 0.0)
    passes = solve(problem, "coordinate", tol=1e-6, thin=False)
    assert steps.call_count == 1 and passes.converged
    assert found.primal == pytest.approx(passes.primal, rel=3e-6)
    monkeypatch.undo()
    smooth = few_words(monkeypatch, p=2)
    monkeypatch.setattr(coordinate.Newton, "solve", lambda self, *given: steps(self, *given))
    assert solve(smooth, "coordinate", tol=1e-6).converged and steps.call_count == 1


def test_passes_go_on_where_newton_steps_do_not_end(monkeypatch):
    problem, calls = few_words(monkeypatch), []
    start = solve(problem, "newton", tol=0.3, thin=False)

    def cut_off(self, problem, control):
        calls.append(control)
        return replace(start, converged=False, gap=1.0)

    monkeypatch.setattr(coordinate.Newton, "solve", cut_off)
    found = solve(problem, "coordinate", tol=1e-4, thin=False)
    assert len(calls) == 1 and found.converged and found.gap <= 1e-4


def test_an_example_rests_exactly_where_no_move_within_its_box_gains(monkeypatch):
    """By one-sided derivatives of the dual at a bound, at the kink and inside; at the distance itself it rests."""
    monkeypatch.setattr(coordinate, "REST_DISTANCE", 0.25)
    a, outputs = (part.ravel() for part in np.meshgrid([-1.0, -0.5, 0.0, 0.5, 1.0], np.arange(-12, 13) / 8))
    n = len(a)
    X = np.random.default_rng(0).normal(size=(n, 1))
    bank = FeatureBank.from_list(KernelList.from_spec([Linear()], X), X)
    loss = losses.EpsilonInsensitive(0.5)
    c = np.where(np.arange(n) % 7 == 0, 0.0, 1.0)
    side = VisitedOutput(Problem(bank, np.zeros(n), loss, LpNorm(2), c), np.zeros(n), c, a * c, 0.125, None)
    side.outputs = outputs
    side.rest()
    rising, falling = (outputs + 0.125 + 0.5 * np.where(at, 1.0, -1.0) for at in (a >= 0, a > 0))
    moves = (a < 1) & (rising < 0.25) | (a > -1) & (falling > -0.25)
    assert_array_equal(side.active, np.flatnonzero(moves & (c > 0)))
