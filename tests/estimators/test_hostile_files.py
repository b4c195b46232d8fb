"""Files from strangers: whatever is in them, a model or a ValueError comes of it, in bounded time and memory."""

import hashlib
import io
import json
import os
import random
import struct
import subprocess
import sys
import time
import tracemalloc
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hostile import MODELS, X, pack, unpack, y
from hostile_checkpoints import FITS

import manykernels
from manykernels import MKLClassifier, _archive
from manykernels.kernels import RBF, Linear
from manykernels.solvers import _checkpoint

ORACLES = Path(__file__).parents[1] / "oracles"
NAMES = list(MODELS)
OTHER = "damaged or not a whole manykernels model"


def assert_harmless(program, *names):
    """The program sweeps over files in a process of its own: no signal, no hang, no exception but ValueError."""
    command = [sys.executable, "-X", "faulthandler", ORACLES / program, *names]
    place = {"PYTHONPATH": os.pathsep.join([str(Path(manykernels.__file__).parents[1]), str(ORACLES)])}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | place, timeout=3000)
    assert done.returncode == 0, done.stderr[-3000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert not found["wrong"] and found["counts"]["refused"] > 50, found


@pytest.mark.parametrize("part", range(4))
def test_no_entry_of_a_model_file_leads_astray(part):
    assert_harmless("hostile.py", *NAMES[part::4])


def test_no_entry_of_a_checkpoint_leads_astray():
    assert_harmless("hostile_checkpoints.py")


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_no_entry_of_a_model_file_leads_astray_wherever_it_is(name):
    assert_harmless("hostile.py", "thorough", name)


@pytest.mark.slow
@pytest.mark.parametrize("name", list(FITS))
def test_no_entry_of_a_checkpoint_leads_astray_wherever_it_is(name):
    assert_harmless("hostile_checkpoints.py", "thorough", name)


@pytest.fixture(scope="module")
def model():
    return MKLClassifier([RBF(gamma=0.1), Linear()]).fit(X, y)


@pytest.fixture
def path(model, tmp_path):
    model.save(tmp_path / "model.mk")
    return tmp_path / "model.mk"


def refused(path, what=OTHER, **options):
    with pytest.raises(ValueError, match=what) as caught:
        manykernels.load(path, **options)
    assert str(path) in str(caught.value)


def test_flipped_bits_are_refused_or_do_not_matter(model, path):
    good, rng = path.read_bytes(), random.Random(0)
    ends = [rng.randrange(8 * len(good)) for _ in range(150)] + list(range(8 * (len(good) - 22), 8 * len(good)))
    for bit in ends:
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        path.write_bytes(bad)
        try:
            again = manykernels.load(path)
        except ValueError as error:
            assert OTHER in str(error) or "upgrade" in str(error)
        else:  # a date, say
            np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))


