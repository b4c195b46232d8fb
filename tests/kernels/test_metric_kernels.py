"""RBF and Laplacian kernels with given scales of their columns."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

import manykernels
from manykernels import MKLClassifier
from manykernels.kernels import RBF, KernelList, Laplacian, Linear, Nystroem, On, RandomFeatures
from manykernels.kernels.metric import slopes
from manykernels.streaming import ArrayFile

RNG = np.random.default_rng(0)
X, Y = RNG.normal(size=(30, 3)), RNG.normal(size=(7, 3))
LABELS = (X[:, 0] > 0).astype(int)
SCALES = [2.0, 0.5, 0.0]


@pytest.mark.parametrize("kind", [RBF, Laplacian])
@pytest.mark.parametrize("gamma", [0.3, None, "scale", "median"])
def test_the_kernel_with_scales_is_the_plain_kernel_on_scaled_columns(kind, gamma):
    kernel, plain = kind(gamma, metric=SCALES), kind(gamma)
    np.testing.assert_allclose(kernel(X), plain(X * SCALES))
    np.testing.assert_allclose(kernel.diag(X), 1.0)
    resolved = plain.resolve(X * SCALES)
    assert kernel.resolve(X).gamma == resolved.gamma
    np.testing.assert_allclose(kernel.resolve(X)(Y, X), resolved(Y * SCALES, X * SCALES))


@pytest.mark.parametrize("kind", [RBF, Laplacian])
def test_a_diagonal_takes_as_many_calls_of_few_examples_as_of_many(kind, monkeypatch):
    """All its entries are equal."""
    calls, call = [], kind.__call__
    monkeypatch.setattr(kind, "__call__", lambda self, *given: calls.append(given) or call(self, *given))
    np.testing.assert_allclose(kind(0.3, metric=SCALES).diag(X[:2]), np.ones(2))
    few = len(calls)
    np.testing.assert_allclose(kind(0.3, metric=SCALES).diag(X), np.ones(30))
    assert 0 < few == len(calls) - few


BOTH = np.hstack([X * SCALES, X])  # the scaled columns, and the others behind them


@pytest.mark.parametrize("kernels, plain", [
    ([RBF(0.3, SCALES), RBF(1.0, SCALES), Laplacian(0.3)],
     [("a", RBF(0.3), [0, 1, 2]), ("b", RBF(1.0), [0, 1, 2]), ("c", Laplacian(0.3), [3, 4, 5])]),
    ([RBF(0.3, SCALES) * Laplacian(1.0, SCALES)], [("p", RBF(0.3) * Laplacian(1.0), [0, 1, 2])]),
    ([RBF(0.3, SCALES) + Linear()], [On([0, 1, 2], RBF(0.3)) + On([3, 4, 5], Linear())]),
    ([On([0, 1, 2], RBF(0.3, SCALES)) * On([0], Linear())], [On([0, 1, 2], RBF(0.3)) * On([3], Linear())]),
    ([("some", RBF(0.3, SCALES[:2]), [0, 1])], [("some", RBF(0.3), [0, 1])]),
], ids=["kernels", "product", "sum", "across", "some columns"])  # fmt: skip
def test_fits_sums_products_and_places_see_the_scaled_columns(kernels, plain):
    model = MKLClassifier(kernels, C=1.0, tol=1e-8).fit(X, LABELS)
    wanted = MKLClassifier(plain, C=1.0, tol=1e-8).fit(BOTH, LABELS)
    np.testing.assert_allclose(model.decision_function(X), wanted.decision_function(BOTH), atol=1e-5)


def test_kernels_of_equal_scales_share_a_view():
    found = KernelList.from_spec([RBF(0.3, SCALES), Laplacian(0.3, SCALES), RBF(0.1), RBF(0.1, [1.0, 1.0, 2.0])], X)
    assert found.view_of.tolist() == [0, 0, 1, 2]
    assert found.names[0] == "rbf(gamma=0.3)[all]"


def test_sparse_columns_low_rank_kernels_and_transformers_take_scales():
    np.testing.assert_allclose(RBF(0.3, SCALES)(sp.csr_array(X)), RBF(0.3)(X * SCALES))
    np.testing.assert_allclose(
        RandomFeatures(RBF(0.3, SCALES)).features(X), RandomFeatures(RBF(0.3)).features(X * SCALES)
    )
    np.testing.assert_allclose(Nystroem(RBF(0.3, SCALES), rank=30)(X), RBF(0.3)(X * SCALES), atol=1e-6)
    scaler = StandardScaler().fit(X)
    model = MKLClassifier([("z", StandardScaler(), RBF(0.3, SCALES))], C=1.0, tol=1e-8).fit(X, LABELS)
    wanted = MKLClassifier([RBF(0.3)], C=1.0, tol=1e-8).fit(scaler.transform(X) * SCALES, LABELS)
    np.testing.assert_allclose(
        model.decision_function(Y), wanted.decision_function(scaler.transform(Y) * SCALES), atol=1e-5
    )
    for approximation in ("rff", "nystroem"):
        MKLClassifier([RBF(0.3, SCALES)], approximation=approximation, rank=10).fit(X, LABELS)


def test_files_and_clones_keep_the_scales(tmp_path):
    kernel = RBF(0.3, metric=np.array(SCALES))
    assert clone(kernel).get_params()["metric"].tolist() == SCALES
    model = MKLClassifier([("z", StandardScaler(), kernel), Laplacian(0.3, SCALES), kernel + Linear()]).fit(X, LABELS)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    np.testing.assert_array_equal(again.decision_function(Y), model.decision_function(Y))
    np.testing.assert_array_equal(again.fit(X, LABELS).decision_function(Y), model.decision_function(Y))


@pytest.mark.parametrize("metric", ["auto", [1.0, -1.0, 0.0], [0.0, 0.0, 0.0], [np.nan, 1.0, 1.0], 2.0, [[1.0]]])
def test_scales_that_are_none_are_refused(metric):
    for use in (lambda kernel: kernel(X), lambda kernel: MKLClassifier([kernel]).fit(X, LABELS)):
        with pytest.raises(ValueError, match="must be a list of scales, one for each column"):
            use(RBF(0.3, metric))


def test_other_numbers_of_scales_and_streams_are_refused(tmp_path):
    for use in (lambda kernel: kernel(X), lambda kernel: MKLClassifier([kernel]).fit(X, LABELS)):
        with pytest.raises(ValueError, match="metric has 2 scales for 3 columns: give one for each"):
            use(RBF(0.3, [1.0, 1.0]))
    np.save(tmp_path / "X.npy", X)
    for metric in ("learn", SCALES):
        with pytest.raises(ValueError, match="has a metric, which is for data in memory"):
            MKLClassifier([RBF(0.3, metric)]).fit(ArrayFile(tmp_path / "X.npy"), LABELS)


@pytest.mark.parametrize("kind", [RBF, Laplacian])
def test_slopes_are_finite_differences(kind):
    V, kernel, step = RNG.normal(size=(2, 7, 30)), kind(0.4), 1e-6
    found = -kernel.gamma * slopes(kernel.distance, Y, X, V * kernel(Y, X))
    for j in range(3):
        move = step * np.eye(3)[j]
        difference = np.einsum("til,il->ti", V, kernel(Y + move, X) - kernel(Y - move, X)) / (2 * step)
        np.testing.assert_allclose(found[:, :, j], difference, rtol=1e-5, atol=1e-7)
