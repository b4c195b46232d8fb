"""The inner problem: a support vector machine, or another loss, with the combined kernel at fixed weights."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .adjusted import AdjustedProblem
from .coupled import CoupledProblem
from .problem import InnerProblem

if TYPE_CHECKING:
    from ..problem import Problem

__all__ = ["InnerProblem", "host_problem", "inner_problem"]


def inner_problem(problem: Problem, y: np.ndarray, c: np.ndarray, rows: Any = slice(None)) -> Any:
    """The inner problem for targets y and costs c of these rows: that of the bank, or else an `InnerProblem`."""
    E = None if problem.covariates is None else problem.covariates[rows]
    own = None if E is not None else problem.bank.inner(problem.loss, y, c, problem.intercept)
    if problem.loss.coupled:
        if own is not None:
            raise ValueError(
                f"the {problem.loss.name} loss needs the combined kernel of all {problem.bank.n} examples in memory: "
                "raise memory_limit, take device='cpu', or, for pairs of objects, loss='log_time'"
            )
        return CoupledProblem(problem.loss, y, c, problem.bank.n_jobs, E)
    return host_problem(problem, y, c, rows) if own is None else own


def host_problem(problem: Problem, y: np.ndarray, c: np.ndarray, rows: Any = slice(None)) -> InnerProblem:
    """The same for a combined kernel in the memory of the host, or for a solver that needs none."""
    if problem.covariates is None:
        return InnerProblem(problem.loss, y, c, problem.intercept, problem.bank.n_jobs)
    E = problem.covariates[rows]
    return AdjustedProblem(problem.loss, y, c, problem.intercept, problem.bank.n_jobs, E)
