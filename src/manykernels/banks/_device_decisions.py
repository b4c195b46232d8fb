"""Decisions on new data by a device, and the kernels that a device computes."""

from typing import Any

import numpy as np
from scipy.sparse import issparse

from ..kernels.pair_blocks import BlockSide
from ._device_parts import BASES, DevicePlace, Family, Sums


def open_device(name: str) -> Any:
    """The torch.device of this name, or an error that says what is missing."""
    try:
        import torch
    except ImportError as error:
        given = "torch" if name == "cpu" else name  # see `choose_device`
        raise ImportError(f"device={given!r} needs PyTorch: install manykernels[gpu], or take device='cpu'") from error
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise ValueError(f"device={name!r} is unknown to PyTorch: take 'cpu', 'cuda' or 'auto'") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={name!r} is not there: PyTorch {torch.__version__} finds no card; take device='cpu'")
    if device.type == "cuda" and device.index and device.index >= torch.cuda.device_count():
        last = torch.cuda.device_count() - 1
        raise ValueError(f"device={name!r} is not there: the cards of this machine are 'cuda:0' to 'cuda:{last}'")
    return device


def there(group):
    """Whether the device computes these kernels."""
    return group.pairs.kind in BASES and not group.generic.any()


def decide_there(predictor, left, A, theta, n):
    """Σ_m θ_tm K_m @ A[t] between new data, n examples on the sides `left`, and the support of a predictor, (T, n).

    None if the device is missing or cannot compute these kernels. On the device, the new examples follow the support.
    """
    active = predictor.tiles.active((theta * predictor.scale != 0).any(axis=0))
    dense = all(there(group) and not issparse(predictor.sides[i].x) for i, group, _ in active)
    if not dense or not n or not predictor.n_support:
        return None
    try:
        place = DevicePlace(open_device(predictor.device), False)
    except (ImportError, ValueError):  # loaded on another machine
        return None
    parts = []
    for i, group, _ in active:
        old, new = predictor.sides[i], left[i]
        x = None if old.x is None else np.concatenate([old.x, new.x], axis=1)
        ones = np.ones((group.members.size, 1))
        factors = [np.broadcast_to(ones if s.factor is None else s.factor, (len(ones), len(s.own))) for s in (old, new)]
        plain = old.factor is None and new.factor is None
        side = BlockSide(x, old.own, None, None, None if plain else np.concatenate(factors, axis=1))
        parts.append((group.members, Family(place, group, side)))
    sums, support = Sums(place, predictor.n_support + n, parts, predictor.scale), np.arange(predictor.n_support)
    out, coefficients = np.empty((len(A), n)), place.tensor(A)
    for part in place.stripes(range(n), support):
        rows = predictor.n_support + np.arange(n)[part]
        for t, weights in enumerate(theta):
            K = sums.combined(weights, rows, support)
            which = slice(None) if len(theta) == 1 else slice(t, t + 1)
            out[which, part] = (coefficients[which] @ K.T).cpu().numpy()
    return out
