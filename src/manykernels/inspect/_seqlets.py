"""Seqlets, the stretches of sequences with large contributions, and groups of seqlets that resemble each other.

S(p) is the sum of the contributions of the letters [p, p + w). Where no motif is, S is about normal, and the half of
its distribution away from the motifs shows its middle and deviation. A seqlet is a window whose S is too large for
that. Seqlets are compared by the cosine of their contributions, (w + 2·w//2, A), at the best of some offsets and
strands. Groups are found one after the other: the densest seqlet with its neighbours, then the seqlets that resemble
the mean of the group. In the end seqlets leave a group that match less than a third of its motif.
"""

from typing import NamedTuple

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

ALIKE = 0.72  # least cosine of a seqlet and the mean of its group
SAME = 0.75  # least cosine of the means of two groups that become one
STRONG = 0.25  # least contribution of a column that counts for this, of the largest
INSIDE = 0.75  # least share of these columns in the motif of the other
SEEDS = 1000  # seqlets that are compared in pairs, the strongest ones
MOST = 20_000  # seqlets that are grouped, the strongest ones
TURNS = 10
RATE, DEVIATIONS = 0.05, 2.5
COPIED = 0.25  # of log2(A), in the columns beside a motif
LEAST_MATCH = 1 / 3  # of the largest score of a motif
BREAK = 2  # columns inside a motif that may be empty
LEAST_BITS, LEAST_SHARE = 0.1, 0.1  # of a column: of log2(A), of the largest contribution of a column


class Seqlets(NamedTuple):
    """Windows [start, start + w) of sequences `row` with the strength |S|, strongest first, each an array (N,)."""

    row: np.ndarray
    start: np.ndarray
    strength: np.ndarray

    def take(self, which):
        return Seqlets(*(column[which] for column in self))


class SeqletGroup(NamedTuple):
    """Seqlets in a common frame: seqlet k begins at start + offset of its sequence, or ends there on strand −1."""

    seqlets: Seqlets
    offset: np.ndarray
    strand: np.ndarray


def window_sums(track, lengths, w):
    """S (n, L − w + 1) of contributions (n, L); −inf past the ends of sequences."""
    if track.shape[1] < w:
        return np.full((len(track), 1), -np.inf)
    sums = sliding_window_view(track, w, axis=1).sum(axis=-1)
    sums[np.arange(sums.shape[1]) > lengths[:, None] - w] = -np.inf
    return sums


def thresholds(sums):
    """(the least S at a false discovery rate of `RATE`, S at `DEVIATIONS` deviations); inf if there is none."""
    from scipy.stats import norm

    ordered, cut = np.sort(sums[np.isfinite(sums)]), np.inf
    if not len(ordered) or ordered[0] == ordered[-1]:
        return np.inf, np.inf
    rest = ordered
    for _ in range(TURNS):  # the upper tail, where motifs are, is cut off before the next estimate
        rest = rest[: np.searchsorted(rest, cut, side="right")]
        low, middle = np.quantile(rest, [norm.cdf(-1), 0.5])
        before, cut = cut, middle + 3 * (middle - low)
        if cut >= before:
            break
    deviation = max(middle - low, 1e-9 * np.abs(ordered).max())
    falling = ordered[::-1]
    chance = norm.sf((falling - middle) / deviation) * len(falling)  # Benjamini and Hochberg (1995)
    good = np.flatnonzero(chance <= RATE * np.arange(1, len(falling) + 1))
    return falling[good[-1]] if len(good) else np.inf, middle + DEVIATIONS * deviation


def find_seqlets(sums, w, least):
    """The windows with S >= least, strongest first, the largest one of each stretch of overlapping windows."""
    sums, rows, found = sums.copy(), np.arange(len(sums)), []
    while len(rows) and np.isfinite(least):
        at = sums[rows].argmax(axis=1)
        good = sums[rows, at] >= least
        rows, at = rows[good], at[good]
        found.append((rows, at, sums[rows, at]))
        near = np.abs(np.arange(sums.shape[1]) - at[:, None]) < w
        sums[rows] = np.where(near, -np.inf, sums[rows])
    parts = [np.concatenate(column) for column in zip(*found, strict=True)] if found else [np.zeros(0, int)] * 3
    return Seqlets(*parts).take(np.argsort(-parts[2], kind="stable"))


