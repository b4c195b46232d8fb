"""The certificate of a solution from outside, the `Status` of a solution, and the sentence that says what to do."""

from dataclasses import replace

import numpy as np

from ..losses import COUPLED, LOSSES
from ..problem import Problem
from ..solution import Solution, Status
from ._warm import norms

ROUNDING_LIMIT = 1e-3  # of the objective: a rounding error above it explains a gap above tol
LARGE_DIAGONAL = 1e3  # k(x, x), relative to the variance of normalised kernels, above which a fit is slow
BEYOND_ROUNDING = 1e-6  # of the values compared
NOISE_FLOOR = 1e-8  # of the variance of y: the least learned noise
CURES = {
    Status.STEPS: "raise max_iter or tol",
    Status.STALLED: "it no longer improves; raise tol",
    Status.WORK: "a fit of this size may do no more work; raise tol, or give max_iter above 1,000, which allows more",
    Status.MEMORY: "{n_active:,} examples are active, and memory_limit has no room for more: raise memory_limit",
    Status.NOISELESS: f"the learned noise, {{noise:.0e}}, is at its floor of {NOISE_FLOOR:g} of y's variance: the "
    "kernels fit y exactly, and no noise is left to estimate; give noise= a number, or leave out the narrow kernels",
}


def certified(problem: Problem, name: str, found: Solution, tol: float) -> Solution:
    """The result of a solver from outside, with primal value, dual value and gap at its theta, a and b."""
    T, n = problem.Y.shape
    M, solver = problem.bank.M, f"solver {name!r}"
    if not isinstance(found, Solution):
        given = "None" if found is None else f"a value of type {type(found).__name__}"
        raise ValueError(f"{solver} returned {given}: solve(problem, control) must return a Solution(theta, a, b, ...)")
    if not problem.regularizer.has("conjugate"):  # no certificate exists
        return found
    theta, a, b = (np.asarray(part, float) for part in (found.theta, found.a, found.b))
    for what, part, shape in (("theta", theta, (M,)), ("a", a, (T, n)), ("b", b, problem.no_b().shape)):
        if part.shape != shape or not np.all(np.isfinite(part)):
            given = f"of shape {part.shape}" if part.shape != shape else "that is not finite"
            raise ValueError(
                f"{solver} returned {what} {given}: solve must return a Solution with finite theta {(M,)}, the weights "
                f"of all kernels, a {(T, n)} and b {(T,)}"
            )
    weights, idle = theta[problem.kernels], np.delete(theta, problem.kernels)
    if np.any(theta < 0) or idle.any() or not np.isfinite(problem.regularizer.penalty(weights, 0.0 * weights)[1]):
        domain = f"at least 0, 0 outside problem.kernels, and in the domain of {problem.regularizer!r}"
        raise ValueError(f"{solver} returned theta={theta}: the weights must be {domain}")
    if b.any() and not problem.intercept and problem.covariates is None:
        raise ValueError(f"{solver} returned b={b}: it must be 0, since problem.intercept is False")
    q, outputs = norms(problem, a, None, theta)
    losses, dual_a = problem.losses(outputs, b), found.dual_a
    primal, dual, gap, scale = problem.certificate(losses, a, b, weights, q)
    if dual_a is not None and np.shape(dual_a) == a.shape:
        other = problem.certificate(losses, dual_a, b, weights, norms(problem, dual_a)[0])
        dual, gap, dual_a = (other.dual, other.gap, dual_a) if other.dual > dual else (dual, gap, None)
    if not np.isfinite(gap):  # a is not feasible: the bound of a point that is
        (_, dual_a, _), (_, dual, _, _) = problem.origin()
        gap = (primal - dual) / scale
    words = f"{solver} claimed a gap of {found.gap:.1e}, and its theta, a and b have {gap:.1e}"
    reason, reached = words if found.gap <= tol < gap else found.reason, bool(gap <= tol)
    found = replace(found, theta=theta, a=a, b=b, dual_a=dual_a, reason=reason)
    return replace(found, primal=primal, dual=dual, gap=gap, converged=reached)


def diagnosed(problem: Problem, solution: Solution, tol: float, max_iter: int) -> Solution:
    """The solution with its `status` and, if the user can do something, the `reason`."""
    status, words = _diagnose(problem, solution, tol, max_iter)
    if not words and solution.status is Status.NOISELESS:
        status, words = Status.NOISELESS, sentence_for(Status.NOISELESS, noise=solution.noise)
    words = words or solution.reason
    status = Status.ROUGH if status is Status.REACHED and words else status
    return replace(solution, status=Status.INTERRUPTED if solution.interrupted else status, reason=words)


def sentence_for(status: Status, **facts) -> str:
    """What to do after a fit that ended like this."""
    return CURES[status].format(**facts)


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
        cure = "centre or standardise the columns, normalise the kernels, or lower C or sample_weight"
        words = f"rounding alone may change the objective by {rounding:.0e} of it: {cure}"
        return Status.ROUGH if converged else Status.ROUNDING, words
    if converged:
        return Status.REACHED, ""
    given = rounding * bank.unit / 2.0**-53
    if not given < ROUNDING_LIMIT:
        words = f"rounding of the kernels as given may change the objective by {given:.0e} of it: give float64 values"
        return Status.DIGITS, words
    if type(problem.loss) not in (*LOSSES.values(), *COUPLED.values()) and _disagrees(problem, solution.history):
        what = f"value, gradient, quadratic (or _conjugate) and unit_box of the loss {problem.loss.name!r} disagree"
        return Status.STALLED, f"{what}: V*(y, u) must be the largest u f - V(y, f), and a = -u lies in unit_box"
    status = Status.STEPS if solution.n_iter >= max_iter else solution.status or Status.STALLED
    own = solution.reason if status is not Status.STEPS else ""
    words = own or sentence_for(status, noise=solution.noise)
    size = float(np.mean(bank.diagonals()))
    if size > LARGE_DIAGONAL:
        cure = "centre columns far from 0 (StandardScaler), normalise the kernels"
        words += f"; k(x, x) of {size:.0e} slows it down: {cure}"
    return status, words


def _disagrees(problem, history):
    """Whether a dual value is above a primal one, or V(y, f) + V*(y, u) = u f fails at u = V'(y, f)."""
    best = min((record.get("primal", np.inf) for record in history), default=np.inf)
    if any(record.get("dual", -np.inf) - best > BEYOND_ROUNDING * abs(best) for record in history):
        return True
    y, loss = problem.Y.ravel(), problem.loss
    for f in (np.zeros(y.shape), y + 0.7, y - 1.3):
        value, u = loss.value(y, f), loss.gradient(y, f)
        off = value + loss.conjugate(y, u) - u * f
        if not np.all(np.abs(off) <= BEYOND_ROUNDING * (1.0 + np.abs(value) + np.abs(u * f))):
            return True
    return False


def _rounding(problem, solution, tol):
    """The relative error of the objective by rounding, at the solution or on the way to it."""
    proof = solution.a if solution.dual_a is None else solution.dual_a
    a = np.maximum(np.abs(solution.a), np.abs(proof))
    if solution.converged:
        found = max(problem.rounding(a, solution.theta), problem.dual_rounding(proof, solution.theta, tol))
    else:
        found = problem.rounding(np.maximum(a, problem.reach()), solution.theta)
    return found / max(abs(solution.primal), 1e-300)
