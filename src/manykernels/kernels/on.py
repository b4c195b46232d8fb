from __future__ import annotations

from typing import Any

import numpy as np

from .kernel_list import KernelList
from .placed import PlacedKernel


class On(PlacedKernel):
    """`kernel` on some columns or a view of X, so that kernels of different columns and views multiply and add.

    ``On("age", RBF()) * On("sex", Categorical())`` is one kernel that compares examples by both: the age counts among
    examples of the same sex. Alone in a list it is the same as (name, kernel, columns). Products of different columns
    have no explicit features: examples are compared pair by pair.

    Parameters
    ----------
    columns : what a kernel specification takes
        Names or positions of columns, a slice or a mask; the name of a view, or (view, columns).
    kernel : Kernel
        The kernel of what they hold.
    transformer : default=None
        A scikit-learn transformer that is fitted on those columns of the training data and applied to all others
        before the kernel sees them.
    missing : "error" or "zero", default="error"
        Whether an example that lacks these columns or this view (NaN in them, or no row of a `Views`) is refused, or
        is like no other, k = 0: so is then the product or sum that this kernel is part of.

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

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        kernels = KernelList.from_spec([self], X)
        left = kernels.views(X)[0]
        right = left if Y is None else kernels.views(Y)[0]
        return kernels.kernels[0](left.X, None if Y is None else right.X)

    def diag(self, X: Any) -> np.ndarray:
        kernels = KernelList.from_spec([self], X)
        return kernels.kernels[0].diag(kernels.views(X)[0].X)
