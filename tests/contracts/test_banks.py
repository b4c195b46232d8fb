"""Every bank and its predictor are the naive float64 stack of its kernels. A new bank is one line in `BANKS`."""

import pickle
import tempfile
from functools import cache
from pathlib import Path

import numpy as np
import pytest
from covering import covering
from numpy.testing import assert_allclose, assert_array_equal
from scipy.sparse import csr_array

from manykernels.banks import Bank, DenseBank, PairwiseBank, Predictor
from manykernels.banks.choice import explicit_bank
from manykernels.banks.features import FeatureBank
from manykernels.banks.joined import JoinedBank
from manykernels.banks.low_rank import LowRankBank
from manykernels.banks.words.degree import DegreeBank
from manykernels.banks.words.linadd import WordBank
from manykernels.banks.words.tables import TableBank
from manykernels.banks.words.trie import TrieBank
from manykernels.inner import InnerProblem
from manykernels.kernels import (
    RBF,
    Chi2,
    Cosine,
    HistogramIntersection,
    KernelList,
    KernelStack,
    Laplacian,
    Linear,
    Nystroem,
    Polynomial,
    RandomFeatures,
    Tanimoto,
)
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import solve
from manykernels.strings import Degree, GappedKmer, Mismatch, Sequences, Spectrum, WeightedDegree, WeightedDegreeShift

n, N_NEW = 40, 12
rng = np.random.default_rng(0)
weights = np.arange(n) % 3 + 1.0
X = np.hstack([rng.normal(size=(n + N_NEW, 4)), np.ones((n + N_NEW, 1))])  # the last column does not vary
thin = np.where(rng.random(X.shape) < 0.7, 0.0, X)
thin[:, 4] = 1.0
words = ["A" + "".join(row) for row in rng.choice(list("ACGT"), p=[0.4, 0.3, 0.2, 0.1], size=(n + N_NEW, 12))]
words[3] = words[3][:5] + "N" + words[3][6:]
any_letter = dict(unknown="ignore")

NUMBERS = [
    RBF(gamma=0.3), ("one column", RBF(gamma=2.0), [1]), ("flat", Linear(), [4]), Polynomial(degree=2, gamma=0.5),
    Laplacian(gamma=0.2), 0.5 * RBF(gamma=1.0) + Cosine(), ("pair", Linear(), [0, 2]),
]  # fmt: skip
KINDS = [
    *(RBF(g) for g in (0.01, 0.1, 0.5, 1.0, 3.0)), Chi2(0.5), HistogramIntersection(), Tanimoto(), RBF(0.1) * Linear(),
    RBF(0.1) + RBF(0.2), ("two", Linear(), [1, 2]),
]  # fmt: skip
FEATURES = [Linear(), ("flat", Linear(), [4]), ("pair", Linear(), [0, 2]), ("cos", Cosine(), [1, 2, 3])]
LOW = [
    RandomFeatures(RBF(gamma=0.3), 16), ("one column", RandomFeatures(Laplacian(gamma=2.0), 8), [1]),
    ("flat", RandomFeatures(RBF(gamma=1.0), 4), [4]), Nystroem(Polynomial(degree=2, gamma=0.5), 6).resolve(X[:n]),
]  # fmt: skip
PLACED = [Degree(k, **any_letter) for k in (1, 2, 3)] + [Degree(4, 2, 9, **any_letter)]
FLAT = [Degree(1, 0, 1, **any_letter), Degree(1, 1, 6, **any_letter), WeightedDegree(3, 6, None, **any_letter)]
NEAR = [WeightedDegree(3, **any_letter), WeightedDegreeShift(3, 2, **any_letter), Degree(2, 0, 5, **any_letter)]
FAR = [
    WeightedDegreeShift(6, 2, 4, 10, **any_letter), WeightedDegree(7, stop=9, **any_letter),
    WeightedDegreeShift(3, 40, **any_letter), Degree(3, **any_letter),
]  # fmt: skip
GAPPED = [
    GappedKmer(5, 3, **any_letter), GappedKmer(4, 4, start=-9, **any_letter), Mismatch(4, 1, **any_letter),
    *(GappedKmer(5, 3, d=1, filter=rule, reverse_complement=rule == "full", **any_letter)
      for rule in ("counts", "full", "truncated")),
    Spectrum((1, 4), start=2, stop=-3, **any_letter),
]  # fmt: skip
ANYWHERE = [Spectrum(2, **any_letter), Spectrum((1, 3), **any_letter), Degree(2, **any_letter)]
WINDOWS = [
    Mismatch(3, 1, **any_letter), GappedKmer(4, 2, d=1, filter="truncated", reverse_complement=True, **any_letter),
    Mismatch(2, 1, **any_letter), Mismatch(4, 0, 2, 9, **any_letter),
]  # fmt: skip
MIXED = [("a", Linear(), "x"), ("b", Degree(2, **any_letter), "s"), ("c", Cosine(), "x"), ("d", Spectrum(2), "t")]
views = {"x": X, "s": words, "t": [w.replace("N", "C") for w in words]}


