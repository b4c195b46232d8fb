"""Kernels that others wrote: callables, scikit-learn's Gaussian process kernels, objects with fit_transform."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from .._state import check, check_is
from ._base import MAKERS, Kernel, len_
from .constant import Constant


class Function(Kernel):
    """A function as a kernel.

    k(X, Y) = function(X, Y), an array (n, m).

    Parameters
    ----------
    function : callable
        function(X, Y) gives (len(X), len(Y)) numbers.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Function
    >>> Function(lambda X, Y: X @ Y.T)(np.eye(2))
    array([[1., 0.],
           [0., 1.]])
    """

    file_tag = ("kernel/function", 1)
    reads = "anything"
    psd = False

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def check_state(self) -> None:
        check(callable(self.function) and hasattr(self.function, "__code__"), "function is none")  # a user's

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        Y = X if Y is None else Y
        K = np.asarray(self.function(X, Y), dtype=float)
        if K.shape != (len_(X), len_(Y)):
            raise ValueError(
                f"{self.function!r} returned an array of shape {K.shape} for {len_(X)} and {len_(Y)} examples; "
                "a kernel function f(X, Y) returns (len(X), len(Y))."
            )
        return K

    def diag(self, X: Any) -> np.ndarray:
        return np.array([self(X[i : i + 1])[0, 0] for i in range(len_(X))])


class GaussianProcess(Kernel):
    """A kernel of `sklearn.gaussian_process.kernels` (WhiteKernel and the like are 0 between training and new data).

    Parameters
    ----------
    kernel : sklearn.gaussian_process.kernels.Kernel

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import GaussianProcess
    >>> from sklearn.gaussian_process.kernels import DotProduct
    >>> GaussianProcess(DotProduct(sigma_0=1.0))(np.eye(2))
    array([[2., 1.],
           [1., 2.]])
    """

    file_tag = ("kernel/gaussian_process", 1)

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def check_state(self) -> None:
        from sklearn.gaussian_process.kernels import Kernel as Process

        check_is("kernel", self.kernel, Process)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        if scipy.sparse.issparse(X) or scipy.sparse.issparse(Y):
            raise ValueError(f"{self!r} needs dense data, X is sparse; pass X.toarray().")
        return self.kernel(X, Y)

    def diag(self, X: Any) -> np.ndarray:
        return self.kernel.diag(X)


class Fitted(Kernel):
    """An object whose fit_transform(X) is the training Gram matrix and transform(X_new) is (n_new, n_train).

    Parameters
    ----------
    transformer : object
        With `fit_transform(X)` and `transform(X)`, as kernels of graphs in other libraries have them.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Fitted
    >>> class Gram:
    ...     def fit_transform(self, X):
    ...         self.X = X
    ...         return X @ X.T
    ...     def transform(self, X):
    ...         return X @ self.X.T
    >>> Fitted(Gram())(np.eye(2)[:1], np.eye(2))
    array([[1., 0.]])
    """

    base = "gram"
    reads = "anything"
    psd = False

    def __init__(self, transformer: Any) -> None:
        self.transformer = transformer

    def fit(self, X: Any) -> np.ndarray:
        """The training Gram matrix (n, n), and a fitted copy of the object to transform new data with."""
        self.fitted_ = copy.deepcopy(self.transformer)
        return np.asarray(self.fitted_.fit_transform(X), dtype=float)

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(self.fitted_.transform(X), dtype=float)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        fitted = Fitted(self.transformer)
        return fitted.fit(X) if Y is None else (fitted.fit(Y), fitted.transform(X))[1]

    def diag(self, X: Any) -> np.ndarray:
        return np.diag(self(X)).copy()

    def from_base(
        self, B: np.ndarray, out: np.ndarray, sx: np.ndarray | None = None, sy: np.ndarray | None = None
    ) -> np.ndarray:
        out[...] = B
        return out

    def form(self) -> tuple[float, float, float] | None:
        return 1, 1.0, 0.0


def as_kernel(kernel: Any) -> Kernel:
    """`kernel` itself or wrapped as a Kernel.

    Parameters
    ----------
    kernel : object
        A Kernel, a function f(X, Y), a kernel of `sklearn.gaussian_process`, or an object with fit_transform and
        transform.

    Returns
    -------
    Kernel

    Examples
    --------
    >>> from manykernels.kernels import RBF, as_kernel
    >>> as_kernel(RBF()), type(as_kernel(lambda X, Y: X @ Y.T)).__name__
    (RBF(), 'Function')
    """
    if isinstance(kernel, Kernel):
        return kernel
    process = sys.modules.get("sklearn.gaussian_process.kernels")
    if process is not None and isinstance(kernel, process.Kernel):
        return GaussianProcess(kernel)
    if hasattr(kernel, "fit_transform") and hasattr(kernel, "transform"):  # a user's, grakel's say
        return Fitted(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    if isinstance(kernel, type):
        raise ValueError(f"{kernel.__name__} is a class, not a kernel: give {kernel.__name__}().")
    raise ValueError(
        f"{kernel!r} is not a kernel: give a Kernel such as RBF(gamma=0.1), a function f(X, Y), a kernel of "
        "sklearn.gaussian_process or an object with fit_transform and transform."
    )


def as_operand(other):
    """What is added to or multiplied with a kernel, as one."""
    return Constant(float(other)) if isinstance(other, int | float) else as_kernel(other)


MAKERS.append(as_operand)
