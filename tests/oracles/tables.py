"""Small tables for the command line, and what runs it."""

import numpy as np
import pandas as pd
from typer.testing import CliRunner

from manykernels.cli import app


def run(*arguments, **more):
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
