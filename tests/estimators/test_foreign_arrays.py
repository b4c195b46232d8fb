"""Arrays in files, whatever their byte order, layout and type: they come back with the same values, in native order."""

import io
import zipfile

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor, _archive, load
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(4)
PLAIN = {
    "f8": rng.normal(size=(3, 4)), "f4": rng.normal(size=(5, 3)).astype(np.float32), "f2": np.arange(12, dtype="f2"),
    "i8": np.arange(-9, 9).reshape(3, 6), "i2": np.arange(10, dtype="i2"), "u4": np.arange(20, dtype="u4"),
    "b1": np.arange(12) % 5 > 1, "c16": rng.normal(size=9) + 1j * rng.normal(size=9),
    "U": np.array(["a", "bcd", "ef"] * 4), "S": np.array([b"a", b"bcd"] * 6),
    "M": np.arange("2020-01", "2021-01", dtype="M8[M]").astype("M8[D]"), "m": np.arange(12).astype("m8[s]"),
    "empty": np.zeros((0, 3)), "one": np.array(2.5), "big": rng.normal(size=(300, 70)),
}  # fmt: skip


def orders(value):
    """The same entries in the other byte order, in Fortran order, and as a strided view."""
    yield value
    if value.dtype.itemsize > 1 and value.dtype.kind not in "S":
        yield value.astype(value.dtype.newbyteorder(">"))
        yield np.asfortranarray(value.astype(value.dtype.newbyteorder(">")))
    yield np.asfortranarray(value)
    if value.ndim:
        yield np.repeat(value, 2, axis=0)[::2]
        yield value[::-1]


@pytest.mark.parametrize("packed", [True, False])
@pytest.mark.parametrize("kind", PLAIN)
def test_arrays_come_back_in_native_order_with_their_values(kind, packed, tmp_path):
    for value in orders(PLAIN[kind]):
        _archive.write(tmp_path / "file", "test", {"here": value, "again": [value, 1]}, packed)
        with open(tmp_path / "file", "rb") as stream:
            found = _archive.read(stream, "test")
        for one in (found["here"], found["again"][0]):
            assert one.dtype == value.dtype.newbyteorder("=") and one.dtype.isnative and one.shape == value.shape
            np.testing.assert_array_equal(one, value)
            assert one.flags.aligned


@pytest.mark.parametrize("version", [(1, 0), (2, 0)])
@pytest.mark.parametrize("offset", range(4))
def test_members_are_read_from_any_place_and_either_version_of_the_header(version, offset, tmp_path):
    """An array whose entries begin at an odd byte is copied, so that loops may read it."""
    value = rng.normal(size=(4, 5)).astype(">f4")
    body = io.BytesIO()
    np.lib.format.write_array(body, value, version=version)
    with zipfile.ZipFile(tmp_path / "z", "w") as file:
        file.writestr("x" * (offset + 1), b"y" * (offset + 1))
        file.writestr("a0.npy", body.getvalue())
    with open(tmp_path / "z", "rb") as stream:
        found = _archive.Archive(stream).array("a0.npy")
    assert found.flags.aligned and found.dtype == np.float32
    np.testing.assert_array_equal(found, value)


def test_a_truth_value_that_is_neither_is_refused_wherever_it_stands(tmp_path):
    for at in (0, 7, 11):
        raw = np.zeros(12, np.uint8)
        raw[at] = 2
        body = io.BytesIO()
        np.lib.format.write_array(body, raw.view(bool))
        with zipfile.ZipFile(tmp_path / "z", "w") as file:
            file.writestr("a0.npy", body.getvalue())
        with open(tmp_path / "z", "rb") as stream, pytest.raises(ValueError, match="a0.npy holds truth values"):
            _archive.Archive(stream).array("a0.npy")


def test_models_of_data_in_the_other_byte_order_are_those_of_the_same_numbers(tmp_path):
    X = rng.normal(size=(30, 3))
    y, labels = X[:, 0] - X[:, 2], (X[:, 1] > 0).astype(int)
    kernels = [("a", RBF(0.3), [0, 1]), ("b", Linear(), [2])]
    for cls, target in ((MKLRegressor, y), (MKLClassifier, labels)):
        whole = cls(kernels, C=1.0).fit(X, target)
        other = cls(kernels, C=1.0).fit(X.astype(">f8"), target.astype(target.dtype.newbyteorder(">")))
        other.save(tmp_path / "m.mk")
        again = load(tmp_path / "m.mk")
        for one in (other, again):
            np.testing.assert_array_equal(one.predict(X), whole.predict(X))
            np.testing.assert_array_equal(one.predict(X.astype(">f8")), whole.predict(X))
        if cls is MKLClassifier:
            assert again.classes_.dtype.isnative and again.classes_.tolist() == [0, 1]


def test_members_in_any_order_and_twice_the_same_name(tmp_path):
    model = MKLRegressor([RBF(0.3), Linear()], C=1.0).fit(rng.normal(size=(40, 2)), rng.normal(size=40))
    model.save(tmp_path / "m.mk")
    with zipfile.ZipFile(tmp_path / "m.mk") as file:
        members = {name: file.read(name) for name in file.namelist()}
    X = rng.normal(size=(5, 2))
    for order in (sorted(members), sorted(members, reverse=True)):
        with zipfile.ZipFile(tmp_path / "other.mk", "w") as file:  # unpacked, in another order
            for name in order:
                file.writestr(name, members[name])
        np.testing.assert_array_equal(load(tmp_path / "other.mk").predict(X), model.predict(X))
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(tmp_path / "twice.mk", "w") as file:
        for name in (*members, "a0.npy"):
            file.writestr(name, members[name])
    with pytest.raises(ValueError, match="two of its members have the same name"):
        load(tmp_path / "twice.mk")
