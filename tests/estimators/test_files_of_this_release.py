"""The files under tests/files: every release reads them, and finds in them what the one that wrote them knew."""

import json
import shutil
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import manykernels
from manykernels import _state
from manykernels._archive import TEXT
from manykernels.solvers import checkpoint_file, solve

FILES = Path(__file__).parents[1] / "files"
sys.path.append(str(FILES))
import write as written  # noqa: E402

WANTED = json.loads((FILES / "wanted.json").read_text())


@pytest.mark.parametrize("name", written.MODELS)
def test_a_model_of_an_older_release_predicts_what_it_did(name):
    model = manykernels.load(FILES / f"{name}.mk")
    given, wanted = written.given(name, written.NEW), WANTED[name]
    assert type(model) is type(written.MODELS[name][0])
    decisions = model.predict if name == "regressor" else model.decision_function
    single = name == "low_rank"  # its features are float32, whose last digits are those of a BLAS
    tolerance = {"rtol": 1e-5, "atol": 1e-6} if single else {"rtol": 1e-8, "atol": 1e-10}
    np.testing.assert_allclose(decisions(**given), wanted["decisions"], **tolerance)
    np.testing.assert_array_equal(model.kernel_weights_, wanted["weights"])
    if name != "regressor":
        assert model.predict(**given).tolist() == wanted["predictions"]
    assert model.duality_gap_ <= model.tol


def test_a_fit_of_an_older_release_goes_on_from_its_checkpoint(tmp_path):
    shutil.copy(FILES / "fit.checkpoint", tmp_path)
    file = checkpoint_file.Checkpoint(tmp_path / "fit.checkpoint", {"fit": "of this folder"}, 1, 18)
    kept = file.parts[0]["state"]["point"]["gap"]
    found = solve(written.problem(), "analytic", tol=1e-9, checkpoint=checkpoint_file.CheckpointSlot(file, 0))
    assert found.converged and found.history[0]["gap"] <= 2 * kept < 1
    assert found.primal == pytest.approx(WANTED["checkpoint"], rel=1e-7)


BEFORE = FILES / "before"  # written before classes declared what files hold of them
INPUTS = np.load(BEFORE / "inputs.npz")


@pytest.mark.parametrize("name", sorted(path.stem for path in BEFORE.glob("*.mk")))
def test_models_of_the_format_before_load_and_are_saved_again(name, tmp_path):
    model = manykernels.load(BEFORE / f"{name}.mk")
    model.save(tmp_path / "again.mk")
    X = INPUTS[f"{name}_X"]
    for one in (model, manykernels.load(tmp_path / "again.mk")):
        found = one.decision_parts(X.tolist() if X.dtype.kind == "U" else X)
        np.testing.assert_allclose(found, INPUTS[f"{name}_parts"], rtol=1e-6 if name == "compressed" else 1e-9)


def test_a_checkpoint_of_sparse_arrays_and_bits_is_read(tmp_path):
    shutil.copy(BEFORE / "sparse.checkpoint", tmp_path)
    state = checkpoint_file.Checkpoint(tmp_path / "sparse.checkpoint", {"fit": "sparse"}, 1, 80).parts[0]["state"]
    a = np.zeros((2, 40))
    a[0, ::7] = np.arange(6) + 0.5
    np.testing.assert_array_equal(state["a"], a)
    np.testing.assert_array_equal(state["active"], np.arange(40) % 3 == 0)
    assert state["active"].dtype == bool and state["point"] == [1, 2.5]


def test_the_files_are_small_and_their_tags_are_still_known():
    tags = set()
    for path in FILES.glob("*.mk"):
        assert path.stat().st_size < 8000
        with zipfile.ZipFile(path) as file:
            text = file.read(TEXT).decode()
        tags |= {(node["tag"], node["version"]) for node in parts(json.loads(text))}
    assert tags <= _state.TAGS.keys()
    listed = [line.rsplit(maxsplit=1) for line in (FILES / "tags.txt").read_text().splitlines()]
    assert {(name, int(version)) for name, version in listed} == _state.TAGS.keys(), "add new tags to tags.txt"
    rooms = {name.partition("/")[0] for name, _ in tags}
    assert rooms >= {"estimator", "predictor", "bank", "kernel", "sequences", "alphabet", "loss", "regularizer"}


def parts(node):
    """All parts of a JSON text."""
    if isinstance(node, dict) and node.get("is") == "part":
        yield node
    for item in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from parts(item)
