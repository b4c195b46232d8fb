"""String kernels in the on-the-fly bank: as their matrices, one walk for a whole list."""

import numpy as np
import pytest
from naive_kernels import normalised
from naive_strings import matrix
from string_lists import LISTS, NEW, SOME_N, X, acceptors

from manykernels import strings as ms
from manykernels.banks.dense import DenseBank
from manykernels.banks.pairwise import PairwiseBank
from manykernels.kernels import Identity, KernelList, multi_task
from manykernels.kernels.tasks import Tasked

TOLERANCE = {np.float32: 3e-6, np.float64: 1e-11}
EVERY_LIST = pytest.mark.parametrize("kernels", LISTS.values(), ids=LISTS)


def close(actual, expected, dtype=np.float64, size=None):
    np.testing.assert_allclose(actual, expected, rtol=0, atol=TOLERANCE[dtype] * (size or np.abs(expected).max()))


def stacks(kernels, X, normalize, weights=None, new=None):
    """The normalised stacks (M, n, n) and (M, n_new, n), whole matrices one by one."""
    X, new = (ms.Sequences.encode(strings) for strings in (X, X[:1] if new is None else new))
    train, test = [], []
    for kernel in kernels.kernels:
        how = None if kernel.exempt else normalize
        K, scale, factor = normalised(kernel(X), how, weights)
        own = kernel.diag(new) if not isinstance(kernel, Identity) else np.zeros(len(new))
        own = 1 / np.sqrt(own) if how == "spherical" else np.ones(len(new))
        train.append(K)
        test.append(scale * own[:, None] * kernel(new, X) * factor)
    return np.array(train), np.array(test)


@pytest.mark.parametrize("dtype", TOLERANCE)
@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
@EVERY_LIST
def test_the_bank_equals_the_matrices(kernels, normalize, dtype):
    rng = np.random.default_rng(0)
    kernels, w = KernelList.from_spec(kernels, SOME_N), rng.integers(1, 4, size=60).astype(float)
    bank = PairwiseBank(kernels, SOME_N, weights=w, normalize=normalize, dtype=dtype)
    S, N = stacks(kernels, SOME_N, normalize, w, NEW)
    theta, rows, cols = rng.random(bank.M), rng.permutation(60)[:11], np.arange(5, 29)
    theta[1] = 0
    A, some = rng.normal(size=(2, cols.size)), np.array([2, 0])
    close(bank.diagonals(), np.einsum("mii->mi", S), dtype)
    close(bank.combined(theta), np.tensordot(theta, S, 1), dtype)
    close(bank.combined(theta, rows, cols), np.tensordot(theta, S, 1)[np.ix_(rows, cols)], dtype)
    shifted = np.tensordot(theta, S, 1) - bank.combined(theta, shifted=True)
    assert np.ptp(shifted) < 100 * TOLERANCE[dtype] * np.abs(S).max()
    size = np.abs(S).max() * np.abs(A).sum()
    close(bank.products(A, cols), np.einsum("mij,tj->tmi", S[:, :, cols], A), dtype, size)
    close(bank.products(A, cols, rows, some), np.einsum("mij,tj->tmi", S[some][:, rows][:, :, cols], A), dtype, size)
    part = bank.restrict(np.arange(3, 40))
    close(part.combined(theta), np.tensordot(theta, S, 1)[3:40, 3:40], dtype)
    cross, thetas = bank.predictor(cols), np.stack([theta, rng.random(bank.M)])
    parts = np.einsum("mij,tj->tim", N[:, :, cols], A)
    close(cross.combined(NEW, theta), np.tensordot(theta, N[:, :, cols], 1), dtype)
    close(cross.decision(NEW, A, thetas), np.einsum("tim,tm->ti", parts, thetas), dtype, size)
    close(cross.parts(NEW, A, thetas), parts * thetas[:, None], dtype, size)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical"])
@EVERY_LIST
def test_a_small_memory_limit_changes_nothing(kernels, normalize):
    strings = acceptors(300)[0]
    kernels = KernelList.from_spec(kernels, strings)
    theta = np.linspace(1, 2, kernels.M)
    wide = PairwiseBank(kernels, strings, dtype=np.float64, normalize=normalize)
    tight = PairwiseBank(kernels, strings, dtype=np.float64, normalize=normalize, memory_limit=700_000)
    np.testing.assert_allclose(tight.combined(theta), wide.combined(theta), rtol=1e-12)
    a, every = np.ones((1, 300)), np.arange(300)
    np.testing.assert_allclose(tight.products(a, every), wide.products(a, every), rtol=1e-12)
    with pytest.raises(ValueError, match="memory_limit"):
        PairwiseBank(kernels, strings, memory_limit=10_000)


@pytest.mark.parametrize("builder", [lambda d: ms.degree_kernels(d), lambda d: ms.position_kernels(20, 3, 20 // d)])
def test_all_kernels_of_a_list_cost_one_walk_per_pair(builder, monkeypatch):
    from manykernels.loops import strings as loops

    pairs = []
    for name in ("add_degrees", "add_positions", "sum_degrees", "sum_positions"):
        loop = getattr(loops, name)

        def counted(x, Y, *rest, loop=loop):
            pairs.append(len(x) * Y.shape[2])
            return loop(x, Y, *rest)

        monkeypatch.setattr(loops, name, counted)
    walked = []
    for d in (2, 20):
        bank = PairwiseBank(KernelList.from_spec(builder(d), X), X)
        pairs.clear()
        bank.combined(np.ones(bank.M), np.arange(30), np.arange(30, 60))
        bank.products(np.ones((1, 60)), np.arange(60))
        walked.append(sum(pairs))
    assert walked == [900 + 3600] * 2


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


@pytest.mark.filterwarnings("ignore:all .* letters are bases, and proteins are compared")
def test_predictions_from_words_longer_than_one_number_holds():
    """Proteins: three letters of a word are a table's, twelve those of a number, the others are compared."""
    from manykernels.banks.words.degree import DegreeBank

    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("AC"), 24)) for _ in range(40)]
    texts = [*texts, *(text[:20] + "XC" + text[22:] for text in texts[:5]), *texts[:3]]
    kernels = KernelList.from_spec([ms.WeightedDegree(20, alphabet="protein")], texts)
    bank, a = DegreeBank.from_list(kernels, texts, normalize=None), rng.normal(size=(1, len(texts)))
    found = bank.predictor(np.arange(len(texts))).decision(texts[::-1], a, np.ones(1))
    expected = ms.WeightedDegree(20, alphabet="protein")(texts[::-1], texts) @ a[0]
    np.testing.assert_allclose(found[0], expected, rtol=1e-10)


def test_short_sequences_are_walked_again_rather_than_kept_as_matrices():
    """Issue 13, build point 4: a walk over 60 letters gives twenty sums sooner than twenty matrices are written."""
    rng = np.random.default_rng(0)
    for length, degrees, kept in ((60, 20, False), (600, 3, True)):
        X = ["".join(rng.choice(list("ACGT"), length)) for _ in range(8)]
        kernels = KernelList.from_spec([ms.WeightedDegree(d) for d in range(1, degrees + 1)], X)
        assert isinstance(PairwiseBank(kernels, X).restrict(np.arange(8)), DenseBank) == kept
