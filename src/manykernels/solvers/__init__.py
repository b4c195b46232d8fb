"""Solvers by name or as objects. Each states what it needs of the problem, and its refusal names what is missing.

    solve(problem, "level")    solve(problem, Level(tau=0.9))    solve(problem, MySolver())

A solver is a class with parameters. It has `needs`, the methods that it calls on the regularizer, `solve(problem,
control)`, and, if it cannot take every problem, `refuse(problem)`, which returns the reason or None. Your own solver
derives from `BaseSolver`, and you may pass it wherever a name may stand; docs/solvers.md has an example.
"""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from .._limits import Allowance
from .._validation import shown
from ..inner import InnerProblem
from ..problem import Problem
from ..solution import Solution, Status
from ._oracle import Oracle
from ._run import Stall
from ._warm import begin_from, thinned
from .base import BaseSolver, Caller, Control, Monitor, seed_of
from .checkpoint_file import Watch
from .classical.analytic import Analytic
from .classical.chunking import Chunking
from .classical.hessian import Hessian
from .classical.level import Level
from .classical.nesterov import Nesterov
from .classical.silp import SILP
from .classical.simplemkl import SimpleMKL
from .classical.sip import SIP
from .classical.spicy import Spicy
from .coordinate import Coordinate
from .diagnosis import certified, diagnosed
from .interior import Interior
from .mackay import MacKay
from .newton import Newton
from .primal import Primal
from .reweighted import Reweighted

SOLVERS = {
    solver.name: solver
    for solver in (
        Newton, Analytic, Hessian, SILP, SIP, Level, SimpleMKL, Chunking, Coordinate, Primal, Interior, Nesterov, Spicy,
        Reweighted, MacKay,
    )
}  # fmt: skip
DEFAULTS = ("interior", "primal", "coordinate", "newton", "reweighted", "mackay")  # "auto" takes the quickest of them
SPARES = ("chunking", "spicy", "hessian", "analytic")  # continue where "auto" stalls
MAX_SPARE_EXAMPLES = 5000  # above it no spare solver is tried
SMALL_FIT_WORK = 1.5e6  # allowed for a small problem, in the unit of `_limits.spend`: about two seconds
SMALL_FIT = 200, 20, 3, 1000  # examples, kernels, outputs and steps of the largest small problem
LAST_WORK, MIN_LAST_STEPS = 1e5, 30  # of the last step at p = 1, if the run took less
LAST_PATIENCE = 5, 0.5  # its steps in which the gap falls at least to this share: kernels may be in float32
MAX_WORK_FACTOR = 2.5  # the problems of one fit, such as one-vs-rest classes, share this many times the work of one

__all__ = [
    "SOLVERS", "BaseSolver", "Control", "InnerProblem", "Monitor", "Oracle", "Solver", "best_for", "get",
    "seed_of", "solve",
    *(solver.__name__ for solver in SOLVERS.values()),
]  # fmt: skip


def __dir__() -> list[str]:
    return sorted(__all__)


def Solver(name: str, **options) -> BaseSolver:
    """The solver of that name with options.

    Parameters
    ----------
    name : str
        A key of `SOLVERS`.
    **options
        Of the solver; `Solver(name).defaults()` lists them.

    Returns
    -------
    BaseSolver

    Examples
    --------
    >>> from manykernels.solvers import Solver
    >>> Solver("level", tau=0.9), Solver("level").defaults()
    (Level(tau=0.9), {'tau': 0.5})
    """
    if not isinstance(name, str) or name not in SOLVERS:
        raise ValueError(f"solver must be 'auto' or one of {', '.join(SOLVERS)}; got {shown(name)}")
    known = SOLVERS[name].defaults()
    unknown = sorted(set(options) - known.keys())
    if unknown:
        raise ValueError(f"solver {name!r} has no option {unknown}; it has {sorted(known) or 'none'}")
    return SOLVERS[name](**options)


def get(solver: str | BaseSolver) -> BaseSolver:
    """The solver of that name, or the instance itself.

    Parameters
    ----------
    solver : str or BaseSolver
        A key of `SOLVERS`, or a solver.

    Returns
    -------
    BaseSolver

    Examples
    --------
    >>> from manykernels.solvers import get
    >>> get("newton")
    Newton()
    """
    if isinstance(solver, type) and issubclass(solver, BaseSolver):
        raise ValueError(f"solver={solver.__name__} is a class: give an instance, {solver.__name__}()")
    return solver if isinstance(solver, BaseSolver) else Solver(solver)