class Letters:
    """The letters of sequences and their contributions, with margins, to cut seqlets from on either strand.

    Parameters
    ----------
    codes : array (n, L) of uint8
        The letters; A for unknown letters and behind the end.
    track : array (n, L)
        Their contributions.
    size : int
        A, the letters of the alphabet.
    opposite : array (A + 1,) or None
        The code of the complement of each letter; None: one strand.
    w : int
        The letters of a window.
    """

    def __init__(self, codes, track, size, opposite, w):
        self.w, self.flank, self.margin = w, w // 2, 8 * w
        self.A, self.opposite, self.strands = size, opposite, (1,) if opposite is None else (1, -1)
        around = ((0, 0), (self.margin, self.margin))
        self.codes, self.track = np.pad(codes, around, constant_values=size), np.pad(track, around)
        self.sign, self.one_hot = 1, np.eye(size + 1)[:, :size]  # contributions of this sign count as positive
        counts = np.bincount(codes.ravel(), minlength=size + 1)[:size] + 1
        counts = counts if opposite is None else counts + counts[opposite[:size]]
        self.background = counts / counts.sum()

    def cut(self, seqlets, offset, strand, before, after):
        """(one-hot letters (N, before + w + after, A), contributions of these letters): the frames of seqlets."""
        places = np.arange(-before, self.w + after)
        flip = np.asarray(strand) < 0
        at = np.where(flip[:, None], self.w - 1 - places, places) + (seqlets.start + offset)[:, None] + self.margin
        at = at.clip(0, self.track.shape[1] - 1)  # margins are empty
        codes = self.codes[seqlets.row[:, None], at]
        if self.opposite is not None:
            codes = np.where(flip[:, None], self.opposite[codes], codes)
        hot = self.one_hot[codes]
        return hot, hot * (self.sign * self.track[seqlets.row[:, None], at])[:, :, None]

    def frames(self, seqlets):
        """Unit vectors (T, N, (w + 2 flank)·A) of the seqlets in all T frames, offsets × strands."""
        frames = []
        for offset, strand in self.moves():
            frames.append(self.vectors(seqlets, offset, np.full(len(seqlets.row), strand)).astype(np.float32))
        return np.stack(frames)

    def vectors(self, *frame):
        """The same in one frame, (N, (w + 2 flank)·A)."""
        _, values = self.cut(*frame, self.flank, self.flank)
        return unit(np.maximum(values, 0).reshape(len(values), -1))

    def moves(self):
        """[(offset, strand)] of the T frames."""
        return [(offset, strand) for strand in self.strands for offset in range(-self.flank, self.flank + 1)]

    def mean(self, group):
        """The mean of the unit vectors of a group, as a unit vector."""
        return unit(self.vectors(*group).mean(axis=0, keepdims=True))[0]

    def centred(self, group):
        """The group with its w letters of the largest mean contribution in the middle of the frame."""
        _, values = self.cut(*group, self.flank, self.flank)
        sums = sliding_window_view(values.sum(axis=-1).mean(axis=0), self.w).sum(axis=-1)
        return group._replace(offset=group.offset + group.strand * (int(sums.argmax()) - self.flank))

    def tables(self, group, before, after):
        """(probabilities, mean contributions) of the letters in the frame of a group, (before + w + after, A) each."""
        hot, values = self.cut(*group, before, after)
        counts = hot.sum(axis=0)
        return (counts + self.background) / (counts.sum(axis=1, keepdims=True) + 1), values.mean(axis=0)

    def extent(self, group):
        """(before, after): how many columns the motif has around the w of the frame, negative if it has fewer.

        From the best column the motif goes on in both directions up to `BREAK` columns without information or
        contribution.
        """
        far = 3 * self.w
        P, values = self.tables(group, far, far)
        chance = (self.A - 1) / (2 * np.log(2) * len(group.offset))  # bits of few letters drawn from the background
        bits, own = information(P, self.background).sum(axis=1) - chance, values.sum(axis=1)
        core = slice(far, far + self.w)
        best = far + int(own[core].argmax())
        good = (bits >= LEAST_BITS * np.log2(self.A)) & (own >= LEAST_SHARE * own[core].max())
        ends = []
        for step in (-1, 1):
            last = at = best
            while 0 <= at < len(good) and abs(at - last) <= BREAK:
                last, at = (at if good[at] else last), at + step
            ends.append(last)
        return far - ends[0], ends[1] + 1 - far - self.w

    def copied(self, group, before, after):
        """Whether three quarters of the columns beside a motif have information too: the seqlets are copies."""
        far = 2 * self.w
        bits = information(self.tables(group, before + far, after + far)[0], self.background).sum(axis=1)
        return max(np.quantile(side, 0.25) for side in (bits[:far], bits[-far:])) >= COPIED * np.log2(self.A)


def information(P, background):
    """P log2(P / background), which sums to the bits of a column."""
    return P * np.log2(P / background)


def unit(rows):
    """The rows divided by their lengths; rows of zeros stay."""
    size = np.linalg.norm(rows, axis=1, keepdims=True)
    return np.divide(rows, size, out=np.zeros_like(rows), where=size > 0)


def find_groups(letters, seqlets, least, most):
    """At most `most` groups of `least` seqlets or more that resemble each other."""
    groups: list[SeqletGroup] = []
    seqlets = seqlets.take(slice(0, MOST))
    if len(seqlets.row) < least:
        return groups
    left, frames = np.ones(len(seqlets.row), bool), letters.frames(seqlets)
    for _ in range(4 * most):
        rest = np.flatnonzero(left)
        if len(rest) < least or len(groups) == most:
            break
        group, members = _densest(letters, seqlets.take(rest), frames[:, rest], least)
        if group is None:
            break
        left[rest[members]] = False
        left &= ~_covered(letters, seqlets, group)
        for k, other in enumerate(groups):
            joined = _joined(letters, other, group) or _joined(letters, group, other)
            if joined is not None:
                groups[k] = joined
                break
        else:
            groups.append(group)
    groups = [_matching(letters, distinct(group, letters.w)) for group in groups]
    return [group for group in groups if len(group.offset) >= least]


