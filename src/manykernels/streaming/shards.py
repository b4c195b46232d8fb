"""Shards: parts of the examples, on any machine, and the few functions that run on them.

A shard holds the place of its examples, their targets and costs, and the fingerprint of its files. The functions are
pure: a second call, on a copy elsewhere, gives the same result.

    load      the shard with its examples in memory
    scan      how many examples there are, their targets, their columns
    fetch     some of the examples
    price     Σ c V over all examples at a predictor, and the examples with a = 0 and the largest loss
    decide    the outputs of all examples
"""

import os
import pickle
import platform
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy import ndarray

from ..banks import Predictor
from ..kernels import ids
from ..kernels.frames import is_frame, len_
from ..losses.base import Loss
from ..sequences import Sequences
from .sources import DataSource, naming

HEAD_EXAMPLES = 500  # of a piece, read before all others
BEGINNING = 16  # examples that tell whether a piece begins as before


@dataclass(frozen=True)
class Shard:
    """The examples first … first + n of all, from one piece of a source, with targets Y (T, n) and costs c (n,).

    `beginning` is that of its piece, see the function. `w` (n,) are the weights in the normalisation, None if
    all are equal. `kept` is the place of its block in a file,
    (path, offset), if its piece can only be read in order; `data` are the blocks if they are loaded.
    """

    source: DataSource
    piece: Any
    fingerprint: tuple = ()
    beginning: bytes = b""
    first: int = 0
    n: int = 0
    Y: Any = None
    c: Any = None
    w: Any = None
    kept: tuple[str, int] | None = None
    data: tuple | None = None

    def blocks(self) -> Iterator[Any]:
        """X of each block; a ValueError if the source has changed."""
        self.check()
        if self.data is not None:
            yield from self.data
        elif self.kept is not None:
            with open(self.kept[0], "rb") as file:  # written by `scan`, in a folder of this fit
                file.seek(self.kept[1])
                yield pickle.load(file)
        else:
            for k, X in enumerate(filled_blocks(self.source, self.piece)):
                if k == 0 and beginning(X) != self.beginning:
                    raise ValueError(
                        f"read() of {self.source!r} gave other rows in piece {self.piece!r} than before: it must give "
                        "the same rows in the same order each time."
                    )
                yield X

    def check(self) -> None:
        """Raises a ValueError if the files have changed since they were first read."""
        now = self.source.fingerprint(self.piece)
        if now != self.fingerprint:
            raise ValueError(
                f"{self.source!r} has changed while the fit was running (piece {self.piece!r}): do not change it in "
                "a fit, or fit a copy."
            )

    def weights(self, part: slice) -> ndarray:
        """The weights of some examples in the normalisation."""
        return np.ones(part.stop - part.start) if self.w is None else self.w[part]

    def parts(self) -> Iterator[tuple[slice, Any]]:
        """(slice of its examples, X) of each block."""
        start = 0
        for X in self.blocks():
            stop = start + len_(X)
            yield slice(start, stop), X
            start = stop
        if start != self.n:
            raise ValueError(f"{self.source!r} had {self.n} examples in piece {self.piece!r} and has {start} now.")


@dataclass
class SentModel:
    """The predictor f_t = Σ_m θ_tm Σ_i A_ti k_m(x_i, ·) + b_t of some outputs, prepared once a process in `room`."""

    predictor: Predictor
    A: ndarray
    theta: ndarray
    b: ndarray
    loss: Loss
    outputs: slice
    room: int
    _ready: Any = None

    def __post_init__(self) -> None:
        self._lock = threading.Lock()

    def __reduce__(self) -> tuple:
        return SentModel, (self.predictor, self.A, self.theta, self.b, self.loss, self.outputs, self.room)

    def prepare(self) -> Any:
        """f without b as a function of X, (T, n)."""
        with self._lock:
            if self._ready is None:
                self._ready = self.predictor.prepared(self.A, self.theta, self.room)
            return self._ready

    def decision(self, X) -> ndarray:
        """f of a block, (T, n)."""
        return np.asarray(self.prepare()(X) + self.b[:, None])


class Scanned(NamedTuple):
    """A piece: sizes of blocks, their places in a file, targets, columns, first examples and their bytes."""

    sizes: list[int]
    places: list[int]
    y: ndarray | None
    columns: tuple
    fingerprint: tuple
    head: Any
    beginning: bytes


class Priced(NamedTuple):
    """Σ c V (T,), the number of violators, numbers, c V and data of the worst ones, the worker, its seconds."""

    losses: ndarray
    violators: int
    rows: ndarray
    values: ndarray
    X: Any
    who: tuple
    seconds: float


