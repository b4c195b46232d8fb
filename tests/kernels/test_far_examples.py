"""Examples far from all others leave the kernel values between the others right."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from manykernels import MKLClassifierCV
from manykernels.kernels import RBF, Laplacian

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
y = (X[:, 0] > 0).astype(int)
FAR = X.copy()
FAR[50:, 3] = 1e14


def test_a_far_example_costs_the_others_no_digits():
    from manykernels.banks.choice import choose_bank
    from manykernels.kernels import KernelList

    bank = choose_bank(KernelList.from_spec([RBF(gamma=0.2)], FAR), FAR, normalize=None, small=60)
    K = bank.combined(np.ones(1), np.arange(50), np.arange(50), dtype=np.float64)
    np.testing.assert_allclose(K, rbf_kernel(X[:50], gamma=0.2), atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(gamma=0.2), Laplacian(gamma=0.2)])
def test_folds_are_fitted_to_the_gap_whatever_their_test_examples(kernel):
    split = [(np.arange(50), np.arange(50, 60))]
    model = MKLClassifierCV([kernel], Cs=[10], regularizer=[1], loss="squared", cv=split, max_iter=50)
    assert model.fit(FAR, y).cv_results_["max_duality_gap"][0] <= model.tol
