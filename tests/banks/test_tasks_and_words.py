"""Tasks that new examples do not share, words too long for tables, unknown letters: banks against their stack."""

import numpy as np
import pytest

from manykernels.banks import DenseBank, PairwiseBank, _tiled_sums
from manykernels.banks.choice import explicit_bank
from manykernels.banks.dense import SumBank
from manykernels.banks.words import degree
from manykernels.banks.words.degree import DegreeBank
from manykernels.kernels import RBF, Constant, Fitted, Kernel, KernelList, Linear, multi_task
from manykernels.kernels.tasks import Tasked
from manykernels.strings import Degree, Mismatch, Sequences, Spectrum

rng = np.random.default_rng(2)
NORMALIZE = ["multiplicative", "spherical", "trace", None]


def on_sphere(K):
    d = np.einsum("mii->mi", K)
    root = np.divide(1.0, np.sqrt(d), out=np.zeros_like(d), where=d > 0)
    return K * root[:, :, None] * root[:, None]


def product(A, B):
    return A @ B.T


@pytest.mark.parametrize("compiled", [False, True], ids=["", "compiled"])
@pytest.mark.parametrize("one_parameter", [False, True])
@pytest.mark.parametrize("normalize", NORMALIZE)
def test_examples_of_unknown_tasks_have_the_shared_kernels_alone(normalize, one_parameter, compiled, monkeypatch):
    """Two of them are of one new task, and not of the same task; k(x, x) of their task kernels is 0."""
    if compiled:
        monkeypatch.setattr(_tiled_sums, "few", lambda *size: False)
    X, n = rng.normal(size=(33, 3)), 24
    X[[1, 5, 27], 2] = np.nan
    here = ~np.isnan(X[:, 2])
    task = np.array(list("abc"))[rng.integers(0, 3, 33)]
    task[:3], task[[25, 26, 30]] = list("abc"), ["new", "new", "old"]
    w = np.arange(n) % 3 + 1.0
    bases = [("rbf", RBF(0.3), [0, 1]), ("line", Linear(), [0, 2], "zero"), ("own", product, [1])]
    old, new = Tasked(X[:n], task[:n]), Tasked(X[n:], task[n:])
    kernels = KernelList.from_spec(multi_task(bases, one_parameter), old)
    bank = PairwiseBank(kernels, old, dtype=np.float64, normalize=normalize, weights=w)
    Z = np.where(np.isnan(X), 0.0, X)
    plain = [RBF(0.3)(X[:, :2]), Linear()(Z[:, [0, 2]]) * np.outer(here, here), product(X[:, 1:2], X[:, 1:2])]
    each = [np.outer(task == t, task == t) for t in "abc"]
    S = np.stack(
        [K * mask for K in plain for mask in ([1.0, 3.0 * np.sum(each, axis=0)] if one_parameter else [1.0, *each])]
    )
    S = on_sphere(S) if normalize == "spherical" else S
    p = w / w.sum()
    diagonal, mean = np.einsum("mii->mi", S)[:, :n] @ p, np.einsum("mij,i,j->m", S[:, :n, :n], p, p)
    scale = 1.0 / {"multiplicative": diagonal - mean, "trace": diagonal}.get(normalize, np.ones(len(S)))
    S *= scale[:, None, None]
    np.testing.assert_allclose(bank.scale, scale, rtol=1e-9)
    theta, A, support = np.linspace(0.3, 1.2, bank.M), rng.normal(size=(2, 12)), np.arange(0, n, 2)
    K, close = np.tensordot(theta, S, 1), dict(rtol=0, atol=1e-9 * np.abs(S).max())
    np.testing.assert_allclose(bank.combined(theta), K[:n, :n], **close)
    np.testing.assert_allclose(bank.diagonals(), np.einsum("mii->mi", S)[:, :n], **close)
    np.testing.assert_allclose(bank.products(A, support), np.einsum("mij,tj->tmi", S[:, :n, support], A), **close)
    predictor = bank.predictor(support)
    np.testing.assert_allclose(
        predictor.parts(new, A, theta), np.einsum("m,mij,tj->tim", theta, S[:, n:, support], A), **close
    )
    np.testing.assert_allclose(predictor.decision(new, A, theta), A @ K[n:, support].T, **close)
    np.testing.assert_allclose(predictor.gram(new, theta=theta), K[n:, n:], **close)
    np.testing.assert_allclose(predictor.diagonal(new, theta), np.diagonal(K)[n:], **close)


