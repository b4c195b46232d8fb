"""Some examples of kernels in memory: kernels that do not vary, predictors of precomputed kernels."""

import warnings

import numpy as np
import pytest

from manykernels.banks.dense import DenseBank
from manykernels.banks.subset import SubsetBank

rng = np.random.default_rng(4)
n, M = 12, 5
F = rng.normal(size=(M, n, 4))
K = F @ F.swapaxes(1, 2)
INDEX = np.array([0, 2, 3, 5, 8, 9, 11])


def a_bank(matrices=K, **options):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        whole = DenseBank(np.moveaxis(matrices, 0, 2), **options)
        return whole, SubsetBank(whole, INDEX, normalize=options.get("normalize", "multiplicative"))


def test_kernels_that_vary_neither_on_all_nor_on_some_examples_are_not_usable():
    flat = K.copy()
    flat[1] = 1.0  # on all examples
    flat[3][np.ix_(INDEX, INDEX)] = 2.0  # on these
    _, small = a_bank(flat)
    assert small.usable.tolist() == [True, False, True, False, True]
    for normalize in (None, "spherical", "trace"):
        _, small = a_bank(flat, normalize=normalize)
        np.testing.assert_array_equal(small.scale != 0, small.usable)
        assert not small.usable[3]


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_predictors_of_precomputed_kernels_have_the_positions_within_the_subset(normalize):
    """New rows are given against the examples of the subset, (new, |index|, M)."""
    whole, _ = a_bank(normalize=normalize)
    whole.trained = 7, np.arange(100, 100 + n)
    small = SubsetBank(whole, INDEX, normalize=normalize)
    support, theta = np.array([1, 4, 5]), rng.random(M)
    predictor, a = small.predictor(support), rng.normal(size=(1, 3))
    assert predictor.trained[0] == 7 and predictor.trained[1].tolist() == (100 + INDEX).tolist()
    if normalize == "spherical":
        np.testing.assert_array_equal(predictor.root, whole._root[:, INDEX[support]])
    else:
        rows = K[:, :, INDEX][:, [1, 4, 6]]
        found = predictor.parts(np.moveaxis(rows, 0, 2), a, np.ones(M))
        expected = small.whole.scale[:, None] * np.einsum("mij,j->mi", rows[:, :, support], a[0])
        np.testing.assert_allclose(found[0], expected.T, rtol=1e-10)
    theta[1] = 0.0
    others = np.array([1, 4, 6])
    for weights in (theta, np.stack([theta, rng.random(M)])):
        A = rng.normal(size=(len(np.atleast_2d(weights)), 3))
        own = small.whole.products(A, INDEX[support], others)
        expected = np.einsum("tm,tmi->ti", np.atleast_2d(weights), own)
        np.testing.assert_allclose(small.decision(others, A, support, weights), expected, rtol=1e-8)


def test_a_part_of_matrices_that_are_not_positive_is_not_positive_either():
    wild = K + 9.0 * (noise := rng.normal(size=(M, n, n))) + 9.0 * noise.swapaxes(1, 2)
    for matrices in (K, wild):
        whole, small = a_bank(matrices)
        assert small.indefinite == whole.indefinite
        assert (small.summed(np.ones(M)) is None) == bool(whole.indefinite)
    assert whole.indefinite
