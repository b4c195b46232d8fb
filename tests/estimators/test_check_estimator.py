"""scikit-learn's own contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor

# Copies of an example lie in several folds of C="auto", tol is 1e-3, and a one-class decision may be 0.
WHY = "C is chosen and tol is 1e-3; tests/estimators/test_estimators_exact.py proves the equivalence at one C and 1e-8"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": WHY for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::UserWarning")  # checks feed constant columns
@parametrize_with_checks(
    [MKLClassifier(), MKLRegressor(C=1.0, tol=1e-9), MKLOneClass()],
    expected_failed_checks=lambda model: {} if isinstance(model, MKLRegressor) else EXPECTED,
)
def test_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)
