"""A training set from peaks: windows, matched negatives, labels and chromosomes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import Any

import numpy as np

from ..sequences import Sequences
from ._text import ColumnTable
from .negatives import MatchedNegatives, matched_negatives
from .peaks import Peaks, Windows, as_list, as_peaks, windows
from .reference import Reference, opened


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
