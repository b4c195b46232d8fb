"""Reading and writing the configuration, a TOML file of settings and kernels."""

import inspect
import json
import tomllib
from difflib import get_close_matches
from pathlib import Path
from typing import Any

import manykernels as mk

from ..kernels.column_kinds import describe, entries, is_number_text
from ..kernels.table import words
from ..kernels.table_scaler import TableScaler
from ._columns import FORMS
from ._data import is_number, numeric_names, pick
from ._sources import columns_of_matrix
from ._talk import Wrong

KERNELS = (
    "Categorical", "Chi2", "Cosine", "Gower", "HistogramIntersection", "Laplacian", "Linear", "Polynomial",
    "Precomputed", "RBF", "Tanimoto", "Tfidf",
)  # fmt: skip
UNSCALED = ("Categorical", "Gower", "Precomputed", "Tfidf")  # they take no scale = true
STRINGS = ("Degree", "GappedKmer", "Mismatch", "Spectrum", "WeightedDegree", "WeightedDegreeShift")
SETTINGS = {"C": float, "p": float, "q": float, "nu": float, "kernel": list}
SETTINGS |= dict.fromkeys(("target", "id", "task", "loss", "normalize", "adjust", "approximation"), str)
RESERVED_KEYS = (
    "name",
    "kernel",
    "columns",
    "missing",
    "scale",
    "prior",
)  # keys of a [[kernel]] besides its parameters


CURES = {
    "columns": 'a list of names, columns = ["age"]',
    "missing": '"error" or "zero"',
    "scale": "true or false, and true only to kernels on numbers",
    "prior": "a positive number",
}


def read_config(path: str) -> dict[str, Any]:
    """The checked settings of a file; "kernel" has its kernels."""
    if not Path(path).exists():
        raise Wrong(f"--config {path} does not exist: `manykernels init` writes one.")
    try:
        found = tomllib.loads(Path(path).read_text())
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise Wrong(f"{path} is not valid TOML: {error}.") from error
    for name, value in found.items():
        _known(name, SETTINGS, f"{path}: the setting")
        wanted = SETTINGS[name]
        number = wanted is float and isinstance(value, int) and not isinstance(value, bool)
        number = number or (name, value) == ("C", "auto")
        if not isinstance(value, wanted) and not number:
            what = {float: "a number", str: "a text in quotes", list: "tables [[kernel]]"}[wanted]
            raise Wrong(f"{path}: {name} = {value!r} should be {what}.")
    return found


def kernel_class(name: str) -> Any:
    """The class of a kernel."""
    _known(name, (*KERNELS, *STRINGS), "The kernel")
    if name == "Tfidf":
        return tfidf
    return getattr(mk.strings if name in STRINGS else mk.kernels, name)  # a class of a module


def tfidf() -> Any:
    """The words of texts; rare words weigh more (tf-idf)."""
    return words()


def kinds_of(specs: Any) -> dict[str, str]:
    """{column: one of `FORMS`} of the columns that no kernel reads as numbers."""
    found: dict[str, str] = {}
    for spec in mk.kernels.spec.specs_of(specs):
        columns, kernel = spec.columns if isinstance(spec.columns, list) else [], spec.kernel
        kinds = ["categories" if isinstance(kernel, mk.kernels.Categorical) else kernel.reads] * len(columns)
        if isinstance(kernel, mk.kernels.Gower):
            kinds = ["categories" if k in kernel.categories else "numbers" for k in range(len(columns))]
        if isinstance(spec.transformer, TableScaler):
            kinds = [kind for kind, width in spec.transformer.parts for _ in range(width)]
        for name, kind in zip(columns, kinds, strict=True):
            found[name] = kind if found.get(name, kind) in FORMS else "numbers"
    return {name: kind for name, kind in found.items() if kind in FORMS}


def parameters(cls: Any) -> dict[str, Any]:
    """{name: default} of a kernel's parameters; the default of a required one is `inspect.Parameter.empty`."""
    return {name: p.default for name, p in inspect.signature(cls).parameters.items()}


def build(tables: list[dict[str, Any]], frame: Any) -> tuple[list[Any], list[str]]:
    """The specifications of the kernels, and the names of all columns that they see."""
    if not tables:
        raise Wrong("The configuration has no [[kernel]]: add one, or leave --config out for automatic kernels.")
    scaled: dict[Any, Any] = {}  # kernels of several widths have the same columns, of which there may be thousands
    made = [_specification(table, k, frame, scaled) for k, table in enumerate(tables)]
    names = [spec.name for spec in made]
    if len(set(names)) < len(names):
        raise Wrong(f"Two kernels are called {next(n for n in names if names.count(n) > 1)!r}: give them other names.")
    return made, list(dict.fromkeys(column for spec in made for column in spec.columns))


