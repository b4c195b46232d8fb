"""A source opened for one fit: scanned once, cut into shards, with the backend that queries them.

Also the normalisation of kernels over all shards: the scales that a bank of all examples would have.

    multiplicative:  1 / (Σ w_i k_ii / W − Σ w_i w_j k_ij / W²)     trace:  1 / (Σ w_i k_ii / W)

The variance of kernels with numeric features comes from the moments of the features, that of words at their positions
from the counts of each word. All other kernels compare every pair of examples once, shard by shard, as in memory: the
time grows with n², and only "multiplicative" needs it.
"""

import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy import ndarray

from .._callers import warn
from .._limits import MemoryBudget
from .._threads import run_blocks
from ..banks.choice import explicit_bank
from ..banks.dense import report_unusable
from ..banks.features import MIN_VARIANCE_SHARE
from ..banks.pairwise import PairwiseBank
from ..kernels.frames import len_
from ..kernels.normalize import Scaled, precision
from ..sequences.alphabet import DNA
from .backends import active_backend
from .shards import Question, Scanned, Shard, column_moments, concatenate, differ, fetch, merge, moments, scan, take
from .sources import DataSource

ROWS_PER_MATRIX = 1024  # of the kernel matrices
MANY_EXAMPLES = 100_000  # above it a warning says that all pairs take long


class Stream:
    """The shards of a source, as a context: `n` examples with targets `y`."""

    room = MemoryBudget(None).share("blocks of a stream")  # bytes besides the blocks of examples

    def __init__(self, source: DataSource, n_jobs: int | None = None) -> None:
        self.source, self.backend, self.n_jobs = source, active_backend(n_jobs), n_jobs

    def __enter__(self) -> Self:
        self.folder = tempfile.TemporaryDirectory(prefix="manykernels-")
        self.backend.open()
        try:
            self._scan()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *error: object) -> None:
        self.backend.close()
        self.folder.cleanup()

    def __len__(self) -> int:
        return self.n

    def __repr__(self) -> str:
        return repr(self.source)

    def _scan(self):
        source, pieces = self.source, self.source.pieces()
        kept = self.backend.keeps_blocks and source.in_order
        calls = [
            (source, piece, os.path.join(self.folder.name, str(k)) if kept else None, self.backend.given(source, piece))
            for k, piece in enumerate(pieces)
        ]
        found = self.backend.run(Question(scan), calls)
        shards, first = [], 0
        for piece, call, part in zip(pieces, calls, found, strict=True):
            if part.columns and found[0].columns and part.columns != found[0].columns:
                raise ValueError(differ(source, found[0].columns, part.columns))
            for shard, size in _shards(source, piece, call[2], part):
                if size:
                    shards.append(replace(shard, first=first, n=size))
                    first += size
        self.n, self.shards, parts = first, shards, list(zip(found, pieces, strict=True))
        if not self.n:
            raise ValueError(f"{source!r} has no examples.")
        self.y = np.concatenate([part.y for part in found if part.y is not None]) if source.target is not None else None
        self.head, first = next((part.head, piece) for part, piece in parts if part.head is not None)
        self.begin = source.where(first)  # the files of the head

    def identity(self) -> list[tuple]:
        """The fingerprint of the data, for a checkpoint."""
        return [(shard.fingerprint, shard.n) for shard in self.shards]

    def arrange(self, Y: ndarray, c: ndarray, weights: ndarray | None) -> None:
        """Gives the shards their targets Y (T, n), costs c (n,) and weights in the normalisation; None: equal ones."""
        self.Y, self.c, self.weights = Y, c, weights
        self.weight = float(self.n if weights is None else weights.sum())
        for k, shard in enumerate(self.shards):
            own = slice(shard.first, shard.first + shard.n)
            self.shards[k] = replace(shard, Y=Y[:, own], c=c[own], w=None if weights is None else weights[own])
        self.handles = self.backend.hold(self.shards)
        self.starts = np.array([shard.first for shard in self.shards])

    def ask(self, function: Callable, *args) -> list[Any]:
        """function(shard, *args) of all shards."""
        return self.backend.run(Question(function), [(handle, *args) for handle in self.handles])

    def ask_pairs(self, function: Callable, *args) -> Iterator[tuple[tuple[int, int], Any]]:
        """((i, j), function(shard i, shard j, *args)) of all pairs i <= j, row by row."""
        for i in range(len(self.shards)):
            pairs = [(i, j) for j in range(i, len(self.shards))]
            calls = [(self.handles[i], self.handles[j], *args) for _, j in pairs]
            yield from zip(pairs, self.backend.run(Question(function), calls), strict=True)

    def local(self, rows: ndarray, k: int) -> ndarray:
        """Those of the sorted numbers `rows` of examples that lie in shard k, as numbers in it."""
        shard = self.shards[k]
        low, high = np.searchsorted(rows, [shard.first, shard.first + shard.n])
        return rows[low:high] - shard.first

    def fetch(self, rows: ndarray) -> Any:
        """The examples with these sorted numbers."""
        mine = [(k, local) for k in range(len(self.shards)) if len(local := self.local(rows, k))]
        return concatenate(self.backend.run(Question(fetch), [(self.handles[k], local) for k, local in mine]))

    def columns(self) -> tuple[ndarray, ndarray]:
        """(mean, standard deviation) of each column of numbers over all examples."""
        total = reduce(merge, self.ask(moments, column_moments))
        if total is None:
            raise ValueError(f'gamma="scale" needs numeric columns, and {self.source!r} has none: give a number.')
        W, mean, square = total
        return mean, np.sqrt(square / W)


