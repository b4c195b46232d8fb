"""Names of kernels, views and columns reach the screen as they are, on one line: in tables and on the command line."""

import io

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from manykernels import MKLClassifier, Views
from manykernels.estimators.progress import show_progress
from manykernels.inspect import relevance, weights_table
from manykernels.kernels import RBF
from tables import run

NAMES = ["[bold]", "glucose [mmol/l]", "[/red]", ":warning: pulse", "💉 dose", "two\nlines", "back\\[slash"]
SHOWN = [name.replace("\n", "\\n") for name in NAMES]
N = 60
rng = np.random.default_rng(0)
y = np.arange(N) % 2
X = rng.normal(size=(N, len(NAMES))) + y[:, None]


def printed(*things):
    console = Console(file=io.StringIO(), width=200, color_system=None)
    for thing in things:
        console.print(thing)
    return console.file.getvalue()


def test_tables_for_rich_have_whole_names():
    """Rich took names in square brackets for markup."""
    model = MKLClassifier([(name, RBF(), [k]) for k, name in enumerate(NAMES)], C=1.0).fit(X, y)
    rows = printed(weights_table(model)).splitlines()
    for name in SHOWN:
        assert sum(f" {name} " in row for row in rows) == 1, name


def test_tables_as_texts_have_a_line_for_each_source():
    views = Views({name: X[:, [k]] for k, name in enumerate(NAMES)})
    model = MKLClassifier([(name, RBF()) for name in NAMES], C=1.0)
    lines = str(relevance(model, views, y, cv=2)).splitlines()
    assert [line[: len(name)] for line, name in zip(sorted(lines[1 : 1 + len(NAMES)]), sorted(SHOWN), strict=True)] == (
        sorted(SHOWN)
    )
    assert "\n" not in repr(views) and all(name in repr(views) for name in SHOWN)


@pytest.mark.parametrize("name", NAMES)
def test_a_progress_bar_shows_the_name_of_a_class(name, capsys):
    with show_progress(name, 0.1):
        pass
    assert name.partition("\n")[0] in capsys.readouterr().out


def test_the_command_line_prints_whole_names(tmp_path):
    pd.DataFrame(X, columns=NAMES).assign(y=y).to_csv(tmp_path / "d.csv", index=False)
    result = run("fit", tmp_path / "d.csv", "-t", "y", "-C", "1", "-o", tmp_path / "m.mk")
    assert result.exit_code == 0, result.output
    told = run("inspect", tmp_path / "m.mk", tmp_path / "d.csv", "--top", "20")
    assert told.exit_code == 0, told.output
    for name in SHOWN:
        assert sum(line.startswith(f"  {name}  ") for line in told.stdout.splitlines()) == 2, name
