"""A kernel with explicit features from outside: numbers in, a matrix of features out."""

import numpy as np
import pytest
from sklearn.datasets import make_classification

from manykernels import MKLClassifier, load
from manykernels.kernels import Kernel, Linear

X, y = make_classification(150, 6, random_state=0)


class Steps(Kernel):
    """k(x, y) = Σ_j Σ_t [x_j > t][y_j > t]: how many thresholds both have passed."""

    family = "features"
    file_tag = ("example/steps", 1)

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
    by_pairs = MKLClassifier(kernels, features="never", tol=1e-6, C=1.0).fit(X, y)
    own = MKLClassifier(kernels, solver=solver, features="auto", tol=1e-5, C=1.0).fit(X, y)
    assert own.duality_gap_ <= 1e-5
    assert own.objective_ == pytest.approx(by_pairs.objective_, rel=2e-5)
    weights = own.kernel_weights_ * own.kernel_scale_
    K = sum(w * kernel(X, X[own.support_]) for w, kernel in zip(weights, kernels, strict=True))
    np.testing.assert_allclose(own.decision_function(X), K @ own.dual_coef_[0] + own.intercept_, atol=1e-5)


@pytest.mark.parametrize("features", ["auto", "never"])
def test_it_is_saved_with_its_features_or_pair_by_pair(features, tmp_path):
    solver = "coordinate" if features == "auto" else "auto"
    model = MKLClassifier([Steps((0.0, 1.0)), Linear()], solver=solver, features=features).fit(X, y)
    model.save(tmp_path / "model.mk")
    again = load(tmp_path / "model.mk", parts=[Steps])
    np.testing.assert_array_equal(again.decision_parts(X), model.decision_parts(X))
    with pytest.raises(ValueError, match="Steps.*no class of manykernels"):
        load(tmp_path / "model.mk")


class Untagged(Steps):
    pass


def test_its_parameters_have_names_and_it_is_refused_by_name_where_it_cannot_be_saved(tmp_path):
    model = MKLClassifier([("steps", Steps()), ("line", Linear())]).set_params(kernels__steps__thresholds=(0.0,))
    assert model.fit(X, y).score(X, y) > 0.8
    with pytest.raises(ValueError, match="Untagged.* cannot be saved without pickle.*give Untagged a file_tag"):
        MKLClassifier([Untagged()]).fit(X, y).save(tmp_path / "model.mk")