@pytest.mark.parametrize("normalize", ["multiplicative", "trace", None])
@pytest.mark.parametrize("alike", [0.0, 0.9])
def test_words_that_are_too_long_for_a_table_count_as_in_the_stack(normalize, alike, monkeypatch):
    """Words of up to 7 letters, of which a table holds the short ones; long words of one example stand alone."""
    monkeypatch.setattr(degree, "TABLE_BYTES", 0)
    n = 20
    letters = rng.choice(list("ACGT"), size=(n, 14))
    letters = np.where(rng.random((n, 14)) < alike, letters[0], letters)
    texts = ["".join(row) for row in letters]
    specs = [Degree(1), Degree(3), Degree(7), Degree(5, 2, 9)]
    kernels = KernelList.from_spec(specs, texts)
    w = np.arange(n) % 3 + 1.0
    bank = DegreeBank.from_list(kernels, texts, normalize=normalize, weights=w)
    assert bank.direct < 7 and bank.alone.any()
    S = np.stack([kernel(Sequences.encode(texts)) for kernel in kernels.kernels]) * bank.scale[:, None, None]
    own = DenseBank(np.moveaxis(S / bank.scale[:, None, None], 0, 2), normalize=normalize, weights=w)
    np.testing.assert_allclose(bank.scale, own.scale, rtol=1e-4)
    theta, close = np.array([0.2, 1.0, 0.7, 0.4]), dict(rtol=0, atol=1e-4 * np.abs(S).max())
    support, rows = np.array([3, 4, 8, 11, 17, 19]), np.array([0, 4, 5, 17, 18])
    A = rng.normal(size=(2, 6))
    for asked in (None, rows):
        at = np.arange(n) if asked is None else asked
        P = np.einsum("mij,tj->tmi", S[:, at][:, :, support], A)
        np.testing.assert_allclose(bank.products(A, support, asked), P, **close)
        np.testing.assert_allclose(bank.outputs(theta, A, support, asked), np.einsum("m,tmi->ti", theta, P), **close)
    vectors = bank.vectors()
    vectors.add(support, np.zeros(6), A[0])
    vectors.add(support[1:4], A[0, 1:4], A[1, 1:4])
    a = np.zeros(n)
    a[support] = A[0]
    a[support[1:4]] += A[1, 1:4]
    np.testing.assert_allclose(vectors.q, np.einsum("i,mij,j->m", a, S, a), rtol=0, atol=1e-3 * np.abs(S).max())
    np.testing.assert_allclose(vectors.outputs(rows, theta, a[rows]), np.tensordot(theta, S, 1)[rows] @ a, **close)
    np.testing.assert_allclose(vectors.parts(rows, a[rows]), np.einsum("mij,j->im", S[:, rows], a), **close)


def test_a_model_of_words_refuses_letters_of_another_alphabet():
    texts, protein = ["ACGTAC", "CCGTAA", "ACGAGG"], Sequences.encode(["MKVLAA", "LLKVMM"], "protein")
    for specs in ([Degree(1), Degree(2)], [Spectrum(2)], [Mismatch(3, 1)]):
        kernels = KernelList.from_spec(specs, texts)
        predictor = explicit_bank(kernels, texts).predictor(np.arange(3))
        lists = [kernels] if specs[0] != Degree(1) else [kernels, None]
        for known in lists:
            if known is None:
                predictor.kernel_list = None  # as of a model from a file of old
            with pytest.raises(ValueError, match="alphabet|letter"):
                predictor.decision(protein, np.ones((1, 3)), np.ones(len(specs)))