def part(data, rows):
    if isinstance(data, dict):
        return {name: part(view, rows) for name, view in data.items()}
    return [data[i] for i in np.arange(n + N_NEW)[rows]] if isinstance(data, list) else data[rows]


@cache
def raw_of(name):
    return raw(*BANKS[name][:2])


def raw(specs, data):
    """k_m of all examples, old and new, called one by one: (M, n + N_NEW, n + N_NEW) float64."""
    kernels = KernelList.from_spec(specs, data)
    seen = kernels.views(data)
    return np.stack([k(seen[v].X) for v, k in zip(kernels.view_of, kernels.kernels, strict=True)])


def on_the_fly(specs, data, dtype):
    def make(data, **options):
        return PairwiseBank(KernelList.from_spec(specs, data), data, dtype=dtype, **options)

    return specs, data, make, dtype


def explicit(cls, specs, data, dtype=np.float64, **own):
    def make(data, **options):
        return cls.from_list(KernelList.from_spec(specs, data), data, **own, **options)

    return specs, data, make, dtype


def joined(specs, data):
    """One of its members is a DegreeBank, whose values are float32."""
    return specs, data, lambda data, **o: explicit_bank(KernelList.from_spec(specs, data), data, **o), np.float32


def stacked(layout, dtype):
    """Precomputed kernels: the data are the matrices, as `layout` makes them of (M, n, n_train)."""
    return NUMBERS, X, lambda S, **options: DenseBank(layout(S.astype(dtype)), **options), dtype


def in_file(S):
    path = Path(tempfile.mkdtemp()) / "stack.npy"
    np.save(path, S)
    return KernelStack.from_files(path)


def in_files(S):
    folder = Path(tempfile.mkdtemp())
    for m, K in enumerate(S):
        np.save(folder / f"{m}.npy", K)
    return KernelStack.from_files([folder / f"{m}.npy" for m in range(len(S))])


def on_device(specs, data, dtype, **own):
    """PyTorch's own device of the host stands for a card."""

    def make(data, **options):
        from manykernels.banks.device import DeviceBank

        return DeviceBank(KernelList.from_spec(specs, data), data, dtype=dtype, device="cpu", **own, **options)

    return specs, data, make, dtype


def stacked_on_device(dtype):
    def make(S, **options):
        from manykernels.banks.device import DeviceStack

        return DeviceStack(np.moveaxis(S.astype(dtype), 0, 2), device="cpu", **options)

    return NUMBERS, X, make, dtype


