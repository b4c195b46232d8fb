"""Positional oligomer importance matrices: the effect of a word at a position on the decision of a string model.

    Q(z, p) = E[s(X) | X[p:p+k] = z] − E[s(X)],   s(x) = Σ_i a_i Σ_{l,j} weight[l, j−1] [x_i[l:l+j] = x[l:l+j]]

Sonnenburg, Zien, Philips and Rätsch (2008). A support word that overlaps the window [p, p + k) counts for all z that
agree with it in the window, times the probability of its letters outside. So Q(·, p) is a sum of functions of the parts
z[s:e], each a table of A^{e−s} numbers, for words of any length. Words beside the window matter only if letters depend
on each other, and then through its first or last letter. The result is exact and takes n_support · L · (d² + k²) steps.
Beyond the paper, the background may be a chain of order 1, and E[s(X)] is the mean of E[s(X) | z] over z.
"""

from itertools import product
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np

from .._threads import run_blocks
from .._validation import check_integer
from ..sequences import Sequences
from .sequences import words
from .tables import numbers_table

MAX_POIM_ENTRIES = 2**27  # of a matrix; a single position needs about eight times its own entries


class POIM(NamedTuple):
    """A positional oligomer importance matrix, Q(z, p) of every word z of k letters and position p.

    Parameters
    ----------
    values : array (L − k + 1, A^k)
        Q(z, p) at [p, number of z], words numbered in the order of `itertools.product`.
    k : int
        The number of letters of a word.
    letters : str
        The A letters of the alphabet.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import POIM
    >>> matrix = POIM(np.array([[1.0, -2.0], [0.5, 0.0]]), 1, "AB")
    >>> matrix.words, matrix.importance
    (['A', 'B'], array([2. , 0.5]))
    """

    values: np.ndarray
    k: int
    letters: str

    @property
    def words(self) -> list[str]:
        """The A^k words, in the order of the columns."""
        return ["".join(word) for word in product(self.letters, repeat=self.k)]

    @property
    def importance(self) -> np.ndarray:
        """max_z |Q(z, p)|, (L − k + 1,): the largest effect of the letters of a window."""
        return np.abs(self.values).max(axis=1)


def poim(model: Any, k: int, background: Any = None, label: Any = None) -> POIM:
    """The importance of every word of k letters at every position, in units of the decision function.

    Parameters
    ----------
    model : estimator
        Fitted on Degree, WeightedDegree and WeightedDegreeShift kernels.
    k : int
        Letters of a word.
    background : array or sequences, optional
        The distribution of X. Independent letters: None (uniform) or probabilities (A,). A chain of order 1:
        probabilities (A, A) of the next letter, or sequences to estimate them from.
    label : optional
        The class, if there are more than two.

    Returns
    -------
    POIM

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import poim
    >>> from manykernels.strings import degree_kernels
    >>> model = MKLClassifier(degree_kernels(2), C=1.0).fit(["ACGT", "ACGA", "TTGT", "TTGA"], [1, 1, 0, 0])
    >>> poim(model, 2).values.shape
    (3, 16)
    """
    rows, letters = _rows(model, k, background, label, lambda p, values: values, keep=True)
    return POIM(np.array(rows), k, letters)


