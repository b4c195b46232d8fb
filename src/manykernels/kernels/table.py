"""The kernels that suit a table: the kinds of its columns, kernels on them, and a sentence that lists the kernels.

`choose_for` chooses for a whole table, `of_source` for one of several named sources.
"""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from .._memory import MemoryBudget
from .._offers import OFFERS
from ..sequences.guess import MIN_LETTERS, MIXED, as_texts, guess_alphabet
from .categorical import Categorical
from .features import Features
from .frames import are_missing_texts, is_missing_text, is_pandas, listed, missing_entries, number
from .laplacian import Laplacian
from .linear import Linear
from .rbf import RBF
from .spec import KernelSpec
from .table_scaler import TableScaler, days

USED_KINDS = ("numbers", "categories", "dates", "texts", "sequences")
ROW_KINDS = {"rows": "numbers", "days of rows": "dates"}  # kinds that tell only rows apart, used if there is no other
SEQUENCE_COLUMN = "sequence"  # the kernels of a column of this name have no other name before theirs
WITHOUT_MARKS = ("numbers", "rows", "dates", "days of rows", "empty", "spoiled")  # kinds in which ? is a missing value
MAX_NAMES = 30  # of columns in a warning
MAX_COLUMN_KERNELS = 100  # if there are more columns, they share one kernel
MAX_CATEGORIES = 50  # of one column, and at most half as many as examples
GAMMA_FACTORS = 0.3, 1.0, 3.0  # gamma in units of 1/2d (RBF) and 1/d (Laplacian) for d standardised columns
COLUMN_PRIOR = 0.2  # of kernels on single columns or groups beside kernels on all columns together
MAX_KERNEL_ENTRIES = 2e10  # of all kernels of single columns
MAX_DIFFERENCES = 2e10  # between entries of columns: about ten seconds on a core
MAX_MISSING_SHARE = 0.9  # of a column that gets a kernel
MAX_CODES = 10  # different whole numbers in a column of texts, which are categories
MIN_REPEATED_SHARE = 0.25  # of the words in texts, but for words of all texts, that other texts have as well
MIN_RESIDUES = 20  # of half of the proteins, which are no categories then even if they repeat
MIN_ROWS_FOR_ROW_NUMBERS = 20  # with fewer rows, consecutive whole numbers count as numbers
DATES = "dates, which get no kernel in one of several sources"
_DATE = re.compile(r"\d{4}-\d\d?-\d\d?|\d\d?[./]\d\d?[./]\d{2,4}")
_CODE, _THOUSANDS = re.compile(r"\s*0\d+\s*"), re.compile(r"\s*[+-]?[1-9]\d{0,2},\d{3}\s*")
_WORD = re.compile(r"\b\w\w+\b")  # as TfidfVectorizer takes words
_NAMELESS = re.compile(r"Unnamed: \d+")  # pandas' names for columns without a name


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


def describe(columns: Iterable[tuple[str, np.ndarray]], sequences: Collection[str] = ()) -> list[ColumnFacts]:
    """The facts of columns (name, entries (n,)); those called `sequences` are sequences, whatever their letters."""
    return [_described(name, x, name in sequences) for name, x in columns]


def entries(frame: Any) -> Iterable[tuple[str, np.ndarray]]:
    """(name, entries (n,)) of the columns of a frame; all numbers of pandas are read at once, which is faster."""
    numbers = [dtype.kind in "iuf" for dtype in frame.dtypes] if is_pandas(frame) else []
    block = iter(frame.loc[:, numbers].to_numpy(float, na_value=np.nan).T if any(numbers) else ())
    for k, name in enumerate(frame.columns):
        yield str(name), next(block) if numbers and numbers[k] else frame[name].to_numpy()


