"""Kernels for the columns of a table, and the columns in the form in which the kernels read them."""

from collections.abc import Mapping
from typing import Any

import numpy as np

import manykernels as mk

from ..kernels import table as auto_table
from ..kernels.auto import choose_kernels
from ..kernels.column_kinds import USED_KINDS, categories_of, describe, entries
from ..kernels.frames import listed, number
from ._data import is_number, numeric_names
from ._sources import say_taken, string_table, with_places
from ._talk import Wrong, pandas, say

CURES = {  # by the kind of a column that is left out
    "other dates": "to use them, write them as 2024-03-01",
    "times": "to use them, convert them to numbers of days",
    "spoiled": "correct or empty these cells to use the column",
    "mixed": "then it is used",
    "ids": "name it with --id if it holds ids",
    "rows": "a configuration may name it if it is informative",
    "days of rows": "a configuration may name it if it is informative",
    "many": 'a configuration can use it with kernel = "Categorical", or its words with "Tfidf"',
}


def suggest(frame: Any, hint: str = "") -> tuple[list[dict[str, Any]], str]:
    """Tables of a configuration, one per kernel, and a sentence on the kernels of columns, said with a `hint`."""
    matrices, given = frame.attrs.get("matrices", {}), frame.attrs.get("aside", ())
    made = [_matrix(frame, stem) for stem in matrices]
    aside = [name for name in frame.columns if name in given or name.partition(".")[0] in matrices]
    columns = frame.drop(columns=aside)
    if made and not columns.shape[1]:
        return made, ""
    tables, chosen = _suggest_columns(columns, frame.attrs.get("sequences", ()), hint)
    return made + tables, chosen


def _matrix(frame, stem):
    """The table of a kernel matrix."""
    there = frame[[name for name in frame.columns if name.startswith(f"{stem}.")]].notna().any(axis=1)
    say(f"{stem!r} is a kernel matrix of {int(there.sum())} examples: it is one kernel, without changes.")
    table = {"name": stem, "kernel": "Precomputed", "columns": [f"{stem}.*"]}
    return table if there.all() else table | {"missing": "zero"}


def _suggest_columns(frame, sequences, hint):
    """(tables, a sentence on them) for the columns, as estimators choose them; `sequences` come from FASTA files."""
    columns = describe(entries(frame), sequences, categories_of(frame))
    if not any(column.kind in (*USED_KINDS, *auto_table.ROW_KINDS) for column in columns):
        why = "; ".join(auto_table.left_out(columns))
        raise Wrong(f"No column is left to learn from ({why or 'none'}): give columns that vary, besides the target.")
    sources = _sources(frame)
    specs, chosen, _ = choose_kernels(_views(frame, sources), sequences=sequences)
    for column in columns:
        if column.strings:
            say_taken(frame, column.name, column.strings)
    say(f"{chosen}.{hint}")
    if not any(column.kind in USED_KINDS for column in columns):
        say(auto_table.note(columns))
    for kind, cure in CURES.items():
        for why in dict.fromkeys(column.why for column in auto_table.usable(columns) if column.kind == kind):
            names = [column.name for column in columns if column.why == why]
            say(f"{listed(names)} {'is' if len(names) == 1 else 'are'} left out ({why}): {cure}.")
    placed, said = [(spec, _names(frame, sources, spec.columns)) for spec in specs], set()
    for spec, names in placed:
        if tuple(names) not in said:
            said.add(tuple(names))
            name = names[0] if spec.kernel.reads == "sequences" else auto_table.source_of(spec)
            _say_gaps(frame, name, spec.transformer, names)
    return [_table(spec, names) for spec, names in placed], chosen


def _sources(frame):
    """{table of a folder: {column in the table: column of the frame}} of the columns that the frame has, else {}."""
    found = {
        stem: {name.removeprefix(f"{stem}."): name for name in columns if name in frame.columns}
        for stem, columns in frame.attrs.get("sources", {}).items()
    }
    return {stem: columns for stem, columns in found.items() if columns}


def _views(frame, sources):
    """The tables of a folder as `Views`, or the frame itself."""
    if not sources:
        return frame
    tables = {stem: frame[list(columns.values())].set_axis(list(columns), axis=1) for stem, columns in sources.items()}
    there = {stem: table.dropna(how="all") for stem, table in tables.items()}
    tables = {stem: there[stem] if len(there[stem]) else table for stem, table in tables.items()}
    known = set().union(*(table.index for table in tables.values()))
    return mk.Views(tables, "index", [id for id in frame.index if id in known])


def _names(frame, sources, where):
    """The columns of the frame that a specification for `_views` names."""
    if not sources:
        return list(frame.columns) if where is None else where
    stem, own = where if isinstance(where, tuple) else (where, list(sources[where]))
    return [sources[stem][name] for name in own]


def _table(spec, names):
    """The table of a kernel in a configuration."""
    if spec.kernel.reads == "sequences":
        table = {"name": spec.name} | string_table(spec.kernel) | {"columns": names}
        return table | {"missing": "zero"}
    kernel = {"Features": "Tfidf"}.get(type(spec.kernel).__name__, type(spec.kernel).__name__)
    table = {"name": spec.name, "kernel": kernel} | (
        {"gamma": spec.kernel.gamma} if kernel in ("RBF", "Laplacian") else {}
    )
    table |= {"columns": names} | ({"scale": True} if spec.transformer else {})
    table |= {"prior": spec.prior} if spec.prior != 1 else {}
    return table if kernel == "Categorical" else table | {"missing": "zero"}  # new examples may have missing values