def _densest(letters, seqlets, frames, least):
    """(the group around the seqlet with the most neighbours, numbers of its members); None if it is too small."""
    moves = np.array(letters.moves())
    here = frames[letters.moves().index((0, 1))]
    cosine = np.max([here[:SEEDS] @ frame[:SEEDS].T for frame in frames], axis=0)
    template, members = here[int(np.maximum(cosine - ALIKE, 0).sum(axis=1).argmax())], None
    for _ in range(TURNS):
        fits = np.stack([frame @ template for frame in frames])
        found, best = np.flatnonzero(fits.max(axis=0) >= ALIKE), fits.argmax(axis=0)
        if len(found) < least:
            return None, None
        group = letters.centred(SeqletGroup(seqlets.take(found), *moves[best[found]].T))
        if members is not None and np.array_equal(found, members):
            break
        template, members = letters.mean(group).astype(np.float32), found
    return group, found


def _covered(letters, seqlets, group):
    """Which seqlets lie by half or more in the motif of a member of the group, which is longer than a window."""
    first, last = spans(group, letters.w, *letters.extent(group))
    covered = np.zeros(len(seqlets.row), bool)
    for row, low, high in zip(group.seqlets.row, first, last, strict=True):
        middle = seqlets.start + letters.w / 2
        covered |= (seqlets.row == row) & (low <= middle) & (middle <= high)
    return covered


def spans(group, w, before, after):
    """(first, last + 1) places of the motifs of a group, `before` and `after` its frame, in their sequences."""
    start, ahead = group.seqlets.start + group.offset, group.strand > 0
    return start - np.where(ahead, before, after), start + w + np.where(ahead, after, before)


def _joined(letters, group, other):
    """The group with the seqlets of the other in its frame, if the other is a part of its motif; else None."""
    w, far = letters.w, 3 * letters.w
    before, after = letters.extent(group)
    wide, own = (np.maximum(letters.tables(one, more, more)[1], 0) for one, more in ((group, far), (other, 0)))
    pieces = sliding_window_view(wide, w, axis=0).transpose(0, 2, 1)  # (…, w, A)
    shift, fits = np.arange(len(pieces)) - far, []  # from the frame of the group to that of the other
    for strand in letters.strands:
        turned = own if strand > 0 else own[::-1][:, letters.opposite[: letters.A]]
        strong = turned.sum(axis=1) >= STRONG * turned.sum(axis=1).max()
        cosine = unit((pieces * strong[:, None]).reshape(len(pieces), -1)) @ unit(turned.reshape(1, -1))[0]
        place = shift[:, None] + np.flatnonzero(strong)
        inside = ((place >= -before) & (place < w + after)).mean(axis=1) >= INSIDE
        at = int(np.where(inside, cosine, -1).argmax())
        fits.append((cosine[at] if inside[at] else -1.0, int(shift[at]), strand))
    fit, shift, strand = max(fits)
    if fit < SAME:
        return None
    # in the frame of the group the other one begins at `shift`; its strands turn with it
    moved = SeqletGroup(other.seqlets, other.offset - shift * strand * other.strand, other.strand * strand)
    both = [np.concatenate(pair) for pair in zip(group.seqlets, other.seqlets, strict=True)]
    offset, turn = (np.concatenate([group[k], moved[k]]) for k in (1, 2))
    return SeqletGroup(Seqlets(*both), offset, turn)


def distinct(group, w):
    """The group with the strongest one alone of seqlets whose frames lie at most half a window apart."""
    place = group.seqlets.start + group.offset
    order = np.argsort(-group.seqlets.strength, kind="stable")
    kept: dict[int, list[int]] = {}
    for k in order:
        near = kept.setdefault(int(group.seqlets.row[k]), [])
        if all(abs(place[k] - place[j]) > w // 2 for j in near):
            near.append(int(k))
    return _members(group, np.sort(np.concatenate(list(kept.values()))).astype(int))


def _members(group, which):
    return SeqletGroup(group.seqlets.take(which), group.offset[which], group.strand[which])


def _matching(letters, group):
    """The group without seqlets that lack a letter, or whose score Σ_j log2(P[j, letter] / background) is small."""
    for _ in range(TURNS):
        before, after = letters.extent(group)
        score = np.log2(letters.tables(group, before, after)[0] / letters.background)
        hot, _ = letters.cut(*group, before, after)
        good = (hot * score).sum(axis=(1, 2)) >= LEAST_MATCH * score.max(axis=1).sum()
        good &= hot.sum(axis=(1, 2)) == len(score)  # none reaches past an end or over an unknown letter
        if good.all() or not good.any():
            break
        group = _members(group, good)
    return group