def _shards(source, piece, path, part: Scanned) -> Iterator[tuple[Shard, int]]:
    """The shards of a piece, one for each block that is kept."""
    shard = Shard(source, piece, part.fingerprint, part.beginning)
    if path is None:
        yield shard, sum(part.sizes)
        return
    for place, size in zip(part.places, part.sizes, strict=True):
        yield replace(shard, kept=(path, place)), size


def stand_in(head, mean: ndarray, deviation: ndarray) -> Any:
    """Two examples like those of `head` whose columns have these means and standard deviations."""
    two = take(head, np.arange(2) % len_(head))
    values = np.stack([mean - deviation, mean + deviation])
    if isinstance(two, ndarray):
        return values
    two = two.copy()
    for name, column in zip(two.columns, values.T, strict=True):
        if np.isfinite(column).all():
            two[name] = column
    return two


# the normalisation of kernels


def normalisation(stream: Stream, kernels, sample, kind: str | None) -> tuple[Scaled, bool]:
    """(the `Scaled` of a list of kernels, whether explicit features are too far from 0); `sample` are some examples."""
    M, far = kernels.M, False
    diagonal, variance, known = np.zeros(M), np.zeros(M), np.full(M, 1e-12)
    for (family, _), own in _families(kernels).items():
        part = kernels.part(own)
        if family == "features":
            found = _of_features(stream, part, sample, kind)
            far |= bool(np.any(found[1] <= MIN_VARIANCE_SHARE * found[0]))
        elif family == "degree" and kind != "spherical":
            found = _of_words(stream, part, sample)
            known[own] = max(precision(np.float32), stream.n * 2.0**-50)
        else:
            found = _of_pairs(stream, part, sample, kind)
        diagonal[own], variance[own] = found
    scale, usable = kernels.scales(diagonal, variance, kind, known)
    scaled = Scaled(kind, scale, usable, diagonal - variance)
    report_unusable(kernels.names, usable)
    return scaled, far


def _families(kernels):
    """{(the way to their moments, the view): the numbers of the kernels}."""
    found: dict[tuple, list[int]] = {}
    for m, kernel in enumerate(kernels.kernels):
        plain = kernels.view_plans[kernels.view_of[m]].is_plain
        family = kernel.family if plain and kernel.family in ("features", "degree") else None
        if family == "degree" and _bits(kernel)[0] * max(kernel.words) > 64:
            family = None
        found.setdefault((family, kernels.view_of[m] if family == "degree" else None), []).append(m)
    return {family: np.array(own) for family, own in found.items()}


def _bits(kernel):
    """(bits of a letter, the code of the unknown letter)."""
    size = (kernel.encoding[0] or DNA).size
    return max(size.bit_length(), 1), size


def _unscaled(kind, M):
    return Scaled(kind, np.ones(M), np.ones(M, bool), np.ones(M))


def _quiet(make, *args, **options):
    with warnings.catch_warnings(action="ignore"):
        return make(*args, **options)


# numeric features


def feature_moments(X, share: ndarray, bank) -> tuple:
    """Mean and variance (D,) of the features of some examples."""
    F = bank.features(bank.kernels.views(X))
    mean = F.add(np.arange(len(share)), share, bank.n_jobs)
    return mean, F.squares(share, mean)


def _of_features(stream, kernels, sample, kind):
    some = take(sample, np.arange(min(2, len_(sample))))
    bank = _quiet(explicit_bank, kernels, some, normalize=_unscaled(kind, kernels.M), n_jobs=1)
    if bank is None:
        raise ValueError("kernels with so many features cannot be streamed: take features='never'.")
    W, mean, square = reduce(merge, stream.ask(moments, feature_moments, bank))
    variance = bank.sums(square / W)
    return variance + bank.sums(mean**2), variance


