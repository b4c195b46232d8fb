"""Kernels with explicit features, and the base class of the low-rank approximations `RandomFeatures`, `Nystroem`."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from .._state import check_is
from .._validation import check_integer
from .base import Kernel

APPROXIMATIONS = ("nystroem", "rff", None)


class FeatureKernel(Kernel):
    """k(x, y) = ⟨φ(x), φ(y)⟩ with φ(x) = `features`."""

    @abstractmethod
    def features(self, X: Any) -> Any:
        """φ(x), (n, D), an array or CSR; fitted on X itself if the kernel is not resolved."""

    def diag(self, X: Any) -> np.ndarray:
        F = self.features(X)
        return np.asarray(F.multiply(F).sum(axis=1)).ravel() if sp.issparse(F) else np.einsum("ij,ij->i", F, F)


class LowRank(FeatureKernel):
    """k(x, y) = ⟨φ(x), φ(y)⟩ ≈ `kernel`(x, y), with at most `rank` features φ."""

    family = "low_rank"

    kernel: Any
    rank: int
    random_state: int

    @property
    def reads(self) -> str:  # type: ignore[override]  # depends on the kernel
        return self.kernel.reads

    @property
    def encoding(self) -> tuple | None:  # type: ignore[override]  # depends on the kernel
        return self.kernel.encoding

    def split(self) -> tuple[Any, Kernel] | None:
        parts = check_is("kernel", self.kernel, Kernel).split()
        return None if parts is None else (parts[0], self._of(parts[1]))

    def _of(self, kernel: Kernel) -> Self:
        """The same approximation of another kernel."""
        return type(self)(**{**self.get_params(deep=False), "kernel": kernel})

    def _check(self) -> None:
        """A ValueError for an invalid parameter."""
        check_integer("rank", self.rank, of=self)
        check_integer("random_state", self.random_state, low=0, of=self)
        if not isinstance(self.kernel, Kernel):
            raise ValueError(f"kernel={self.kernel!r} of {type(self).__name__} is no Kernel: give one, such as RBF().")

    def check_state(self) -> None:
        super().check_state()
        self._check()
