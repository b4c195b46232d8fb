"""Kernels that others wrote: callables, scikit-learn's Gaussian process kernels, objects with fit_transform."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

from .._state import check, check_is
from ._base import MAKERS, Kernel, len_
from .constant import Constant


class Function(Kernel):
    """k(X, Y) = function(X, Y), an array (n, m)."""

    reads = "anything"
    psd = False

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self.function = function

    def check_state(self) -> None:
        check(callable(self.function) and hasattr(self.function, "__code__"), "function is none")

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
    """A kernel of `sklearn.gaussian_process.kernels` (WhiteKernel and the like are 0 between training and new data)."""

    def __init__(self, kernel: Any) -> None:
        self.kernel = kernel

    def check_state(self) -> None:
        from sklearn.gaussian_process.kernels import Kernel as Process

        check_is("kernel", self.kernel, Process)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        return self.kernel(X, Y)

    def diag(self, X: Any) -> np.ndarray:
        return self.kernel.diag(X)


class Fitted(Kernel):
    """An object whose fit_transform(X) is the training Gram matrix and transform(X_new) is (n_new, n_train)."""

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
    """`kernel` itself or wrapped as a Kernel."""
    if isinstance(kernel, Kernel):
        return kernel
    process = sys.modules.get("sklearn.gaussian_process.kernels")
    if process is not None and isinstance(kernel, process.Kernel):
        return GaussianProcess(kernel)
    if hasattr(kernel, "fit_transform") and hasattr(kernel, "transform"):
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
