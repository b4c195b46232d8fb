"""Every block of Python and every command in README, CONTRIBUTING and docs/ runs, and prints what is shown below it.

A block of Python that cannot run has `<!-- not run: the reason -->` above it, a command that cannot is in NOT_RUN. A
block of text right below one of Python is what it prints: words must be the same, numbers about the same
(MANYKERNELS_WRITE_DOCS=1 writes it there). One below commands shows lines of what they say.
"""

import contextlib
import io
import json
import os
import re
import shlex
import shutil
import tomllib
from importlib.util import find_spec
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [str(page.relative_to(ROOT)) for page in PAGES if not {"gallery", "generated"} & set(page.parts)]
BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n\n?)?```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$"
    r"|(?<=\n\n)(?P<indented>(?:    [^\n]*\n)+)(?=\n|\Z)",
    re.M | re.S,
)
PROGRAM = re.compile(
    r"(?:\$ )?(manykernels|pip|python3?|pytest|sphinx-build|pre-commit|git|conda|rattler-build|\.ci/\w+)\b"
)
INLINE = re.compile(r"`((?:manykernels |pip install |python -m |sphinx-build |\.ci/)[^`\n]*)`")
NOT_RUN = {  # commands, and why no test runs them; they are checked to name what exists
    "pip install": "it changes the environment; .ci/run and .ci/release do it in fresh ones",
    "pre-commit install": "it writes into the hooks of the checkout",
    "pytest": "it is this suite",
    "pytest -m slow": "it takes longer than the suite",
    "python -m papers all --quick": "it takes minutes; .ci/run runs it",
    "python -m benchmarks.fuzz": "it takes minutes; tests/test_fuzz.py runs some of its cases",
    "python -m benchmarks.journeys --cases 500": "it takes minutes; tests/test_journeys.py runs some of its cases",
    "python -m benchmarks.metamorphic --cases 500": "it takes minutes; tests/test_metamorphic.py runs some cases",
    "sphinx-build -W docs build/site": "it takes minutes; .ci/run runs it",
    ".ci/open_pages build/site shots": "it opens the site that sphinx-build made; .ci/run runs it",
    ".ci/run": "it makes an environment and runs this suite",
    ".ci/size": "it needs a checkout of git; .ci/run runs it",
    ".ci/floors": "it makes an environment and runs a part of this suite",
    ".ci/loops": "it runs a part of this suite in two slower ways",
    ".ci/release": "it makes environments and runs this suite",
    "manykernels demo": "tests/cli/test_demo.py runs it",
}
QUICK = ["--cv", "2", "--relevance", "fast", "--stability", "1", "--max-examples", "60"]  # reports in a test
SHOWS = {"text", "yaml"}  # what is looked at, not run; and directives of the site, {…}
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*(?:e[-+]?\d+)?|\.\d+)")

DATA = """
import numpy as np
import manykernels
from manykernels import MKLClassifier, MKLRegressor, inspect
from manykernels.kernels import RBF, Kernel, Linear
rng = np.random.default_rng(0)
X, y = rng.normal(size=(60, 4)), np.arange(60) % 2
X[:, 0] += 2 * y
kernels = [("a", RBF(gamma=0.2), [0, 1]), ("b", RBF(gamma=1.0), [0, 1]), ("c", Linear(), [2, 3])]
groups = {"signal": ["a", "b"], "noise": ["c"]}
model = clf = MKLClassifier(kernels).fit(X, y)
"""
SETUP = {  # what a page takes for granted, and is not worth a reader's time
    "docs/relevance.md": DATA,
    "docs/file-format.md": DATA,
    "docs/pictures.md": DATA + """
X_test, y_test = X, y
wine = MKLClassifier(kernels).fit(X, np.arange(60) % 3)
digits = MKLClassifier([(f"{k}", RBF(gamma=1.0), [k % 4]) for k in range(16)]).fit(X, np.arange(60) % 3)
means = np.zeros((3, 8, 8))
""",
    "docs/pairs.md": """
import numpy as np
rng = np.random.default_rng(0)
drugs, targets = rng.normal(size=(12, 5)), ["".join(row) for row in rng.choice(list("ACGT"), size=(9, 15))]
index = np.argwhere(np.ones((12, 9), bool))
y = (drugs[index[:, 0], 0] + rng.normal(size=108) > 0).astype(int)
""",
    "docs/sequences.md": """
import rich
import numpy as np
from manykernels.datasets import make_splice
from manykernels.kernels import Linear
from manykernels.strings import Spectrum, WeightedDegreeShift
found, labels = make_splice(60, positives=0.5)
import gzip
with gzip.open("sites.fa.gz", "wt") as file:
    for k, (x, t) in enumerate(zip(found, labels)):
        file.write(f">s{k} label={t}\\n{x}\\n")
sequences, y = ["ACGTGCATTA" * 30, "TTGACATTGC" * 30] * 30, [0, 1] * 30
profiles = np.random.default_rng(0).normal(size=(60, 3))
""",
}  # fmt: skip
FEWER = {"docs/sequences.md": [("make_splice(10_000", "make_splice(300"), ("n_boot=20", "n_boot=2")],
         "docs/pictures.md": [("n_boot=20", "n_boot=3")],
         "docs/index.md": [("1000", "300")],  # as in the README, which is run in full
         "README.md": [('examples/wine.csv")', 'examples/wine.csv")[::3]'),
                       ('"report.html")', '"report.html", cv=2, relevance="fast", stability=1)')]}  # fmt: skip
NEEDS = {
    "docs/command-line.md": "pyfaidx",
    "docs/genome.md": "pyfaidx",
    "docs/omics.md": "mudata",
    "docs/data.md": "pandas",
    "docs/kernels.md": "pandas",
    "docs/start.md": "pandas",
}


class Block(NamedTuple):
    kind: str  # of indented lines "console" where they are commands, else "text"
    text: str
    why: str | None  # it is not run
    start: int
    shown: tuple[int, int] | None  # where in the page its output stands


def blocks(page):
    found = list(BLOCK.finditer(page))
    for block, below in zip_longest(found, found[1:]):
        shown = None
        if below and below["kind"] == "text" and not page[block.end() : below.start()].strip():
            shown = below.span("text")
        if block["indented"]:
            text = "".join(line[4:] for line in block["indented"].splitlines(keepends=True))
            yield Block("console" if PROGRAM.match(text) else "text", text, None, block.start(), shown)
        else:
            yield Block(block["kind"].strip(), block["text"], block["why"], block.start(), shown)


def commands(text):
    """The commands of a block, without comments, those joined by && apart; None for a line that is none."""
    for line in text.splitlines():
        for part in re.sub(r"\s+#.*$", "", line).split("&&"):
            found = part.strip().removeprefix("$ ")
            yield found if PROGRAM.match(found) else None


def reason(command):
    """Why a command is not run, or None."""
    return NOT_RUN["pip install"] if command.startswith("pip install ") else NOT_RUN.get(command)


def differs(shown, printed):
    """What is not the same in two texts: words, whole numbers, or other numbers beyond a few hundredths."""
    if NUMBER.sub("#", " ".join(shown.split())) != NUMBER.sub("#", " ".join(printed.split())):
        return "words"
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed), strict=True):
        if "e" in one:  # a gap, of which the last digits are nobody's
            close = "e" in other
        elif "." in one:
            close = abs(float(one) - float(other)) <= 0.03 + 0.1 * abs(float(one))
        else:
            close = one == other
        if not close:
            return f"{one} and {other}"
    return ""


