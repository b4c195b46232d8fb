"""Pages: what a paper says beside what came out, as Markdown and PNG."""

import json
import os
import platform
import subprocess
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import numpy as np

from ._code import stale
from ._verdict import word

drawn = True  # False where a run only asks which cells are missing
JUDGED = (
    "One rule for all: a difference counts if it exceeds two standard errors, taken pair by pair where the same draws "
    "stand behind both sides; one that does not is a tie. A finding on several sets agrees if every one of them "
    "does, or "
    "more than half where its margin says so. A finding on times is judged only if nothing else kept the processors "
    "busy; where something did, the table has what the times would say, and counts it as not judged. That a fit ends, "
    "or ends within a limit, is judged all the same: other work can only delay it. Times that are judged come from one "
    "machine of two cores, those of several threads from one of 16, one fit at a time; one that was taken once counts "
    "as it is, and its margin says so. "
    "[Margins](margins.md) lists when each was last changed, and the verdicts before and after."
)
BEHIND = (
    "Where ours was behind the print or, where that has no numbers, behind scikit-learn: seconds of the papers, which "
    "are of 2006 to 2011, of ours on a loaded machine of 16 cores on 16 November 2026, and of ours now, alone on a "
    "machine of two cores, of 16 where it says threads:"
)
CLAIMS = (
    "[Claims](claims.md) goes through the experiments of the five papers claim by claim: where each is judged, or "
    "why it "
    "is not."
)
PACKAGES = ("numpy", "scipy", "scikit-learn", "numba")


@dataclass
class Finding:
    """One thing that a paper says, and whether it came out.

    The verdict is "agree", "tie" or "disagree" by the rule of `_verdict`, or whether something is so. `expected` is
    "disagree" or "tie" for what was looked into and is known not to come out: then `reason` says why, and a run in
    which it comes out fails, as one does in which another finding does not. A finding that only --full can judge has
    `judged=False` at --quick, and is shown there, not asserted. One on times is `timed`: --full judges it only on a
    quiet machine. `open` says why a finding is not judged.
    """

    says: str
    theirs: str
    ours: str
    verdict: str
    margin: str
    reason: str = ""
    expected: str = "agree"
    judged: bool = True
    timed: bool = False
    open: str = ""

    def __post_init__(self):
        self.verdict, self.expected = word(self.verdict), word(self.expected)
        if self.expected != "agree" and not self.reason:
            raise ValueError(f"a finding that is expected to {self.expected} needs a reason: {self.says!r}")

    @property
    def holds(self):
        return not self.judged or self.verdict == self.expected


def weaker(section):
    """Leaves findings unjudged that a smaller run can only call a tie, or that are ties of the full one."""
    for item in section.all:
        item.judged = item.judged and "tie" not in (item.verdict, item.expected)


def loud(section):
    """Leaves findings on times unjudged, of a section that was timed on a loaded machine."""
    for item in section.all:
        unjudged(item, LOUD)


def unjudged(item, why):
    """Leaves a finding on times unjudged and says what it would be; returns it."""
    if item.timed and item.judged:
        item.judged, item.open = False, f"{why}, where it would {AS_TIMED[item.verdict]}"
    return item


LOUD = "timed on a loaded machine"
AS_TIMED = {"agree": "agree", "tie": "be a tie", "disagree": "disagree"}


@dataclass
class Table:
    """Rows of texts, numbers and None, under a title."""

    title: str
    columns: list[str]
    rows: list[list[Any]]
    note: str = ""


@dataclass
class Figure:
    """A matplotlib figure, saved as images/NAME.png."""

    name: str
    caption: str
    figure: Any = None


@dataclass
class Section:
    """What an experiment returns.

    `protocol` says how the paper did it, `deviations` where this run departs, `data` which data it was; `checks` are
    findings that are verified along the way and are no claims of the paper: they are not counted; `timed` if it
    reports times, so that the page says so when the machine was shared. `clocked` is the part of the scale that its
    findings on times rest on, by default the whole. `behind` has [what, theirs, ours before, ours now] where a time of
    ours was worse than the print.
    """

    title: str
    protocol: str
    data: str
    findings: list[Finding] = field(default_factory=list)
    checks: list[Finding] = field(default_factory=list)
    tables: list[Table] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    deviations: list[str] = field(default_factory=list)
    remarks: str = ""
    timed: bool = False
    clocked: Any = None
    behind: list[list[str]] = field(default_factory=list)

    @property
    def all(self):
        """Findings and checks."""
        return [*self.findings, *self.checks]


