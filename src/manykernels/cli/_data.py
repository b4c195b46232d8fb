"""Data as pandas frames, from CSV, TSV, FASTA (also from a pipe), Parquet, NPZ, or a folder of such files."""

import csv
import gzip
import io
import re
import warnings
from collections.abc import Callable, Collection, Sequence
from difflib import get_close_matches
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from .._callers import warn
from ..kernels.column_kinds import CODE, is_number_text
from ..kernels.frames import check_header
from ..kernels.table import SEQUENCE_COLUMN
from ._sources import (
    FASTA_SUFFIXES,
    fault,
    is_list_of_ids,
    is_sequence_file,
    looks_square,
    piped_sequences,
    read_npy,
    read_sequences,
    read_stdin,
)  # fmt: skip
from ._talk import Wrong, pandas, say

TEXT_SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
TABLE_SUFFIXES = (*TEXT_SUFFIXES, ".parquet", ".npz")
_DNA = re.compile(r"(?i)\s*[ACGTUN]{8,}\s*")
BESIDE = (".mk", ".toml", ".html", ".json", ".md", ".png", ".svg", ".pdf")  # what may lie beside the data
MANY_COLUMNS = 1000  # pandas reads each column into a separate block of memory, and many blocks are slow


def read_data(
    path: str,
    id: str | None = None,
    labels: str | None = None,
    unique: bool = True,
    target: str | None = None,
    known: str | None = None,
) -> Any:
    """A frame with a row per example; the column `id` becomes its index. "-" is stdin.

    The columns of the table `labels` are joined by id. If not `unique`, several rows of a table may have the same id.
    Ids, also in a column `known`, are texts as the file has them, and so are classes with zeros before them.
    """
    place = Path(path)
    if not path:  # Path("") is the current folder
        raise Wrong("The path of the data is empty: give a file, a folder of tables, or - for stdin.")
    if path != "-" and not place.exists():
        raise Wrong(f"{path} does not exist: check the path.")
    if path != "-" and place.is_dir():
        frame = read_folder(place, id, target)
    else:
        frame = read_file(path, [id, known], [target])
    if path != "-" and place.is_file() and not is_sequence_file(path) and _is_matrix(frame):
        raise Wrong(f"{path} looks like a kernel matrix: put it into a folder, and give the folder.")
    if len(frame) == 0:
        raise Wrong(f"{path} has no rows: give a table with a header and examples.")
    if id is not None and frame.index.name != id:
        frame = by_id(frame, id, path, unique)
    return frame if labels is None else with_labels(frame, path, labels)


def with_labels(frame: Any, path: str, labels: str) -> Any:
    """The frame joined with the table `labels`, whose first column has the ids."""
    if not Path(labels).exists():
        raise Wrong(f"--labels {labels} does not exist: check the path.")
    if "sequences" in frame.attrs and frame.index.has_duplicates:
        raise Wrong(f"{path}: several headers have the same id, which --labels matches: make the ids differ.")
    if frame.index.name is None:
        raise Wrong(f"{path} has no ids, which --labels needs: name the column of ids with --id.")
    table = read_file(labels, [0], range(1, MANY_COLUMNS))
    table = by_id(table, str(table.columns[0]), labels)
    table.index, own = table.index.map(str), frame.index.map(str)
    found = own.isin(table.index)
    if not found.any():
        raise Wrong(
            f"--labels {labels} has none of the ids of {path} ({table.index[0]!r} in one, {own[0]!r} in the other, for "
            "example): give the same ids in its first column."
        )
    if not found.all():
        say(f"{labels}: {int((~found).sum())} of {len(frame)} examples have no label there ({own[~found][0]!r}, ...).")
    twice = [name for name in table.columns if name in frame.columns]
    if twice:
        raise Wrong(f"{path} and --labels {labels} both have a column {twice[0]!r}: rename one.")
    joined = table.reindex(own).set_index(frame.index)
    attrs, whole = dict(frame.attrs), pandas().concat([frame, joined], axis=1)
    whole.attrs.update(attrs, aside=[*attrs.get("aside", ()), *joined.columns])
    return whole


