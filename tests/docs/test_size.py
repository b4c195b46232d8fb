"""`.ci/size` counts what formatting cannot hide."""

import runpy
from pathlib import Path

import pytest

nodes = runpy.run_path(str(Path(__file__).parents[2] / ".ci" / "size"))["nodes"]
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
