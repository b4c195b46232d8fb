"""Kernel matrices shared by the folds of a search: their precision, their room in memory, their values."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators import shared_kernels as room
from manykernels.kernels import RBF, Laplacian
from manykernels.strings import Mismatch

rng = np.random.default_rng(3)
X = rng.normal(size=(48, 3))
Y = np.sin(2 * X[:, 0]) + 0.2 * rng.normal(size=48)
KERNELS = [RBF(0.3), Laplacian(0.5), RBF(2.0)]
ENTRIES = 3 * 48**2


def matrices(model):
    found = room.SharedKernels(X)
    whole, origin = found.of(model, X, None)
    return found, whole, origin


@pytest.mark.parametrize(
    "most, tol, precise", [(ENTRIES, 1e-2, True), (ENTRIES - 1, 1e-2, False), (0, 1e-3, False), (0, 0.99e-3, True)]
)
def test_small_matrices_and_small_gaps_have_float64(most, tol, precise, monkeypatch):
    monkeypatch.setattr(room, "MAX_FLOAT64_VALUES", most)
    found, whole, origin = matrices(MKLRegressor(KERNELS, C=1.0, tol=tol, normalize=None))
    assert whole.dtype == (np.float64 if precise else np.float32) and found.origin is origin and whole.M == 3
    kept = [whole.matrix(theta, None, np.float64, False) for theta in np.eye(3)]
    for m, kernel in enumerate(KERNELS):
        np.testing.assert_allclose(kept[m], kernel(X), rtol=1e-6 if precise else 1e-5)
    size = (3 * whole.dtype.itemsize + 2 * 12) * 48**2
    share = room.MemoryBudget(None).share("matrices of folds")
    copies = int(share // size)
    assert found.has_room_for(copies, 2) and not found.has_room_for(copies + 1, 2)
    assert not room.SharedKernels(X).has_room_for(1)


def test_a_path_in_float32_is_that_in_float64(monkeypatch):
    model = MKLRegressor(KERNELS, C=1.0)
    plain = model.path(X, Y, Cs=[0.1, 1.0])
    monkeypatch.setattr(room, "MAX_FLOAT64_VALUES", 0)
    short = model.path(X, Y, Cs=[0.1, 1.0])
    np.testing.assert_allclose(short.objective, plain.objective, rtol=2e-3)
    np.testing.assert_allclose(short.score, plain.score, atol=0.02)
    assert short.duality_gap.max() <= 1e-3


def test_matrices_that_have_no_room_are_refused_once():
    small = MKLRegressor(KERNELS, C=1.0, memory_limit="10KB")
    found, whole, origin = matrices(small)
    assert found.refused and whole is None and origin is None
    assert found.of(MKLRegressor(KERNELS, C=1.0), X, None) == (None, None)
    assert room.shared_by_samples(small, X, np.arange(40)) is None
    assert room.shared_by_samples(MKLRegressor(KERNELS, C=1.0), X, np.arange(40)).whole.n == 48


def test_matrices_are_computed_again_for_other_kernels_only():
    found = room.SharedKernels(X)
    one, bank = found.of(MKLRegressor(KERNELS, C=1.0), X, None)
    same, again = found.of(MKLRegressor(KERNELS, C=5.0), X[:40], None)
    assert same is one and again.sides is bank.sides
    other, _ = found.of(MKLRegressor([RBF(0.3), Laplacian(0.5), RBF(2.5)], C=1.0), X, None)
    assert other is not one
    scaled, _ = found.of(MKLRegressor([RBF("scale")], C=1.0), X[:20], None)
    assert found.of(MKLRegressor([RBF("scale")], C=1.0), X[:30], None)[0] is not scaled


def test_each_fold_keeps_the_facts_of_its_own_examples():
    sizes = [10] * 15 + [14] * 15
    words = np.array(["".join(np.random.default_rng(k).choice(list("ACGT"), size)) for k, size in enumerate(sizes)])
    model = MKLClassifier([Mismatch(3, 1), Mismatch(4, 1)], C=1.0)
    found = room.SharedKernels(model._check_X(words, reset=True))
    folds = [found.of(model, room.take_examples(found.X, rows), None) for rows in (np.arange(15), np.arange(15, 30))]
    assert folds[0][0] is folds[1][0]  # the matrices
    assert [bank.kernel_list.training_facts.lengths for _, bank in folds] == [[(10, 10)], [(14, 14)]]
