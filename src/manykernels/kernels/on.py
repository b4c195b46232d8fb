from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._state import check, check_integer, check_is, check_list, check_plain
from .._tags import Tagged
from ._base import Kernel, Product, Sum, len_

READERS: list[Callable] = []  # what makes a list of kernels: `_list`, which knows them all, puts its own here


class On(Kernel):
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
    reads = "views"

    def __init__(self, columns: Any, kernel: Any, transformer: Any = None, missing: str = "error") -> None:
        self.columns = columns
        self.kernel = kernel
        self.transformer = transformer
        self.missing = missing

    def check_state(self) -> None:
        check_plain("columns", self.columns)
        check_is("kernel", self.kernel, Kernel)
        known = self.transformer is None or hasattr(self.transformer, "transform")  # scikit-learn's or a user's
        check(known, "transformer is none")
        check(self.missing in ("error", "zero"), f"missing is {self.missing!r}")

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on the kernel
        return isinstance(self.kernel, Kernel) and self.kernel.psd

    def placed(self) -> dict[str, Any]:
        """What a specification says of it: kernel, columns, transformer, and missing where it may be."""
        said = {"kernel": self.kernel, "columns": self.columns, "transformer": self.transformer}
        return said if self.missing == "error" else said | {"missing": self.missing}

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        kernels = READERS[0]([self], X)
        left = kernels.views(X)[0]
        right = left if Y is None else kernels.views(Y)[0]
        return kernels.kernels[0](left.X, None if Y is None else right.X)

    def diag(self, X: Any) -> np.ndarray:
        kernels = READERS[0]([self], X)
        return kernels.kernels[0].diag(kernels.views(X)[0].X)


class Seen(Kernel):
    """`kernel` of part number `part` of a Bundle: what a list makes of On, once it is resolved."""

    file_tag = ("kernel/seen", 1)
    reads = "views"

    def __init__(self, part: int, kernel: Kernel) -> None:
        self.part = part
        self.kernel = kernel

    def check_state(self) -> None:
        check_integer("part", self.part, 0, 2**16)
        check_is("kernel", self.kernel, Kernel)

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on the kernel
        return self.kernel.psd

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        return self.kernel(X.parts[self.part], None if Y is None else Y.parts[self.part])

    def between(self, X: Any, Y: Any) -> np.ndarray:
        return self.kernel.between(X.parts[self.part], Y.parts[self.part])

    def diag(self, X: Any) -> np.ndarray:
        return self.kernel.diag(X.parts[self.part])


class Bundle(Tagged):
    """The same examples as several kernels see them, cut by rows as one."""

    file_tag = ("kernel/bundle", 1)

    def __init__(self, parts: list[Any]) -> None:
        self.parts = parts

    def to_state(self) -> dict[str, Any]:
        return {"parts": self.parts}

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Bundle:
        return cls(check_list("parts", state["parts"], object, len(state["parts"])))  # `check_rows` looks at each

    @property
    def shape(self) -> tuple[int]:
        return (len_(self.parts[0]),)

    @property
    def nbytes(self) -> int:
        return sum(getattr(part, "nbytes", 8 * len_(part)) for part in self.parts)  # CSR matrices have none

    def __len__(self) -> int:
        return len_(self.parts[0])

    def __getitem__(self, rows: Any) -> Bundle:
        return Bundle([part[rows] for part in self.parts])


def leaves(kernel: Any) -> list[On]:
    """The On kernels that a kernel is made of; [] where it has none; a ValueError where only some parts have."""
    if isinstance(kernel, On):
        return [kernel]
    if not isinstance(kernel, Sum | Product):
        return []
    found = leaves(kernel.k1) + leaves(kernel.k2)
    for part in (kernel.k1, kernel.k2):
        if found and not leaves(part) and not part.constant:
            raise ValueError(f"{part!r} stands beside {found[0]!r} and has no columns: give On(columns, {part!r}).")
    return found


def resolved(kernel: Kernel, parts: list[Seen]) -> Kernel:
    """The kernel with the first of `parts`, which are used up, in the place of each On."""
    if isinstance(kernel, On):
        return parts.pop(0)
    if isinstance(kernel, Sum | Product):
        first = resolved(kernel.k1, parts)
        return type(kernel)(first, resolved(kernel.k2, parts))
    return kernel
