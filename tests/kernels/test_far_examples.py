"""Examples far from all others leave the kernel values between the others right."""

import numpy as np
import pytest
from scipy.sparse import csr_array

from manykernels import MKLClassifier, MKLClassifierCV, load
from manykernels.banks.choice import choose_bank
from manykernels.kernels import RBF, KernelList, Laplacian

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 5))
y = (X[:, 0] > 0).astype(int)
FAR = X.copy()
FAR[50:, 3] = 1e14


@pytest.mark.parametrize("kernel", [RBF(gamma=0.2), Laplacian(gamma=0.2)])
def test_folds_are_fitted_to_the_gap_whatever_their_test_examples(kernel):
    split = [(np.arange(50), np.arange(50, 60))]
    model = MKLClassifierCV([kernel], Cs=[10], regularizer=[1], loss="squared", cv=split, max_iter=50)
    assert model.fit(FAR, y).cv_results_["max_duality_gap"][0] <= model.tol


Z = rng.normal(size=(60, 8))
SIDE = np.where(np.arange(60) % 2, 1.0, -1.0)[:, None]
PLACES = {  # X and gamma
    "far mean": (Z + 1e6, 0.06),
    "wide": (1e10 * Z, 0.1),
    "two places": (Z + 1e5 * SIDE, 0.06),
    "two far places": (Z + 1e10 * SIDE, 0.06),
    "a few far": (Z + 1e10 * (np.arange(60) > 54)[:, None], 0.06),
    "half of the entries": (np.where(rng.random(Z.shape) < 0.5, 0.0, Z + 1e6), 0.06),
}
FORMS = pytest.mark.parametrize("form", [np.asarray, csr_array])


def exact(X, gamma, power=2):
    X = X.astype(np.longdouble)
    return np.exp(-gamma * np.stack([(np.abs(x - X) ** power).sum(axis=1) for x in X])).astype(float)


@FORMS
@pytest.mark.parametrize("small", [10, 60], ids=["float32", "float64"])
@pytest.mark.parametrize("place", PLACES)
def test_kernels_of_training_and_new_rows_are_those_of_the_numbers_as_given(place, small, form):
    """k(x, x) of a new row was 0, and near rows at one of two places had values 0.95 off."""
    (X, gamma), one = PLACES[place], np.ones(1)
    bank = choose_bank(KernelList.from_spec([RBF(gamma=gamma)], form(X)), form(X), normalize=None, small=small)
    K, kernel = exact(X, gamma), RBF(gamma=gamma)
    np.testing.assert_allclose(bank.combined(one), K, atol=1e-6 if bank.dtype == np.float32 else 1e-9)
    new = bank.predictor(np.arange(60)).combined(form(X), one)
    np.testing.assert_allclose(new, K, atol=1e-6 if bank.dtype == np.float32 else 1e-9)
    np.testing.assert_allclose(np.diag(new), 1.0, atol=1e-6)
    np.testing.assert_allclose(kernel(form(X), form(X.copy())), K, atol=1e-9)


def test_laplacians_that_float32_cannot_hold_are_in_float64():
    X = PLACES["two far places"][0]
    bank = choose_bank(KernelList.from_spec([Laplacian(gamma=0.1)], X), X, normalize=None, small=10)
    np.testing.assert_allclose(bank.combined(np.ones(1)), exact(X, 0.1, 1), atol=1e-9)


@FORMS
@pytest.mark.parametrize("gamma", [0.06, "scale", "median"])
def test_a_common_distance_from_zero_changes_neither_model_nor_certificate(gamma, form, tmp_path):
    near, away = np.round(Z * 2**10) / 2**10, 2.0**20  # sums without rounding
    label, kernels = Z[:, 0] > 0, [RBF(gamma=gamma)]
    model, far = (MKLClassifier(kernels, C=1.0, tol=1e-6).fit(form(part), label) for part in (near, near + away))
    assert far.objective_ == pytest.approx(model.objective_, rel=1e-5) and far.duality_gap_ <= 1e-6
    far.save(tmp_path / "far.mk")
    wanted = model.decision_function(form(near[::2]))
    for one in (far, load(tmp_path / "far.mk")):
        np.testing.assert_allclose(one.decision_function(form(near[::2] + away)), wanted, atol=1e-3)