def read_file(path: str, *texts: Collection[Any]) -> Any:
    """One file, or stdin, as a frame; see `read_named` for `texts`."""
    if is_sequence_file(path):
        return read_sequences(path)
    kind = next((end for end in TABLE_SUFFIXES if path.lower().endswith(end)), None)
    read = {".parquet": read_parquet, ".npz": read_npz}.get(kind or "", partial(read_table, texts=texts))
    if path == "-":
        data = read_stdin()
        frame = piped_sequences(data)
        if frame is not None:
            return frame
        path, kind, sep = "stdin", ".csv", separator(data.partition(b"\n")[0])
        read = partial(read_named, lambda: io.BytesIO(data), sep=sep, texts=texts)
    if kind is None:
        known = ", ".join((*TABLE_SUFFIXES, ".fasta"))
        raise Wrong(f"{path} has an unknown file type: give one of {known}, or a folder of such files.")
    try:
        frame = read(path)
    except Wrong:
        raise
    except Exception as error:  # of any reader
        if isinstance(error, OSError) and error.strerror and error.errno is not None:
            raise
        why = "save it as UTF-8" if isinstance(error, UnicodeDecodeError) else str(error).strip().rstrip(".")
        raise Wrong(f"{path} cannot be read as {kind[1:]}: {why}.") from error
    frame.columns = [str(name) for name in frame.columns]
    check_header(frame.columns, path, Wrong)
    return frame


def read_table(path: str, texts: Sequence[Collection[Any]] = ()) -> Any:
    """CSV or TSV, by the name of the file."""
    sep = "\t" if ".tsv" in Path(path).name.lower() else "," if ".csv" in Path(path).name.lower() else None
    if Path(path).is_file():
        return read_named(lambda: path, path, sep, texts)
    data = Path(path).read_bytes()  # a pipe can be read only once
    data = gzip.decompress(data) if path.lower().endswith(".gz") else data
    return read_named(lambda: io.BytesIO(data), path, sep, texts)


def read_named(source: Callable[[], Any], path: str, sep: str | None, texts: Sequence[Collection[Any]]) -> Any:
    """The frame of a path or of bytes; the header is checked first, since pandas renames a second column x to x.1.

    A header that is one field has another separator than `sep`, if it holds one.

    `texts` are, by name or position, columns of ids, which are texts, and targets, if whole numbers begin with 0.
    """
    ids, targets = (*texts, (), ())[:2]
    pd = pandas()
    if sep is None:
        options: dict[str, Any] = {"sep": None, "engine": "python", "encoding": "utf-8-sig"}
        head = pd.read_csv(source(), header=None, nrows=1, dtype=str, keep_default_na=False, **options).iloc[0].tolist()
        first: list[str] = []
    else:
        options, place = {"sep": sep}, source()
        stream = (gzip.open if place.lower().endswith(".gz") else open)(place, "rb") if place is path else place
        with io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as lines:
            rows = filter(None, csv.reader(lines, delimiter=sep))
            head, first = next(rows, []), next(rows, [])
        if other := next((mark for mark in ";\t|" if len(head) == 1 and mark in head[0]), None):
            return read_named(source, path, other, texts)
    check_names(head, path)
    head = [name or f"Unnamed: {k}" for k, name in enumerate(head)]  # as pandas calls them
    check_header(head, path, Wrong)
    classes = {name: k in targets or name in targets for k, name in enumerate(head)}
    plain = [name for k, name in enumerate(head) if k in ids or name in ids or classes[name]]
    options |= {"converters": dict.fromkeys(plain, str.encode), "index_col": False}  # no bytes count as missing
    try:
        # of fields beyond the header, but for an empty one
        with warnings.catch_warnings(action="error", category=pd.errors.ParserWarning):
            frame = pd.read_csv(source(), **options)
        if first[len(head) :] not in ([], [""]):  # pandas takes NA for empty
            raise pd.errors.ParserWarning
    except pd.errors.ParserWarning:
        raise Wrong(
            f"{path}: lines have more fields than the header, which has {len(head)}: give each column a name, also one "
            "of the names of rows, or remove the fields beyond the header."
        ) from None
    for name in plain:
        column = frame[name].map(bytes.decode, na_action="ignore")
        if classes[name]:
            kind = str if any(map(CODE.fullmatch, column.dropna())) else None
            column = pd.read_csv(io.StringIO(column.to_csv(index=False)), dtype=kind).iloc[:, 0]
        frame[name] = column
    return frame.copy() if frame.shape[1] > MANY_COLUMNS else frame  # the copy is one block of memory


def separator(head: bytes) -> str:
    """A tab if the line has more tabs than commas, else a comma."""
    return "\t" if head.count(b"\t") > head.count(b",") else ","


