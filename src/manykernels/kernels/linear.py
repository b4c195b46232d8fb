from typing import Any

from .base import Kernel


class Linear(Kernel):
    """The inner product of two examples.

    k(x, y) = x'y.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Linear
    >>> Linear()(np.array([[1.0, 2.0], [3.0, 0.0]]))
    array([[5., 3.],
           [3., 9.]])
    """

    file_tag = ("kernel/linear", 1)
    base = "dot"
    plain = True
    family = "features"

    def features(self, X: Any) -> Any:
        """X itself, (n, d)."""
        return X