f8, f4 = np.float64, np.float32
BANKS = {  # kernels, data, how to make the bank, the precision of its values
    "stack, kernels last": stacked(lambda S: np.ascontiguousarray(np.moveaxis(S, 0, 2)), f8),
    "stack, kernels first": stacked(lambda S: np.moveaxis(S, 0, 2), f8),
    "stack, float32": stacked(lambda S: np.moveaxis(S, 0, 2), f4),
    "KernelStack": stacked(KernelStack, f8),
    "stack in a file": stacked(in_file, f8),
    "stack in files, float32": stacked(in_files, f4),
    "on the fly": on_the_fly(NUMBERS, X, f8),
    "on the fly, float32": on_the_fly(NUMBERS, X, f4),
    "on the fly, CSR": on_the_fly([RBF(gamma=0.3), *FEATURES], csr_array(thin), f8),
    "on the fly, every kind": on_the_fly(KINDS, np.abs(X), f8),
    "on the fly, every kind, float32": on_the_fly(KINDS, np.abs(X), f4),
    "on the fly, windows": on_the_fly(WINDOWS, words, f8),
    "on the fly, words": on_the_fly([*FLAT, *NEAR, *ANYWHERE], words, f8),
    "on the fly, words, float32": on_the_fly([*FLAT, *NEAR, *ANYWHERE], words, f4),
    "features": explicit(FeatureBank, FEATURES, X),
    "features, CSR": explicit(FeatureBank, FEATURES, csr_array(thin)),
    "low rank": explicit(LowRankBank, LOW, X),
    "low rank, kept in float32": explicit(LowRankBank, LOW, X, f4, single=True),
    "low rank, float32": explicit(LowRankBank, LOW, X, f4, single=True, memory_limit=30_000),
    "low rank, CSR": explicit(LowRankBank, [*LOW[:3], RandomFeatures(RBF(gamma=1.0), 8)], csr_array(thin)),
    "low rank, device": explicit(LowRankBank, LOW, X, device="cpu"),
    "low rank, device, float32": explicit(LowRankBank, LOW, X, f4, single=True, device="cpu"),
    "low rank, device, no room": explicit(LowRankBank, LOW, X, f4, single=True, memory_limit=2_000, device="cpu"),
    "low rank, device, CSR": explicit(LowRankBank, LOW[:3], csr_array(thin), device="cpu"),
    "degree": explicit(DegreeBank, PLACED, words, f4),
    "degree, positions": explicit(DegreeBank, FLAT, words, f4),
    "trie": explicit(TrieBank, [*PLACED, *FLAT], words),
    "trie, shifts": explicit(TrieBank, NEAR, words),
    "trie, far shifts": explicit(TrieBank, FAR, words),
    **{f"words, {store}": explicit(WordBank, ANYWHERE, words, store=store) for store in ("map", "sorted", "auto")},
    "words, gapped": explicit(WordBank, GAPPED, words, store="sorted"),
    "words, placed": explicit(WordBank, [*PLACED, *FLAT], words, store="sorted"),
    "words, hash": explicit(WordBank, ANYWHERE, words, store="hash"),  # no two of these words meet in 2^22 places
    "tables": explicit(TableBank, WINDOWS, words),
    "joined": joined(MIXED, views),
    "device": on_device(NUMBERS, X, f8),
    "device, float32": on_device(NUMBERS, X, f4),
    "device, no room for blocks": on_device([*NUMBERS[:5], NUMBERS[6]], X, f8, memory_limit=30_000),
    "device, CSR": on_device([RBF(gamma=0.3), *FEATURES], csr_array(thin), f8),
    "device, histograms": on_device([Chi2(gamma=0.5), HistogramIntersection(), Linear()], np.abs(X), f8),
    "device, words": on_device([*FLAT, *NEAR, *ANYWHERE], words, f8),
    "device, stack": stacked_on_device(f8),
    "device, stack, float32": stacked_on_device(f4),
}
NORMALIZE = ["multiplicative", "spherical", "trace", None]
pytestmark = pytest.mark.filterwarnings("ignore:kernels without variance")


def some(first, steps=4):
    """Each bank with one of the four normalisations, or with two; the other cells are slow."""
    return pytest.mark.parametrize("name, normalize", covering(BANKS, NORMALIZE, steps=steps, first=first))