def best_for(problem: Problem, tol: float = 1e-3) -> BaseSolver:
    """The solver that "auto" stands for: of the exact ones that take the problem, the one with least expected work.

    Parameters
    ----------
    problem : Problem
    tol : float, default 1e-3
        The relative duality gap to reach.

    Returns
    -------
    BaseSolver

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.losses import Hinge
    >>> from manykernels.problem import Problem
    >>> from manykernels.regularizers import LpNorm
    >>> from manykernels.solvers import best_for
    >>> best_for(Problem(DenseBank(np.eye(4)[:, :, None]), [1, 1, -1, -1], Hinge(), LpNorm(2)))
    Newton()
    """
    able = [solver for solver in map(Solver, DEFAULTS) if solver.refusal(problem) is None]
    if not able:
        why = "" if problem.covariates is None else f" and covariates: {Solver('newton').refusal(problem)}"
        if problem.bank.device_features is not None:
            why = f" on a device: {Solver('primal').refusal(problem)}; take device='cpu'"
        raise ValueError(f"no solver takes {problem.regularizer!r} with the {problem.loss.name} loss{why}")
    return min(able, key=lambda solver: solver.expected_work(problem, tol))


def solve(
    problem: Problem,
    solver: str | BaseSolver = "auto",
    tol: float = 1e-3,
    max_iter: int = 1000,
    warm: Solution | None = None,
    callback: Monitor | Callable[[dict[str, Any]], object] | None = None,
    random_state=None,
    checkpoint=None,
    fits: int = 1,
    thin: bool = True,
) -> Solution:
    """Solves the problem to a relative duality gap of `tol`.

    Parameters
    ----------
    problem : Problem
    solver : str or BaseSolver, default "auto"
        "auto" is the fastest exact one that takes the problem.
    tol : float, default 1e-3
    max_iter : int, default 1000
        The largest number of outer steps; above 1,000 it also allows more work.
    warm : Solution, optional
        The start, made feasible for this problem.
    callback : Monitor or callable, optional
        A function is called after each outer step with a dict of iteration, time, primal, dual and gap.
    random_state : int, None or NumPy generator
        For solvers with this option, unless theirs is set.
    checkpoint : CheckpointSlot, optional
    fits : int, default 1
        The number of problems in this fit, such as one-vs-rest classes; they share the allowed work.
    thin : bool, default True
        Whether a fit at p = 1 takes the last step, which sets the weights to 0 that the gap allows.

    Returns
    -------
    Solution

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.losses import Hinge
    >>> from manykernels.problem import Problem
    >>> from manykernels.regularizers import LpNorm
    >>> from manykernels.solvers import solve
    >>> solution = solve(Problem(DenseBank(np.eye(4)[:, :, None]), [1, 1, -1, -1], Hinge(), LpNorm(2)))
    >>> solution.converged, solution.theta.round(3)
    (True, array([1.]))
    """
    monitor = Monitor() if callback is None else callback if isinstance(callback, Monitor) else Caller(callback)
    work = Allowance(_allowed_work(problem, max_iter) * min(1.0, MAX_WORK_FACTOR / fits))
    options = dict(asked=(tol, max_iter, monitor, random_state), work=work, thin=thin)
    if not (isinstance(solver, str) and solver == "auto"):
        return _solve(problem, get(solver), warm, checkpoint, **options)
    able = problem.bank.n <= MAX_SPARE_EXAMPLES and checkpoint is None and not problem.bank.indefinite
    spares = (spare for spare in map(Solver, SPARES if able else ()) if spare.refusal(problem) is None)
    spare = next(spares, None)
    share = 0.5 if spare else 1.0  # of the work that is left
    found = _solve(problem, best_for(problem, tol), warm, checkpoint, share=share, **options)
    while spare is not None and not _is_final(found, max_iter):
        following = next(spares, None)
        stopped = replace(found, interrupted=True, status=Status.INTERRUPTED)
        try:
            other = _solve(problem, spare, share=0.5 if following else 1.0, **options)
        except KeyboardInterrupt:
            return stopped
        if other.interrupted:
            return other if other.gap <= found.gap else stopped
        found, spare = _best_of_both(problem, found, other, tol, max_iter), following
    return found