def choose_for(
    columns: Sequence[ColumnFacts], n: int, memory_limit: float | None = None, rest: bool = False
) -> tuple[list[KernelSpec], str]:
    """(kernels on the columns of a table, by position, and a sentence that lists kernels and columns left out).

    `auto_kernels` says which. The columns may be the `rest` of a table, beside its sources.
    """
    columns = columns if rest else _usable(columns)
    numbers, categories, dates = (_of_kind(columns, kind) for kind in USED_KINDS[:3])
    together, most = sorted(numbers + categories + dates), most_kernels(n, memory_limit)
    groups, specs, said = _grouped(columns, numbers, most), [], []
    prior = COLUMN_PRIOR if len(together) > 1 else 1.0
    if len(together) > 1:
        plain = len(numbers) == len(together)
        scope = "other" if rest else "all"
        name = f"{scope} {'numbers' if plain else 'columns'}"
        name = next(iter(groups)) if plain and len(groups) == 1 else name + " together" * (name in groups)
        own, kinds = _mixture(name, together, scaler_of([columns[k] for k in together]), n)
        gaps = ", gaps filled in by means" * any(columns[k].gaps for k in numbers + dates)
        said.append(f"{kinds} on {scope} {len(together)} columns{' of numbers' * plain}, standardised{gaps}")
        specs += own
    if numbers and (len(groups) > 1 or len(numbers) < len(together) or len(numbers) == 1):
        specs += [_rbf(name, group, prior, [columns[k] for k in group]) for name, group in groups.items()]
        said.append(f"an RBF on {_places(groups, len(numbers) == len(together))}")
    for k in dates:
        specs.append(KernelSpec(columns[k].name, RBF(0.5), [k], "zero", None, TableScaler([("dates", 1)]), prior))
    if dates:
        said.append(f"an RBF on days and cycles of {called(columns, dates)}")
    names = [column.name for column in columns]
    own, more = _of_categories(columns, names, most, specs, prior)
    specs, said = specs + own, said + more
    if prior < 1 and any(spec.prior < 1 for spec in specs):
        said[-1] += f" (single columns: prior {prior:g})"
    own, more = _of_words(columns, names, specs)
    specs, said = specs + own, said + more
    return specs, f"{len(specs)} kernel{'s'[: len(specs) != 1]}: {'; '.join([*said, *left_out(columns)])}"


def of_source(
    name: str, columns: Sequence[ColumnFacts], n: int, memory_limit: float | None = None, widths: Sequence[Any] = ()
) -> tuple[list[KernelSpec], str]:
    """(kernels on the columns of one of several sources, by position, and a phrase that lists them).

    `widths` are (factor, gamma) of RBF kernels on numbers that stay as they are; without them numbers are standardised.
    """
    numbers, specs, said = _of_kind(columns, "numbers"), [], []
    if numbers:
        if widths:
            specs = [KernelSpec(f"{name}, RBF {factor:g}", RBF(gamma), numbers, "zero") for factor, gamma in widths]
            specs.append(KernelSpec(f"{name}, linear", Linear(), numbers, "zero"))
            kinds, how = f"RBF of {len(widths)} widths and linear", "as they are"
        else:
            specs, kinds = _mixture(name, numbers, scaler_of([columns[k] for k in numbers]), n)
            how = "standardised" + ", gaps filled in by means" * any(columns[k].gaps for k in numbers)
        said.append(f"{kinds} on {len(numbers)} column{'s'[: len(numbers) != 1]} of numbers, {how}")
    names = [name if len(columns) == 1 else f"{name}, {column.name}" for column in columns]
    own, more = _of_categories(columns, names, most_kernels(n, memory_limit), specs, 1.0, f"{name}, categories")
    texts, rest = _of_words(columns, names, own)
    return [*specs, *own, *texts], "; ".join([*said, *more, *rest, *left_out(columns)])


def named_sources(columns: Sequence[ColumnFacts], most: float) -> dict[str, list[int]]:
    """{source: positions} of columns called SOURCE.x or SOURCE:x, two or more; {} if there is but one such source.

    If the kernels of the sources were more than `most`, the table has no sources.
    """
    groups: dict[str, list[int]] = {}
    for k, column in enumerate(columns):
        if column.kind in USED_KINDS:
            groups.setdefault(_stem(column.name), []).append(k)
    named = {stem: group for stem, group in groups.items() if stem and len(group) > 1}
    return named if len(groups) > 1 and 2 * len(GAMMA_FACTORS) * len(named) <= most else {}


def most_kernels(n: int, memory_limit: float | None) -> int:
    """The number of kernels on single columns or groups that n examples allow."""
    room = MemoryBudget(memory_limit).share("matrices of auto kernels") // (4 * max(n, 1) ** 2)
    return int(min(MAX_KERNEL_ENTRIES / max(n, 1) ** 2, MAX_COLUMN_KERNELS, room))


def _of_kind(columns, kind):
    return [k for k, column in enumerate(columns) if column.kind == kind]


def _of_categories(columns, names, most, others, prior, shared="categories"):
    """(kernels, phrases) of the columns of categories, each alone or, if more than `most`, together."""
    which = _of_kind(columns, "categories")
    one = len(which) > most
    places = [(shared, which)] if one else [(names[k], [k]) for k in which]
    specs = [
        KernelSpec(_other(name, others, "categories"), Categorical(), where, "zero", prior=prior)
        for name, where in places
    ]
    return specs, [f"Categorical on {called(columns, which)}{' together' * one}"] * bool(which)