def top_kmers(
    model: Any, k: int, n: int = 20, background: Any = None, label: Any = None
) -> list[tuple[str, int, float]]:
    """The words of k letters and positions with the largest |Q|, see `poim`.

    Parameters
    ----------
    model, k, background, label
        As in `poim`.
    n : int, default 20
        The number of words.

    Returns
    -------
    list of (word, position, Q)
        Largest |Q| first.

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import top_kmers
    >>> from manykernels.strings import degree_kernels
    >>> model = MKLClassifier(degree_kernels(2), C=1.0).fit(["ACGT", "ACGA", "TTGT", "TTGA"], [1, 1, 0, 0])
    >>> sorted((word, place) for word, place, Q in top_kmers(model, 2, n=2))
    [('AC', 0), ('TT', 0)]
    """
    check_integer("n", n)

    def best(p, values):
        found = np.argpartition(-np.abs(values), min(n, len(values)) - 1)[:n]
        return [(z, p, values[z]) for z in found]

    rows, letters = _rows(model, k, background, label, best)
    found = sorted((hit for row in rows for hit in row), key=lambda hit: (-abs(hit[2]), hit[1], hit[0]))[:n]
    size = len(letters)
    return [("".join(letters[z // size**j % size] for j in range(k)[::-1]), p, float(q)) for z, p, q in found]


def top_kmers_table(model: Any, k: int, n: int = 20, background: Any = None, label: Any = None) -> Any:
    """`top_kmers` for `rich.print`; positions count from 0.

    Parameters
    ----------
    model, k, n, background, label
        As in `top_kmers`.

    Returns
    -------
    rich.table.Table

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import top_kmers_table
    >>> from manykernels.strings import degree_kernels
    >>> model = MKLClassifier(degree_kernels(2), C=1.0).fit(["ACGT", "ACGA", "TTGT", "TTGA"], [1, 1, 0, 0])
    >>> top_kmers_table(model, 2, n=5).row_count
    5
    """
    rows = [(word, str(p), f"{change:+.4f}") for word, p, change in top_kmers(model, k, n, background, label)]
    title = f"Words of {k} letters that move the decision most"
    return numbers_table(title, "word", ("position", "change of the decision"), rows)


def _rows(model, k, background, label, use, keep=False):
    """[use(p, Q(·, p)) for every p], and the letters."""
    from ..loops.explain import expected_windows

    pieces, alphabet, unknown = words(model, label)
    L, size = pieces[0][0].shape[1], alphabet.size
    _check(k, L, size, L if keep else 1)
    forward, backward, pi = _chain(background, alphabet, unknown)
    left, right = _beside(pieces, forward, backward, L, size)
    offsets, total = np.zeros((k, k), np.int64), 0
    for s, e in zip(*np.triu_indices(k), strict=True):
        offsets[s, e], total = total, total + size ** int(e - s + 1)

    def row(p):
        table = np.zeros(total)
        for piece in pieces:
            expected_windows(*piece, forward, backward, p, k, size, table, offsets)
        values, chance = np.zeros(()), np.ones(())
        for e in range(k):
            parts = np.zeros(())
            for s in range(e, -1, -1):
                length = e - s + 1
                parts = parts + table[offsets[s, e] :][: size**length].reshape((size,) * length)
            values = values[..., None] + parts
            chance = chance[..., None] * (pi if e == 0 else forward[:size, :size])
        values = values + left[p].reshape((size,) + (1,) * (k - 1)) + right[p + k - 1]
        return use(p, (values - np.sum(values * chance)).ravel())

    return run_blocks(row, range(L - k + 1), model.n_jobs), alphabet.letters


def _beside(pieces, forward, backward, L, size):
    """Expectations (L, A), given the letter at p, of words that end before p and of words that start after p."""
    from ..loops.explain import expected_ends

    last, first = np.zeros((L, size)), np.zeros((L, size))
    for piece in pieces:
        expected_ends(*piece, forward, backward, last, first)
    left, right = np.zeros((L, size)), np.zeros((L, size))
    for p in range(1, L):
        left[p] = backward[:size, :size] @ (left[p - 1] + last[p - 1])
        right[L - 1 - p] = forward[:size, :size] @ (right[L - p] + first[L - p])
    return left, right


def _chain(background, alphabet, unknown):
    """P(next | letter), P(previous | letter), both (A + 1, A + 1) with zeros for the unknown letter, and P(letter)."""
    A = alphabet.size
    P = np.full(A, 1 / A) if background is None else _probabilities(background, alphabet, unknown)
    pi = P if P.ndim == 1 else _stationary(P)
    P = np.broadcast_to(P, (A, A))
    # Bayes' rule; π before a letter that never occurs
    back = np.where(pi[:, None] > 0, pi * P.T / np.where(pi > 0, pi, 1)[:, None], pi)
    return np.pad(P, (0, 1)), np.pad(back, (0, 1)), pi


def _probabilities(background, alphabet, unknown):
    """`background` as probabilities of the letters (A,), or of the letter after each (A, A)."""
    A = alphabet.size
    if not isinstance(background, Sequences):
        P = np.asarray(background)
        if P.dtype.kind in "biuf":
            if P.shape not in ((A,), (A, A)) or not (P >= 0).all() or not np.allclose(P.sum(axis=-1), 1):
                raise ValueError(
                    f"background must be probabilities of the letters {alphabet.letters!r}, ({A},), or of the next "
                    f"letter, ({A}, {A}), that sum to 1; got {background!r}"
                )
            return P / P.sum(axis=-1, keepdims=True)
    try:
        X = Sequences.encode(background, alphabet, unknown)
    except ValueError as error:
        raise ValueError(f"background must be sequences like those of the model: {error}") from None
    pairs = np.zeros((A + 1) ** 2)
    for low in range(0, len(X), 10_000):
        codes = X[low : low + 10_000].codes(fill=A).astype(np.int64)
        pairs += np.bincount((codes[:, :-1] * (A + 1) + codes[:, 1:]).ravel(), minlength=pairs.size)
    pairs = pairs.reshape(A + 1, A + 1)[:A, :A]
    if not pairs.any():
        raise ValueError(f"background has no two letters of {alphabet.letters!r} side by side: give other sequences")
    P = pairs + 1  # a pair that was not seen is rare, not impossible
    return P / P.sum(axis=1, keepdims=True)


def _stationary(P):
    """π with πP = π, Σπ = 1."""
    A = len(P)
    pi = np.linalg.lstsq(np.vstack([P.T - np.eye(A), np.ones(A)]), np.eye(A + 1)[A], rcond=None)[0].clip(0)
    return pi / pi.sum()


def _check(k, L, size, rows):
    if not isinstance(k, Integral) or isinstance(k, bool) or not 1 <= k <= L:
        raise ValueError(f"k={k!r} must be an integer from 1 to the length of the sequences, {L}")
    if size**k * max(rows, 8) > MAX_POIM_ENTRIES:
        cure = ", or top_kmers, which holds one position at a time" if rows > 1 else ""
        raise ValueError(f"k={k}: {size}^{k} words do not fit in memory; take shorter words{cure}")
