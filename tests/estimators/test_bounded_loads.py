"""What a file from others may cost: bounds before work, on text, shapes, lists and zeros."""

import io
import json
import os
import socket
import time
import tracemalloc
import zipfile
import zlib
from pathlib import Path

import numpy as np
import pytest

import manykernels
from manykernels import MKLClassifier, _archive
from manykernels._archive import TEXT
from manykernels.kernels import RBF
from manykernels.solvers import checkpoint_file

FILE = Path(__file__).parents[1] / "files" / "classifier.mk"
PRIME = 2**61 - 1
MEGABYTE = 2**20


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asarray(array))
    return buffer.getvalue()


def craft(path, value, arrays=None, kind=zipfile.ZIP_DEFLATED):
    """A model file whose `kernels` are the JSON `value`, with these arrays besides; the bytes that it unpacks to."""
    with zipfile.ZipFile(FILE) as file:
        tree = json.loads(file.read(TEXT))
        members = {name: file.read(name) for name in file.namelist() if name != TEXT} | (arrays or {})
    tree["content"]["model"]["state"]["parameters"]["items"]["kernels"] = "HERE"
    tree["checksums"] = {name: zlib.crc32(data) for name, data in members.items()}
    members[TEXT] = json.dumps(tree).replace('"HERE"', value).encode()
    with zipfile.ZipFile(path, "w", kind) as file:
        for name, data in members.items():
            file.writestr(name, data)
    return sum(map(len, members.values()))


def refused(path, whole, what, floor=10 * MEGABYTE, **options):
    """It is refused within seconds (a second where nothing else runs), in three times its unpacked size."""
    tracemalloc.start()
    begun = time.process_time()
    with pytest.raises(ValueError, match=what) as caught:
        manykernels.load(path, **options)
    seconds, peak = time.process_time() - begun, tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert str(path) in str(caught.value)
    assert peak < 3 * max(whole, floor) and seconds < 10, (peak, whole, seconds)


SHAPES = {"axes": "1," * 99_999 + "1", "entries": "9" * 4000, "digits": "9" * 5000}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_array_of_a_shape_without_end_is_refused(tmp_path, shape):
    whole = craft(tmp_path / "model.mk", f'{{"is": "objects", "items": [], "shape": [{shape}]}}')
    refused(tmp_path / "model.mk", whole, "damaged or not a whole")


def test_a_list_of_more_kernels_than_the_model_has_is_refused(tmp_path):
    whole = craft(tmp_path / "model.mk", f"[{','.join(['0'] * 20_000)}]")
    refused(tmp_path / "model.mk", whole, "more kernels than names")


def test_honest_keys_are_read(tmp_path):
    keys = [-1, -2, 0, PRIME, 2 * PRIME, 2**64 - 1, 2**200, "a", 1.5, None]
    _archive.write(tmp_path / "file", "model", {"all": set(keys), "map": dict.fromkeys(keys, 1)})
    with open(tmp_path / "file", "rb") as stream:
        content = _archive.read(stream, "model")
    assert content == {"all": set(keys), "map": dict.fromkeys(keys, 1)}


def test_what_we_write_can_be_read_however_well_it_packs(tmp_path, monkeypatch):
    """A file that would unpack to more than readers take by default is written unpacked."""
    monkeypatch.setattr(_archive, "MIN_UNPACKED", 2**18)
    for size, kind in ((2**13, zipfile.ZIP_DEFLATED), (2**16, zipfile.ZIP_STORED)):
        monkeypatch.setattr(_archive, "QUICK_TO_UNPACK", 2**18)
        _archive.write(tmp_path / "file", "model", {"zeros": np.zeros(size)})
        with open(tmp_path / "file", "rb") as stream:
            assert (_archive.read(stream, "model")["zeros"] == np.zeros(size)).all()
        with zipfile.ZipFile(tmp_path / "file") as file:
            assert {info.compress_type for info in file.infolist()} == {kind}


