"""Kernels on some columns or a view, and the resolved form of their products and sums in a `KernelList`."""

from typing import Any

import numpy as np

from .._parts import declared
from .._state import check
from .base import Kernel, Product, Sum


@declared
class PlacedKernel(Kernel):
    """`kernel` on some columns or a view of X; its subclass `On` can be called."""

    reads = "views"

    columns: Any
    kernel: Any
    transformer: Any = None
    missing: str = "error"

    def check_state(self) -> None:
        self.missing = self.missing or "error"  # which old files lack
        able = self.transformer is None or hasattr(self.transformer, "transform")  # scikit-learn's or a user's
        check(able, "transformer has no method transform")

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on the kernel
        return isinstance(self.kernel, Kernel) and self.kernel.psd

    def placed(self) -> dict[str, Any]:
        """The fields of its specification: kernel, columns, transformer, and missing if it is "zero"."""
        said = {"kernel": self.kernel, "columns": self.columns, "transformer": self.transformer}
        return said if self.missing == "error" else said | {"missing": self.missing}


@declared
class ViewKernel(Kernel):
    """`kernel` of view number `part` of a JoinedViews: the resolved form of an On."""

    file_tag = ("kernel/seen", 1)
    saved = {"part": "int 0", "kernel": "Kernel"}
    reads = "views"

    part: int
    kernel: Kernel

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on the kernel
        return self.kernel.psd

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        return self.kernel(X.views[self.part], None if Y is None else Y.views[self.part])

    def between(self, X: Any, Y: Any) -> np.ndarray:
        return self.kernel.between(X.views[self.part], Y.views[self.part])

    def diag(self, X: Any) -> np.ndarray:
        return self.kernel.diag(X.views[self.part])


def leaves(kernel: Any) -> list[PlacedKernel]:
    """The On kernels within a kernel, [] if there are none; a ValueError if only some operands have columns."""
    if isinstance(kernel, PlacedKernel):
        return [kernel]
    if not isinstance(kernel, Sum | Product):
        return []
    found = leaves(kernel.k1) + leaves(kernel.k2)
    for part in (kernel.k1, kernel.k2):
        if found and not leaves(part) and not part.constant:
            raise ValueError(f"{part!r} stands beside {found[0]!r} and has no columns: give On(columns, {part!r}).")
    return found


def resolved(kernel: Kernel, parts: list[ViewKernel]) -> Kernel:
    """The kernel with each On replaced by the next of `parts`, which are removed from the list."""
    if isinstance(kernel, PlacedKernel):
        return parts.pop(0)
    if isinstance(kernel, Sum | Product):
        first = resolved(kernel.k1, parts)
        return type(kernel)(first, resolved(kernel.k2, parts))
    return kernel
