"""Runs that go on from an earlier point: warm starts, and the last step of a fit at p = 1.

A warm start may follow a change of C, ν, the labels or the example weights.

The last step: where weights of the optimum are 0, it sets the weights to 0 that the gap allows.
A gap of tol hardly says which weights of some hundredths are 0, so that their number would depend on the solver, on the
order of the examples and on tol. So the run continues to a much smaller gap among the kernels that have weight or
nearly get some: a problem of few kernels with a warm start. Then weights that are a small share of the sum become 0, as
many as the gap allows. The kernels left out have f_m = 0, so that the primal value over all kernels is the same, and
the dual value of a takes all q_m = aᵀK_m a:

    gap = (primal(θ, a, b) − dual) / scale ,   the larger dual value of the run and of the last step.

A point whose gap is above tol is not taken. If the gap was CLOSE already, the bound of the run is enough, and the
q_m of the kernels left out are not computed again.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from ..inner import inner_problem
from ..problem import Problem
from ..solution import Solution

SPARE_ROOMS = 1e-4, 1e-2, 1.0  # of variables at their bounds, if the others cannot reach Eᵀa = 0
FINER, FINEST = 1e-5, 1e-9  # the gap among the kernels with weight: times tol, and at least; weights go as its root
SINGLE = 1e-5  # at least, if the kernels are in float32: rounding hides smaller gaps
ENOUGH, MAX_ROUNDS = 100.0, 3  # times that gap over all kernels; rounds with more of the kernels until it is reached
LEAST_SHARE = 1e-4  # of the sum of the weights: smaller weights become 0 if the gap allows it
CLOSE = 1e-4  # a gap that shows which kernels may have weight
MAX_PRODUCTS = 2**24  # numbers of a block of products
STEP = 1e-2  # of the largest weight, along the slope of the dual


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


# the last step


def thinned(
    problem: Problem, found: Solution, tol: float, again: Callable[[Problem, float, Solution], Solution] | None
) -> Solution:
    """`found`, or a solution with fewer weights and a gap of at most tol, by again(smaller problem, gap, warm).

    Without `again`, for problems that are too large for it, small weights become 0 if the gap allows it as it is.
    """
    alone = problem.regularizer.simplex and len(problem.kernels) == 1  # its weight is 1
    if problem.regularizer.smooth or alone or not found.converged or found.interrupted:
        return found
    fine = min(tol, max(FINER * tol, FINEST))
    aim = min(tol, max(fine, SINGLE)) if problem.bank.dtype == np.float32 else fine
    enough = max(ENOUGH * fine, aim)
    before, seen = found, np.zeros(0, int)
    for _ in range(MAX_ROUNDS if again and found.gap > enough else 0):
        keep = _pulled(problem, found)
        if np.isin(keep, seen).all():
            break
        before, seen = found, keep
        found = _continued(problem, found, tol, again, keep, aim)
        gained = before.primal - found.primal
        no_kernel_missing = before.gap <= CLOSE or gained <= ENOUGH * fine * abs(found.primal)
        if found.interrupted or found.gap <= enough or no_kernel_missing:
            break
    theta, regularizer = found.theta[problem.kernels], problem.regularizer
    keep = theta > LEAST_SHARE * theta.sum()
    if found.interrupted or not keep.any() or np.count_nonzero(keep) == np.count_nonzero(theta):
        return found
    rest = np.where(keep, theta, 0.0) * (theta.sum() / theta[keep].sum() if regularizer.simplex else 1.0)
    weights = np.zeros(len(found.theta))
    weights[problem.kernels] = rest
    fewer = _better(problem, found, replace(found, theta=weights), tol)
    if fewer is found and again:
        return _continued(problem, found, tol, again, np.flatnonzero(keep), aim)
    return fewer


def _continued(problem, found, tol, again, keep, aim):
    """The solution among the kernels `keep`, to the gap `aim` there, if its gap over all kernels is at most tol."""
    if not len(keep):
        return found
    try:
        part = again(problem.among(keep), aim, found)
    except KeyboardInterrupt:
        return replace(found, interrupted=True)
    better = _nearer(found, part) if found.gap <= CLOSE and part.gap > 0 else _better(problem, found, part, tol)
    return replace(better, interrupted=part.interrupted)


def _nearer(found, part):
    """The point of `part` with the bound of `found`, if its primal value is less."""
    if not part.primal < found.primal:
        return found
    scale = (part.primal - part.dual) / part.gap
    proof = found.a if found.dual_a is None else found.dual_a
    return _replaced(found, part, part.b, part.primal, found.dual, max((part.primal - found.dual) / scale, 0.0), proof)


def _better(problem, found, part, tol):
    """The point (θ, a, b) of `part` with its own certificate, where the gap is at most tol; else `found`."""
    theta, a, same = part.theta[problem.kernels], part.a, part.a is found.a
    proof = a if part.dual_a is None else part.dual_a
    q, outputs = norms(problem, a, np.flatnonzero(theta) if same or proof is not a else None, part.theta)
    b = problem.best_b(outputs)
    losses = problem.losses(outputs, b)
    primal, dual, _, scale = problem.certificate(losses, a, b, theta, q)
    if proof is not a:
        dual = problem.certificate(losses, proof, b, theta, norms(problem, proof)[0]).dual
    dual = -np.inf if same else dual
    if not dual > found.dual:
        dual, proof = found.dual, found.a if found.dual_a is None else found.dual_a
    gap = (primal - dual) / scale
    if not -1e-6 < gap <= tol:
        return found
    return _replaced(found, part, b, primal, dual, gap, None if proof is a else proof)


def _replaced(found, part, b, primal, dual, gap, proof):
    """`found` with the point (θ, a) of `part` and its certificate, in the last record too."""
    values = {"primal": primal, "dual": min(dual, primal), "gap": max(gap, 0.0)}
    n_kernels, n_support = np.count_nonzero(part.theta), np.count_nonzero(part.a.any(axis=0))
    record = found.history[-1] | values | {"n_kernels": int(n_kernels), "n_support": int(n_support)}
    point = {"theta": part.theta, "a": part.a, "b": b, "dual_a": proof, "norms": None}
    return replace(found, history=[*found.history[:-1], record], **values, **point)


def norms(problem, a, which=None, weights=None):
    """(q_m = Σ_t a_tᵀK_m a_t, (M',), of all kernels, or of those `which`, 0 for the others; outputs (T, n) or None).

    The outputs are those of `weights` (M,), which are 0 for all kernels but `which`.
    """
    support, q = np.flatnonzero(a.any(axis=0)), np.zeros(len(problem.kernels))
    which, A, outputs = np.arange(len(q)) if which is None else which, a[:, support], None
    if weights is not None:
        outputs, rest = np.zeros(a.shape), np.setdiff1d(np.arange(a.shape[1]), support)
        outputs[:, rest] = problem.bank.outputs(weights, A, support, rest)
    size = max(1, MAX_PRODUCTS // max(A.size, 1))
    for start in range(0, len(which), size):
        part = which[start : start + size]
        P = problem.bank.products(A, support, support, problem.kernels[part])
        q[part] = np.einsum("tmi,ti->m", P, A)
        if weights is not None:
            outputs[:, support] += np.einsum("m,tmi->ti", weights[problem.kernels[part]], P)
    return q, outputs


def _pulled(problem, found):
    """The kernels with weight, and those that get some by a step along the slope of the dual, ½ q, up to its error.

    At a, whose slope shows the kernels that a smaller problem lacks, and at the dual point of the bound.
    """
    theta, regularizer = found.theta[problem.kernels], problem.regularizer
    keep, error = theta > 0, np.where(theta > 0, 0.0, np.sqrt(found.gap))
    for a in (found.a, found.dual_a):
        known = found.norms if a is found.a else np.zeros(1) if a is None else None
        q = norms(problem, a)[0] if known is None else known
        if q.max() > 0 and regularizer.has("prox"):
            step = STEP * float(theta.max()) / float(q.max())
            keep = keep | (regularizer.prox(theta + 0.5 * step * (1.0 + error) * q, step) > 0)
    return np.flatnonzero(keep)