class Angle(Kernel):
    """size · (x'y + shift): positive semidefinite for shift ≥ 0 alone, which it does not say."""

    base, psd = "dot", False

    def __init__(self, size=1.0, shift=0.0):
        self.size = size
        self.shift = shift

    def from_base(self, B, out, own_x, own_y):
        out[...] = self.size * (B + self.shift)
        return out

    def form(self):
        return None


@pytest.mark.parametrize("order", [[0, 1, 2, 3], [2, 0, 3, 1], [3, 2, 1, 0]])
def test_kernels_that_are_not_positive_are_named_and_no_others(order):
    """Kernels of one base with diagonals of other sizes."""
    X = rng.normal(size=(12, 2))
    specs = [("small", Angle(1e-3)), ("large", Angle(1e3)), ("bad", Angle(1.0, -2.0)), ("good", Angle(5.0, 1.0))]
    kernels = KernelList.from_spec([specs[k] for k in order], X)
    with pytest.warns(UserWarning, match="positive semidefinite"):
        bank = PairwiseBank(kernels, X, dtype=np.float64, normalize=None)
    assert bank.indefinite == "kernel 'bad'"


def test_an_object_with_fit_transform_has_no_values_between_new_examples():
    class Gram:
        def fit_transform(self, X):
            self.X = np.array(X)
            return self.X @ self.X.T

        def transform(self, X):
            return np.asarray(X) @ self.X.T

    X = rng.normal(size=(9, 2))
    bank = PairwiseBank(KernelList.from_spec([("own", Fitted(Gram())), ("rbf", RBF(0.3))], X), X, dtype=np.float64)
    predictor = bank.predictor(np.arange(4))
    assert predictor.support_gram(np.array([1.0, 0.5])) is None and predictor.support_gram(
        np.array([0.0, 1.0])
    ).shape == (4, 4)
    with pytest.raises(ValueError, match="no kernel between two new"):
        predictor.gram(X[:3], theta=np.array([1.0, 0.5]))
    assert predictor.gram(X[:3], theta=np.array([0.0, 0.5])).shape == (3, 3)


def test_a_kept_sum_is_that_of_its_precision_and_shift():
    F = rng.normal(size=(9, 3))
    bank = DenseBank(np.stack([F @ F.T + 1e4, np.exp(F @ F.T / 9)], axis=2))
    for theta in (np.array([0.5, 1.0]), np.array([1.0, 0.1]), np.array([0.5, 1.0])):
        whole = SumBank.of(bank, theta)
        K = bank.combined(theta)
        for dtype in (np.float64, np.float32):
            for shifted in (True, False, True):
                found = whole.matrix(np.ones(1), None, dtype, shifted)
                assert found.dtype == dtype
                gap = K - found
                np.testing.assert_allclose(gap, gap[0, 0], atol=1e-3 * np.abs(K).max() if dtype == np.float32 else 1e-6)
                assert shifted == (abs(gap[0, 0]) > 0.1 * np.abs(K).max())
        assert whole.summed(np.ones(1)) is whole
        twice = whole.summed(np.array([2.0]))
        np.testing.assert_allclose(twice.combined(np.ones(1)), 2 * K)


def test_a_part_of_a_bank_keeps_within_the_memory_that_its_bank_leaves():
    """Base blocks that the part would keep, of a view of many columns."""
    X = rng.normal(size=(300, 40))
    kernels = KernelList.from_spec([("wide", RBF(0.01)), ("line", Linear()), ("one", Constant())], X)
    for limit in (3 * 10**5, 10**6, 4 * 10**6, None):
        bank = PairwiseBank(kernels, X, memory_limit=limit)
        part = bank.restrict(np.arange(0, 300, 2), np.array([0, 1]))
        if part is None:
            continue
        kept = {id(side.cache): side.cache.nbytes for side in getattr(part, "sides", []) if side.cache is not None}
        assert limit is None or sum(kept.values()) <= limit
        assert limit is None or not hasattr(part, "free") or part.free is not None and part.free <= bank.free
        rows = np.arange(0, 300, 2)
        expected = bank.combined(np.array([1.0, 1.0, 0.0]), rows, rows)
        np.testing.assert_allclose(part.combined(np.ones(2)), expected, rtol=1e-4, atol=1e-4)
