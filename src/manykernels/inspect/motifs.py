"""Motifs in sequences: result, files, page and pictures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from os import PathLike
from typing import Any

import numpy as np

from .._archive import write_text
from .._pictures import note, panels, plain, render
from .sequence_plots import LETTER_COLOURS, draw_letters, stacked

COLUMN, HEIGHT = 16, 56  # of a logo, in pixels
CAPITAL = 7.16  # the height of a capital of 10 pixels in Arial
WIDTHS = {"A": 7.2, "C": 7.2, "G": 7.8, "T": 6.1, "U": 7.2, "I": 2.8, "W": 9.4, "M": 8.3}  # of capitals of 10 pixels
CLEAR = 0.5  # the least probability of a letter in a consensus


@dataclass(frozen=True, eq=False)
class Motif:
    """A pattern of w letters and the places where it was found, the seqlets.

    Parameters
    ----------
    name : str
    letters : str
        The A letters of the alphabet.
    probabilities : array (w, A)
        The position weight matrix: shares of the letters among the seqlets, with the background added as one more.
    contributions : array (w, A)
        The mean contribution of each letter at each place; they sum to the mean contribution of the motif.
    sequence, start, strand : arrays (N,) of int
        The number of the sequence of each seqlet, where it begins, and 1 or −1 for the other strand.
    contribution : array (N,)
        The sum of the contributions of its letters.
    e_value : float
        P(so many of the sequences have a hit) · 2^bits, where random sequences say how likely a hit is: sequences with
        the pairs of neighbouring letters of the given ones. A hit is at least as good as half of the seqlets; bits is
        the information of the motif.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import Motif
    >>> P = np.array([[0.9, 0.1], [0.2, 0.8], [0.5, 0.5]])
    >>> one = Motif("m", "AB", P, P - 0.5, np.array([0]), np.array([3]), np.array([1]), np.array([0.6]), 1e-9)
    >>> one.consensus, len(one), one.n_sequences
    ('ABN', 1, 1)
    """

    name: str
    letters: str
    probabilities: np.ndarray
    contributions: np.ndarray
    sequence: np.ndarray
    start: np.ndarray
    strand: np.ndarray
    contribution: np.ndarray
    e_value: float

    def __len__(self) -> int:
        return len(self.start)

    @property
    def width(self) -> int:
        """w, the number of letters."""
        return len(self.probabilities)

    @property
    def n_sequences(self) -> int:
        """How many sequences have it."""
        return len(np.unique(self.sequence))

    @property
    def consensus(self) -> str:
        """The likeliest letter of each place, N (X of proteins) if its probability is at most a half."""
        unclear = "N" if "N" not in self.letters else "X"
        best = zip(self.probabilities.argmax(axis=1), self.probabilities.max(axis=1), strict=True)
        return "".join(self.letters[code] if share > CLEAR else unclear for code, share in best)

    def information(self, background: np.ndarray) -> np.ndarray:
        """The heights of a logo in bits, (w, A): each letter's share of the information of its place."""
        P = self.probabilities
        return P * (P * np.log2(P / background)).sum(axis=1, keepdims=True).clip(min=0)

    def named(self, name: str) -> Motif:
        """The motif with another name."""
        return replace(self, name=name)

    def __repr__(self) -> str:
        return (
            f"Motif({self.name!r}, {self.consensus}, {len(self)} seqlets in {self.n_sequences} sequences, mean "
            f"contribution {self.contribution.mean():.3g}, E = {self.e_value:.1e})"
        )


