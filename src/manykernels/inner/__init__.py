"""The problem at fixed weights: one kernel, the combined one, and a support vector machine or its like."""

from .problem import InnerProblem, inner_problem

__all__ = ["InnerProblem", "inner_problem"]
