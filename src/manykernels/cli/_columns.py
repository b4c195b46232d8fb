"""Which kernels the columns of a table suggest, and the table of numbers that a model is fitted to.

A column of categories becomes columns of indicators called COLUMN=CATEGORY, so that a saved model knows its categories
by the names of its columns and needs nothing besides.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any

import numpy as np

from ._data import is_number
from ._matrices import with_places
from ._sequences import string_tables
from ._talk import Wrong, pandas

MANY = 100  # columns without a prefix that have a kernel each
ROWS = 20  # from which on whole numbers without a gap are taken for those of rows
EMPTY = 0.9  # a column that is emptier than this is not used unasked
CATEGORIES = 30  # that a column of texts has at most to be used unasked


def suggest(frame: Any, say: Callable[[str], None]) -> list[dict[str, Any]]:
    """Tables of a configuration, one a kernel: of numbers, categories, matrices and sequences; it is said."""
    matrices, sequences = frame.attrs.get("matrices", {}), frame.attrs.get("sequences", [])
    aside = [name for name in frame.columns if name.partition(".")[0] in matrices]
    made = [_matrix(frame, stem, say) for stem in matrices]
    made += [table for column in sequences for table in string_tables(frame, column, say)]
    plain = frame.drop(columns=[*aside, *sequences, *(n for n in frame.attrs.get("aside", ()) if n in frame.columns)])
    return made + _suggest_plain(plain, say) if plain.shape[1] or not made else made


def _matrix(frame, stem, say):
    """The table of a kernel matrix."""
    there = frame[[name for name in frame.columns if name.startswith(f"{stem}.")]].notna().any(axis=1)
    say(f"{stem!r} is a kernel matrix of {int(there.sum())} examples: one kernel, taken as it is.")
    table = {"name": stem, "kernel": "Precomputed", "columns": [f"{stem}.*"]}
    return table if there.all() else table | {"missing": "zero"}


def _suggest_plain(frame, say):
    """Tables for columns of numbers and of categories."""
    numbers, categories, dropped = sort_columns(frame)
    lacking = frame.attrs.get("lacking", {})
    for name, why in dropped.items():
        say(f"{name!r} is left out: {why}.")
    if not numbers and not categories:
        raise Wrong("No column is left to learn from: give columns that vary beside the target.")
    groups = grouped(numbers)
    tables = [_rbf(frame, name, columns) for name, columns in groups.items()]
    whole = [name for name in numbers if not frame[name].isna().any()]
    if len(groups) > 1 and len(whole) > 1:
        tables.append(_rbf(frame, "all numbers" if "all numbers" not in groups else "all numbers together", whole))
    taken = {table["name"] for table in tables}
    names = [f"{name}, categories" if name in taken else name for name in categories]
    tables += [{"name": a, "kernel": "Categorical", "columns": [b]} for a, b in zip(names, categories, strict=True)]
    say(
        f"{len(tables)} kernels chosen: an RBF on {_places(groups)}"
        + (", one on all of them, standardised" if len(tables) > len(groups) + len(categories) else "")
        + (f", Categorical on {', '.join(map(repr, categories[:5]))}" if categories else "")
        + (f" and {len(categories) - 5} more" if len(categories) > 5 else "")
        + ". `manykernels init` writes them down to be changed."
    )
    for name, columns in groups.items():
        lost = int(frame[columns].isna().all(axis=1).sum())
        if lost and lost != lacking.get(name):
            say(f"{name!r} is missing in {lost} of {len(frame)} examples, which its kernel likens to no other.")
        holes = int(frame[columns].isna().any(axis=1).sum()) - lost
        if holes:
            say(f"{name!r} has gaps in {holes} of {len(frame)} examples, which are filled in with means.")
    for name in categories:
        lost = int(frame[name].isna().sum())
        if lost and name not in lacking:
            say(f"{name!r} is missing in {lost} of {len(frame)} examples, which are like no other in it.")
    return tables


def _places(groups):
    """Columns and groups of them, in words."""
    several = {name: columns for name, columns in groups.items() if len(columns) > 1}
    alone = len(groups) - len(several)
    said = [f"each of {alone} columns of numbers"] * (alone > 1) + ["one column of numbers"] * (alone == 1)
    said += [f"{name!r} ({len(columns)} columns together)" for name, columns in list(several.items())[:5]]
    said += [f"{len(several) - 5} more such groups"] * (len(several) > 5)
    return " and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else said[0] if said else "no column"


def _rbf(frame, name, columns):
    table = {"name": name, "kernel": "RBF", "gamma": "median", "columns": columns}
    table |= {"scale": True} if len(columns) > 1 else {}  # one column has no other to be hidden by
    return table | {"missing": "zero"} if frame[columns].isna().any(axis=None) else table


def sort_columns(frame: Any) -> tuple[list[str], list[str], dict[str, str]]:
    """Names of columns of numbers, of categories, and {name: why} of those that are left out."""
    numbers, categories, dropped = [], [], {}
    for name in frame.columns:
        column = frame[name]
        different, lost = column.nunique(), int(column.isna().sum())
        if different < 2:
            dropped[name] = "it has one value only" if different else "it is empty"
        elif lost > EMPTY * len(column):
            dropped[name] = f"it is empty in {lost} of {len(column)} rows, too many to be used unasked"
        elif is_number(column) and _counts_rows(column, different):
            dropped[name] = "it numbers the rows; a configuration may name it if it means something"
        elif is_number(column):
            numbers.append(name)
        elif different > min(CATEGORIES, (len(column) - lost) // 2):
            dropped[name] = _why_texts(column, different)
        else:
            categories.append(name)
    return numbers, categories, dropped


def _counts_rows(column, different):
    """Whether it holds every whole number of a range once, as an index or an id written into the table does."""
    if len(column) < ROWS or different < len(column):
        return False
    return column.max() - column.min() == len(column) - 1 and bool((column % 1 == 0).all())


def _why_texts(column, different):
    """What a column of many different texts is, and what can be done about it."""
    pd = pandas()
    known = column.dropna().map(str)
    strange = known[pd.to_numeric(known, errors="coerce").isna()]
    if len(strange) <= len(known) // 5:
        return (
            f"it holds numbers, but none in {len(strange)} rows ({strange.iloc[0]!r}, for example); empty these cells "
            "and it is used"
        )
    if known.str.match(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}").mean() > 0.8:
        return "it holds dates; make numbers of them, days since the first, say, to use it"
    if different == len(known) and not known.str.contains(" ").any():
        return "it is another text in every row, as ids are; --id takes it for that"
    return (
        f"it holds {different} different texts, too many for categories unasked; a configuration with kernel = "
        '"Categorical" uses it, and Features(TfidfVectorizer()) in Python its words'
    )


def grouped(names: list[str]) -> dict[str, list[str]]:
    """{group: columns}: those called GROUP.x or GROUP:x together, others alone, or all together if they are many."""
    groups: dict[str, list[str]] = {}
    for name in names:
        stem = name.replace(":", ".").partition(".")[0]
        groups.setdefault(stem if stem and stem != name else name, []).append(name)
    alone = [name for name, columns in groups.items() if columns == [name]]
    if len(alone) > MANY:
        groups = {name: columns for name, columns in groups.items() if name not in alone} | {"others": alone}
    return groups


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


def encode(frame: Any, names: list[str], texts: Collection[str] = ()) -> Any:
    """The columns called `names`: numbers, indicators of categories, and sequences as they are, those in `texts`."""
    frame = with_places(frame, names)
    lost = [base for base in map(seen, names) if base not in frame.columns]
    if lost:
        lost = list(dict.fromkeys(lost))
        more = f" and {len(lost) - 5} more" if len(lost) > 5 else ""
        raise Wrong(
            f"The data lack the columns {', '.join(map(repr, lost[:5]))}{more}, which the model sees: add them, empty "
            'where their kernels have missing = "zero".'
        )
    made: dict[str, Any] = {}
    known: dict[str, np.ndarray] = {}
    for name in names:
        base, equals, category = name.partition("=")
        if name in texts:
            made[name] = as_sequences(frame[name])
            continue
        if not equals:
            made[name] = as_numbers(frame[name])
            continue
        if base not in known:
            known[base] = as_texts(frame[base])
        made[name] = (known[base] == category).astype(float)
    return pandas().DataFrame(made, index=frame.index)


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


def as_numbers(column: Any) -> np.ndarray:
    """A column as floats, or a sentence that shows what is no number."""
    pd = pandas()
    found = pd.to_numeric(column, errors="coerce")
    wrong = column[found.isna() & column.notna()]
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