def test_what_is_cut_off_or_swapped_is_refused(path):
    good = path.read_bytes()
    for end in [0, 1, 10, 100, *range(200, len(good), len(good) // 40), len(good) - 1]:
        path.write_bytes(good[:end])
        refused(path)
    with zipfile.ZipFile(io.BytesIO(good)) as file:
        members = {name: file.read(name) for name in file.namelist()}
    for one in members:
        for other in members:
            if one != other:
                write(path, members | {one: members[other], other: members[one]})
                refused(path)
        write(path, {name: data for name, data in members.items() if name != one})
        refused(path)
    write(path, members | {"more": b""})
    refused(path)


def write(path, members, **options):
    with zipfile.ZipFile(path, "w", **options) as file:
        for name, data in members.items():
            file.writestr(name, data)


def test_arrays_that_swap_their_places_are_refused_or_fit(path):
    tree, arrays = unpack(path)
    names = sorted(arrays, key=lambda name: int(name[1:]))
    for one, other in zip(names, names[1:], strict=False):
        pack(path, tree, arrays | {one: arrays[other], other: arrays[one]})
        try:
            again = manykernels.load(path)
        except ValueError as error:
            assert OTHER in str(error)
        else:
            again.predict(X), again.decision_parts(X)


def test_a_missing_file_is_called_missing(tmp_path):
    with pytest.raises(FileNotFoundError):
        manykernels.load(tmp_path / "nothing.mk")
    with pytest.raises(OSError):
        manykernels.load(tmp_path)


class Bounded:
    """Within it, less than so many bytes are taken and so many seconds pass."""

    def __init__(self, size=30_000_000, seconds=20):
        self.size, self.seconds = size, seconds

    def __enter__(self):
        tracemalloc.start()
        self.begun = time.monotonic()

    def __exit__(self, *_):
        peak, wall = tracemalloc.get_traced_memory()[1], time.monotonic() - self.begun
        tracemalloc.stop()
        assert peak < self.size and wall < self.seconds, (peak, wall)


def npz(arrays, **options):
    """A file of arrays given as {name: bytes}."""
    buffer = io.BytesIO()
    write(buffer, {f"{name}.npy": data for name, data in arrays.items()}, **options)
    return buffer.getvalue()


def with_arrays(path, data):
    """Writes the model with these bytes as its arrays, their checksum good."""
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()} | {"arrays.npz": data}
    header = json.loads(members["header.json"])
    header["sha256"]["arrays.npz"] = hashlib.sha256(data).hexdigest()
    write(path, members | {"header.json": json.dumps(header).encode()})


def npy(shape, dtype="<f8", body=b""):
    head = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head + b"\n" + body


def test_what_unpacks_to_gigabytes_is_refused_before_it_does(path, monkeypatch):
    monkeypatch.setattr(_archive, "ROOM", 2**24)
    deflated = {"compression": zipfile.ZIP_DEFLATED}
    zeros = bytes(2**26)
    with_arrays(path, npz({"a0": npy((2**23,), body=zeros)}, **deflated))
    with Bounded():
        refused(path, "unpack to 67.*memory_limit")
    lying = npz({"a0": npy((2**23,), body=zeros)}, **deflated)
    size = struct.pack("<I", 2**26 + len(npy((2**23,))))
    assert lying.count(size) == 2
    with_arrays(path, lying.replace(size, struct.pack("<I", 2000)))
    with Bounded():
        refused(path)
    write(path, {"header.json": b"{}", "model.json": zeros, "arrays.npz": zeros}, **deflated)
    with Bounded():
        refused(path, "unpack to")


@pytest.mark.parametrize(
    "array",
    [npy((2**40,)), npy((2**62, 2**62)), npy((0, -1)), npy((5,), "|V0"), npy((2,), "|O", b"x" * 16), b"", b"NUMPY"],
)
def test_arrays_that_are_not_there_are_not_made(path, array):
    tree, arrays = unpack(path)
    for name in list(arrays)[::5]:
        pack(path, tree, arrays | {name: array})
        with Bounded():
            refused(path)


def test_an_honest_array_of_zeros_is_read_however_well_it_was_packed(tmp_path):
    zeros = np.zeros(2**22)
    np.savez_compressed(tmp_path / "zeros.npz", a=zeros)
    assert (tmp_path / "zeros.npz").stat().st_size < zeros.nbytes / 900
    with open(tmp_path / "zeros.npz", "rb") as stream:
        np.testing.assert_array_equal(_archive.Archive(stream).array("a.npy"), zeros)


def nested(depth):
    return b"[" * depth + b"]" * depth


def test_structures_without_end_are_refused(path):
    tree, arrays = unpack(path)
    node = {"is": "tuple", "number": 1000, "items": ["x"]}
    for number in range(1001, 1100):  # each holds the one before twice
        node = {"is": "tuple", "number": number, "items": [node, {"is": "again", "number": number - 1}]}
    state = tree["state"]["items"]
    for value in (node, {"is": "again", "number": tree["number"]}, {"is": "dict", "number": 1, "items": [[node, 1]]}):
        tree["state"]["items"] = [*state, ["more", value]]
        pack(path, tree, arrays)
        with Bounded():
            refused(path)
    for text in (nested(10**6), b'{"is": "dict", "items": ' + nested(10**5) + b"}"):
        pack(path, text, arrays)
        with Bounded(200_000_000):
            refused(path)


@pytest.mark.parametrize("name", ["predict", "__class__", "_check_X", "decision_parts", "__dict__", "a b", ""])
def test_an_attribute_cannot_stand_in_for_a_method(path, name):
    tree, arrays = unpack(path)
    tree["state"]["items"].append([name, "x"])
    pack(path, tree, arrays)
    refused(path, "cannot have the attribute")


@pytest.mark.parametrize("name", [
    "manykernels.banks.degree.DegreeBank", "manykernels.solvers._checkpoint.Checkpoint", "manykernels.kernels.Features",
    "manykernels.kernels._wrap.Fitted", "sklearn.gaussian_process.kernels.Hyperparameter", "pathlib.Path",
    "sklearn.metrics.pairwise.pairwise_distances_chunked", "manykernels.estimators.persist.Decoder",
])  # fmt: skip
def test_only_classes_that_check_themselves_are_restored(path, name):
    tree, arrays = unpack(path)
    module, _, name = name.rpartition(".")
    empty = {"is": "dict", "number": 5001, "items": []}
    for kind in ("object", "function", "named"):
        node = {"is": kind, "number": 5000, "module": module, "name": name, "state": empty, "items": []}
        pack(path, tree | {"state": {"is": "dict", "number": 5002, "items": [["x", node]]}}, arrays)
        refused(path)


def test_a_checkpoint_that_asks_for_more_than_there_is_is_refused(tmp_path):
    path = tmp_path / "fit"
    _checkpoint.Checkpoint(path, {})
    array = {"array": "a0", "at": "a0at", "shape": [2**40], "bits": False}
    for parts in (
        [{"state": array}],
        [{"state": array | {"bits": True}}],
        [{"state": 1}],
        [{"other": {}}],
        {},
        [],
        None,
    ):
        header = {"format": 1, "identity": {}, "parts": parts}
        write(path, {"checkpoint.json": json.dumps(header), "a0.npy": npy((1,), body=bytes(8)), "a0at.npy": npy((0,))})
        with Bounded(), pytest.raises(ValueError, match="no whole checkpoint"):
            _checkpoint.Checkpoint(path, {})
    for text in (nested(10**5), b"\xff", b"1", b""):
        write(path, {"checkpoint.json": text})
        with pytest.raises(ValueError, match="no whole checkpoint"):
            _checkpoint.Checkpoint(path, {})
