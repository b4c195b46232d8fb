from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .._parts import declared
from .base import Kernel
from .features import LowRank
from .laplacian import Laplacian
from .rbf import RBF

MAX_FLOAT32_PHASE = 1e3  # a larger float32 angle has too few digits for its cosine


@declared
class RandomFeatures(LowRank):
    """The approximation of a kernel by random Fourier features.

    φ(x) = (cos xᵀw_j, sin xᵀw_j)_j / √(rank/2), with w_j drawn so that E ⟨φ(x), φ(y)⟩ = k(x, y). For RBF the w_j are
    Gaussian and orthogonal (Yu et al. 2016), for Laplacian they are Cauchy (Rahimi and Recht 2007). The error falls as
    1/√rank, and k(x, x) is exact.

    Parameters
    ----------
    kernel : RBF or Laplacian
        For other kernels use `Nystroem`.
    rank : int, default 256
        The number of features, even.
    random_state : int, default 0
        The seed of the w_j, which are drawn again at each use and never stored. Kernels with the same seed and number
        of columns have the same w_j: give each kernel a different seed.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import RBF, RandomFeatures
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> kernel = RandomFeatures(RBF(gamma=0.5), rank=2000)
    >>> kernel.features(X).shape, bool(np.abs(kernel(X) - RBF(gamma=0.5)(X)).max() < 0.1)
    ((3, 2000), True)
    """

    file_tag = ("kernel/random_features", 1)

    kernel: Kernel
    rank: int = 256
    random_state: int = 0

    def _check(self) -> None:
        super()._check()
        if type(self.kernel) not in (RBF, Laplacian):
            raise ValueError(
                f"{self.kernel!r} has no random features here, only RBF and Laplacian have: use "
                f'Nystroem({type(self.kernel).__name__}(...)), or approximation="nystroem".'
            )
        if self.rank % 2:
            raise ValueError(f"rank={self.rank} of RandomFeatures must be even: cosines and sines come in pairs.")

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        self._check()
        return self._of(self.kernel.resolve(X, weights))

    def features(self, X: Any, dtype: DTypeLike = np.float64) -> np.ndarray:
        """φ(x), (n, rank)."""
        if (parts := self.kernel.split()) is not None:
            return self._of(parts[1]).features(parts[0].transform(X), dtype)
        W = self.directions(X)
        exact = np.dtype(dtype) if isinstance(self.kernel, RBF) else np.dtype(np.float64)  # Cauchy numbers are large
        phase = X.astype(exact, copy=False) @ W.astype(exact, copy=False)
        if exact == np.float32 and not max(phase.max(initial=0.0), -phase.min(initial=0.0)) < MAX_FLOAT32_PHASE:
            phase = X.astype(np.float64) @ W
        F = np.empty((phase.shape[0], self.rank), dtype)
        np.cos(phase, out=F[:, : self.rank // 2], casting="same_kind")
        np.sin(phase, out=F[:, self.rank // 2 :], casting="same_kind")
        F *= np.asarray(np.sqrt(2.0 / self.rank), F.dtype)
        return F

    def directions(self, X: Any) -> np.ndarray:
        """The w_j for the columns of X, (columns, rank/2)."""
        kernel = self.kernel.resolve(X)
        plain = isinstance(kernel, RBF)
        width = np.sqrt(2.0 * kernel.gamma) if plain else kernel.gamma
        return width * _directions(plain, X.shape[1], self.rank // 2, self.random_state)


@lru_cache(maxsize=1024)
def _directions(gaussian, d, size, seed):
    """w_j as columns, (d, size): standard normal, orthogonal in blocks of d, or standard Cauchy.

    NumPy's old generator never changes its numbers, so that a model read from a file has the same w_j.
    """
    rng = np.random.RandomState(seed)
    if not gaussian:
        return rng.standard_cauchy((d, size))
    parts = []
    for start in range(0, size, d):
        Q, R = np.linalg.qr(rng.standard_normal((d, min(d, size - start))))
        norms = np.sqrt(rng.chisquare(d, Q.shape[1]))
        parts.append(Q * np.sign(np.diagonal(R)) * norms)  # the signs make Q the same with every LAPACK
    return np.hstack(parts)
