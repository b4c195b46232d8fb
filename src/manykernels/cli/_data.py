"""Data from files as frames of pandas: CSV, TSV and FASTA, also of a pipe, Parquet, NPZ, a folder of all of them."""

from __future__ import annotations

import csv
import gzip
import io
from collections import Counter
from collections.abc import Callable, Iterable
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import numpy as np

from ._matrices import fault, is_list_of_ids, looks_square, read_npy
from ._sequences import COLUMN, FASTA, is_sequence_file, piped_sequences, read_sequences, read_stdin
from ._talk import Wrong, pandas

TABLES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".txt.gz")
KNOWN = (*TABLES, ".parquet", ".npz")
WIDE = 1000  # columns that pandas reads into a block of memory each, and is slow with


def read_data(
    path: str,
    id: str | None = None,
    say: Callable[[str], None] = lambda text: None,
    labels: str | None = None,
    unique: bool = True,
) -> Any:
    """A frame with a row per example; `id` names the column that becomes its index. "-" is stdin.

    The columns of the table `labels` are added by id. Ids of one table may stand in several rows where not `unique`.
    """
    place = Path(path)
    if path != "-" and not place.exists():
        raise Wrong(f"{path} does not exist: check the path.")
    frame = read_folder(place, id, say) if path != "-" and place.is_dir() else read_file(path)
    if path != "-" and place.is_file() and not is_sequence_file(path) and _is_matrix(frame):
        raise Wrong(f"{path} looks like a kernel matrix: put it into a folder, alone or with others, and give that.")
    if len(frame) == 0:
        raise Wrong(f"{path} has no rows: give a table with a header and examples.")
    if id is not None and frame.index.name != id:
        frame = by_id(frame, id, path, unique)
    return frame if labels is None else with_labels(frame, path, labels, say)


