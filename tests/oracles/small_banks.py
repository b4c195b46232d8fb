"""A small bank of every kind, with the kernels that it stands for written out in float64."""

from functools import cache

import numpy as np
from scipy.sparse import csr_array

from manykernels import losses
from manykernels.banks import DenseBank, PairwiseBank
from manykernels.banks.choice import explicit_bank
from manykernels.banks.slack import SlackBank
from manykernels.banks.subset import SubsetBank
from manykernels.kernels import RBF, Cosine, KernelList, Laplacian, Linear, RandomFeatures
from manykernels.pairs import Pairs, Pairwise
from manykernels.problem import Problem
from manykernels.strings import Degree, Spectrum, WeightedDegreeShift
from problems import costs

n = 36
rng = np.random.default_rng(3)
X = rng.normal(size=(n, 6))
thin = np.where(rng.random((n, 24)) < 0.9, 0.0, np.hstack([X] * 4))
score = X[:, 0] + 0.7 * X[:, 2] + 0.4 * rng.normal(size=n)
words = [
    "".join(rng.choice(list("ACGT"), p=[0.6, 0.1, 0.1, 0.2] if f > 0 else [0.3, 0.3, 0.2, 0.2], size=10)) for f in score
]
pairs = Pairs(np.stack([np.arange(n) % 9, np.arange(n) // 9], axis=1), rng.normal(size=(9, 2)), rng.normal(size=(4, 2)))

NUMBERS = [RBF(gamma=0.3), ("one", RBF(gamma=2.0), [1]), ("two", Linear(), [0, 2]), Laplacian(gamma=0.2)]
COLUMNS = [
    ("first", Linear(), [0, 1]),
    ("second", Linear(), [2, 3]),
    ("third", Linear(), [4]),
    ("both", Linear(), [0, 2]),
]
WORDS = [(f"from {k}", Linear(), list(range(k, k + 6))) for k in range(0, 24, 6)]
LOW = [
    ("wide", RandomFeatures(RBF(gamma=0.1), rank=4), [0, 2]),
    ("narrow", RandomFeatures(RBF(gamma=1.0), rank=4), [1, 3]),
]
MIXED = [*COLUMNS[:2], ("angle", Cosine(), [4, 5]), *LOW[1:]]
LEFT, RIGHT = [RBF(gamma=0.3), Linear()], [RBF(gamma=1.0), Linear()]


def values(specs, data):
    """k_m called one by one: (M, n, n) float64."""
    kernels = KernelList.from_spec(specs, data)
    seen = kernels.views(data)
    return np.stack([k(seen[v].X) for v, k in zip(kernels.view_of, kernels.kernels, strict=True)])


def by_pairs(specs, data, **options):
    return PairwiseBank(KernelList.from_spec(specs, data), data, **options), values(specs, data)


def explicit(specs, data, **options):
    bank = explicit_bank(KernelList.from_spec(specs, data), data, **options)
    assert bank.explicit
    return bank, values(specs, data)


def stacked():
    Ks = values(NUMBERS, X)
    return DenseBank(np.moveaxis(Ks, 0, 2)), Ks


def in_blocks():
    """The combined kernel is never whole in memory."""
    bank, Ks = by_pairs(NUMBERS, X, dtype=np.float64)
    bank.most, bank.in_blocks = 8 * n, True
    return bank, Ks


def subset():
    twice = np.tile(np.arange(n), 2)
    whole = DenseBank(np.moveaxis(values(NUMBERS, X[twice]), 0, 2))
    return SubsetBank(whole, np.arange(n)), values(NUMBERS, X)


def slack():
    bank, Ks = by_pairs(NUMBERS, X)
    return SlackBank(bank), np.concatenate([Ks, np.eye(n)[None]])


def of_pairs():
    sides = zip((LEFT, RIGHT), (pairs.left, pairs.right), pairs.index.T, strict=True)
    left, right = ([k(table[place]) for k in kernels] for kernels, table, place in sides)
    return Pairwise(LEFT, RIGHT).bank(pairs), np.stack([h * k for h in left for k in right])


BANKS = {
    "stack": stacked,
    "subset of a stack": subset,
    "pairwise": lambda: by_pairs(NUMBERS, X, dtype=np.float64),
    "pairwise, float32": lambda: by_pairs(NUMBERS, X, dtype=np.float32),
    "in blocks": in_blocks,
    "slack": slack,
    "pairs of objects": of_pairs,
    "columns": lambda: explicit(COLUMNS, X),
    "columns, CSR": lambda: explicit(WORDS, csr_array(thin)),
    "low rank": lambda: explicit(LOW, X),
    "low rank, float32": lambda: explicit(LOW, X, single=True),
    "joined": lambda: explicit(MIXED, X),
    "degrees": lambda: explicit([Degree(k) for k in (1, 2, 3)], words),
    "trie": lambda: explicit([WeightedDegreeShift(2, 1), WeightedDegreeShift(3, 2)], words),
    "words": lambda: explicit([Spectrum(1), Spectrum(2), Spectrum(3)], words),
}  # fmt: skip


@cache
def bank_of(kind):
    """(bank, its normalised kernels (M, n, n) float64)."""
    bank, Ks = BANKS[kind]()
    return bank, bank.scale[:, None, None] * Ks


def problem_on(kind, loss, regularizer, C=1.0):
    """(problem, kernels) on the bank of that kind; the targets go with the first column, or with the letters."""
    bank, Ks = bank_of(kind)
    loss = losses.get(loss)
    y = score if loss.targets == "real" else np.where(score > 0, 1.0, -1.0)
    return Problem(bank, y, loss, regularizer, costs(loss, n, C), loss.takes_intercept), Ks
