"""The rooms of the house: no import points upwards and there is no circle; imports inside functions count."""

import ast
from functools import cache
from pathlib import Path

import pytest

import manykernels

ROOT = Path(manykernels.__file__).parent
FLOORS = (  # from the ground up; rooms of one floor do not know each other
    {"_callers", "_limits", "_validation", "_state", "_threads", "_pictures", "loops"},
    {"_packed", "_parts", "_simplex", "_central_path"},
    {"_archive"},
    {"losses", "solution"},
    {"problem"},
    {"sequences"},
    {"kernels"},
    {"inner"},
    {"banks"},
    {"strings"},
    {"datasets", "pairs"},
    {"solvers"},
    {"regularizers"},
    {"weighting"},
    {"streaming"},
    {"estimators"},
    {"inspect"},
    {"genome", "omics"},
    {"report"},
    {"cli"},
    {"__main__"},
)

ELSEWHERE = {"banks.degree_walks": "strings", "banks.words": "strings"}  # files that belong to another room

LATE = {  # imports inside functions that keep NumPy and scikit-learn from being loaded: a page of help needs neither
    ("__main__", "cli"),
    ("cli._talk", "_archive"),
    ("cli._talk", "_validation"),
    ("cli.demo", "banks"),
    ("cli.demo", "estimators.progress"),
    ("cli.gkm", "cli._columns"),
    ("cli.gkm", "cli._data"),
    ("cli.gkm", "cli._sources"),
    ("cli.gkm", "estimators.lsgkm"),
    ("cli.gkm", "genome.split"),
    ("cli.gkm", "strings.word_table"),
    ("cli.learn", "cli._config"),
    ("cli.learn", "cli._models"),
    ("cli.report", "cli._models"),
    ("cli.report", "estimators.advice"),
    ("cli.report", "report.describe"),
    ("cli.use", "cli._columns"),
    ("cli.use", "cli._config"),
    ("cli.use", "cli._data"),
    ("cli.use", "cli._models"),
    ("cli.use", "estimators.advice"),
    ("regularizers", "regularizers.papers"),
}


def modules():
    return {".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
            for path in ROOT.rglob("*.py") if path != ROOT / "__init__.py"}  # fmt: skip


def imports(name, path, known, inside=ast.Module):
    """The modules of the package that a module imports, in functions too; imports for types alone do not count."""
    package = name.split(".") if path.name == "__init__.py" else name.split(".")[:-1]
    tree = ast.parse(path.read_text())
    blocks = [node for node in ast.walk(tree) if isinstance(node, ast.If) and "TYPE_CHECKING" in ast.dump(node.test)]
    typed = {id(node) for block in blocks for node in ast.walk(block)}
    nodes = {node for outer in ast.walk(tree) if isinstance(outer, inside) for node in ast.walk(outer)}
    for node in nodes:
        if id(node) in typed:
            continue
        if isinstance(node, ast.Import):
            found = [alias.name.removeprefix("manykernels.") for alias in node.names if "manykernels." in alias.name]
        elif isinstance(node, ast.ImportFrom):
            if node.level == 0 and not (node.module or "").startswith("manykernels"):
                continue
            base = package[: len(package) - node.level + 1] if node.level else []
            base = [*base, *(node.module or "").removeprefix("manykernels").lstrip(".").split(".")]
            stem = ".".join(part for part in base if part)
            found = [f"{stem}.{alias.name}".lstrip(".") for alias in node.names]
            found = [other if other in known else stem for other in found]
        else:
            continue
        yield from (other for other in found if other in known and other != name)


@cache
def arrows():
    known = modules()
    return {name: sorted(set(imports(name, path, known))) for name, path in known.items()}


def room(name):
    return next((other for start, other in ELSEWHERE.items() if name.startswith(start)), name.split(".")[0])


def floor(name):
    return next(level for level, rooms in enumerate(FLOORS) if room(name) in rooms)


def test_every_room_has_a_floor():
    assert {name.split(".")[0] for name in modules()} == set().union(*FLOORS)


def test_no_import_points_upwards():
    up = [
        (name, other) for name, others in arrows().items() for other in others
        if room(name) != room(other) and floor(other) >= floor(name)
    ]  # fmt: skip
    assert not up


def test_there_is_no_circle():
    done, way = set(), []

    def visit(name):
        if name in way:
            pytest.fail(" → ".join([*way[way.index(name) :], name]))
        if name not in done:
            way.append(name)
            for other in arrows()[name]:
                visit(other)
            way.pop()
            done.add(name)

    for name in arrows():
        visit(name)


def test_own_imports_stand_at_the_top_unless_they_bring_numba_or_pytorch():
    known = modules()
    late = {(name, other) for name, path in known.items() for other in imports(name, path, known, ast.FunctionDef)}
    heavy = {"banks.device", "banks._device_parts", "banks._device_features"}
    assert {arrow for arrow in late if arrow[1] not in heavy and not arrow[1].startswith("loops")} == LATE


def test_no_module_of_the_package_is_loaded_by_its_name_as_text():
    users = {name for name, path in modules().items() if "import_module" in path.read_text()}
    assert users == {"kernels.transformers"}  # which loads modules of scikit-learn


def test_no_tuple_is_indexed_by_a_comparison():
    """Of NumPy's numbers it is no index: TypeError, and only there. int(...) makes it one, unpacking needs none."""
    truth = (ast.Compare, ast.BoolOp)
    for path in modules().values():
        for function in ast.walk(ast.parse(path.read_text())):
            if not isinstance(function, ast.FunctionDef):
                continue
            nodes = list(ast.walk(function))
            held = [node for node in nodes if isinstance(node, ast.Assign) and isinstance(node.value, truth)]
            names = {target.id for node in held for target in node.targets if isinstance(target, ast.Name)}
            for node in nodes:
                if isinstance(node, ast.Subscript):
                    of, at = node.value, node.slice
                    constant = isinstance(of, ast.Tuple) or isinstance(of, ast.Name) and of.id.isupper() and of.id[2:]
                    bare = isinstance(at, truth) or isinstance(at, ast.UnaryOp) and isinstance(at.op, ast.Not)
                    bare |= isinstance(at, ast.Name) and at.id in names
                    assert not (constant and bare), f"{path}:{node.lineno}: {ast.unparse(node)}"