def mean(values, digits=3, factor=1.0):
    """The mean ± its standard error, as text."""
    values = np.asarray(values, dtype=float) * factor
    error = values.std(ddof=1) / np.sqrt(len(values)) if len(values) > 1 else np.nan
    return f"{values.mean():.{digits}f}" + ("" if np.isnan(error) else f" ± {error:.{digits}f}")


def panels(columns, rows=1, width=4.2, height=3.4, **options):
    """(figure, array (rows, columns) of axes) in the style of the other pictures; mere puppets unless `drawn`."""
    if not drawn:
        return Mock(), np.full((rows, columns), Mock())
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    size = (width * columns, height * rows)
    fig, axes = plt.subplots(rows, columns, figsize=size, squeeze=False, layout="constrained", **options)
    for ax in axes.flat:
        ax.spines[["top", "right"]].set_visible(False)
    return fig, axes


def keep(out, paper, experiment, section, scale):
    """Saves pictures and OUT/results/PAPER.EXPERIMENT.json, from which the page is written."""
    import matplotlib.pyplot as plt

    clocked, section.clocked = section.clocked or scale, None
    loaded = section.timed and clocked.loaded()
    if loaded and not scale.quick:
        loud(section)
    elif clocked is not scale and len(clocked.machines()) > 1:
        for item in section.all:
            unjudged(item, "timed on several machines")
    cells = [cell for part in (scale, *scale.parts) for cell in part.cells]

    for figure in section.figures:
        path = Path(out) / "images" / f"{figure.name}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        if figure.figure is not None:
            figure.figure.savefig(path, dpi=110)
            plt.close(figure.figure)
            figure.figure = None
    record = asdict(section) | {
        "runs": where(cells) or [[datetime.now(UTC).date().isoformat(), machine(), versions()]],
        "scale": "quick" if scale.quick else "full", "loaded": loaded,
        "unfinished": sum(part.missing for part in (scale, *scale.parts)),
        "cut": scale.cut | {name: words for part in scale.parts for name, words in part.cut.items()},
        "clock": clocked.clock() if section.timed else "",
        "cpu_seconds": sum(cell["cpu"] for cell in cells), "commits": commits(cells),
    }  # fmt: skip
    path = Path(out) / "results" / f"{paper}.{experiment}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(record, indent=1, ensure_ascii=False, default=float) + "\n")


def commits(cells):
    """{commit: cells} of the code that the cells were run with, or of the commit that first kept those of before."""
    found = [_commit(cell) for cell in cells]
    return {commit: found.count(commit) for commit in sorted(set(found), key=lambda told: (told != "", told))}


def _commit(cell):
    told = cell.get("commit", "")
    if cell.get("kept") and (not told or told.endswith("+")):
        told = f"{KEPT}{cell['kept']}"
    changed = bool(told and "function" in cell) and stale(cell).startswith("code changed")
    return told + CHANGED * changed


KEPT, CHANGED = "kept since ", ", code changed since"


def told(found):
    """What `commits` found, as text."""
    run, kept, changed = [], [], []
    for commit, cells in found.items():
        count = f"{cells} cell" + "s" * (cells != 1)
        bare = commit.removesuffix(CHANGED).removeprefix(KEPT)
        group = changed if commit.endswith(CHANGED) else kept if commit.startswith(KEPT) else run
        group.append(f"{bare or 'not recorded'} ({count})")
    parts = [", ".join(run)] if run else []
    parts += (
        [f"not recorded, but kept since {', '.join(kept)}, with the code of the papers as it is now"] if kept else []
    )
    parts += [f"run or kept since {', '.join(changed)}, the code of the papers changed since then"] if changed else []
    return "; ".join(parts)


def where(cells):
    """[(date, machine, versions), …] of the cells, that of most of them first; files of before say none of it."""
    found = {}
    for cell in cells:
        if "machine" in cell:
            key = json.dumps([cell["date"], cell["machine"], cell["versions"]])
            found[key] = found.get(key, 0) + 1
    return [json.loads(key) for key in sorted(found, key=found.get, reverse=True)]


def kept(out, paper, experiment):
    path = Path(out) / "results" / f"{paper}.{experiment}.json"
    return json.loads(path.read_text()) if path.exists() else None


