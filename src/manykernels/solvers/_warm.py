"""Warm starts from an earlier solution, also after a change of C, ν, the labels or the example weights."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from ..inner import inner_problem

SPARE_ROOMS = 1e-4, 1e-2, 1.0  # of variables at their bounds, if the others cannot reach Eᵀa = 0


def begin_from(solution, problem):
    """`solution` made feasible for `problem`; None if it has other examples or kernels."""
    if solution.a.shape != problem.Y.shape or solution.theta.shape != (problem.bank.M,):
        return None
    solution = replace(solution, dual_a=None, norms=None)
    if problem.loss.coupled:  # its inner problem begins from the outputs of any a
        return replace(solution, b=problem.no_b())
    if problem.covariates is not None:
        return replace(solution, a=_adjusted(solution.a, problem), b=problem.no_b())
    rows = zip(solution.a, problem.Y, problem.c, strict=True)
    a = np.array([_feasible(*row, problem.loss, problem.intercept) for row in rows])
    return replace(solution, a=a, b=np.reshape(solution.b, (len(a), -1))[:, 0])


def go_on(found, solve, problem, control):
    """solve(problem, control) from `found` on, or `found` if that is better; also if Ctrl-C comes before a point."""
    control.warm = begin_from(found, problem)
    try:
        last = solve(problem, control)
    except KeyboardInterrupt:
        return replace(found, interrupted=True)
    if last.gap <= found.gap:
        return last
    ended = dict(interrupted=last.interrupted, status=last.status, reason=last.reason)
    return replace(found, n_iter=last.n_iter, history=last.history, **ended)


def _adjusted(a, problem):
    """a within its box, with Eᵀa = 0 for the covariates E; without room for it, a start without kernels."""
    found = problem.start()
    for t, (a_t, y, c) in enumerate(zip(a, problem.Y, problem.c, strict=True)):
        inner = inner_problem(problem, y, c)
        near = 1e-6 * np.minimum(inner.hi - inner.lo, c) if problem.loss.interior else 0.0
        moved = inner.repair(np.clip(a_t, inner.lo + near, inner.hi - near), 0.0)
        found[t] = found[t] if moved is None else moved
    return found


def _feasible(a, y, c, loss, intercept):
    """a within its box, with Σa = total where there is an intercept: entries share the difference by their room.

    The entries that are not 0 share it if they have the room, so that the support stays as it is.
    """
    lo, hi = loss.box(y, c)
    if loss.interior:  # strictly inside
        edge = 1e-6 * np.minimum(hi - lo, c)
        lo, hi = lo + edge, hi - edge
    a = np.clip(a, lo, hi)
    lacks = loss.total - a.sum() if intercept else 0.0
    if lacks == 0.0:
        return a
    room = np.minimum(hi - a if lacks > 0 else a - lo, abs(lacks))
    for shared in (np.where(a != 0, room, 0.0), room):
        if shared.sum() >= abs(lacks):
            return a + lacks * shared / shared.sum()
    return loss.start(y, c, intercept)


def onto_total(a, inner):
    """a of an `InnerProblem` with Σa = total, or Eᵀa = 0, within its box: by its free entries if they can."""
    moved = inner.repair(a.copy(), inner.loss.total)
    if moved is None and inner.summed:
        moved = _feasible(a, inner.y, inner.c, inner.loss, True)
    for spare in SPARE_ROOMS:
        moved = inner.repair(a.copy(), 0.0, spare) if moved is None else moved
    return np.zeros_like(a) if moved is None else np.array(moved)
