from typing import Any

import numpy as np
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from .._declared import declared
from ._saved_transformers import settle, tried
from .base import Kernel
from .linear import Linear
from .low_rank import FeatureKernel
from .transformers import check_transformer, reads_of


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
        weighed = weights is not None and has_fit_parameter(self.transformer, "sample_weight")
        kernel.fitted_ = settle(clone(self.transformer).fit(X, **({"sample_weight": weights} if weighed else {})))
        return kernel

    def features(self, X: Any) -> Any:
        F = self.resolve(X).fitted_.transform(X)
        return F.tocsr() if sp.issparse(F) else np.asarray(F, dtype=np.float64)