def test_the_comparison_finds_what_differs():
    assert not differs("accuracy 0.953, gap 3e-04", "accuracy  0.958, gap 9e-05")
    assert differs("accuracy 0.953", "accuracy 0.80") and differs("3 kernels", "4 kernels")
    assert differs("True", "False") and differs("gap 3e-4", "gap 1")


def command(line):
    """What a command says on stdout and stderr."""
    from tables import run

    given = shlex.split(line)[1:]
    result = run(*given, *(QUICK if given[0] == "report" else []))
    assert result.exit_code == 0, f"{line}\n{result.output}"
    return result.stdout + result.stderr


def shows(shown, said):
    """Whether every line that is shown was said, but for digits after a point, in any order of the two streams."""
    lines = {NUMBER.sub("#", " ".join(line.split())) for line in said.splitlines()}
    return [line for line in shown.splitlines() if NUMBER.sub("#", " ".join(line.split())) not in lines]


def files(name):
    """The files that the commands of a page read."""
    from manykernels.datasets import make_genome
    from tables import patients, study

    shutil.copytree(ROOT / "examples", "examples", ignore=shutil.ignore_patterns("*.py", "*.rst"))
    if name == "docs/command-line.md":
        patients().to_csv("data.csv", index=False)
        patients(10, 1).to_csv("new.csv", index=False)
        study("study", "coming")
        make_genome(".", peaks=40)
    if name == "docs/start.md":
        from sklearn.datasets import load_breast_cancer

        frame = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "outcome"})
        frame.iloc[:80, [0, 1, 20, 21, 30]].to_csv("patients.csv", index=False)
        frame.iloc[80:90, [0, 1, 20, 21, 30]].to_csv("new.csv", index=False)


