"""Small tables for the command line, and what runs it."""

import io
import json
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from manykernels.cli import app


def run(command, *more, **options):
    """What a command, and more arguments, does and says; warnings are notes, as in a process of its own."""
    words = [*str(command).split(), *map(str, more)]
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        return CliRunner().invoke(app, words, env={"COLUMNS": "140"}, **options)


def done(*words, **options):
    """`run` of a command that ends well."""
    result = run(*words, **options)
    assert result.exit_code == 0, result.output
    return result


def json_of(*words, **options):
    """The results of a command as JSON."""
    return json.loads(done(*words, "--json", **options).stdout)


def table_of(*words, **options):
    """The table that a command prints."""
    return pd.read_csv(io.StringIO(done(*words, **options).stdout))


def refused(*words, **options):
    """The sentence of a command that a user's mistake ends, and that prints nothing else."""
    result = run(*words, **options)
    assert (result.exit_code, result.stdout) == (1, ""), result.output
    last = result.stderr.splitlines()[-1]
    assert last.startswith("manykernels: ") and "Traceback" not in result.stderr
    return last


def fasta(path, texts, ids=None):
    """Write a FASTA file of these texts, and return its path."""
    names = range(len(texts)) if ids is None else ids
    Path(path).write_text("".join(f">{name}\n{text}\n" for name, text in zip(names, texts, strict=True)))
    return path


def headers(path):
    """The ids of a FASTA file."""
    return [line[1:].split()[0] for line in Path(path).read_text().splitlines() if line.startswith(">")]


def patients(n=40, seed=0):
    """Two numbers, one with gaps, a category, texts that are all different, and who is ill: age and sex decide."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.normal(50, 9, n), "dose": rng.exponential(1000, n), "sex": rng.choice(["f", "m"], n)}
    )
    frame["name"] = [f"patient {i}" for i in range(n)]
    frame["y"] = np.where(frame.age + 8 * (frame.sex == "f") > 54, "ill", "well")
    frame.loc[[2, 5], "dose"] = np.nan
    return frame


def study(old, new, seed=0):
    """Two folders: a kernel matrix, a table and targets of known examples, and the same of new ones without targets."""
    rng = np.random.default_rng(seed)
    ids = np.array([f"a{i}" for i in range(24)] + [f"b{i}" for i in range(6)])
    y = np.arange(30) % 2
    points = rng.normal(size=(30, 3)) + y[:, None]
    for folder, rows in ((old, np.arange(24)), (new, np.arange(24, 30))):
        place = Path(folder)
        place.mkdir()
        index = pd.Index(ids[rows], name="id")
        pd.DataFrame(points[rows] @ points[:24].T, index=index, columns=ids[:24]).to_csv(place / "network.csv")
        pd.DataFrame({"age": points[rows, 0], "dose": points[rows, 1]}, index=index).to_csv(place / "clinic.csv")
        if folder == old:
            pd.DataFrame({"kind": np.where(y[rows], "ill", "well")}, index=index).to_csv(place / "kind.csv")
