"""`slack=True`: the identity as one kernel more, and who cannot take it."""

from __future__ import annotations


def with_slack(bank, regularizer):
    """The bank with the identity as its last kernel, or a ValueError that says why not."""
    from ..banks.slack import SlackBank
    from ..regularizers import EmpiricalBayes
    from ..weighting import TwoStage

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
    import numpy as np

    regularizer.restrict(np.arange(bank.M), bank.M)
    return bank
