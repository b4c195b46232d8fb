"""The mean of the kernels."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._base import TwoStage

if TYPE_CHECKING:
    import numpy as np

    from ..banks._base import Bank
    from ..losses._base import Loss


class Uniform(TwoStage):
    """θ_m = 1/M over the kernels that vary on the data."""

    needs_targets = False

    def weights(
        self, bank: Bank, Y: np.ndarray, c: np.ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> np.ndarray:
        return bank.usable / bank.usable.sum()