def _is_final(solution, max_iter):
    """Whether another solver could not improve this solution, or may not try."""
    done = solution.converged or solution.interrupted or solution.n_iter >= max_iter
    return done or solution.stationarity is not None or solution.status is Status.ROUNDING


def _allowed_work(problem, max_iter):
    """The work that a fit may take, proportional to kernels, outputs, steps and the cube of the examples."""
    sizes = problem.bank.n, problem.bank.M, problem.n_outputs, max_iter
    n, M, T, steps = (max(size / small, 1.0) for size, small in zip(sizes, SMALL_FIT, strict=True))
    return SMALL_FIT_WORK * n**3 * M * T * steps


def _best_of_both(problem, one, other, tol, max_iter):
    """The better predictor of two solutions with the better bound; the gap between them is a certificate too."""
    best, bound = (one, other) if one.primal <= other.primal else (other, one)
    if one.converged or other.converged:  # its gap may be 0
        return one if one.converged else other
    with np.errstate(all="ignore"):
        gap = best.gap * ((best.primal - bound.dual) / (best.primal - best.dual))
    if not -1e-6 < gap < best.gap:  # a dual value above the primal one is no bound
        return best
    gap, history = max(gap, 0.0), [*best.history[:-1], best.history[-1] | {"gap": max(gap, 0.0)}]
    proof = bound.a if bound.dual_a is None else bound.dual_a
    ends = dict(gap=gap, converged=bool(gap <= tol), history=history, reason="", status=None)
    return diagnosed(problem, replace(best, dual=bound.dual, dual_a=proof, **ends), tol, max_iter)


def _solve(problem, solver, warm=None, checkpoint=None, *, asked, work, thin, share=1.0):
    """The `Solution` of one solver within a share of the work that is left."""
    tol, max_iter, monitor, random_state = asked
    reason = solver.refusal(problem)
    if reason:
        raise ValueError(f"solver {solver.name!r} cannot take this problem: {reason}; use solver='auto'")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}")

    def run(warm, state=None):
        given = tol, max_iter, None if warm is None else begin_from(warm, problem), monitor, random_state
        control = Control(*given) if checkpoint is None else Watch(checkpoint, state, *given)
        control.work = allowed = share * work.left
        with np.errstate(all="ignore"):  # the certificate shows values that are not finite
            found = solver.solve(problem, control)
            if type(solver) not in SOLVERS.values() and (found is None or found is not control.certified):
                found = certified(problem, solver.name, found, tol)
        used = allowed - control.work if allowed < np.inf else 0.0
        work.left -= used
        found = found if found.history else _with_history(found, control)
        if not thin:
            return found

        def again(small, gap, warm):
            control = Control(gap, max(MIN_LAST_STEPS, found.n_iter), begin_from(warm, small), None, random_state)
            control.work, control.stalled = max(used, LAST_WORK), Stall(*LAST_PATIENCE)
            with np.errstate(all="ignore"):
                return _finisher(small, gap).solve(small, control)

        goes_on = problem.bank.n <= MAX_SPARE_EXAMPLES and problem.bank.device_features is None
        return thinned(problem, found, tol, again if goes_on else None)

    found = run(warm) if checkpoint is None else checkpoint.carry_on(run, warm, max_iter, monitor, problem)
    return diagnosed(problem, found, tol, max_iter)


def _finisher(problem, tol):
    """The solver that reaches a small gap soonest from a warm start: `interior` or `newton` where they can."""
    able = [solver for solver in map(Solver, ("interior", "newton")) if solver.refusal(problem) is None]
    return min(able, key=lambda one: one.expected_work(problem, tol)) if able else best_for(problem, tol)


def _with_history(found, control):
    """The solution with the history that its solver recorded, at least its last step."""
    if not control.history:
        control.record({"primal": found.primal, "dual": found.dual, "gap": found.gap})
    return replace(found, history=control.history, n_iter=len(control.history))
