from typing import Any

import numpy as np

from .._parts import declared
from .._validation import check_number
from ._scaled import ScaledKernel
from .base import Kernel


@declared
class Polynomial(ScaledKernel):
    """A power of the inner product.

    k(x, y) = (gamma x'y + coef0)^degree.

    Parameters
    ----------
    degree : float, default 3
    gamma : float, None or "scale"
        A number > 0, None for 1/n_features, "scale" for 1/(n_features · variance of X).
    coef0 : float, default 1

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Polynomial
    >>> Polynomial(degree=2, gamma=1.0)(np.array([[1.0, 2.0], [3.0, 0.0]]))
    array([[ 36.,  16.],
           [ 16., 100.]])
    """

    file_tag = ("kernel/polynomial", 1)
    base = "dot"

    degree: float = 3
    gamma: Any = None  # a number after `resolve`
    coef0: float = 1.0

    def check_state(self) -> None:
        super().check_state()
        self._check()

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on its parameters
        return self.coef0 >= 0 and self.degree == int(self.degree)

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        self._check()
        return super().resolve(X, weights)

    def _check(self):
        check_number("degree", self.degree, of=self)
        check_number("coef0", self.coef0, -np.inf, of=self)

    def form(self) -> tuple[float, float, float] | None:
        if self.degree != int(self.degree) or self.degree > 16:
            return None
        return int(self.degree), self.gamma, self.coef0

    def from_base(self, B: np.ndarray, out: np.ndarray, sx: Any, sy: Any) -> np.ndarray:
        np.multiply(B, self.gamma, out=out)
        out += np.asarray(self.coef0, out.dtype)
        return np.power(out, self.degree, out=out)
