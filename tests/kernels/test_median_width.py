"""gamma="median": one over the median distance of the examples, by their weights."""

import numpy as np
import pytest
from scipy.sparse import csr_array
from scipy.spatial.distance import pdist

import manykernels
from manykernels import MKLRegressor
from manykernels.kernels import RBF, Chi2, Laplacian, Polynomial

X = np.random.default_rng(0).normal(size=(60, 4)) * [1, 10, 100, 1000]


@pytest.mark.parametrize(("kernel", "metric"), [(RBF, "sqeuclidean"), (Laplacian, "cityblock")])
def test_it_is_one_over_the_median_distance(kernel, metric):
    gamma = kernel("median").resolve(X).gamma
    assert gamma == pytest.approx(1 / np.median(pdist(X, metric)))
    assert kernel("median").resolve(csr_array(X)).gamma == pytest.approx(gamma)
    counts = np.random.default_rng(1).integers(0, 4, 60)
    weighted = kernel("median").resolve(X, counts.astype(float)).gamma
    assert weighted == pytest.approx(kernel("median").resolve(np.repeat(X, counts, axis=0)).gamma)
    assert kernel("median").resolve(np.ones((5, 2))).gamma == 1.0


def test_a_model_keeps_the_number_and_each_kernel_its_columns(tmp_path):
    kernels = [("a", RBF("median"), [0]), ("b", Laplacian("median"), [3]), ("c", RBF("median") * Polynomial(), [1])]
    model = MKLRegressor(kernels).fit(X, X[:, 0])
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    found = again.predictor_.kernel_list.kernels
    assert found[0].gamma == pytest.approx(1 / np.median(pdist(X[:, :1], "sqeuclidean")))
    np.testing.assert_array_equal(again.predict(X), model.predict(X))
    assert again.kernels[0][1].gamma == "median"


@pytest.mark.parametrize("kernel", [Chi2("median"), Polynomial(gamma="median"), RBF("mean")])
def test_others_have_none(kernel):
    with pytest.raises(ValueError, match="must be a number, None"):
        kernel.resolve(np.abs(X))
