"""`slack=True`: the identity as an additional kernel, and the fits that cannot have it."""

import numpy as np

from ..banks.slack import SlackBank
from ..kernels import Identity
from ..regularizers import EmpiricalBayes
from ..regularizers.weightings import TwoStage


def with_slack(bank, regularizer):
    """The bank with the identity as its last kernel, or a ValueError with the reason why not."""
    own = bank.predictor(np.arange(1)).kernel_list
    same = [isinstance(kernel, Identity) for kernel in own.kernels] if own is not None else [False]
    if any(same):
        raise ValueError(
            f"slack=True adds the same kernel as {own.names[same.index(True)]!r}, and their weights could be split in "
            "any way: leave it out, or take slack=False."
        )
    if bank.explicit:
        raise ValueError(
            "slack=True needs kernels computed pair by pair, not from explicit features: take features='never' and "
            "solver='auto', or slack=False."
        )
    if isinstance(regularizer, EmpiricalBayes):
        raise ValueError(
            f"slack=True with regularizer={regularizer!r}: its noise already does what slack does; take slack=False."
        )
    if isinstance(regularizer, TwoStage):
        raise ValueError(
            f"slack=True with regularizer={regularizer!r}, which finds weights before the predictor: the weight of "
            "slack is learned with the predictor; take a regularizer such as LpNorm(p), or slack=False."
        )
    try:
        regularizer.restrict(np.arange(bank.M + 1), bank.M + 1)
    except ValueError as error:
        raise ValueError(
            f"slack=True adds a kernel to the {bank.M} of the model, and regularizer={regularizer!r} has an entry for "
            f"each: add a last entry for slack ({error})."
        ) from error
    return SlackBank(bank)
