"""The `Status` of a solution, and the sentence that says what to do."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np

from ..solution import Solution, Status

if TYPE_CHECKING:
    from ..problem import Problem

ROUNDING_LIMIT = 1e-3  # of the objective: a rounding error above it explains a gap above tol
LARGE_DIAGONAL = 1e3  # k(x, x), relative to the variance of normalised kernels, above which a fit is slow
CURES = {
    Status.STEPS: "raise max_iter or tol",
    Status.STALLED: "it no longer improves; raise tol",
    Status.WORK: "it needs more work than so few examples are worth; raise tol, or max_iter, which allows more",
}


def diagnosed(problem: Problem, solution: Solution, tol: float, max_iter: int) -> Solution:
    """The solution with its `status` and, if the user can do something, the `reason`."""
    status, words = _diagnose(problem, solution, tol, max_iter)
    status = Status.INTERRUPTED if solution.interrupted else status
    return replace(solution, status=status, reason=words or solution.reason)


def _diagnose(problem, solution, tol, max_iter):
    bank, converged = problem.bank, solution.converged
    if converged and bank.explicit:  # such features are near 0, and there may be millions of examples
        return Status.REACHED, ""
    if bank.indefinite:
        cause = f"{bank.indefinite} is not positive semidefinite, so that the problem is not convex"
        cure = 'clip its negative eigenvalues, psd="clip"'
        return (Status.REACHED, "") if converged else (Status.INDEFINITE, f"{cause}: {cure}")
    rounding = _rounding(problem, solution, tol)
    if not rounding < (tol if converged else ROUNDING_LIMIT):
        cure = "centre or standardise the columns, normalise the kernels, or lower C"
        words = f"rounding alone may change the objective by {rounding:.0e} of it: {cure}"
        return Status.ROUGH if converged else Status.ROUNDING, words
    if converged:
        return Status.REACHED, ""
    given = rounding * bank.unit / 2.0**-53
    if not given < ROUNDING_LIMIT:
        words = f"rounding of the kernels as given may change the objective by {given:.0e} of it: give float64 values"
        return Status.DIGITS, words
    status = Status.STEPS if solution.n_iter >= max_iter else solution.status or Status.STALLED
    words = CURES[status] if status is Status.STEPS else solution.reason or CURES[status]
    size = float(np.mean(bank.diagonals()))
    if size > LARGE_DIAGONAL:
        cure = "centre columns far from 0 (StandardScaler), normalise the kernels"
        words += f"; k(x, x) of {size:.0e} slows it down: {cure}"
    return status, words


def _rounding(problem, solution, tol):
    """The relative error of the objective by rounding, at the solution or on the way to it."""
    proof = solution.a if solution.dual_a is None else solution.dual_a
    a = np.maximum(np.abs(solution.a), np.abs(proof))
    if solution.converged:
        found = max(problem.rounding(a, solution.theta), problem.dual_rounding(proof, solution.theta, tol))
    else:
        found = problem.rounding(np.maximum(a, problem.reach()), solution.theta)
    return found / max(abs(solution.primal), 1e-300)