def _of_words(columns, names, others):
    """(kernels, phrases) of the columns of texts and of sequences."""
    texts = _of_kind(columns, "texts")
    specs = [KernelSpec(_other(names[k], others, "words"), words(), [k], "zero") for k in texts]
    said = [f"tf-idf of the words in {called(columns, texts)}"] * bool(texts)
    for k in _of_kind(columns, "sequences"):
        own, more = of_sequences(columns[k], [k], names[k])
        specs, said = specs + own, [*said, more]
    return specs, said


def of_sequences(column: ColumnFacts, where: Any, before: str | None = None) -> tuple[list[KernelSpec], str]:
    """(the kernels of a column of sequences, a phrase); their names begin with `before`, or the name of the column."""
    before = column.name if before is None else before
    before = "" if before == SEQUENCE_COLUMN else f"{before}, "
    specs = [KernelSpec(before + name, kernel, where, "zero") for name, kernel in column.strings]
    placed = any("at a place" in name for name, _ in column.strings)
    alphabet = column.strings[0][1].alphabet
    return specs, (
        f"{len(specs)} on words of the {alphabet} sequences in {column.name!r}, "
        + ("at the same place and anywhere" if placed else "anywhere, since lengths differ")
        + ("" if alphabet == "protein" else ", gapped ones of both strands")
    )


def _usable(columns):
    """The columns; those that count the rows are used if there are no others."""
    if any(column.kind in USED_KINDS for column in columns):
        return columns
    return [column._replace(kind=ROW_KINDS.get(column.kind, column.kind)) for column in columns]


def left_out(columns: Sequence[ColumnFacts], most: int = 5) -> list[str]:
    """Phrases that say which columns have no kernel, and why."""
    found: dict[str, list[str]] = {}
    for column in columns:
        if column.kind not in USED_KINDS:
            found.setdefault(column.why, []).append(column.name)
    return [f"left out {listed(names, most)} ({why})" for why, names in found.items()]


def note(columns: Sequence[ColumnFacts]) -> str:
    """What a user should know of the columns: those left out, and decimal commas; "" if there are none."""
    said, commas = left_out(_usable(columns), MAX_NAMES), [column.name for column in columns if column.commas]
    said += [f"read the commas in {listed(commas, MAX_NAMES)} as decimal points"] * bool(commas)
    return f'kernels="auto" has {"; ".join(said)}. List the kernels yourself to use columns otherwise.' if said else ""


def called(columns: Sequence[ColumnFacts], which: Sequence[int]) -> str:
    """The names of some columns, five at most."""
    return listed([columns[k].name for k in which])


def scaler_of(columns: Sequence[ColumnFacts]) -> Any:
    """The transformer that scales these columns, so that each counts the same."""
    parts = [column.part for column in columns]
    return scaler() if {*parts} == {("numbers", 1)} else TableScaler(parts)


def words() -> Features:
    """The tf-idf kernel of texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return Features(TfidfVectorizer())


def scaler() -> Any:
    """A transformer that standardises columns, and fills missing values with means; new examples may have some."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), SimpleImputer(strategy="constant", fill_value=0.0, keep_empty_features=True))


def _mixture(name, columns, scaled, n):
    """(RBF and Laplacian kernels of several widths on d columns that `scaled` standardises, a phrase); for many
    examples RBF kernels alone."""
    d, both = len(columns), n**2 * len(columns) <= MAX_DIFFERENCES
    kernels: list[tuple[str, Any]] = [(f"{name}, RBF {g:g}", RBF(g / (2 * d))) for g in GAMMA_FACTORS]
    kernels += [(f"{name}, Laplacian {g:g}", Laplacian(g / d)) for g in GAMMA_FACTORS] if both else []
    specs = [KernelSpec(called, kernel, columns, "zero", transformer=scaled) for called, kernel in kernels]
    return specs, "RBF and Laplacian of 3 widths each" if both else "RBF of 3 widths"


def source_of(spec: KernelSpec) -> str:
    """The name of the columns of a chosen kernel: the kernel's name without kind and width."""
    return re.sub(r", RBF [\d.]+$", "", str(spec.name))


def _rbf(name, where, prior, columns):
    """An RBF of the median width; only several columns, and texts with decimal commas, need a transformer."""
    scaled = scaler_of(columns) if len(columns) > 1 or columns[0].commas else None
    return KernelSpec(name, RBF("median"), where, "zero", None, scaled, prior)


def _grouped(columns, numbers, most):
    """{group: columns}: columns called GROUP.x or GROUP:x together, others alone, or together if more than `most`."""
    groups: dict[str, list[int]] = {}
    for k in numbers:
        groups.setdefault(_stem(columns[k].name) or columns[k].name, []).append(k)
    alone = {name for name, group in groups.items() if len(group) == 1 and columns[group[0]].name == name}
    if len(alone) > most:
        rest = [k for k in numbers if columns[k].name in alone]
        groups = {name: group for name, group in groups.items() if name not in alone}
        name = "others" if groups else "all numbers"
        groups[name if name not in groups else "other columns"] = rest
    return groups


