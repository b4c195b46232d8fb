from __future__ import annotations

from numbers import Real

from .._state import check_is
from ._base import Kernel


class Constant(Kernel):
    """A constant kernel.

    k(x, y) = value: a penalised intercept. No normalisation changes it.

    Parameters
    ----------
    value : float, default 1
        Positive semidefinite where it is at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Constant
    >>> Constant(2.0)(np.zeros((2, 1)))
    array([[2., 2.],
           [2., 2.]])
    """

    file_tag = ("kernel/constant", 1)
    base = "same"
    reads = "nothing"
    constant = True
    exempt = True

    def __init__(self, value: float = 1.0) -> None:
        self.value = value

    def check_state(self) -> None:
        check_is("value", self.value, Real)

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on its value
        return self.value >= 0

    def form(self) -> tuple[float, float, float] | None:
        return 1, 0.0, self.value
