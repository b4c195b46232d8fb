"""A regularizer from outside: some methods, and the solvers that need no others."""

import numpy as np
import pytest
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

from manykernels import MKLClassifier, load
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import LpSum, Regularizer

X, y = make_classification(80, 5, random_state=0)
KERNELS = [RBF(gamma=0.05), RBF(gamma=1.0), Linear()]


class Squares(Regularizer):
    """Ω(θ) = λ/2 Σ θ²: Ω*(s) = Σ s₊² / 2λ, so that the dual weights are s₊ / λ."""

    smooth = True
    file_tag = ("example/squares", 1)

    def __init__(self, lam=0.5):
        self.lam = lam

    def value(self, theta):
        return 0.5 * self.lam * float(np.sum(np.square(theta))) if np.min(theta) >= -1e-9 else np.inf

    def conjugate(self, s):
        return float(np.sum(np.maximum(s, 0.0) ** 2)) / (2 * self.lam)

    def weights_from_dual(self, s):
        return np.maximum(s, 0.0) / self.lam

    def weights_from_norms(self, norms):
        return (np.asarray(norms) ** 2 / (2 * self.lam)) ** (1 / 3)

    def prox(self, z, step=1.0):
        return np.maximum(z, 0.0) / (1 + step * self.lam)

    def start(self, M):
        return np.full(M, 1 / M)

    def restrict(self, kernels, M):
        return self


@pytest.mark.parametrize("solver", ["auto", "newton", "analytic", "sip", "chunking", "nesterov"])
def test_it_reaches_its_gap_with_every_solver_that_takes_it(solver):
    model = MKLClassifier(KERNELS, regularizer=Squares(), solver=solver, tol=1e-5).fit(X, y)
    known = MKLClassifier(KERNELS, regularizer=LpSum(2), tol=1e-6).fit(X, y)  # ¼ Σ θ², that is λ = ½
    assert model.duality_gap_ <= 1e-5
    assert model.objective_ == pytest.approx(known.objective_, rel=3e-5)


def test_a_solver_that_needs_more_says_what():
    with pytest.raises(ValueError, match="'silp' cannot take this problem.*on the simplex"):
        MKLClassifier(KERNELS, regularizer=Squares(), solver="silp").fit(X, y)
    with pytest.raises(ValueError, match="'spicy' cannot take this problem: Squares.lam=0.5. does not suit it"):
        MKLClassifier(KERNELS, regularizer=Squares(), solver="spicy").fit(X, y)


def test_its_parameters_are_searched_by_name():
    search = GridSearchCV(MKLClassifier(KERNELS, regularizer=Squares()), {"regularizer__lam": [0.1, 10.0]}, cv=2)
    scores = search.fit(X, y).cv_results_["mean_test_score"]
    assert (
        np.isfinite(scores).all() and search.best_estimator_.regularizer.lam == search.best_params_["regularizer__lam"]
    )


def test_it_is_saved_and_loaded(tmp_path):
    path, model = tmp_path / "model.mk", MKLClassifier(KERNELS, regularizer=Squares(0.3)).fit(X, y)
    model.save(path)
    again = load(path, parts=[Squares])
    assert again.regularizer == Squares(0.3)
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    with pytest.raises(ValueError, match="Squares.*no class of manykernels"):
        load(path)


def test_it_is_refused_by_name_where_it_cannot_be_saved(tmp_path):
    class Untagged(Squares):
        pass

    with pytest.raises(ValueError, match="regularizer = Untagged.* cannot be saved without pickle.*file_tag"):
        MKLClassifier(KERNELS, regularizer=Untagged()).fit(X, y).save(tmp_path / "model.mk")