def write(out, paper, about):
    """OUT/PAPER.md, of all its experiments that were run so far."""
    found = {name: kept(out, paper, name) for name in about.EXPERIMENTS}
    lines = [f"# {about.PAPER['title']}", "", about.PAPER["reference"], ""]
    lines += [f"Written by `python -m papers {paper} --full`; [all papers](README.md).", ""]
    if missing := [name for name in found if not found[name]]:
        lines += [f"Still to be run: {', '.join(missing)}.", ""]
    lines += findings([(record["title"], record) for record in found.values() if record])
    for name, record in found.items():
        if record:
            lines += section(name, record)
    Path(out).mkdir(parents=True, exist_ok=True)
    (Path(out) / f"{paper}.md").write_text("\n".join(lines).rstrip() + "\n")


def summary(out, papers):
    """OUT/README.md: the findings of all papers at a glance, and a picture for each."""
    lines = ["# The papers, rerun", "", "Written by `python -m papers all --full`; `papers/README.md` says how.", ""]
    ran = {paper: [r for name in about.EXPERIMENTS if (r := kept(out, paper, name))] for paper, about in papers.items()}
    counts = {paper: _count(found) for paper, found in ran.items()}
    share = {paper: f"{len(ran[paper])} of {len(about.EXPERIMENTS)}" for paper, about in papers.items()}
    rows = [[f"[{about.SHORT}]({p}.md)", *counts[p], _against(about, ran[p])] for p, about in papers.items()]
    rows.append(["all", *map(sum, zip(*counts.values(), strict=True)), ""])
    columns = ["paper", "findings agree", "ties", "disagree", "not judged", "experiments unfinished"]
    lines += [*table([*columns, "what matters most of those that disagree"], rows), "", _timed(ran), ""]
    lines += [*headlines(papers, ran), JUDGED, ""]
    lines += [CLAIMS, ""] if (Path(out) / "claims.md").exists() else []
    for paper, about in papers.items():
        found, (agree, ties, disagree, left, _) = ran[paper], counts[paper]
        lines += [f"## [{about.PAPER['title']}]({paper}.md)", "", about.PAPER["reference"], ""]
        lines += [
            f"{agree} of {agree + ties + disagree + left} findings agree, {_ties(ties)}, {disagree} disagree, {left} "
            f"not judged; {share[paper]} experiments run.",
            "",
        ]
        pictures = {figure["name"]: figure["caption"] for record in found for figure in record["figures"]}
        if (name := about.PAPER["picture"]) in pictures:
            lines += [f"![{pictures[name]}](images/{name}.png)", "", pictures[name], ""]
        lines += findings([(record["title"], record) for record in found])
    (Path(out) / "README.md").write_text("\n".join(lines).rstrip() + "\n")


def _ties(count):
    return "1 is a tie" if count == 1 else f"{count} are ties"


def _items(records):
    """{what it says: Finding}; of equal words the first."""
    return {item["says"]: Finding(**item) for record in reversed(records) for item in reversed(record["findings"])}


def _against(about, records):
    """The headlines that disagree, and how many findings more."""
    items = _items(records)
    named = [claim for says, claim in about.HEADLINES.items() if says in items and disagrees(items[says])]
    more = _count(records)[2] - len(named)
    return "; ".join([*named, *([f"{more} more"] if named and more else [])])


def _timed(ran):
    """What the findings that are not judged because of a loaded machine would say."""
    items = [Finding(**item) for records in ran.values() for record in records for item in record["findings"]]
    late = [item.verdict for item in items if item.open.startswith(LOUD)]
    if not late:
        return ""
    parts = ", ".join(f"{late.count(word)} would {words}" for word, words in AS_TIMED.items() if word in late)
    return f"Of those that are not judged {len(late)} are times from a loaded machine: as they are, {parts}."


def disagrees(item):
    return item.judged and item.verdict == "disagree"


def headlines(papers, ran):
    """The table of what each paper is known for, and that of what could not be had."""
    rows, missing = [], []
    for paper, about in papers.items():
        items = _items(ran[paper])
        for says, claim in about.HEADLINES.items():
            if item := items.get(says):
                rows.append([f"[{about.SHORT}]({paper}.md)", claim, item.theirs, item.ours, shown(item)])
        missing += [[f"[{about.SHORT}]({paper}.md)", what, instead] for what, instead in about.MISSING.items()]
    lines = table(["paper", "headline", "theirs", "ours", "verdict"], rows) + [""] if rows else []
    late = [[f"[{about.SHORT}]({paper}.md)", *row] for paper, about in papers.items()
            for record in ran[paper] for row in record.get("behind", ())]  # fmt: skip
    if late:
        lines += [BEHIND, "", *table(["paper", "what", "theirs", "ours before", "ours now"], late), ""]
    return [*lines, "What could not be had, and what stands in its place:", "",
            *table(["paper", "not to be had", "its stand-in"], missing), ""]  # fmt: skip


