"""Letters packed to codes in blocks, without a Python object per letter, or per sequence outside the block."""

from itertools import islice

import numpy as np

from .._callers import warn
from .._validation import shown
from .alphabet import DNA, INVALID_CODE, PROTEIN, RNA, fitting, refuse_missing_text

TEXT = (str, bytes, bytearray)
SEQUENCES_PER_BLOCK = 8192
MOST_STRANGE = 0.05  # share of letters that the alphabet lacks, in the sequences of a model
MAX_MISSING = 4  # letters of the texts of a missing value
MOST_KNOWN = 0.9  # share of the letters of a sequence that the alphabet has, for no advice to take another
MIN_BASES = 100  # letters, all of them bases, that are hardly of a protein


class StrangeLetters(UserWarning):
    """Some letters are none of the alphabet."""


def width(alphabet, unknown_present=True):
    """Bits per code: 2 for up to 4 letters without unknown ones, 4 for up to 15 letters, else 8."""
    if alphabet.size <= 4 and not unknown_present:
        return 2
    return 4 if alphabet.size <= 15 else 8


def frozen(array, dtype=None):
    """A contiguous read-only view: shared storage cannot change, and compiled loops see a single type."""
    view = np.ascontiguousarray(array, dtype=dtype).view()
    view.flags.writeable = False
    return view


