"""`import manykernels` is cheap: heavy modules are imported on first use."""

import subprocess
import sys

import pytest

HEAVY = ["numba", "scipy.optimize", "cvxpy", "matplotlib", "pandas", "rich", "typer", "highspy", "jinja2"]


def modules_after(statement):
    code = f"import sys; {statement}; print(*sys.modules)"
    return set(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout.split())


def test_import_brings_nothing_heavy():
    assert not modules_after("import manykernels") & {*HEAVY, "sklearn", "scipy", "numpy"}


@pytest.mark.parametrize("asked", ["--version", "--help", "fit --help", "gkm --help", "gkm train --help"])
def test_help_and_version_load_neither_numpy_nor_what_commands_need(asked):
    call = [sys.executable, "-X", "importtime", "-m", "manykernels", *asked.split()]
    told = subprocess.run(call, check=True, capture_output=True, text=True)
    loaded = {line.rpartition("|")[2].strip() for line in told.stderr.splitlines()}
    assert told.stdout.strip() and {"typer", "manykernels.cli"} <= loaded
    assert not loaded & {"numpy", "scipy", "sklearn", "numba", "pandas", "matplotlib", "jinja2", "highspy", "joblib"}
    assert "--help" in asked or "rich" not in loaded


def test_a_system_that_does_not_fork_imports_the_package():
    modules_after("import os, random; vars(os).pop('register_at_fork', None); from manykernels import MKLClassifier")


def test_importing_every_public_name_compiles_nothing():
    loaded = modules_after("from manykernels import *; import manykernels.estimators, sklearn")
    assert not loaded & {"numba", "cvxpy", "matplotlib", "rich", "typer", "jinja2"}


def test_weightings_rest_on_solvers_and_regularizers_on_neither():
    above = {"manykernels.solvers", "manykernels.weighting", "manykernels.banks", "manykernels.estimators"}
    for module in ("losses", "regularizers"):
        assert not modules_after(f"import manykernels.{module}") & above
    loaded = modules_after("from manykernels.regularizers import Align, LpNorm, TwoStage")
    assert "manykernels.solvers" in loaded and "manykernels.estimators" not in loaded
    assert "manykernels.regularizers" not in modules_after("import manykernels.solvers")


@pytest.mark.parametrize("name", ["Align", "AlignF", "BestSingle", "EasyMKL", "TwoStage", "Uniform"])
def test_weightings_are_found_beside_the_regularizers(name):
    from manykernels import regularizers, weighting

    assert getattr(regularizers, name) is getattr(weighting, name) and name in dir(regularizers)
    assert set(weighting.__all__) <= set(regularizers.__all__)


@pytest.mark.parametrize("name", ["MKLClassifier", "MKLRegressor", "MKLOneClass", "KernelStack", "load"])
def test_public_names(name):
    import manykernels

    assert name in dir(manykernels) and getattr(manykernels, name)


@pytest.mark.parametrize("room", [
    "banks", "datasets", "estimators", "genome", "inspect", "kernels", "losses", "pairs", "regularizers", "sequences",
    "solvers", "strings", "weighting",
])  # fmt: skip
def test_completion_offers_what_a_room_exports_and_not_its_modules(room):
    from importlib import import_module
    from types import ModuleType

    module = import_module(f"manykernels.{room}")
    assert dir(module) == sorted(module.__all__)
    assert [name for name in dir(module) if isinstance(getattr(module, name), ModuleType)] in ([], ["bounds"])
