"""Solvers by name. Each states what it needs of the regularizer and refuses a partner by naming what is missing."""

from importlib import import_module

SOLVERS = ("newton", "analytic")


def solve(problem, solver="auto", tol=1e-3, max_iter=1000, warm=None, callback=None):
    """Solves the problem to a relative duality gap of `tol`; returns a `Solution`.

    `callback(record)` is called after each outer step with a dict of iteration, time, primal, dual and gap.
    """
    name = "newton" if solver == "auto" else solver
    if name not in SOLVERS:
        raise ValueError(f"solver must be 'auto' or one of {', '.join(SOLVERS)}; got {solver!r}")
    module = import_module("." + name, __name__)
    missing = [method for method in module.NEEDS if not problem.regularizer.has(method)]
    if missing:
        raise ValueError(f"solver {name!r} needs {', '.join(missing)} of {problem.regularizer!r}; use another solver")
    return module.solve(problem, tol=tol, max_iter=max_iter, warm=warm, monitor=callback)
