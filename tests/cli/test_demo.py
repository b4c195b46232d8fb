"""The command line does the main job and says what went wrong."""

import pytest
from typer.testing import CliRunner

import manykernels
from manykernels.cli import app


def run(*arguments):
    return CliRunner().invoke(app, arguments, env={"COLUMNS": "140"})


def test_version():
    assert run("--version").output.strip() == f"manykernels {manykernels.__version__}"


@pytest.mark.parametrize("data", [pytest.param("breast_cancer", marks=pytest.mark.slow), "digits"])
def test_demo_prints_weights_gap_time_and_accuracies_and_ends_with_a_report(data, tmp_path):
    page = tmp_path / "demo.html"
    result = run("demo", "--data", data, "-o", str(page))
    assert result.exit_code == 0, result.output
    for text in ("cumulative", "accuracy", "relative gap", "best single kernel", "plain sum", "time", "All of it took"):
        assert text in result.output
    assert result.stdout.splitlines()[-1] == str(page)
    assert "what matters" in page.read_text() and page.stat().st_size < 500_000


@pytest.mark.parametrize("arguments", [("--p", "0.5"), ("--C", "-1"), ("--data", "nonsense")])
def test_demo_refuses_bad_arguments(arguments):
    result = run("demo", *arguments)
    assert result.exit_code == 2 and arguments[0] in result.output
