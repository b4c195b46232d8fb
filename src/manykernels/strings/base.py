"""What the string kernels share: encoding of their input, blocks of rows, and checks of their parameters."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np

from .._threads import run_blocks
from .._validation import check_choice, check_integer
from ..kernels.base import Kernel
from ..sequences import POLICIES, Alphabet, Sequences, check_encoding
from ..sequences.alphabet import get

_ROWS = 256
MOST = 2**16  # letters of a word, or places of a shift, in a kernel that was read from a file


class StringKernel(Kernel):
    """A kernel of two strings; subclasses define `block(X, Y)` and `own(X)` on Sequences, and `check(length)`.

    alphabet: "dna", "rna", "protein", "bytes", an Alphabet, or None (that of the Sequences given, DNA for others).
    unknown: "error", or "ignore": letters that the alphabet does not have match nothing, not even themselves.
    """

    reads = "sequences"
    equal_lengths = False

    @property
    def encoding(self) -> tuple:  # type: ignore[override]  # depends on its parameters
        """(alphabet, unknown): how strings become Sequences for this kernel."""
        check_choice("unknown", self.unknown, POLICIES, of=self)
        return None if self.alphabet is None else get(self.alphabet), self.unknown

    def encode(self, X: Any) -> Sequences:
        """X as Sequences, with the kernel's parameters checked on them."""
        seqs = Sequences.encode(X, *self.encoding)
        self.check(seqs.length if self.equal_lengths else None)
        return seqs

    def check(self, length: int | None) -> None:
        """A ValueError where a parameter is out of range, for sequences of that length (None: of any)."""

    def check_state(self) -> None:
        super().check_state()
        for name, value in vars(self).items():
            for number in value if isinstance(value, list | tuple) else [value]:
                if isinstance(number, int | np.integer) and name not in ("start", "stop") and number > MOST:
                    raise ValueError(f"{name} = {value} is more than {MOST}")
        check_encoding(self.encoding)
        self.check(None)

    def learns(self) -> str:
        return ""  # `resolve` checks that the letters are known

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        self.encode(X)
        return self

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """k(x_i, y_j), (n, m); Y = None means X. Strings, arrays of them, pandas columns or Sequences."""
        X, symmetric = self.encode(X), Y is None
        Y = X if symmetric else self.encode(Y)
        self._check_pair(X, Y)
        out = np.empty((len(X), len(Y)))

        def work(r):
            c = r if symmetric else 0
            out[r : r + _ROWS, c:] = self.block(X[r : r + _ROWS], Y[c:] if c else Y)
            if symmetric:
                out[r + _ROWS :, r : r + _ROWS] = out[r : r + _ROWS, r + _ROWS :].T

        run_blocks(work, range(0, len(X), _ROWS))
        return out

    def between(self, X: Sequences, Y: Sequences) -> np.ndarray:
        """k(x_i, y_j) of Sequences, (n, m), on the thread that calls."""
        self._check_pair(X, Y)
        return self.block(X, Y)

    def _check_pair(self, X, Y):
        check_alike(X.alphabet, Y.alphabet)
        if self.equal_lengths:
            check_length(X, Y.length)

    def diag(self, X: Any) -> np.ndarray:
        """k(x_i, x_i), (n,)."""
        return self.own(self.encode(X))


def check_alike(alphabet: Alphabet, other: Alphabet) -> None:
    if alphabet != other:
        raise ValueError(
            f"X has alphabet {alphabet.name!r}, but what it is compared with has {other.name!r}: encode both the same."
        )


def check_length(X: Sequences, length: int) -> None:
    """A ValueError where the sequences X are not all of that length."""
    if X.length != length:
        raise ValueError(
            f"X has sequences of length {X.length}, but those it is compared with have length {length}: "
            "position-dependent kernels need equal lengths; cut windows of one length, or take Spectrum or GappedKmer."
        )


def integer(kernel: Any, name: str, low: int = 1, high: int | None = None, value: Any = None) -> int:
    """The parameter `name` of a kernel as an int within [low, high], else a ValueError."""
    return check_integer(name, getattr(kernel, name) if value is None else value, low, high, of=kernel)


def positions(kernel: Any, length: int | None) -> tuple[int, Any]:
    """(start, stop) of a kernel with 0 <= start < stop <= length; None stands for the ends."""
    for name, least in (("start", 1), ("stop", 0)):
        value = getattr(kernel, name)
        if length is not None and isinstance(value, Integral) and int(value) + least > length:
            raise ValueError(
                f"{name}={value} of {type(kernel).__name__} lies behind the end of sequences of length {length}: the "
                f"kernel was made for longer ones; for position_kernels and its like give length={length}."
            )
    start = 0 if kernel.start is None else integer(kernel, "start", 0)
    if kernel.stop is None:
        return start, length
    return start, integer(kernel, "stop", start + 1, length)


def fits(kernel: Any, size: int, k: int, times: int = 1) -> None:
    """A ValueError where `times` · size^k words cannot be numbered."""
    if size > 1 and k >= 63 or times * size**k >= 2**63:  # not a power with a billion digits
        raise ValueError(
            f"words of {k} letters of an alphabet of {size} are too many for {type(kernel).__name__}: "
            f"{size}^{k} words (times {times}) must be fewer than 2^63; take shorter words."
        )
