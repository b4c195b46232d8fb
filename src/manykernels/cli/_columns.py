"""Which kernels the columns of a table suggest, and the table of numbers that a model is fitted to.

A column of categories becomes columns of indicators called COLUMN=CATEGORY, so that a saved model knows its categories
by the names of its columns and needs nothing besides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import Any

import numpy as np

from ._data import is_number, numeric_names
from ._matrices import with_places
from ._sequences import string_tables
from ._talk import Wrong, pandas

CURES = {  # of what a column holds that is left out
    "dates": "make numbers of them, days since the first, say, to use them",
    "times": "make numbers of them, days since the first, say, to use them",
    "spoiled": "empty these cells and it is used",
    "ids": "--id takes it for that",
    "rows": "a configuration may name it if it means something",
    "many": 'a configuration with kernel = "Categorical" uses it, or "Tfidf" its words',
}


def suggest(frame: Any, say: Callable[[str], None]) -> tuple[list[dict[str, Any]], str]:
    """Tables of a configuration, one a kernel, of all kinds of columns, and what was chosen for the plain ones."""
    matrices, sequences = frame.attrs.get("matrices", {}), frame.attrs.get("sequences", [])
    aside = [name for name in frame.columns if name.partition(".")[0] in matrices]
    made = [_matrix(frame, stem, say) for stem in matrices]
    made += [table for column in sequences for table in string_tables(frame, column, say)]
    plain = frame.drop(columns=[*aside, *sequences, *(n for n in frame.attrs.get("aside", ()) if n in frame.columns)])
    if made and not plain.shape[1]:
        return made, ""
    tables, chosen = _suggest_plain(plain, say)
    return made + tables, chosen


def _matrix(frame, stem, say):
    """The table of a kernel matrix."""
    there = frame[[name for name in frame.columns if name.startswith(f"{stem}.")]].notna().any(axis=1)
    say(f"{stem!r} is a kernel matrix of {int(there.sum())} examples: one kernel, taken as it is.")
    table = {"name": stem, "kernel": "Precomputed", "columns": [f"{stem}.*"]}
    return table if there.all() else table | {"missing": "zero"}


def _suggest_plain(frame, say):
    """(tables, what is said of them) for columns of numbers, categories and texts, as estimators choose them."""
    from ..kernels import table as auto_table

    columns = auto_table.describe(auto_table.entries(frame))
    specs, chosen = auto_table.choose_for(columns, len(frame))
    if not specs:
        raise Wrong("No column is left to learn from: give columns that vary beside the target.")
    say(f"{chosen}. `manykernels init` writes them down to be changed.")
    for kind, cure in CURES.items():
        for why in dict.fromkeys(column.why for column in columns if column.kind == kind):
            names = [repr(column.name) for column in columns if column.why == why]
            some = ", ".join(names[:5]) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
            say(f"{some} {'is' if len(names) == 1 else 'are'} left out ({why}): {cure}.")
    first = {tuple(spec.columns): spec for spec in reversed(specs)}  # of each set of columns
    for spec in reversed(first.values()):
        _say_gaps(frame, auto_table.source_of(spec), spec.transformer, [columns[k] for k in spec.columns], say)
    return [_table(spec, [columns[k] for k in spec.columns]) for spec in specs], chosen


def _table(spec, columns):
    """A kernel as a table of a configuration."""
    kernel = {"Features": "Tfidf"}.get(type(spec.kernel).__name__, type(spec.kernel).__name__)
    table = {"name": spec.name, "kernel": kernel} | (
        {"gamma": spec.kernel.gamma} if kernel in ("RBF", "Laplacian") else {}
    )
    table |= {"columns": [column.name for column in columns]} | ({"scale": True} if spec.transformer else {})
    lacks = kernel != "Categorical" and any(column.gaps for column in columns)
    return table | {"missing": "zero"} if lacks else table


def _say_gaps(frame, name, filled, columns, say):
    """How many examples lack what a kernel sees, unless that is said of its file already."""
    if name in frame.attrs.get("lacking", {}) or not any(column.gaps for column in columns):
        return
    empty = frame[[column.name for column in columns]].isna()
    lost, some = int(empty.all(axis=1).sum()), int(empty.any(axis=1).sum())
    if lost:
        say(f"{name!r} is missing in {lost} of {len(frame)} examples, which its kernel likens to no other.")
    if some > lost and filled is not None:
        say(f"{name!r} has gaps in {some - lost} of {len(frame)} examples, which are filled in with means.")


def indicators(frame: Any, name: str) -> list[str]:
    """The names of the indicators of a column of categories."""
    return [f"{name}={value}" for value in sorted(set(as_texts(frame[name].dropna())))]


def seen(name: str) -> str:
    """The column of the data that a column of the model comes from."""
    return name.partition("=")[0]


def as_texts(column: Any) -> np.ndarray:
    """Categories as texts, whole numbers without a point; missing ones are like no category."""
    whole = is_number(column) and bool((column.dropna() == column.dropna().round()).all())
    return column.map(lambda v: str(int(v) if whole else v), na_action="ignore").to_numpy(object)


def encode(frame: Any, names: list[str], written: Mapping[str, str]) -> Any:
    """The columns called `names`: numbers, indicators of categories, and sequences or texts where `written` says so."""
    frame = with_places(frame, names)
    lost = [base for base in map(seen, names) if base not in frame.columns]
    if lost:
        lost = list(dict.fromkeys(lost))
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise Wrong(
            f"The data lack the columns {', '.join(map(repr, lost[:5]))}{more}, which the model sees: add them, empty "
            'where their kernels have missing = "zero".'
        )
    numbers = numeric_names(frame)
    plain = [name for name in names if name in numbers and name not in written]
    block = frame[plain].to_numpy(float, na_value=np.nan)  # at once: column by column is slow where they are thousands
    for k in np.flatnonzero(np.isinf(block).any(axis=0)):
        as_numbers(frame[plain[k]])
    made: dict[str, Any] = {}
    known: dict[str, np.ndarray] = {}
    for name in names if len(plain) < len(names) else ():
        base, equals, category = name.partition("=")
        if name in written:
            made[name] = as_sequences(frame[name]) if written[name] == "sequences" else as_words(frame[name])
        elif not equals and name not in numbers:
            made[name] = as_numbers(frame[name])
        elif equals:
            if base not in known:
                known[base] = as_texts(frame[base])
            made[name] = (known[base] == category).astype(float)
    pd = pandas()
    parts = [pd.DataFrame(block, columns=plain, index=frame.index), pd.DataFrame(made, index=frame.index)]
    return parts[0] if not made else pd.concat(parts, axis=1)[names]


def new_categories(frame: Any, names: list[str], texts: Collection[str] = ()) -> list[str]:
    """Sentences on columns of categories that lack an entry, or have one that the model, of these columns, does not."""
    known: dict[str, set[str]] = {}
    for name in names:
        base, equals, category = name.partition("=")
        if equals and name not in texts:
            known.setdefault(base, set()).add(category)
    said = []
    for base, categories in known.items():
        column, ids = as_texts(frame[base]), list(frame.index)
        lost = frame[base].isna().to_numpy()
        new = [i for i, value in enumerate(column) if not lost[i] and value not in categories]
        if new:
            some = _some_ids(ids, new)
            said.append(
                f"{base!r} has categories that no training example has in {len(new)} of {len(ids)} examples ({some}; "
                f"{column[new[0]]!r}, for example): they count as none."
            )
        if lost.any():
            rows = np.flatnonzero(lost)
            said.append(
                f"{base!r} is missing in {len(rows)} of {len(ids)} examples ({_some_ids(ids, rows)}), which are like "
                "no other in it."
            )
    return said


def _some_ids(ids, rows):
    return ", ".join(str(ids[i]) for i in rows[:5]) + ", ..." * (len(rows) > 5)


def as_sequences(column: Any) -> list[str | None]:
    """A column of sequences, upper case; None where one is missing."""
    return [None if lost else str(text).upper() for text, lost in zip(column, column.isna(), strict=True)]


def as_words(column: Any) -> np.ndarray:
    """A column of texts; None where one is missing."""
    return np.array([None if lost else str(text) for text, lost in zip(column, column.isna(), strict=True)], object)


def as_numbers(column: Any) -> np.ndarray:
    """A column as floats, or a sentence that shows what is no number."""
    pd = pandas()
    known = is_number(column)
    found = column if known else pd.to_numeric(column, errors="coerce")
    wrong = column[:0] if known else column[found.isna() & column.notna()]
    if len(wrong):
        row = list(column.index).index(wrong.index[0]) + 1
        raise Wrong(
            f"Column {column.name!r} holds {wrong.iloc[0]!r} in row {row}, which "
            'is no number: correct it, or give the column kernel = "Categorical".'
        )
    values = found.to_numpy(dtype=float, na_value=np.nan)
    if np.isinf(values).any():
        raise Wrong(f"Column {column.name!r} holds infinite numbers: correct them or leave them empty.")
    return values


def guess_task(y: Any) -> str:
    """Regression for fractions and for many different whole numbers, else classification."""
    if not is_number(y):
        return "classification"
    whole = bool((y == y.round()).all())
    return "classification" if whole and y.nunique() <= max(2, min(20, len(y) // 5)) else "regression"
