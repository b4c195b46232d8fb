"""The kinds of the columns of a table, which say what kernels suit them."""

import re
from collections import Counter
from collections.abc import Collection, Iterable
from contextlib import suppress
from datetime import datetime
from typing import Any, NamedTuple

import numpy as np

from .._callers import OFFERS
from .frames import are_missing_texts, is_missing_text, is_pandas, missing_entries, number
from .table_scaler import days
from .view_data import blank_entries

USED_KINDS = ("numbers", "categories", "dates", "texts", "sequences")
WITHOUT_MARKS = ("numbers", "rows", "dates", "days of rows", "empty", "spoiled")  # kinds in which ? is a missing value
MAX_CATEGORIES = 50  # of one column, and at most half as many as examples
MAX_MISSING_SHARE = 0.9  # of a column that gets a kernel
MAX_UNITS = 3  # behind the numbers of a column
MAX_CODES = 10  # different whole numbers in a column of texts, which are categories
MIN_REPEATED_SHARE = 0.25  # of the words in texts, but for words of all texts, that other texts have as well
MIN_DATES, FIRST_DATE, LAST_DATE = 5, 19000101, 21001231  # of numbers such as 20240301: different ones, and their range
OTHER_DATES = "other dates", "dates in another form than 2024-03-01"
MIN_ROWS_FOR_ROW_NUMBERS = 20  # with fewer rows, consecutive whole numbers count as numbers
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}")
CODE, THOUSANDS = re.compile(r"\s*0\d+\s*"), re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")
_MEASURED = re.compile(r"\s*[+-]?\d+(?:[.,]\d+)?\s*([^\s\d.,:;/_+-]\S{0,9})\s*")  # 13.45 mg/l
_WORD = re.compile(r"\b\w\w+\b")  # as TfidfVectorizer takes words


class ColumnFacts(NamedTuple):
    """A column of a table: its kind is one of `USED_KINDS`, or one that is left out, and `why`."""

    name: str
    kind: str
    gaps: int = 0  # missing values
    why: str = ""
    strings: tuple[tuple[str, Any], ...] = ()  # (name, kernel) of sequences
    commas: bool = False  # texts of numbers with decimal commas

    @property
    def part(self) -> tuple[str, int]:
        """The column as a part of a `TableScaler`."""
        return "decimal commas" if self.commas else self.kind, 1


def describe(
    columns: Iterable[tuple[str, np.ndarray]], sequences: Collection[str] = (), categories: Collection[str] = ()
) -> list[ColumnFacts]:
    """The facts of columns (name, entries (n,)); `sequences` and `categories` name such, whatever their entries."""
    return [_described(name, x, name in sequences, name in categories) for name, x in columns]


def categories_of(frame: Any) -> set[str]:
    """The names of the columns that pandas holds as categories."""
    kinds = zip(frame.columns, frame.dtypes, strict=True) if is_pandas(frame) else ()
    return {str(name) for name, dtype in kinds if dtype == "category"}


def entries(frame: Any) -> Iterable[tuple[str, np.ndarray]]:
    """(name, entries (n,)) of the columns of a frame; all numbers of pandas are read at once, which is faster."""
    numbers = [dtype.kind in "iuf" for dtype in frame.dtypes] if is_pandas(frame) else []
    block = iter(frame.loc[:, numbers].to_numpy(float, na_value=np.nan).T if any(numbers) else ())
    for k, name in enumerate(frame.columns):
        yield str(name), next(block) if numbers and numbers[k] else frame[name].to_numpy()


