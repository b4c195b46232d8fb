"""Sequences: many strings over one alphabet, packed to 2, 4 or 8 bits a letter."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from .._packed import Packed
from .._state import check, read_entries
from . import alphabet as _alphabet
from .packing import Packer, feed, frozen, n_bytes

IN_FILES = {
    "alphabet": "Alphabet", "bits": "int 2 <9", "data": "u1 _", "starts": "i8 n <big", "lengths": "i4 n <big >=1"
}  # fmt: skip


class Sequences(Packed):
    """Packed sequences; immutable, and slices share the storage, so that cross-validation copies no data.

    Make one with `Sequences.encode` or `read_fasta`.

    Parameters
    ----------
    alphabet : Alphabet
        An alphabet of A letters with codes 0 … A−1; code A matches nothing.
    bits : int
        2 (at most 4 letters, none unknown), 4 (at most 15 letters) or 8.
    data : array (bytes,) of uint8
        Code j of sequence i in the bits j·bits mod 8 (lowest first) of byte starts_i + j·bits // 8.
    starts : array (n,) of int64
    lengths : array (n,) of int32
        All at least 1.

    Examples
    --------
    >>> from manykernels.sequences import Sequences
    >>> X = Sequences.encode(["ACGT", "AC", "NN"])
    >>> len(X), X.bits, list(X[1:])
    (3, 4, ['AC', 'NN'])
    >>> X[:1].codes()
    array([[0, 1, 2, 3]], dtype=uint8)
    """

    file_tag = ("sequences", 1)
    refusal = "X holds sequences, which a kernel of numbers cannot read: give a string kernel, Spectrum(4)."
    __slots__ = ("alphabet", "bits", "data", "starts", "lengths", "__weakref__")
    alphabet: _alphabet.Alphabet
    bits: int
    data: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def __init__(
        self, alphabet: _alphabet.Alphabet, bits: int, data: np.ndarray, starts: np.ndarray, lengths: np.ndarray
    ) -> None:
        values = (alphabet, bits, frozen(data, np.uint8), frozen(starts, np.int64), frozen(lengths, np.int32))
        for name, value in zip(self.__slots__, values, strict=False):
            object.__setattr__(self, name, value)

    def __setattr__(self, name, value):
        raise AttributeError(f"Sequences are immutable; {name!r} cannot be set")

    def __delattr__(self, name):
        raise AttributeError(f"Sequences are immutable; {name!r} cannot be deleted")

    def to_state(self) -> dict[str, Any]:
        """The letters of these rows only."""
        return dict(zip(self.__slots__, self._own(), strict=False))

    def _own(self):
        """The arguments of the constructor, with storage for these rows only."""
        own = self if self.nbytes == len(self.data) else self.compact()
        return own.alphabet, own.bits, own.data, own.starts, own.lengths

    @classmethod
    def from_state(cls, state: dict[str, Any]) -> Sequences:
        """A ValueError unless the sequences lie within their data and fill it."""
        own = read_entries(IN_FILES, state)
        check(own["bits"] in (2, 4, 8), f"bits = {own['bits']} is not 2, 4 or 8")
        size, sizes = own["data"].size, n_bytes(own["lengths"], own["bits"])
        fits = (own["starts"] <= size - sizes).all() and sizes.sum() == size
        check(fits, "the sequences do not fit their data")
        return cls(**own)

    @classmethod
    def encode(
        cls, X: Any, alphabet: str | _alphabet.Alphabet | None = None, unknown: str = "error", *, checked: bool = False
    ) -> Sequences:
        """X as packed sequences.

        Parameters
        ----------
        X : iterable of str or bytes, NumPy or pandas column, or 2-D array of letters (U1, S1, uint8)
            White space around a sequence, such as the end of a line, is no part of it unless it is a letter of the
            alphabet. Sequences are returned unchanged, unless `unknown` is "A"; a different alphabet is an error, but
            that T of DNA and U of RNA are one letter.
        alphabet : str or Alphabet, optional
            "dna", "rna", "protein", "bytes" or an Alphabet; None means DNA.
        unknown : {"error", "ambiguous", "ignore", "A"}
            Whether letters outside the alphabet raise an error, do so unless they are for several bases or residues or
            gaps, match nothing, or are read as the letter A. "A" serves models of LS-GKM, which reads N as A too.
        checked : bool, default False
            Whether letters outside the alphabet raise an error if they are more than 5 % of all, and else a warning,
            as in fits and predictions. Letters that "ambiguous" reads do not count.

        Returns
        -------
        Sequences
        """
        wanted: Any = None if alphabet is None else _alphabet.get(alphabet)
        if isinstance(X, Sequences):
            if {wanted, X.alphabet} == {_alphabet.DNA, _alphabet.RNA}:  # with the same codes
                X = cls(wanted, X.bits, X.data, X.starts, X.lengths)
            if wanted not in (None, X.alphabet):
                raise ValueError(f"alphabet={wanted.name!r}, but the sequences were encoded with {X.alphabet.name!r}")
            return X._filled(X.alphabet.code_of_unknown("A")) if unknown == "A" and X.bits > 2 else X
        packer = Packer(wanted or _alphabet.DNA, unknown, checked=checked)
        feed(packer, X)
        return cls.packed(packer)

    @classmethod
    def packed(cls, packer: Packer) -> Sequences:
        """The sequences that a Packer collected."""
        if not packer.count:
            raise ValueError("X holds no sequences; give at least one")
        data, starts, lengths, bits = packer.finish()
        return cls(packer.alphabet, bits, data, starts, lengths)

    @classmethod
    def concatenate(cls, parts: Iterable[Sequences]) -> Sequences:
        """Several Sequences of one alphabet as one, with new storage.

        Parameters
        ----------
        parts : iterable of Sequences

        Returns
        -------
        Sequences
        """
        parts = [part if part.nbytes == len(part.data) else part.compact() for part in parts]
        names = {part.alphabet: part.alphabet.name for part in parts}
        if len(names) != 1:
            raise ValueError(f"sequences have the alphabets {sorted(names.values())}: encode all with one alphabet")
        bits = max(part.bits for part in parts)
        parts = [part if part.bits == bits else part._copy(np.zeros(len(part)), part.lengths, bits) for part in parts]
        first = np.cumsum([0, *(len(part.data) for part in parts)])
        starts = np.concatenate([part.starts + at for part, at in zip(parts, first[:-1], strict=True)])
        data, lengths = np.concatenate([part.data for part in parts]), np.concatenate([part.lengths for part in parts])
        return cls(parts[0].alphabet, bits, data, starts, lengths)

    def __len__(self) -> int:
        return len(self.starts)

    @property
    def shape(self) -> tuple[int]:
        return (len(self.starts),)

    @property
    def ndim(self) -> int:
        return 1

    @property
    def nbytes(self) -> int:
        """Bytes of the packed letters of these sequences; a sequence that occurs twice counts twice."""
        return int(np.sum(n_bytes(self.lengths, self.bits)))

    @property
    def length(self) -> int:
        """The common length; a ValueError if the lengths differ."""
        if not len(self):
            raise ValueError("there are no sequences, so there is no common length")
        first = self.lengths[0]
        other = np.flatnonzero(self.lengths != first)
        if len(other):
            i = other[0]
            raise ValueError(
                f"sequence 0 has length {first} and sequence {i} has length {self.lengths[i]}: position-dependent "
                "kernels need equal lengths; cut windows with .window(start, stop), or use Spectrum or GappedKmer"
            )
        return int(first)

    def __getitem__(self, rows):
        if isinstance(rows, tuple):  # scikit-learn slices with [rows, ...]
            rows = [r for r in rows if r is not Ellipsis]
            if len(rows) != 1:
                raise IndexError(f"sequences have one axis, got {len(rows)} indices")
            rows = rows[0]
        if isinstance(rows, (int, np.integer)):
            one = range(len(self))[rows]
            return self[one : one + 1]._texts()[0]
        if not isinstance(rows, slice):
            rows = np.asarray(rows)
            if not rows.size and rows.dtype != bool:
                rows = rows.astype(np.intp)
            if rows.ndim != 1:
                raise IndexError(
                    f"sequences are indexed with a number, a slice, a mask or a 1-D array, got {rows.ndim}-D"
                )
        return Sequences(self.alphabet, self.bits, self.data, self.starts[rows], self.lengths[rows])

    def __iter__(self):
        for lo in range(0, len(self), 4096):
            yield from self[lo : lo + 4096]._texts()

    def _texts(self):
        text = self.letters().tobytes().translate(self.alphabet.decoder()).decode("latin-1")
        return [text[a:b] for a, b in pairwise(self.bounds().tolist())]

    def codes(self, rows: Any = None, fill: int | None = None) -> np.ndarray:
        """Codes (n, L) uint8 of all or of the given rows; `fill`, if given, pads shorter sequences."""
        from ..loops.sequences import unpack_rows

        part = self if rows is None else self[rows]
        if fill is None:
            out = np.empty((len(part), part.length if len(part) else 0), dtype=np.uint8)
        else:
            out = np.full((len(part), part.lengths.max(initial=0)), fill, dtype=np.uint8)
        unpack_rows(part.data, part.starts, part.lengths, part.bits, out)
        return out

    def window(self, start: int | None = None, stop: int | None = None) -> Sequences:
        """The letters [start:stop] of every sequence, as new Sequences."""
        lengths = self.lengths.astype(np.int64)
        first, last = (slice_bound(bound, lengths) for bound in (start or 0, stop))
        if np.any(last <= first):
            i = int(np.argmax(last <= first))
            raise ValueError(f"window({start}, {stop}) leaves nothing of sequence {i}, which has length {lengths[i]}")
        return self._copy(first, last - first)

    def _filled(self, code):
        """The sequences with this code in place of unknown letters."""
        letters = self.letters()
        return self._packed(np.where(letters == self.alphabet.size, np.uint8(code), letters))

    def _packed(self, letters):
        """Sequences of the same lengths with these codes, one sequence after another."""
        from ..loops.sequences import pack

        data, starts = np.empty(self.nbytes, np.uint8), np.empty(len(self), np.int64)
        pack(frozen(letters), frozen(self.bounds()), frozen(np.arange(256), np.int16), 256, self.bits, data, 0, starts)
        return Sequences(self.alphabet, self.bits, data, starts, self.lengths)

    def reverse_complement(self) -> Sequences:
        """The other strand of every sequence, read in its direction: new Sequences.

        Examples
        --------
        >>> from manykernels.sequences import Sequences
        >>> list(Sequences.encode(["AACG", "NT"]).reverse_complement())
        ['CGTT', 'AN']
        """
        ends = self.bounds()
        codes = self.alphabet.opposite()[self.letters()]
        return self._packed(codes[np.repeat(ends[:-1] + ends[1:] - 1, self.lengths) - np.arange(len(codes))])

    def letters(self) -> np.ndarray:
        """The codes of all sequences, one after another, uint8."""
        from ..loops.sequences import unpack_flat

        codes = np.empty(int(np.sum(self.lengths, dtype=np.int64)), dtype=np.uint8)
        unpack_flat(self.data, self.starts, self.lengths, self.bits, codes)
        return codes

    def n_unknown(self) -> np.ndarray:
        """The number of letters of each sequence that match nothing, (n,)."""
        if self.bits == 2:  # there are none
            return np.zeros(len(self), int)
        return np.add.reduceat(self.letters() == self.alphabet.size, self.bounds()[:-1], dtype=int)

    def bounds(self) -> np.ndarray:
        """Where each sequence begins in `letters`, and the end, (n + 1,)."""
        return np.append(0, np.cumsum(self.lengths, dtype=np.int64))

    def sizes(self, known: bool = False) -> np.ndarray:
        return np.asarray(self.lengths - (self.n_unknown() if known else 0), np.int64)

    def table(self) -> tuple[np.ndarray, Any] | None:
        return None if len(self) and np.ptp(self.lengths) else (self.codes().astype(np.int16), self.alphabet)

    def compact(self) -> Sequences:
        """The same sequences with new storage, in order."""
        return self._copy(np.zeros(len(self), dtype=np.int64), self.lengths)

    def _copy(self, first, lengths, bits=None):
        from ..loops.sequences import repack

        bits = self.bits if bits is None else bits
        data = np.empty(int(np.sum(n_bytes(lengths, bits))), dtype=np.uint8)
        starts = np.empty(len(self), dtype=np.int64)
        first, lengths = frozen(first, np.int32), frozen(lengths, np.int32)
        repack(self.data, self.starts, first, lengths, self.bits, bits, data, starts)
        return Sequences(self.alphabet, bits, data, starts, lengths)

    def __eq__(self, other):
        if not isinstance(other, Sequences):
            return NotImplemented
        if self.alphabet != other.alphabet or not np.array_equal(self.lengths, other.lengths):
            return False
        from ..loops.sequences import same

        return same(self.data, self.starts, self.bits, other.data, other.starts, other.bits, self.lengths)

    __hash__ = None  # type: ignore[assignment]  # as arrays have none

    def __array__(self, dtype=None, copy=None):
        out = np.empty(len(self), dtype=object)
        out[:] = list(self)
        return out if dtype is None else out.astype(dtype)

    def __reduce__(self):
        """Pickles hold the letters of these rows only, not the shared storage."""
        alphabet, bits, *arrays = self._own()
        return Sequences, (alphabet, bits, *map(np.array, arrays))

    def __repr__(self):
        low, high = self.lengths.min(initial=0 if not len(self) else 2**31 - 1), self.lengths.max(initial=0)
        span = f"length {low}" if low == high else f"lengths {low} to {high}"
        return f"Sequences({len(self)} of {span}, alphabet={self.alphabet.name!r}, bits={self.bits})"


def slice_bound(bound, lengths):
    """The start or stop of a slice as a position (n,) in sequences of these lengths; None is the end."""
    return lengths if bound is None else np.clip(bound + lengths if bound < 0 else bound, 0, lengths)


class Encoding(NamedTuple):
    """How texts become Sequences: the alphabet, None for that of given Sequences or DNA, and the policy `unknown`."""

    alphabet: _alphabet.Alphabet | None
    unknown: str

    def read(self, X: Any, checked: bool = False) -> Sequences:
        """`Sequences.encode`."""
        return Sequences.encode(X, *self, checked=checked)
