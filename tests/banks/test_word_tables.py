"""Kernels of the mismatches of windows: pairs by bits, products by tables of all words, decisions."""

from itertools import product

import numpy as np
import pytest
from naive_strings import matrix, reverse_complement

from manykernels import MKLClassifier, MKLRegressor
from manykernels.banks import PairwiseBank, choice, explicit
from manykernels.banks.joined import JoinedBank
from manykernels.banks.words import tables
from manykernels.banks.words.tables import TableBank
from manykernels.kernels import KernelList
from manykernels.sequences import Alphabet
from manykernels.solvers import checkpoint_file
from manykernels.strings import GappedKmer, Mismatch, Spectrum, _words
from manykernels.strings.word_table import WindowTable

LETTERS = {"dna": "ACGT", "protein": "ACDEFGHIKLMNPQRSTVWY"}


def texts(lengths, letters="ACGT", seed=0):
    rng = np.random.default_rng(seed)
    return ["".join(rng.choice(list(letters), size=size)) for size in lengths]


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    "kernel",
    [Mismatch(1, 0), Mismatch(5, 2), GappedKmer(7, 4, d=2, filter="truncated"), GappedKmer(15, 12, d=3, filter="full")],
    ids=repr,
)
def test_pairs_by_bits_are_those_of_loops_over_windows(kernel, both, monkeypatch):
    """Lengths around one and two chunks of 64 letters, too short sequences, unknown letters."""
    monkeypatch.setattr(_words, "WORDS_PER_PAIR", 0)
    kernel = kernel.set_params(unknown="ignore", reverse_complement=both)
    X = texts([1, 4, 15, 50, 51, 65, 101], "ACGT" * 6 + "N")
    l, c = kernel.mismatches(4)  # noqa: E741

    def windows(x):
        found = [x[p : p + l] for p in range(len(x) - l + 1)]
        return np.array([list(u) for u in found if set(u) <= set("ACGT")]).reshape(-1, l)

    def value(x, y):
        far = np.concatenate([(windows(x)[:, None] != windows(z)).sum(axis=2).ravel() for z in y])
        return np.bincount(far, minlength=l + 1)[: len(c)] @ c

    want = np.array([[value(x, [y, reverse_complement(y)] if both else [y]) for y in X] for x in X])
    np.testing.assert_allclose(kernel(X), want, rtol=1e-12)
    np.testing.assert_allclose(kernel.diag(X), np.diag(want), rtol=1e-12)


def test_pairs_of_proteins_by_bits(monkeypatch):
    monkeypatch.setattr(_words, "WORDS_PER_PAIR", 0)
    kernel = GappedKmer(4, 2, alphabet="protein")
    X = texts([3, 40, 70], "ACD") + texts([66], LETTERS["protein"])
    np.testing.assert_array_equal(kernel(X), matrix(kernel, X))


@pytest.mark.parametrize("size, length", [(2, 1), (2, 7), (3, 4), (4, 1), (4, 3), (4, 6), (5, 3), (20, 2)])
def test_a_table_is_multiplied_with_the_matrix_of_mismatches(size, length):
    alphabet = Alphabet("own", "ACGTDEFHIKLMNPQRSVWY"[:size])
    kernel = Mismatch(length, min(1, length), alphabet=alphabet)
    table = WindowTable(kernel, alphabet, kernel.windows(kernel.encode(["A" * 9])))
    every = np.array(list(product(range(size), repeat=length)))
    c = np.concatenate([kernel.mismatches(size)[1], np.zeros(length + 1)])
    C = c[(every[:, None] != every).sum(axis=2)]
    v = np.random.default_rng(0).normal(size=size**length)
    np.testing.assert_allclose(table.multiply(v, 1), C @ v, atol=1e-12 * np.abs(C).sum(axis=1).max())


def motif(n, length=60, seed=0):
    X, y = texts([length] * n, seed=seed), np.arange(n) % 2
    return [x[:20] + "GATTACA" + x[27:] if label else x for x, label in zip(X, y, strict=True)], y


