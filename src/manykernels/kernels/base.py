"""`Kernel`, sums and products of kernels, and wrappers of foreign kernels; `_protocol.py` has the protocol."""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse

from .._parts import declared
from .._state import check
from ._protocol import BaseKernel
from .frames import len_
from .view_data import READS


class Kernel(BaseKernel):
    """A kernel k(x, y); kernels can be added and multiplied.

    A subclass defines `base` and `form`, or `base` and `from_base`, or `__call__`, and `diag` if there is a faster way.
    Estimators take it as they take other kernels: `MKLClassifier([Overlap(), ...]).fit(list_of_sets, y)` below.

    Attributes
    ----------
    reads : str
        The examples that the kernel takes. "numeric": rows of numbers, (n, d) arrays or CSR matrices. "objects": any
        objects, for example graphs, sets or dicts, in a 1-D array. "sequences": strings, see
        `strings.base.StringKernel`. "anything": numbers or objects, unchanged. "nothing": the kernel looks at no
        example. "views": several views, see `On`.
    family : str or None
        The explicit features of the kernel, which allow training on many examples. None: examples are compared pair
        by pair. "features": `features(X)` is φ(X), (n, D), k(x, y) = ⟨φ(x), φ(y)⟩, of rows of numbers. "degree"
        (`degree_table`), "shift" (`shift_table`), "channels" (`channels`): words of strings.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Kernel
    >>> class Overlap(Kernel):
    ...     reads = "objects"
    ...     def __call__(self, X, Y=None):
    ...         return np.array([[len(x & y) for y in (X if Y is None else Y)] for x in X], dtype=float)
    >>> (Overlap() + Overlap())([{"a", "b"}, {"b"}])
    array([[4., 2.],
           [2., 2.]])
    """

    def __add__(self, other: Any) -> Sum:
        return Sum(self, _as_operand(other))

    def __radd__(self, other: Any) -> Sum:
        return Sum(_as_operand(other), self)

    def __mul__(self, other: Any) -> Product:
        return Product(self, _as_operand(other))

    def __rmul__(self, other: Any) -> Product:
        return Product(_as_operand(other), self)


@declared
class _Pair(Kernel):
    """Two kernels k1, k2 as one: an elementwise function of their common base, or two calls if the bases differ."""

    k1: Kernel
    k2: Kernel

    def check_state(self) -> None:
        super().check_state()
        for kernel in (self.k1, self.k2):
            check(kernel.reads in (self.reads, "anything", "nothing"), "k1 and k2 read different data")

    @property
    def base(self) -> str | None:  # type: ignore[override]  # depends on k1 and k2
        bases = {k.base for k in (self.k1, self.k2) if not k.constant}
        return bases.pop() if len(bases) == 1 else None

    @property
    def reads(self) -> str:  # type: ignore[override]  # depends on k1 and k2
        """The more specific of what k1 and k2 read."""
        return min(self.k1.reads, self.k2.reads, key=READS.index)

    @property
    def encoding(self) -> Any:  # type: ignore[override]  # depends on k1 and k2
        encodings = {k.encoding for k in (self.k1, self.k2)} - {None}
        if len(encodings) > 1:
            raise ValueError(
                f"{self.k1!r} and {self.k2!r} read strings with a different alphabet or unknown=: make them equal."
            )
        return encodings.pop() if encodings else None

    @property
    def exempt(self) -> bool:  # type: ignore[override]  # depends on k1 and k2
        return self.k1.exempt and self.k2.exempt

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on k1 and k2
        return self.k1.psd and self.k2.psd

    def _read(self, X):
        """X in the encoding of both kernels."""
        if self.encoding is None or X is None:
            return X
        return self.encoding.read(X)

    def sizes(self, lengths: np.ndarray) -> np.ndarray | None:
        found = (k.sizes(lengths) for k in (self.k1, self.k2))
        return next((sizes for sizes in found if sizes is not None), None)

    def learns(self) -> str:
        found = {k.learns() for k in (self.k1, self.k2)}
        return next((what for what in ("data", "moments") if what in found), "")

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        for k in (self.k1, self.k2):
            if k.reads not in (self.reads, "anything", "nothing"):
                raise ValueError(
                    f"{self.k1!r} reads {self.k1.reads}, but {self.k2!r} reads {self.k2.reads}: give them to the list "
                    "as two kernels, each with its columns or view."
                )
        X = self._read(X)
        return type(self)(*(k.resolve(X) if weights is None else k.resolve(X, weights) for k in (self.k1, self.k2)))

    def from_base(self, B: np.ndarray, out: np.ndarray, sx: Any, sy: Any) -> np.ndarray:
        first = self.k1.from_base(B, np.empty_like(out), sx, sy)
        return self.join(first, self.k2.from_base(B, out, sx, sy), out=out)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        X, Y = self._read(X), self._read(Y)
        return self.join(self.k1(X, Y), self.k2(X, Y))

    def between(self, X: Any, Y: Any) -> np.ndarray:
        return self.join(self.k1.between(X, Y), self.k2.between(X, Y))

    def diag(self, X: Any) -> np.ndarray:
        X = self._read(X)
        return self.join(self.k1.diag(X), self.k2.diag(X))


