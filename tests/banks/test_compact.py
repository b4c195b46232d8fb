"""Compact predictors decide alike, up to float32; reduced sets have the best coefficients, and bound their error."""

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels import MKLClassifier
from manykernels.banks.compact import CompactPredictor, ReducedSet, operations
from manykernels.kernels import RBF, KernelList, Laplacian, Linear, Polynomial, pair_blocks

RNG = np.random.default_rng(0)
DENSE = RNG.normal(size=(60, 40))
SPARSE = np.where(RNG.random((60, 40)) < 0.2, RNG.random((60, 40)), 0.0)
Y = np.where(DENSE[:, 0] + SPARSE[:, 0] > np.median(DENSE[:, 0] + SPARSE[:, 0]), 1, 0)


LISTS = {
    "one width": [RBF(0.05)],
    "many widths": [RBF(g) for g in (0.01, 0.02, 0.05, 0.1, 0.2)],
    "lines": [RBF(0.05), ("line", Linear(), slice(0, 35)), ("square", Polynomial(degree=2))],
    "few columns": [("a", RBF(1.0), [0]), ("b", RBF(0.5), [1, 2]), ("c", Laplacian(0.1))],
}


@pytest.mark.filterwarnings("ignore:.*nearly diagonal")
@pytest.mark.parametrize("X", [DENSE, SPARSE, SPARSE + 3.0], ids=["dense", "sparse", "shifted"])
@pytest.mark.parametrize("kernels", LISTS.values(), ids=LISTS)
@pytest.mark.parametrize("normalize, plain", [("multiplicative", False), ("spherical", True)])
def test_decisions_are_those_of_the_whole_predictor(X, kernels, normalize, plain, monkeypatch):
    monkeypatch.setattr(pair_blocks, "MAX_PLAIN_VALUES", 2**24 if plain else -1)
    model = MKLClassifier(kernels, C=1.0, normalize=normalize).fit(X, Y)
    known = model.dual_coef_, model.kernel_weights_
    wanted = model.predictor_.decision(X, *known)
    for dtype, exact in ((np.float32, 1e-4), (np.float64, 1e-10)):
        compact = CompactPredictor.of(model.predictor_, slice(None), dtype)
        for data in (X, sp.csr_array(X)):
            found = compact.decision(data, *known)
            np.testing.assert_allclose(found, wanted, atol=exact * np.ptp(wanted))
        for i in (0, 7):  # alone, as in a batch
            np.testing.assert_allclose(compact.decision(X[i : i + 1], *known)[0], found[:, i], atol=exact)
        on_support = compact.on_support(model.predictor_, *known)
        np.testing.assert_allclose(on_support, wanted[:, model.support_], atol=exact * np.ptp(wanted))
        np.testing.assert_allclose(compact.parts(X, *known).sum(axis=2), wanted, atol=exact * np.ptp(wanted))


def test_numbers_that_are_too_large_or_missing_raise_as_in_the_whole_predictor():
    model = MKLClassifier([RBF(0.1)], C=1.0).fit(SPARSE, Y)
    compact = CompactPredictor.of(model.predictor_, slice(None), np.float32)
    X = SPARSE.copy()
    X[3, 17] = 1e30
    with pytest.raises(ValueError, match="column 17"):
        compact.decision(X, model.dual_coef_, model.kernel_weights_)
    X[3, 17] = 1e12  # far from all
    for predictor in (compact, model.predictor_):
        assert abs(predictor.decision(X, model.dual_coef_, model.kernel_weights_)[0, 3]) < 1e-30


def test_operations_go_with_the_support_and_the_entries():
    model = MKLClassifier([RBF(0.05), RBF(0.1), RBF(0.2)], C=1.0).fit(SPARSE, Y)
    A, theta = model.dual_coef_, model.kernel_weights_[None]
    whole = operations(model.predictor_, A, theta)
    n = A.shape[1]
    assert whole == n * (2 * 40 + 3 + 22 + 2)
    compact = CompactPredictor.of(model.predictor_, slice(0, 5), np.float32)
    assert operations(compact, A[:, :5], theta, 0.2) == 5 * (0.2 * 2 * 40 + 3 + 13 + 2)
    assert operations(compact, A[:, :5], theta, 0.9) == 5 * (2 * 40 + 3 + 13 + 2)  # too many entries


def gram(gamma, Z, X):
    return np.exp(-gamma * ((Z[:, None] - X) ** 2).sum(axis=2))


@pytest.mark.parametrize("gammas", [(0.3,), (0.3, 1.5)])
def test_a_reduced_set_is_the_projection_and_its_norm_bounds_the_error(gammas):
    rng = np.random.default_rng(1)
    Z, X, A = rng.normal(size=(30, 2)), 2 * rng.normal(size=(500, 2)), rng.normal(size=(2, 30))
    grams = [gram(g, Z, Z) for g in gammas]
    reduced = ReducedSet(grams, A, np.ones(2), 1e-9)
    for m in (3, 8, 15):
        rows, B, norms = reduced.order[:m], reduced.coefficients(m), reduced.norms(m)
        for t in range(2):
            gamma, G = gammas[t % len(gammas)], grams[t % len(gammas)]
            best = np.linalg.solve(G[np.ix_(rows, rows)], (G @ A[t])[rows])
            np.testing.assert_allclose(B[t], best, rtol=1e-4, atol=1e-6)
            left = A[t].copy()
            left[rows] -= best
            assert np.isclose(norms[t] ** 2, left @ G @ left, rtol=1e-4, atol=1e-9)
            error = np.abs(gram(gamma, X, Z) @ A[t] - gram(gamma, X, Z[rows]) @ B[t])
            assert error.max() <= norms[t] * (1 + 1e-6)
            assert error.max() > 0.02 * norms[t]  # the bound is no wild one


def test_equal_examples_and_kernels_of_low_rank_lose_nothing():
    rng = np.random.default_rng(2)
    Z = rng.normal(size=(10, 3))
    Z = np.concatenate([Z, Z, Z[:4]])
    A = rng.normal(size=(1, 24))
    for G, most in ((gram(0.5, Z, Z), 10), ((1 + Z @ Z.T) ** 2, 10), (Z @ Z.T, 3)):
        reduced = ReducedSet([G], A, np.ones(1), 1e-6)
        assert len(reduced.order) <= most
        m = reduced.fewest(lambda rows, B, G=G: np.abs(G[:, rows] @ B[0] - G @ A[0]).max(), 1e-6)
        np.testing.assert_allclose(G[:, reduced.order[:m]] @ reduced.coefficients(m)[0], G @ A[0], atol=1e-6)
        assert reduced.norms(m)[0] < 1e-4


def test_a_kernel_list_reads_new_data_alike():
    """The views of the compact predictor are those of the model."""
    model = MKLClassifier([("a", RBF(0.1), slice(0, 32)), ("b", RBF(0.1), slice(32, 40))], C=1.0).fit(SPARSE, Y)
    compact = CompactPredictor.of(model.predictor_, slice(None), np.float32)
    assert isinstance(compact.kernel_list, KernelList) and compact.sizes() == model.predictor_.sizes()
    assert 0.1 < compact.density(SPARSE) < 0.3
