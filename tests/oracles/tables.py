"""Small tables for the command line, and what runs it."""

import warnings
from pathlib import Path

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from manykernels.cli import app


def run(*arguments, **more):
    """What a command does and says, with the warnings of a process of its own: it shows them as notes."""
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        return CliRunner().invoke(app, [str(a) for a in arguments], env={"COLUMNS": "140"}, **more)


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
