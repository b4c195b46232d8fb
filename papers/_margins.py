"""When the margin of each finding was last changed, from git: papers/margins.json, from which a page is written.

A margin is the text of that name and the condition that the verdict comes from, as they stand in the call of `Finding`.
What the condition is computed from is not among it.
"""

import ast
import hashlib
import json
from pathlib import Path

from ._code import ROOT, git
from ._page import Finding, table

KEPT = Path(__file__).parent / "margins.json"
NEW = "not committed yet"
WITH = "first shown in the same commit"
# findings under other words than once: their history goes on
RENAMED = {
    "kloft2011.bounds: Example 1, a dense truth: p > 1 has the better bound, by a factor of log M under the root": (
        "Example 1, a dense truth: p > 1 has the better bound by √log M"
    ),
    "kloft2011.figure3: ℓ∞ is best and ℓ1 worst, by up to 1 point, in the two least sparse scenarios, n = 800": (
        "ℓ∞ is ahead of ℓ1 by up to 1 point in the two least sparse scenarios, n = 800"
    ),
    "kloft2011.figure3: all norms do well in the sparse scenarios, n = 800": (
        "all norms do well in the sparse scenario, n = 800"
    ),
    "kloft2011.bounds: Example 2, a sparse truth: ℓ1 has the smaller bound": (
        "Example 2, a sparse truth: ℓ1 has the considerably smaller bound with many kernels"
    ),
    "kloft2011.bounds: Example 2: and the more so, the more kernels": (
        "Example 2, a sparse truth: ℓ1 has the considerably smaller bound with many kernels"
    ),
    "kloft2011.figure4: non-sparse norms are ahead of ℓ∞ for few examples": "ℓ2 is ahead of ℓ∞ for few examples",
    "kloft2011.figure4: the energies are only slightly aligned with the others although they tell much": (
        "the energies align least with the others although they tell much"
    ),
    "kloft2011.figure4: ℓ1 focuses on the best kernel": "ℓ1 concentrates on the best kernels, ℓ2 gives weight to all",
    "kloft2011.figure4: ℓ2 distributes the weights over all kernels": (
        "ℓ1 concentrates on the best kernels, ℓ2 gives weight to all"
    ),
    "kloft2011.figure7: the SVM on the sum is the fastest": (
        "the SVM on the sum is the fastest of those with matrices"
    ),
    "kloft2011.figure7: non-sparse MKL scales like the SILP, by the analytic way and by SIPs": (
        "non-sparse chunking scales like that of ℓ1"
    ),
    "kloft2011.figure7: interleaved optimization copes with 20,000 examples and with 10,000 kernels": (
        "20,000 examples with 50 kernels, and 10,000 kernels, are within reach"
    ),
    "kloft2011.table1: with proper choice of a non-sparse norm the accuracy of ℓ1 is recovered": (
        "norms slightly above 1 are as good as 1"
    ),
    "sonnenburg2006.figure2: the smallest width has the greatest weight while the problem is hard": (
        "while the problem is hard, the kernel of the smallest width is used"
    ),
    "sonnenburg2006.figure5: there is a peak at 6 letters": "there is a peak at about 6 letters",
    "sonnenburg2006.figure6: the weights decay from +15 to +45": "which decay towards the end",
    "sonnenburg2006.figure5: words of 9 and 10 letters, unlikely to matter most, have a second peak": (
        "words of 9 and 10 letters, which cannot matter most, have a second peak"
    ),
    "tomioka2010.figure1: uniform, elastic net and ℓ2 are ahead especially below 20 examples a class": (
        "uniform, elastic net and ℓ2 are ahead of block 1-norm and empirical Bayes below 20 examples a class"
    ),
    "tomioka2010.mfeat: uniform, elastic net and ℓ2 are ahead of block 1-norm": (
        "uniform, elastic net and ℓ2 are ahead of block 1-norm and empirical Bayes"
    ),
    "tomioka2010.mfeat: uniform, elastic net and ℓ2 are ahead of empirical Bayes": (
        "uniform, elastic net and ℓ2 are ahead of block 1-norm and empirical Bayes"
    ),
    "xu2010.figure1: smooth MKL is significantly ahead of ℓ1 at high shares": (
        "smooth MKL is ahead of ℓ1 where kernels are complementary"
    ),
    "xu2010.figure1: and of ℓ2": "smooth MKL is ahead of ℓ2 too",
    "xu2010.rate: the bound of Theorem 4, with the L of the print, holds at every step": "and with the L of the print",
    "xu2010.rate: and with an L that is a Lipschitz constant": "the bound of Theorem 4 holds at every step",
    "yang2011.convergence: steps as O(N log 1/δ) are observed": "and far fewer are needed: O(N log 1/δ) is observed",
    "yang2011.table5: GMKL is the most accurate on breast, heart, pima, wdbc and wpbc": (
        "GMKL is the most accurate on most sets"
    ),
    "yang2011.table5: ℓ2 is significantly the most accurate on liver and sonar": (
        "ℓ2 is ahead of GMKL on liver and sonar"
    ),
    "yang2011.table5: GMKL by the level method takes much less time than ℓ1 by SimpleMKL": (
        "GMKL by the level method is quicker than ℓ1 by SimpleMKL"
    ),
    "yang2011.table6: and fewer than all of them": "and fewer than all",
}
INTRO = (
    "From papers/margins.json, which `python -m papers all --margins` writes from the history of the code. A margin is "
    "its text and the condition that the verdict comes from; what the condition is computed from is not among it."
)


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
    unseen = [row for row in changed if row[4] == "–"]
    columns = ["finding", "changed in", "before", "after", "verdict before", "verdict after"]
    moved = sum(row[4] not in (row[5], WITH) for row in seen)
    first = sum(row[4] == WITH for row in seen)
    lines = ["# Margins", "", INTRO, "", "## Changed after a result was seen", ""]
    lines += [
        f"{len(seen) - first} changes came after a page had shown a verdict, {moved} of them with another verdict; "
        f"{first} came in the commit that first showed one.",
        "",
        "The verdict before is that of the pages before the change, the verdict after that of the pages before the "
        "next "
        "one, or of now. With the change more was often run, so that not every other verdict is its doing.",
        "",
        *table(columns, seen),
        "",
    ]
    lines += ["## Changed before a page showed a verdict", "",
              "Results may have been seen all the same: small runs were.", "",
              *table(columns[:4], [row[:4] for row in unseen]), ""]  # fmt: skip
    lines += ["## All margins", "", *table(["finding", "margin", "last changed in"], rows), ""]
    (Path(out) / "margins.md").write_text("\n".join(lines).rstrip() + "\n")


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
