"""When the margin of each finding was last changed, from git: papers/margins.json, from which a page is written.

A margin is the text of that name and the condition that the verdict comes from, as they stand in the call of `Finding`.
What the condition is computed from is not among it.
"""

import ast
import hashlib
import json
import tomllib
from pathlib import Path

from ._code import ROOT, git
from ._page import Finding, page

KEPT = Path(__file__).parent / "margins.json"
NEW = "not committed yet"
WITH = "first shown in the same commit"
RENAMED = tomllib.loads((KEPT.parent / "claims.toml").read_text(encoding="utf-8"))["renamed"]  # {now: once}


def read(text):
    """{what a finding says: (fingerprint, margin, condition)} of the calls of Finding in a module."""
    found = {}
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Finding" and len(node.args) == 5:
            says, condition, margin = node.args[0], node.args[3], node.args[4]
            if isinstance(says, ast.Constant | ast.JoinedStr):
                found[_text(says)] = _print(condition, margin), _text(margin), ast.unparse(condition)
    return found


def present():
    """{(module, what a finding says): (fingerprint, margin, condition)} of the code as it is."""
    files = sorted(p for p in Path(__file__).parent.glob("*/*.py"))
    return {(str(p.relative_to(ROOT)), says): item for p in files for says, item in read(p.read_text()).items()}


def history():
    """{(module, says): [(commit, date, fingerprint, margin, condition), …]}, a step for every change, oldest first."""
    found, since = {}, {}
    for name, old in RENAMED.items():
        since.setdefault((_path(name), old), []).append(name.partition(": ")[2])
    commits = (git("rev-list", "--reverse", "--topo-order", "HEAD", "--", "papers") or "").split()
    for commit in commits:
        for path in (git("diff-tree", "--no-commit-id", "--name-only", "-r", commit, "--", "papers") or "").split():
            text = git("show", f"{commit}:{path}") if path.endswith(".py") and path.count("/") == 2 else None
            try:
                items = read(text or "")
            except SyntaxError:
                continue
            for says, item in items.items():
                for name in (says, *since.get((path, says), ())):
                    steps = found.setdefault((path, name), [])
                    if not steps or steps[-1][2] != item[0]:
                        steps.append(git("show", "-s", "--format=%h %cs", commit).split() + list(item))
    return found


def _path(name):
    return f"papers/{name.partition(':')[0].replace('.', '/')}.py"


def _name(path, says):
    return f"{path.removeprefix('papers/').removesuffix('.py').replace('/', '.')}: {says}"


def record(out):
    """Writes papers/margins.json: of each finding the fingerprint, the margin, its last change and those before."""
    now, past, kept = present(), history(), {}
    for (path, says), (mark, margin, _) in now.items():
        steps = past.get((path, says), [])
        since = steps[-1][:2] if steps and steps[-1][2] == mark else [NEW, ""]
        name = _name(path, says)
        changes: list[list[str]] = []
        kept[name] = {"fingerprint": mark, "margin": margin, "commit": " ".join(since).strip(), "changes": changes}
        if since[0] == NEW and steps:
            steps = [*steps, (*since, *now[path, says])]
        for k in range(1, len(steps)):
            before, after = steps[k - 1], steps[k]
            own, other = (before[3], after[3]) if before[3] != after[3] else (f"`{before[4]}`", f"`{after[4]}`")
            last = steps[k + 1][0] + "^" if k + 1 < len(steps) and steps[k + 1][0] != NEW else None
            seen = _verdict(path, says, f"{after[0]}^" if after[0] != NEW else "HEAD")
            if seen == "–" and after[0] != NEW and _verdict(path, says, after[0]) != "–":
                seen = WITH
            changes.append([" ".join(after[:2]).strip(), own, other, seen, _verdict(path, says, last, out)])
    KEPT.write_text(json.dumps(kept, indent=1, ensure_ascii=False) + "\n")


def write(out):
    """OUT/margins.md, from papers/margins.json."""
    kept = json.loads(KEPT.read_text())
    rows = [[name, item["margin"], item["commit"]] for name, item in kept.items()]
    changed = [[name, *change] for name, item in kept.items() for change in item["changes"]]
    seen = [row for row in changed if row[4] != "–"]
    unseen = [row[:4] for row in changed if row[4] == "–"]
    columns = ["finding", "changed in", "before", "after", "verdict before", "verdict after"]
    facts = {"columns": columns, "rows": rows, "seen": seen, "unseen": unseen}
    before = [row[4] for row in seen]
    first, same = before.count(WITH), sum(row[4] == row[5] for row in seen)
    page(out, "margins", "margins", moved=len(seen) - first - same, first=first, **facts)


def _verdict(path, says, commit, out=None):
    """The verdict on the pages at a commit, or those that are in OUT; – where there was none."""
    paper, found = path.split("/")[1], []
    names = {says, RENAMED.get(_name(path, says), says)}
    if commit:
        listed = (git("ls-tree", "--name-only", commit, "docs/papers/results/") or "").split()
        texts = [git("show", f"{commit}:{name}") for name in listed if name.split("/")[-1].startswith(paper)]
    else:
        texts = [p.read_text() for p in sorted((Path(out) / "results").glob(f"{paper}.*.json"))] if out else []
    for text in texts:
        record = json.loads(text or "{}")
        for item in (*record.get("findings", ()), *record.get("checks", ())):
            if item["says"] in names:
                verdict = item.get("verdict", item.get("agrees"))
                found.append(Finding("", "", "", verdict, "").verdict if item["judged"] else "not judged")
    return ", ".join(found) or "–"


def _print(*nodes):
    """A fingerprint of expressions that no line break and no version of Python changes."""
    parts = [
        (type(part).__name__, getattr(part, "id", None) or getattr(part, "attr", None) or getattr(part, "value", None))
        for node in nodes
        for part in ast.walk(node)
        if isinstance(
            part, ast.Name | ast.Attribute | ast.Constant | ast.operator | ast.cmpop | ast.boolop | ast.unaryop
        )
    ]
    text = repr([(kind, value if isinstance(value, str | int | float) else None) for kind, value in parts])
    return hashlib.sha1(text.encode()).hexdigest()[:12]


def _text(margin):
    if isinstance(margin, ast.Constant):
        return str(margin.value)
    parts = margin.values if isinstance(margin, ast.JoinedStr) else [margin]
    return "".join(
        str(part.value) if isinstance(part, ast.Constant) else f"`{ast.unparse(getattr(part, 'value', part))}`"
        for part in parts
    )
