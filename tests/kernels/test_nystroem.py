"""Landmarks: what is rounding in their kernel matrix is no feature."""

import numpy as np
import pytest

from manykernels.kernels import RBF, Constant, Linear, Nystroem, Polynomial

rng = np.random.default_rng(0)
LINE = np.linspace(0.0, 1.0, 60)[:, None]
TWINS = np.repeat(rng.normal(size=(20, 3)), 3, axis=0) + 1e-9 * rng.normal(size=(60, 3))
CASES = {
    "smooth": (RBF(gamma=1e-3), LINE, 0.5 * LINE + 0.1),
    "smoother": (RBF(gamma=1e-6), LINE, LINE[::-1] + 0.3),
    "near-duplicates": (RBF(gamma=0.5), TWINS, TWINS[::2] + 1e-7),
    "few dimensions": (Polynomial(2), rng.normal(size=(60, 2)), 3 * rng.normal(size=(9, 2))),
    "one dimension": (Linear(), LINE - 0.5, 4 * LINE),
}


@pytest.mark.parametrize("landmarks", ["uniform", "k-means++"])
@pytest.mark.parametrize("unit", [1.0, 1e-20, 1e20])
@pytest.mark.parametrize("case", CASES)
def test_features_of_many_landmarks_give_the_kernel_in_any_unit(case, unit, landmarks):
    """With more landmarks than the kernel has directions; the values are exact there, old or new."""
    plain, X, new = CASES[case]
    kernel = plain if unit == 1.0 else Constant(unit) * plain
    found = Nystroem(kernel, rank=60, landmarks=landmarks).resolve(X)
    values = np.linalg.eigvalsh(plain(found.landmarks_))
    assert found.projection_.shape[1] <= (values > 1e-12 * values[-1]).sum() < 60
    assert found.projection_.shape[1] >= (values > 1e-8 * values[-1]).sum()
    for points in (X, new):
        exact, phi = plain(points), found.features(points)
        size = np.abs(exact).max()
        np.testing.assert_allclose(phi @ phi.T / unit, exact, atol=1e-6 * size)
        assert ((phi**2).sum(axis=1) / unit <= np.diagonal(exact) + 1e-6 * size).all()


def test_a_kernel_that_is_zero_at_all_landmarks_is_refused():
    with pytest.raises(ValueError, match="is 0 at all landmarks"):
        Nystroem(Linear(), rank=5).resolve(np.zeros((20, 2)))
