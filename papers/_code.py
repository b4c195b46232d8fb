"""Which code a cell was run with: the commit, and a fingerprint of what it runs of the papers' own code."""

import ast
import hashlib
import importlib
import inspect
import os
import subprocess
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]


def git(*words):
    """What git says, without the end of its last line; None where there is no git or no such commit."""
    try:
        done = subprocess.run(["git", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return done.stdout.rstrip("\n")


@cache
def commit():
    """The commit of the code, with a + where it was changed since; MANYKERNELS_COMMIT says it where there is no git."""
    if given := os.environ.get("MANYKERNELS_COMMIT"):
        return given
    if (found := git("rev-parse", "--short=8", "HEAD")) is None:
        return "unknown"
    return found + ("+" if git("status", "--porcelain", "--untracked-files=no", "--", "src", "papers") else "")


@cache
def fingerprint(function):
    """Of the text of a function and of all functions and constants of the papers that it leads to.

    Findings, tables and margins are not among them: a cell stays fresh when these change.
    """
    found = sorted(_reach(function.__module__, function.__name__).items())
    return hashlib.sha1(repr(found).encode()).hexdigest()[:12]


def _reach(module, name):
    """{(module, name): text} of a function and of all that it leads to in the papers."""
    seen, todo = {}, [(module, name)]
    while todo:
        module, name = todo.pop()
        if (module, name) in seen or name not in (known := _top(module)):
            continue
        seen[module, name], node = known[name]
        imported = _imported(module)
        for part in ast.walk(node):
            if isinstance(part, ast.Attribute) and isinstance(part.value, ast.Name) and part.value.id in imported:
                todo.append((imported[part.value.id], part.attr))
            elif isinstance(part, ast.Name):
                todo.append((module, part.id))
                if part.id in imported:
                    todo.append((imported[part.id].rpartition(".")[0], part.id))
    return seen


def stale(record, function=None):
    """Why a cell that was kept is stale, or "": no such function, code that was not committed, or other code by now."""
    module, _, name = record["function"].rpartition(".")
    try:
        function = function or getattr(importlib.import_module(f"papers.{module}"), name)
    except (ImportError, AttributeError):
        return "no such function"
    if record["commit"].endswith("+"):
        return f"code that was not committed, after {record['commit'].rstrip('+')}"
    return "" if record["code"] == fingerprint(function) else f"code changed since {record['commit']}"


@cache
def library(before):
    """How many commits changed the library since one; None where git does not know it."""
    found = git("rev-list", "--count", f"{before.rstrip('+')}..HEAD", "--", "src")
    return None if found is None else int(found)


@cache
def _tree(module):
    text = inspect.getsource(importlib.import_module(module))
    return text.splitlines(), ast.parse(text)


@cache
def _top(module):
    """{name: (text, node)} of the functions, classes and constants of a module of the papers."""
    if not module.startswith("papers."):
        return {}
    found, (lines, tree) = {}, _tree(module)
    for node in tree.body:
        names = [node.name] if isinstance(node, ast.FunctionDef | ast.ClassDef) else []
        if isinstance(node, ast.Assign):
            names = [part.id for target in node.targets for part in ast.walk(target) if isinstance(part, ast.Name)]
        text = "\n".join(lines[node.lineno - 1 : node.end_lineno])
        found |= {name: (text, node) for name in names}
    return found


@cache
def _imported(module):
    """{name: module of the papers} of what a module imports at its top: modules, and names of modules."""
    found, package = {}, module.rpartition(".")[0]
    for node in _tree(module)[1].body:
        if isinstance(node, ast.ImportFrom) and node.level:
            base = ".".join(package.split(".")[: len(package.split(".")) - node.level + 1])
            base = f"{base}.{node.module}" if node.module else base
            found |= {alias.asname or alias.name: f"{base}.{alias.name}" for alias in node.names}
    return found
