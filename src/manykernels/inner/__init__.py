"""The inner problem: a support vector machine, or another loss, with the combined kernel at fixed weights."""

from .choice import host_problem, inner_problem
from .problem import InnerProblem

__all__ = ["InnerProblem", "host_problem", "inner_problem"]
