"""String kernels in the on-the-fly bank: as their matrices, one walk for a whole list."""

import numpy as np
import pytest

from manykernels import strings as ms
from manykernels.banks.dense import DenseBank
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import KernelList


@pytest.mark.slow
def test_common_words_of_long_strings_are_counted_beyond_31_bits():
    from manykernels.banks.words.linadd import WordBank

    strings = ["A" * 47_000, "A" * 47_000, "CCC"]  # the last one gives the kernel its variance
    bank = WordBank.from_list(KernelList.from_spec([ms.Spectrum(3)], strings), strings, normalize=None)
    np.testing.assert_array_equal(bank.block(np.arange(2), np.ones(1)), np.full((2, 2), 46_998.0**2))


def test_short_sequences_are_walked_again_rather_than_kept_as_matrices():
    """A walk over 60 letters gives twenty sums sooner than twenty matrices are written."""
    rng = np.random.default_rng(0)
    for length, degrees, kept in ((60, 20, False), (600, 3, True)):
        X = ["".join(rng.choice(list("ACGT"), length)) for _ in range(8)]
        kernels = KernelList.from_spec([ms.WeightedDegree(d) for d in range(1, degrees + 1)], X)
        assert isinstance(PairwiseBank(kernels, X).restrict(np.arange(8)), DenseBank) == kept
