"""The examples of docs/data.md run, one after another."""

import re
from pathlib import Path

import pytest


def test_the_examples_run(capsys):
    pytest.importorskip("pandas")
    text = (Path(__file__).parents[1] / "docs" / "data.md").read_text()
    space = {}
    for block in re.findall(r"```python\n(.*?)```", text, flags=re.S):
        exec(compile(block, "docs/data.md", "exec"), space)
    shown = capsys.readouterr().out
    assert "notes: Series (60,), 20 examples lack it" in shown
    assert re.search(r"^    (\d+ kernels: .*)$", text, flags=re.M)[1] in shown
    assert space["search"].best_score_ > 0.5
