"""The kernels that suit a table, by the kinds of its columns, and a sentence that lists the kernels.

`choose_for` chooses for a whole table, `of_source` for one of several named sources.
"""

import re
from collections.abc import Sequence
from typing import Any

from .._limits import MemoryBudget
from .categorical import Categorical
from .column_kinds import USED_KINDS, ColumnFacts
from .features import Features
from .frames import listed
from .laplacian import Laplacian
from .linear import Linear
from .rbf import RBF
from .spec import KernelSpec
from .table_scaler import TableScaler

ROW_KINDS = {"rows": "numbers", "days of rows": "dates"}  # kinds that tell only rows apart, used if there is no other
SEQUENCE_COLUMN = "sequence"  # the kernels of a column of this name have no other name before theirs
MAX_NAMES = 30  # of columns in a warning
MAX_COLUMN_KERNELS = 100  # if there are more columns, they share one kernel
GAMMA_FACTORS = 0.3, 1.0, 3.0  # gamma in units of 1/2d (RBF) and 1/d (Laplacian) for d standardised columns
COLUMN_PRIOR = 0.2  # of kernels on single columns or groups beside kernels on all columns together
MAX_KERNEL_ENTRIES = 2e10  # of all kernels of single columns
MAX_DIFFERENCES = 2e10  # between entries of columns: about ten seconds on a core
DATES = "dates, which get no kernel in one of several sources"
_NAMELESS = re.compile(r"Unnamed: \d+")  # pandas' names for columns without a name


def choose_for(
    columns: Sequence[ColumnFacts], n: int, memory_limit: float | None = None, rest: bool = False
) -> tuple[list[KernelSpec], str]:
    """(kernels on the columns of a table, by position, and a sentence that lists kernels and columns left out).

    `auto_kernels` says which. The columns may be the `rest` of a table, beside its sources.
    """
    columns = columns if rest else usable(columns)
    numbers, categories, dates = (_of_kind(columns, kind) for kind in USED_KINDS[:3])
    together, most = sorted(numbers + categories + dates), most_kernels(n, memory_limit)
    groups, specs, said = _grouped(columns, numbers, most), [], []
    prior = COLUMN_PRIOR if len(together) > 1 else 1.0
    if len(together) > 1:
        plain = len(numbers) == len(together)
        scope = "other" if rest else "all"
        name = f"{scope} {'numbers' if plain else 'columns'}"
        name = next(iter(groups)) if plain and len(groups) == 1 else name + " together" * (name in groups)
        what = f"{scope} {len(together)} columns{' of numbers' * plain}"
        specs, said = _mixture(name, columns, together, n, what)
    if numbers and (len(groups) > 1 or len(numbers) < len(together) or len(numbers) == 1):
        for name, group in groups.items():  # only several columns, and texts with decimal commas, need a transformer
            scaler = _scaler_of(columns, group) if len(group) > 1 or columns[group[0]].commas else None
            specs.append(KernelSpec(name, RBF("median"), group, "zero", None, scaler, prior))
        said.append(f"an RBF on {_places(groups, len(numbers) == len(together))}")
    for k in dates:
        specs.append(KernelSpec(columns[k].name, RBF(0.5), [k], "zero", None, TableScaler([("dates", 1)]), prior))
    if dates:
        said.append(f"an RBF on days and cycles of {called(columns, dates)}")
    names = [column.name for column in columns]
    _add_categories(specs, said, columns, names, most, prior)
    if prior < 1 and any(spec.prior < 1 for spec in specs):
        said[-1] += f" (single columns: prior {prior:g})"
    _add_words(specs, said, columns, names)
    return specs, f"{len(specs)} kernel{'s'[: len(specs) != 1]}: {'; '.join([*said, *left_out(columns)])}"


def of_source(
    name: str, columns: Sequence[ColumnFacts], n: int, memory_limit: float | None, widths: Sequence[Any]
) -> tuple[list[KernelSpec], str]:
    """(kernels on the columns of one of several sources, by position, and a phrase that lists them).

    `widths` are (factor, gamma) of RBF kernels on numbers that stay as they are; without them numbers are standardised.
    """
    numbers, specs, said = _of_kind(columns, "numbers"), [], []
    what = f"{len(numbers)} column{'s'[: len(numbers) != 1]} of numbers"
    if numbers and widths:
        specs = [KernelSpec(f"{name}, RBF {factor:g}", RBF(gamma), numbers, "zero") for factor, gamma in widths]
        specs.append(KernelSpec(f"{name}, linear", Linear(), numbers, "zero"))
        said = [f"RBF of {len(widths)} widths and linear on {what}, as they are"]
    elif numbers:
        specs, said = _mixture(name, columns, numbers, n, what)
    names = [name if len(columns) == 1 else f"{name}, {column.name}" for column in columns]
    _add_categories(specs, said, columns, names, most_kernels(n, memory_limit), 1.0, f"{name}, categories")
    _add_words(specs, said, columns, names)
    return specs, "; ".join([*said, *left_out(columns)])


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