def n_bytes(lengths, bits):
    """Bytes of packed sequences of these lengths."""
    return -(np.asarray(lengths, dtype=np.int64) * -bits // 8)


class Packer:
    """Collects blocks of letters, with two bits per letter until the first unknown letter, which needs four.

    what: a format string that names sequence i in errors.
    checked: whether many letters that the alphabet lacks are an error, and a few a warning, whatever `unknown` says.
    """

    def __init__(self, alphabet, unknown="error", what="X[{}]", checked=False):
        self.alphabet, self.unknown, self.what = alphabet, unknown, what
        self.table = frozen(alphabet.table(unknown))
        self.strips = not any(letter.isspace() for letter in alphabet.letters + alphabet.unknown)
        self.bits = width(alphabet, unknown_present=False)
        self.data, self.used, self.count = np.empty(0, dtype=np.uint8), 0, 0
        self.starts, self.lengths = [], []
        self.odd = alphabet.strange() if checked else None
        self.seen, self.first_odd = np.zeros(256, int), ""  # how often each byte occurs

    def add(self, letters, offsets):
        """Append the sequences letters[offsets_i : offsets_{i+1}] (uint8; offsets (n + 1,) int64)."""
        from ..loops.sequences import pack

        letters, offsets = frozen(letters, np.uint8), frozen(offsets, np.int64)
        lengths = np.diff(offsets)
        if not lengths.all():
            empty = self.what.format(self.count + int(np.argmin(lengths)))
            raise ValueError(f"{empty} is an empty sequence; remove it (and its label)")
        starts = np.empty(len(lengths), dtype=np.int64)
        while True:
            end = self.used + int(np.sum(n_bytes(lengths, self.bits)))
            if end > len(self.data):
                self.data.resize(max(end, len(self.data) * 5 // 4), refcheck=False)
            bad = pack(letters, offsets, self.table, self.alphabet.size, self.bits, self.data, self.used, starts)
            if bad < 0:
                break
            if self.table[letters[bad]] < 0:
                self.refuse(chr(letters[bad]), bad, offsets, letters)
            self._widen()
        self.starts.append(starts)
        self.lengths.append(lengths.astype(np.int32))
        if self.odd is not None:
            self.seen += np.bincount(letters, minlength=256)
            odd = np.flatnonzero(self.odd[letters])
            if odd.size and not self.first_odd:
                _, name, at = self._place(odd[0], offsets)
                self.first_odd = f"{chr(letters[odd[0]])!r} at position {at} of {name}"
        self.used, self.count = end, self.count + len(lengths)

    def _place(self, at, offsets):
        """(i, the name of sequence i, the position in it) of a letter of the block."""
        i = int(np.searchsorted(offsets, at, side="right")) - 1
        return i, self.what.format(self.count + i), int(at - offsets[i])

    def _tell_odd(self):
        """A ValueError if more than `MOST_STRANGE` of the letters are none of the alphabet, a warning if some are."""
        name, total, n_odd = self.alphabet.name, self.seen.sum(), self.seen[self.odd].sum()
        says = f"{n_odd:,} of {total:,} letters are none of alphabet {name!r} ({_shown(self.alphabet)})"
        says += f", the first {self.first_odd}: they {'are read as A' if self.unknown == 'A' else 'match nothing'}."
        if n_odd > MOST_STRANGE * total:
            raise ValueError(f"{says} Give sequences of {name!r}, and N or X for unknown letters.")
        if self.alphabet == PROTEIN and total >= MIN_BASES and not self.seen[DNA.strange()].any():
            n_odd, says = total, f"all {total:,} letters are bases, and proteins are compared: give proteins."
        if n_odd:
            warn(says, StrangeLetters)

    def add_items(self, items):
        """Append a list of str or bytes, without white space around them unless it is a letter of the alphabet."""
        i = next((i for i, item in enumerate(items) if not isinstance(item, TEXT)), None)
        if i is not None:
            raise ValueError(
                f"{self.what.format(self.count + i)} is {shown(items[i])}, not a sequence of letters; give str or "
                "bytes, and remove examples without a sequence"
            )
        if self.strips:
            items = [item.strip() for item in items]
        offsets = np.zeros(len(items) + 1, dtype=np.int64)
        np.cumsum(np.fromiter(map(len, items), dtype=np.int64, count=len(items)), out=offsets[1:])
        short = np.flatnonzero(np.diff(offsets) <= MAX_MISSING) if self.alphabet in (DNA, RNA, PROTEIN) else ()
        for i in short if len(short) < len(items) else ():  # else NAN may be a word like the others
            refuse_missing_text(items[i], self.what.format(self.count + i))
        text = "".join(item if isinstance(item, str) else item.decode("latin-1") for item in items)
        letters = self._bytes(text, offsets)
        self.add(np.frombuffer(letters, dtype=np.uint8), offsets)

    def _bytes(self, text, offsets):
        try:
            return text.encode("latin-1")
        except UnicodeEncodeError as error:
            code = self.alphabet.code_of_unknown(self.unknown)
            spare = np.flatnonzero(self.table == code)
            if code == INVALID_CODE or not len(spare):
                self.refuse(text[error.start], error.start, offsets)
            points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")
            return np.where(points < 256, points, spare[0]).astype(np.uint8).tobytes()

    def refuse(self, letter, at, offsets, letters=None):
        i, name, position = self._place(at, offsets)
        cure = "unknown='ignore' reads it as a letter that matches nothing"
        if letters is not None:
            own = letters[offsets[i] : offsets[i + 1]]
            if (others := fitting(own)) and np.mean(self.table[own] >= 0) < MOST_KNOWN:
                cure = f"alphabet={others[0]!r} has all letters of this sequence; {cure}"
            elif self.alphabet.table("ambiguous")[letters[at]] >= 0:
                cure = f"unknown='ambiguous' lets letters for several bases or residues and gaps match nothing; {cure}"
        if self.alphabet.size == 256:
            cure = "encode the strings first: s.encode('utf-8')"
        raise ValueError(
            f"{name} has {letter!r} at position {position}, which is not a letter of alphabet {self.alphabet.name!r} "
            f"({_shown(self.alphabet)}); {cure}"
        )

    def _widen(self):
        from ..loops.sequences import repack

        starts, lengths = _joined(self.starts, np.int64), _joined(self.lengths, np.int32)
        wide = width(self.alphabet)
        data = np.empty(int(np.sum(n_bytes(lengths, wide))), dtype=np.uint8)
        zeros, new = frozen(np.zeros_like(lengths)), np.empty_like(starts)
        repack(frozen(self.data), frozen(starts), zeros, frozen(lengths), self.bits, wide, data, new)
        self.data, self.used, self.bits = data, len(data), wide
        self.starts, self.lengths = [new], [lengths]

    def finish(self):
        """data, starts, lengths and bits of everything added."""
        if self.odd is not None:
            self._tell_odd()
        self.data.resize(self.used, refcheck=False)
        return self.data, _joined(self.starts, np.int64), _joined(self.lengths, np.int32), self.bits


def _joined(parts, dtype):
    return np.concatenate(parts) if parts else np.empty(0, dtype=dtype)


def _shown(alphabet):
    letters = alphabet.letters + alphabet.unknown
    return letters if len(letters) <= 40 else f"{len(letters)} letters"


def feed(packer, X):
    """Adds all of X, a column of sequences or a table of letters, to the packer."""
    if isinstance(X, TEXT):
        what = "str" if isinstance(X, str) else type(X).__name__
        raise ValueError(f"X is one {what}; give a list of sequences, [X] for a single one")
    array_like = hasattr(X, "__array__") or hasattr(X, "to_numpy")  # the user's array or column of any library
    if array_like and not isinstance(X, (list, tuple)):
        X = _column(X if isinstance(X, np.ndarray) else np.asarray(X, dtype=object))
        if X.ndim == 2:
            return _feed_table(packer, X)
    try:
        items = iter(X)
    except TypeError:
        raise ValueError(f"X is of type {type(X).__name__}; give a list or an array of sequences") from None
    while block := list(islice(items, SEQUENCES_PER_BLOCK)):
        packer.add_items(block)


def _column(X):
    """X as one column of sequences (1-D), or as a table of single letters (2-D)."""
    kind, ndim = X.dtype.kind, X.ndim
    if ndim not in (1, 2) or kind not in "USO" and (X.dtype != np.uint8 or ndim == 1):
        raise ValueError(
            f"X has shape {X.shape} and dtype {X.dtype}; give one column of sequences, or a 2-D array of letters "
            "(dtype 'U1', 'S1' or uint8)"
        )
    if ndim == 2 and X.shape[1] == 1 and kind != "u":
        return X[:, 0]
    if ndim == 2 and kind == "O":
        X = X.astype("U")
        kind = "U"
    if ndim == 2 and kind != "u" and X.dtype.itemsize != (4 if kind == "U" else 1):
        raise ValueError(f"X has {X.shape[1]} columns of sequences; name the column that the kernel reads")
    return X


def _feed_table(packer, X):
    n, length = X.shape
    for lo in range(0, n, SEQUENCES_PER_BLOCK):
        block = np.ascontiguousarray(X[lo : lo + SEQUENCES_PER_BLOCK])
        offsets = np.arange(len(block) + 1, dtype=np.int64) * length
        if block.dtype.kind == "U":
            text = block.astype("<U1").tobytes().decode("utf-32-le", "surrogatepass")
            letters = np.frombuffer(packer._bytes(text, offsets), np.uint8)
        else:
            letters = block.view(np.uint8).ravel()
        packer.add(letters, offsets)
