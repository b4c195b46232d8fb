"""The command line does the main job and says what went wrong."""

import sys

import pytest
from typer.testing import CliRunner

import manykernels
from manykernels.cli import app


def run(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "140"})


def test_version():
    assert run("--version").output.strip() == f"manykernels {manykernels.__version__}"


@pytest.fixture
def few(monkeypatch):
    """A few of the examples and of the kernels; `.ci/run` and the slow tests have all of them."""
    demo = sys.modules["manykernels.cli.demo"]  # the package calls its command so
    whole = demo._load

    def part(name):
        title, X, y, kernels, scaler = whole(name)
        return title, X[::8], y[::8], kernels[::12], scaler

    monkeypatch.setattr(demo, "_load", part)


def check_demo(data, page):
    result = run("demo", "--data", data, "-o", str(page))
    assert result.exit_code == 0, result.output
    for text in ("cumulative", "accuracy", "relative gap", "best single kernel", "plain sum", "time", "The demo took"):
        assert text in result.output
    assert result.stdout.splitlines()[-1] == str(page)
    assert "what matters" in page.read_text() and page.stat().st_size < 500_000


def test_demo_prints_weights_gap_time_and_accuracies_and_ends_with_a_report(tmp_path, few):
    check_demo("digits", tmp_path / "demo.html")


@pytest.mark.slow
@pytest.mark.parametrize("data", ["breast_cancer", "digits"])
def test_demo_on_all_of_the_data(data, tmp_path):
    check_demo(data, tmp_path / "demo.html")


@pytest.mark.parametrize("arguments", [("--p", "0.5"), ("--C", "-1"), ("--data", "nonsense")])
def test_demo_refuses_bad_arguments(arguments):
    result = run("demo", *arguments)
    assert result.exit_code == 2 and arguments[0] in result.output