def _add_categories(specs, said, columns, names, most, prior, shared="categories"):
    """Adds a kernel and a phrase for the columns of categories, each alone or, if more than `most`, together."""
    which = _of_kind(columns, "categories")
    one = len(which) > most
    for name, where in [(shared, which)] if one else [(names[k], [k]) for k in which]:
        specs.append(KernelSpec(_other(name, specs, "categories"), Categorical(), where, "zero", prior=prior))
    said += [f"Categorical on {called(columns, which)}{' together' * one}"] * bool(which)


def _add_words(specs, said, columns, names):
    """Adds kernels and phrases for the columns of texts and of sequences."""
    texts = _of_kind(columns, "texts")
    specs += [KernelSpec(_other(names[k], specs, "words"), words(), [k], "zero") for k in texts]
    said += [f"tf-idf of the words in {called(columns, texts)}"] * bool(texts)
    for k in _of_kind(columns, "sequences"):
        before, strings = "" if names[k] == SEQUENCE_COLUMN else f"{names[k]}, ", columns[k].strings
        specs += [KernelSpec(before + name, kernel, [k], "zero") for name, kernel in strings]
        placed = any("at a place" in name for name, _ in strings)
        alphabet = strings[0][1].alphabet
        said.append(
            f"{len(strings)} on words of the {alphabet} sequences in {columns[k].name!r}, "
            + ("at the same place and anywhere" if placed else "anywhere, since lengths differ")
            + ("" if alphabet == "protein" else ", gapped ones of both strands")
        )


def usable(columns: Sequence[ColumnFacts]) -> Sequence[ColumnFacts]:
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
    used, commas = usable(columns), [column.name for column in columns if column.commas]
    alone = [one for one, other in zip(columns, used, strict=True) if one.kind != other.kind]
    said = left_out(used, MAX_NAMES)
    said += [f"used {one.name!r} for want of others ({one.why}: leave it out if they are ids)" for one in alone]
    said += [f"read the commas in {listed(commas, MAX_NAMES)} as decimal points"] * bool(commas)
    return f'kernels="auto" has {"; ".join(said)}. List the kernels yourself to use columns otherwise.' if said else ""


def called(columns: Sequence[ColumnFacts], which: Sequence[int]) -> str:
    """The names of some columns, five at most."""
    return listed([columns[k].name for k in which])


def _scaler_of(columns, which):
    """The transformer that scales some columns, so that each counts the same."""
    parts = [columns[k].part for k in which]
    return TableScaler([("columns", len(parts))] if {*parts} == {("numbers", 1)} else parts)


def words() -> Features:
    """The tf-idf kernel of texts."""
    from sklearn.feature_extraction.text import TfidfVectorizer

    return Features(TfidfVectorizer())


def _mixture(name, columns, which, n, what):
    """(RBF and Laplacian kernels of several widths on d standardised columns, [a phrase on `what` they see]).

    For many examples there are RBF kernels alone.
    """
    d, both, scaled = len(which), n**2 * len(which) <= MAX_DIFFERENCES, _scaler_of(columns, which)
    kernels: list[tuple[str, Any]] = [(f"{name}, RBF {g:g}", RBF(g / (2 * d))) for g in GAMMA_FACTORS]
    kernels += [(f"{name}, Laplacian {g:g}", Laplacian(g / d)) for g in GAMMA_FACTORS] if both else []
    specs = [KernelSpec(called, kernel, which, "zero", transformer=scaled) for called, kernel in kernels]
    kinds = "RBF and Laplacian of 3 widths each" if both else "RBF of 3 widths"
    gaps = ", gaps filled in by means" * any(columns[k].gaps for k in which if columns[k].kind != "categories")
    return specs, [f"{kinds} on {what}, standardised{gaps}"]


def source_of(spec: KernelSpec) -> str:
    """The name of the columns of a chosen kernel: the kernel's name without kind and width."""
    return re.sub(r", RBF [\d.]+$", "", str(spec.name))


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
