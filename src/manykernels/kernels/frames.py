"""Tables with named columns, of pandas, polars and similar libraries, and entries that NumPy would lose or change."""

import sys
from collections import Counter
from contextlib import suppress
from difflib import get_close_matches
from functools import partial
from typing import Any

import numpy as np

_MISSING = ("NAType", "NaTType", "NoneType")  # types by name, so that pandas need not be imported
MISSING_TEXTS = frozenset("|?|-|--|.|na|n/a|n.a.|#n/a|nan|<na>|<nan>|none|<none>|null|<null>".split("|"))  # in any case
_UNEQUAL = float, np.floating, np.datetime64, np.timedelta64  # NaN and NaT differ from themselves
_CLOCKS = {  # types by name, so that pandas need not be imported
    "NaTType", "Period", "Timedelta", "Timestamp", "date", "datetime", "datetime64", "time", "timedelta", "timedelta64",
}  # fmt: skip
# arguments that have an entry for every example
_COMPLETE = "y", "groups", "sample_weight", "task", "task_Y", "train_task", "event", "time", "strata"


def len_(X: Any) -> int:
    """The number of examples of an array, a sparse matrix or a list."""
    return X.shape[0] if hasattr(X, "shape") else len(X)  # the user's X


def is_frame(X):
    """Whether X is a frame of pandas, polars or a similar library; the test imports none of them."""
    return hasattr(X, "to_numpy") and hasattr(X, "columns") and len(getattr(X, "shape", ())) == 2  # the user's X


def is_pandas(X):
    """Whether X is a frame or a column of pandas, or of a library with its interface."""
    return hasattr(X, "iloc")  # the user's X


def has_ids(X):
    """Whether X is a frame or a column of pandas whose index has ids, not only the numbers of the rows."""
    return is_pandas(X) and hasattr(X, "index") and type(X.index).__name__ != "RangeIndex"  # the user's X


def check_names(frame, name="X"):
    """The names of the columns, a list; a ValueError if two are equal."""
    names = list(frame.columns)
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(
            f"{name} has {names.count(twice)} columns called {twice!r}: rename them, or give {name}.to_numpy()."
        )
    return names


def pick(frame, columns):
    """The frame of some columns, by position."""
    return frame.iloc[:, columns] if is_pandas(frame) else frame[:, [int(c) for c in columns]]


def completed(frame, names):
    """The frame with columns of these names, in this order; columns that it lacks become empty ones."""
    if is_pandas(frame):
        return frame.reindex(columns=names)
    return frame.with_columns(**{name: None for name in names if name not in frame.columns}).select(list(names))


def values(frame):
    """The entries of a frame (n, d): numbers, with NaN for missing ones, if all columns are numbers, else objects."""
    dtypes = () if is_pandas(frame) else getattr(frame, "dtypes", ())  # of polars, or of sparse views with names
    if any(dtype.is_temporal() for dtype in dtypes):
        x = np.array(frame.rows(), dtype=object).reshape(frame.shape)  # polars would turn dates into numbers
    else:
        with np.errstate(invalid="ignore"):  # pandas turns gaps among categories that are whole numbers into numbers
            x = frame.to_numpy()
    if not is_pandas(frame):
        return x
    nullable = x.dtype == object and all(dtype.kind in "biuf" for dtype in frame.dtypes)
    gaps = x.dtype.kind in "biu" and frame.isna().to_numpy().any()
    return frame.to_numpy(dtype=float, na_value=np.nan) if nullable or gaps else x


def cut(x, at):
    """x[at]; x itself if either is None."""
    return x if x is None or at is None else x[at]


def rows_of(X):
    """X, a frame, or an array or a list of one or two axes, as an array of two."""
    x = values(X) if is_frame(X) else X if isinstance(X, np.ndarray) else np.array(X, dtype=object)
    return x[:, None] if x.ndim == 1 else x  # also of 0 rows


def in_double(x):
    """An array or a frame with numbers of 16 and 32 bits in 64: a scaler answers in the digits that it is given."""
    if not is_frame(x):
        return x.astype(np.float64) if x.dtype.kind == "f" and x.dtype.itemsize < 8 else x
    narrow = [(name, str(dtype)) for name, dtype in zip(x.columns, x.dtypes, strict=True)]
    wide = {name: dtype[:-2] + "64" for name, dtype in narrow if dtype.lower() in ("float16", "float32")}
    return x.astype(wide) if is_pandas(x) else x.with_columns(x[name].cast(float) for name in wide)


