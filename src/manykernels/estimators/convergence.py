"""Warnings about solutions whose gap is above `tol`."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .._callers import caller_level
from ..solution import Solution, Status

DOUBTFUL = Status.ROUGH, Status.NOISELESS  # of fits that have converged
MAX_NAMED_PROBLEMS = 3  # in a warning


def warn_convergence(model: Any, solutions: list[Solution], labels: list[str]) -> None:
    """A ConvergenceWarning if a gap is above `tol`; a UserWarning if float64 cannot resolve a gap below it."""
    name, short = type(model).__name__, [s for s in solutions if not s.converged]
    if not short:
        rough = [(s, label) for s, label in zip(solutions, labels, strict=True) if s.status in DOUBTFUL]
        if rough:
            which, words = _listed(label for _, label in rough if label), rough[0][0].reason
            warnings.warn(f"{name} has converged{which}, but {words}.", UserWarning, stacklevel=caller_level())
        return
    bayes = short[0].stationarity is not None
    what = f"stationarity of {model.stationarity_:.2e}" if bayes else f"duality gap of {model.duality_gap_:.2e}"
    which = _listed(label for s, label in zip(solutions, labels, strict=True) if label and not s.converged)
    warnings.warn(
        f"{name} stopped at a {'' if bayes else 'relative '}{what}, above tol={model.tol:g}, after "
        f"{max(s.n_iter for s in short)} steps{which}: {short[0].reason}.",
        ConvergenceWarning,
        stacklevel=caller_level(),
    )


def _listed(labels):
    """The first labels, each with its comma."""
    labels = list(labels)
    return "".join(labels[:MAX_NAMED_PROBLEMS]) + ", …" * (len(labels) > MAX_NAMED_PROBLEMS)
