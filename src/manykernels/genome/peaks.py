"""Peaks in BED and narrowPeak files, and the windows of sequence around them."""

import os
from dataclasses import dataclass, field
from os import PathLike
from typing import Any

import numpy as np

from .._archive import write_text
from .._validation import check_choice, check_integer, check_number
from ..sequences import Sequences
from .reference import Reference, composition, counted, fields_of, lines, opened, whole

HEADERS = ("#", "track", "browser")
NARROW_PEAK_COLUMNS = 10
WRONG = ("contig unknown", "past the contig's end", "duplicate")


@dataclass(frozen=True, eq=False)
class Peaks:
    """Intervals of a genome, counted from 0 without the last letter, as in BED files; strands are not kept.

    Parameters
    ----------
    chrom : array (n,) of str
    start, stop : arrays (n,) of int64
    centre : array (n,) of int64
        The summit, or the middle (start + stop) // 2.
    name : list of n str

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.genome import Peaks
    >>> len(Peaks(np.array(["chr1"]), np.array([10]), np.array([30]), np.array([20]), ["one"]))
    1
    """

    chrom: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    centre: np.ndarray
    name: list[str]

    def __len__(self) -> int:
        return len(self.start)


@dataclass(frozen=True, eq=False)
class Windows:
    """Intervals of a genome with their letters, and what was left out on the way.

    Parameters
    ----------
    chrom : array (n,) of str
    start, stop : arrays (n,) of int64
        Counted from 0, without the last letter.
    name : list of n str
    sequences : Sequences
    gc, repeats, unknown : arrays (n,)
        The share of C and G among A, C, G and T; of soft-masked (lower-case) letters; of other letters, such as N.
    dropped : dict
        {reason: names of the peaks without a window}: "duplicate", "past the contig's end", "too many N" and
        "contig unknown".

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import windows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     found = windows(genome.peaks, genome.reference, width=101)
    >>> type(found).__name__, len(found), found.sequences.length, found.gc.shape
    ('Windows', 20, 101, (20,))
    """

    chrom: np.ndarray
    start: np.ndarray
    stop: np.ndarray
    name: list[str]
    sequences: Sequences
    gc: np.ndarray
    repeats: np.ndarray
    unknown: np.ndarray
    dropped: dict[str, list[str]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def places(self) -> list[str]:
        """The texts chrom:start-stop, counted as in BED files."""
        return [place(*row) for row in zip(self.chrom, self.start, self.stop, strict=True)]

    def summary(self) -> str:
        """One line: how many windows there are, how many hold letters that match nothing, and what was left out."""
        left = counted(self.dropped)
        unknown = int(np.count_nonzero(self.unknown))
        return f"{len(self)} windows, {unknown} of them with N; left out: {left or 'none'}"

    def to_bed(self, path: str | PathLike[str]) -> None:
        """Write chrom, start, stop and name as a BED file."""
        rows = zip(self.chrom, self.start, self.stop, self.name, strict=True)
        write_text(path, (f"{chrom}\t{start}\t{stop}\t{name}\n" for chrom, start, stop, name in rows))

    def to_fasta(self, path: str | PathLike[str]) -> None:
        """Write the sequences as a FASTA file with the headers chrom:start-stop, counted as in BED files."""
        rows = zip(self.places, self.sequences, strict=True)
        write_text(path, (f">{header}\n{letters}\n" for header, letters in rows))


def place(chrom, start, stop):
    """chrom:start-stop, counted as in BED files."""
    return f"{chrom}:{start}-{stop}"


def read_bed(path: str | PathLike[str], format: str | None = None) -> Peaks:
    """The peaks of a BED or narrowPeak file, gzipped or not.

    Parameters
    ----------
    path : str or path
        Columns between tabs or spaces: chrom, start, stop, and optionally a name. Lines of comments, `track` and
        `browser` are passed over.
    format : {"bed", "narrowPeak"}, optional
        The tenth column of a narrowPeak file is the summit, counted from start, or −1. None: a file of ten columns is a
        narrowPeak file.

    Returns
    -------
    Peaks
        In the order of the file. Peaks without a name are called chrom:start-stop.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.genome import read_bed
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/peaks.bed", "w") as file:
    ...         print("chr1", 10, 30, sep="\\t", file=file)
    ...     peaks = read_bed(f"{folder}/peaks.bed")
    >>> peaks.name, peaks.centre
    (['chr1:10-30'], array([20]))
    """
    check_choice("format", format, ("bed", "narrowPeak", None))
    rows = []
    for number, line in lines(path):
        if not line.strip() or line.startswith(HEADERS):
            continue
        fields, where = fields_of(line), f"{os.fsdecode(path)}, line {number}"
        if len(fields) < 3:
            raise ValueError(f"{where} has {len(fields)} columns: a BED file has chrom, start and stop at least")
        start, stop = (whole(text, what, where) for text, what in zip(fields[1:3], ("start", "stop"), strict=True))
        if start >= stop:
            raise ValueError(f"{where}: start={start} is not less than stop={stop}; BED counts from 0, stop excluded")
        narrow = format == "narrowPeak" or format is None and len(fields) == NARROW_PEAK_COLUMNS
        summit = _summit(fields, stop - start, where) if narrow else -1
        name = fields[3] if len(fields) > 3 and fields[3] not in (".", "") else place(fields[0], start, stop)
        rows.append((fields[0], start, stop, (start + stop) // 2 if summit < 0 else start + summit, name))
    if not rows:
        raise ValueError(f"{os.fsdecode(path)} has no peaks: a line of a BED file has chrom, start and stop")
    chrom, *places, name = zip(*rows, strict=True)
    start, stop, centre = np.array(places, np.int64)
    return Peaks(np.array(chrom), start, stop, centre, list(name))


def _summit(fields, size, where):
    text = fields[NARROW_PEAK_COLUMNS - 1] if len(fields) >= NARROW_PEAK_COLUMNS else "missing"
    if text == "-1":
        return -1
    summit = whole(text, "the summit (column 10)", where)
    if summit >= size:
        raise ValueError(f"{where}: the summit {summit} lies outside the peak of {size} letters; give format='bed'")
    return summit


def as_peaks(peaks: Any) -> Any:
    """Peaks of a path; peaks or windows themselves."""
    return peaks if isinstance(peaks, Peaks | Windows) else read_bed(peaks)


def as_list(exclude: Any) -> list[Any]:
    """The peaks or windows of one path or object, or of a list of them."""
    several = [exclude] if isinstance(exclude, str | PathLike | Peaks | Windows) else exclude
    return [as_peaks(one) for one in several]


def windows(
    peaks: str | PathLike[str] | Peaks, reference: str | PathLike[str] | Reference, width: int | None = None, *,
    ends: str = "drop", max_n: float = 0.1,
) -> Windows:  # fmt: skip
    """The letters around the summits (or middles) of peaks: [centre − width // 2, centre − width // 2 + width).

    Parameters
    ----------
    peaks : path or Peaks
    reference : path or Reference
    width : int, optional
        The letters of a window; None: a window is the peak itself.
    ends : {"drop", "cut"}
        What happens to a window that goes past an end of its contig.
    max_n : float, default 0.1
        The largest share of letters other than A, C, G and T. Such letters match nothing.

    Returns
    -------
    Windows
        `dropped` names the peaks without a window; of windows at the same place the first stays.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import windows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     found = windows(genome.peaks, genome.reference, width=101)
    >>> found.summary()
    '20 windows, 0 of them with N; left out: none'
    """
    check_choice("ends", ends, ("drop", "cut"))
    check_number("max_n", max_n, 0, 1, "both")
    found: Any = as_peaks(peaks)
    start, stop = found.start, found.stop
    if width is not None:
        start = found.centre - check_integer("width", width) // 2
        stop = start + width
    with opened(reference) as genome:
        sizes = np.array([genome.lengths.get(chrom, -1) for chrom in found.chrom.tolist()])
        if (sizes < 0).all():
            raise ValueError(genome.unknown(str(found.chrom[0])))
        outside = (start < 0) | (stop > sizes)
        if ends == "cut":
            start, stop = np.maximum(start, 0), np.minimum(stop, sizes)
            outside = start >= stop
        reasons, seen = [], set()
        for at, size, out in zip(zip(found.chrom.tolist(), start, stop, strict=True), sizes, outside, strict=True):
            wrong = (size < 0, bool(out), at in seen)
            reasons.append(WRONG[wrong.index(True)] if any(wrong) else "")
            seen.add(at)
        dropped = {name: [found.name[k] for k, why in enumerate(reasons) if why == name] for name in WRONG}
        rows = [k for k, why in enumerate(reasons) if not why]
        names = [found.name[k] for k in rows]
        return collect(genome, found.chrom[rows], start[rows], stop[rows], names, max_n, dropped)


def collect(genome, chrom, start, stop, name, max_n, dropped):
    """The windows at these places, without those that have too many N."""
    texts = [genome.fetch(*at) for at in zip(chrom.tolist(), start.tolist(), stop.tolist(), strict=True)]
    ends = np.append(0, np.cumsum(stop - start))
    letters = np.frombuffer("".join(texts).encode("latin-1"), np.uint8)
    shares = composition(letters, ends[:-1], ends[1:])
    rows = np.flatnonzero(shares[2] <= max_n)
    dropped = dropped | {"too many N": [name[row] for row in np.flatnonzero(shares[2] > max_n)]}
    if not len(rows):
        raise ValueError(f"no window is left ({counted(dropped)}): lower width, or raise max_n={max_n}")
    sequences = Sequences.encode([texts[row] for row in rows], "dna", unknown="ignore", checked=True)
    gc, repeats, unknown = (share[rows] for share in shares)
    kept = [name[row] for row in rows]
    return Windows(chrom[rows], start[rows], stop[rows], kept, sequences, gc, repeats, unknown, dropped)
