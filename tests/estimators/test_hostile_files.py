"""Files from strangers: whatever is in them, a model or a ValueError comes of it, in bounded time and memory."""

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
from manykernels.solvers import checkpoint_file

ORACLES = Path(__file__).parents[1] / "oracles"
NAMES = list(MODELS)
OTHER = "damaged or not a whole manykernels model"


def run(program, *names):
    """What a program of the oracles, in a process of its own, says in its last line."""
    command = [sys.executable, "-X", "faulthandler", ORACLES / program, *names]
    paths = [str(Path(manykernels.__file__).parents[1]), str(ORACLES), os.environ.get("PYTHONPATH", "")]
    place = {"PYTHONPATH": os.pathsep.join(filter(None, paths))}
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | place, timeout=3000)
    assert done.returncode == 0, done.stderr[-3000:]
    return json.loads(done.stdout.splitlines()[-1])


def assert_harmless(program, *names):
    """No change of an entry leads to a signal, a hang, or an exception but ValueError."""
    found = run(program, *names)
    assert not found["wrong"] and found["counts"]["refused"] > 50, found


@pytest.mark.parametrize("part", range(2))
def test_no_entry_of_a_model_file_leads_astray(part):
    """Every kind of change at every place of an array, a thirteenth of those at places of the JSON; slow: all."""
    assert_harmless("hostile.py", *NAMES[part::2])


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


KERNELS = [f"kernel/{name}" for name in ("chi2", "polynomial", "categorical", "laplacian", "precomputed")]


def test_a_kernel_that_does_not_fit_the_others_is_refused_when_it_is_loaded():
    """Kernels under other tags were loaded, and failed in `decision_function`."""
    assert_harmless("retagged.py", "features", "pairs", "one_vs_rest", *KERNELS)


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(path.stem for path in Path(__file__).parents[1].glob("files/*.mk")))
def test_no_part_of_another_tag_leads_astray(name):
    assert_harmless("retagged.py", name)


def assert_mutations_are_harmless(count):
    """None runs anything, takes long or much memory; what is not refused has finite answers."""
    found = run("mutations.py", str(count))
    counts = found["counts"].values()
    assert not found["wrong"] and sum(sum(kind.values()) for kind in counts) == count, found
    assert all(kind["refused"] > 0.5 * count / len(counts) for kind in counts), found
    assert found["longest"] < 10 and found["grown"] < 200e6, found


def test_files_that_are_changed_at_random_are_refused_or_harmless():
    assert_mutations_are_harmless(143)


@pytest.mark.slow
def test_three_thousand_files_that_are_changed_at_random_are_refused_or_harmless():
    assert_mutations_are_harmless(3003)


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
            assert str(path) in str(error)
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


def test_a_missing_file_is_called_missing_and_a_folder_a_folder(tmp_path):
    model = MKLClassifier(RBF(), C=1.0).fit(X, y)
    with pytest.raises(FileNotFoundError):
        manykernels.load(tmp_path / "nothing.mk")
    with pytest.raises(FileNotFoundError, match="no such folder: make it first: .*none'$"):
        model.save(tmp_path / "none" / "model.mk")
    for use in (manykernels.load, model.save):
        with pytest.raises(ValueError, match="is a folder: give the path of a file"):
            use(tmp_path)
    assert not list(tmp_path.iterdir())


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


def npy(shape, dtype="<f8", body=b""):
    head = repr({"descr": dtype, "fortran_order": False, "shape": shape}).encode()
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(head) + 1) + head + b"\n" + body


def test_truth_values_are_bytes_of_0_and_1(path):
    """NumPy counts a byte of 2 neither as True nor as False."""
    text, arrays = unpack(path)
    pack(path, text, arrays | {"a0": npy((3,), "|b1", bytes([0, 2, 1]))})
    refused(path, "a0.npy holds truth values that are neither true nor false")


def test_an_array_that_nothing_refers_to_is_named(path):
    text, arrays = unpack(path)
    pack(path, text, arrays | {"b7": np.zeros(3)})
    refused(path, "'b7.npy' is no part of it")
    pack(path, text, arrays)
    assert isinstance(manykernels.load(path), MKLClassifier)


def test_what_unpacks_to_gigabytes_is_refused_before_it_does(path, monkeypatch):
    monkeypatch.setattr(_archive, "MIN_UNPACKED", 2**24)
    monkeypatch.setattr(_archive, "MIN_TEXT", 2**20)
    deflated, zeros = {"compression": zipfile.ZIP_DEFLATED}, bytes(2**26)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    write(path, members | {"a0.npy": npy((2**23,), body=zeros)}, **deflated)
    with Bounded():
        refused(path, "unpack to 67.*memory_limit")
    lying, size = path.read_bytes(), struct.pack("<I", 2**26 + len(npy((2**23,))))
    assert lying.count(size) == 2
    path.write_bytes(lying.replace(size, struct.pack("<I", 2000)))
    with Bounded():
        refused(path)
    write(path, members | {_archive.TEXT: b" " * 2**23}, **deflated)
    with Bounded():
        refused(path, "unpack to 8,388,608, more than 1,")


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
    for text in (nested(10**6), b'{"format": 2, "kind": "model", "content": {"model": ' + nested(10**5) + b"}}"):
        pack(path, text, {})
        with Bounded(200_000_000):
            refused(path)


