"""A source opened for one fit: scanned once, cut into shards, with the backend that queries them."""

import os
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from typing import Any, Self

import numpy as np
from numpy import ndarray

from .._limits import MemoryBudget
from ..kernels.base import len_
from .backends import active_backend
from .shards import Question, Scanned, Shard, column_moments, concatenate, differ, fetch, merge, scan, take
from .sources import DataSource


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

    def ask(self, function: Callable, *args: Any) -> list[Any]:
        """function(shard, *args) of all shards."""
        return self.backend.run(Question(function), [(handle, *args) for handle in self.handles])

    def ask_pairs(self, function: Callable, *args: Any) -> Iterator[tuple[tuple[int, int], Any]]:
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
        total = reduce(merge, self.ask(column_moments))
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


def stand_in(head: Any, mean: ndarray, deviation: ndarray) -> Any:
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
