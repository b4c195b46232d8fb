"""A long fit says what it takes before it begins, and how it goes on: the gap and the time left."""

import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from manykernels import MKLClassifier, MKLRegressor, load
from manykernels.cli import app
from manykernels.estimators import progress
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
X = rng.normal(size=(400, 3))
y = X[:, 0] + 0.5 * rng.normal(size=400)
KERNELS = [RBF(gamma=g) for g in (0.1, 1.0)]


@pytest.fixture
def slow(monkeypatch):
    """A machine that needs minutes for these examples."""
    monkeypatch.setattr(progress, "PAIR_SECONDS", 1e-3)


@pytest.mark.parametrize("kernels", ["auto", KERNELS])
def test_memory_that_the_machine_lacks_is_said_at_once(kernels, monkeypatch):
    monkeypatch.setattr(progress, "machine_memory", lambda: 39_000.0)  # 100 of 400 examples are active at first
    model = MKLClassifier(kernels, C=1.0)
    with pytest.raises(ValueError, match='400 examples × .* at least 0.0 GiB .*approximation="nystroem".*memory_limit'):
        model.fit(X, y > 0)
    model.set_params(approximation="nystroem", rank=8).fit(X, y > 0)
    assert model.predictor_.kernel_list.kernels[0].rank == 8 and model.duality_gap_ <= model.tol
    monkeypatch.setattr(progress, "machine_memory", lambda: 50_000.0)
    model.set_params(approximation=None).fit(X, y > 0)
    with pytest.raises(ValueError, match="at least 0.0 GiB of memory"):  # all examples are active
        MKLClassifier(kernels, loss="logistic", C=1.0).fit(X, y > 0)


def test_a_fit_of_minutes_says_so_and_how_to_see_it(slow, capsys):
    model = MKLRegressor(KERNELS, C=1.0)
    said = "400 examples × 2 kernels .*expect about .*min and up to 0.0 GiB of memory.*verbose=True"
    with pytest.warns(UserWarning, match=said):
        model.fit(X, y)
    assert "expect about" not in capsys.readouterr().err
    model.set_params(verbose=True).fit(X, y)
    assert "400 examples × 2 kernels are compared pair by pair: expect about" in capsys.readouterr().err


@pytest.mark.filterwarnings("error")
def test_a_short_fit_says_nothing(capsys):
    MKLRegressor(KERNELS, C=1.0).fit(X, y)
    assert not capsys.readouterr().err


@pytest.mark.parametrize("quiet", [False, True])
@pytest.mark.filterwarnings("default")  # a command shows them as notes
def test_the_command_line_shows_progress_where_there_is_no_terminal(quiet, slow, tmp_path, monkeypatch):
    monkeypatch.setattr(progress, "PLAIN_SECONDS", 0.0)
    table = "\n".join(["a,b,c,y", *(",".join(map(str, [*row, label])) for row, label in zip(X, y > 0, strict=True))])
    (tmp_path / "table.csv").write_text(table)
    told = ["fit", str(tmp_path / "table.csv"), "-t", "y", "-o", str(tmp_path / "model.mk")]
    result = CliRunner().invoke(app, told + ["-q"] * quiet)
    assert result.exit_code == 0, result.stderr
    for words in ("choosing C: 1 of 4", "kernels: gap", "expect about"):
        assert (words in result.stderr) != quiet and words not in result.stdout
    result = CliRunner().invoke(app, [*told, "--approximation", "nystroem"])
    assert result.exit_code == 0 and load(tmp_path / "model.mk").approximation == "nystroem"


def test_the_memory_of_this_machine_is_known():
    assert sys.platform == "win32" or 2**28 < progress.machine_memory() < 2**50


def test_times_are_told_in_seconds_minutes_and_hours():
    for seconds, words in [
        (0.4, "0 s"), (59.6, "60 s"), (99.9, "100 s"), (100.0, "2 min"), (3540.0, "59 min"), (3569.0, "59 min"),
        (3600.0, "1 h 0 min"), (7384.0, "2 h 3 min"),
    ]:  # fmt: skip
        assert progress.in_words(seconds) == words


def test_the_time_left_is_that_of_a_gap_that_falls_evenly():
    records = [(2.0 * k, 10.0 ** -(k + 1)) for k in range(4)]  # a digit in two seconds
    assert progress.time_left(records, 1e-7) == pytest.approx(6.0) and progress.time_left(records, 1e-3) == 0.0
    assert progress.time_left([(-1.0, np.inf), *records, (9.0, 0.0)], 1e-7) == pytest.approx(6.0)
    for few in (records[:2], [(1.0, 0.1)] * 4, [(k, 10.0**k) for k in range(4)]):
        assert progress.time_left(few, 1e-7) is None


def test_a_gap_stalls_above_the_tolerance_only_and_after_eight_records():
    slow = [(float(k), 1e-4 * 0.995**k) for k in range(8)]
    assert progress.stalls(slow, 1e-5) and not progress.stalls(slow[1:], 1e-5) and not progress.stalls(slow, 1e-4)
    assert not progress.stalls([(float(k), 1e-4 * 0.9**k) for k in range(8)], 1e-9)


def test_a_bar_says_that_the_gap_hardly_falls_and_does_not_go_back():
    with progress.show_progress("fit", 1e-4) as bar:
        for k in range(12):
            bar.record({"time": float(k), "gap": 1.0, "iteration": k, "violators": 1200 + k})
        assert bar.left == "the gap hardly falls, round 11, 1,211 violators" and len(bar.records) == 8
        bar.visited(1500, 20_000)
        assert bar.progress.tasks[0].fields["more"] == f"{bar.left}, 1,500 of 20,000 examples visited"
    with progress.show_progress("fit", 1e-4) as bar:
        for gap, share in ((1.0, 0.0), (1e-1, 0.25), (1e-3, 0.75), (1e-2, 0.75), (1e-9, 1.0)):
            bar.record({"time": 0.0, "gap": gap})
            assert bar.progress.tasks[0].completed == pytest.approx(share)