def test_a_mixture_with_spectra_is_multiplied_with_too(monkeypatch):
    """A visit of some examples would multiply all tables."""
    monkeypatch.setattr(explicit, "MAX_BUILT_EXAMPLES", 10)
    monkeypatch.setattr(choice, "MAX_WORD_PAIRWISE", 10)
    X, y = motif(60)
    kernels = [GappedKmer(5, 3), Spectrum(3)]
    mixed = MKLClassifier(kernels, C=1.0).fit(X, y)
    alone = MKLClassifier(kernels, C=1.0, features="never").fit(X, y)
    assert {type(member.bank) for member in mixed.predictor_.members} != {TableBank}
    bank = choice.explicit_bank(KernelList.from_spec(kernels, X), X)
    assert isinstance(bank, JoinedBank) and bank.even
    np.testing.assert_allclose(mixed.decision_function(X), alone.decision_function(X), atol=0.05)


def test_many_examples_are_multiplied_with_and_few_compared():
    long, short = [GappedKmer(10, 6)], [GappedKmer(4, 3)]
    assert not tables.tables_pay(long, 1000, 100) and tables.tables_pay(long, 8000, 100)
    assert tables.tables_pay(long, 2000, 1000) and tables.tables_pay(short, 1000, 100)


@pytest.mark.parametrize("kernels", [
    [GappedKmer(5, 3, centre=centre) for centre in ((50, 5), (3, 40), None)],
    [kind(5, 1, *part) for kind in (Mismatch, GappedKmer) for part in ((2, 20), (2, 30), (5, 30))],
], ids=["weights", "parts"])  # fmt: skip
def test_kernels_keep_their_own_weights_and_parts_of_the_sequences(kernels):
    """Parts begin at one place and end at another, or the reverse."""
    X = texts([40] * 5)
    kernels = KernelList.from_spec(kernels, X)
    products = TableBank.from_list(kernels, X, normalize=None).products(np.eye(5), np.arange(5))
    for m, kernel in enumerate(kernels.kernels):
        np.testing.assert_allclose(products[:, m], kernel(X), rtol=1e-10)


def test_unknown_letters_of_a_gapped_kernel_are_not_looked_up_in_tables():
    """There an unknown letter is a mismatch, and a window with one still counts."""
    X, y = motif(40)
    kernel = GappedKmer(5, 3, unknown="ignore")
    with_unknown = [*X[:-1], X[-1][:30] + "N" + X[-1][31:]]
    assert choice.explicit_bank(KernelList.from_spec([kernel], X), X).__class__ is TableBank
    assert choice.explicit_bank(KernelList.from_spec([kernel], with_unknown), with_unknown).__class__ is not TableBank
    bank = TableBank.from_list(KernelList.from_spec([kernel], X), X, normalize=None)
    a = np.random.default_rng(0).normal(size=40)
    new = [x[:10] + "N" + x[11:] for x in X[:5]] + X[:2]
    found = bank.vectors_of(a).at(bank.kernels.views(new), np.ones(1))
    K = matrix(kernel, new, X)
    np.testing.assert_allclose(found, K @ a, rtol=1e-10)
    bank = TableBank.from_list(KernelList.from_spec([kernel], X), X, normalize="spherical")
    found = bank.vectors_of(a).at(bank.kernels.views(new), np.ones(1))
    cosines = K / np.sqrt(np.outer(kernel.diag(new), kernel.diag(X)))
    np.testing.assert_allclose(found, bank.scale * (cosines @ a), rtol=1e-10)


@pytest.mark.parametrize("kernel", [Spectrum(3), GappedKmer(4, 2)], ids=repr)
def test_a_predictor_answers_for_the_coefficients_that_it_is_asked_for(kernel):
    """Sums over words stay for the next call, which may have others."""
    X, new = texts([20] * 12), texts([20] * 4, seed=1)
    predictor = PairwiseBank(KernelList.from_spec([kernel], X), X, normalize=None).predictor(np.arange(12))
    for A in np.random.default_rng(0).normal(size=(3, 2, 12)):
        for _ in range(2):
            np.testing.assert_allclose(predictor.decision(new, A, [1.0]), A @ kernel(X, new), rtol=1e-9)


