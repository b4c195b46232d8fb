"""Every block of Python and every command in the README and in docs/ runs, and prints what is shown below it.

A block that cannot run has `<!-- not run: the reason -->` above it. A block of text right below one of Python is what
it prints: words must be the same, numbers about the same. MANYKERNELS_WRITE_DOCS=1 writes what is printed there.
"""

import contextlib
import io
import json
import os
import re
import shlex
import tomllib
from itertools import zip_longest
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PAGES = [str(page.relative_to(ROOT)) for page in PAGES if not {"gallery", "generated"} & set(page.parts)]
BLOCK = re.compile(r"^(?:<!-- not run: (?P<why>[^\n]+) -->\n\n?)?```(?P<kind>[^\n]*)\n(?P<text>.*?)^```$", re.M | re.S)
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
    "docs/solvers.md": DATA,
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
         "docs/index.md": [("1000", "300")]}  # as in the README, which is run in full  # fmt: skip
NEEDS = {"docs/sequences.md": "dnaio", "docs/data.md": "pandas", "docs/kernels.md": "pandas", "docs/start.md": "pandas"}


class Block(NamedTuple):
    kind: str
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
        yield Block(block["kind"].strip(), block["text"], block["why"], block.start(), shown)


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
    from typer.testing import CliRunner

    from manykernels.cli import app

    result = CliRunner().invoke(app, shlex.split(line)[1:])
    assert result.exit_code == 0, f"{line}\n{result.output}"


def tables():
    """The files that commands of the pages read."""
    from sklearn.datasets import load_breast_cancer

    frame = load_breast_cancer(as_frame=True).frame.rename(columns={"target": "outcome"}).iloc[:, [0, 1, 20, 21, 30]]
    frame[:80].to_csv("patients.csv", index=False)
    frame[80:90].to_csv("new.csv", index=False)


@pytest.mark.parametrize("name", PAGES)
def test_blocks_of_a_page_run(name, tmp_path, monkeypatch):
    if name in NEEDS:
        pytest.importorskip(NEEDS[name], reason=f"{name} needs it")
    path, page, edits = ROOT / name, (ROOT / name).read_text(encoding="utf-8"), []
    found = list(blocks(page))
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    space = {"__name__": "__main__"}
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
            tables()
            for asked in text.splitlines():
                assert asked.startswith("$ manykernels "), f"{name}:{line}: {asked!r} is no command of ours"
                command(asked[2:])
        elif block.kind in ("toml", "json"):
            {"toml": tomllib.loads, "json": json.loads}[block.kind](text)
        else:
            pytest.fail(f"{name}:{line}: a block of {block.kind!r} is neither run nor marked as not run")
    if "plt" in space or "inspect" in space:
        import matplotlib.pyplot as plt

        plt.close("all")
    for (start, stop), text in reversed(edits):
        page = page[:start] + text + page[stop:]
    if edits:
        path.write_text(page, encoding="utf-8")