def check_names(names: list[str], path: str) -> None:
    """An error if the header looks like data; whole numbers may be names, and get a note."""
    if not names or not all(is_number_text(name) or _DNA.fullmatch(name) for name in names):
        return
    some = ", ".join(names[:3]) + ", ..." * (len(names) > 3)
    if not all(map(str.isdigit, names)):
        raise Wrong(
            f"{path}: the first line ({some}) looks like data: put a line with the names of the columns above it."
        )
    text = f"{path}: the names of the columns are numbers ({some}): if these are data, put a line of names above them."
    warn(text)


def read_parquet(path: str) -> Any:
    """Parquet, by pandas if pyarrow is installed, else by polars."""
    pd = pandas()
    try:
        from pyarrow.parquet import read_schema

        check_header(read_schema(path).names, path, Wrong)
        return pd.read_parquet(path)
    except ImportError:
        pass
    try:
        import polars
    except ImportError:
        raise Wrong('Reading Parquet needs polars or pyarrow: pip install "manykernels[cli]".') from None
    return pd.DataFrame(polars.read_parquet(path).to_dict(as_series=False))


def read_npz(path: str) -> Any:
    """Arrays (n,) are columns under their names, arrays (n, d) are the columns NAME.0 to NAME.d-1.

    One array (n, d) with `ids` (n,) and `columns` (d,) is a table with these names, for example a kernel matrix.
    """
    pd = pandas()
    columns: dict[str, np.ndarray] = {}
    with np.load(path, allow_pickle=False) as arrays:
        if len(arrays.files) == 3 and {"ids", "columns"} < set(arrays.files):
            values = arrays[next(iter(set(arrays.files) - {"ids", "columns"}))]
            shape = (len(arrays["ids"]), len(arrays["columns"]))
            if values.shape != shape:
                raise Wrong(f"{path}: the matrix has shape {values.shape}, but ids and columns say {shape}.")
            named = pd.DataFrame(values, columns=arrays["columns"].astype(str))
            return pd.concat([pd.DataFrame({"id": arrays["ids"]}), named], axis=1)
        for name in arrays.files:
            array = arrays[name]
            if array.ndim not in (1, 2):
                raise Wrong(f"{path}: the array {name!r} has shape {array.shape}: give (n,) or (n, d).")
            found = {name: array} if array.ndim == 1 else {f"{name}.{j}": a for j, a in enumerate(array.T)}
            check_header([*columns, *found], path, Wrong)
            columns |= found
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise Wrong(f"{path}: arrays have different numbers of examples, {min(sizes.values())} and others.")
    return pd.DataFrame(columns)


def read_folder(folder: Path, id: str | None, target: str | None = None) -> Any:
    """Tables, kernel matrices and sequences, matched by id.

    The column c of table t is t.c if t has several columns, else c. The column of example e in matrix t is t.e. The
    sequences of t are t. `attrs` lists "matrices" {t: its fault or None}, "sequences", "aside", columns that can only
    be targets, and "sources" {t: columns}.
    """
    pd = pandas()
    suffixes = (*TABLE_SUFFIXES, *FASTA_SUFFIXES, ".npy")
    paths = [p for p in sorted(folder.iterdir()) if p.name.lower().endswith(suffixes) and not is_list_of_ids(p)]
    if not paths:
        raise Wrong(f"{folder} has no table: add files ({', '.join((*TABLE_SUFFIXES, '.npy', '.fasta'))}).")
    others = [p.name for p in sorted({*folder.iterdir()} - {*paths}) if not p.name.endswith(BESIDE)]
    if others := [name for name in others if name[0] != "." and not is_list_of_ids(folder / name)]:
        some = ", ".join(others[:5]) + ", ..." * (len(others) > 5)
        say(f"{folder}: not read, as neither tables nor matrices: {some}.")
    frames: dict[str, Any] = {}
    attrs: dict[str, Any] = {"matrices": {}, "sequences": [], "aside": [], "lacking": {}}
    for path in paths:
        stem = path.name.split(".")[0]
        if stem in frames:
            raise Wrong(f"{folder} has several files called {stem}: rename one.")
        frames[stem] = _read_member(path, stem, id, target, attrs)
    if len({frame.index.dtype for frame in frames.values()}) > 1:  # the id 1 of a table equals "1" of a list
        frames = {stem: frame.set_axis(frame.index.map(str)) for stem, frame in frames.items()}
    joined = pd.concat(frames.values(), axis=1, join="outer")
    joined.index.name = id or joined.index.name or "id"
    twice = joined.columns[joined.columns.duplicated()]
    if len(twice):
        raise Wrong(f"{folder} has several columns called {twice[0]!r}: rename one.")
    shared = set.intersection(*(set(frame.index) for frame in frames.values()))
    if len(frames) > 1 and not shared:
        stems = list(frames)
        a, b = (frames[stem].index.tolist()[0] for stem in stems[:2])
        raise Wrong(
            f"{folder}: no id is in all of {', '.join(stems)} ({a!r} in one, {b!r} in another, for example): give "
            "the same ids in their first columns, or in the column --id."
        )
    for stem, frame in frames.items():
        lost = len(joined) - len(frame)
        if lost:
            attrs["lacking"][stem] = lost
            say(f"{stem}: {lost} of {len(joined)} examples lack it.")
    attrs["sources"] = {stem: list(frame.columns) for stem, frame in frames.items()}
    joined.attrs.update(attrs)
    return joined


