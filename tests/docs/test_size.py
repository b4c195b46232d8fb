"""`.ci/size` counts what formatting cannot hide."""

import re
import runpy
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
nodes = runpy.run_path(str(ROOT / ".ci" / "size"))["nodes"]
CODE = "def double(x):\n    return x + x\n"


@pytest.mark.parametrize(
    "same",
    [
        "def double(x): return x + x",
        'def double(x):\n    """Twice x."""\n    # because\n\n    return (\n        x + x\n    )\n',
        "def d(number_of_examples):\n    return number_of_examples + number_of_examples",
    ],
    ids=["one line", "docstring, comment, lines", "long names"],
)
def test_layout_docstrings_and_names_do_not_count(same):
    assert nodes(same) == nodes(CODE)


def test_more_code_counts_more():
    assert nodes(CODE) < nodes(CODE.replace("x + x", "x + x + x")) < nodes(CODE + CODE)


def test_the_docs_by_hand_have_at_most_60000_words():
    built = {"gallery", "generated", "papers", "support-table.md"}
    pages = [page for page in (ROOT / "docs").rglob("*.md") if not built & set(page.parts)]
    assert sum(len(re.findall(r"\w+", page.read_text(encoding="utf-8"))) for page in pages) <= 60_000
