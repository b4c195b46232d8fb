"""A kernel with explicit features from outside: numbers in, a matrix of features out."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from manykernels import MKLClassifier
from manykernels.kernels import Kernel, Linear

X, y = make_classification(150, 6, random_state=0)


class Steps(Kernel):
    """k(x, y) = Σ_j Σ_t [x_j > t][y_j > t]: how many thresholds both have passed."""

    family = "features"

    def __init__(self, thresholds=(-1.0, 0.0, 1.0)):
        self.thresholds = thresholds

    def features(self, X):
        return np.concatenate([np.asarray(X) > t for t in self.thresholds], axis=1).astype(float)

    def __call__(self, X, Y=None):
        return self.features(X) @ self.features(X if Y is None else Y).T

    def diag(self, X):
        return self.features(X).sum(axis=1)


@pytest.mark.parametrize("solver", ["auto", "coordinate", "chunking"])
def test_explicit_features_and_pairs_give_the_same_model(solver):
    kernels = [Steps(), Steps((0.5,)), Linear()]
    by_pairs = MKLClassifier(kernels, features="never", tol=1e-6).fit(X, y)
    own = MKLClassifier(kernels, solver=solver, features="auto", tol=1e-5).fit(X, y)
    assert own.duality_gap_ <= 1e-5
    assert own.objective_ == pytest.approx(by_pairs.objective_, rel=2e-5)
    weights = own.kernel_weights_ * own.kernel_scale_
    K = sum(w * kernel(X, X[own.support_]) for w, kernel in zip(weights, kernels, strict=True))
    np.testing.assert_allclose(own.decision_function(X), K @ own.dual_coef_[0] + own.intercept_, atol=1e-5)


def test_its_parameters_have_names_and_it_is_refused_by_name_where_it_cannot_be_saved(tmp_path):
    model = MKLClassifier([("steps", Steps()), ("line", Linear())]).set_params(kernels__steps__thresholds=(0.0,))
    assert model.fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="Steps.* cannot be saved without pickle"):
        model.save(tmp_path / "model.mk")