def _read_member(path, stem, id, target, attrs):
    """The frame of one file of a folder, with ids as its index and the folder's column names; updates `attrs`."""
    if is_sequence_file(str(path)):
        frame = read_sequences(str(path))
        if frame.index.has_duplicates:
            raise Wrong(f"{path}: several headers have the same id, which matches examples: make the ids differ.")
        attrs["sequences"].append(stem)
        attrs["aside"] += [f"{stem}.{name}" for name in frame.columns if name != SEQUENCE_COLUMN]
        return frame.rename(columns=lambda name: stem if name == SEQUENCE_COLUMN else f"{stem}.{name}")
    if path.name.lower().endswith(".npy"):
        frame = read_npy(path)
    else:
        frame = read_file(str(path), [id or 0], [target, (target or "").removeprefix(f"{stem}.")])
        frame = by_id(frame, id or frame.columns[0], str(path))
    if looks_square(frame):
        attrs["matrices"][stem] = fault(frame)
    return frame.add_prefix(f"{stem}.") if frame.shape[1] > 1 else frame


def _is_matrix(frame):
    return frame.shape[1] > 2 and looks_square(frame.set_index(frame.columns[0]))


def by_id(frame: Any, id: str, path: str, unique: bool = True) -> Any:
    """The frame with the column `id` as its index."""
    column = pick(frame, id, "--id", path)
    lost = column.isna() | (column == "")
    if unique and lost.any():
        raise Wrong(f"{path} has no id in column {id!r} of row {lost.argmax() + 1}: add it, or remove the row.")
    frame = frame.set_index(id)
    if unique and frame.index.has_duplicates:
        twice = frame.index[frame.index.duplicated()].tolist()[0]
        raise Wrong(
            f"{path}: several rows have the id {twice!r} in column {id!r}: ids must differ; name another column "
            "with --id, or remove rows."
        )
    return frame


def pick(frame: Any, name: str, option: str, path: str = "the data") -> Any:
    """The column of a `full_name`; the error names the columns that exist."""
    full = full_name(frame, name)
    if full in frame.columns:
        return frame[full]
    if header := frame.attrs.get("headers", {}).get(name):
        raise Wrong(
            f"{option} {name!r} is not in all headers of {path}: give {header!r} {name}=, or remove its sequence."
        )
    near = _of_tables(frame, name) or [column for column in frame.columns if column.lower() == name.lower()]
    near = near or get_close_matches(name, list(frame.columns), 3, 0.5)
    some = ", ".join(map(repr, near or list(frame.columns)[:8]))
    cure = f"did you mean {some}?" if near else f"give one of {some}."
    raise Wrong(f"{option} {name!r} is not a column of {path}: {cure}")


def full_name(frame: Any, name: str) -> str:
    """TABLE.name if a single table of a folder has the column and no column has this name by itself; else the name."""
    owners = _of_tables(frame, name)
    return owners[0] if len(owners) == 1 and name not in frame.columns else name


def _of_tables(frame, name):
    """The columns called TABLE.name of the tables of a folder."""
    return [full for stem in frame.attrs.get("sources", ()) if (full := f"{stem}.{name}") in frame.columns]


def is_number(column: Any) -> bool:
    """Whether a column has numbers; truth values are categories."""
    return getattr(column.dtype, "kind", "O") in "iuf"  # a dtype of pandas


def numeric_names(frame: Any) -> set[str]:
    """The names of the columns of numbers."""
    return {name for name, dtype in zip(frame.columns, frame.dtypes, strict=True) if dtype.kind in "iuf"}
