"""Visits of the `coordinate` solver to examples of a `DegreeBank`, by a team of threads (see `team`).

A visit looks up the outputs of its examples, solves the small problem in their a, and updates v. Threads share look-up
and update by positions, so that the values of a position stay in the cache of one core; while one thread solves the
small problem, the others compare the examples of the next visit. Results do not depend on the number of threads.

numba's cache checks only this file: touch it when a loop of another file that it calls changes.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from . import INNER, OPTIONS
from .box_qp import single_steps
from .degree import add, look_up
from .sequences import unpack
from .strings import add_degrees, add_positions, bit_planes
from .team import command, commanded, meet

EXCESS, INTERCEPT, TURN, FORCED = 0, 1, 2, 3  # places in `numbers`

# how kernels count words: coef and kern (L, d), what is alone (n, M), and the bounds of the lanes of positions
WordCounts = namedtuple("WordCounts", "coef kern alone lanes even")
# visit k is to rows[ends[k] : ends[k + 1]]; weight (L, d) is coef at theta (M,), and runs are its sums over words
VisitPlan = namedtuple("VisitPlan", "rows ends weight runs theta")
VisitState = namedtuple("VisitState", "a outputs q numbers")  # what visits change
DualTerms = namedtuple("DualTerms", "linear diagonal kink lo hi precision")  # see `box_qp`
# left, right and K are pairs, of this visit and of the next; sums, and growth of q, have a row for each lane
VisitMemory = namedtuple("VisitMemory", "left right K out sums growth moved delta")


@njit(**INNER)
def _planes(text, rows, low, high, left, right):
    """The bit planes of rows low … high − 1, as rows and as columns of a block."""
    data, starts, bits, length, size = text
    code = np.empty((1, length), np.uint8)
    for r in range(low, high):
        unpack(data, starts[rows[r]], length, bits, code[0])
        left[r] = 0
        bit_planes(code, size, left[r : r + 1])
        for b in range(left.shape[1]):
            for w in range(left.shape[2]):
                right[b, w, r] = left[r, b, w]


@njit(**INNER)
def _compare(left, right, n, low, high, even, weight, runs, K):
    """Rows low … high − 1 of the kernel among n examples."""
    K[0, low:high, :n] = 0.0
    if even:
        add_degrees(left[low:high], right[:, :, :n], weight[:1], np.zeros(1), K[:, low:high, :n])
    else:
        add_positions(left[low:high], right[:, :, :n], runs, np.zeros(1), K[:, low:high, :n])


@njit(**INNER)
def _solve(K, rows, state, terms, memory):
    """Solves the small problem of one visit with all other variables fixed; returns how many examples moved.

    Their outputs are `out` plus the sums (lanes, n) over positions.
    """
    (a, outputs, _, numbers), (linear, diagonal, kink, lo, hi, precision) = state, terms
    out, sums, moved, delta = memory.out, memory.sums, memory.moved, memory.delta
    n, force = len(rows), 0.0
    for lane in range(len(sums)):
        for r in range(n):
            out[r] += sums[lane, r]
    if numbers[FORCED] > 0:  # the pull towards Σa = total
        for r in range(n):
            force += K[r, r]
        force /= n
        K += force
    new, gradient = a[rows], np.empty(n)
    for r in range(n):
        i = rows[r]
        outputs[i] = out[r]
        gradient[r] = out[r] + numbers[INTERCEPT] + force * numbers[EXCESS] + linear[i] + diagonal[i] * a[i]
    single_steps(K, new, gradient, diagonal[rows], kink[rows], lo[rows], hi[rows], precision, 50 * n)
    count = 0
    for r in range(n):
        if new[r] != a[rows[r]]:
            moved[count], delta[count] = rows[r], new[r] - a[rows[r]]
            count += 1
    for k in range(count):
        numbers[EXCESS] += delta[k]
    numbers[TURN] += 1
    if numbers[TURN] % 8 == 0:
        numbers[INTERCEPT] += 0.5 * force * numbers[EXCESS]
    return count


@njit(**OPTIONS)
def visits(me, threads, gate, text, values, counts, plan, state, terms, memory):
    """The part of thread `me` in visits k to rows[ends[k] : ends[k + 1]], until ends[k + 1] is negative.

    Thread 0 begins them, see `call`, and returns after the last; the others wait for its next call, the last is −1.
    """
    (coef, kern, alone, lanes, even), (rows, ends, weight, runs, theta) = counts, plan
    left, right, K, out, sums, growth, moved, delta = memory
    a, q = state.a, state.q
    while True:
        if me > 0:
            meet(gate, threads)
            if commanded(gate) < 0:
                return
        n = ends[1] - ends[0]
        low, high = n * me // threads, n * (me + 1) // threads
        _planes(text, rows[: ends[1]], low, high, left[0], right[0])
        meet(gate, threads)
        _compare(left[0], right[0], n, low, high, even, weight, runs, K[0])
        k = 0
        while k + 1 < len(ends) and ends[k + 1] >= 0:
            now, later = k % 2, (k + 1) % 2
            part = rows[ends[k] : ends[k + 1]]
            n, ahead = len(part), 0
            low, high = n * me // threads, n * (me + 1) // threads
            for lane in range(me, len(lanes) - 1, threads):
                look_up(text, part, values, weight, lanes[lane], lanes[lane + 1], sums[lane, :n])
            for r in range(low, high):
                i, total = part[r], 0.0
                for m in range(len(theta)):
                    total += alone[i, m] * theta[m]
                out[r] = total * a[i]
            if k + 2 < len(ends) and ends[k + 2] >= 0:
                upcoming = rows[ends[k + 1] : ends[k + 2]]
                ahead = len(upcoming)
                low, high = ahead * me // threads, ahead * (me + 1) // threads
                _planes(text, upcoming, low, high, left[later], right[later])
            meet(gate, threads)
            if me == 0:
                count = _solve(K[now, 0, :n, :n], part, state, terms, memory)
                command(gate, count)
            if threads == 1:
                _compare(left[later], right[later], ahead, 0, ahead, even, weight, runs, K[later])
            elif me > 0:
                low, high = ahead * (me - 1) // (threads - 1), ahead * me // (threads - 1)
                _compare(left[later], right[later], ahead, low, high, even, weight, runs, K[later])
            meet(gate, threads)
            count = commanded(gate)
            for lane in range(me, len(lanes) - 1, threads):
                low, high = lanes[lane], lanes[lane + 1]
                add(text, moved[:count], delta[:count], values, coef, kern, low, high, growth[lane])
            if me == 0:
                for j in range(count):
                    i = moved[j]
                    grows = delta[j] * (2.0 * a[i] + delta[j])
                    for m in range(len(q)):
                        q[m] += grows * alone[i, m]
                    a[i] += delta[j]
            meet(gate, threads)
            if me == 0:
                for lane in range(len(lanes) - 1):
                    for m in range(len(q)):
                        q[m] += growth[lane, m]
                        growth[lane, m] = 0.0
            k += 1
        if me == 0:
            return


@njit(**OPTIONS)
def call(gate, threads, go_on):
    """Thread 0 calls the others to their next visits, or to their end."""
    command(gate, 0 if go_on else -1)
    meet(gate, threads)