class Case:
    """A bank beside its naive stack `S` (M, n, n), and N (M, N_NEW, n), G (M, N_NEW, N_NEW) with new examples."""

    def __init__(self, name, normalize):
        if "device" in name:
            pytest.importorskip("torch", reason="PyTorch is not installed: no bank on a device")
        specs, data, make, dtype = BANKS[name]
        K = raw_of(name)
        self.precomputed = name.lower().find("stack") >= 0
        train = K[:, :n, :n] if self.precomputed else part(data, slice(n))
        self.bank = make(train, weights=weights, normalize=normalize)
        if self.bank is None:
            pytest.skip("such kernels are left to another bank")
        self.new = part(data, slice(n, None))
        if self.precomputed:
            self.new = KernelStack(K[:, n:, :n], test_diagonals=np.einsum("mii->mi", K)[:, n:])
        self.names = KernelList.from_spec(specs, data).names
        w = weights / weights.sum()
        if normalize == "spherical":
            root = np.sqrt(np.einsum("mii->mi", K))
            root = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
            K = K * root[:, :, None] * root[:, None]
        diagonal, mean = np.einsum("mii->mi", K)[:, :n] @ w, np.einsum("mij,i,j->m", K[:, :n, :n], w, w)
        self.usable = diagonal - mean > 1e-9 * diagonal
        by = {"multiplicative": diagonal - mean, "trace": diagonal}.get(normalize, np.ones_like(mean))
        self.scale = np.divide(1, by, out=np.zeros_like(by), where=self.usable)
        K = K * self.scale[:, None, None]
        self.S, self.N, self.G = K[:, :n, :n], K[:, n:, :n], K[:, n:, n:]
        # float64: polynomials and tables that stand for exponentials are good to 1e-13; float32: a few roundings
        self.tol = 1e-12 if dtype == f8 else 2.0**-20
        self.size = np.abs(K).max()
        self.theta = np.linspace(0.2, 1.0, len(K))
        self.theta[1] = 0.0

    def close(self, actual, expected, by=1.0, tol=None):
        assert actual.shape == expected.shape
        assert_allclose(actual, expected, rtol=0, atol=(tol or self.tol) * self.size * by)


@some(0)
def test_a_bank_says_what_it_holds(name, normalize):
    case = Case(name, normalize)
    bank = case.bank
    assert isinstance(bank, Bank) and (bank.n, bank.M) == case.S.shape[1::-1]
    assert len(bank.names) == bank.M and (case.precomputed or bank.names == case.names)
    assert_array_equal(bank.usable, case.usable)
    scale_tol = 1e-9 if case.tol < 1e-9 else 1e-4  # a variance is a difference, 1e-2 of its terms or more
    assert_allclose(bank.scale, case.scale, rtol=scale_tol)
    assert bank.usable.dtype == bool and bank.scale.dtype == f8 and isinstance(bank.dtype, np.dtype)
    assert 0 < bank.unit <= 2.0**-23 and bank.indefinite == "" and bank.cost() >= 0
    assert bank.memory_limit in (None, 2_000, 30_000) and bank.n_jobs in (None, 1) and isinstance(bank.store, str)
    assert (bank.vectors() is not None) == bank.explicit
    assert (bank.inner(Hinge(), np.ones(n), np.ones(n), True) is None) == (not name.startswith("device"))


@some(0, steps=2)
def test_a_bank_is_the_stack_of_its_kernels(name, normalize):
    case = Case(name, normalize)
    bank, theta = case.bank, case.theta
    rows, cols, some = np.array([0, 3, 4, 17, 39]), np.arange(2, 31), np.array([0, 2])
    K = np.tensordot(theta, case.S, 1)
    case.close(bank.diagonals(), np.einsum("mii->mi", case.S))
    for r, c in ((None, None), (rows, rows), (rows, cols), (rows, None), (None, cols)):
        expected = K[np.ix_(np.arange(n) if r is None else r, np.arange(n) if c is None else c)]
        case.close(bank.combined(theta, r, c), expected, by=theta.sum())
        shifted = expected - bank.combined(theta, r, c, dtype=f8, shifted=True)
        case.close(shifted, np.full_like(shifted, shifted[0, 0]), by=4 * theta.sum())
    case.close(bank.block(rows, theta), K[np.ix_(rows, rows)], by=theta.sum())
    assert not bank.combined(np.zeros(bank.M)).any()
    A, every = rng.normal(size=(2, len(cols))), np.arange(n)
    by = np.abs(A).sum()
    for r, kernels in ((None, None), (rows, some), (None, some), (rows, None)):
        r_, k_ = every if r is None else r, np.arange(bank.M) if kernels is None else kernels
        expected = np.einsum("mij,tj->tmi", case.S[k_][:, r_][:, :, cols], A)
        found = bank.products(A, cols, r, kernels)
        assert found.dtype == f8
        case.close(found, expected, by)
        case.close(bank.outputs(theta, A, cols, r), A @ K[np.ix_(r_, cols)].T, by * theta.sum())
    assert not bank.outputs(np.zeros(bank.M), A, cols, rows).any()