def test_an_array_is_named_once(path):
    """Or a short text could ask for many copies of a long array."""
    tree, arrays = unpack(path)
    state = tree["content"]["model"]["state"]
    state["parameters"]["items"]["kernels"] = {"is": "array", "of": "a0"}
    pack(path, tree, arrays)
    refused(path)


def model_node(tree):
    return tree["content"]["model"]


@pytest.mark.parametrize(
    "name", ["predict", "__class__", "_check_X", "decision_parts", "__dict__", "a b", "", "n_jobs"]
)
def test_an_attribute_cannot_stand_in_for_a_method(path, name):
    tree, arrays = unpack(path)
    model_node(tree)["state"][name] = "x"
    pack(path, tree, arrays)
    refused(path, "has no ")


@pytest.mark.parametrize("tag", [
    "bank/degree", "manykernels.kernels.rbf.RBF", "kernel/fitted", "pathlib.Path", "builtins.eval", "os:system", "",
    "../kernel/rbf", "kernel/rbf:RBF",
])  # fmt: skip
def test_only_what_has_a_tag_is_made(path, tag):
    tree, arrays = unpack(path)
    for node in ({"is": "part", "tag": tag, "version": 1, "state": {}}, {"is": "process", "name": tag, "state": {}},
                 {"is": "function", "name": tag}, {"is": tag, "items": []}):  # fmt: skip
        model_node(tree)["state"]["parameters"]["items"]["kernels"] = node
        pack(path, tree, arrays)
        refused(path, "is no part of this release|damaged or not")
    model_node(tree)["tag"] = tag
    pack(path, tree, arrays)
    refused(path, "is no part of this release")


@pytest.mark.parametrize("name", ["Kernel", "Hyperparameter", "clone", "np", "__builtins__"])
def test_of_scikit_learn_only_kernels_are_made(path, name):
    tree, arrays = unpack(path)
    for kind in ("process", "function"):
        model_node(tree)["state"]["parameters"]["items"]["kernels"] = {"is": kind, "name": name, "state": {}}
        pack(path, tree, arrays)
        refused(path)


def test_a_checkpoint_that_asks_for_more_than_there_is_is_refused(tmp_path):
    path = tmp_path / "fit"
    checkpoint_file.Checkpoint(path, {})
    few = {"is": "few", "of": "a0", "at": "a1", "shape": [2**40]}
    empty = {"is": "dict", "items": {}}
    for parts in (
        [{"is": "dict", "items": {"state": few}}],
        [{"is": "dict", "items": {"state": {"is": "bits", "of": "a0", "shape": [2**40]}}}],
        [{"is": "dict", "items": {"state": 1}}],
        [{"is": "dict", "items": {"other": empty}}],
        {},
        [],
        None,
    ):
        header = {"format": 2, "kind": "checkpoint", "content": {"identity": empty, "parts": parts}}
        pack(path, header, {"a0": npy((1,), body=bytes(8)), "a1": npy((0,))} if "few" in str(parts) else {})
        with Bounded(), pytest.raises(ValueError, match="no whole checkpoint"):
            checkpoint_file.Checkpoint(path, {})
    for text in (nested(10**5), b"\xff", b"1", b""):
        write(path, {_archive.TEXT: text})
        with pytest.raises(ValueError, match="no whole checkpoint"):
            checkpoint_file.Checkpoint(path, {})


def test_a_model_is_no_checkpoint_and_an_old_checkpoint_is_called_old(path):
    pack(path, *unpack(path))
    with pytest.raises(ValueError, match="is a 'model' of manykernels, not a 'checkpoint'"):
        checkpoint_file.Checkpoint(path, {})
    write(path, {"checkpoint.json": b"{}"})
    with pytest.raises(ValueError, match="is of format 1, that of versions before the first release"):
        checkpoint_file.Checkpoint(path, {})


def with_kernels(path, value):
    """The file with the JSON `value` as the parameter `kernels`."""
    tree, arrays = unpack(path)
    model_node(tree)["state"]["parameters"]["items"]["kernels"] = "HERE"
    pack(path, tree, arrays)
    with zipfile.ZipFile(path) as file:
        members = {name: file.read(name) for name in file.namelist()}
    write(path, members | {_archive.TEXT: members[_archive.TEXT].replace(b'"HERE"', value.encode())})


SHAPES = {"axes": "1," * 99_999 + "1", "entries": "9" * 4000, "digits": "9" * 5000}


@pytest.mark.parametrize("shape", SHAPES.values(), ids=SHAPES)
def test_an_array_of_a_shape_without_end_is_refused(path, shape):
    with_kernels(path, f'{{"is": "objects", "items": [], "shape": [{shape}]}}')
    with Bounded():
        refused(path)


def test_a_list_of_more_kernels_than_the_model_has_is_refused(path):
    with_kernels(path, f"[{','.join(['0'] * 20_000)}]")
    with Bounded():
        refused(path, "more kernels than names")


def test_honest_keys_are_read(tmp_path):
    keys = [-1, -2, 0, 2**61 - 1, 2**62 - 2, 2**64 - 1, 2**200, "a", 1.5, None]
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
