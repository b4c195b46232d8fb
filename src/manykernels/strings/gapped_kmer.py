from copy import copy
from itertools import combinations
from math import comb
from typing import Any

import numpy as np

from .._validation import check_choice, check_number
from ..kernels.base import Kernel
from ..kernels.normalize import inverse_root
from ..sequences.alphabet import DNA, Alphabet
from ..sequences.packed import Sequences
from ._words import WordKernel, window
from .base import MAX_IN_FILE, fits, integer
from .word_table import FILTERS, LEAST, Indefinite, channel_weights, least_eigenvalue, mismatch_weights


class GappedKmer(WordKernel):
    """The gapped k-mer kernel: common choices of k letters in windows of l letters.

    k(x, y) = Σ_{S, w} #_{S,w}(x) #_{S,w}(y) = Σ_{windows u of x, v of y} C(l − mismatches(u, v), k).

    S are the C(l, k) ways to choose k places of a window of l letters, w the words of k letters, #_{S,w}(x) the number
    of windows of x that have the letters w at the places S. Strings may have any length; the kernel is 0 for strings
    shorter than l. An unknown letter mismatches every letter. Ghandi et al. (2014).

    `d` and `filter` give the other kernels of gkm-SVM and LS-GKM, Σ_{u, v} c(m) [m <= d], m = mismatches(u, v). In
    these a window with an unknown letter does not count.

    Parameters
    ----------
    l : int
        Letters of a window.
    k : int
        Letters of a window that are compared.
    start, stop : int, optional
        The part [start:stop] of each string that the kernel sees.
    alphabet : str or Alphabet, default "dna"
        "dna", "rna", "protein", "bytes" or an `Alphabet`; None for the alphabet of given `Sequences`, else DNA.
    unknown : {"error", "ambiguous", "ignore"}
        Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
        gaps, or match nothing. Loaded models of LS-GKM have "A": they are read as the letter A, N too.
    reverse_complement : bool, default False
        Whether the words of x are compared with those of both strands of y, k(x, y) + k(x, rc y): for DNA and RNA of
        which either strand may be given. With start or stop, rc y is the other strand of the part [start:stop].
    d : int, optional
        The largest number of mismatches of two windows that count; l − k by default: k letters in common. With "full"
        it may be up to l: then all mismatches count, and the matrix of c is a projection.
    filter : {"counts", "full", "truncated"}
        c(m): "counts" is C(l − m, k). The two others are inner products of estimated counts of words of l letters, by
        the whole filter of Ghandi et al. (2014), or by the part of it before its first value that is not positive.
    nearest : bool, default True
        The matrix of c between all words may have a negative eigenvalue λ, as with d < l − k in "counts", and with
        d = 3 in "truncated" (10, 6) and (11, 7). Then |λ| is added to c(0), so that the kernel is positive
        semidefinite. False keeps c as it is, as LS-GKM does; a fit then refuses the kernel unless its normalised matrix
        of the different training sequences has no eigenvalue below 0.001 (`least_eigenvalue`), as is usual.
    gamma : float, optional
        The Gaussian kernel on top, exp(gamma (k(x, y) / √(k(x, x) k(y, y)) − 1)), which has no explicit features.
    centre : (int, float), optional
        (M, H): windows near the centre of a sequence count more, a pair of windows ω_p ω_q times with ω_p = min(M,
        ⌊M 2^(−|⌊n/2⌋ − p| / H) + 1⌋) for window p = 0 … n − 1 of n: M at the centre and half of it after H letters. A
        window of the second strand has the weight of the same letters on the first; with an even n the weights of x and
        of rc x differ. The kernel is then computed pair by pair.

    Examples
    --------
    >>> from manykernels.strings import GappedKmer
    >>> GappedKmer(3, 2)(["ACGT", "ACCT"])
    array([[6., 2.],
           [2., 6.]])
    >>> GappedKmer(6, 4, d=1, filter="truncated", reverse_complement=True)(["ACGTTGCA"]).round(3)
    array([[2.011]])
    """

    tested = False  # whether nearest=False is positive semidefinite on the training examples
    file_tag = ("kernel/gapped_kmer", 3)
    former_tags = (("kernel/gapped_kmer", 1), ("kernel/gapped_kmer", 2))  # without reverse_complement to gamma; centre

    def __init__(
        self,
        l: int,  # noqa: E741 (the paper's name)
        k: int,
        start: int | None = None,
        stop: int | None = None,
        alphabet: str | Alphabet | None = "dna",
        unknown: str = "error",
        reverse_complement: bool = False,
        d: int | None = None,
        filter: str = "counts",  # noqa: A002 (gkm-SVM's name)
        nearest: bool = True,
        gamma: float | None = None,
        centre: tuple[int, float] | None = None,
    ) -> None:
        self.l = l
        self.k = k
        self.d = d
        self.filter = filter
        self.nearest = nearest
        self.gamma = gamma
        self.centre = centre
        super().__init__(start, stop, alphabet, unknown, reverse_complement)

    @property
    def family(self) -> str | None:  # type: ignore[override]  # depends on its parameters
        return "windows" if self.gamma is None else None

    @property
    def whole(self) -> bool:  # type: ignore[override]  # depends on its parameters
        return not self._plain

    @property
    def shortest(self) -> int:  # type: ignore[override]  # depends on its parameters
        return self.l

    @property
    def psd(self) -> bool:  # type: ignore[override]  # depends on its parameters
        return self.nearest or self.tested or self._plain or self._weights((self.encoding[0] or DNA).size)[1] >= 0

    @property
    def _most(self):
        """The largest number of mismatches that count."""
        return self.l - self.k if self.d is None else self.d

    @property
    def _plain(self):
        return self.filter == "counts" and self._most == self.l - self.k

    def check(self, length: int | None) -> None:
        integer(self, "k", 1, integer(self, "l"))
        if self.d is not None:
            integer(self, "d", 0, self.l if self.filter == "full" else self.l - self.k)
        check_choice("filter", self.filter, FILTERS, of=self)
        check_choice("nearest", self.nearest, (False, True), of=self)
        if self.gamma is not None:
            check_number("gamma", self.gamma, of=self)
        if self.centre is not None:
            if not isinstance(self.centre, list | tuple) or len(self.centre) != 2:
                raise ValueError(f"centre={self.centre!r} of GappedKmer: give (M, H), such as (50, 50.0), or None.")
            integer(self, "M", 1, MAX_IN_FILE, self.centre[0])
            check_number("H", self.centre[1], of=self)
        self.check_readings(self.k if self._plain else self.l)
        window(self)

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        super().resolve(X)
        X = self.encode(X)
        if self.psd:
            return self
        least = least_eigenvalue(self, X)
        if not least > LEAST:
            raise Indefinite(
                f"nearest=False of {self!r}: its matrix of the training sequences has an eigenvalue of {least:.3g} or "
                "less, and a fit needs a positive semidefinite kernel: give nearest=True."
            )
        tested = copy(self)
        tested.tested = True
        return tested

    def n_readings(self, size: int, positive: bool = False) -> int:
        most = self._most
        return comb(self.l, self.k) if self._plain else sum(comb(self.l, m) for m in range(most + 1))

    def _weights(self, size):
        fits(self, size, self.l)
        return mismatch_weights(self.l, self.k, self._most, self.filter, size)

    def mismatches(self, size: int) -> tuple[int, np.ndarray]:
        weights = [comb(self.l - m, self.k) for m in range(self._most + 1)] if self._plain else self._repaired(size)
        return self.l, np.array([float(value) for value in weights])

    def window_weights(self, n_windows: int) -> np.ndarray | None:
        if self.centre is None:
            return None
        most, half = self.centre
        away = np.abs(n_windows // 2 - np.arange(n_windows))
        return np.minimum(most, np.floor(most * 2.0 ** (-away / half) + 1))

    window_weights.__doc__ = WordKernel.window_weights.__doc__

    def _repaired(self, size):
        (first, *others), least = self._weights(size)
        return [first - (min(least, 0) if self.nearest else 0), *others]

    def channels(self, size: int) -> list[Any]:
        if self._plain:
            fits(self, size, self.k, comb(self.l, self.k))
            return [(places, self.l, 1) for places in combinations(range(self.l), self.k)]
        by_places = enumerate(channel_weights(self._repaired(size), self.l))
        return [
            (places, self.l, float(weight))
            for j, weight in by_places
            if weight
            for places in combinations(range(self.l), j)
        ]

    def readings(self, size: int, positive: bool = False) -> list[Any]:
        if positive and not self._plain:
            raise ValueError(f"features='hash' has no features of {self!r}: take features='auto', or filter='counts'.")
        return super().readings(size)

    def features(self, X: Any) -> Any:
        if not self._plain or self.gamma is not None:
            raise ValueError(f"{self!r} is no product of counts of words: take filter='counts', d=None and gamma=None.")
        return super().features(X)

    features.__doc__ = WordKernel.features.__doc__

    def block(self, X: Sequences, Y: Sequences) -> np.ndarray:
        K = super().block(X, Y)
        if self.gamma is None:
            return K
        K *= np.multiply.outer(*(inverse_root(super(GappedKmer, self).own(Z)) for Z in (X, Y)))
        return np.exp(self.gamma * (K - 1))

    def own(self, X: Sequences) -> np.ndarray:
        own = super().own(X)
        return own if self.gamma is None else np.exp(self.gamma * ((own > 0) - 1.0))