def _specification(table, k, frame, scaled):
    if not isinstance(table, dict) or "kernel" not in table:
        raise Wrong(f'[[kernel]] number {k + 1} has no key kernel: add kernel = "RBF", for example.')
    cls, name = kernel_class(table["kernel"]), str(table.get("name", f"{table['kernel']} {k + 1}"))
    params = {key: value for key, value in table.items() if key not in RESERVED_KEYS}
    for key in params:
        _known(key, (*parameters(cls), *RESERVED_KEYS), f"Kernel {name!r}: the key")
    kind, own = table["kernel"], {"columns": None, "missing": "error", "scale": False, "prior": 1.0} | table
    columns, missing, scale, prior = (own[key] for key in CURES)
    sound = (
        isinstance(columns, list) and columns and all(isinstance(c, str) for c in columns),
        missing in ("error", "zero"),
        scale in (True, False) and not (scale and kind in (*UNSCALED, *STRINGS)),
        isinstance(prior, int | float) and not isinstance(prior, bool) and 0 < prior < float("inf"),
    )
    for (key, cure), good in zip(CURES.items(), sound, strict=True):
        if not good:
            raise Wrong(f"Kernel {name!r} has {key} = {own[key]!r}: give {cure}.")
    before = None
    if kind == "Precomputed":
        columns = _matrix_columns(name, columns, frame)
    else:
        columns, known = [column for given in columns for column in _matching(frame, given)], set(frame.columns)
        for column in columns:
            if column not in known:
                pick(frame, column, f"Kernel {name!r}: column")
    if kind == "Categorical":
        missing = "zero"
    elif kind == "Gower":
        params, missing = {"categories": _categories(frame, name, columns, params.get("categories", []))}, "error"
    elif kind in ("Tfidf", *STRINGS):
        if len(columns) > 1:
            raise Wrong(f"Kernel {name!r} has {len(columns)} columns: a kernel on texts or sequences takes one.")
        _check_gaps(frame[columns[0]], name, missing)
    elif kind != "Precomputed":
        seen = scale, missing, *columns
        if seen not in scaled:
            scaled[seen] = _scaler(frame[columns], name, missing, scale)
        before, missing = scaled[seen], "zero" if scale else missing  # new examples may have missing values
    return mk.kernels.KernelSpec(name, cls(**params), columns, missing, None, before, float(prior))


def _scaler(plain, name, missing, scale):
    """What comes before a kernel on numbers, None if they are not scaled; an error for other columns than numbers."""
    sound, others = numeric_names(plain) - set(plain.columns[plain.isna().any()]), {}
    if scale:
        facts = describe(entries(plain[[column for column in plain if not is_number(plain[column])]]))
        others = {column.name: column.kind for column in facts if column.kind in ("categories", "dates")}
    for column in plain:
        if column not in sound and column not in others:
            _check_column(plain[column], name, missing)
    if not scale:
        return None
    width = plain.shape[1]
    return TableScaler([(others.get(column, "numbers"), 1) for column in plain] if others else [("columns", width)])


def _categories(frame, name, columns, given):
    """The positions of the columns that a Gower kernel compares by equality: those `given`, and those of texts."""
    if not isinstance(given, list) or not set(given) <= set(columns):
        raise Wrong(
            f"Kernel {name!r} has categories = {given!r}: give names of its columns, categories = [{columns[0]!r}]."
        )
    return [k for k, column in enumerate(columns) if column in given or not is_number(frame[column])]


def _matching(frame, column):
    """The columns of a name; STEM.* means all columns that begin with "STEM."."""
    if not column.endswith(".*") or column in frame.columns:
        return [column]
    found = [name for name in frame.columns if name.startswith(column[:-1])]
    return found or [column]


def _matrix_columns(name, columns, frame):
    """The columns of a kernel matrix of a folder, given as ["STEM.*"]."""
    known = list(frame.attrs.get("matrices", ()))
    stem = columns[0].removesuffix(".*")
    if len(columns) > 1 or stem not in known:
        there = f'columns = ["{known[0]}.*"]' if known else "a folder with a square matrix, ids in rows and columns"
        raise Wrong(f"Kernel {name!r} is Precomputed, but {columns[0]!r} is not a kernel matrix: give {there}.")
    return columns_of_matrix(frame, stem)


def _check_column(column, name, missing):
    if not is_number(column):
        text = next((v for v in column.dropna() if not (isinstance(v, str) and is_number_text(v))), None)
        raise Wrong(
            f"Kernel {name!r}: column {column.name!r} has {text!r}, which is not a number: correct it, or give the "
            'column kernel = "Categorical".'
        )
    _check_gaps(column, name, missing)


def _check_gaps(column, name, missing):
    lost = int(column.isna().sum())
    if lost and missing == "error":
        raise Wrong(
            f'Kernel {name!r}: column {column.name!r} is empty in {lost} rows: fill it in, or add missing = "zero", '
            "which gives these rows similarity 0 with all others."
        )


def _known(name, names, what):
    if name not in names:
        near = get_close_matches(str(name), names, 1, 0.5)
        cure = f"did you mean {near[0]!r}?" if near else f"give one of {', '.join(names)}."
        raise Wrong(f"{what} {name!r} is unknown: {cure}")


def write_config(settings: dict[str, Any], tables: list[dict[str, Any]], source: str) -> str:
    """The text of a commented TOML file."""
    lines = [
        f"# Kernels for {json.dumps(source, ensure_ascii=False)}: manykernels fit DATA --config THIS_FILE -o model.mk",
        "# Each [[kernel]] compares examples by its columns; the fit learns the weight of each kernel.",
        f"# kernel: {', '.join(KERNELS)},",
        f"# for sequences {', '.join(STRINGS)}; `manykernels kernels` lists their parameters.",
        '# missing = "zero": an example without these columns has similarity 0 with all others; "error" refuses it.',
        "# scale = true: columns are standardised first, so that columns in large units do not hide the others;",
        "# categories and dates count as one column each.",
        "# prior = 0.2: the kernel needs five times as much reason for the same weight.",
        "",
    ]
    lines += [f"{key} = {_toml(value)}" for key, value in settings.items() if value is not None]
    lines.append('C = "auto"  # or a number; larger: closer to the training examples')
    lines.append("p = 2.0  # 1: few kernels; larger: more even ones")
    for table in tables:
        lines += ["", "[[kernel]]", *(f"{key} = {_toml(value)}" for key, value in table.items())]
    return "\n".join(lines) + "\n"


def _toml(value):
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