@some(1)
def test_a_bank_gives_its_matrices_and_holds_them(name, normalize):
    case = Case(name, normalize)
    rows, some = np.array([0, 3, 4, 17, 39]), np.array([0, 2])
    case.close(case.bank.matrices(), case.S)
    case.close(case.bank.matrices(some, rows, f8), case.S[some][:, rows][:, :, rows])
    stripes = np.full((len(some), len(rows), n), np.nan)
    case.bank.stripes(rows, some, lambda k, r0, r1, c0, c1, block: stripes.__setitem__(np.s_[k, r0:r1, c0:c1], block))
    case.close(stripes, case.S[some][:, rows])
    held = case.bank.held(exact=True)
    assert (held is case.bank) == (case.bank.explicit or name.startswith("device")) and held.names == case.bank.names
    assert_array_equal(held.usable, case.bank.usable)
    case.close(held.matrices(), case.S)
    assert held.matrices(dtype=held.dtype) is held.matrices() or held is case.bank  # without a copy


@some(2)
def test_a_restricted_bank_is_a_part_of_the_stack(name, normalize):
    case = Case(name, normalize)
    rows, some = np.arange(3, 20), np.flatnonzero(case.usable)[:3]
    small = case.bank.restrict(rows, some)
    if small is None:
        pytest.skip("it does not pay")
    S, A = case.S[some][:, rows][:, :, rows], rng.normal(size=(2, len(rows)))
    theta, every = np.array([0.5, 0.0, 2.0]), np.arange(len(rows))
    assert isinstance(small, Bank) and (small.n, small.M) == (len(rows), len(some)) and small.usable.all()
    assert list(small.names) == [case.bank.names[m] for m in some]
    case.close(small.diagonals(), np.einsum("mii->mi", S))
    case.close(small.combined(theta), np.tensordot(theta, S, 1), by=3)
    case.close(small.products(A, every), np.einsum("mij,tj->tmi", S, A), np.abs(A).sum())
    case.close(small.outputs(theta, A, every), A @ np.tensordot(theta, S, 1).T, 3 * np.abs(A).sum())


@some(3)
def test_explicit_features_are_those_of_the_stack(name, normalize):
    case = Case(name, normalize)
    vectors = case.bank.vectors()
    if vectors is None:
        pytest.skip("kernels are compared pair by pair")
    a, every = rng.normal(size=n), np.arange(n)
    by, K = np.abs(a).sum(), np.tensordot(case.theta, case.S, 1)
    vectors.add(every[:25], np.zeros(25), a[:25])
    vectors.add(every[20:], np.where(every[20:] < 25, a[20:], 0.0), np.where(every[20:] < 25, 0.0, a[20:]))
    case.close(vectors.q, np.einsum("i,mij,j->m", a, case.S, a), by**2)
    case.close(vectors.outputs(every, case.theta, a), K @ a, by * case.theta.sum())
    case.close(vectors.parts(every, a), np.einsum("mij,j->im", case.S, a), by)
    vectors.clear()
    assert not vectors.q.any()


