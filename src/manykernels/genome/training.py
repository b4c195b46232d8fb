"""Training sets from peaks: windows, and negatives of the same lengths, GC content and repeats."""

import os
from bisect import bisect_left
from collections import defaultdict
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from .._validation import check_integer, check_number
from ..sequences import Sequences
from .peaks import Peaks, Windows, as_list, as_peaks, collect, place, windows
from .reference import ColumnTable, Reference, composition, opened

LETTERS_AT_ONCE = 2**24  # of a contig in memory
CANDIDATES = 30  # per negative that is missing, in each round
MIN_CANDIDATES = 100_000
NEIGHBOURS = 30  # candidates that a positive tries
ROUNDS = 6
ROUNDING = 1e-12
JITTER = 0.05  # of the tolerance: positives that are equal do not all try the same candidates
QUANTILES = (0.0, 0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


@dataclass(frozen=True, eq=False)
class MatchedNegatives(ColumnTable):
    """Negatives with the positive of each, and how well they match.

    Parameters
    ----------
    windows : Windows
        The negatives.
    positive : array (n,) of int
        The row of the positive that a negative was matched to.
    wanted : int
        ratio · the number of positives; the difference from n could not be matched within the tolerance.
    columns : dict
        Quantiles of GC content and repeats in both sets, which `to_csv` writes.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import matched_negatives, windows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     found = matched_negatives(windows(genome.peaks, genome.reference, 101), genome.reference)
    >>> type(found).__name__, list(found.columns)
    ('MatchedNegatives', ['quantile', 'gc_positives', 'gc_negatives', 'repeats_positives', 'repeats_negatives'])
    """

    windows: Windows
    positive: np.ndarray
    wanted: int
    columns: dict[str, np.ndarray]

    def __len__(self) -> int:
        return len(self.windows)

    def summary(self) -> str:
        """One line: how many were found, and the medians of both sets."""
        _, *medians = (column[QUANTILES.index(0.5)] for column in self.columns.values())
        gc, gc_found, repeats, repeats_found = (f"{value:.3f}" for value in medians)
        return (
            f"{len(self)} negatives of {self.wanted} wanted, {self.wanted - len(self)} without a match; medians of "
            f"positives and negatives: GC {gc} and {gc_found}, repeats {repeats} and {repeats_found}"
        )


def matched_negatives(
    positives: Windows | Peaks | str | PathLike[str], reference: str | PathLike[str] | Reference, ratio: int = 1, *,
    exclude: Any = (), tolerance: float = 0.02, max_n: float = 0.1, random_state: int = 0,
) -> MatchedNegatives:  # fmt: skip
    """Windows at random places of the genome, each with the length, GC content and repeats of a positive.

    |gc − gc'| ≤ tolerance and |repeats − repeats'| ≤ tolerance, for a negative and its positive of the same length. No
    negative overlaps a positive, an excluded interval or another negative. Places are drawn uniformly from the contigs
    that have positives; each positive takes the nearest free place, in random order. Positives without a match try new
    places in up to six rounds, and have no negative if none fits.

    Parameters
    ----------
    positives : Windows, Peaks or path
        Peaks are the windows themselves; `windows` makes some of one width.
    reference : path or Reference
    ratio : int, default 1
        Negatives per positive.
    exclude : path, Peaks, Windows, or list of them
        Other intervals to keep away from, such as peaks at a lower threshold.
    tolerance : float, default 0.02
    max_n : float, default 0.1
        The largest share of letters other than A, C, G and T.
    random_state : int, default 0
        The seed.

    Returns
    -------
    MatchedNegatives

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import matched_negatives, windows
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     positives = windows(genome.peaks, genome.reference, 101)
    ...     found = matched_negatives(positives, genome.reference, ratio=2)
    >>> len(found), bool(abs(found.windows.gc - positives.gc[found.positive]).max() <= 0.02)
    (40, True)
    """
    check_integer("ratio", ratio)
    check_number("tolerance", tolerance, 0, 1, "right")
    check_number("max_n", max_n, 0, 1, "both")
    rng = np.random.default_rng(check_integer("random_state", random_state, 0))
    with opened(reference) as genome:
        if not isinstance(positives, Windows):
            positives = windows(positives, genome, max_n=max_n)
        taken = [positives, *as_list(exclude)]
        missing = np.tile(np.arange(len(positives)), ratio)
        free, found, owners = _Free(), [], []
        for _ in range(ROUNDS):
            candidates = _candidates(genome, positives, missing, taken, max_n, rng)
            rows, chosen = _assign(positives, missing, candidates, free, tolerance, rng)
            found.append([column[chosen] for column in candidates[:3]])
            owners.append(missing[rows])
            missing = np.delete(missing, rows)
            if not len(missing) or not len(rows):
                break
        owner = np.concatenate(owners)
        if not len(owner):
            raise ValueError(
                f"no window of the genome matches one of the {len(positives)} positives: raise tolerance={tolerance}, "
                "or exclude less"
            )
        chrom, start, stop = (np.concatenate(column) for column in zip(*found, strict=True))
        order = np.argsort(owner, kind="stable")
        chrom, start, stop, owner = chrom[order], start[order], stop[order], owner[order]
        names = [place(*at) for at in zip(chrom, start, stop, strict=True)]
        negatives = collect(genome, chrom, start, stop, names, max_n, {})
    shares = (positives.gc, negatives.gc, positives.repeats, negatives.repeats)
    titles = ("gc_positives", "gc_negatives", "repeats_positives", "repeats_negatives")
    columns = {title: np.quantile(share, QUANTILES) for title, share in zip(titles, shares, strict=True)}
    return MatchedNegatives(
        negatives, owner, ratio * len(positives), {"quantile": np.array(QUANTILES)} | columns
    )  # fmt: skip


def _candidates(genome, positives, missing, taken, max_n, rng):
    """(chrom, start, stop, gc, repeats) of random places with the lengths of the missing, free of what is taken."""
    contigs = np.unique(positives.chrom)
    sizes = np.array([genome.lengths[chrom] for chrom in contigs.tolist()])
    ends = np.cumsum(sizes)
    count = max(MIN_CANDIDATES, CANDIDATES * len(missing))
    at = rng.integers(ends[-1], size=count)
    contig = np.searchsorted(ends, at, "right")
    start = at - (ends - sizes)[contig]
    wanted = missing[rng.permutation(count) % len(missing)]
    stop = start + (positives.stop - positives.start)[wanted]
    keep = stop <= sizes[contig]
    parts = []
    for k, chrom in enumerate(contigs):
        rows = np.flatnonzero(keep & (contig == k))
        rows = rows[~_overlaps(start[rows], stop[rows], taken, chrom)]
        piece = start[rows] // LETTERS_AT_ONCE
        for number in np.unique(piece).tolist():
            here = rows[piece == number]
            low = number * LETTERS_AT_ONCE
            letters = np.frombuffer(genome.fetch(str(chrom), low, int(stop[here].max())).encode("latin-1"), np.uint8)
            gc, repeats, unknown = composition(letters, start[here] - low, stop[here] - low)
            few = unknown <= max_n
            here = here[few]
            parts.append((np.full(len(here), chrom), start[here], stop[here], gc[few], repeats[few]))
    empty = (np.empty(0, positives.chrom.dtype), *np.empty((2, 0), np.int64), *np.empty((2, 0)))
    return [np.concatenate(column) for column in zip(empty, *parts, strict=True)]


def _overlaps(start, stop, taken, chrom):
    """Whether the intervals (n,) overlap one of the taken ones on this contig."""
    ends = np.hstack([np.stack([one.start, one.stop])[:, one.chrom == chrom] for one in taken])
    starts, stops = ends[:, np.argsort(ends[0])]
    reach = np.concatenate([[-1], np.maximum.accumulate(stops)])  # the last stop of those that start before
    return reach[np.searchsorted(starts, stop)] > start


def _assign(positives, missing, candidates, free, tolerance, rng):
    """(rows of missing, candidates): each takes the nearest candidate within the tolerance that is still free."""
    from scipy.spatial import cKDTree

    chrom, start, stop, *shares = candidates
    if not len(start):
        return np.empty(0, np.intp), np.empty(0, np.intp)

    def points(length, gc, repeats):
        jitter = rng.uniform(-JITTER, JITTER, size=(2, len(length)))
        return np.column_stack([3.0 * length, gc / tolerance + jitter[0], repeats / tolerance + jitter[1]])

    own = (positives.stop - positives.start, positives.gc, positives.repeats)
    tree = cKDTree(points(stop - start, *shares))
    order = rng.permutation(len(missing))
    wanted = [column[missing[order]] for column in own]
    _, near = tree.query(points(*wanted), k=[*range(1, NEIGHBOURS + 1)], p=np.inf, distance_upper_bound=1 + 2 * JITTER)
    within = near < len(start)
    for want, share in zip(wanted[1:], shares, strict=True):
        within &= np.abs(np.append(share, np.inf)[near] - want[:, None]) <= tolerance + ROUNDING
    rows, chosen = [], []
    for row, tried, good in zip(order.tolist(), near, within, strict=True):
        for one in tried[good].tolist():
            if free.take(chrom[one], int(start[one]), int(stop[one])):
                rows.append(row)
                chosen.append(one)
                break
    return np.array(rows, np.intp), np.array(chosen, np.intp)


class _Free:
    """The intervals that negatives have, disjoint and sorted, by contig."""

    def __init__(self):
        self.starts, self.stops = defaultdict(list), defaultdict(list)

    def take(self, chrom, start, stop):
        """Whether the interval overlaps none so far; it is then taken."""
        starts, stops = self.starts[chrom], self.stops[chrom]
        at = bisect_left(starts, stop)
        if at and stops[at - 1] > start:
            return False
        starts.insert(at, start)
        stops.insert(at, stop)
        return True


@dataclass(frozen=True, eq=False)
class TrainingSet(ColumnTable):
    """Positives and then negatives, for `fit(data.X, data.y)` and `ChromosomeSplit` with `groups=data.groups`.

    Parameters
    ----------
    positives : Windows
    negatives : MatchedNegatives

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import training_set
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     data = training_set(genome.peaks, genome.reference, width=101)
    ...     paths = data.write(f"{folder}/ctcf")
    >>> type(data).__name__, len(data), data.y[[0, -1]], [path[-11:] for path in paths]
    ('TrainingSet', 40, array([ 1, -1]), ['ctcf.pos.fa', 'ctcf.neg.fa'])
    """

    positives: Windows
    negatives: MatchedNegatives

    def __len__(self) -> int:
        return len(self.positives) + len(self.negatives)

    @cached_property
    def X(self) -> Sequences:
        """The letters of all windows."""
        return Sequences.concatenate([self.positives.sequences, self.negatives.windows.sequences])

    @property
    def y(self) -> np.ndarray:
        """(n,) of int: 1 of positives, −1 of negatives."""
        return np.repeat([1, -1], [len(self.positives), len(self.negatives)])

    @property
    def groups(self) -> np.ndarray:
        """(n,) of str: the chromosome of each window."""
        return self._both("chrom")

    @property
    def places(self) -> list[str]:
        """The texts chrom:start-stop of all windows, counted as in BED files."""
        return self.positives.places + self.negatives.windows.places

    @property
    def columns(self) -> dict[str, np.ndarray]:  # type: ignore[override]
        """The table that `to_csv` writes: chrom, start, stop, name, y, gc and repeats of each window."""
        places = {name: self._both(name) for name in ("chrom", "start", "stop", "name")}
        return places | {"y": self.y, "gc": self._both("gc"), "repeats": self._both("repeats")}

    def _both(self, name):
        return np.concatenate([getattr(part, name) for part in (self.positives, self.negatives.windows)])

    def summary(self) -> str:
        """Two lines: the positives and what was left out, the negatives and how they match."""
        return f"positives: {self.positives.summary()}\nnegatives: {self.negatives.summary()}"

    def write(self, prefix: str | PathLike[str]) -> tuple[str, str]:
        """Write prefix.pos.fa and prefix.neg.fa, with the headers chrom:start-stop; returns the two paths."""
        pos, neg = (f"{os.fsdecode(prefix)}.{kind}.fa" for kind in ("pos", "neg"))
        self.positives.to_fasta(pos)
        self.negatives.windows.to_fasta(neg)
        return pos, neg


def training_set(
    peaks: str | PathLike[str] | Peaks, reference: str | PathLike[str] | Reference, width: int | None = None, *,
    ratio: int = 1, exclude: Any = (), ends: str = "drop", tolerance: float = 0.02, max_n: float = 0.1,
    random_state: int = 0,
) -> TrainingSet:  # fmt: skip
    """Windows around peaks, and negatives from the genome that match them and overlap no peak.

    Parameters
    ----------
    peaks : path or Peaks
        BED or narrowPeak.
    reference : path or Reference
    width : int, optional
        The letters of a window; None: the peaks as they are.
    ratio : int, default 1
        Negatives per positive; if it is not 1, fit with class_weight="balanced".
    exclude : path, Peaks, Windows, or list of them
        Other intervals that negatives keep away from.
    ends : {"drop", "cut"}
        As in `windows`.
    tolerance : float, default 0.02
        As in `matched_negatives`.
    max_n : float, default 0.1
        The largest share of letters other than A, C, G and T.
    random_state : int, default 0
        The seed of the negatives.

    Returns
    -------
    TrainingSet

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np
    >>> from manykernels.datasets import make_genome
    >>> from manykernels.genome import training_set
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     genome = make_genome(folder, peaks=20)
    ...     data = training_set(genome.peaks, genome.reference, width=101, ratio=2)
    >>> len(data.X), int(data.y.sum()), np.unique(data.groups).tolist()
    (60, -20, ['chr1', 'chr2', 'chr3', 'chr4'])
    """
    peaks = as_peaks(peaks)
    with opened(reference) as genome:
        positives = windows(peaks, genome, width, ends=ends, max_n=max_n)
        negatives = matched_negatives(
            positives, genome, ratio, exclude=[peaks, *as_list(exclude)], tolerance=tolerance, max_n=max_n,
            random_state=random_state,
        )  # fmt: skip
    return TrainingSet(positives, negatives)
