"""The base class of string kernels: encoding of the input, blocks of rows, and checks of parameters."""

from numbers import Integral
from typing import Any

import numpy as np

from .._parts import declared
from .._threads import run_blocks
from .._validation import check_choice, check_integer
from ..kernels.base import Kernel
from ..sequences import POLICIES, Alphabet, Sequences, check_encoding
from ..sequences.alphabet import get
from ..sequences.packed import Encoding

_ROWS_PER_BLOCK = 256
MAX_IN_FILE = 2**16  # letters of a word, or positions of a shift, of a kernel that was read from a file


@declared
class StringKernel(Kernel):
    """A kernel of two strings; subclasses define `block(X, Y)` and `own(X)` on Sequences, and `check(length)`.

    alphabet: "dna", "rna", "protein", "bytes", an Alphabet, or None (the alphabet of given Sequences, else DNA).
    unknown: "error" or "ignore"; an ignored letter, which the alphabet lacks, matches nothing, not even itself.
        "ambiguous" ignores letters for several bases or residues and gaps alone. "A", in loaded models of LS-GKM alone,
        reads a letter as A; a fit refuses this.
    reverse_complement: whether x is compared with both strands of y, k(x, y) + k(x, rc y).
    """

    reads = "sequences"
    equal_lengths = False

    start: Any
    stop: Any
    alphabet: Any
    unknown: str
    reverse_complement: bool = False

    @property
    def encoding(self) -> Encoding:  # type: ignore[override]  # depends on its parameters
        """How strings become Sequences for this kernel."""
        check_choice("unknown", self.unknown, POLICIES, of=self)
        check_choice("reverse_complement", self.reverse_complement, (False, True), of=self)
        return Encoding(None if self.alphabet is None else get(self.alphabet), self.unknown)

    def encode(self, X: Any) -> Sequences:
        """X as Sequences, with the kernel's parameters checked on them."""
        seqs = self.encoding.read(X)
        self.check(seqs.length if self.equal_lengths else None)
        if self.reverse_complement:
            seqs.alphabet.opposite()  # an error if there is no second strand
        return seqs

    def check(self, length: int | None) -> None:
        """A ValueError if a parameter is out of range for sequences of this length (None: any length)."""

    def check_state(self) -> None:
        super().check_state()
        for name, value in vars(self).items():
            for number in value if isinstance(value, list | tuple) else [value]:
                if isinstance(number, int | np.integer) and name not in ("start", "stop") and number > MAX_IN_FILE:
                    raise ValueError(f"{name} = {value} is more than {MAX_IN_FILE}")
        check_encoding(self.encoding)
        if self.reverse_complement and self.alphabet is not None:
            get(self.alphabet).opposite()
        self.check(None)

    def told(self) -> dict[str, Any]:
        """Defaults are not shown."""
        usual = [("reverse_complement", False), ("filter", "counts"), ("nearest", True), ("counts", "all")]
        told = super().told()
        if isinstance(self.alphabet, Alphabet):
            told["alphabet"] = self.alphabet.name
        return {k: v for k, v in told.items() if v not in (None, "dna", "error") and (k, v) not in usual}

    def learns(self) -> str:
        return ""  # `resolve` only checks the letters

    def resolve(self, X: Any, weights: np.ndarray | None = None) -> Kernel:
        if self.unknown == "A":
            raise ValueError(
                f"unknown='A' of {type(self).__name__} serves models of LS-GKM that are loaded, which predict: to fit, "
                "and for reports and relevance, which fit folds, give a kernel with unknown='error' or 'ignore'."
            )
        self.encode(X)
        return self

    def __call__(self, X: Any, Y: Any = None) -> np.ndarray:
        """k(x_i, y_j), (n, m), of strings, arrays of strings, pandas columns or Sequences; Y = None means X."""
        X, symmetric = self.encode(X), Y is None
        Y = X if symmetric else self.encode(Y)
        self._check_pair(X, Y)
        out = np.empty((len(X), len(Y)))

        def work(r):
            c = r if symmetric else 0
            out[r : r + _ROWS_PER_BLOCK, c:] = self.block(X[r : r + _ROWS_PER_BLOCK], Y[c:] if c else Y)
            if symmetric:
                out[r + _ROWS_PER_BLOCK :, r : r + _ROWS_PER_BLOCK] = out[
                    r : r + _ROWS_PER_BLOCK, r + _ROWS_PER_BLOCK :
                ].T

        run_blocks(work, range(0, len(X), _ROWS_PER_BLOCK))
        return out

    def between(self, X: Sequences, Y: Sequences) -> np.ndarray:
        """k(x_i, y_j) of Sequences, (n, m), on the calling thread."""
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
            f"X has alphabet {alphabet.name!r}, but it is compared with sequences of {other.name!r}: encode both alike."
        )


def check_length(X: Sequences, length: int) -> None:
    """A ValueError unless the sequences X all have this length."""
    if X.length != length:
        raise ValueError(
            f"X has sequences of length {X.length}, but it is compared with sequences of length {length}: "
            "position-dependent kernels need equal lengths; cut windows of one length, or use Spectrum or GappedKmer."
        )


def integer(kernel: Any, name: str, low: int = 1, high: int | None = None, value: Any = None) -> int:
    """The parameter `name` of a kernel as an int within [low, high], else a ValueError."""
    value = getattr(kernel, name) if value is None else value
    return check_integer(name, value, low, high, of=kernel)


def positions(kernel: Any, length: int | None) -> tuple[int, Any]:
    """(start, stop) of a kernel with 0 <= start < stop <= length; None for the ends."""
    for name, value, least in (("start", kernel.start, 1), ("stop", kernel.stop, 0)):
        if length is not None and isinstance(value, Integral) and int(value) + least > length:
            raise ValueError(
                f"{name}={value} of {type(kernel).__name__} lies behind the end of sequences of length {length}: the "
                f"kernel was made for longer ones; in position_kernels or degree_position_kernels give length={length}."
            )
    start = 0 if kernel.start is None else integer(kernel, "start", 0)
    if kernel.stop is None:
        return start, length
    return start, integer(kernel, "stop", start + 1, length)


def fits(kernel: Any, size: int, k: int, times: int = 1) -> None:
    """A ValueError if `times` · size^k words cannot be numbered."""
    if size > 1 and k >= 63 or times * size**k >= 2**63:  # the first test avoids a power with a billion digits
        raise ValueError(
            f"words of {k} letters of an alphabet of {size} are too many for {type(kernel).__name__}: "
            f"{size}^{k} words (times {times}) must be fewer than 2^63; use shorter words."
        )