def _stem(name):
    """GROUP of a column called GROUP.x or GROUP:x, else ""."""
    stem, mark, _ = name.replace(":", ".").partition(".")
    return stem if mark and not _NAMELESS.fullmatch(name) else ""


def _places(groups, every):
    """A phrase that lists columns and groups of columns; `every` if there are no columns but numbers."""
    several = {name: columns for name, columns in groups.items() if len(columns) > 1}
    alone = len(groups) - len(several)
    said = ["each of them" if every and not several else f"each of {alone} columns of numbers"] * (alone > 1)
    said += ["one column of numbers"] * (alone == 1)
    said += [f"{name!r} ({len(columns)} columns together)" for name, columns in list(several.items())[:5]]
    said += [f"{len(several) - 5} more such groups"] * (len(several) > 5)
    return " and ".join([", ".join(said[:-1]), said[-1]]) if len(said) > 1 else said[0]


def _other(name, specs, more):
    """The name, or "name, more" if another kernel has it."""
    return f"{name}, {more}" if any(spec.name == name for spec in specs) else name


def _described(name, x, sequences=False):
    lost, commas = missing_entries(x), False
    kind, why = ("sequences", "") if sequences else _kind(x[~lost], len(x))
    if kind in WITHOUT_MARKS and x.dtype.kind in "OSU":
        lost = lost | are_missing_texts(x)
        commas = kind == "numbers" and any("," in text for text in as_texts(x[~lost]))
    gaps = int(lost.sum())
    if kind in USED_KINDS and gaps > MAX_MISSING_SHARE * len(x):
        kind, why = "empty", f"empty in {gaps} of {len(x)} rows"
    strings = tuple(OFFERS["sequence kernels"]()(x)) if kind == "sequences" else ()
    return ColumnFacts(name, kind, gaps, why, strings, commas)


def _kind(given, n):
    """(kind, why it is left out) of a column, from its entries that are not missing, among n."""
    if given.dtype.kind == "M" and len(given):
        return _kind_of_numbers(days(given), n, dates=True)
    if given.dtype.kind == "m":
        return "times", "spans of time"
    if given.dtype.kind == "c":
        return "complex", "complex numbers"
    if not len(given):
        return "empty", "nothing in it"
    if given.dtype.kind in "iuf":
        return _kind_of_numbers(given.astype(float), n)
    items = given.tolist()
    if not any(isinstance(item, str | bytes | bool) for item in items):
        try:
            return _kind_of_numbers(given.astype(float), n)  # includes whole numbers beyond 64 bits
        except OverflowError:
            return "numbers", ""  # whose reader names the column
        except (TypeError, ValueError):
            return "objects", "objects"
    found = _kind_of_sequences(items)
    if found is not None and found.sure:
        return found.kind
    texts = [item.decode("latin-1") if isinstance(item, bytes) else str(item) for item in items]
    return _kind_of_texts(texts, n, found and found.kind)


def _kind_of_numbers(x, n, dates=False):
    x = np.sort(x)
    different = 1 + np.count_nonzero(x[1:] != x[:-1])
    if different == 1:
        return "constant", "one value only"
    if n >= MIN_ROWS_FOR_ROW_NUMBERS and different == n and x[-1] - x[0] == n - 1 and (x % 1 == 0).all():
        return ("days of rows", "days that count the rows") if dates else ("rows", "numbers of the rows")
    return "dates" if dates else "numbers", ""


class _Letters(NamedTuple):
    """The kind of texts by their letters, and whether it is sure even if they repeat as categories do."""

    kind: tuple[str, str]
    sure: bool


def _kind_of_sequences(items):
    """`_Letters` of DNA, RNA or proteins, or None; most entries are sequences, and encoding refuses the others."""
    texts = as_texts(items)
    half = float(np.median([len(text) for text in texts])) if 2 * len(texts) > len(items) else 0.0
    if half < MIN_LETTERS or len(set(texts)) == 1:
        return None
    name, why = guess_alphabet(texts)
    if name is None:
        return _Letters(("mixed", MIXED), True) if why == MIXED else None
    return _Letters(("sequences", ""), name != "protein" or half >= MIN_RESIDUES)


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
    if not strange and not codes and not any(map(_CODE.fullmatch, known)):
        commas = [text for text in known if "," in text]
        if commas and (any("." in text for text in known) or all(map(_THOUSANDS.fullmatch, commas))):
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
    if sum(map(bool, map(_DATE.match, known))) > 0.8 * len(known):
        with suppress(ValueError):
            return _kind_of_numbers(days(np.array(known, object)), n, dates=True)
        return "other dates", "dates in another form than 2024-03-01"
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
