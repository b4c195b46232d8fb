"""Sums over blocks, slices of slices and chosen widths against plain loops over examples and entries."""

import numpy as np
import pandas as pd
import pytest

from manykernels import KernelStack, Views
from manykernels.banks import DenseBank
from manykernels.kernels import (
    RBF,
    Linear,
    Polynomial,
    normalize,
    rbf_grid,
)
from manykernels.kernels.auto import choose_kernels

rng = np.random.default_rng(17)
X = rng.normal(size=(14, 3))
KERNELS = np.stack([RBF(0.4)(X), Polynomial(2)(X), Linear()(X[:, :1])])


def centred(K, w):
    """(I − 1 wᵀ/W) K (I − w 1ᵀ/W)."""
    P = np.eye(len(w)) - np.outer(np.ones(len(w)), w) / w.sum()
    return P @ K @ P.T


@pytest.mark.parametrize("entries", [1, 60, 10**6])  # rows at a time: one, a few, all
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("kernels", [None, [2, 0]])
def test_centred_products_are_those_of_whole_matrices(entries, weighted, kernels, monkeypatch):
    monkeypatch.setattr(normalize, "BLOCK_ENTRIES", entries)
    bank = DenseBank(np.moveaxis(KERNELS, 0, 2), normalize=None)
    w = rng.integers(0, 4, 14).astype(float) if weighted else np.ones(14)
    Y = rng.normal(size=(2, 14))
    own = [centred(K, w) for K in KERNELS[slice(None) if kernels is None else kernels]]
    Z = Y - (Y @ w / w.sum())[:, None]
    L, both = Z.T @ Z, np.outer(w, w)
    grams = np.array([[np.sum(both * A * B) for B in own] for A in own])
    for pairs in (True, False):
        found = normalize.centred_products(bank, Y, w if weighted else None, pairs, kernels)
        np.testing.assert_allclose(found[0], [np.sum(both * A * L) for A in own], rtol=1e-6)
        np.testing.assert_allclose(found[1], grams if pairs else grams.diagonal(), rtol=1e-6, atol=1e-9)
        assert found[2] == pytest.approx(np.sum(both * L * L))


def test_alignments_centre_both_sides():
    K, y = KERNELS[1], rng.normal(size=14) + 3
    A, z = centred(K, np.ones(14)), y - y.mean()
    assert normalize.alignment(K, y, True) == pytest.approx(z @ A @ z / (np.linalg.norm(A) * (z @ z)))
    B = centred(KERNELS[0], np.ones(14))
    assert normalize.alignment(K, KERNELS[0], True) == pytest.approx(
        np.sum(A * B) / np.linalg.norm(A) / np.linalg.norm(B)
    )
    np.testing.assert_allclose(
        normalize.target_alignments(KERNELS, y, True), [normalize.alignment(k, y, True) for k in KERNELS]
    )
    assert normalize.alignment(K, y) == pytest.approx(y @ K @ y / (np.linalg.norm(K) * (y @ y)))


def test_slices_of_slices_of_files_are_those_of_the_array(tmp_path):
    np.save(tmp_path / "k.npy", KERNELS)
    for k, K in enumerate(KERNELS):
        np.save(tmp_path / f"{k}.npy", K)
    array = np.moveaxis(KERNELS, 0, 2)
    first, second, cols = np.array([3, 9, 1, 4, 5, 6, 13]), np.array([5, 0, 2, 2]), np.array([7, 2, 11])
    for paths in (tmp_path / "k.npy", [tmp_path / f"{k}.npy" for k in range(3)]):
        stack = KernelStack.from_files(paths, names=["a", "b", "c"])
        cut = stack[first][second][:, cols][:, [2, 0]][..., [2, 0]]
        np.testing.assert_array_equal(np.asarray(cut), array[first][second][:, cols][:, [2, 0]][..., [2, 0]])
        assert cut.names == ["c", "a"]
        np.testing.assert_array_equal(
            cut.test_diagonals, KERNELS[[2, 0]].diagonal(axis1=1, axis2=2)[:, first][:, second]
        )
        square = stack[first].square()
        np.testing.assert_array_equal(np.asarray(square), array[np.ix_(first, first)])
        again = square[second].square()
        np.testing.assert_array_equal(np.asarray(again), array[np.ix_(first[second], first[second])])
        whole = KernelStack.from_files(paths)
        before = whole.passes
        np.asarray(whole)
        assert whole.passes == pytest.approx(before + 1)  # bytes in multiples of all matrices


def test_a_copy_of_an_example_has_the_columns_of_its_original():
    stack = KernelStack(KERNELS, ["a", "b", "c"])
    twice = stack[[4, 4, 9]].square()
    np.testing.assert_array_equal(twice.matrices, KERNELS[:, [4, 4, 9]][:, :, [4, 4, 9]])
    assert twice.where(np.array([9, 4])).tolist() == [2, 0]


def test_a_grid_lies_around_the_median_of_its_columns_and_of_the_examples_that_are_there():
    have = np.array([0, 2, 3, 5, 6, 8, 9, 10, 12])
    views = Views({"a": X[:, :1], "b": X[have] * [1, 5, 9]}, ids={"a": range(14), "b": have.tolist()})
    weights = rng.integers(1, 4, 14)

    def middle(x, copies):
        x = np.repeat(x, copies, axis=0)
        number = np.repeat(np.arange(len(copies)), copies)
        return np.median(
            [np.sum((x[i] - x[j]) ** 2) for i in range(len(x)) for j in range(i) if number[i] != number[j]]
        )

    for columns, x, copies in (("b", views["b"], weights[have]), (("b", [1]), views["b"][:, [1]], weights[have]),
                               ("a", X[:, :1], weights)):  # fmt: skip
        for given, own in ((weights, copies), (None, np.ones(len(x), int))):
            found = [spec.kernel.gamma for spec in rbf_grid(views, columns=columns, n=3, ratio=4.0, weights=given)]
            np.testing.assert_allclose(found, np.array([0.25, 1.0, 4.0]) / middle(x, own), rtol=1e-6)


def test_columns_of_a_view_are_judged_by_the_examples_that_have_it():
    """The numbers of its own rows stay such where other examples lack the view."""
    have = np.setdiff1d(np.arange(40), np.arange(3, 33, 3))
    table = pd.DataFrame({"row": np.arange(30), "x": rng.normal(size=30), "id": [f"p{k}" for k in range(30)]})
    views = Views({"a": rng.normal(size=(40, 2)), "t": table}, ids={"a": range(40), "t": have.tolist()})
    specs, said, _ = choose_kernels(views)
    assert [spec.columns for spec in specs if spec.columns != "a"] == [("t", ["x"])] * 6
    assert "left out 'row' (numbers of the rows)" in said and "left out 'id' (30 different texts" in said