def unknown_names(lost, names):
    """A sentence on names that are not among the columns; it lists the columns, or similar names."""
    some = _few(lost)
    if len(names) <= 10:
        return f"{some} not among the columns of X: {names}."
    near = dict.fromkeys(n for k in lost[:5] for n in get_close_matches(str(k), [str(n) for n in names], 3, 0.5))
    return f"{some} not among the {len(names)} columns of X" + (f"; the nearest are {list(near)[:5]}." if near else ".")


def _few(names):
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"columns={[str(n) if isinstance(n, np.str_) else n for n in names[:5]]}{more} are"


def called(labels):
    """A phrase such as: columns 'a', 'b' and 3 more."""
    plain = [int(label) if isinstance(label, np.integer) else label for label in labels]
    return f"column{'s'[: len(labels) > 1]} {listed(plain)}"


def listed(items, most=5):
    """The first five items, and how many more there are."""
    return ", ".join(map(repr, items[:most])) + (f" and {len(items) - most} more" if len(items) > most else "")


def check_header(names, path, error=ValueError):
    """An error if two columns have the same name, but for spaces: the second copy of a target would be a feature."""
    twice = [name for name, count in Counter(str(name).strip() for name in names).items() if count > 1]
    if twice:
        raise error(f"{path} has several columns called {twice[0]!r}: rename them.")


def is_missing_text(value):
    """Whether an entry is a text that stands for a missing value, such as NA, ? or <null>."""
    return isinstance(value, str) and value.strip().lower() in MISSING_TEXTS


def are_missing_texts(x):
    """The mask of these entries of an array."""
    return _tell(is_missing_text, x)


def number(value, decimal=None):
    """An entry as a float, NaN if it is missing and infinity beyond 1.8e308, or a ValueError or TypeError.

    Where columns of texts hold numbers, `decimal` is "." or ",", and texts such as NA or ? are missing.
    """
    if type(value).__name__ in _MISSING or decimal and is_missing_text(value):
        return np.nan
    if decimal and isinstance(value, str):
        if "_" in value or decimal == "," and "." in value:
            raise ValueError(value)
        value = value.replace(decimal, ".")
    try:
        return float(value)
    except OverflowError:
        return np.inf


def to_numbers(x, labels, decimal=None):
    """Entries (n, d) as floats by `number`, or a ValueError that names the columns by `labels()`."""
    if getattr(x, "dtype", None) is not None and x.dtype.kind in "cmM":  # the user's X may be a list
        what, where = "times", range(x.shape[1] if x.ndim > 1 else 1)
        if x.dtype.kind == "c":
            what, where = "complex numbers", np.flatnonzero(np.asarray(x.imag.any(axis=0))) if x.imag.any() else where
        raise ValueError(f"X holds {what} in {called([labels()[j] for j in where])}: turn them into real numbers.")
    read = partial(number, decimal=decimal)
    try:
        with np.errstate(invalid="ignore"):  # of signalling NaN
            if decimal is None:
                with suppress(TypeError, ValueError, OverflowError):
                    return x.astype(float)
            return np.frompyfunc(read, 1, 1)(x).astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(not_numeric(x, labels, read) or f"X is not numeric: {error}") from error


def without_na(x):
    """An array with NaN for NA of pandas, which other libraries cannot read."""
    if x.dtype != object:
        return x
    return np.where(_tell(lambda value: type(value).__name__ == "NAType", x), np.nan, x)


def missing_entries(x):
    """The mask of the entries of an array that are None, NaN, NA or NaT."""
    if x.dtype.kind == "f":
        return np.isnan(x)
    if x.dtype.kind in "mM":
        return np.isnat(x)
    if x.dtype != object or {str, int, bool}.issuperset(map(type, x.ravel().tolist())):
        return np.zeros(x.shape, bool)
    with np.errstate(invalid="ignore"):  # of signalling NaN
        return _tell(_is_missing, x)


def _tell(test, x):
    """What the test says of each entry; also of one entry."""
    return np.asarray(np.frompyfunc(test, 1, 1)(x), bool)


