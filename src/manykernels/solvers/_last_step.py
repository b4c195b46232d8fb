"""The last step of a fit at p = 1, where weights of the optimum are 0: it sets as many weights to 0 as the gap allows.

A gap of tol hardly says which weights of some hundredths are 0, so that their number would depend on the solver, on the
order of the examples and on tol. So the run continues to a much smaller gap among the kernels that have weight or
nearly pull some, and then without those whose share of the sum stays small. These problems have few kernels and a warm
start. The lower bound of the first run, over all kernels, is the certificate: with (θ, a, b) of the smaller problem

    gap = (primal(θ, a, b) − dual) / scale ,   primal and scale those of all kernels, since the others have f_m = 0.

A point whose gap is above tol is not taken; then more of the kernels stay.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from ..problem import Problem
    from ..solution import Solution

FINER, FINEST = 1e-3, 1e-7  # the gap among the kernels with weight: times tol, and at least
CLOSE = 0.5  # times tol: the gap after smaller weights have become 0
LEAST_SHARE = 1e-4  # of the sum of the weights: smaller weights become 0 if the gap allows it
MAX_ROUNDS = 4
MAX_PRODUCTS = 2**24  # numbers of a block of products
STEP = 1e-2  # of the largest weight, along the slope of the dual


def thinned(
    problem: Problem, found: Solution, tol: float, again: Callable[[Problem, float, Solution], Solution]
) -> Solution:
    """`found`, or a solution with fewer weights and a gap of at most tol, by again(smaller problem, gap, warm)."""
    if problem.regularizer.smooth or not found.converged or found.interrupted:
        return found
    fine = min(tol, max(FINER * tol, FINEST))
    if found.gap > fine:
        found, _ = _continued(problem, found, tol, again, _pulled(problem, found), fine)
    share = LEAST_SHARE
    for _ in range(MAX_ROUNDS):
        theta = found.theta[problem.kernels]
        keep = np.flatnonzero(theta > share * theta.sum())
        if found.interrupted or len(keep) == np.count_nonzero(theta):
            break
        found, taken = _continued(problem, found, tol, again, keep, CLOSE * tol)
        share *= 1.0 if taken else 0.1
    return found


def _continued(problem, found, tol, again, keep, aim):
    """(the solution among the kernels `keep`, True) if its gap is at most tol, else (found, False)."""
    small = problem.among(keep)
    try:
        part = again(small, aim, found)
    except KeyboardInterrupt:
        return replace(found, interrupted=True), False
    fewer = _over_all(problem, small, found, part)
    taken = bool(fewer.gap <= tol)
    return replace(fewer if taken else found, interrupted=part.interrupted), taken


def _pulled(problem, found):
    """The kernels with weight, and those that get some by a step along the slope of the dual, ½ q, up to its error."""
    theta, regularizer = found.theta[problem.kernels], problem.regularizer
    a = found.a if found.dual_a is None else found.dual_a
    support, q = np.flatnonzero(a.any(axis=0)), np.zeros(len(theta))
    size, A = max(1, MAX_PRODUCTS // max(len(a) * len(support), 1)), a[:, support]
    for start in range(0, len(q), size):
        part = slice(start, start + size)
        q[part] = np.einsum("tmi,ti->m", problem.bank.products(A, support, support, problem.kernels[part]), A)
    if not regularizer.has("prox") or not q.max() > 0:
        return np.flatnonzero(theta)
    step, error = STEP * float(theta.max()) / float(q.max()), np.where(theta > 0, 0.0, np.sqrt(found.gap))
    return np.flatnonzero((theta > 0) | (regularizer.prox(theta + 0.5 * step * (1.0 + error) * q, step) > 0))


def _over_all(problem, small, found, part):
    """The solution `part` of the problem among fewer kernels as one of the whole problem, with the bound of `found`."""
    theta, before = part.theta, part if part.gap > 0 else found
    gone = problem.regularizer.value(theta[problem.kernels]) - small.regularizer.value(theta[small.kernels])
    primal, proof = part.primal + gone, found.a if found.dual_a is None else found.dual_a
    scale = (before.primal - before.dual) / before.gap if before.gap > 0 else max(abs(primal), 1e-300)
    gap = max((primal - found.dual) / scale, 0.0)
    counts = {"n_kernels": int(np.count_nonzero(theta)), "n_support": int(np.count_nonzero(part.a.any(axis=0)))}
    history = [*found.history[:-1], found.history[-1] | counts | {"primal": primal, "gap": gap}]
    return replace(found, theta=theta, a=part.a, b=part.b, primal=primal, gap=gap, dual_a=proof, history=history)
