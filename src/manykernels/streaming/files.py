"""Sources of files, each of which is a piece: sequences in FASTA files, tables in CSV, Parquet and Arrow files.

Blocks of tables are DataFrames of pandas, whose columns kernels can name.
"""

import glob
import os
from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

from numpy import ndarray

from .._validation import check_integer
from ..kernels.frames import check_header
from ..sequences.alphabet import Alphabet
from ..sequences.fasta import gathered, stream_fasta
from .sources import DataSource, naming, needing

_FORM = (  # options of pandas.read_csv that describe the header
    "sep", "delimiter", "engine", "encoding", "compression", "quotechar", "quoting", "escapechar", "comment",
    "skiprows", "skipinitialspace", "skip_blank_lines", "storage_options",
)  # fmt: skip
Paths = str | PathLike[str] | Sequence[str | PathLike[str]]


class FileSource(DataSource):
    """Several files, each a piece."""

    def __init__(self, paths, rows: int) -> None:
        self.paths, self.rows = find_files(paths), check_integer("rows", rows)

    def pieces(self) -> list[Any]:
        return list(self.paths)

    def files(self, piece) -> list[str]:
        return [piece]

    def _shown(self):
        return self.paths if len(self.paths) <= 3 else [*self.paths[:2], f"… {len(self.paths)} files"]


def find_files(paths) -> list[str]:
    """The files of a path, a pattern with * or a list of them."""
    several = [paths] if isinstance(paths, str | os.PathLike) else list(paths)
    found: list[str] = []
    for path in [os.fspath(one) for one in several]:
        matches = sorted(glob.glob(path)) if glob.has_magic(path) and not os.path.exists(path) else [path]
        if not matches or not os.path.exists(matches[0]):
            raise FileNotFoundError(f"paths={path!r} names no file.")
        found += matches
    if not found:
        raise ValueError("paths is empty: give at least one file.")
    return found


class FastaFiles(FileSource):
    """The sequences of FASTA or FASTQ files (.gz, .bz2, .xz and .zst too).

    The headers hold the target under its name: `fit(FastaFiles("sites.fa.gz"), "class")` where they hold
    `class=1`. Each file is a piece: give several where several workers should read.

    Parameters
    ----------
    paths : path, pattern with *, or list of them
    alphabet : str or Alphabet, default "dna"
        As in `read_fasta`.
    unknown : {"error", "ambiguous", "ignore"}
        The treatment of letters outside the alphabet; ignored letters match nothing.
    window : (int, int), optional
        The letters [start:stop] of every sequence that are kept.
    rows : int, default 65536
        In a block, roughly.

    Examples
    --------
    >>> import tempfile
    >>> from manykernels.streaming import FastaFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with open(f"{folder}/sites.fa", "w") as file:
    ...         print(">one class=1", file=file)
    ...         print("ACGT", file=file)
    ...     source = FastaFiles(f"{folder}/sites.fa").with_target("class")
    ...     [(list(X), y.tolist()) for piece in source.pieces() for X, y in source.read(piece)]
    [(['ACGT'], [1])]
    """

    in_order = True

    def __init__(
        self,
        paths: Paths,
        alphabet: str | Alphabet = "dna",
        unknown: str = "error",
        window: tuple[int, int] | None = None,
        rows: int = 2**16,
    ) -> None:
        super().__init__(paths, rows)
        self.alphabet, self.unknown, self.window = alphabet, unknown, window

    def read(self, piece) -> Iterator[tuple[Any, ndarray | None]]:
        for X, labels in stream_fasta(piece, self.alphabet, self.unknown, self.target, self.rows):
            y = None if labels is None else gathered([labels], True)
            yield X if self.window is None else X.window(*self.window), y


class _Table(FileSource):
    """Files of one table: `columns` are those of X, None for all but the target."""

    columns: list[str] | None

    def _split(self, frame, path):
        """(X, y) of a block."""
        check_header(list(frame.columns), path)
        if self.target is None:
            return (frame if self.columns is None else frame[self.columns]), None
        if self.target not in frame.columns:
            raise ValueError(f"{path} has no column {self.target!r}; it has {list(frame.columns)[:20]}.")
        y = frame[self.target].to_numpy()
        kept = [name for name in frame.columns if name != self.target] if self.columns is None else self.columns
        return frame[kept], y

    def _wanted(self):
        """The columns to read; None for all."""
        return None if self.columns is None else [*self.columns, *([] if self.target is None else [self.target])]


