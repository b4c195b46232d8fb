from typing import Any

import numpy as np

from .kernel_list import KernelList
from .placed import PlacedKernel


class On(PlacedKernel):
    """`kernel` on some columns or a view of X; kernels of different columns and views can be multiplied and added.

    ``On("age", RBF()) * On("sex", Categorical())`` is one kernel that compares examples by both: it compares the ages
    of examples of the same sex. A single On in a list equals (name, kernel, columns). Products of different columns
    have no explicit features: examples are compared pair by pair.

    Parameters
    ----------
    columns : columns of a kernel specification
        Names or positions of columns, a slice or a mask; the name of a view, or (view, columns).
    kernel : Kernel
        The kernel of these columns.
    transformer : default=None
        A scikit-learn transformer, fitted on these columns of the training data and applied before the kernel.
    missing : "error" or "zero", default="error"
        Whether an example that lacks the columns or the view (by NaN, or without a row in a `Views`) raises an error,
        or has the kernel value 0 with all others; then the whole product or sum is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import On, RBF, Categorical
    >>> k = On([0], RBF(gamma=1.0)) * On([1], Categorical())
    >>> k(np.array([[0.0, 1.0], [0.0, 2.0], [1.0, 1.0]])).round(2)
    array([[1.  , 0.  , 0.37],
           [0.  , 1.  , 0.  ],
           [0.37, 0.  , 1.  ]])
    """

    file_tag = ("kernel/on", 1)
    saved = {"columns": "plain", "kernel": "Kernel", "transformer": "any", "missing": "?of error zero"}

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        kernels = KernelList.from_spec([self], X)
        left = kernels.views(X)[0]
        right = left if Y is None else kernels.views(Y)[0]
        return kernels.kernels[0](left.X, None if Y is None else right.X)

    def diag(self, X: Any) -> np.ndarray:
        kernels = KernelList.from_spec([self], X)
        return kernels.kernels[0].diag(kernels.views(X)[0].X)