def load(shard: Shard, given=None) -> Shard:
    """The shard with its examples in memory; `given` is the piece if a worker computed it."""
    blocks = shard.blocks() if given is None else filled_blocks(shard.source, given)
    return replace(shard, data=tuple(blocks))


def scan(source: DataSource, piece, path: str | None = None, given=None) -> Scanned:
    """Reads a piece for the first time, and keeps its blocks in the file `path` if one is given."""
    sizes, places, targets, columns, head, before = [], [], [], None, None, source.fingerprint(piece)
    with nullcontext() if path is None else open(path, "wb") as file:
        for X, y in blocks_of(source, piece if given is None else given):
            here = columns_of(X)
            if columns is not None and here != columns:
                raise ValueError(differ(source, columns, here))
            columns = here
            head = take(X, np.arange(min(len_(X), HEAD_EXAMPLES))) if head is None and len_(X) else head
            sizes.append(len_(X))
            targets += [] if y is None else [y]
            if file is not None:
                places.append(file.tell())
                pickle.dump(X, file, protocol=5)
    first = b"" if head is None else beginning(head)
    return Scanned(sizes, places, np.concatenate(targets) if targets else None, columns or (), before, head, first)


def blocks_of(source: DataSource, piece) -> Iterator[tuple[Any, Any]]:
    """The blocks (X, y) of a piece; a ValueError if the source gives something else."""
    blocks = source.read(piece)
    if not hasattr(blocks, "__iter__"):  # whatever a user's source returns
        raise ValueError(f"read() of {source!r} returned {type(blocks).__name__}: yield (X, y) of each block.")
    for block in blocks:
        if not isinstance(block, tuple) or len(block) != 2 or block[0] is None:
            what = "None for X" if isinstance(block, tuple) and len(block) == 2 else f"a {type(block).__name__}"
            raise ValueError(f"read() of {source!r} gave {what}: yield (X, y) of each block, y None without targets.")
        if block[1] is None and source.target is not None:
            cure = f"yield its values as y where self.target is {source.target!r}"
            raise ValueError(f"read() of {source!r} gave None for y, but the target is {source.target!r}: {cure}.")
        kind, *columns = columns_of(block[0])
        if kind == "columns" and source.target in columns:
            raise ValueError(f"read() of {source!r} gave an X with the column {source.target!r}, the target: drop it.")
        if isinstance(block[0], ndarray) and block[0].dtype != object and block[0].ndim != 2:
            raise ValueError(f"read() of {source!r} gave an X of shape {block[0].shape}: yield an array (n, d).")
        yield block


def filled_blocks(source: DataSource, piece) -> Iterator[Any]:
    """X of the blocks of a piece that have examples: kernels take no empty block."""
    return (X for X, _ in blocks_of(source, piece) if len_(X))


@dataclass(frozen=True)
class Question:
    """Calls `ask` on shards, or on a source and a piece; its errors name the files."""

    ask: Callable

    def __call__(self, first, *args) -> Any:
        shards = [(one.source, one.piece) for one in (first, *args) if isinstance(one, Shard)] or [(first, args[0])]
        with naming(" or ".join(dict.fromkeys(source.where(piece) for source, piece in shards))):
            return self.ask(first, *args)


def differ(source, one, other):
    """The error about blocks with different columns."""
    lost, strange = [c for c in one[1:] if c not in other], [c for c in other[1:] if c not in one]
    what = f"{one[0]} {list(one[1:])[:10]} in one block and {list(other[1:])[:10]} in another"
    if one[0] == other[0] == "columns" and not lost and not strange:
        what = "the same columns in another order"
    elif lost or strange:
        what += f" (lacks {lost[:5]}, has {strange[:5]} besides)"
    return f"{source!r} has {what}: give every block the same columns."


def fetch(shard: Shard, rows: ndarray) -> Any:
    """The examples with these sorted numbers in the shard."""
    found = []
    for part, X in shard.parts():
        mine = rows[np.searchsorted(rows, part.start) : np.searchsorted(rows, part.stop)] - part.start
        if len(mine):
            found.append(take(X, mine))
    return concatenate(found)


