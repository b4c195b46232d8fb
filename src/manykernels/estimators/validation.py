"""Checks of weights and losses; every error names the argument, its value and the cure."""

from __future__ import annotations

from numbers import Real

import numpy as np
from sklearn.utils import check_array

from .. import losses


def check_weight(sample_weight, n):
    """Sample weights (n,) as float64 ≥ 0, not all zero; ones for None."""
    if sample_weight is None:
        return np.ones(n)
    if isinstance(sample_weight, Real):
        sample_weight = np.full(n, sample_weight)
    weight = check_array(sample_weight, ensure_2d=False, dtype=np.float64, input_name="sample_weight")
    if weight.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weight.shape}, expected {(n,)}: one weight per example.")
    if weight.min() < 0:
        raise ValueError(f"sample_weight has the negative entry {weight.min():g}: weights must be >= 0.")
    if not weight.any():
        raise ValueError("sample_weight is zero everywhere: at least one weight must be non-zero.")
    return weight


def check_loss(loss, targets, also=(), **params):
    """The Loss of that name (or the instance given), if it is made for such targets or among `also`, else raise."""
    found = losses.get(loss, **params)
    if found.targets != targets and found.name not in also:
        able = [repr(name) for name, cls in losses.LOSSES.items() if cls.targets == targets or name in also]
        raise ValueError(f"loss={loss!r} is not made for {targets} targets: choose one of {', '.join(able)}.")
    return found
