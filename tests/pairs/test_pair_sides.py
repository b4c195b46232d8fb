"""Sides of pairs whose objects lack a view, kernels of every normalisation, and their checks: the naive products."""

import pickle

import numpy as np
import pytest

from manykernels import MKLRegressor, load
from manykernels.kernels import RBF, Categorical, KernelStack, Linear
from manykernels.pairs import Pairs, Pairwise
from manykernels.strings import Spectrum

rng = np.random.default_rng(1)
NORMALIZE = ["multiplicative", "spherical", "trace", None]
LEFT = {"u": rng.normal(size=(12, 2)), "v": 2.0 + rng.normal(size=(12, 3))}
LEFT["u"][[0, 4, 9, 11]] = np.nan
LEFT["v"][[4, 6, 10]] = np.nan
RIGHT = np.round(3.0 + rng.normal(size=(8, 2)), 2)
OWN = [("u", RBF(0.4), "u", "zero"), ("v", Linear(), "v", "zero")]
OTHER = [RBF(0.7), ("line", Linear())]
TRAIN = Pairs(np.array([(i, j) for i in (0, 2, 3, 4, 6, 7, 8) for j in (1, 2, 4, 5)]), LEFT, RIGHT)
NEW = Pairs(np.array([(9, 0), (2, 7), (10, 3), (4, 1), (11, 6), (5, 5), (0, 0), (6, 3)]), LEFT, RIGHT)
weights = np.arange(len(TRAIN)) % 3 + 0.5


def objects():
    """The kernels of both sides between all objects, 0 for one that lacks the view."""
    found = []
    for view, kernel in (("u", RBF(0.4)), ("v", Linear())):
        here = ~np.isnan(LEFT[view]).any(axis=1)
        found.append(kernel(np.nan_to_num(LEFT[view])) * np.outer(here, here))
    return found, [RBF(0.7)(RIGHT), Linear()(RIGHT)]


def root(K):
    d = np.diagonal(K)
    return np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0)


def naive(normalize, combine, X, Y, sides=None):
    """The kernels between two sets of pairs, (M, |X|, |Y|), before their scales."""
    A, B = objects() if sides is None else sides
    if normalize == "spherical":
        A, B = ([K * np.outer(root(K), root(K)) for K in side] for side in (A, B))
    (p, r), (q, r2) = X.index.T, Y.index.T
    if combine == "kronecker":
        return np.stack([a[np.ix_(p, q)] * b[np.ix_(r, r2)] for a in A for b in B])
    same = combine == "cartesian"
    left = [a[np.ix_(p, q)] * ((r[:, None] == r2) if same else 1.0) for a in A]
    return np.stack(left + [b[np.ix_(r, r2)] * ((p[:, None] == q) if same else 1.0) for b in B])


def scale_of(K, normalize):
    w = weights / weights.sum()
    diagonal, mean = np.einsum("mii->mi", K) @ w, np.einsum("mij,i,j->m", K, w, w)
    return 1.0 / {"multiplicative": diagonal - mean, "trace": diagonal}.get(normalize, np.ones(len(K)))


@pytest.mark.parametrize("given", ["tables", "matrices"])
@pytest.mark.parametrize("combine", ["kronecker", "cartesian", "sum"])
@pytest.mark.parametrize("normalize", NORMALIZE)
def test_objects_that_lack_a_view_have_zeros_in_bank_and_predictor(normalize, combine, given):
    """Support pairs whose objects are not the first ones; new pairs of known and of new objects, with and without."""
    train, new = TRAIN, NEW
    kernels = Pairwise(OWN, OTHER, combine)
    if given == "matrices":
        A, B = (KernelStack(np.stack(side)) for side in objects())
        kernels, train, new = Pairwise("precomputed", "precomputed", combine), Pairs(TRAIN.index, A, B), None
        new = Pairs(NEW.index, A, B)
    bank = kernels.bank(train, weights=weights, normalize=normalize)
    K = naive(normalize, combine, TRAIN, TRAIN)
    scale = scale_of(K, normalize)
    np.testing.assert_allclose(bank.scale, scale, rtol=1e-9)
    for m, one in enumerate(np.eye(bank.M)):
        np.testing.assert_allclose(bank.combined(one), scale[m] * K[m], atol=1e-10)
    np.testing.assert_allclose(bank.diagonals(), scale[:, None] * np.einsum("mii->mi", K), atol=1e-10)
    support = np.array([9, 10, 13, 14, 15, 22, 27])
    predictor, A = bank.predictor(support), rng.normal(size=(2, len(support)))
    theta = np.stack([np.linspace(0.3, 1.0, bank.M), np.linspace(1.0, 0.1, bank.M)])
    N = scale[:, None, None] * naive(normalize, combine, NEW, TRAIN)[:, :, support]
    close = dict(rtol=0, atol=1e-10 * np.abs(A).sum() * max(np.abs(N).max(), 1.0))
    for one in (predictor, pickle.loads(pickle.dumps(predictor))):
        np.testing.assert_allclose(one.parts(new, A, theta), np.einsum("tm,mij,tj->tim", theta, N, A), **close)
        np.testing.assert_allclose(one.decision(new, A, theta), np.einsum("tm,mij,tj->ti", theta, N, A), **close)
    np.testing.assert_allclose(predictor.combined(new, theta[0]), np.tensordot(theta[0], N, 1), **close)
    G = scale[:, None, None] * naive(normalize, combine, NEW, NEW)
    np.testing.assert_allclose(predictor.gram(new, theta=theta[0]), np.tensordot(theta[0], G, 1), **close)
    found = predictor.gram(new, new[np.array([6, 1, 2])], theta[1])
    np.testing.assert_allclose(found, np.tensordot(theta[1], G, 1)[:, [6, 1, 2]], **close)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
