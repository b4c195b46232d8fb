"""Kernels with explicit features, and the base class of the low-rank approximations `RandomFeatures`, `Nystroem`."""

from abc import abstractmethod
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from .._parts import declared
from .._state import check_is
from .._validation import check_integer
from .base import Kernel
from .linear import Linear
from .transformers import check_transformer, fitted_copy, reads_of, tried

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
    def encoding(self) -> Any:  # type: ignore[override]  # depends on the kernel
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


@declared
class Features(FeatureKernel):
    """The inner product of the features of a scikit-learn transformer.

    k(x, y) = ⟨φ(x), φ(y)⟩, where φ is a copy of `transformer`, fitted on the training data.

    Parameters
    ----------
    transformer : estimator with fit and transform
        Any scikit-learn transformer that returns numbers: random features such as RBFSampler, Nystroem or
        PolynomialCountSketch, weightings such as TfidfTransformer, or a pipeline; for one text per example,
        TfidfVectorizer or a similar vectorizer. Give it an integer random_state, so that fits are reproducible. Its
        `fit` gets the sample weights if it takes them.

    Attributes
    ----------
    fitted_ : estimator
        The fitted copy, after `resolve` on training data.

    Examples
    --------
    >>> from sklearn.feature_extraction.text import TfidfVectorizer
    >>> from manykernels.kernels import Features
    >>> Features(TfidfVectorizer())(["a red fox", "red fox", "a blue sky"]).round(2)
    array([[1., 1., 0.],
           [1., 1., 0.],
           [0., 0., 1.]])
    """

    file_tag = ("kernel/features", 1)
    saved = {"transformer": "any", "fitted as fitted_": "?any"}
    family = "features"

    @property
    def reads(self) -> str:  # type: ignore[override]  # depends on the transformer
        return reads_of(self.transformer)

    def split(self) -> tuple[Any, Kernel] | None:
        check_transformer(self.transformer, "Features")
        return None if self.resolved else (self.transformer, Linear())

    transformer: Any

    def to_state(self) -> dict[str, Any]:
        if self.resolved:
            tried(self.fitted_)
        return super().to_state()

    def check_state(self) -> None:
        check_transformer(self.transformer, "Features")
        if self.resolved:
            check_transformer(self.fitted_, "Features")
            tried(self.fitted_)

    @property
    def resolved(self) -> bool:
        """Whether the transformer is fitted."""
        return "fitted_" in vars(self)

    def learns(self) -> str:
        return "" if self.resolved else "data"

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if self.resolved:
            return self
        check_transformer(self.transformer, "Features")
        kernel = Features(self.transformer)
        kernel.fitted_ = fitted_copy(self.transformer, X, weights)
        return kernel

    def features(self, X: Any) -> Any:
        F = self.resolve(X).fitted_.transform(X)
        return F.tocsr() if sp.issparse(F) else np.asarray(F, dtype=np.float64)