# words at their positions


def words_at(shard: Shard, kernels, low: int, high: int, d: int, bits: int) -> ndarray:
    """The words of d letters at the positions low … high as numbers, (positions, n)."""
    from ..loops.degree_predictor import word_keys

    out = np.empty((high - low, shard.n), np.uint64)
    for part, X in shard.parts():
        x = kernels.views(X)[0].X
        word_keys(x.data, x.starts, x.bits, x.length, low, d, bits, out[:, part])
    return out


def _of_words(stream, kernels, sample):
    from ..loops.degree_predictor import word_squares

    x = kernels.views(sample)[0].X
    tables = [kernel.degree_table(x.length) for kernel in kernels.kernels]
    L, d, (bits, unknown) = x.length, max(table.shape[1] for table in tables), _bits(kernels.kernels[0])
    w = stream.weights
    step, squares = max(1, stream.room // (24 * stream.n)), np.zeros((L, d))
    for low in range(0, L, step):
        high = min(low + step, L)
        found = stream.ask(words_at, kernels, low, high, d, bits)

        def count(at, found=found, low=low):
            keys, most = np.concatenate([part[at - low] for part in found]), min(d, L - at)
            if w is None:
                keys.sort()
                word_squares(keys, np.empty(0), d, most, bits, unknown, squares[at, :most])
            else:
                order = np.argsort(keys, kind="stable")
                word_squares(keys[order], w[order], d, most, bits, unknown, squares[at, :most])

        run_blocks(count, range(low, high), stream.n_jobs)
    W = stream.weight
    diagonal = np.sum(stream.ask(own_pair_sums, kernels, None), axis=0) / W
    square_mean = np.array([np.sum(table * squares[:, : table.shape[1]]) for table in tables]) / W**2
    return diagonal, diagonal - square_mean


# all pairs


def pair_sums(one: Shard, other: Shard, kernels, kind: str | None) -> ndarray:
    """(2, M): Σ_ij w_i w_j k_ij between two shards, and, where they are the same, Σ_i w_i k_ii."""
    total, same = np.zeros((2, kernels.M)), one.first == other.first
    for w, bank in _banks(one, kernels, kind):
        predictor, every = bank.predictor(np.arange(bank.n)), np.ones(kernels.M)
        total[1] += bank.diagonals() @ w if same else 0.0
        for there, Z in other.parts():
            total[0] += other.weights(there) @ predictor.parts(Z, w[None], every)[0]
    return total


def _banks(shard, kernels, kind):
    """(weights, bank) of ROWS_PER_MATRIX examples at a time."""
    for part, X in shard.parts():
        w, scaled = shard.weights(part), _unscaled(kind, kernels.M)
        for low in range(0, len(w), ROWS_PER_MATRIX):
            some = np.arange(low, min(low + ROWS_PER_MATRIX, len(w)))
            yield w[some], _quiet(PairwiseBank, kernels, take(X, some), normalize=scaled, dtype=np.float64, n_jobs=1)


def own_pair_sums(shard: Shard, kernels, kind: str | None) -> ndarray:
    """Σ_i w_i k_ii of kernels that are compared pair by pair, (M,)."""
    total = np.zeros(kernels.M)
    for w, bank in _banks(shard, kernels, kind):
        total += bank.diagonals() @ w
    return total


def _of_pairs(stream, kernels, sample, kind):
    if kind == "multiplicative":
        if stream.n > MANY_EXAMPLES:
            names = ", ".join(repr(name) for name in kernels.names[:3])
            warn(f'normalize="multiplicative" compares all pairs of {stream.n:,} examples once for kernels {names}, '
                'which takes long: use "spherical", "trace" or None.')  # fmt: skip
        sums, diagonal, W = np.zeros(kernels.M), np.zeros(kernels.M), stream.weight
        for (i, j), found in stream.ask_pairs(pair_sums, kernels, kind):
            sums += found[0] * (1 if i == j else 2)
            diagonal += found[1]
        return diagonal / W, diagonal / W - sums / W**2
    bank = _quiet(PairwiseBank, kernels, sample, normalize=kind, dtype=np.float64, n_jobs=stream.n_jobs)
    if not bank.usable.all():
        names = ", ".join(repr(bank.names[m]) for m in np.flatnonzero(~bank.usable)[:5])
        raise ValueError(
            f"kernels {names} do not vary on a sample of {bank.n} examples: leave them out, or take "
            'normalize="multiplicative", which looks at all.'
        )
    diagonal = np.sum(stream.ask(own_pair_sums, kernels, kind), axis=0) / stream.weight
    return diagonal, diagonal  # they vary; the scale does not matter
