"""Predictions with less: other weights on the same coefficients, reduced sets in any unit, states of low rank."""

import numpy as np
import pytest

from manykernels.banks import PairwiseBank
from manykernels.banks.choice import explicit_bank
from manykernels.banks.compact import CompactPredictor, ReducedSet
from manykernels.kernels import RBF, KernelList, KernelStack, Linear, RandomFeatures
from manykernels.pairs import Pairs, Pairwise

rng = np.random.default_rng(6)
X = rng.normal(size=(30, 4))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_compact_predictor_takes_other_weights_and_coefficients_in_turn(dtype):
    specs = [("line", Linear(), [0, 1]), ("other", Linear(), [2, 3]), ("rbf", RBF(0.3))]
    bank = PairwiseBank(KernelList.from_spec(specs, X), X, dtype=np.float64, normalize="spherical")
    whole, rows = bank.predictor(np.arange(20)), np.array([1, 4, 5, 17])
    compact = CompactPredictor.of(whole, rows, dtype)
    A = rng.normal(size=(2, 4))
    every = np.zeros((2, 20))
    every[:, rows] = A
    for theta in (np.array([1.0, 0.2, 0.5]), np.array([0.1, 3.0, 0.5]), np.array([1.0, 0.2, 0.5]), np.zeros(3)):
        for scale in (1.0, -2.0, 1.0):
            found, expected = compact.decision(X, scale * A, theta), whole.decision(X, scale * every, theta)
            np.testing.assert_allclose(found, expected, atol=1e-4 if dtype == np.float32 else 1e-11)


def test_a_reduced_set_does_not_depend_on_the_unit_of_each_decision():
    K = np.exp(-0.2 * ((X[:, None] - X) ** 2).sum(axis=2))
    A, span = rng.normal(size=(2, 30)) * np.arange(30)[::-1] ** 2, np.array([3.0, 5.0])
    A[1] = A[1, ::-1]
    for grams in ([K], [K, K**2]):
        one = ReducedSet(grams, A, span, 1e-4)
        for unit in (np.array([1.0, 1e4]), np.array([1e4, 1.0])):
            other = ReducedSet(grams, A * unit[:, None], span * unit, 1e-4)
            np.testing.assert_array_equal(other.order[:8], one.order[:8])
            np.testing.assert_allclose(other.norms(8), one.norms(8) * unit, rtol=1e-5)
            np.testing.assert_allclose(other.coefficients(8), one.coefficients(8) * unit[:, None], rtol=1e-4)


def test_a_state_of_low_rank_fits_its_kernels_and_its_examples():
    gaps = X.copy()
    gaps[[2, 7], 0] = np.nan
    specs = [
        ("a", RandomFeatures(RBF(0.3), 4, random_state=1), [0, 1], "zero"),
        ("b", RandomFeatures(RBF(1.0), 6), [2]),
    ]
    bank = explicit_bank(KernelList.from_spec(specs, gaps), gaps)
    state, A = bank.to_state(), rng.normal(size=(1, 30))
    again = type(bank).from_state(dict(state))
    np.testing.assert_allclose(
        again.predictor(np.arange(30)).parts(gaps, A, np.ones(2)),
        bank.predictor(np.arange(30)).parts(gaps, A, np.ones(2)), rtol=1e-12,
    )  # fmt: skip
    lacking = next(k for k, view in enumerate(state["seen"]) if view["present"] is not None)
    first, present = state["first"], state["seen"][lacking]["present"]
    for wrong in (present[:-1], present.astype(float), np.ones((30, 1), bool)):
        seen = [view | {"present": wrong} if k == lacking else view for k, view in enumerate(state["seen"])]
        with pytest.raises(ValueError, match="present"):
            type(bank).from_state(state | {"seen": seen})
    for bad in (np.array([0, 6, 10]), np.array([0, 4, 12]), np.array([0, 10])):
        with pytest.raises(ValueError, match="first"):
            type(bank).from_state(state | {"first": bad.astype(first.dtype)})


def test_a_correction_from_a_file_knows_the_objects_of_its_side():
    K = rng.normal(size=(1, 6, 6))
    K = K + K.swapaxes(1, 2)
    pairs = Pairs(np.array([(i, j) for i in range(6) for j in range(3)]), KernelStack(K), X[:3])
    bank = Pairwise("precomputed", [RBF(0.3)], psd="clip").bank(pairs)
    side = bank.predictor(np.arange(18)).left
    state = side.to_state()
    assert type(side).from_state(dict(state)).spectra.objects.tolist() == list(range(6))
    spectra = state["spectra"]
    fewer = spectra | {"known": spectra["known"][1:], "removed": [U[1:] for U in spectra["removed"]]}
    with pytest.raises(ValueError, match="objects"):
        type(side).from_state(state | {"spectra": fewer})
