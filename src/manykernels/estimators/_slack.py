"""`slack=True`: the identity as one kernel more, and who cannot take it."""

from __future__ import annotations

import numpy as np

from ..banks.slack import SlackBank
from ..kernels import Identity
from ..regularizers import EmpiricalBayes
from ..regularizers.weightings import TwoStage


def with_slack(bank, regularizer):
    """The bank with the identity as its last kernel, or a ValueError that says why not."""
    own = bank.predictor(np.arange(1)).kernel_list
    same = [isinstance(kernel, Identity) for kernel in own.kernels] if own is not None else [False]
    if any(same):
        raise ValueError(
            f"slack=True with {own.names[same.index(True)]!r} among the kernels, which is the same kernel: their "
            "weights could be split in any way; leave it out, or take slack=False."
        )
    if bank.explicit:
        raise ValueError(
            "slack=True needs kernels by pairs, and these are computed from explicit features: take features='never' "
            "and solver='auto', or slack=False."
        )
    if isinstance(regularizer, EmpiricalBayes):
        raise ValueError(f"slack=True with regularizer={regularizer!r}: its noise is that slack; leave slack=False.")
    if isinstance(regularizer, TwoStage):
        raise ValueError(
            f"slack=True with regularizer={regularizer!r}, which finds weights before the predictor: slack is learned "
            "with it; take LpNorm(p), say, or slack=False."
        )
    try:
        return _checked(SlackBank(bank), regularizer)
    except ValueError as error:
        raise ValueError(
            f"slack=True adds a kernel to the {bank.M} of the model, and regularizer={regularizer!r} says something of "
            f"each: give it an entry more, the last one for slack ({error})."
        ) from error


def _checked(bank, regularizer):
    regularizer.restrict(np.arange(bank.M), bank.M)
    return bank
