"""The look-up of words at their positions in the support, against the kernels themselves."""

import numpy as np
import pytest
from naive_strings import matrix

from manykernels.banks.words import degree_predictor
from manykernels.banks.words.degree import DegreeBank
from manykernels.kernels import KernelList
from manykernels.sequences import Sequences
from manykernels.strings import WeightedDegree, degree_kernels, position_kernels


def texts(alphabet, n, length, seed, unknown):
    """Sequences with few changes between them, so that they share words of every length."""
    rng = np.random.default_rng(seed)
    letters = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}[alphabet]
    found = np.repeat(np.random.default_rng(0).choice(list(letters), (3, length)), n // 3, axis=0)
    change = rng.random(found.shape) < rng.choice([0.01, 0.1, 0.5], (len(found), 1))
    found[change] = rng.choice(list(letters), change.sum())
    if unknown:
        found[rng.random(found.shape) < 0.03] = {"dna": "N", "protein": "X"}[alphabet]
    return Sequences.encode(["".join(row) for row in found], alphabet, unknown="ignore" if unknown else "error")


@pytest.mark.parametrize("alphabet, d, length", [("dna", 6, 30), ("dna", 20, 40), ("dna", 50, 60), ("protein", 25, 30)])
@pytest.mark.parametrize("unknown", [(False, False), (False, True), (True, False), (True, True)])
def test_a_look_up_is_the_sum_over_the_support(alphabet, d, length, unknown, monkeypatch):
    """Words of 50 letters are longer than one number holds, behind those in a table."""
    support = texts(alphabet, 240, length, 1, unknown[0])
    new = texts(alphabet, 60, length, 2, unknown[1])
    kernels = KernelList.from_spec([WeightedDegree(d, alphabet=alphabet)], support)
    bank = DegreeBank.from_list(kernels, support, normalize=None)
    predictor, a = bank.predictor(np.arange(len(support))), np.random.default_rng(3).normal(size=(1, len(support)))
    a[0, ::9] = 0
    naive = a @ kernels.kernels[0](support, new)
    size = np.abs(a) @ np.abs(kernels.kernels[0](support, new))
    for room, tile, words in ((2**24, 2**15, 2**18), (0, 7, 2**18), (0, 2**15, 4), (2**24, 25, 64)):
        monkeypatch.setattr(degree_predictor, "NEW_SEQUENCES_PER_TILE", tile)
        monkeypatch.setattr(degree_predictor, "MAX_SUPPORT_WORDS", words)
        found = predictor.prepared(a, np.ones(1), room)(new)
        assert np.all(np.abs(found - naive) <= 1e-12 * size)


@pytest.mark.parametrize("degree, block", [(1, 1), (1, 2), (3, 1)])
def test_kernels_of_positions_differ_even_if_their_words_count_alike(degree, block):
    rng = np.random.default_rng(3)
    X = ["".join(rng.choice(list("ACGT"), 6)) for _ in range(12)]
    kernels = KernelList.from_spec(position_kernels(6, degree, block=block), X)
    bank, theta = DegreeBank.from_list(kernels, X, normalize=None), np.arange(1.0, kernels.M + 1) ** 2
    expected = np.einsum("m,mij->ij", theta, [matrix(kernel, X) for kernel in kernels.kernels])
    np.testing.assert_allclose(bank.combined(theta), expected, rtol=1e-6)
    np.testing.assert_allclose(bank.block(np.arange(12), theta), expected, rtol=1e-6)


def test_what_is_gathered_keeps_to_its_room():
    support = texts("dna", 3000, 50, 1, False)
    bank = DegreeBank.from_list(KernelList.from_spec(degree_kernels(12), support), support, normalize=None)
    predictor, a = bank.predictor(np.arange(len(support))), np.ones(len(support))
    for room in (2**18, 2**20, 2**24):
        walk = degree_predictor.SupportWalk(predictor.sequences, a, bank.coef, np.zeros_like(bank.kern), 1, room, 1)
        held = walk._gathered(slice(0, min(walk.step, 50)))
        size = sum(array.nbytes for place in held for array in place)
        assert size <= room or walk.step == 1
        assert (walk.kept is None) == (room < 2**24)
