"""The Python code that repeats a report: imports, the model, its fit and the page."""

import ast
import re
from typing import Any

import numpy as np

from .. import __all__ as own
from .. import kernels, losses, pairs, regularizers, solvers, streaming, strings, weighting
from ._case import ReportOptions

MAX_CODE_LETTERS = 20_000  # of a model
MODULES = (kernels, regularizers, losses, strings, pairs, weighting, solvers, streaming)  # searched in this order
_LONG_WORD = re.compile(r"\S{400}")  # too long to type
_NAMES = re.compile(r"(?<![\w.'\"])([A-Za-z_]\w*)(?=\()|\b(inf|nan)\b")


def code_of(model: Any) -> str:
    """The call that makes a model, as a user would type it."""
    defaults = type(model)().get_params(deep=False)
    given = {k: v for k, v in model.get_params(deep=False).items() if repr(v) != repr(defaults[k])}
    kernels = given.pop("kernels", None)
    given.pop("verbose", None)
    lines = [f"    {name}={typed(value)}," for name, value in given.items()]
    if isinstance(kernels, list):
        lines.insert(0, "    [\n" + "".join(f"        {typed(spec)},\n" for spec in kernels) + "    ],")
    elif kernels is not None:
        lines.insert(0, f"    {typed(kernels)},")
    name = type(model).__name__
    return f"{name}(\n" + "\n".join(lines) + "\n)" if lines else f"{name}()"


def typed(value: Any) -> str:
    """A value as code on one line: arrays in full, numpy scalars as Python numbers."""
    if isinstance(value, np.generic):
        return typed(value.item())
    if isinstance(value, list | tuple) and type(value) in (list, tuple):
        inner = ", ".join(map(typed, value))
        return f"[{inner}]" if isinstance(value, list) else f"({inner}{',' * (len(value) == 1)})"
    if isinstance(value, dict) and type(value) is dict:
        return "{" + ", ".join(f"{typed(k)}: {typed(v)}" for k, v in value.items()) + "}"
    with np.printoptions(threshold=2**31, linewidth=2**31):
        return " ".join(repr(value).split("\n")) if "\n" in repr(value) else repr(value)


def imports_of(code: str, *values: Any) -> list[str]:
    """The import lines for the names that the code calls; `values` are the objects that the code describes."""
    known = {type(part).__name__: type(part) for value in values for part in _walk(value, set())}
    wanted: dict[str, list[str]] = {}
    for name in dict.fromkeys(a or b for a, b in _NAMES.findall(code)):
        module = "numpy" if name in ("array", "inf", "nan") else _home(known.get(name), name)
        if module:
            wanted.setdefault(module, []).append(name)
    ours_first = sorted(wanted.items(), key=lambda item: (not item[0].startswith("manykernels"), item[0]))
    return [f"from {module} import {', '.join(names)}" for module, names in ours_first]


def model_lines(model: Any) -> list[str]:
    """Imports and the model; a model whose code cannot be typed is loaded from a file."""
    code = code_of(model)
    lines = [*imports_of(code, model), "", f"model = {code}"]
    if len(code) <= MAX_CODE_LETTERS and not _LONG_WORD.search(code) and _runs("\n".join(lines)):
        return lines
    return [
        "from manykernels import load",
        "",
        "# the model is too long to type, or has parts that cannot be imported: first call model.save('model.mk')",
        "model = load('model.mk')",
    ]


def _runs(code):
    """Whether the code parses and imports all names that it uses."""
    try:
        tree = ast.parse(code)
    except SyntaxError:  # <function f at 0x7f...>
        return False
    found = [node for node in ast.walk(tree) if isinstance(node, ast.ImportFrom)]
    known = {alias.name for node in found for alias in node.names} | {"model"}
    names = {node.id for node in ast.walk(tree) if isinstance(node, ast.Name)}
    return names <= known and all(node.module != "__main__" for node in found)


def report_lines(model: Any, y: Any, asked: ReportOptions) -> list[str]:
    """All lines; an option that cannot be typed appears as a variable of its name."""
    data = ["X"] if y is None else ["X", "y"]
    options, own, given = [], [], asked.changed()
    for name, value in given.items():
        typeable = isinstance(value, str | int | float | list | tuple | dict | None)
        typeable = typeable or hasattr(value, "get_n_splits") and "<" not in repr(value)  # scikit-learn's splitter
        typeable = typeable and not _LONG_WORD.search(typed(value))
        typeable = typeable and name not in ("groups", "covariates")
        options.append(f"{name}={typed(value) if typeable else name}")
        own += [] if typeable else [name]
    call = f"model.report({', '.join(['X', 'y' if y is not None else 'None', repr('report.html'), *options])})"
    found = model_lines(model)
    more = [line for line in imports_of(call, *(v for k, v in given.items() if k != "covariates")) if line not in found]
    data += ["covariates=covariates"] if "covariates" in given else []
    what = f"# {', '.join([*data[:2], *own])}: the data{' and options' if own else ''} of this page"
    return [*more, *found, what, f"model.fit({', '.join(data)})", call]


def _walk(value, seen):
    """A value and all its parts."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | np.ndarray | None):
        return
    seen.add(id(value))
    yield value
    inner = value if isinstance(value, dict) else getattr(value, "__dict__", {})  # any object
    for part in value if isinstance(value, list | tuple | set) else inner.values():
        yield from _walk(part, seen)


def _home(cls, name):
    """The public module of a class or function, or None."""
    if name in own:
        return "manykernels"
    for module in MODULES:
        if name in module.__all__:
            return module.__name__
    return None if cls is None or cls.__module__ == "builtins" else cls.__module__.partition("._")[0]
