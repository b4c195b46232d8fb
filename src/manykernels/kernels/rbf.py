from __future__ import annotations

from ._scaled import ScaledKernel


class RBF(ScaledKernel):
    """The Gaussian kernel.

    k(x, y) = exp(−gamma ‖x − y‖²).

    Parameters
    ----------
    gamma : float, None, "scale" or "median", default None
        A number > 0, or a rule that computes it from the weighted training examples and the columns that the kernel
        sees. None, the default, is 1/n_features, which suits columns of unit variance; on unscaled columns the kernel
        may be nearly diagonal. "scale" is 1/(n_features · variance of X), the variance of all entries about their
        common mean: large columns hide small ones, and on many columns of noise all examples are about equally far
        apart. "median" is 1/the median of ‖x − y‖² over pairs of different examples (500 at most), which adapts to the
        columns: half of the pairs lie within the width. Fitted models keep the number.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> RBF(gamma=0.5)(X).round(3)
    array([[1.   , 0.607, 0.011],
           [0.607, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])
    >>> RBF(gamma="median").resolve(X).gamma
    0.25
    """

    file_tag = ("kernel/rbf", 1)
    base = "sqdist"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma

    def form(self) -> tuple[float, float, float] | None:
        return 0, -self.gamma, 0.0