def _say_gaps(frame, name, filled, names):
    """Say how many examples lack the columns of a kernel, unless the message on its file says so."""
    empty = frame[names].isna()
    lost, some = int(empty.all(axis=1).sum()), int(empty.any(axis=1).sum())
    if lost and name not in frame.attrs.get("lacking", {}):
        say(f"{name!r} is missing in {lost} of {len(frame)} examples; its kernel likens them to no other example.")
    if some > lost and filled is not None:
        say(f"{name!r} has gaps in {some - lost} of {len(frame)} examples, which are filled with means.")


def as_texts(column: Any) -> np.ndarray:
    """Categories as texts, whole numbers without a decimal point; missing entries stay missing."""
    whole = is_number(column) and bool((column.dropna() == column.dropna().round()).all())
    found = column.to_numpy(object).copy()
    for k in np.flatnonzero(column.notna().to_numpy()):  # a map of pandas takes milliseconds a column
        found[k] = str(int(found[k]) if whole else found[k])
    return found


def encode(frame: Any, names: list[str], kinds: Mapping[str, str]) -> Any:
    """The columns called `names`, each by its kind: sequences, texts, categories and dates as written, else numbers."""
    frame = with_indicators(with_places(frame, names), names)
    lost = [name for name in names if name not in frame.columns]
    if lost:
        raise Wrong(
            f"The data lack the columns {listed(list(dict.fromkeys(map(seen, lost))))}, which the model uses: add "
            'them; they may be empty if their kernels have missing = "zero".'
        )
    numbers = numeric_names(frame)
    plain = [name for name in names if name in numbers and name not in kinds]
    block = frame[plain].to_numpy(float, na_value=np.nan)  # at once: thousands of single columns are slow
    for k in np.flatnonzero(np.isinf(block).any(axis=0)):
        as_numbers(frame[plain[k]])
    pd, others = pandas(), set(names) - set(plain)
    parts = [pd.DataFrame(block, columns=plain, index=frame.index)]
    if others:
        made = {name: FORMS[kinds[name]](frame[name]) if name in kinds else as_numbers(frame[name], decimal=".")
                for name in names if name in others}  # fmt: skip
        parts.append(pd.DataFrame(made, index=frame.index))
    return pd.concat(parts, axis=1)[names] if others else parts[0]


def with_indicators(frame: Any, names: list[str]) -> Any:
    """The frame with the columns COLUMN=CATEGORY of older models, 1 where a column has the category."""
    made = {}
    for name in names:
        base, equals, category = name.partition("=")
        if equals and name not in frame.columns and base in frame.columns:
            made[name] = (as_texts(frame[base]) == category).astype(float)
    return frame.assign(**made) if made else frame


def seen(name: str) -> str:
    """The data column behind a column of the model."""
    return name.partition("=")[0]


def as_sequences(column: Any) -> list[str | None]:
    """A column of sequences in upper case; None for missing ones."""
    return [text and text.upper() for text in as_words(column)]


def as_words(column: Any) -> np.ndarray:
    """A column of texts, or of dates as texts; None for missing ones."""
    return np.array([None if lost else str(text) for text, lost in zip(column, column.isna(), strict=True)], object)


FORMS = {"sequences": as_sequences, "objects": as_words, "categories": as_texts, "dates": as_words}


def read_texts(frame: Any) -> tuple[Any, list[str]]:
    """(the frame with numbers for texts of numbers, the names of the columns with decimal commas)."""
    texts = frame.drop(columns=frame.attrs.get("sequences", []), errors="ignore").select_dtypes(exclude="number")
    found = [facts for facts in describe(entries(texts)) if facts.kind in ("numbers", "rows")]
    commas = [facts.name for facts in found if facts.commas]
    if commas:
        say(f"the commas in {listed(commas)} are read as decimal points.")
    made = {facts.name: as_numbers(frame[facts.name], decimal="," if facts.commas else ".") for facts in found}
    return frame.assign(**made), commas


def as_numbers(
    column: Any, cure: str = 'correct it, or give the column kernel = "Categorical"', decimal: str | None = None
) -> np.ndarray:
    """A column as floats, see `number`; the error shows the first entry that is not a number, and says the cure."""
    values = column.to_numpy(dtype=float, na_value=np.nan) if is_number(column) else np.empty(len(column))
    for k, entry in enumerate(() if is_number(column) else column):
        try:
            values[k] = number(entry, decimal)
        except (TypeError, ValueError):
            raise Wrong(
                f"Column {column.name!r} has {entry!r} in row {k + 1}, which is not a number: {cure}."
            ) from None
    if np.isinf(values).any():
        raise Wrong(f"Column {column.name!r} has infinite numbers: correct them or leave them empty.")
    return values


def guess_task(y: Any) -> str:
    """Regression for fractions and for many different whole numbers; otherwise classification."""
    if not is_number(y):
        return "classification"
    whole = bool((y == y.round()).all())
    return "classification" if whole and y.nunique() <= max(2, min(20, len(y) // 5)) else "regression"
