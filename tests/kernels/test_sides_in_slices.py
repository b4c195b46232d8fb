"""Sides of so many examples that threads prepare them in slices, and what is equal between any two index arrays."""

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels.kernels.pair_blocks import KINDS, Entries, PairBase, plain_pair, same, span

rng = np.random.default_rng(0)
N = 4501  # three slices


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("d", [1, 3, 7])
def test_a_side_of_many_examples_is_that_of_each_example(d, kind, dtype):
    X = rng.random((N, d)) + 50.0
    base = PairBase(kind, X, dtype)
    side, index = base.side(X, np.arange(N), n_jobs=2), rng.permutation(N)[:40]
    centre = X.mean(axis=0) if kind in ("sqdist", "l1") else 0.0
    close = dict(rtol=1e-5 if dtype == np.float32 else 1e-12)
    np.testing.assert_allclose(side.x, (X - centre).T, atol=1e-5 if dtype == np.float32 else 1e-12, **close)
    assert side.x.dtype == side.own.dtype == dtype
    if kind == "sqdist":
        np.testing.assert_allclose(side.square, ((X - centre) ** 2).sum(axis=1), **close)
    else:
        assert side.square is None
    own = {"dot": (X**2).sum(axis=1), "min": X.sum(axis=1)}.get(kind, np.zeros(N))
    np.testing.assert_allclose(side.own, own, **close)
    assert (side.bounds is not None) == (d == 1)
    if d == 1:
        np.testing.assert_allclose(side.bounds, [side.x.min(), side.x.max()])
    one, other = side.take(index), side.take(np.arange(10, 60))
    expected = np.empty((40, 50))
    plain_pair(KINDS[kind], X[index].T, X[10:60].T, expected)
    for plain in (True, False):
        B = base.block(one, other, np.empty((40, 50), dtype), same(one.index, other.index), plain)
        size = np.abs(expected).max() + (X**2).sum(axis=1).max() * (kind == "sqdist") * 1e-3
        np.testing.assert_allclose(B, expected, rtol=0, atol=(1e-5 if dtype == np.float32 else 1e-12) * size + 1e-6)


@pytest.mark.parametrize("kind", ["dot", "sqdist"])
def test_a_sparse_side_is_the_dense_one(kind):
    X = np.where(rng.random((300, 9)) < 0.2, rng.normal(size=(300, 9)), 0.0)
    X[7], X[250:] = 0.0, 0.0
    thin = sp.csr_array(X)
    dense, sparse = (PairBase(kind, some, np.float64) for some in (X, thin))
    (left, right), (a, b) = ([base.side(some).take(slice(*cut)) for cut in ((0, 13), (240, 300))]
                             for base, some in ((dense, X), (sparse, thin)))  # fmt: skip
    blocks = [base.block(*sides, np.empty((13, 60))) for base, sides in ((dense, (left, right)), (sparse, (a, b)))]
    np.testing.assert_allclose(*blocks, atol=1e-12)
    entries = Entries.of(X, np.float64)
    for given in (entries, Entries.of(thin, np.float64)):
        np.testing.assert_allclose(given.squares(), (X**2).sum(axis=1))
        for cut in (slice(0, 300), slice(5, 9), slice(7, 8), slice(240, 299), slice(9, 5), slice(300, 300)):
            part, Z = given[cut], rng.normal(size=(9, 4))
            for plain in (True, False):
                out = np.full((len(X[cut]), 4), 7.0)
                part.times(Z, out, plain)
                np.testing.assert_allclose(out, X[cut] @ Z, atol=1e-12)
            np.testing.assert_allclose(part.squares(), (X[cut] ** 2).sum(axis=1))


def index_arrays():
    lists = [[], [4], [9, 3, 4], [8, 2, 5, 0], [1, 3, 3, 8], [3, 3], [3, 5, 4, 6], [7, 6, 5], [2, 4, 5, 6]]
    yield from (np.arange(5), np.arange(3, 9), np.arange(100, 110), *(np.array(some, dtype=int) for some in lists))


def test_equal_examples_are_found_in_any_order_of_both():
    """Each example of the right side that the left one has; the left one names each example once."""
    for left in index_arrays():
        if len(np.unique(left)) < len(left):
            continue
        for right in index_arrays():
            i, j = same(left, right)
            expected = {(list(left).index(r), k) for k, r in enumerate(right) if r in left}
            assert set(zip(i.tolist(), j.tolist(), strict=True)) == expected and len(i) == len(expected)
    assert not len(same(None, np.arange(3))[0]) and not len(same(np.arange(3), None)[1])


def test_only_consecutive_ascending_numbers_are_a_slice():
    for index in index_arrays():
        found = span(index)
        run = len(index) > 0 and (np.diff(index) == 1).all()
        assert isinstance(found, slice) == run
        np.testing.assert_array_equal(np.arange(200)[found], index)
