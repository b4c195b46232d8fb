"""A run that ends in the middle of a step has an honest result: by Ctrl-C, for want of work or of steps, at any moment.

Two outputs, unequal costs and costs of 0, a kernel without variance before the others, few active examples, small
blocks, and a combined kernel in float32 first.
"""

from functools import cache

import numpy as np
import pytest
from benchmarks.small_blocks import small_blocks
from covering import covering

from manykernels import losses
from manykernels._limits import Allowance, Exhausted
from manykernels.banks import DenseBank
from manykernels.banks.choice import explicit_bank
from manykernels.banks.features import FeatureBank, FeatureVectors
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.solvers import SOLVERS, Monitor, Solver, _run, coordinate, primal, solve
from problems import evaluate, partner

pytestmark = pytest.mark.filterwarnings("ignore:kernels without variance")
NAMES = [name for name in SOLVERS if name != "mackay"]
LOSSES = ["hinge", "epsilon_insensitive", "squared", "one_class", "logistic"]
CELLS = covering(NAMES, LOSSES, steps=3)
TOL = 1e-4  # at which the combined kernel is float32 first
n = 40


@cache
def posed(name, loss):
    """(problem, normalised kernels (M, n, n))."""
    rng, V = np.random.default_rng(7), losses.get(loss)
    X = rng.normal(size=(n, 7))
    X += 1.0 if loss == "one_class" else 0.0
    X[:, 0] = 0.0
    specs = [("flat", Linear(), [0]), ("a", Linear(), [1, 2]), ("b", Linear(), [3, 4]), ("c", Linear(), [5, 6])]
    if SOLVERS[name].explicit:
        bank = explicit_bank(KernelList.from_spec(specs, X), X)
        Ks = np.stack([X[:, columns] @ X[:, columns].T for *_, columns in specs])
    else:
        squares = ((X[:, None] - X) ** 2).sum(axis=2)
        Ks = np.stack([np.ones((n, n)), np.exp(-0.1 * squares), X[:, 1:3] @ X[:, 1:3].T, np.exp(-squares)])
        bank = DenseBank(np.moveaxis(Ks, 0, 2), n_jobs=1)
    f = X[:, 1] - 0.7 * X[:, 3] + 0.5 * rng.normal(size=n) + 0.3
    Y = np.array([f, np.roll(f, 1) + X[:, 5]])[: 1 if name == "interior" else 2]
    Y = Y if V.targets == "real" else np.ones_like(Y) if loss == "one_class" else np.where(Y > 0, 1.0, -1.0)
    c = rng.uniform(0.5, 2.0, size=Y.shape)
    c[:, ::11] = 0.0
    c = c / (0.4 * c.sum(axis=1, keepdims=True)) if loss == "one_class" else c
    return Problem(bank, Y, V, partner(name), c, V.takes_intercept), bank.scale[:, None, None] * Ks


@cache
def optimum(name, loss):
    best = Solver("reweighted" if name == "reweighted" else "newton")
    problem = posed(name, loss)[0]
    return solve(problem, best if best.refusal(problem) is None else name, tol=1e-6)


class Clock:
    """Counts the calls of an algorithm, and raises `error` at one of them; with `work` only those that count work."""

    def __init__(self, error=None, at=np.inf, work=False):
        self.error, self.at, self.work, self.turn, self.runs = error, at, work, 0, False

    def tick(self, work=False):
        if self.runs and (work or not self.work):
            self.turn += 1
            if self.turn == self.at:
                raise self.error


class Told(Monitor):
    def __init__(self, clock):
        self.clock, self.records = clock, []

    def record(self, record):
        self.records.append(record)
        self.clock.tick()

    def visited(self, count, total):
        self.clock.tick()


def run(name, loss, clock, monkeypatch, told=None, **options):
    """(solution, records), where `clock` ticks with work that is spent, calls of the bank, records and visits."""

    class Watched(Allowance):
        def __init__(self, left):
            self._left = left

        def __enter__(self):
            clock.runs = True
            return super().__enter__()

        def __exit__(self, *error):
            clock.runs = False
            super().__exit__(*error)

        @property
        def left(self):
            return self._left

        @left.setter
        def left(self, value):
            self._left = value
            clock.tick(work=True)

    def ticking(method):
        def called(*args, **options):
            clock.tick()
            return method(*args, **options)

        return called

    told = Told(clock) if told is None else told
    with monkeypatch.context() as patch, small_blocks(3):
        patch.setattr(_run, "MIN_FLOAT32_EXAMPLES", 0)
        patch.setattr(coordinate, "IDLE_BEFORE_NEWTON", 2)
        patch.setattr(primal, "SMOOTHED_TOL", 1e-2)
        patch.setattr(_run, "Allowance", Watched)
        for kind, methods in ((DenseBank, ("products", "combined")), (FeatureBank, ("dense", "vectors")),
                              (FeatureVectors, ("add", "outputs"))):  # fmt: skip
            for method in methods:
                patch.setattr(kind, method, ticking(getattr(kind, method)))
        found = solve(posed(name, loss)[0], name, callback=told, random_state=0, **{"tol": TOL} | options)
    return found, told.records