@some(1, steps=2)
def test_a_predictor_is_the_stack_with_new_examples(name, normalize):
    case = Case(name, normalize)
    support, theta, new = np.arange(1, n, 2), case.theta, case.new
    predictor = case.bank.predictor(support)
    assert isinstance(predictor, Predictor) and predictor.sizes() == (len(support), case.bank.M)
    predictor = type(predictor).from_state(predictor.to_state())
    predictor = pickle.loads(pickle.dumps(predictor))
    assert_array_equal(predictor.scale, case.bank.scale)
    assert (predictor.kernel_list is None) == case.precomputed == (predictor.support_data() is None)
    N, A = case.N[:, :, support], rng.normal(size=(2, len(support)))
    thetas, by = np.stack([theta, theta[::-1]]), np.abs(A).sum()
    parts = np.einsum("mij,tj->tim", N, A)
    case.close(predictor.combined(new, theta), np.tensordot(theta, N, 1), theta.sum())
    for given in (theta, thetas):
        each = np.broadcast_to(given, thetas.shape)
        case.close(predictor.parts(new, A, given), parts * each[:, None], by)
        case.close(predictor.decision(new, A, given), np.einsum("tim,tm->ti", parts, each), by * theta.sum())
        again = predictor.prepared(A, given, 2**24)
        for _ in range(2):
            case.close(again(new), np.einsum("tim,tm->ti", parts, each), by * theta.sum())
    for found in (predictor.decision(new, A[:1], theta), predictor.prepared(A[:1], theta, 2**24)(new)):
        case.close(found, np.einsum("tim,m->ti", parts[:1], theta), by * theta.sum())


@some(0)
def test_a_predictor_has_the_kernel_between_new_examples(name, normalize):
    case = Case(name, normalize)
    predictor, theta = case.bank.predictor(np.arange(0, n, 3)), case.theta
    if case.precomputed:  # that is between the examples that the stack is of
        if normalize == "spherical":
            with pytest.raises(ValueError, match="spherical"):
                predictor.gram(case.new, theta=theta)
            return
        case.close(predictor.gram(case.new, theta=theta), np.tensordot(theta, case.N, 1), theta.sum())
        return
    G, fewer = np.tensordot(theta, case.G, 1), part(BANKS[name][1], slice(n, n + 5))
    case.close(predictor.gram(case.new, theta=theta), G, theta.sum())
    case.close(predictor.gram(case.new, fewer, theta=theta), G[:, :5], theta.sum())


@some(1)
def test_a_predictor_has_what_a_posterior_needs_or_none(name, normalize):
    case = Case(name, normalize)
    support, theta = np.arange(0, n, 3), case.theta
    predictor = case.bank.predictor(support)
    own, K = predictor.diagonal(case.new, theta), predictor.support_gram(theta)
    assert (own is not None) == (K is not None) == isinstance(case.bank, PairwiseBank)
    if own is not None:
        case.close(own, np.einsum("m,mii->i", theta, case.G), theta.sum())
        case.close(K, np.tensordot(theta, case.S[:, support][:, :, support], 1), theta.sum())


@some(2)
def test_a_predictor_tells_how_its_support_is_written(name, normalize):
    """The letters of sequences of one length, what kernels are multiplied by for each of them, and linear weights."""
    case = Case(name, normalize)
    support = np.arange(1, n, 2)
    predictor = case.bank.predictor(support)
    factors, codes = predictor.row_factors(), predictor.support_codes()
    if factors is not None:
        assert factors.shape == (case.bank.M, len(support)) and normalize == "spherical"
    sequences = BANKS[name][1] is words
    assert (codes is not None) == sequences or isinstance(case.bank, JoinedBank)
    if sequences:
        letters = Sequences.encode([words[i] for i in support], None, "ignore")
        assert_array_equal(codes[0], letters.codes())
        assert codes[1] == letters.alphabet
    assert predictor.hashed == ("hash" in name)


@pytest.mark.parametrize("solver", ["newton", "analytic", "level"])
def test_a_bank_may_solve_the_inner_problem_itself(solver):
    """One on a device would; here it is the inner problem that solvers have of their own, counted."""
    asked = []

    class Device(DenseBank):
        def inner(self, loss, y, c, intercept):
            asked.append(len(y))
            return InnerProblem(loss, y, c, intercept)

    S, y = np.moveaxis(raw(NUMBERS, X)[:, :n, :n], 0, 2), np.where(X[:n, 0] > 0, 1.0, -1.0)
    own, other = (solve(Problem(bank(S), y, Hinge(), LpNorm(1.5)), solver, tol=1e-5) for bank in (Device, DenseBank))
    assert asked and own.gap <= 1e-5
    assert_allclose(own.theta, other.theta)
