"""The values of single letters of sequences: result, files and pictures."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from .._archive import write_text
from .._pictures import panels, plain, short
from ..sequences import Sequences
from .sequence_plots import draw_letters
from .tables import check_place

PLACE = re.compile(r"(?:.*::)?(?P<chrom>[^:\s]+):(?P<start>\d+)-(?P<stop>\d+)(?:\((?P<strand>[+-])\))?(?:\s.*)?")


@dataclass(frozen=True, eq=False)
class SequenceExplanation:
    """The result of `explain_sequences`: a value for every letter at every position.

    Parameters
    ----------
    values : array (n, L, A), or (n, M, L, A) by kernel
        L is the length of the longest sequence. Values behind the end of a sequence are NaN; `contributions` and
        `hypothetical`, which are made of them, are 0 there.
    letters : str
        The A letters of the alphabet, in the order of the last axis.
    sequences : Sequences
        The n sequences.
    decision : array (n,)
        Their decisions.
    base : array (n,)
        The part of the decision that depends on no letter: the intercept, kernels on other columns, and for kernels
        with gamma their value far from all words. Values of mode 0 plus the base sum to the decision.
    method : str
        "mutagenesis" or "gkmexplain".
    mode : int or None
        Of gkmexplain.
    kernel_names : list of M str, or None
        The names of the kernels if the values are by kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import SequenceExplanation
    >>> from manykernels.sequences import Sequences
    >>> values = np.array([[[0.0, -1.0, -2.0, -1.0], [0.5, 0.0, 0.0, 0.3]]])
    >>> X = Sequences.encode(["AC"])
    >>> found = SequenceExplanation(values, "ACGT", X, np.zeros(1), np.zeros(1), "mutagenesis")
    >>> found.contributions
    array([[ 1. , -0.2]])
    """

    values: np.ndarray
    letters: str
    sequences: Sequences
    decision: np.ndarray
    base: np.ndarray
    method: str
    mode: int | None = None
    kernel_names: list[str] | None = None

    def __repr__(self) -> str:
        n, lengths = len(self.sequences), np.unique(self.sequences.lengths)
        size = "no" if not n else f"{lengths[0]}" if len(lengths) == 1 else f"{lengths[0]} to {lengths[-1]}"
        mode = "" if self.mode is None else f", mode={self.mode}"
        kernels = "" if self.kernel_names is None else f", by {len(self.kernel_names)} kernels"
        return f"SequenceExplanation({n} sequences of {size} letters, method={self.method!r}{mode}{kernels})"

    @property
    def one_hot(self) -> np.ndarray:
        """1 at the letters of the sequences, (n, L, A); 0 at unknown letters and behind the end."""
        codes = self.sequences.codes(fill=len(self.letters))
        return (codes[:, :, None] == np.arange(len(self.letters))).astype(float)

    @property
    def hypothetical(self) -> np.ndarray:
        """The contribution that each letter would have, in the shape of `values`; 0 behind the end of a sequence.

        Values of modes 1 and 2 are hypothetical contributions. Of changes of the decision (mutagenesis, modes 3 and 4)
        it is the change minus the mean change to all letters of the alphabet. Mode 0 has none.
        """
        if self.mode == 0:
            raise ValueError("mode=0 has no values for letters that are not there: explain with mode=1 or 2.")
        values = np.nan_to_num(self.values)
        return values if self.mode in (1, 2) else values - values.mean(axis=-1, keepdims=True)

    @property
    def contributions(self) -> np.ndarray:
        """What the letters that are there contribute, (n, L) or (n, M, L); 0 behind the end of a sequence."""
        values = np.nan_to_num(self.values) if self.mode == 0 else self.hypothetical
        hot = self.one_hot if values.ndim == 3 else self.one_hot[:, None]
        return (values * hot).sum(axis=-1)

    def summed(self) -> SequenceExplanation:
        """The explanation with the values of all kernels added up."""
        return self if self.values.ndim == 3 else replace(self, values=self.values.sum(axis=1), kernel_names=None)

    def to_modisco(self, ohe_path: str | PathLike[str], shap_path: str | PathLike[str]) -> None:
        """Write the two NPZ files that TF-MoDISco reads: `one_hot` and `hypothetical`, (n, A, L) each."""
        for path, values in ((ohe_path, self.one_hot), (shap_path, self.summed().hypothetical)):
            np.savez_compressed(path, np.ascontiguousarray(values.transpose(0, 2, 1), dtype=np.float32))

    def to_gkmexplain(self, path: str | PathLike[str], ids: Sequence[str] | None = None) -> None:
        """Write lines of id, tab, decision, tab and the values a,c,g,t;a,c,g,t;… of the positions, as gkmexplain does.

        `ids` are n names, 0, 1, … by default.
        """
        values, n = self.summed().values, len(self.sequences)
        ids = [str(i) for i in range(n)] if ids is None else list(ids)
        if len(ids) != n:
            raise ValueError(f"ids has {len(ids)} names for {n} sequences: give one each, or None.")
        lines = []
        for name, score, rows, length in zip(ids, self.decision, values, self.sequences.lengths, strict=True):
            shown = ";".join(",".join(f"{value:g}" for value in row) for row in rows[:length].tolist())
            lines.append(f"{name}\t{score:g}\t{shown}\n")
        write_text(path, lines)

    def to_bigwig(
        self, path: str | PathLike[str], places: Sequence[str], sizes: Mapping[str, int] | None = None
    ) -> None:
        """Write the `contributions` as a bigWig track, which genome browsers show; the mean where windows overlap.

        `places` are n texts chrom:start-stop, counted as in BED files: `Windows.places`, or the headers of FASTA files
        from `gkm peaks` and bedtools. `sizes` are the lengths of the contigs, `Reference.lengths`; by default contigs
        end where the last window ends. The package pyBigWig writes the file (`pip install manykernels[bigwig]`).
        """
        try:
            import pyBigWig
        except ImportError as error:
            raise ImportError("to_bigwig needs pyBigWig: pip install manykernels[bigwig]") from error
        tracks = self._located(list(places))
        sizes = {chrom: int(at.max()) + 1 for chrom, (at, _) in tracks.items()} if sizes is None else sizes
        for chrom, (at, _) in tracks.items():
            if at.max() >= sizes.get(chrom, 0):
                raise ValueError(
                    f"places reach {chrom}:{at.max() + 1}, but sizes has {sizes.get(chrom)} for {chrom!r}: give the "
                    "lengths of the contigs of the same genome, Reference(path).lengths."
                )
        chroms = [chrom for chrom in sizes if chrom in tracks]
        with pyBigWig.open(os.fsdecode(path), "w") as file:
            file.addHeader([(chrom, int(sizes[chrom])) for chrom in chroms])
            for chrom in chroms:
                at, values = tracks[chrom]
                file.addEntries(chrom, at.tolist(), values=values.tolist(), span=1)

    def _located(self, places):
        """{chrom: (sorted positions, mean contributions there)}."""
        if len(places) != len(self.sequences):
            raise ValueError(f"places has {len(places)} texts for {len(self.sequences)} sequences: give one each.")
        total, found = self.summed().contributions, {}
        for i, (text, length) in enumerate(zip(places, self.sequences.lengths.tolist(), strict=True)):
            place = PLACE.fullmatch(str(text))
            if place is None or int(place["stop"]) - int(place["start"]) != length:
                raise ValueError(
                    f"places[{i}]={text!r} is not the place of {length} letters: give chrom:start-stop, counted as in "
                    "BED files, as Windows.places and the headers of `gkm peaks` are."
                )
            track = total[i, :length]
            at = np.arange(int(place["start"]), int(place["stop"]))
            found.setdefault(place["chrom"], []).append((at, track[::-1] if place["strand"] == "-" else track))
        tracks = {}
        for chrom, parts in found.items():
            at, which = np.unique(np.concatenate([part[0] for part in parts]), return_inverse=True)
            values = np.concatenate([part[1] for part in parts])
            tracks[chrom] = at, np.bincount(which, values) / np.bincount(which)
        return tracks

    def plot(
        self, i: int = 0, start: int | None = None, stop: int | None = None, ax: Any = None, hypothetical: bool = False
    ) -> Any:
        """The letters of sequence i as high as their `contributions`, or all letters by `hypothetical`.

        Values by kernel have a panel for each kernel that has any. `start` and `stop` cut the positions. Returns the
        axes, or an array of the axes of all panels.
        """
        check_place(i, len(self.sequences), "sequences")
        L = int(self.sequences.lengths[i])
        first, last, _ = slice(start, stop).indices(L)
        if first >= last:
            raise ValueError(f"start={start} and stop={stop} leave none of the {L} positions of sequence {i}.")
        values = self.hypothetical[i] if hypothetical else self.contributions[i][..., None] * self.one_hot[i]
        tracks = values[..., first:last, :].reshape(-1, last - first, len(self.letters))
        names = [None] if self.kernel_names is None else self.kernel_names
        shown = [m for m in range(len(tracks)) if tracks[m].any()] or [0]
        _, axes = panels(ax, len(shown), 1, (min(14.0, 2 + 0.14 * (last - first)), 0.6 + 1.6 * len(shown)), sharex=True)
        for one, m in zip(axes[:, 0], shown, strict=True):
            draw_letters(plain(one), tracks[m], self.letters, first)
            one.set_ylabel("contribution" if names[m] is None else short(names[m], 18))
        low, high = (pick(one.get_ylim()[k] for one in axes[:, 0]) for k, pick in enumerate((min, max)))
        for one in axes[:, 0]:  # heights of different kernels compare
            one.set_ylim(low, high)
        axes[-1, 0].set_xlabel("position")
        return axes[0, 0] if self.kernel_names is None else axes[:, 0]