class ParquetFiles(_Table):
    """The rows of a table in Parquet files, or in Feather (Arrow) ones; needs pyarrow and pandas.

    The pieces are row groups, so that a large file should have several.

    Parameters
    ----------
    paths : path, pattern with *, or list of them
    columns : list of str, optional
        Those of X; all but the target unless given.
    rows : int, default 65536
        In a block, at most.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from manykernels.streaming import ParquetFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     table = pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 0]})
    ...     table.to_parquet(f"{folder}/data.parquet", row_group_size=2)
    ...     source = ParquetFiles(f"{folder}/data.parquet").with_target("label")
    ...     [(list(X), y.tolist()) for piece in source.pieces() for X, y in source.read(piece)]
    [(['a'], [0, 1]), (['a'], [0])]
    """

    def __init__(self, paths: Paths, columns: list[str] | None = None, rows: int = 2**16) -> None:
        super().__init__(paths, rows)
        self.columns = columns

    def _open(self, path):
        with needing("pyarrow", self):
            import pyarrow as pa
            import pyarrow.parquet as pq
        with naming(path):
            return pq.ParquetFile(path) if _is_parquet(path) else pa.ipc.open_file(pa.memory_map(path))

    def __len__(self):
        return sum(self._n_rows(path) for path in self.paths)

    def _n_rows(self, path):
        file = self._open(path)
        if _is_parquet(path):
            return file.metadata.num_rows
        return sum(file.get_batch(k).num_rows for k in range(file.num_record_batches))

    def pieces(self) -> list[Any]:
        found = []
        for path in self.paths:
            file = self._open(path)
            groups = file.num_row_groups if _is_parquet(path) else file.num_record_batches
            found += [(path, group) for group in range(groups)]
        return found

    def read(self, piece) -> Iterator[tuple[Any, ndarray | None]]:
        path, group = piece
        file = self._open(path)
        if _is_parquet(path):
            batches = file.iter_batches(self.rows, row_groups=[group], columns=self._wanted())
        else:
            whole = file.get_batch(group)
            whole = whole if self.columns is None else whole.select(self._wanted())
            batches = (whole.slice(low, self.rows) for low in range(0, whole.num_rows, self.rows))
        for batch in batches:
            yield self._split(batch.to_pandas(), path)

    def files(self, piece) -> list[str]:
        return [piece[0]]


class CSVFiles(_Table):
    """The rows of a table in CSV files (.gz, .bz2, .xz and .zst too), read in blocks by pandas.

    Parameters
    ----------
    paths : path, pattern with *, or list of them
    columns : list of str, optional
        Those of X; all but the target unless given.
    rows : int, default 65536
        In a block.
    **options
        Of `pandas.read_csv`, such as sep; numbers are read to their last digit unless float_precision is given.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> from manykernels.streaming import CSVFiles
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     pd.DataFrame({"a": [1.0, 2.0, 3.0], "label": [0, 1, 0]}).to_csv(f"{folder}/data.csv", index=False)
    ...     source = CSVFiles(f"{folder}/data.csv", rows=2).with_target("label")
    ...     [(list(X), y.tolist()) for piece in source.pieces() for X, y in source.read(piece)]
    [(['a'], [0, 1]), (['a'], [0])]
    """

    in_order = True

    def __init__(self, paths: Paths, columns: list[str] | None = None, rows: int = 2**16, **options) -> None:
        super().__init__(paths, rows)
        self.columns, self.options = columns, options

    def read(self, piece) -> Iterator[tuple[Any, ndarray | None]]:
        with needing("pandas", self):
            import pandas as pd
        exact = "engine" in self.options or tuple(map(int, pd.__version__.split(".")[:2])) >= (3, 1)  # or has no such
        options = ({} if exact else {"float_precision": "round_trip"}) | self.options
        if not {"names", "header"} & options.keys():  # pandas calls the second x of a header x.1
            form = {name: options[name] for name in _FORM if name in options}
            head = pd.read_csv(piece, header=None, nrows=1, dtype=str, keep_default_na=False, **form)
            names = [name or f"Unnamed: {k}" for k, name in enumerate(head.iloc[0])]  # as pandas does
            check_header(names, piece)
            lost = [name for name in self._wanted() or () if name not in names]
            if lost:
                raise ValueError(f"{piece} has no column {lost[0]!r}; it has {names[:20]}.")
        with pd.read_csv(piece, usecols=self._wanted(), chunksize=self.rows, **options) as blocks:
            for frame in blocks:
                yield self._split(frame, piece)


def _is_parquet(path):
    with open(path, "rb") as file:
        return file.read(4) == b"PAR1"


ENDINGS: dict[type[DataSource], tuple[str, ...]] = {
    FastaFiles: ("fa", "fasta", "fna", "faa", "fq", "fastq"),
    CSVFiles: ("csv",),
    ParquetFiles: ("parquet", "feather", "arrow"),
}
PACKED_ENDINGS = ("gz", "bz2", "xz", "zst")


def from_paths(paths: list[Any]) -> DataSource:
    """The source of these files, all of one kind; a ValueError if their names do not tell the kind."""
    strange = [path for path in paths if not isinstance(path, str | os.PathLike)]
    if strange:
        raise ValueError(f"X is a bag that holds {strange[0]!r}: a bag of file paths is wanted.")
    kinds = {_kind(os.fspath(path)) for path in paths}
    if len(kinds) != 1 or None in kinds:
        endings = ", ".join(f".{end}" for ends in ENDINGS.values() for end in ends)
        packed = ", ".join(f".{end}" for end in PACKED_ENDINGS)
        raise ValueError(
            f"X is a bag of {len(paths)} paths, {[os.fspath(path) for path in paths[:3]]} …: all must be of one kind "
            f"and end in one of {endings} (or that and {packed}); others are read by the "
            "sources of manykernels.streaming, FastaFiles(bag.compute()) for one."
        )
    return next(iter(kinds))(paths)


def _kind(path: str) -> Any:
    """The class of sources for a file of that name; None if there is none."""
    parts = os.path.basename(path).lower().split(".")[1:]
    end = next((part for part in reversed(parts) if part not in PACKED_ENDINGS), "")
    return next((kind for kind, ends in ENDINGS.items() if end in ends), None)
