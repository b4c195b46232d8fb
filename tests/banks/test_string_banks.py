"""String kernels in the on-the-fly bank: as their matrices, one walk for a whole list."""

import numpy as np
import pytest
from naive_strings import matrix
from string_lists import X

from manykernels import strings as ms
from manykernels.banks.dense import DenseBank
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import KernelList, multi_task
from manykernels.kernels.tasks import Tasked


def test_multi_task_kernels_of_strings():
    task = np.repeat(["worm", "fly"], 30)
    kernels = multi_task([ms.Degree(2), ms.WeightedDegree(3), ms.Spectrum(2)])
    list_ = KernelList.from_spec(kernels, Tasked(X, task))
    bank = PairwiseBank(list_, Tasked(X, task), normalize=None, dtype=np.float64)
    same = (task[:, None] == "fly") & (task == "fly")
    for m, name in enumerate(bank.names):
        K = matrix(list_.kernels[m], X)
        expected = (
            K if "shared" in name else K * same if "fly" in name else K * np.outer(task == "worm", task == "worm")
        )
        np.testing.assert_allclose(bank.combined(np.eye(bank.M)[m]), expected, atol=1e-12)
    one = KernelList.from_spec(multi_task([ms.Degree(2)], one_parameter=True), Tasked(X, task))
    bank = PairwiseBank(one, Tasked(X, task), normalize=None, dtype=np.float64)
    expected = 2 * matrix(ms.Degree(2), X) * (task[:, None] == task)
    np.testing.assert_allclose(bank.combined([0.0, 1.0]), expected, atol=1e-12)
    np.testing.assert_allclose(bank.diagonals()[1], np.diag(expected))
    np.testing.assert_allclose(bank.products(np.ones((1, 60)), np.arange(60))[0, 1], expected.sum(axis=1))


@pytest.mark.slow
def test_common_words_of_long_strings_are_counted_beyond_31_bits():
    from manykernels.banks.words.linadd import WordBank

    strings = ["A" * 47_000, "A" * 47_000, "CCC"]  # the last one gives the kernel its variance
    bank = WordBank.from_list(KernelList.from_spec([ms.Spectrum(3)], strings), strings, normalize=None)
    np.testing.assert_array_equal(bank.block(np.arange(2), np.ones(1)), np.full((2, 2), 46_998.0**2))


def test_short_sequences_are_walked_again_rather_than_kept_as_matrices():
    """Issue 13, build point 4: a walk over 60 letters gives twenty sums sooner than twenty matrices are written."""
    rng = np.random.default_rng(0)
    for length, degrees, kept in ((60, 20, False), (600, 3, True)):
        X = ["".join(rng.choice(list("ACGT"), length)) for _ in range(8)]
        kernels = KernelList.from_spec([ms.WeightedDegree(d) for d in range(1, degrees + 1)], X)
        assert isinstance(PairwiseBank(kernels, X).restrict(np.arange(8)), DenseBank) == kept
