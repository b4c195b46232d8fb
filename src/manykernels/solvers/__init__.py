"""Solvers by name. Each states what it needs of its partners and refuses one by naming what is missing.

A solver is a module with `NEEDS`, the methods it asks of the regularizer, with `solve(problem, tol, max_iter, warm,
monitor, *, option=default)`, and, where it cannot take every loss, with `refuse(problem)`, the reason or None. What a
regularizer without those methods lacks, in words, may stand in `MISSING`. Where a checkpoint holds the `state` of a
run, not only a point of it, the monitor hands it on.
"""

from dataclasses import replace
from importlib import import_module
from inspect import signature
from numbers import Integral

import numpy as np

from ._checkpoint import Watch
from ._warm import begin_from

SOLVERS = (
    "newton", "analytic", "hessian", "silp", "sip", "level", "simplemkl", "chunking", "coordinate", "nesterov", "spicy",
    "reweighted", "mackay",
)  # fmt: skip
BEST = ("coordinate", "newton", "reweighted", "mackay")  # the first that takes a problem is "auto"
SPARE = ("chunking", "spicy", "hessian", "analytic")  # and these go on where it stalls,
FEW = 5000  # on up to so many examples


class Solver:
    """A solver with options, as in `MKLClassifier(regularizer=1, solver=Solver("level", tau=0.9))`.

    `Solver(name).defaults()` lists them, `help(Solver(name).module)` says what they mean.
    """

    def __init__(self, name, **options):
        if name not in SOLVERS:
            raise ValueError(f"solver must be 'auto' or one of {', '.join(SOLVERS)}; got {name!r}")
        self.name, self.options = name, options
        unknown = sorted(set(options) - self.defaults().keys())
        if unknown:
            raise ValueError(f"solver {name!r} has no option {unknown}; it has {sorted(self.defaults()) or 'none'}")

    @property
    def module(self):
        return import_module("." + self.name, __name__)

    def defaults(self):
        """The options of this solver and their default values."""
        parameters = signature(self.module.solve).parameters.values()
        return {p.name: p.default for p in parameters if p.kind is p.KEYWORD_ONLY}

    def refusal(self, problem):
        """Why this solver cannot take the problem, or None."""
        regularizer = problem.regularizer
        for method in self.module.NEEDS:
            if not regularizer.has(method):
                missing = getattr(self.module, "MISSING", f"it needs {method}")
                return f"{regularizer!r} does not suit it: {regularizer.why_not(method) or missing}"
        refuse = getattr(self.module, "refuse", None)
        return refuse(problem) if refuse else None

    def __repr__(self):
        return f"Solver({', '.join([repr(self.name)] + [f'{k}={v!r}' for k, v in self.options.items()])})"

    def __eq__(self, other):
        return isinstance(other, Solver) and (self.name, self.options) == (other.name, other.options)

    def __hash__(self):
        return hash(repr(self))


def best_for(problem):
    """The solver that "auto" stands for: the fastest exact one that takes the problem."""
    for name in BEST:
        if Solver(name).refusal(problem) is None:
            return Solver(name)
    raise ValueError(f"no solver takes {problem.regularizer!r} with the {problem.loss.name} loss")


def seed_of(random_state):
    """The integer that `random_state` stands for: itself, 0 for None, or one drawn from a generator."""
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    if isinstance(random_state, Integral) and not isinstance(random_state, bool) and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state={random_state!r} is not allowed: give None, an integer >= 0, or a RandomState or Generator of "
        "numpy.random"
    )


def solve(
    problem, solver="auto", tol=1e-3, max_iter=1000, warm=None, callback=None, random_state=None, checkpoint=None
):
    """Solves the problem to a relative duality gap of `tol`; returns a `Solution`.

    `solver` is "auto", a name or a `Solver`; `callback(record)` is called after each outer step with a dict of
    iteration, time, primal, dual and gap. `warm` is a `Solution` to begin from, made feasible for this problem.
    `random_state` reaches the solvers that have such an option, unless theirs is given; `checkpoint` is a `Part`.
    """
    options = dict(tol=tol, max_iter=max_iter, callback=callback, random_state=random_state)
    if isinstance(solver, Solver) or solver != "auto":
        return _solve(problem, solver if isinstance(solver, Solver) else Solver(solver), warm, checkpoint, **options)
    found = _solve(problem, best_for(problem), warm, checkpoint, **options)
    able = problem.bank.n <= FEW and checkpoint is None and not problem.bank.indefinite and found.stationarity is None
    for spare in map(Solver, SPARE if able else ()):
        if (
            found.converged
            or found.interrupted
            or found.n_iter >= max_iter
            or found.reason.startswith("rounding alone")
        ):
            break
        if spare.refusal(problem) is None:
            other = _solve(problem, spare, **options)
            found = other if other.interrupted or not found.gap <= other.gap else found
    return found


def _solve(problem, solver, warm=None, checkpoint=None, *, tol, max_iter, callback, random_state):
    """The `Solution` that one solver comes to."""
    reason = solver.refusal(problem)
    if reason:
        raise ValueError(f"solver {solver.name!r} cannot take this problem: {reason}; use solver='auto'")
    if max_iter < 1:
        raise ValueError(f"max_iter must be at least 1, got {max_iter!r}")
    options = dict(solver.options)
    if "random_state" in solver.defaults():
        options["random_state"] = seed_of(options.get("random_state", random_state))

    def run(warm, state=None):
        monitor = callback
        if checkpoint is not None or hasattr(callback, "visited"):
            monitor = Watch(callback, checkpoint, state)
        warm = None if warm is None else begin_from(warm, problem)
        with np.errstate(all="ignore"):  # what is not finite shows in the certificate
            return solver.module.solve(problem, tol=tol, max_iter=max_iter, warm=warm, monitor=monitor, **options)

    found = run(warm) if checkpoint is None else checkpoint.carry_on(run, warm, max_iter, callback, problem)
    return replace(found, reason=problem.remark(found, tol, max_iter))