def test_zeros_that_no_bytes_fill_have_a_bound_in_all(tmp_path):
    """Two arrays of 2²² entries each are more than a checkpoint of a few examples may hold; bits count too."""
    path = tmp_path / "fit"
    for one in ({"is": "few", "of": "a0", "at": "a1"}, {"is": "bits", "of": "a0"}):
        state = {"is": "dict", "items": {"a": one | {"shape": [3 * 2**22]}}}
        header = {"format": 2, "kind": "checkpoint", "checksums": {}, "content": {
            "identity": {"is": "dict", "items": {}}, "parts": [{"is": "dict", "items": {"state": state}}]}}  # fmt: skip
        with zipfile.ZipFile(path, "w") as file:
            file.writestr(TEXT, json.dumps(header))
        with pytest.raises(ValueError, match="an array has 12582912 entries"):
            checkpoint_file.Checkpoint(path, {}, 1, 18)


@pytest.mark.parametrize("kind", ["few", "bits"])
def test_zeros_of_several_arrays_are_counted_together(kind, tmp_path):
    """Issue 11, point 24. Each of two arrays is below the bound, and both are beyond it."""
    size, path = 3 * 2**20, tmp_path / "fit"
    members = {"a0": np.zeros(size // 8, np.uint8)} if kind == "bits" else {"a0": np.zeros(0), "a1": np.zeros(0, "u4")}
    nodes, files = {}, {}
    for k in range(2):
        names = [f"a{k * len(members) + j}" for j in range(len(members))]
        nodes[f"part {k}"] = {"is": kind, "shape": [size]} | dict(zip(("of", "at"), names, strict=False))
        files |= {f"{name}.npy": npy(array) for name, array in zip(names, members.values(), strict=True)}
    state = {"is": "dict", "items": nodes}
    header = {"format": 2, "kind": "checkpoint", "checksums": {name: zlib.crc32(data) for name, data in files.items()},
              "content": {"identity": {"is": "dict", "items": {}},
                          "parts": [{"is": "dict", "items": {"state": state}}]}}  # fmt: skip
    with zipfile.ZipFile(path, "w") as file:
        for name, data in (files | {TEXT: json.dumps(header)}).items():
            file.writestr(name, data)
    with pytest.raises(ValueError, match="an array has 3145728 entries"):
        checkpoint_file.Checkpoint(path, {}, 1, 18)


def test_thousands_of_kernels_load_in_time_that_grows_with_their_number(tmp_path):
    """It grew with the square of their number: 3,000 kernels took 21 s."""
    X = np.random.default_rng(0).normal(size=(12, 600))
    model = MKLClassifier([(f"k{i}", RBF(gamma=0.1), [i]) for i in range(600)], max_iter=1, tol=0.9, C=1.0)
    model.fit(X, X[:, 0] > 0).save(tmp_path / "model.mk")
    kind, count = type(model.predictor_.kernel_list), 0
    found = kind.widths.fget

    def widths(kernels):
        nonlocal count
        count += 1
        return found(kernels)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(kind, "widths", property(widths))
        again = manykernels.load(tmp_path / "model.mk")
    assert count < 5
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="pipes have no names here")
@pytest.mark.parametrize("kind", ["a pipe", "a socket", "a device"])
def test_what_is_no_file_is_refused_by_name(tmp_path, monkeypatch, kind):
    """Issue 11, point 22: to open a pipe took for ever, and a device would have been replaced."""
    path = tmp_path / "place"
    if kind == "a pipe":
        os.mkfifo(path)
    elif kind == "a socket":
        monkeypatch.chdir(tmp_path)  # names of sockets are short
        socket.socket(socket.AF_UNIX).bind("place")
    else:
        path = Path("/dev/null")
    X = np.arange(12.0)[:, None]
    model = MKLClassifier([RBF(gamma=0.1)])
    for action in (
        lambda: manykernels.load(path),
        lambda: MKLClassifier([RBF(gamma=0.1)], checkpoint=path).fit(X, X[:, 0] > 5),
        lambda: model.fit(X, X[:, 0] > 5).save(path),
    ):
        with pytest.raises(ValueError, match=f"{path}' is {kind}: give the path of a file"):
            action()