def _described(name, x, sequences, category):
    lost, commas = missing_entries(x), False
    if x.dtype.kind in "OSU":  # files say nothing else of a text without letters
        lost = lost | blank_entries(x)
    kind, why = ("sequences", "") if sequences else _kind(x[~lost], len(x))
    if category and kind == "numbers" and len(set(x[~lost].tolist())) <= min(MAX_CATEGORIES, len(x) // 2):
        kind = "categories"
    if kind in WITHOUT_MARKS and x.dtype.kind in "OSU":
        lost = lost | are_missing_texts(x)
        commas = kind == "numbers" and any("," in str(item) for item in x[~lost].tolist())
    gaps = int(lost.sum())
    if kind in USED_KINDS and gaps > MAX_MISSING_SHARE * len(x):
        kind, why = "empty", f"empty in {gaps} of {len(x)} rows"
    strings = tuple(OFFERS["sequence kernels"]()(x)) if kind == "sequences" else ()
    return ColumnFacts(name, kind, gaps, why, strings, commas)


def _kind(given, n):
    """(kind, why it is left out) of a column, from its entries that are not missing, among n."""
    form = given.dtype.kind
    if form == "m":
        return "times", "spans of time"
    if form == "c":
        return "complex", "complex numbers"
    if not len(given):
        return "empty", "nothing in it"
    if form == "M":
        return _kind_of_numbers(days(given), n, dates=True)
    if form in "iuf":
        return _kind_of_numbers(given.astype(float), n)
    items = given.tolist()
    if not any(isinstance(item, str | bytes | bool) for item in items):
        try:
            return _kind_of_numbers(given.astype(float), n)  # includes whole numbers beyond 64 bits
        except OverflowError:
            return "numbers", ""  # whose reader names the column
        except (TypeError, ValueError):
            with suppress(TypeError, ValueError):
                return _kind_of_numbers(days(given), n, dates=True)  # times of a zone
            return "objects", "objects"
    letters, sure = OFFERS["kind of sequences"]()(items)
    if sure:
        return letters
    texts = [item.decode("latin-1") if isinstance(item, bytes) else str(item) for item in items]
    return _kind_of_texts(texts, n, letters)


def _kind_of_numbers(x, n, dates=False):
    x = np.sort(x)
    different = 1 + np.count_nonzero(x[1:] != x[:-1])
    if different == 1:
        return "constant", "one value only"
    if different >= MIN_DATES and not dates and _are_dates(x):
        return OTHER_DATES
    if n >= MIN_ROWS_FOR_ROW_NUMBERS and different == n and x[-1] - x[0] == n - 1 and (x % 1 == 0).all():
        return ("days of rows", "days that count the rows") if dates else ("rows", "numbers of the rows")
    return "dates" if dates else "numbers", ""


def _are_dates(x):
    """Whether all numbers (n,), which ascend, are dates such as 20240301."""
    with suppress(ValueError):
        known = x[0] >= FIRST_DATE and x[-1] <= LAST_DATE
        return known and all(datetime.strptime(f"{date:.10g}", "%Y%m%d") for date in np.unique(x).tolist())
    return False


def _kind_of_texts(texts, n, letters):
    different, size = len(set(texts)), len(texts)
    known = [text for text in texts if not is_missing_text(text)]
    if not known:
        return "empty", "nothing in it"
    if different == 1:
        return "constant", "one value only"
    few = different <= min(MAX_CATEGORIES, size // 2)
    codes = few and different <= MAX_CODES and "".join(texts).isdigit()
    strange = [text for text in known if not is_number_text(text.replace(",", "."))]
    if not strange and not codes and not any(map(CODE.fullmatch, known)):
        commas = [text for text in known if "," in text]
        if commas and (any("." in text for text in known) or all(map(THOUSANDS.fullmatch, commas))):
            return "spoiled", f"numbers whose commas may separate thousands, {commas[0]!r} for example"
        return _kind_of_numbers(np.array([number(text, "," if commas else ".") for text in known]), n)
    if few:
        return "categories", ""
    if letters is not None:
        return letters
    if not strange:
        return "spoiled", "numbers with zeros before them, as codes have"
    if len(strange) <= len(known) // 5:
        return "spoiled", f"numbers, but none in {len(strange)} of {size} rows, {strange[0]!r} for example"
    units = {found[1] if (found := _MEASURED.fullmatch(text)) else None for text in known}
    if len(units) <= MAX_UNITS and None not in units:
        return "spoiled", f"numbers with {'a unit' if len(units) == 1 else 'several units'}, {known[0]!r} for example"
    if sum(map(bool, map(_DATE.match, known))) > 0.8 * len(known):
        with suppress(ValueError):
            return _kind_of_numbers(days(np.array(known, object)), n, dates=True)
        return OTHER_DATES
    spaced = sum(" " in text.strip() for text in texts)
    if different == size and not spaced:
        return "ids", f"{different} different texts, one a row as ids are"
    if spaced > size / 2 and _share_words(texts):
        return "texts", ""
    return "many", f"{different} different texts" + ", whose words hardly repeat" * (spaced > size / 2)


def _share_words(texts):
    """Whether enough words of the texts stand in several texts; words of all texts, such as patient, do not count."""
    count = Counter(word for text in texts for word in set(_WORD.findall(text.lower())))
    counted = [times for times in count.values() if times < len(texts)]
    return 0 < MIN_REPEATED_SHARE * sum(counted) <= sum(times for times in counted if times > 1)


def has_words(x: np.ndarray) -> bool:
    """Whether an entry of an array is a text and no number."""
    items = (item.decode("latin-1") if isinstance(item, bytes) else item for item in x.ravel().tolist())
    return any(isinstance(item, str) and not is_number_text(item) for item in items)


def is_number_text(text: str) -> bool:
    """Whether a text reads as a number."""
    with suppress(ValueError):
        float(text)
        return "_" not in text  # as in some ids
    return False
