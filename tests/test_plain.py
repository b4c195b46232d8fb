"""What made the code hard to read once and does not come back: private reach, names used twice, wide signatures."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

import pytest

import manykernels

ROOT = Path(manykernels.__file__).parent
README = ROOT.parents[1] / "README.md"
MAX_PARAMETERS = 10
WIDE = {
    ("banks._device_loops", "multiply"),  # loops on the device, whose language has no tuples of arrays
    ("banks._device_loops", "mix"),
    ("inspect.held_out", "relevance"),  # public, all but three by keyword
}


@cache
def trees():
    paths = sorted(ROOT.rglob("*.py"))
    names = [".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__") for path in paths]
    return {name: ast.parse(path.read_text()) for name, path in zip(names, paths, strict=True)}


def nodes(kind):
    return ((name, node) for name, tree in trees().items() for node in ast.walk(tree) if isinstance(node, kind))


def room(name):
    return name.split(".")[0]


def is_private(name):
    return name.startswith("_") and not name.startswith("__")


def origin(name, node):
    """The module that `from … import` of the module `name` takes from, as a name in the package; None for others."""
    if not node.level:
        package, _, rest = (node.module or "").partition(".")
        return rest if package == "manykernels" else None
    parts = name.split(".") if name in packages() else name.split(".")[:-1]
    return ".".join([*parts[: len(parts) - node.level + 1], *(node.module or "").split(".")]).strip(".")


@cache
def packages():
    return {".".join(path.parent.relative_to(ROOT).parts) for path in ROOT.rglob("__init__.py")}


def test_no_module_or_name_that_is_private_to_a_room_is_imported_by_another():
    found = []
    for name, node in nodes(ast.ImportFrom):
        source = origin(name, node)
        if not source or room(source) == room(name):  # modules beside the rooms, such as `_state`, serve all of them
            continue
        parts = [*source.split(".")[1:], *(alias.name for alias in node.names)]
        found += [(name, source, part) for part in parts if is_private(part)]
    assert not found


def test_no_attribute_that_is_private_to_a_room_is_read_by_another():
    """A private attribute is read only in a room that defines the name; named tuples, os and sys have theirs."""
    defined = {}
    for name, node in nodes(ast.FunctionDef | ast.ClassDef | ast.Attribute | ast.Name):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            defined.setdefault(room(name), set()).add(node.name)
        elif isinstance(node.ctx, ast.Store):
            defined.setdefault(room(name), set()).add(node.attr if isinstance(node, ast.Attribute) else node.id)
    foreign = {"_replace", "_asdict", "_fields", "_exit", "_getframe"}
    scikit_learn = {"_validate_params", "_compute_n_features_outs", "_validate_names"}
    found = [
        (name, node.lineno, ast.unparse(node))
        for name, node in nodes(ast.Attribute)
        if is_private(node.attr)
        and node.attr not in foreign | scikit_learn
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
        and node.attr not in defined.get(room(name), ())
    ]
    assert not found


def test_no_two_classes_have_one_name():
    count = Counter(node.name for _, node in nodes(ast.ClassDef))
    assert not [name for name, times in count.items() if times > 1]


def test_signatures_have_at_most_ten_parameters():
    """Constructors apart, whose parameters are those of scikit-learn's estimators."""
    wide = set()
    for name, node in nodes(ast.FunctionDef):
        arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
        if len(arguments) > MAX_PARAMETERS and node.name != "__init__":
            wide.add((name, node.name))
    assert wide <= WIDE


def test_the_readme_is_read_in_five_minutes():
    if not README.exists():
        pytest.skip("the package is installed without its README")
    assert len(README.read_text().split()) <= 1200


def test_whoever_asks_an_object_what_it_has_says_whose_object_it_is():
    """hasattr, and getattr with a default: our own objects are known by type, so a comment names the foreign owner."""
    silent = []
    for path in sorted(ROOT.rglob("*.py")):
        lines = path.read_text().splitlines()
        for number, line in enumerate(lines):
            if re.search(r"\bhasattr\(|\bgetattr\([^()]*,[^()]*,", line):
                if "#" not in line and not lines[number - 1].lstrip().startswith("#"):
                    silent.append(f"{path.relative_to(ROOT)}:{number + 1}: {line.strip()}")
    assert not silent, "\n".join(silent)
