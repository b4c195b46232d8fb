from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike
from scipy.linalg import eigh
from scipy.sparse import issparse

from .._state import check
from .._validation import check_choice
from .base import Kernel
from .features import LowRank
from .frames import len_
from .pair_blocks import check_block
from .random_features import RandomFeatures

LANDMARKS = ("k-means++", "uniform")
CANDIDATES_PER_LANDMARK = 8  # examples from which k-means++ draws one landmark
MAX_CANDIDATES = 6000
MIN_EIGENVALUE_RATIO = 1e-10  # to the largest eigenvalue of k(Z, Z); smaller ones are rounding


class Nystroem(LowRank):
    """The Nyström approximation of any kernel by its values at some training examples, the landmarks.

    φ(x) = k(x, Z) k(Z, Z)^−½ with the landmarks Z, so that ⟨φ(x), φ(y)⟩ = k(x, Z) k(Z, Z)⁻¹ k(Z, y). The approximation
    is exact if x or y is a landmark, and never larger than k on the diagonal (Williams and Seeger 2001).

    Parameters
    ----------
    kernel : Kernel
        A kernel of numbers, strings or any objects.
    rank : int, default 256
        The number of landmarks; all examples if there are fewer.
    landmarks : "k-means++" or "uniform", default "k-means++"
        "k-means++" draws from a sample of the examples, with probability proportional to the squared distance, in the
        kernel's feature space, to the landmarks drawn before (Arthur and Vassilvitskii 2007). "uniform" draws all
        examples with equal probability.
    random_state : int, default 0

    Attributes
    ----------
    landmarks_ : array, CSR matrix or sequences
        The landmarks, after `resolve` on training data.
    projection_ : array (rank, D)
        k(Z, Z)^−½ in its eigenvectors, without eigenvectors whose eigenvalue is 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import RBF, Nystroem
    >>> X = np.linspace(0, 1, 50)[:, None]
    >>> kernel = Nystroem(RBF(gamma=1.0), rank=8).resolve(X)
    >>> len(kernel.landmarks_), bool(np.abs(kernel(X) - RBF(gamma=1.0)(X)).max() < 1e-4)
    (8, True)
    """

    file_tag = ("kernel/nystroem", 1)
    saved = {
        "kernel": "Kernel", "rank": "any", "landmarks": "any", "random_state": "plain", "landmarks_": "?any",
        "projection_": "?f8 n r",
    }  # fmt: skip
    landmarks_: Any
    projection_: np.ndarray

    def __init__(self, kernel: Kernel, rank: int = 256, landmarks: str = "k-means++", random_state: int = 0) -> None:
        self.kernel = kernel
        self.rank = rank
        self.landmarks = landmarks
        self.random_state = random_state

    def _check(self) -> None:
        super()._check()
        check_choice("landmarks", self.landmarks, LANDMARKS, of=self)
        if self.kernel.base in ("same", "gram") or self.kernel.reads in ("views", "nothing"):
            raise ValueError(
                f"{self.kernel!r} cannot be approximated by landmarks: it sees no single example, or several views "
                "at once. Leave it as it is, or make products and sums of approximated kernels instead."
            )

    def check_state(self) -> None:
        self._check()
        fits = not self.resolved or len_(self.landmarks_) == len(self.projection_)
        check(fits, "there are not as many landmarks as rows of the projection")

    @property
    def resolved(self) -> bool:
        """Whether the landmarks are known."""
        return "landmarks_" in vars(self)

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if self.resolved:
            return self
        self._check()
        found = self._of(self.kernel.resolve(X) if weights is None else self.kernel.resolve(X, weights))
        kernel, rng = found.kernel, np.random.RandomState(self.random_state)
        n, uniform = len_(X), self.landmarks == "uniform"
        candidates = min(n, CANDIDATES_PER_LANDMARK * self.rank, max(MAX_CANDIDATES, self.rank))
        pool = np.sort(rng.choice(n, n if uniform else candidates, replace=False))
        if uniform:
            pool = np.sort(rng.choice(pool, min(self.rank, n), replace=False))
        K = check_block(kernel, kernel(X[pool]), (len(pool), len(pool)))
        if not uniform:
            picked = _spread_out(K, self.rank, rng)
            pool, K = pool[picked], K[np.ix_(picked, picked)]
        values, vectors = eigh(K)
        used = values > MIN_EIGENVALUE_RATIO * max(values[-1], 0.0)
        if not used.any():
            raise ValueError(f"{kernel!r} is 0 at all landmarks: check the kernel, and its columns.")
        found.landmarks_, found.projection_ = X[pool], np.ascontiguousarray(vectors[:, used] / np.sqrt(values[used]))
        return found

    def features(self, X: Any, dtype: DTypeLike = np.float64) -> np.ndarray:
        """φ(x), (n, D)."""
        kernel: Any = self.resolve(X)
        Z = kernel.landmarks_
        if issparse(X) != issparse(Z):  # the two sides of a base block are both sparse or both dense
            X = type(Z)(X) if issparse(Z) else X.toarray()
        K = check_block(kernel.kernel, kernel.kernel.between(X, Z), (len_(X), len_(Z)))
        return (np.asarray(K, np.float64) @ kernel.projection_).astype(dtype, copy=False)


def _spread_out(K, size, rng):
    """`size` examples drawn by k-means++ from the kernel matrix K, sorted; fewer if the others coincide with these.

    ‖φ(x) − φ(z)‖² = k(x, x) + k(z, z) − 2 k(x, z).
    """
    own, picked = np.diagonal(K), [int(rng.randint(len(K)))]
    distance = own + own[picked[0]] - 2 * K[picked[0]]
    while len(picked) < min(size, len(K)):
        share = np.cumsum(np.maximum(distance, 0.0))
        if not share[-1] > 1e-12 * np.abs(own).max():
            break
        picked.append(int(min(np.searchsorted(share, rng.random_sample() * share[-1], side="right"), len(K) - 1)))
        distance = np.minimum(distance, own + own[picked[-1]] - 2 * K[picked[-1]])
        distance[picked] = 0.0
    return np.unique(picked)


def approximated(kernel: Kernel, how: str, rank: int, random_state: int) -> Kernel:
    """The kernel by random features ("rff") or landmarks ("nystroem"); unchanged if it has explicit features."""
    if kernel.family in ("features", "low_rank"):
        return kernel
    return (RandomFeatures if how == "rff" else Nystroem)(kernel, rank, random_state=random_state)
