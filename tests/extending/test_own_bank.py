"""A bank from outside: a toy of NumPy that pretends to be a device, where the matrices lie and the SVM runs."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator
from sklearn.datasets import make_classification
from sklearn.model_selection import cross_val_score

from manykernels import MKLClassifier
from manykernels.banks import Bank, Predictor, Source
from manykernels.kernels import RBF
from manykernels.solvers import InnerProblem

X, y = make_classification(90, 5, random_state=0)


class Device:
    """Counts what is brought to it and back."""

    def __init__(self):
        self.solved = self.products = 0


class ToyBank(Bank):
    """RBF kernels of some widths on one device."""

    memory_limit = n_jobs = None
    dtype = np.dtype(np.float64)

    def __init__(self, X, gammas, device, weights=None, normalize="multiplicative"):
        self.X, self.gammas, self.device, self.normalize = X, np.asarray(gammas), device, normalize
        (self.n, _), self.M = X.shape, len(gammas)
        self.names = [f"toy {gamma:g}" for gamma in gammas]
        self.K = kernels(X, X, self.gammas)
        w = np.full(self.n, 1 / self.n) if weights is None else weights / weights.sum()
        variance = np.einsum("mii,i->m", self.K, w) - np.einsum("mij,i,j->m", self.K, w, w)
        self.usable = variance > 1e-12
        self.scale = np.where(self.usable, 1 / variance, 0.0) if normalize else np.ones(self.M)
        self.K *= self.scale[:, None, None]

    def diagonals(self):
        return np.einsum("mii->mi", self.K)

    def combined(self, theta, rows=None, cols=None, dtype=None, shifted=False):
        rows, cols = (slice(None) if index is None else index for index in (rows, cols))
        return np.tensordot(theta, self.K[:, rows][:, :, cols], 1).astype(dtype or self.dtype)

    def products(self, A, support, rows=None, kernels=None):
        self.device.products += 1
        K = self.K if kernels is None else self.K[kernels]
        K = K if rows is None else K[:, rows]
        return np.einsum("mij,tj->tmi", K[:, :, support], A)

    def inner(self, loss, y, c, intercept):
        return ToyInnerProblem(self.device, loss, y, c, intercept)

    def predictor(self, support):
        return ToyPredictor(self.X[support], self.gammas, self.scale)


class ToyInnerProblem(InnerProblem):
    """The inner problem, solved on the device."""

    def __init__(self, device, *args):
        super().__init__(*args)
        self.device = device

    def solve(self, *args, **options):
        self.device.solved += 1
        return super().solve(*args, **options)


class ToyPredictor(Predictor):
    def __init__(self, support, gammas, scale):
        self.support, self.gammas, self.scale = support, gammas, scale

    def sizes(self):
        return len(self.support), len(self.scale)

    def check_state(self):
        raise ValueError("a toy is not kept in files")

    def decision(self, X, A, theta):
        return self.parts(X, A, theta).sum(axis=2)

    def parts(self, X, A, theta):
        theta = np.broadcast_to(theta, (len(A), len(self.scale)))
        return np.einsum("tm,mij,tj->tim", theta * self.scale, kernels(X, self.support, self.gammas), A)

    def combined(self, X, theta):
        return np.tensordot(theta * self.scale, kernels(X, self.support, self.gammas), 1)

    def gram(self, X, Y=None, theta=None):
        return np.tensordot(theta * self.scale, kernels(X, X if Y is None else Y, self.gammas), 1)


class Toy(BaseEstimator, Source):
    """The kernels, as an estimator takes them."""

    def __init__(self, gammas=(0.01, 0.1, 1.0), device=None):
        self.gammas = gammas
        self.device = device

    def bank(self, X, *, weights=None, normalize="multiplicative", memory_limit=None, n_jobs=None):
        return ToyBank(np.asarray(X, float), self.gammas, self.device or Device(), weights, normalize)


def kernels(X, Y, gammas):
    D = ((X[:, None] - Y) ** 2).sum(axis=2)
    return np.exp(-gammas[:, None, None] * D) if len(gammas) else np.empty((0, *D.shape))


@pytest.mark.parametrize("solver", ["auto", "analytic", "level", "hessian"])
@pytest.mark.parametrize("loss", ["hinge", "logistic"])
def test_it_is_used_like_one_of_ours_and_solves_the_inner_problem(solver, loss):
    device, p = Device(), 1 if solver == "level" else 2
    own = MKLClassifier(Toy(device=device), solver=solver, loss=loss, regularizer=p, tol=1e-5).fit(X, y)
    known = MKLClassifier([RBF(g) for g in Toy().gammas], loss=loss, regularizer=p, tol=1e-6).fit(X, y)
    assert own.duality_gap_ <= 1e-5 and device.solved > 0 and device.products > 0
    assert own.objective_ == pytest.approx(known.objective_, rel=2e-5)
    K = np.tensordot(own.kernel_weights_ * own.kernel_scale_, kernels(X, X, np.array(Toy().gammas)), 1)
    f = K[:, own.support_] @ own.dual_coef_[0] + own.intercept_
    np.testing.assert_allclose(own.decision_function(X), f, atol=1e-9)
    parts = own.decision_parts(X).sum(axis=1) + own.intercept_
    np.testing.assert_allclose(parts, own.decision_function(X), atol=1e-12)
    np.testing.assert_allclose(own.combined_kernel(X), K, atol=1e-9)
    assert own.kernel_names_ == ["toy 0.01", "toy 0.1", "toy 1"]


def test_weights_cross_validation_and_parameters_by_name():
    weight = np.where(np.arange(90) % 3 == 0, 2.0, 1.0)
    own = MKLClassifier(Toy(), tol=1e-5).set_params(kernels__gammas=(0.05, 0.5)).fit(X, y, sample_weight=weight)
    known = MKLClassifier([RBF(0.05), RBF(0.5)], tol=1e-6).fit(X, y, sample_weight=weight)
    assert own.objective_ == pytest.approx(known.objective_, rel=2e-5)
    assert cross_val_score(MKLClassifier(Toy()), X, y, cv=3).mean() > 0.7


def test_it_is_refused_by_name_where_it_cannot_be_saved(tmp_path):
    with pytest.raises(ValueError, match="kernels = Toy.* cannot be saved without pickle"):
        MKLClassifier(Toy()).fit(X, y).save(tmp_path / "model.mk")
    with pytest.raises(ValueError, match="'coordinate' cannot take this problem.*explicit features"):
        MKLClassifier(Toy(), solver="coordinate").fit(X, y)