def check(name, loss, s, records, near=1e-6):
    """The point is feasible, its values are its own, they are the best ones so far, and they enclose the optimum."""
    problem, Ks = posed(name, loss)
    used, best = problem.kernels, optimum(name, loss)
    proof = s.a if s.dual_a is None else s.dual_a
    for point in (s.a, proof):
        for y, c, a in zip(problem.Y, problem.c, point, strict=True):
            lo, hi = problem.loss.box(y, c)
            assert np.all(a >= lo - 1e-12) and np.all(a <= hi + 1e-12) and not a[c == 0].any()
        assert np.abs(problem.lack(point)).max() <= 1e-9 * max(1.0, np.abs(point).sum())
    assert s.theta[0] == 0.0 and s.theta.min() >= 0.0
    primal, _, scale = evaluate(problem, Ks[used], s.theta[used], s.a, s.b)
    dual = evaluate(problem, Ks[used], s.theta[used], proof, s.b)[1]
    room = near * scale
    assert s.primal == pytest.approx(primal, abs=room) and dual >= s.dual - room
    assert s.gap == pytest.approx((s.primal - s.dual) / scale, rel=1e-3, abs=1e-9)
    assert s.dual <= best.primal + room and best.dual <= s.primal + room
    certified = [record for record in records if record.get("certified")]
    if certified:
        assert s.gap <= min(record["gap"] for record in certified) + near
    if certified and name not in ("primal", "coordinate"):  # which leave the end to another solver
        assert s.primal <= min(record["primal"] for record in certified) + room
        assert s.dual >= max(record["dual"] for record in certified) - room
    assert [record["iteration"] for record in s.history] == list(range(1, s.n_iter + 1))
    assert s.history[-1].get("n_kernels", 0) <= np.count_nonzero(problem.bank.usable)


def moments(last, count):
    """Some of the moments 1 … last, the first of them close together."""
    return np.unique(np.geomspace(1, last, count).astype(int))


def able(name, loss):
    try:
        problem = posed(name, loss)[0]
    except ValueError:  # unbounded with this regularizer
        pytest.skip("there is no such problem")
    if Solver(name).refusal(problem) is not None:
        pytest.skip("it does not take this problem")


@pytest.mark.parametrize("name, loss", CELLS)
def test_ctrl_c_at_any_moment_gives_an_honest_point_from_which_a_run_can_go_on(name, loss, monkeypatch):
    able(name, loss)
    clock = Clock()
    whole, records = run(name, loss, clock, monkeypatch)
    check(name, loss, whole, records)
    some = moments(clock.turn, 8)
    for at in some:
        stop = Clock(KeyboardInterrupt, at)
        told = Told(stop)
        try:
            s, records = run(name, loss, stop, monkeypatch, told)
        except KeyboardInterrupt:
            assert not told.records  # there is no point yet
            continue
        assert s.interrupted or s.converged
        check(name, loss, s, records)
        if at == some[-3]:
            again, records = run(name, loss, Clock(), monkeypatch, warm=s)
            check(name, loss, again, records)
            assert again.gap <= max(TOL, whole.gap) and again.n_iter <= 1.3 * whole.n_iter + 3


@pytest.mark.parametrize("name, loss", CELLS)
def test_a_run_without_more_work_or_steps_is_honest(name, loss, monkeypatch):
    able(name, loss)
    clock = Clock(work=True)
    run(name, loss, clock, monkeypatch)
    for at in moments(clock.turn, 6):
        s, records = run(name, loss, Clock(Exhausted, at, work=True), monkeypatch)
        assert not s.interrupted and s.converged == (s.gap <= TOL)
        check(name, loss, s, records)
    for most in (1, 2, 4):
        s, records = run(name, loss, Clock(), monkeypatch, max_iter=most)
        assert s.n_iter <= most + 2 * (name == "chunking") and s.converged == (s.gap <= TOL)
        check(name, loss, s, records)