class Sum(_Pair):
    """The sum of two kernels, `k1 + k2`.

    k1(x, y) + k2(x, y).

    Parameters
    ----------
    k1, k2 : Kernel
        Two kernels of the same data: numbers, objects or sequences.

    Examples
    --------
    >>> from manykernels.kernels import RBF, Linear
    >>> Linear() + RBF(gamma=0.5)
    Sum(k1=Linear(), k2=RBF(gamma=0.5))
    """

    file_tag = ("kernel/sum", 1)
    join = staticmethod(np.add)


class Product(_Pair):
    """The product of two kernels, `k1 * k2`.

    k1(x, y) · k2(x, y).

    Parameters
    ----------
    k1, k2 : Kernel
        Two kernels of the same data: numbers, objects or sequences.

    Examples
    --------
    >>> from manykernels.kernels import RBF, Linear
    >>> Linear() * RBF(gamma=0.5)
    Product(k1=Linear(), k2=RBF(gamma=0.5))
    """

    file_tag = ("kernel/product", 1)
    join = staticmethod(np.multiply)


@declared
class Constant(Kernel):
    """A constant kernel.

    k(x, y) = value: a penalised intercept. No normalisation changes it.

    Parameters
    ----------
    value : float, default 1
        The kernel is positive semidefinite if the value is at least 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Constant
    >>> Constant(2.0)(np.zeros((2, 1)))
    array([[2., 2.],
           [2., 2.]])
    """

    file_tag = ("kernel/constant", 1)
    saved = {"value": "number"}
    base = "same"
    reads = "nothing"
    constant = True
    exempt = True

    value: float = 1.0

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on its value
        return self.value >= 0

    def form(self) -> tuple[float, float, float] | None:
        return 1, 0.0, self.value


@declared
class Function(Kernel):
    """A function as a kernel.

    k(X, Y) = function(X, Y), an array (n, m).

    Parameters
    ----------
    function : callable
        function(X, Y) returns an array (len(X), len(Y)).

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

    function: Callable[[Any, Any], Any]

    def check_state(self) -> None:
        check(callable(self.function) and hasattr(self.function, "__code__"), "function is no function")  # the user's

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


@declared
class GaussianProcess(Kernel):
    """A kernel of `sklearn.gaussian_process.kernels`; WhiteKernel is 0 between training and new data.

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
    saved = {"kernel": "Kernel"}

    kernel: Any

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        if scipy.sparse.issparse(X) or scipy.sparse.issparse(Y):
            raise ValueError(f"{self!r} needs dense data, X is sparse; pass X.toarray().")
        return self.kernel(X, Y)

    def diag(self, X: Any) -> np.ndarray:
        return self.kernel.diag(X)


@declared
class Fitted(Kernel):
    """An object whose fit_transform(X) is the training Gram matrix and transform(X_new) is (n_new, n_train).

    Parameters
    ----------
    transformer : object
        An object with `fit_transform(X)` and `transform(X)`, such as a graph kernel of GraKeL.

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
    plain = True
    reads = "anything"
    psd = False

    transformer: Any

    def fit(self, X: Any) -> np.ndarray:
        """The training Gram matrix (n, n); `fitted_` becomes a fitted copy of the object, for new data."""
        self.fitted_ = copy.deepcopy(self.transformer)
        return np.asarray(self.fitted_.fit_transform(X), dtype=float)

    def transform(self, X: Any) -> np.ndarray:
        return np.asarray(self.fitted_.transform(X), dtype=float)

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        fitted = Fitted(self.transformer)
        return fitted.fit(X) if Y is None else (fitted.fit(Y), fitted.transform(X))[1]

    def diag(self, X: Any) -> np.ndarray:
        return np.diag(self(X)).copy()


def as_kernel(kernel: Any) -> Kernel:
    """`kernel` itself, or wrapped as a Kernel.

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
    if hasattr(kernel, "fit_transform") and hasattr(kernel, "transform"):  # the user's object, e.g. of GraKeL
        return Fitted(kernel)
    if callable(kernel) and not isinstance(kernel, type):
        return Function(kernel)
    if isinstance(kernel, type):
        raise ValueError(f"{kernel.__name__} is a class, not a kernel: give {kernel.__name__}().")
    raise ValueError(
        f"{kernel!r} is not a kernel: give a Kernel such as RBF(gamma=0.1), a function f(X, Y), a kernel of "
        "sklearn.gaussian_process or an object with fit_transform and transform."
    )


def _as_operand(other):
    """The other operand of a sum or product as a kernel."""
    return Constant(float(other)) if isinstance(other, int | float) else as_kernel(other)
