"""The inner problem: a support vector machine, or another loss, with the combined kernel at fixed weights."""

from .problem import InnerProblem, inner_problem

__all__ = ["InnerProblem", "inner_problem"]
