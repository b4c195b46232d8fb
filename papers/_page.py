"""Pages: what a paper says beside what came out, as Markdown and PNG."""

import json
import os
import platform
import subprocess
import tomllib
from collections import Counter
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import numpy as np

from ._code import stale
from ._verdict import word

drawn = True  # False where a run only asks which cells are missing
HERE = Path(__file__).parent
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

    @property
    def shown(self):
        """The verdict as pages have it."""
        if not self.judged:
            return "not judged" + (f": {self.open}" if self.open else "")
        return self.verdict if self.verdict == "agree" else f"**{self.verdict}**"


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


def means(values, digits=3, factor=1.0):
    """`mean` of each column of values (times, columns) as a list, or of each entry of a dict."""
    if isinstance(values, dict):
        return {key: mean(part, digits, factor) for key, part in values.items()}
    return [mean(column, digits, factor) for column in np.transpose(values)]


def gathered(found, key):
    """What cells, in lists of any depth, hold under a key, as an array."""
    return found[key] if isinstance(found, dict) else np.array([gathered(part, key) for part in found])


def listed(form, pairs, joint=", "):
    """Pairs, or a dict of such, as text: each in a form such as "{} {:.2f}"."""
    return joint.join(form.format(*pair) for pair in (pairs.items() if isinstance(pairs, dict) else pairs))


def matrix(title, columns, names, values, digits=2, corner=""):
    """The table of values (names, columns)."""
    rows = [[name, *(f"{value:.{digits}f}" for value in row)] for name, row in zip(names, values, strict=True)]
    return Table(title, [corner, *columns], rows)


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


def curves(ax, x, values, names, **labels):
    """A curve for each name: means over the times of values (times, x, names), with their standard errors."""
    for name, part in zip(names, np.moveaxis(values, 2, 0), strict=True):
        error = part.std(axis=0, ddof=1) / np.sqrt(len(part))
        ax.errorbar(x, part.mean(axis=0), error, marker=".", linewidth=1.2, label=name)
    ax.set(**labels)


def sticks(ax, values, title, cuts=()):
    """A line for the weight of each kernel, and grey ones between groups of kernels."""
    ax.vlines(np.arange(len(values)), 0, values, linewidth=1)
    ax.set_title(title, loc="left", fontsize=9)
    for cut in cuts:
        ax.axvline(cut - 0.5, color="0.8", linewidth=0.8)


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


CHANGED = ", code changed since"


def commits(cells):
    """{commit: cells} of the code that the cells were run with, and where it was changed since."""
    found = Counter(
        cell["commit"] + CHANGED * stale(cell).startswith("code changed") for cell in cells if "commit" in cell
    )
    return dict(sorted(found.items()))


def told(found):
    """What `commits` found, as text."""
    parts = [
        listed("{} ({} cell{})", [
            (commit.removesuffix(CHANGED), n, "s" * (n != 1)) for commit, n in found.items()
            if commit.endswith(CHANGED) == changed
        ]) for changed in (False, True)
    ]  # fmt: skip
    late = f"run since {parts[1]}, the code of the papers changed since then"
    return "; ".join([parts[0]] * bool(parts[0]) + [late] * bool(parts[1]))


def where(cells):
    """[(date, machine, versions), …] of the cells, that of most of them first; files of before say none of it."""
    keys = ([cell["date"], cell["machine"], cell["versions"]] for cell in cells if "machine" in cell)
    return [json.loads(key) for key, _ in Counter(map(json.dumps, keys)).most_common()]


def kept(out, paper, experiment):
    """The record of an experiment, its findings as `Finding`s; None where it was not run."""
    path = Path(out) / "results" / f"{paper}.{experiment}.json"
    if not path.exists():
        return None
    record = json.loads(path.read_text())
    return record | {key: [Finding(**given) for given in record[key]] for key in ("findings", "checks")}


@cache
def _templates():
    from jinja2 import Environment, FileSystemLoader

    found = Environment(loader=FileSystemLoader(HERE / "pages"), trim_blocks=True, lstrip_blocks=True)
    found.filters["row"] = lambda cells: f"| {' | '.join(map(number, cells))} |"
    return found


def page(out, name, template, **facts):
    """Writes OUT/NAME.md from pages/TEMPLATE.md.jinja."""
    Path(out).mkdir(parents=True, exist_ok=True)
    text = _templates().get_template(f"{template}.md.jinja").render(facts)
    (Path(out) / f"{name}.md").write_text(text.rstrip() + "\n", encoding="utf-8")


@cache
def about(paper):
    """What paper.toml says of a paper: title, reference, picture, short name, experiments, headlines, missing data."""
    return SimpleNamespace(**tomllib.loads((HERE / paper / "paper.toml").read_text(encoding="utf-8")))


def write(out, paper):
    """OUT/PAPER.md, of all its experiments that were run so far."""
    found = {name: kept(out, paper, name) for name in about(paper).experiments}
    page(out, paper, "paper", paper=paper, about=about(paper), found=found, told=told)


def claims(paper):
    """[claim, where it is judged or why it is not] for each claim of a paper, in the order of the print."""
    return tomllib.loads((HERE / paper / "claims.toml").read_text(encoding="utf-8"))["claims"]


def write_claims(out, papers):
    """OUT/claims.md, from papers/claims.toml and the claims.toml of each paper."""
    words = tomllib.loads((HERE / "claims.toml").read_text(encoding="utf-8"))
    page(out, "claims", "claims", papers={about(paper).short: claims(paper) for paper in papers}, **words)


def summary(out, papers):
    """OUT/README.md: the findings of all papers at a glance, and a picture for each."""
    found = []
    for paper in papers:
        records = [record for name in about(paper).experiments if (record := kept(out, paper, name))]
        items = [item for record in records for item in record["findings"]]
        verdicts = [item.verdict if item.judged else "" for item in items]
        first = {item.says: item for item in reversed(items)}  # of equal words the first
        headlines = [(claim, first[says]) for says, claim in about(paper).headlines.items() if says in first]
        against = [claim for claim, item in headlines if item.judged and item.verdict == "disagree"]
        more = verdicts.count("disagree") - len(against)
        unfinished = sum(bool(record["unfinished"]) for record in records)
        found.append(
            {
                "name": paper, "about": about(paper), "records": records, "items": items, "headlines": headlines,
                "against": "; ".join([*against, *([f"{more} more"] if against and more else [])]),
                "counts": [*map(verdicts.count, ("agree", "tie", "disagree", "")), unfinished],
                "behind": [row for record in records for row in record["behind"]],
                "pictures": {figure["name"]: figure["caption"] for record in records for figure in record["figures"]},
            }
        )  # fmt: skip
    late = Counter(item.verdict for part in found for item in part["items"] if item.open.startswith(LOUD))
    would = [f"{late[word]} would {words}" for word, words in AS_TIMED.items() if late[word]]
    totals = list(map(sum, zip(*(part["counts"] for part in found), strict=True)))
    there = (Path(out) / "claims.md").exists()
    page(out, "README", "summary", papers=found, totals=totals, late=late.total(), would=would, claims=there)


def number(x):
    """A number, a text or None as a cell of a table."""
    if x is None:
        return "–"
    if isinstance(x, str):
        return x.replace("|", "\\|")
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
