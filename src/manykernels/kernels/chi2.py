from typing import Any

from .._parts import declared
from ._scaled import ScaledKernel


@declared
class Chi2(ScaledKernel):
    """The exponential χ² kernel of histograms.

    k(x, y) = exp(−gamma Σ_k (x_k − y_k)² / (x_k + y_k)) with 0/0 = 0, for non-negative data.

    Parameters
    ----------
    gamma : float, None or "scale", default 1
        A number > 0, None for 1/n_features, "scale" for 1/(n_features · variance of X).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Chi2
    >>> Chi2()(np.array([[1.0, 0.0], [0.5, 0.5]])).round(3)
    array([[1.   , 0.513],
           [0.513, 1.   ]])
    """

    file_tag = ("kernel/chi2", 1)
    base = "chi2"

    gamma: Any = 1.0  # a number after `resolve`

    def form(self) -> tuple[float, float, float] | None:
        return 0, -self.gamma, 0.0
