"""What a fit says of solutions that are not as near the optimum as `tol` asks."""

from __future__ import annotations

import warnings
from typing import Any

from sklearn.exceptions import ConvergenceWarning

from .._callers import outside
from ..solution import Solution

SHOWN = 3  # problems that a warning names


def warn_convergence(model: Any, solutions: list[Solution], labels: list[str]) -> None:
    """A ConvergenceWarning where a gap is above `tol`; a UserWarning where float64 numbers cannot hold one below it."""
    name, short = type(model).__name__, [s for s in solutions if not s.converged]
    if not short:
        rough = next((s.reason for s in solutions if s.reason), "")
        if rough:
            which = _listed(label for s, label in zip(solutions, labels, strict=True) if label and s.reason)
            warnings.warn(f"{name} has converged{which}, but {rough}.", UserWarning, stacklevel=outside())
        return
    bayes = short[0].stationarity is not None
    early = all(s.n_iter < model.max_iter for s in short)
    cure = next((s.reason for s in short if s.reason), "")
    cure = cure or ("it no longer improves; raise tol" if early else "raise max_iter or tol")
    what = f"stationarity of {model.stationarity_:.2e}" if bayes else f"duality gap of {model.duality_gap_:.2e}"
    which = _listed(label for s, label in zip(solutions, labels, strict=True) if label and not s.converged)
    warnings.warn(
        f"{name} stopped at a {'' if bayes else 'relative '}{what}, above tol={model.tol:g}, after "
        f"{max(s.n_iter for s in short)} steps{which}: {cure}.",
        ConvergenceWarning,
        stacklevel=outside(),
    )


def _listed(labels):
    """The first of these labels, each with its comma."""
    labels = list(labels)
    return "".join(labels[:SHOWN]) + ", …" * (len(labels) > SHOWN)
