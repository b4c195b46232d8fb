"""Coordinate steps for the box QP of the inner problem, single ones, and pairs for losses with an intercept:

    min over lo ≤ a ≤ hi (, Σ a fixed) :  ½ aᵀK a + Σ linear_i a_i + ½ diagonal_i a_i² + kink_i |a_i|

`gradient` is that of the smooth part, K a + linear + diagonal·a, kept up to date. A move that would cross a kink
stops at 0. A team of threads (see `team`), each with a range of the variables, may share the steps of pairs: it takes
the same pairs as one thread, to the last digit. Its scans go by runs of variables: vector arithmetic tests whether any
variable of a run beats the best so far, and only then a loop looks for it.

numba's cache checks only this file: touch it when a loop of another file that it calls changes.
"""

from collections import namedtuple

import numpy as np
from numba import njit

from . import INNER, OPTIONS
from .team import command, commanded, meet

VARIABLES_PER_RUN = 64
NOTES = (3, 16)  # notes of a thread, and float64 of each, which fill a cache line
TOP, RISES, AT, LOWEST = 0, 1, 2, 3  # places in the first: who rises
SCORE, FALLS, GAIN, BEND, FROM = 0, 1, 2, 3, 4  # places in the second: who falls
MIN_CURVATURE = 1e-12  # of a step
Place = np.uint64  # of a variable in a run: a slice counts references, and a signed place may count from the end

TeamMemory = namedtuple("TeamMemory", "threads gate notes work")  # what the threads share
BoxTerms = namedtuple("BoxTerms", "diagonal kink lo hi")


@njit(**OPTIONS)
def single_steps(K, a, gradient, diagonal, kink, lo, hi, eps, max_steps):
    """Single coordinate steps of largest gain, for problems without Σ a fixed; returns (steps, violation, 0)."""
    n = len(a)
    steps = 0
    while True:
        best, worst, i, move = 0.0, 0.0, -1, 0.0
        for k in range(n):
            g, s = gradient[k], kink[k]
            rise = -g - (s if a[k] >= 0 else -s) if a[k] < hi[k] else 0.0
            fall = g + (s if a[k] > 0 else -s) if a[k] > lo[k] else 0.0
            v = rise if rise > fall else fall
            if v > worst:
                worst = v
            if v > 0:
                c = abs(K[k, k] + diagonal[k])
                gain = v * v / (c if c > 1e-12 else 1e-12)
                if gain > best:
                    best, i = gain, k
                    move = v if rise > fall else -v
        if worst <= eps or steps >= max_steps or i < 0:
            return steps, worst, 0.0
        steps += 1
        c = abs(K[i, i] + diagonal[i])
        t = move / (c if c > 1e-12 else 1e-12)
        new = a[i] + t
        if t > 0:
            stop = 0.0 if kink[i] > 0 and a[i] < 0 else hi[i]
            new = stop if new > stop else new
        else:
            stop = 0.0 if kink[i] > 0 and a[i] > 0 else lo[i]
            new = stop if new < stop else new
        t = new - a[i]
        a[i] = new
        gradient[i] += diagonal[i] * t
        Ki = K[i]
        for k in range(n):
            gradient[k] += t * Ki[k]


def pair_steps(K, a, gradient, diagonal, kink, lo, hi, eps, max_steps):
    """Second-order pairs (i up, j down) until the largest violation is at most eps; returns (steps, violation, β).

    β, the multiplier of Σ a, is the intercept that these a imply: f = K a + β.
    """
    team = TeamMemory(1, np.empty(1, np.int64), np.empty((1, *NOTES)), np.empty((3, len(a))))
    return steps(0, team, K, a, gradient, BoxTerms(diagonal, kink, lo, hi), eps, max_steps)


@njit(**OPTIONS)
def follow(me, team, K, a, gradient, diagonal, kink, lo, hi, eps):
    """The part of thread `me` > 0 in the steps that thread 0 leads, until thread 0 dismisses it."""
    while True:
        meet(team.gate, team.threads)
        max_steps = commanded(team.gate)
        if max_steps < 0:
            return
        steps(me, team, K, a, gradient, BoxTerms(diagonal, kink, lo, hi), eps, max_steps)


def lead(team, K, a, gradient, diagonal, kink, lo, hi, eps, max_steps):
    """`pair_steps` together with the threads that follow."""
    command(team.gate, max_steps)
    meet(team.gate, team.threads)
    return steps(0, team, K, a, gradient, BoxTerms(diagonal, kink, lo, hi), eps, max_steps)


@njit(**OPTIONS)
def dismiss(gate, threads):
    command(gate, -1)
    meet(gate, threads)