@dataclass(frozen=True, eq=False)
class Motifs:
    """The result of `find_motifs`: motifs, those with the largest total contribution first.

    Parameters
    ----------
    motifs : list of Motif
    letters : str
        The A letters of the alphabet.
    background : array (A,)
        Their shares in the sequences.
    n_sequences : int
        The sequences that were searched.
    n_seqlets : int
        The seqlets that were found in them, also those without a motif.
    both_strands : bool
        Whether the motifs were looked for on both strands.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import Motifs
    >>> none = Motifs([], "ACGT", np.full(4, 0.25), 50, 3, True)
    >>> len(none), none.summary()
    (0, 'no motif: 3 seqlets in 50 sequences form no group that random sequences would not have too')
    """

    motifs: list[Motif]
    letters: str
    background: np.ndarray
    n_sequences: int
    n_seqlets: int
    both_strands: bool

    def __len__(self) -> int:
        return len(self.motifs)

    def __iter__(self) -> Iterator[Motif]:
        return iter(self.motifs)

    def __getitem__(self, k: int) -> Motif:
        return self.motifs[k]

    @property
    def columns(self) -> dict[str, list[Any]]:
        """The table of the motifs: name, consensus, seqlets, sequences, contribution (the mean) and e_value."""
        return {
            "name": [motif.name for motif in self],
            "consensus": [motif.consensus for motif in self],
            "seqlets": [len(motif) for motif in self],
            "sequences": [motif.n_sequences for motif in self],
            "contribution": [float(motif.contribution.mean()) for motif in self],
            "e_value": [motif.e_value for motif in self],
        }

    def summary(self) -> str:
        """A line for each motif, or the reason why there is none."""
        found = f"{self.n_seqlets} seqlets in {self.n_sequences} sequences"
        if not self.motifs:
            return f"no motif: {found} form no group that random sequences would not have too"
        lines = [
            f"{name}  {consensus}  {n} seqlets in {rows} sequences, mean contribution {mean:+.3g}, E = {e:.1e}"
            for name, consensus, n, rows, mean, e in zip(*self.columns.values(), strict=True)
        ]
        return "\n".join([f"{len(self)} motif{'s' * (len(self) > 1)} from {found}", *lines])

    def __repr__(self) -> str:
        return self.summary()

    @property
    def hits(self) -> dict[str, np.ndarray]:
        """The table of the seqlets of all motifs: sequence, start, stop, strand, motif and contribution."""
        parts = [
            (motif.sequence, motif.start, motif.start + motif.width, motif.strand,
             np.full(len(motif), motif.name), motif.contribution)
            for motif in self
        ]  # fmt: skip
        names = "sequence", "start", "stop", "strand", "motif", "contribution"
        if not parts:
            return {name: np.zeros(0) for name in names}
        columns = [np.concatenate(column) for column in zip(*parts, strict=True)]
        order = np.lexsort((columns[1], columns[0]))
        return {name: column[order] for name, column in zip(names, columns, strict=True)}

    def spacings(self) -> list[tuple[str, str, int, int, int]]:
        """For each two motifs the distance that is most frequent: (name, name, distance, count, sequences with both).

        The distance goes from the first letter of one motif to the first letter of the other, read on the strand of the
        motif that is named first: the one of both whose strand gives the larger count. A distance counts once a
        sequence.
        """
        found = []
        for a, one in enumerate(self.motifs):
            for other in self.motifs[a + 1 :]:
                ways = [(*_distance(*pair), pair) for pair in ((one, other), (other, one))]
                count, distance, (first, second) = max(ways, key=lambda way: way[0])
                if count:
                    common = len(np.intersect1d(one.sequence, other.sequence))
                    found.append((first.name, second.name, distance, count, common))
        return found

    def to_meme(self, path: str | PathLike[str]) -> None:
        """Write the motifs in MEME's minimal format, which Tomtom, FIMO and others read."""
        shares = " ".join(f"{letter} {share:.5f}" for letter, share in zip(self.letters, self.background, strict=True))
        lines = ["MEME version 4", "", f"ALPHABET= {self.letters}", ""]
        lines += ["strands: + -", ""] if self.both_strands else []
        lines += ["Background letter frequencies", shares, ""]
        for motif in self:
            lines += [
                f"MOTIF {motif.name} {motif.consensus}",
                f"letter-probability matrix: alength= {len(self.letters)} w= {motif.width} nsites= {len(motif)} "
                f"E= {motif.e_value:.1e}",
                *(" ".join(f"{share:.6f}" for share in row) for row in motif.probabilities),
                "",
            ]
        write_text(path, (f"{line}\n" for line in lines))

    def to_html(self, path: str | PathLike[str], title: str = "Motifs") -> None:
        """Write a page with the logos, the supports and the distances of the motifs; it needs no other file."""
        own = dict(title=title, bits=np.log2(len(self.letters)), stacks=stacks, colours=LETTER_COLOURS)
        write_text(path, [render("inspect/motif_page.html.jinja", motifs=self, **own)])

    def plot(self, ax: Any = None) -> Any:
        """Logos of the motifs, one a row: information in bits, and mean contributions. Returns the axes (M, 2)."""
        if not self.motifs:
            raise ValueError("there is no motif to draw: explain more sequences, or see top_words(explanation).")
        widest = max(motif.width for motif in self)
        _, axes = panels(ax, len(self), 2, (3.6 + 0.42 * widest, 0.4 + 1.4 * len(self)))
        for (left, right), motif in zip(axes, self, strict=True):
            heights = motif.information(self.background)
            draw_letters(plain(left), heights, self.letters, 1)
            left.set_ylim(0, max(np.log2(len(self.letters)), heights.sum(axis=1).max()))
            draw_letters(plain(right), motif.contributions, self.letters, 1)
            note(right, f"{len(motif)} seqlets in {motif.n_sequences} sequences")
            for one in (left, right):
                one.set_xlim(0.4, widest + 0.6)
            left.set_ylabel(f"{motif.name}\nbits")
            right.set_ylabel("contribution")
        return axes


def _distance(one, other):
    """(count, distance) of the most frequent distance from one motif to the other, on the strand of the first."""
    seen: Counter[int] = Counter()
    for row in np.intersect1d(one.sequence, other.sequence):
        start, ahead = (column[one.sequence == row][:, None] for column in (one.start, one.strand))
        there = other.start[other.sequence == row]
        behind = start + one.width - there - other.width
        seen.update(np.unique(np.where(ahead > 0, there - start, behind)).tolist())
    distance, count = max(seen.items(), key=lambda item: (item[1], -abs(item[0])), default=(0, 0))
    return count, distance


def stacks(heights: np.ndarray, letters: str, most: float = 0.0) -> dict[str, Any]:
    """The letters of a logo, each as high as its entry of `heights` (w, A), in a picture of `most` or more.

    {"width", "height", "zero": the height of the line, "glyphs": [(letter, x, foot, scale across, scale along)]}
    """
    up, down = (np.where(sign * heights > 0, sign * heights, 0).sum(axis=1).max() for sign in (1, -1))
    scale = HEIGHT / max(up, down, most, 1e-300)
    glyphs = []
    for x, z, low, high in stacked(heights * scale):
        if high >= 0.5:  # pixels
            across = 0.94 * COLUMN / WIDTHS.get(letters[z], 6.9)
            glyphs.append((letters[z], (x + 0.5) * COLUMN, HEIGHT - low, across, high / CAPITAL))
    return {"width": COLUMN * len(heights), "height": HEIGHT + down * scale + 1, "zero": HEIGHT, "glyphs": glyphs}
