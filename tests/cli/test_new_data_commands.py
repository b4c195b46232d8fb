"""The command line says what new data have and the training data had not, and does not depend on units."""

import io
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, load
from tables import done, refused, run

RNG, N = np.random.default_rng(0), 60


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """A table with categories, and a model of it."""
    frame = pd.DataFrame({"who": [f"R{i:02d}" for i in range(N)], "age": RNG.normal(50, 9, N)})
    frame["dose"], frame["site"] = np.where(np.arange(N) % 9, RNG.normal(size=N), np.nan), RNG.choice(list("abc"), N)
    frame["outcome"] = np.where(frame.age + 9 * (frame.site == "a") > 52, "sick", "well")
    frame["cost"] = frame.age * 0.1 + 3 * (frame.site == "a") + 0.1 * RNG.normal(size=N)
    place = tmp_path_factory.mktemp("new")
    frame.to_csv(place / "all.csv", index=False)
    frame.drop(columns="cost").to_csv(place / "d.csv", index=False)
    done(f"fit {place}/d.csv -t outcome --id who -o {place}/m.mk")
    return place


@pytest.mark.parametrize("command", ["predict", "score"])
def test_new_categories_and_gaps_are_said_once(folder, command):
    """Unseen categories were silent, 9 of 50 predictions changed."""
    plain = done(f"{command} m.mk d.csv --id who")
    assert "note:" not in plain.stderr
    frame = pd.read_csv("d.csv")
    frame.loc[[3, 8], "site"] = "Mars"
    frame.loc[[5], "site"] = None
    frame.to_csv("new.csv", index=False)
    result = done(f"{command} m.mk new.csv --id who")
    said = "column 'site' has new categories, 'Mars' for example, in 2 of 60 examples (R03, R08)"
    assert result.stderr.count(said) == 1
    assert result.stderr.count("column 'site' is missing in 1 of 60 examples (R05)") == 1
    assert done(f"{command} m.mk new.csv --id who -q").stderr == ""


def test_new_categories_among_scaled_columns_are_said(folder):
    Path("k.toml").write_text('[[kernel]]\nkernel = "RBF"\nscale = true\ncolumns = ["age", "site"]\n')
    done("fit d.csv -t outcome --config k.toml -C 1 -o scaled.mk")
    pd.read_csv("d.csv").replace({"site": {"a": "Mars"}}).to_csv("new.csv", index=False)
    assert "column 'site' has new categories, 'Mars' for example" in done("predict scaled.mk new.csv").stderr


def test_words_of_unequal_lengths_have_their_cure_in_the_configuration():
    """What the note asks for can be given, and is chosen unasked."""
    lines, rng = [], np.random.default_rng(0)
    for i in range(40):
        word = "".join(rng.choice(list("ACGT"), 20, p=[0.4, 0.2, 0.2, 0.2] if i % 2 else [0.2, 0.2, 0.2, 0.4]))
        lines += [f">s{i} kind={i % 2}", word * (1 + i % 3)]
    Path("s.fa").write_text("\n".join(lines) + "\n")
    fit = "fit s.fa -t kind -C 1 -o m.mk"
    assert 'normalize="spherical"' in done(f"{fit} --normalize multiplicative").stderr
    assert "normalize" not in done(fit).stderr and load("m.mk").normalize_ == "spherical"
    assert "give auto, exact, multiplicative, spherical, trace, none" in refused(f"{fit} --normalize spheric")
    done(f"{fit} --normalize none")
    assert load("m.mk").normalize is None
    config = run("init s.fa -t kind -q").stdout
    Path("k.toml").write_text('normalize = "spherical"\n' + config)
    assert "normalize=" not in done(f"{fit} --config k.toml").stderr


def test_gaps_that_are_new_are_filled_as_in_python_and_said():
    """One gap in a column of numbers or dates without gaps in training refused the whole file."""
    frame = pd.DataFrame({"a": RNG.normal(size=N), "b": RNG.normal(size=N), "site": RNG.choice(list("uv"), N)})
    frame["day"] = pd.date_range("2024-01-01", periods=N, freq="2D").strftime("%Y-%m-%d")
    y = np.where(frame.a + 0.3 * RNG.normal(size=N) > 0, "sick", "well")
    new = frame.copy()
    new.loc[3, "a"], new.loc[[4, 6], "day"] = np.nan, None
    new.loc[5, ["a", "b", "day"]] = None
    frame.assign(y=y).to_csv("d.csv", index=False)
    new.assign(y=y).to_csv("new.csv", index=False)
    done("fit d.csv -t y -C 1 -o m.mk")
    said = "column 'a' is missing in 2 of 60 examples (3, 5); column 'b' is missing in 1 of 60 examples (5); column 'd"
    found = done("predict m.mk new.csv")
    assert found.stderr.count(said) == 1
    with pytest.warns(UserWarning, match="column 'a' is missing in 2 of 60"):
        expected = MKLClassifier(C=1.0).fit(frame, y).decision_function(new)
    np.testing.assert_allclose(pd.read_csv(io.StringIO(found.stdout)).decision, expected, atol=2e-6)
    for command in ("score", "inspect", "report --cv 2 --relevance fast --stability 0 -o r.html"):
        assert done(f"{command} m.mk new.csv").stderr.count(said) == 1
