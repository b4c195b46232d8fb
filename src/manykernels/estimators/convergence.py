"""Warnings after a fit: about solutions whose gap is above `tol`, and losses that do not suit the unit of y."""

import warnings
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._callers import caller_level
from ..solution import Solution, Status
from ..solvers.diagnosis import sentence_for

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
        f"{max(s.n_iter for s in short)} steps{which}: {short[0].reason or sentence_for(Status.STALLED)}.",
        ConvergenceWarning,
        stacklevel=caller_level(),
    )


def _listed(labels):
    """The first labels, each with its comma."""
    labels = list(labels)
    return "".join(labels[:MAX_NAMED_PROBLEMS]) + ", …" * (len(labels) > MAX_NAMED_PROBLEMS)


def warn_units(loss, Y, c, C):
    """A UserWarning about a parameter of the loss that does not suit the targets Y (T, n) of costs c (n,).

    The spread is the standard deviation of the targets with c_i > 0; `Loss.misfit` has the rules.
    """
    spreads = np.std(Y[:, np.asarray(c) > 0], axis=1)
    for t, spread in enumerate(spreads):
        says = loss.misfit(float(spread), C) if spread > 0 else ""
        if says:
            which = "y" if len(Y) == 1 else f"y[:, {t}]"
            warnings.warn(
                f"The standard deviation of {which} is {spread:.3g}, and loss={loss.name!r} depends on the unit of y: "
                f"{says}. Scale y, TransformedTargetRegressor(model, transformer=StandardScaler()), or take "
                "loss='squared', which is the same in every unit.",
                UserWarning,
                stacklevel=caller_level(),
            )
            return
