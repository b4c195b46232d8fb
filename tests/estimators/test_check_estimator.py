"""scikit-learn's own contract."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor

WHY = "weights act on widths and scales too; tests/estimators/test_estimators.py proves the equivalence at tol=1e-8"
EXPECTED = {f"check_sample_weight_equivalence_on_{kind}_data": WHY for kind in ("dense", "sparse")}


@pytest.mark.filterwarnings("ignore::UserWarning")  # checks feed constant columns
@parametrize_with_checks([MKLClassifier(), MKLRegressor(), MKLOneClass()], expected_failed_checks=lambda _: EXPECTED)
def test_estimator_passes_scikit_learns_checks(estimator, check):
    check(estimator)
