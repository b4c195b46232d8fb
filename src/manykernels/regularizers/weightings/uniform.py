from numpy import ndarray

from ...banks.base import Bank
from .base import TwoStage


class Uniform(TwoStage):
    """The mean of the kernels.

    θ_m = 1/M over the kernels that vary on the data.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.weighting import Uniform
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> bank = DenseBank(np.stack([np.outer(y, y), np.eye(4)], axis=2))
    >>> Uniform().bind(bank, y, 1.0)[0]
    Fixed(weights=[0.5, 0.5])
    """

    file_tag = ("weighting/uniform", 1)
    needs_targets = False

    def weights(self, bank: Bank, *_, **__) -> ndarray:
        return bank.usable / bank.usable.sum()
