"""Checks of estimator parameters and weights; every error names the argument, its value and the cure."""

from __future__ import annotations

import re
from numbers import Integral, Real

import numpy as np
from sklearn.utils import check_array

_UNITS = {"": 1} | {u: 1000**k for k, u in enumerate("KMGT", 1)}
_UNITS |= {f"{u}I": 1024**k for k, u in enumerate("KMGT", 1)}


def check_number(name, value, low, high=np.inf, *, closed=False, integer=False):
    """Return `value` if it is a number in (low, high] ([low, high] if `closed`), else raise."""
    kind = Integral if integer else Real
    inside = isinstance(value, kind) and not isinstance(value, bool) and np.isfinite(value)
    if not (inside and (value >= low if closed else value > low) and value <= high):
        what = "an integer" if integer else "a finite number"
        bounds = f"{'>=' if closed else '>'} {low}" + (f" and <= {high}" if np.isfinite(high) else "")
        raise ValueError(f"{name}={value!r} is not allowed: {name} must be {what} {bounds}.")
    return value


def check_choice(name, value, choices):
    """Return `value` if it is one of `choices`, else raise."""
    if not any(value is c or (isinstance(c, str) and isinstance(value, str) and value == c) for c in choices):
        raise ValueError(f"{name}={value!r} is unknown: choose one of {', '.join(map(repr, choices))}.")
    return value


def parse_bytes(value, name="memory_limit"):
    """Bytes from an integer, "500MB", "4GB", "2GiB", or None (no limit asked for)."""
    if value is None:
        return None
    if isinstance(value, str):
        match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?I?)B?\s*", value.upper())
        if match and match[2] in _UNITS:
            value = int(float(match[1]) * _UNITS[match[2]])
    if isinstance(value, Integral) and not isinstance(value, bool) and value > 0:
        return int(value)
    raise ValueError(f'{name}={value!r} is not a size: give positive bytes such as 4_000_000_000 or "4GB".')


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
    from .. import losses

    found = losses.get(loss, **params)
    if found.targets != targets and found.name not in also:
        able = [repr(name) for name, cls in losses.LOSSES.items() if cls.targets == targets or name in also]
        raise ValueError(f"loss={loss!r} is not made for {targets} targets: choose one of {', '.join(able)}.")
    return found