def shown(item):
    if not item.judged:
        return "not judged" + (f": {item.open}" if item.open else "")
    return item.verdict if item.verdict == "agree" else f"**{item.verdict}**"


def _count(records):
    """Findings that agree, ties, those that disagree, that are not judged, and experiments that are unfinished."""
    items = [Finding(**given) for record in records for given in record["findings"]]
    verdicts = [item.verdict for item in items if item.judged]
    unfinished = sum(bool(record.get("unfinished")) for record in records)
    return *map(verdicts.count, ("agree", "tie", "disagree")), len(items) - len(verdicts), unfinished


def findings(records):
    items = [(title, Finding(**given)) for title, record in records for given in record["findings"]]
    rows = [[f"{title}: {item.says}", item.theirs, item.ours, item.margin, shown(item)] for title, item in items]
    return [*table(["the paper says", "theirs", "ours", "margin", ""], rows), ""] if rows else []


def section(name, record):
    lines = [f"## {record['title']}", "", record["protocol"], "", f"Data: {record['data']}", ""]
    if record["deviations"]:
        lines += ["Where this departs from the paper:", "", *[f"- {item}" for item in record["deviations"]], ""]
    for figure in record["figures"]:
        lines += [f"![{figure['caption']}](images/{figure['name']}.png)", "", figure["caption"], ""]
    for item in record["tables"]:
        lines += [item["title"], "", *table(item["columns"], item["rows"]), ""]
        lines += [item["note"], ""] if item["note"] else []
    for item in (Finding(**given) for given in record["findings"]):
        if item.reason:
            lines.append(f"- {item.says}: {item.verdict if item.judged else 'not judged'}. {item.reason}")
    if lines[-1]:
        lines.append("")
    checks = [Finding(**given) for given in record.get("checks", ())]  # files of before have no such entry
    if checks:
        lines += ["Checked besides; no claims of the paper, and not counted:", ""]
        lines += [f"- {item.says}: {item.ours} (margin: {item.margin}): {shown(item)}." for item in checks] + [""]
    lines += [record["remarks"], ""] if record["remarks"] else []
    runs = [
        f"{date}; {on}; {', '.join(f'{k} {v}' for k, v in packages.items())}" for date, on, packages in record["runs"]
    ]
    lines += [f"*`--only {name}`, {record['scale']}, {'. Also '.join(runs)}.*", ""]
    if found := record.get("commits"):
        lines += [f"*Commit of the code: {told(found)}.*", ""]
    if cut := record.get("cut"):
        lines += [f"*Cut off and left out: {', '.join(f'{cell} {words}' for cell, words in cut.items())}.*", ""]
    lines += [f"*Timed {record['clock']}.*", ""] if record.get("clock") else []
    if record.get("unfinished"):  # files of before have no such entry
        lines += [f"*Unfinished: {record['unfinished']} repetitions or sizes of `--full` are still to be run.*", ""]
    if record["loaded"]:
        lines += ["*Loaded machine: others used it during the run, so that seconds are too many.*", ""]
    return lines


def table(columns, rows):
    lines = ["| " + " | ".join(columns) + " |", "|" + "---|" * len(columns)]
    return lines + ["| " + " | ".join(number(cell).replace("|", "\\|") for cell in row) + " |" for row in rows]


def number(x):
    if x is None:
        return "–"
    if isinstance(x, str):
        return x
    if isinstance(x, int):
        return f"{x:,}"
    return f"{x:.1e}" if 0 < abs(x) < 1e-3 else f"{x:.3g}" if abs(x) < 1000 else f"{x:,.0f}"


def machine():
    """The kind of processor and the cores, nothing that tells one machine from another."""
    kind = platform.machine()
    try:
        listed = subprocess.run(["lscpu"], capture_output=True, text=True, check=True).stdout.splitlines()
        kind = next((line.split(":")[1].strip() for line in listed if line.startswith("Model name")), kind)
    except (OSError, subprocess.CalledProcessError):
        pass
    return f"{platform.system()}, {kind}, {os.cpu_count()} cores"


def versions():
    from manykernels import __version__

    found = {"python": platform.python_version(), "manykernels": __version__}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
