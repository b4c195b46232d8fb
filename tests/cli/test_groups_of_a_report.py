"""`report --groups` reads groups as `cv` does: from a column, or from the ids of the examples."""

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from manykernels.cli import app

N = 40
rng = np.random.default_rng(0)
SITE = np.array(["north", "south", "west", "east"])[np.arange(N) % 4]
TABLE = pd.DataFrame({"who": SITE, "age": rng.normal(size=N), "dose": rng.normal(size=N)})
TABLE["ill"] = np.where(TABLE.age + 0.4 * rng.normal(size=N) > 0, "yes", "no")


def run(*arguments):
    return CliRunner().invoke(app, [str(word) for word in arguments], env={"COLUMNS": "140"})


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("groups")
    TABLE.assign(place=SITE).to_csv(folder / "d.csv", index=False)
    (folder / "k.toml").write_text('C = 1.0\n[[kernel]]\nkernel = "RBF"\ngamma = 0.5\ncolumns = ["age", "dose"]\n')
    done = run("fit", folder / "d.csv", "-t", "ill", "--config", folder / "k.toml", "-o", folder / "m.mk")
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize("groups", [("place",), ("who", "--id", "who")])
def test_each_group_is_held_out_in_turn(folder, groups):
    data = folder / "d.csv"
    if "--id" in groups:
        data = folder / "unique.csv"
        TABLE.assign(who=[f"p{k}" for k in range(N)]).to_csv(data, index=False)
    given = ("-t", "ill", "-o", folder / "r.html", "--cv", "4", "--relevance", "fast", "--stability", "0")
    done = run("report", folder / "m.mk", data, *given, "--groups", *groups)
    assert done.exit_code == 0, done.output
    facts = json.loads((folder / "r.json").read_text())
    sites = [row["name"] for row in facts["sources"]["sites"]]
    assert sites == (sorted(set(SITE)) if groups[0] == "place" else [])
    again = [line for line in facts["reproduce"] if line.startswith("manykernels report")]
    assert f"--groups {groups[0]}" in again[0]


def test_rows_without_a_group_are_counted(folder):
    TABLE.assign(place=np.where(np.arange(N) < 3, None, SITE)).to_csv(folder / "gaps.csv", index=False)
    given = ("-t", "ill", "-o", folder / "r2.html", "--groups", "place", "--stability", "0")
    done = run("report", folder / "m.mk", folder / "gaps.csv", *given)
    assert done.exit_code == 1 and "--groups 'place' is empty in 3 rows: fill it in or remove them" in done.stderr
    done = run("report", folder / "m.mk", folder / "gaps.csv", *given[:-3], "plaze", *given[-2:])
    assert done.exit_code == 1 and "--groups 'plaze' is not a column" in done.stderr and "'place'" in done.stderr
