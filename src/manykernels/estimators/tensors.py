"""Tensors of PyTorch as data."""

import sys
from typing import Any


def to_host(X: Any) -> tuple[Any, str | None]:
    """(X as a NumPy array, the card it lies on or None) if X is a tensor; else (X, None).

    The host needs a copy, to check the examples, and to predict without the card.
    """
    torch = sys.modules.get("torch")
    if torch is None or not isinstance(X, torch.Tensor):
        return X, None
    short = X.dtype in (torch.float16, torch.bfloat16)
    host = (X.float() if short else X).detach().cpu().resolve_conj().resolve_neg().numpy()
    return host, str(X.device) if X.is_cuda else None


def card_for(device: str, card: str | None) -> str:
    """The device of a fit whose X lies on this card; None is the host."""
    if card is None or device == card:
        return device
    if device not in ("cpu", "auto", "cuda"):
        raise ValueError(f"X lies on {card!r}, but device={device!r}: move X there, or take device='auto'.")
    return card