def test_a_saved_model_of_objects_that_lack_a_view_predicts_the_same(normalize, tmp_path):
    y = np.nan_to_num(LEFT["v"][TRAIN.index[:, 0], 0]) + RIGHT[TRAIN.index[:, 1], 1]
    y += 0.01 * np.arange(len(y))
    model = MKLRegressor(Pairwise(OWN, OTHER), C=1.0, normalize=normalize).fit(TRAIN, y)
    model.save(tmp_path / "model")
    np.testing.assert_allclose(load(tmp_path / "model").predict(NEW), model.predict(NEW), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:kernels without variance")
def test_a_part_of_a_bank_of_pairs_knows_which_of_its_kernels_vary():
    flat = Pairs(TRAIN.index, np.column_stack([np.ones(12), np.nan_to_num(LEFT["v"])]), RIGHT)
    bank = Pairwise([("flat", Linear(), [0]), ("v", RBF(0.2), [1, 2])], [("one", Linear(), [0]), RBF(0.3)], "sum").bank(
        flat
    )
    assert bank.usable.tolist() == [False, True, True, True]
    rows = np.arange(3, 20)
    for kernels in (None, np.array([2, 0, 1]), np.array([0])):
        some = np.arange(4) if kernels is None else kernels
        part = bank.restrict(rows, kernels)
        assert part.usable.tolist() == bank.usable[some].tolist() and part.names == [bank.names[m] for m in some]
        np.testing.assert_array_equal(part.scale, bank.scale[some])
        np.testing.assert_array_equal(part.diagonals(), bank.diagonals()[np.ix_(some, rows)])
        A = rng.normal(size=(2, 5))
        support = np.array([1, 2, 8, 9, 15])
        np.testing.assert_allclose(part.products(A, support), bank.products(A, rows[support], rows, some), atol=1e-10)


@pytest.mark.parametrize("side", ["left", "right"])
def test_matrices_that_are_not_symmetric_or_not_finite_are_refused_by_side_and_name(side):
    A, B = (np.stack(part) for part in objects())
    index = TRAIN.index
    for change, words in ((0.5, "not symmetric"), (np.nan, "NaN or infinity")):
        wrong = {"left": A.copy(), "right": B.copy()}
        wrong[side][1, 2, 4] += change
        stacks = [KernelStack(wrong[name], names=["first", "second"]) for name in ("left", "right")]
        with pytest.raises(ValueError, match=f"kernel 'second' of {side}.*{words}"):
            Pairwise("precomputed", "precomputed").bank(Pairs(index, *stacks))


def test_words_and_categories_of_a_side_are_those_of_their_objects():
    """A side of strings and one of categories, in an order in which objects come later than they are used."""
    texts, kinds = ["ACGT", "CCGT", "ACGA", "GGTA", "TTAC"], np.array([["x"], ["y"], ["x"], ["z"]], object)
    index = np.array([(4, 1), (0, 0), (3, 2), (1, 1), (4, 3), (0, 2), (2, 0)])
    pairs = Pairs(index, np.array(texts, object), kinds)
    bank = Pairwise([Spectrum(2)], [Categorical()]).bank(pairs, normalize=None)
    count = np.array([[t[k : k + 2] for k in range(3)] for t in texts])
    words = np.array([[sum(a == b for a in s for b in t) for t in count] for s in count], float)
    equal = (kinds == kinds.T).astype(float)
    expected = words[np.ix_(index[:, 0], index[:, 0])] * equal[np.ix_(index[:, 1], index[:, 1])]
    np.testing.assert_allclose(bank.combined(np.ones(1)), expected, atol=1e-12)
    some = np.array([2, 4, 6])
    found = bank.predictor(some).combined(pairs, np.ones(1))
    np.testing.assert_allclose(found, expected[:, some], atol=1e-12)