def _is_missing(value):
    return type(value).__name__ in _MISSING or isinstance(value, _UNEQUAL) and value != value


def not_numeric(x, labels, read=number):
    """A sentence that names the columns with entries that are not numbers, as `read` reads them; None without any."""
    found = {}
    for j, column in enumerate(x.T if x.ndim == 2 else [x]):
        for row, value in enumerate(column):
            try:
                read(value)
            except (TypeError, ValueError):
                found[j] = value, row
                break
    if not found:
        return None
    names, (example, row) = labels(), next(iter(found.values()))
    example = str(example) if isinstance(example, np.str_) else example
    return (
        f"X is not numeric in {called([names[j] for j in found])} ({example!r} in row {row}, for example), which a "
        "kernel of numbers sees: correct such entries, give categories a Categorical() kernel or OneHotEncoder(), "
        "sequences a string kernel such as Spectrum(4), and list the columns of each kernel."
    )


def check_masks(name: str, value: Any) -> None:
    """A ValueError if entries of an array, or of one of a list of arrays, are masked."""
    if isinstance(value, np.ma.MaskedArray):
        mask = np.ascontiguousarray(np.ma.getmaskarray(value)).view(bool)  # of a structured array all fields
        if mask.any():
            cure = "leave these examples out, or fill them in"
            if name.startswith("X"):
                cure = 'fill it in, or give .astype(float).filled(np.nan) to kernels with missing="zero"'
            raise ValueError(f"{name} is a masked array, and the mask of {mask.sum()} entries would be lost: {cure}.")
    for k, one in enumerate(value if isinstance(value, list | tuple) else ()):
        if isinstance(one, np.ma.MaskedArray):
            check_masks(f"{name}[{k}]", one)


def _as_given(value, listed):
    """The entries of a list, an array or a frame as an array, without a change of missing ones."""
    return values(value) if is_frame(value) else np.asarray(value, object if listed else None)


def check_entries(name: str, value: Any, dates: bool = False) -> None:
    """The same, for huge integers, complex numbers, NaT, arguments that must be complete, and weights that are texts.

    Dates and durations are refused too, unless `dates` are labels.
    """
    check_masks(name, value)
    dtype, listed = getattr(value, "dtype", None), isinstance(value, list | tuple)  # of any library
    kind, kinds = "O" if listed else getattr(dtype, "kind", ""), set()  # of polars none
    if kind == "O":
        entries = value if listed else np.asarray(value).ravel().tolist()
        kinds = {kind.__name__ for kind in set(map(type, entries))}
        clocks = not _CLOCKS.isdisjoint(kinds)
        whole = "int" in kinds and not name.startswith("X")  # whose reader names the column
        if whole and max(abs(entry) for entry in entries if isinstance(entry, int)) > sys.float_info.max:
            raise ValueError(f"{name} has a number beyond 1.8e308: correct it, or leave this example out.")
    else:
        clocks = kind in ("M", "m") or not kind and str(dtype).startswith(("Date", "Duration", "Time"))
    # the readers of tables name the columns; scikit-learn's checks want the words in brackets
    if (kind == "c" or kinds & {"complex", "complex128"}) and not name.startswith("X"):
        raise ValueError(f"{name} holds complex numbers: give real numbers (Complex data not supported).")
    needed = clocks or name in _COMPLETE and value is not None
    if needed and (lost := int(missing_entries(_as_given(value, listed)).sum())):
        raise ValueError(f"{name} has {lost} missing values: leave these examples out of X and {name}.")
    texts = kinds & {"str", "str_"}
    if name == "groups" and texts and kinds - texts:
        raise ValueError("groups mixes numbers and texts, and 1 is not '1': give labels of one type.")
    if name == "groups" and not isinstance(value, str | None) and np.ndim(value) != 1:  # a text names a column of obs
        raise ValueError(f"groups has {np.ndim(value)} axes: give one group per example, (n,).")
    if name == "sample_weight" and (kind in ("T", "U", "S") or texts):
        raise ValueError("sample_weight holds texts: give numbers, sample_weight.astype(float).")
    if clocks and not dates:
        raise ValueError(
            f"{name} holds dates or durations, and numbers need a unit: give days, durations / np.timedelta64(1, 'D'), "
            "or texts if they are labels."
        )
