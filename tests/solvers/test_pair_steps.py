"""Pair steps against their definition, and by teams of threads: the same pairs to the last digit."""

import threading

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

from manykernels import _threads
from manykernels.inner import steps as room
from manykernels.loops.box_qp import pair_steps
from manykernels.losses import EpsilonInsensitive, Hinge, SquaredHinge
from manykernels.solvers import InnerProblem

N = 331  # not a multiple of a run, nor of the threads


def block(loss, dtype=np.float64, n=N):
    rng = np.random.default_rng(5)
    F = rng.standard_normal((n, 40))
    K = (F @ F.T / 40).astype(dtype)
    regression = isinstance(loss, EpsilonInsensitive)
    y = rng.standard_normal(n) if regression else np.where(F[:, 0] > 0.3 * rng.standard_normal(n), 1.0, -1.0)
    return K, InnerProblem(loss, y, np.full(n, 2.0), True)


def defined(K, a, inner, count):
    """The second-order pairs of Fan, Chen & Lin, from the definition: (a, gradient) after so many steps."""
    gradient = K @ a + inner.linear + inner.diagonal * a
    for _ in range(count):
        up = np.where(a < inner.hi, np.where(a >= 0, -inner.kink, inner.kink) - gradient, -np.inf)
        i = int(np.argmax(up))
        fall = np.where(a > inner.lo, up[i] - np.where(a > 0, -inner.kink, inner.kink) + gradient, 0.0)
        bend = np.diag(K) + inner.diagonal
        bend = bend[i] + bend - 2 * K[i].astype(float)
        j = int(np.argmax(np.where(fall > 0, fall, 0.0) ** 2 / np.maximum(bend, 1e-12)))
        ceiling = 0.0 if inner.kink[i] > 0 and a[i] < 0 else inner.hi[i]
        floor = 0.0 if inner.kink[j] > 0 and a[j] > 0 else inner.lo[j]
        t = min(fall[j] / bend[j], ceiling - a[i], a[j] - floor)
        a[i], a[j] = a[i] + t, a[j] - t
        gradient = K @ a + inner.linear + inner.diagonal * a
    return a, gradient


def run(K, inner, count, threads, take=1):
    inner.n_jobs = threads
    a = np.zeros(len(K))
    gradient = K @ a + inner.linear
    with room.Steps(inner, K, a, gradient) as steps:
        for _ in range(take):
            found = steps.take(count)
    return a, gradient, *found


LOSSES = [Hinge(), SquaredHinge(), EpsilonInsensitive(0.2)]


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_the_pairs_are_those_of_the_definition(loss):
    K, inner = block(loss)
    a, gradient, violation, beta = run(K, inner, 60, 1)
    wanted, slope = defined(K, np.zeros(N), inner, 60)
    assert_allclose(a, wanted, atol=1e-9)
    assert_allclose(gradient, slope, atol=1e-9)
    assert violation > 0 and np.count_nonzero(a) > 20


def test_a_variable_is_never_its_own_partner():
    """Where all is nearly settled the rounding of its own gain, over no curvature, beats what others gain."""
    rng = np.random.default_rng(0)
    for _ in range(100):
        n = int(rng.integers(5, 60))
        F, y = rng.standard_normal((n, 5)), rng.standard_normal(n)
        K, inner = F @ F.T, InnerProblem(EpsilonInsensitive(0.3), y, np.ones(n), True)
        a, gradient = np.zeros(n), inner.linear.copy()
        pair_steps(K, a, gradient, inner.diagonal, inner.kink, inner.lo, inner.hi, 1e-10, 5000)
        assert_allclose(gradient, K @ a + inner.linear, atol=1e-9)
        assert abs(a.sum()) < 1e-9


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
def test_a_team_takes_the_same_pairs(loss, dtype, monkeypatch):
    monkeypatch.setattr(room, "team_size", lambda n, n_jobs: n_jobs)
    monkeypatch.setattr(room.Steps, "_by_team", lambda self, part: self.threads > 1 and part != 1)
    K, inner = block(loss, dtype)
    alone = run(K, inner, 300, 1, take=2)
    for threads in (2, 3, 7):
        for one, other in zip(alone, run(K, inner, 300, threads, take=2), strict=True):
            assert_array_equal(one, other)


def test_nobody_is_left_when_a_solve_is_broken_off(monkeypatch):
    monkeypatch.setattr(room, "team_size", lambda n, n_jobs: n_jobs)
    K, inner = block(Hinge())
    inner.n_jobs = 3

    def broken(*arguments):
        raise KeyboardInterrupt

    monkeypatch.setattr(inner, "gap", broken)
    with pytest.raises(KeyboardInterrupt), room.Steps(inner, K, np.zeros(N), inner.linear.copy()) as steps:
        assert len(steps.others) == 2
        inner.gap()
    assert not [thread for thread in threading.enumerate() if "team" in thread.name]


def test_teams_leave_some_cores_free(monkeypatch):
    monkeypatch.setattr(room, "n_threads", lambda n_jobs: 16 if n_jobs == -1 else n_jobs)
    cases = (10**5, 16), (10**5, 8), (4 * room.VARIABLES_PER_THREAD, 16), (500, 16)
    assert [room.team_size(n, n_jobs) for n, n_jobs in cases] == [12, 8, 4, 1]


def test_a_thread_of_the_pool_has_no_team():
    assert _threads.run_blocks(lambda _: _threads.n_threads(4), range(2), 2) == [1, 1]


def test_a_quota_is_respected(monkeypatch):
    monkeypatch.setenv("LOKY_MAX_CPU_COUNT", "1")
    assert _threads.n_threads(-1) == 1


def test_blas_has_threads_for_factors_alone(monkeypatch):
    """Those that it wakes for a dot product go on spinning, and would keep cores from the team."""
    from threadpoolctl import threadpool_info, threadpool_limits

    from manykernels.inner import problem, systems

    def blas():
        return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")

    monkeypatch.setattr(systems, "LARGE_BLOCK_ROWS", 10)
    monkeypatch.setattr(problem, "MIN_CHUNKS", 0)  # with the next line: Newton steps as soon as possible
    monkeypatch.setattr(problem, "CHUNK_SHARE", np.inf)
    K, inner = block(Hinge())
    inner.n_jobs, stepped, factored, take, system = 2, [], [], room.Steps.take, inner.system
    monkeypatch.setattr(room.Steps, "take", lambda *steps: stepped.append(blas()) or take(*steps))
    monkeypatch.setattr(inner, "system", lambda *block: factored.append(blas()) or system(*block))
    with threadpool_limits(2, "blas"):
        inner.solve(K, np.zeros(N), 1e-9)
    assert set(stepped) == {1} and set(factored) == {2}