def with_labels(frame: Any, path: str, labels: str, say: Callable[[str], None]) -> Any:
    """The frame with the columns of another table, whose first column holds the ids."""
    if not Path(labels).exists():
        raise Wrong(f"--labels {labels} does not exist: check the path.")
    if frame.index.name is None:
        raise Wrong(f"{path} has no ids to find its labels by: name their column with --id.")
    table = read_file(labels)
    table = by_id(table, str(table.columns[0]), labels)
    table.index, own = table.index.map(str), frame.index.map(str)
    found = own.isin(table.index)
    if not found.any():
        raise Wrong(
            f"--labels {labels} has none of the ids of {path} ({table.index[0]!r} in one, {own[0]!r} in the other, for "
            "example): make its first column the same ids."
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


def read_file(path: str) -> Any:
    """One file as a frame."""
    if path == "-":
        data = read_stdin()
        frame = piped_sequences(data)
        return read_text(data) if frame is None else frame
    if is_sequence_file(path):
        return read_sequences(path)
    kind = next((end for end in KNOWN if path.lower().endswith(end)), None)
    if kind is None:
        known = ", ".join((*KNOWN, ".fasta"))
        raise Wrong(f"{path} is of no kind that is read here: give one of {known}, or a folder of them.")
    readers = {".parquet": read_parquet, ".npz": read_npz}
    try:
        frame = readers.get(kind, read_table)(path)
    except Wrong:
        raise
    except OSError as error:
        if error.strerror and error.errno is not None:
            raise
        raise Wrong(f"{path} cannot be read as {kind[1:]}: {error}") from error
    except Exception as error:  # readers raise what they like
        raise Wrong(f"{path} cannot be read as {kind[1:]}: {str(error).rstrip('.')}.") from error
    return checked(frame, path)


def read_text(data: bytes) -> Any:
    """CSV or TSV of a pipe: tabs where the first line has more of them than commas."""
    try:
        frame = read_named(lambda: io.BytesIO(data), "stdin", separator(data.partition(b"\n")[0]))
    except Wrong:
        raise
    except Exception as error:  # readers raise what they like
        raise Wrong(f"stdin cannot be read as csv: {str(error).rstrip('.')}.") from error
    return checked(frame, "stdin")


def checked(frame: Any, path: str) -> Any:
    """The frame, where its columns have names that differ."""
    frame.columns = [str(name) for name in frame.columns]
    check_header(frame.columns, path)
    if len(frame.columns) == 1 and ";" in frame.columns[0]:
        raise Wrong(f"{path} has fields with ; between: save it with commas, or call it .txt to have that found out.")
    return frame


def read_table(path: str) -> Any:
    """CSV or TSV: tabs where the name says so."""
    sep = "\t" if ".tsv" in Path(path).name.lower() else "," if ".csv" in Path(path).name.lower() else None
    if Path(path).is_file():
        return read_named(lambda: path, path, sep)
    data = Path(path).read_bytes()  # a pipe, which can be read once
    data = gzip.decompress(data) if path.lower().endswith(".gz") else data
    return read_named(lambda: io.BytesIO(data), path, sep)


def read_named(source: Callable[[], Any], path: str, sep: str | None) -> Any:
    """The frame of a path or of bytes; its header is read first, since pandas calls the second x of a header x.1."""
    pd = pandas()
    if sep is None:
        options: dict[str, Any] = {"sep": None, "engine": "python"}
        head = pd.read_csv(source(), header=None, nrows=1, dtype=str, keep_default_na=False, **options).iloc[0].tolist()
    else:
        options, place = {"sep": sep}, source()
        stream = (gzip.open if place.lower().endswith(".gz") else open)(place, "rb") if place is path else place
        with io.TextIOWrapper(stream, "utf-8-sig", "replace", newline="") as lines:
            head = next((row for row in csv.reader(lines, delimiter=sep) if row), [])
    check_header([name or f"Unnamed: {k}" for k, name in enumerate(head)], path)  # as pandas does
    frame = pd.read_csv(source(), **options)
    return frame.copy() if frame.shape[1] > WIDE else frame  # which puts columns into one block of memory


def separator(head: bytes) -> str:
    """Tabs where a line has more of them than commas."""
    return "\t" if head.count(b"\t") > head.count(b",") else ","


def check_header(names: Iterable[str], path: str) -> None:
    """A sentence where two columns have one name: the second of a target would be learned from."""
    twice = [name for name, count in Counter(names).items() if count > 1]
    if twice:
        raise Wrong(f"{path} has several columns called {twice[0]!r}: rename them.")


def read_parquet(path: str) -> Any:
    """Parquet, by pandas where pyarrow is installed and else by polars."""
    pd = pandas()
    try:
        from pyarrow.parquet import read_schema

        check_header(read_schema(path).names, path)
        return pd.read_parquet(path)
    except ImportError:
        pass
    try:
        import polars
    except ImportError:
        raise Wrong('Reading Parquet needs polars or pyarrow: pip install "manykernels[cli]".') from None
    return pd.DataFrame(polars.read_parquet(path).to_dict(as_series=False))


def read_npz(path: str) -> Any:
    """Arrays (n,) are columns under their names, arrays (n, d) the columns NAME.0 to NAME.d-1.

    One array (n, d) beside `ids` (n,) and `columns` (d,) is a table with names for both, a kernel matrix say.
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
            check_header([*columns, *found], path)
            columns |= found
    sizes = {name: len(column) for name, column in columns.items()}
    if len(set(sizes.values())) > 1:
        raise Wrong(f"{path}: arrays have different numbers of examples, {min(sizes.values())} and others.")
    return pd.DataFrame(columns)


def read_folder(folder: Path, id: str | None, say: Callable[[str], None]) -> Any:
    """Tables, kernel matrices and sequences, matched by id.

    The column c of table t is t.c where t has several columns, else c; the value of t with example e is t.e; the
    sequences of t are t. `attrs` say which are "matrices" {t: what is wrong with it or None}, "sequences", and "aside",
    to be targets only.
    """
    pd = pandas()
    paths = [path for path in sorted(folder.iterdir()) if path.name.lower().endswith((*KNOWN, *FASTA, ".npy"))]
    paths = [path for path in paths if not is_list_of_ids(path)]
    if not paths:
        raise Wrong(f"{folder} has no table: put {', '.join((*KNOWN, '.npy', '.fasta'))} there.")
    frames: dict[str, Any] = {}
    attrs: dict[str, Any] = {"matrices": {}, "sequences": [], "aside": [], "lacking": {}}
    for path in paths:
        stem = path.name.split(".")[0]
        if stem in frames:
            raise Wrong(f"{folder} has several files called {stem}: rename one.")
        frames[stem] = _read_member(path, stem, id, attrs)
    if len({frame.index.dtype for frame in frames.values()}) > 1:  # 1 of a table and "1" of a list are the same
        frames = {stem: frame.set_axis(frame.index.map(str)) for stem, frame in frames.items()}
    joined = pd.concat(frames.values(), axis=1, join="outer")
    joined.index.name = id or joined.index.name or "id"
    twice = joined.columns[joined.columns.duplicated()]
    if len(twice):
        raise Wrong(f"{folder} has several columns called {twice[0]!r}: rename one.")
    shared = set.intersection(*(set(frame.index) for frame in frames.values()))
    if len(frames) > 1 and not shared:
        stems = list(frames)
        a, b = frames[stems[0]].index[0], frames[stems[1]].index[0]
        raise Wrong(
            f"{folder}: no id is in all of {', '.join(stems)} ({a!r} in one, {b!r} in another, for example): make "
            "their first columns, or the column --id, the same."
        )
    for stem, frame in frames.items():
        lost = len(joined) - len(frame)
        if lost:
            attrs["lacking"][stem] = lost
            say(f"{stem}: {lost} of {len(joined)} examples lack it.")
    joined.attrs.update(attrs)
    return joined


def _read_member(path, stem, id, attrs):
    """The frame of one file of a folder, ids in its index and columns as the folder calls them; notes what it is."""
    if is_sequence_file(str(path)):
        frame = read_sequences(str(path))
        if frame.index.name is None:
            raise Wrong(f"{path}: an id stands in several headers, by which examples are matched: ids must differ.")
        attrs["sequences"].append(stem)
        attrs["aside"] += [f"{stem}.{name}" for name in frame.columns if name != COLUMN]
        return frame.rename(columns=lambda name: stem if name == COLUMN else f"{stem}.{name}")
    if path.name.lower().endswith(".npy"):
        frame = read_npy(path)
    else:
        frame = read_file(str(path))
        frame = by_id(frame, id or frame.columns[0], str(path))
    if looks_square(frame):
        attrs["matrices"][stem] = fault(frame)
    return frame.add_prefix(f"{stem}.") if frame.shape[1] > 1 else frame


def _is_matrix(frame):
    return frame.shape[1] > 2 and looks_square(frame.set_index(frame.columns[0]))


def by_id(frame: Any, id: str, path: str, unique: bool = True) -> Any:
    """The frame with the column `id` as its index."""
    pick(frame, id, "--id", path)
    frame = frame.set_index(id)
    if unique and frame.index.has_duplicates:
        twice = frame.index[frame.index.duplicated()][0]
        raise Wrong(
            f"{path}: the id {twice!r} stands in several rows of column {id!r}: ids must differ; name another column "
            "with --id, or remove rows."
        )
    return frame


def pick(frame: Any, name: str, option: str, path: str = "the data") -> Any:
    """A column, or a sentence that names what there is."""
    if name in frame.columns:
        return frame[name]
    near = [column for column in frame.columns if column.lower() == name.lower()]
    near = near or get_close_matches(name, list(frame.columns), 3, 0.5)
    some = ", ".join(map(repr, near or list(frame.columns)[:8]))
    cure = f"did you mean {some}?" if near else f"there are {some}."
    raise Wrong(f"{option} {name!r} is not a column of {path}: {cure}")


def is_number(column: Any) -> bool:
    """Whether a column holds numbers; truth values are categories."""
    return getattr(column.dtype, "kind", "O") in "iuf"


def numeric_names(frame: Any) -> set[str]:
    """The columns that hold numbers."""
    return {name for name, dtype in zip(frame.columns, frame.dtypes, strict=True) if dtype.kind in "iuf"}


def holds_numbers(column: Any) -> bool:
    """The same, of a feature: whole numbers beyond 64 bits, objects to pandas, are numbers too."""
    known = column.dropna() if column.dtype == object else ()
    return is_number(column) or len(known) > 0 and all(type(value) is int for value in known)