def price(shard: Shard, state: SentModel, active: ndarray, most: int) -> Priced:
    """The losses of all examples, and the worst `most` violators: those with loss that are not `active`.

    An example with a = 0 adds c V(y, f) to the duality gap; the worst violator adds most.
    """
    begun = time.perf_counter()
    losses, count, found = np.zeros(len(state.b)), 0, []
    for part, X in shard.parts():
        values = _losses(shard, part, X, state)
        losses += values.sum(axis=1)
        score = values.sum(axis=0)
        score[active[np.searchsorted(active, part.start) : np.searchsorted(active, part.stop)] - part.start] = 0.0
        worst = np.flatnonzero(score > 0)
        count += len(worst)
        if len(worst) > most:
            worst = np.sort(worst[np.argpartition(-score[worst], most - 1)[:most]])
        if len(worst):
            found.append((part.start + worst, score[worst], take(X, worst)))
    rows, values, X = _worst(found, most)
    who = platform.node(), os.getpid(), threading.get_ident()
    return Priced(losses, count, rows, values, X, who, time.perf_counter() - begun)


def _losses(shard, part, X, state):
    """c V of the examples of a block, (T, n)."""
    f = state.decision(X)
    Y = np.asarray(shard.Y[state.outputs, part], np.float64)
    return np.asarray(shard.c[part], np.float64) * np.array(
        [state.loss.value(y, f_t) for y, f_t in zip(Y, f, strict=True)]
    )


def _worst(found, most):
    """The worst `most` violators of all blocks, sorted by number."""
    if not found:
        return np.empty(0, np.int64), np.empty(0), None
    rows, values = (np.concatenate([part[k] for part in found]) for k in (0, 1))
    X = concatenate([part[2] for part in found])
    if len(rows) <= most:
        return rows, values, X
    keep = np.sort(np.argpartition(-values, most - 1)[:most])
    return rows[keep], values[keep], take(X, keep)


def moments(shard: Shard, of: Callable, *args) -> tuple | None:
    """(Σ w, mean (d,), Σ w (x − mean)² (d,)) of numbers, of which of(X, w / Σ w, *args) gives mean and variance."""
    total = None
    for part, X in shard.parts():
        w = shard.weights(part)
        if w.sum() > 0 and (found := of(X, w / w.sum(), *args)) is not None:
            total = merge(total, (float(w.sum()), found[0], w.sum() * found[1]))
    return total


def column_moments(X, share: ndarray) -> tuple | None:
    """Mean and variance (d,) of the columns of numbers; None where there are none."""
    x = numbers_of(X)
    if x is None:
        return None
    mean = share @ x
    return mean, share @ (x - mean) ** 2


def merge(one, other):
    """The moments of two sets of rows together (Chan, Golub and LeVeque 1979)."""
    if one is None or other is None:
        return one or other
    (w, mean, square), (v, mean_v, square_v) = one, other
    step = mean_v - mean
    return w + v, mean + step * (v / (w + v)), square + square_v + step**2 * (w * v / (w + v))


# examples in any container


def take(X, rows: ndarray) -> Any:
    """A copy of the examples at these positions."""
    if isinstance(X, Sequences):
        return X[rows].compact()
    if isinstance(X, ndarray):
        return np.array(X[rows])
    return ids.take(X, rows)


def concatenate(blocks: list[Any]) -> Any:
    """The blocks in one container; a ValueError if they do not fit."""
    first = blocks[0]
    if len(blocks) == 1:
        return first
    if isinstance(first, Sequences):
        return Sequences.concatenate(blocks)
    if isinstance(first, ndarray):
        return np.concatenate(blocks)
    if sp.issparse(first):
        return sp.vstack(blocks, format="csr")
    if hasattr(first, "iloc"):  # a frame of pandas
        import pandas as pd

        return pd.concat(blocks, ignore_index=True)
    if is_frame(first):
        import polars as pl

        return pl.concat(blocks)
    return [x for block in blocks for x in block]


def columns_of(X) -> tuple:
    """The kind of examples, and the names or the number of their columns, which all blocks must share."""
    if isinstance(X, Sequences):
        return "sequences", X.alphabet.name
    if is_frame(X):
        return "columns", *map(str, X.columns)
    shape = getattr(X, "shape", (len_(X),))  # an array of any library
    return ("features", *shape[1:])


def beginning(X) -> bytes:
    """The numbers of the first examples, which tell whether X begins as before; empty if X has no such columns."""
    numbers = numbers_of(take(X, np.arange(min(len_(X), BEGINNING))))
    return b"" if numbers is None else numbers.tobytes()


def numbers_of(X) -> ndarray | None:
    """X as float64 (n, d), NaN for other values than numbers; None if it has no columns."""
    if isinstance(X, ndarray) and X.ndim == 2:
        return X.astype(np.float64)
    if not is_frame(X):
        return None
    found = np.full(X.shape, np.nan)
    for j, name in enumerate(X.columns):
        column = np.asarray(X[name])
        if column.dtype.kind in "biuf":
            found[:, j] = column
    return found