@njit(**OPTIONS)
def steps(me, team, K, a, gradient, box, eps, max_steps):
    """Thread `me` has the variables low … high − 1; all threads find the same i, j and t.

    Threads pass the values of a moving variable through `notes`, since its owner may be writing the variable.
    """
    (threads, gate, notes, work), (diagonal, kink, lo, hi), n = team, box, len(a)
    up, down, curvature = work[0], work[1], work[2]
    low, high = n * me // threads, n * (me + 1) // threads
    for k in range(low, high):
        _set(k, a[k], 0.0, a, gradient, box, up, down)
        curvature[k] = K[k, k] + diagonal[k]
    mine = notes[me]
    _shift(0.0, K[0], K[0], low, high, up, a, gradient, mine[0])
    mine[0, LOWEST] = _lowest(down[low:high], gradient[low:high])
    meet(gate, threads)
    first, bottom = _first(notes[:, 0, TOP]), _least(notes[:, 0, LOWEST])
    top, i, at = notes[first, 0, TOP], np.int64(notes[first, 0, RISES]), notes[first, 0, AT]
    done = 0
    while top - bottom > eps and done < max_steps:
        done += 1
        Ki = K[i]
        _partner(top, i, Ki, low, high, down, curvature, a, gradient, mine[1])
        meet(gate, threads)
        first = _first(notes[:, 1, SCORE])
        if notes[first, 1, SCORE] <= 0:
            break
        j, back = np.int64(notes[first, 1, FALLS]), notes[first, 1, FROM]
        t = notes[first, 1, GAIN] / notes[first, 1, BEND]
        ceiling = 0.0 if kink[i] > 0 and at < 0 else hi[i]
        floor = 0.0 if kink[j] > 0 and back > 0 else lo[j]
        if t >= ceiling - at and ceiling - at <= back - floor:
            t = ceiling - at
            at, back = ceiling, back - t
        elif t >= back - floor:
            t = back - floor
            at, back = at + t, floor
        else:
            at, back = at + t, back - t
        if low <= i < high:
            _set(i, at, t, a, gradient, box, up, down)
        if low <= j < high:
            _set(j, back, -t, a, gradient, box, up, down)
        _shift(t, Ki, K[j], low, high, up, a, gradient, mine[0])
        if done % 32 == 0:
            mine[0, LOWEST] = _lowest(down[low:high], gradient[low:high])
        meet(gate, threads)
        first = _first(notes[:, 0, TOP])
        top, i, at = notes[first, 0, TOP], np.int64(notes[first, 0, RISES]), notes[first, 0, AT]
        if done % 32 == 0:
            bottom = _least(notes[:, 0, LOWEST])
    mine[2, 0] = _lowest(down[low:high], gradient[low:high])
    meet(gate, threads)
    bottom = _least(notes[:, 2, 0])
    return done, top - bottom, _middle(top, bottom)


@njit(**INNER)
def _set(k, value, move, a, gradient, box, up, down):
    """Sets a[k], with the gradient of its own terms after a move, and its one-sided kinks.

    They are minus the kink of the right derivative (−inf: a cannot rise) and of the left one (inf: it cannot fall).
    """
    kink = box.kink[k]
    a[k] = value
    gradient[k] += box.diagonal[k] * move
    up[k] = -np.inf if value >= box.hi[k] else (-kink if value >= 0 else kink)
    down[k] = np.inf if value <= box.lo[k] else (-kink if value > 0 else kink)


@njit(**INNER)
def _first(values):
    """The first place of the largest value."""
    best = 0
    for k in range(1, len(values)):
        if values[k] > values[best]:
            best = k
    return best


@njit(**INNER)
def _least(values):
    """The smallest value; numba's own takes a second to compile."""
    least = values[0]
    for k in range(1, len(values)):
        least = values[k] if values[k] < least else least
    return least


@njit(**INNER)
def _end(start, high):
    end = start + VARIABLES_PER_RUN
    return end if end < high else high


@njit(**INNER)
def _partner(top, i, Ki, low, high, down, curvature, a, gradient, note):
    """Notes which of low … high − 1 gains most by falling: gain² / curvature, 0 if none gains."""
    best, j, ci = 0.0, -1, curvature[i]
    for start in range(low, high, VARIABLES_PER_RUN):
        end = _end(start, high)
        if _any_partner((1.0 - 1e-12) * best, top, ci, Ki, down, curvature, gradient, start, end):
            for k in range(start, end):
                gain = top - down[k] + gradient[k]
                if gain > 0 and k != i:  # rounding may give i a gain
                    score = gain * gain / _bend(ci, curvature[k], Ki[k])
                    if score > best:
                        best, j = score, k
    note[SCORE] = best
    if j >= 0:
        note[FALLS], note[FROM], note[GAIN] = j, a[j], top - down[j] + gradient[j]
        note[BEND] = _bend(ci, curvature[j], Ki[j])


@njit(**INNER)
def _bend(ci, ck, Kik):
    c = abs(ci + ck - 2.0 * Kik)  # negative only for indefinite kernels: keeps the step finite
    return c if c > MIN_CURVATURE else MIN_CURVATURE


@njit(**INNER)
def _any_partner(bar, top, ci, Ki, down, curvature, gradient, start, end):
    """The number of variables of a run with gain² / curvature above the bar."""
    count = 0
    for k in range(Place(start), Place(end)):
        gain = top - down[k] + gradient[k]
        gain = gain if gain > 0 else 0.0
        count += gain * gain > bar * _bend(ci, curvature[k], Ki[k])
    return count


@njit(**INNER)
def _shift(t, Ki, Kj, low, high, up, a, gradient, note):
    """Updates the gradient of low … high − 1 by the step, and notes which of them gains most by rising."""
    top, i = -np.inf, -1
    for start in range(low, high, VARIABLES_PER_RUN):
        end = _end(start, high)
        if _any_riser(t, top, Ki, Kj, up, gradient, start, end):
            for k in range(start, end):
                u = up[k] - gradient[k]
                if u > top:
                    top, i = u, k
    note[TOP] = top
    if i >= 0:
        note[RISES], note[AT] = i, a[i]


@njit(**INNER)
def _any_riser(t, top, Ki, Kj, up, gradient, start, end):
    """Updates the gradient of a run by the step, and counts its variables above the top."""
    count = 0
    for k in range(Place(start), Place(end)):
        g = gradient[k] + t * (Ki[k] - Kj[k])
        gradient[k] = g
        count += up[k] - g > top
    return count


@njit(**INNER)
def _lowest(down, gradient):
    bottom = np.inf
    for k in range(len(down)):
        v = down[k] - gradient[k]
        bottom = v if v < bottom else bottom
    return bottom


@njit(**INNER)
def _middle(top, bottom):
    if np.isinf(top):
        return bottom if not np.isinf(bottom) else 0.0
    return top if np.isinf(bottom) else 0.5 * (top + bottom)