@pytest.mark.parametrize("name", PAGES)
def test_blocks_of_a_page_run(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} needs it")
    path, page, edits = ROOT / name, (ROOT / name).read_text(encoding="utf-8"), []
    found = list(blocks(page))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    space = {"__name__": "__main__"}
    if any(block.kind in ("python", "console") for block in found):
        files(name)
    if any(block.kind == "python" and not block.why for block in found):
        exec(compile(SETUP.get(name, ""), f"the setup of {name}", "exec"), space)
    for block in found:
        line = page.count("\n", 0, block.start) + 1
        if block.why or block.kind in SHOWS or block.kind.startswith("{"):
            continue
        text = block.text
        for old, new in FEWER.get(name, ()):
            text = text.replace(old, new)
        if block.kind == "python":
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * line + text, str(path), "exec"), space)
            if block.shown and os.environ.get("MANYKERNELS_WRITE_DOCS"):
                edits.append((block.shown, out.getvalue()))
            elif block.shown:
                shown = page[slice(*block.shown)]
                assert not differs(shown, out.getvalue()), f"{name}:{line} prints\n{out.getvalue()}\nand shows\n{shown}"
        elif block.kind == "console":
            said = ""
            for asked in commands(text):
                assert asked is not None, f"{name}:{line}: there is more than commands in {text!r}"
                if reason(asked) is None:
                    assert asked.startswith("manykernels "), f"{name}:{line}: {asked!r} is neither run nor in NOT_RUN"
                    said += command(asked)
            if block.shown:
                assert not shows(page[slice(*block.shown)], said), f"{name}:{line} says\n{said}"
        elif block.kind in ("toml", "json"):
            {"toml": tomllib.loads, "json": json.loads}[block.kind](text)
            if name == "docs/command-line.md":
                Path("page.toml").write_text(text)
                assert "Categorical 2" in command("manykernels fit data.csv --config page.toml")
        else:
            pytest.fail(f"{name}:{line}: a block of {block.kind!r} is neither run nor marked as not run")
    if "plt" in space or "inspect" in space:
        import matplotlib.pyplot as plt

        plt.close("all")
    for (start, stop), text in reversed(edits):
        page = page[:start] + text + page[stop:]
    if edits:
        path.write_text(page, encoding="utf-8")


def texts():
    return {name: (ROOT / name).read_text(encoding="utf-8") for name in PAGES}


def test_what_is_not_run_stands_in_a_page_and_names_what_exists():
    found = {c for page in texts().values() for b in blocks(page) if b.kind == "console" for c in commands(b.text)}
    asked = {"pip install" if c.startswith("pip install ") else c for c in found - {None}}
    assert set(NOT_RUN) <= asked  # no reason without a command
    for one in asked & set(NOT_RUN):
        _exists(one)


def test_commands_within_sentences_name_what_exists():
    for name, page in texts().items():
        for one in INLINE.findall(BLOCK.sub("", page)):
            try:
                _exists(one)
            except AssertionError as error:
                raise AssertionError(f"{name}: `{one}` {error}") from None


def _exists(command):
    words = shlex.split(command.partition("&&")[0].partition("[")[0] if "python -m" in command else command)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    named = [extra for word in words for part in re.findall(r"\[([\w,]+)\]", word) for extra in part.split(",")]
    assert words[0] != "pip" or set(named) <= set(extras), f"has no extra {named}"
    if words[0].startswith(".ci/"):
        assert os.access(ROOT / words[0], os.X_OK), "is no program"
    if words[:2] == ["python", "-m"]:
        assert find_spec(words[2]), "is no module"
        if words[2] == "benchmarks.run":
            from benchmarks.run import COMMANDS

            assert words[3] in COMMANDS, "is no benchmark"
        if words[2] == "papers":
            assert words[3] == "all" or (ROOT / "papers" / words[3]).exists(), "is no paper"
    if words[0] == "manykernels" and len(words) > 1 and not words[1].startswith("-"):
        from manykernels.cli import app

        for group in app.registered_groups:
            if group.name == words[1]:
                app, words = group.typer_instance, words[1:]
        known = {c.name or c.callback.__name__ for c in app.registered_commands}
        assert set(words[1:2]) <= known, "is no command"


def test_the_readme_reports_in_three_commands_and_ten_lines():
    section = texts()["README.md"].split("## From a CSV file to a report")[1].split("\n## ")[0]
    first, *_ = [list(commands(b.text)) for b in blocks(section) if b.kind == "console"]
    assert [one.split()[:2] for one in first] == [["pip", "install"], ["manykernels", "fit"], ["manykernels", "report"]]
    code = next(b.text for b in blocks(section) if b.kind == "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10 and ".report(" in code


def test_the_readme_is_short_and_its_sections_are_in_order():
    text = texts()["README.md"]
    assert len(text.split()) <= 1200
    example, *sections = text.split("\n## ")
    assert "```python" in example
    assert [section.splitlines()[0] for section in sections] == [
        "What it is", "What it will not do", "Install and test", "From a CSV file to a report", "Python in ten lines",
        "What weights mean, and what they do not", "How quick", "Where to read on",
    ]  # fmt: skip
    code = next(b.text for b in blocks(sections[4]) if b.kind == "python")
    assert len([line for line in code.splitlines() if line.strip()]) <= 10
