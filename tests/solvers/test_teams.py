"""Threads that meet in compiled code: they wait for each other, end, and never change a result."""

import threading

import numpy as np
import pytest
from numba import njit
from numpy.testing import assert_allclose, assert_array_equal

from manykernels import MKLClassifier
from manykernels.datasets import make_splice
from manykernels.loops.box_qp import pair_steps
from manykernels.loops.team import GATE, command, commanded, meet
from manykernels.solvers import coordinate
from manykernels.strings import degree_kernels

X, Y = make_splice(700, positives=0.2, random_state=3)


@njit(nogil=True)
def pass_on(me, threads, gate, tokens, rounds):
    """Each round every thread adds what its neighbour had at the round's beginning."""
    for k in range(rounds):
        found = tokens[k % 2, (me + 1) % threads]
        tokens[(k + 1) % 2, me] = tokens[k % 2, me] + found
        meet(gate, threads)


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_nobody_goes_on_before_all_have_come(threads):
    gate, tokens = np.zeros(GATE, np.int64), np.zeros((2, threads), np.int64)
    tokens[0, 0] = 1
    others = [threading.Thread(target=pass_on, args=(me, threads, gate, tokens, 20)) for me in range(1, threads)]
    for other in others:
        other.start()
    pass_on(0, threads, gate, tokens, 20)
    for other in others:
        other.join()
    wanted = np.eye(1, threads, dtype=np.int64)[0]
    for _ in range(20):
        wanted = wanted + np.roll(wanted, -1)
    assert_array_equal(tokens[0], wanted)


@njit(nogil=True)
def obey(gate, threads, heard):
    """Notes what is commanded after each of so many meetings."""
    for k in range(len(heard)):
        meet(gate, threads)
        heard[k] = commanded(gate)
        meet(gate, threads)


WORDS = np.array([5, 5, 100_000, 3, 0, 2**40, 1, -1, -1, 7, -1])


def test_a_command_is_the_last_word_whatever_was_said_before():
    """Numbers of steps, of moved examples, and −1 to dismiss; nobody's arrival is touched."""
    gate = np.zeros(GATE, np.int64)
    for word in WORDS:
        command(gate, word)
        assert commanded(gate) == word
        assert np.count_nonzero(gate) == (word != 0)


@pytest.mark.parametrize("threads", [2, 3])
def test_everybody_hears_each_command(threads):
    gate, heard = np.zeros(GATE, np.int64), np.zeros((threads - 1, len(WORDS)), np.int64)
    others = [threading.Thread(target=obey, args=(gate, threads, line)) for line in heard]
    for other in others:
        other.start()
    for word in WORDS:
        command(gate, word)
        meet(gate, threads)
        meet(gate, threads)
    for other in others:
        other.join()
    assert_array_equal(heard, np.tile(WORDS, (threads - 1, 1)))


def test_a_fit_that_is_broken_off_leaves_no_thread(monkeypatch):
    class Stop(BaseException):
        pass

    def stop(self, closed):
        raise Stop

    monkeypatch.setattr(coordinate.Passes, "_follow", stop)
    with pytest.raises(Stop):
        MKLClassifier(degree_kernels(6), n_jobs=3, solver="coordinate").fit(X, Y)
    assert not [thread for thread in threading.enumerate() if "team" in thread.name]


@pytest.mark.parametrize("size", [1e-8, 1e8, 1e25])
def test_pair_steps_are_the_same_in_other_units(size):
    rng = np.random.default_rng(0)
    F, y = rng.standard_normal((700, 30)), np.where(rng.random(700) < 0.5, 1.0, -1.0)
    K, n = F @ F.T / 30, len(y)
    lo, hi = np.minimum(y, 0.0), np.maximum(y, 0.0)

    def run(unit):
        a, gradient, nothing = np.zeros(n), -unit * y, np.zeros(n)
        steps, violation, beta = pair_steps(unit * K, a, gradient, nothing, nothing, lo, hi, 1e-3 * unit, 10_000)
        return a, steps, violation / unit, beta / unit

    (a, steps, violation, beta), found = run(1.0), run(size)
    assert 100 < steps < 10_000 and violation <= 1e-3 and abs(a.sum()) < 1e-9
    assert found[2] <= 1e-3 and abs(found[1] - steps) <= 0.3 * steps
    f, g = K @ a + beta, K @ found[0] + found[3]
    assert_allclose(f, g, atol=0.02)
