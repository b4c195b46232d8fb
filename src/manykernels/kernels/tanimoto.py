from typing import Any

import numpy as np

from .base import Kernel


class Tanimoto(Kernel):
    """The Tanimoto kernel of binary fingerprints.

    k(x, y) = x'y / (‖x‖² + ‖y‖² − x'y) with 0/0 = 1: shared bits over all bits of two fingerprints.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Tanimoto
    >>> Tanimoto()(np.array([[1.0, 1.0, 0.0], [0.0, 1.0, 0.0]]))
    array([[1. , 0.5],
           [0.5, 1. ]])
    """

    file_tag = ("kernel/tanimoto", 1)
    base = "dot"

    def from_base(self, B: np.ndarray, out: np.ndarray, sx: Any, sy: Any) -> np.ndarray:
        either = sx + sy - B
        empty = either <= 0
        np.divide(B, either, out=out, where=~empty)
        out[empty] = 1
        return out