def test_smooth_losses_are_multiplied_with_from_fewer_examples_on(monkeypatch):
    """They take fewer products than the hinge loss, unless C is chosen among several."""
    kernels = [GappedKmer(10, 6, reverse_complement=True)]
    assert not tables.tables_pay(kernels, 1500, 100) and tables.tables_pay(kernels, 1500, 100, smooth=True)
    asked = []
    monkeypatch.setattr(tables, "tables_pay", lambda kernels, n, letters, smooth: asked.append(smooth))
    X, y = motif(40, length=30)
    for loss in ("hinge", "logistic", "squared_hinge"):
        MKLClassifier([GappedKmer(4, 3)], loss=loss, C=1.0).fit(X, y)
    for loss in ("squared", "epsilon_insensitive", "huber"):
        MKLRegressor([GappedKmer(4, 3)], loss=loss, C=1.0).fit(X, y)
    MKLRegressor([GappedKmer(4, 3)], C="auto").fit(X, y)
    assert asked[:6] == [False, True, True, True, False, True] and not any(asked[6:])


@pytest.mark.parametrize("both", [False, True])
@pytest.mark.parametrize(
    "kernel", [GappedKmer(5, 3), GappedKmer(6, 4, d=1, filter="truncated"), Mismatch(5, 1)], ids=repr
)
def test_sequences_of_few_windows_have_the_same_size_as_among_long_ones(kernel, both):
    """All words of deltaSVM are such sequences."""
    kernel = kernel.set_params(reverse_complement=both, unknown="ignore")
    X = [*texts([1, 4, 5, 6, 7, 8, 8, 8], "ACGT" * 6 + "N"), "ACGCGT", "AAAAAA"]
    long = kernel.diag([*X, *texts([90])])
    np.testing.assert_allclose(kernel.diag(X), long[:-1], rtol=1e-12)


def test_what_is_asked_once_of_few_sequences_needs_no_table_of_all_words(monkeypatch):
    """A report of 120 sequences × 15 kernels multiplied 450 tables of a million words in its folds."""
    rng = np.random.default_rng(0)
    X = ["".join(x) for x in rng.choice(list("ACGT"), (40, 30))]
    kernels = KernelList.from_spec([GappedKmer(10, 6, reverse_complement=True), GappedKmer(4, 3)], X)
    predictor = PairwiseBank(kernels, X, normalize="spherical").predictor(np.arange(30))
    A, theta = rng.normal(size=(5, 30)), rng.random((5, 2))
    by_tables = predictor.parts(X[:20], A, theta)
    tables, multiply = [], WindowTable.multiply
    monkeypatch.setattr(WindowTable, "multiply", lambda own, *args: tables.append(own.l) or multiply(own, *args))
    once = PairwiseBank(kernels, X, normalize="spherical").predictor(np.arange(30))
    once.once = True
    np.testing.assert_allclose(once.parts(X[:20], A, theta), by_tables, atol=1e-9)
    assert 10 not in tables


def test_a_checkpoint_and_the_progress_follow_the_steps_within_the_one_inner_problem(tmp_path, monkeypatch):
    """One kernel is one inner problem, and the first state was written at its end: nothing was saved."""
    monkeypatch.setattr(explicit, "MAX_BUILT_EXAMPLES", 10)
    monkeypatch.setattr(tables, "PRODUCTS", 0)
    monkeypatch.setattr(checkpoint_file, "WRITE_INTERVAL", 0.0)
    monkeypatch.setattr(checkpoint_file, "WRITE_PAUSE", 0)
    rng = np.random.default_rng(1)
    X, y = ["".join(row) for row in rng.choice(list("ACGT"), (200, 40))], rng.integers(2, size=200)
    X = [x[:20] + "TGACTC" + x[26:] if own and i % 5 else x for i, (x, own) in enumerate(zip(X, y, strict=True))]
    count, stop, multiply = [0], [np.inf], WindowTable.multiply

    def counted(own, *args):
        count[0] += 1
        if count[0] > stop[0]:
            raise MemoryError  # as if the process were killed
        return multiply(own, *args)

    monkeypatch.setattr(WindowTable, "multiply", counted)
    kernels, path = [("gkm", GappedKmer(6, 4, reverse_complement=True))], tmp_path / "fit.ckpt"

    def products(checkpoint):
        count[0] = 0
        model = MKLClassifier(kernels, C=1.0, normalize="spherical", checkpoint=checkpoint).fit(X, y)
        assert model.duality_gap_ <= model.tol
        return count[0], model

    fresh, model = products(None)
    assert len(model.history_) > 5 and model.history_[0]["gap"] > 0.1  # what a progress bar sees
    stop[0] = 0.8 * fresh
    with pytest.raises(MemoryError):
        products(path)
    stop[0] = np.inf
    assert products(path)[0] < 0.7 * fresh
