"""Coordinate steps on one block, by a team of threads if that is faster; the points are the same either way."""

from __future__ import annotations

import threading
from functools import partial
from time import perf_counter

import numpy as np

from .._threads import n_threads

VARIABLES_PER_THREAD = 768  # at least
MIN_VIOLATION = 1e-15  # at or below it, the steps end
TRIAL_STEPS = 16  # that measure the speed of a team or of one thread


def team_size(n, n_jobs):
    """Threads for n variables. A quarter of the cores stays free, since a thread without a core stops the team."""
    if n < 2 * VARIABLES_PER_THREAD:
        return 1
    cores = n_threads(-1)
    return max(1, min(n_threads(n_jobs), cores - cores // 4, n // VARIABLES_PER_THREAD))


class Steps:
    """Steps on (a, gradient), both changed in place; the team lives as long as this context manager.

    The threads meet twice a step, which is slow on a busy machine. Short trials measure the team and one thread, and
    the faster goes on. A slower team is tried again after ever longer pauses.

    Parameters
    ----------
    inner : InnerProblem
    K : array (n, n)
    a, gradient : array (n,), float64
    """

    def __init__(self, inner, K, a, gradient):
        from ..loops.box_qp import NOTES, TeamMemory, lead, pair_steps, single_steps
        from ..loops.team import GATE

        self.block = K, a, gradient, inner.diagonal, inner.kink, inner.lo, inner.hi, MIN_VIOLATION
        self.alone = pair_steps if inner.intercept else single_steps
        self.threads = team_size(len(a), inner.n_jobs) if inner.intercept else 1
        self.pace = {False: np.inf, True: np.inf}  # seconds per step of one thread and of the team
        self.losses, self.pause, self.others = 0, 0, []
        if self.threads > 1:
            notes, work = np.zeros((self.threads, *NOTES)), np.empty((3, len(a)))
            self.shared = TeamMemory(self.threads, np.zeros(GATE, np.int64), notes, work)
            self.together = partial(lead, self.shared, *self.block)

    def __enter__(self):
        if self.threads > 1:
            from ..loops.box_qp import follow

            arguments = self.shared, *self.block
            self.others = [
                threading.Thread(target=follow, args=(me, *arguments), daemon=True, name=f"manykernels-team-{me}")
                for me in range(1, self.threads)
            ]
            for other in self.others:
                other.start()
        return self

    def __exit__(self, *error):
        if self.others:
            from ..loops.box_qp import dismiss

            dismiss(self.shared.gate, self.threads)
            for other in self.others:
                other.join()

    def take(self, count):
        """Takes at most `count` steps; returns (largest violation, β)."""
        violation, beta = np.inf, 0.0
        parts = TRIAL_STEPS, TRIAL_STEPS, count - 2 * TRIAL_STEPS  # the same for every number of threads
        for part, steps in enumerate(parts):
            if violation > MIN_VIOLATION:
                team = self._by_team(part)
                began = perf_counter()
                done, violation, beta = self.together(steps) if team else self.alone(*self.block, steps)
                self.pace[team] = (perf_counter() - began) / max(done, 1)
        if self.pause > 0:
            self.pause -= 1
        elif self.pace[True] > self.pace[False]:
            self.pause = 2**self.losses
            self.losses += 1
        return violation, beta

    def _by_team(self, part):
        if self.threads == 1 or (part == 0 and np.isinf(self.pace[False])):
            return False
        return (part == 1 and self.pause == 0) or self.pace[True] < self.pace[False]
