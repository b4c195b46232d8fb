"""A warning about losses whose parameters are in the unit of y and far from its spread."""

from __future__ import annotations

import warnings

import numpy as np

from .._callers import caller_level


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
