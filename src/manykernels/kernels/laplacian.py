from __future__ import annotations

from ._scaled import ScaledKernel


class Laplacian(ScaledKernel):
    """The Laplacian kernel.

    k(x, y) = exp(−gamma ‖x − y‖₁).

    Parameters
    ----------
    gamma : float, None, "scale" or "median", default None
        A number > 0, None for 1/n_features, "scale" for 1/(n_features · variance of X), or "median" for 1/the median of
        ‖x − y‖₁ over pairs of different examples (500 at most). `RBF` says which suits what data.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Laplacian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Laplacian(gamma=0.5)(X).round(3)
    array([[1.   , 0.607, 0.223],
           [0.607, 1.   , 0.368],
           [0.223, 0.368, 1.   ]])
    >>> Laplacian(gamma="median").resolve(X).gamma
    0.5
    """

    file_tag = ("kernel/laplacian", 1)
    base = "l1"

    def __init__(self, gamma: float | str | None = None) -> None:
        self.gamma = gamma

    def form(self) -> tuple[float, float, float] | None:
        return 0, -self.gamma, 0.0
