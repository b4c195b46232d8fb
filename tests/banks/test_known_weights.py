"""Fits whose weights are known have a single kernel, with features where the kernels have some."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manykernels import MKLClassifier, MKLRegressor
from manykernels.banks.choice import choose_bank
from manykernels.kernels import RBF, KernelList, Linear, Nystroem, rank_one_kernels
from manykernels.regularizers import Fixed

rng = np.random.default_rng(0)
X = rng.normal(size=(90, 6))
Y = X[:, 0] - X[:, 1] + 0.5 * rng.normal(size=90)
KERNELS = {
    "columns": (X, [("a", Linear(), [0, 1, 2]), ("b", Linear(), [3]), ("c", Linear(), [4, 5])]),
    "sparse": (csr_array(np.where(X > 0, X, 0.0)), rank_one_kernels(6)),
    "low rank": (X, [Nystroem(RBF(gamma=g), rank=20, random_state=0) for g in (0.1, 0.5)]),
}


@pytest.mark.parametrize("name", KERNELS)
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_the_features_of_the_sum_have_the_combined_kernel(name, normalize):
    data, kernels = KERNELS[name]
    bank = choose_bank(KernelList.from_spec(kernels, data), data, normalize=normalize, wanted=True)
    theta = np.linspace(0.0, 1.0, bank.M)  # the first kernel has no weight
    one = bank.as_one(theta)
    assert one.explicit and one.M == 1
    np.testing.assert_allclose(one.combined(np.ones(1)), bank.combined(theta), atol=1e-12)


@pytest.mark.parametrize("regularizer", [np.inf, Fixed(np.linspace(0.2, 1.0, 6))])
@pytest.mark.parametrize("loss", ["epsilon_insensitive", "squared", "huber", "hinge", "logistic"])
def test_a_sum_of_features_is_the_sum_of_matrices(regularizer, loss):
    make, y = (MKLClassifier, Y > 0) if loss in ("hinge", "logistic") else (MKLRegressor, Y)
    options = dict(regularizer=regularizer, loss=loss, C=10.0, tol=1e-8)
    one, other = (make(rank_one_kernels(6), features=how, **options).fit(X, y) for how in ("auto", "never"))
    assert max(one.duality_gap_, other.duality_gap_) <= 1e-8
    assert one.objective_ == pytest.approx(other.objective_, rel=1e-7)
    np.testing.assert_array_equal(one.kernel_weights_, other.kernel_weights_)


@pytest.mark.parametrize("loss", ["epsilon_insensitive", "logistic"])
def test_few_features_of_many_examples_take_few_steps(loss):
    """Descent over the examples ended above the gap after a thousand passes."""
    many = rng.normal(size=(1000, 5))
    y = many @ rng.normal(size=5) + rng.normal(size=1000)
    make, y = (MKLClassifier, y > 0) if loss == "logistic" else (MKLRegressor, y)
    model = make(rank_one_kernels(5), regularizer=np.inf, loss=loss, C=10.0, tol=1e-6).fit(many, y)
    assert model.duality_gap_ <= 1e-6 and model.n_iter_ <= 40
