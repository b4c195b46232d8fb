"""Each value comes back from a file as it was written, or the file is refused."""

import io
import zipfile

import numpy as np
import pytest
import scipy.sparse as sp
from same_objects import differences
from sklearn.gaussian_process.kernels import RBF as GaussianRBF
from sklearn.gaussian_process.kernels import ConstantKernel
from sklearn.metrics.pairwise import cosine_similarity

import manykernels
from manykernels import MKLClassifier, MKLRegressor, _archive
from manykernels._archive import Decoder
from manykernels._state import check_value, read_entries
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(9)
X = rng.normal(size=(30, 10))
y = X[:, 0] + X[:, 2] > 0
KERNEL = ConstantKernel(2.0, (0.1, 10)) * GaussianRBF([1.0, 2.0], "fixed")


def again(folder, value, *options):
    """The value, written to a file and read."""
    _archive.write(folder / "file", "test", {"here": value, "again": [value, 1]}, *options)
    with open(folder / "file", "rb") as stream:
        found = _archive.read(stream, "test")
    assert not list(differences(found["here"], found["again"][0]))
    return found["here"]


VALUES = [
    None, True, 1, -(2**62), 2**70, 0.1, -0.0, float("inf"), float("nan"), "text", [1, "a", [None]], (1, (2.5,), "b"),
    slice(None), slice(3), slice(0, 10, 2), slice(8, None, -3), slice("a", "c", 2), (slice(0, 4, 2), "view"),
    {"a": 1, "b": {"c": (1,)}}, {1: "a", "b": 2.5, None: [1]}, {}, [], (), {1, "a", 2.5}, frozenset([(1, 2)]),
    np.float32(0.1), np.int8(-3), np.bool_(True), np.array([1, "a", None, (2, 3)], object),
    np.array([[1.5, None]], object), np.array([[1, "a", None], [(2, 3), 2.5, "b"]], object),
    np.asfortranarray(np.array([[1, "a", None], [(2, 3), 2.5, "b"]], object)), np.eye(50), np.eye(50) > 0,
    np.asfortranarray(np.eye(50)), np.asfortranarray(np.eye(50)[:40] > 0), np.asfortranarray(np.ones((50, 3))),
    np.array([True, False] * 9), sp.csr_array(np.eye(5)[:, :3]), sp.csr_matrix(np.eye(3)), cosine_similarity, KERNEL,
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(VALUES)))
def test_a_value_comes_back_with_type_order_and_bits(k, tmp_path):
    found = again(tmp_path, VALUES[k])
    assert not list(differences(VALUES[k], found))
    if isinstance(found, np.ndarray) and found.ndim == 2 and found.dtype != object:
        assert found.flags.c_contiguous == VALUES[k].flags.c_contiguous


@pytest.mark.parametrize("bad", [lambda x: x, object(), {(1, 2): 3}], ids=["function", "object", "key"])
def test_a_value_that_no_file_holds_is_refused(bad, tmp_path):
    with pytest.raises(ValueError, match="cannot be saved"):
        again(tmp_path, bad)


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
        found = again(tmp_path, value, packed)
        assert found.dtype == value.dtype.newbyteorder("=") and found.dtype.isnative and found.shape == value.shape
        np.testing.assert_array_equal(found, value)
        assert found.flags.aligned


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


def test_two_members_of_the_same_name_are_refused(tmp_path):
    MKLRegressor([RBF(0.3), Linear()], C=1.0).fit(X, X[:, 0]).save(tmp_path / "m.mk")
    with zipfile.ZipFile(tmp_path / "m.mk") as file:
        members = {name: file.read(name) for name in file.namelist()}
    with pytest.warns(UserWarning, match="Duplicate name"), zipfile.ZipFile(tmp_path / "twice.mk", "w") as file:
        for name in (*members, "a0.npy"):
            file.writestr(name, members[name])
    with pytest.raises(ValueError, match="two of its members have the same name"):
        manykernels.load(tmp_path / "twice.mk")


ROWS = {
    "it falls": [0, 3, 1, 4, 6],
    "it falls at the end": [0, 2, 3, 6, 5],
    "it falls at once": [0, 6, 0, 0, 6],
    "it begins late": [1, 2, 3, 4, 6],
    "it is negative": [0, -1, 3, 4, 6],
    "it ends behind the data": [0, 2, 3, 4, 7],
    "it has a row too many": [0, 1, 2, 3, 4, 6],
}


@pytest.mark.parametrize("dtype", [np.int32, np.int64])
@pytest.mark.parametrize("indptr", ROWS.values(), ids=ROWS)
def test_rows_of_a_sparse_matrix_lie_one_behind_the_other(tmp_path, indptr, dtype):
    value = sp.csr_array((np.arange(1.0, 7.0), np.array([0, 1, 0, 2, 1, 2], dtype), np.array([0, 2, 2, 4, 6], dtype)))
    assert again(tmp_path, value).toarray().sum() == 21.0  # with an empty row
    value.indptr = np.array(indptr, dtype)
    with pytest.raises(ValueError, match="indptr"):
        again(tmp_path, value)


@pytest.mark.parametrize("name", ["indices", "data"])
def test_entries_of_a_sparse_matrix_lie_within_its_columns(tmp_path, name):
    for wrong in ([0, 3, 1], [0, 1], [0, -1, 1]) if name == "indices" else ([1.0, 2.0], ["a"] * 3, [[1.0]] * 3):
        value = sp.csr_array(np.eye(3)[[0, 2, 1]])
        vars(value)[name] = np.array(wrong)
        with pytest.raises(ValueError):
            again(tmp_path, value)


class Members:
    """An archive of arrays without entries, as many as are asked for."""

    def checksums(self):
        return {f"a{i}.npy": 0 for i in range(100)}

    def array(self, name):
        return np.empty(0, np.uint32 if int(name[1:-4]) % 2 else np.float64)


class Arrays(dict):
    """An archive of these arrays."""

    def checksums(self):
        return {f"{name}.npy": 0 for name in self}

    def array(self, name):
        return self[name.removesuffix(".npy")]


def zeros(*sizes):
    """Nodes of arrays of so many zeros, for which no bytes stand."""
    return [{"is": "few", "of": f"a{2 * i}", "at": f"a{2 * i + 1}", "shape": [n]} for i, n in enumerate(sizes)]


@pytest.mark.parametrize("bound", [1000, 1500])
def test_zeros_have_a_bound_on_all_arrays_together(bound):
    third, most = bound // 4, bound
    for nest in (list, lambda nodes: {"is": "dict", "items": dict(zip("abc", nodes, strict=True))}):
        found = Decoder(Members(), {}, most).decode(nest(zeros(third, third, bound - 2 * third)))
        assert sum(map(len, found.values() if isinstance(found, dict) else found)) == bound
        for sizes in ((third, third, bound - 2 * third + 1), (bound, 1, 0), (0, 0, bound + 1)):
            with pytest.raises(ValueError, match="an array has .* entries"):
                Decoder(Members(), {}, most).decode(nest(zeros(*sizes)))
    many = [{"is": "bits", "of": "a0", "shape": [bound]}]  # counts with the others
    with pytest.raises(ValueError, match=f"an array has {bound} entries"):
        Decoder(Members(), {}, most).decode([*zeros(1)[:1], *many])


def test_a_model_file_holds_no_zeros_for_which_no_bytes_stand():
    with pytest.raises(ValueError, match="an array has 0 entries"):
        Decoder(Members(), {}).decode(zeros(0))


def test_the_limit_that_is_given_to_load_is_the_one_that_holds(tmp_path, monkeypatch):
    path = tmp_path / "model.mk"
    model = MKLClassifier([RBF(gamma=0.1)]).fit(X, y)
    model.save(path)
    with zipfile.ZipFile(path) as file:
        whole = sum(info.file_size for info in file.infolist())
    for room in (_archive.MIN_UNPACKED, 1):  # with a default that is larger, and one that is smaller
        monkeypatch.setattr(_archive, "MIN_UNPACKED", room)
        for limit in (whole, whole + 1, "1GB"):
            loaded = manykernels.load(path, memory_limit=limit)
            np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
        for limit in (whole - 1, 1000, "2KB"):
            with pytest.raises(ValueError, match=f"unpack to {whole:,}, more than .*memory_limit"):
                manykernels.load(path, memory_limit=limit)
    with pytest.raises(ValueError, match=f"unpack to {whole:,}, more than 1; .*memory_limit"):
        manykernels.load(path)


@pytest.mark.parametrize(
    "node",
    [
        {"is": "numbers", "dtype": "<f8", "shape": [9], "items": [0.0] * 9},
        {"is": "numbers", "dtype": "<f8", "shape": [3], "items": [0.0] * 2},
        {"is": "numbers", "dtype": "<c16", "shape": [1], "items": [0.0]},
        {"is": "numbers", "dtype": "<f8", "shape": [1], "items": ["a"]},
        {"is": "scalar", "dtype": "<f8", "value": [1]}, {"is": "array", "of": "b0"}, {"is": "unheard"},
        {"is": "few", "of": "a0", "at": "a1", "shape": [3]}, {"is": "objects", "shape": [2], "items": [1]},
        {"is": "numbers", "dtype": "<f8", "shape": [1] * 99, "items": [0.0]},
        {"is": "pairs", "items": [[1, 2], [[1], 3]]}, {"is": "pairs", "items": [[1, 2, 3]]},
        {"is": "few", "of": "a0", "at": "a1", "shape": [-3]}, {"is": "few", "of": "a0", "at": "a1", "shape": [2**40]},
        {"is": "function", "name": "_return_float_dtype"}, {"is": "dict", "items": []},
    ],
)  # fmt: skip
def test_damaged_values_are_refused(node):
    with pytest.raises((ValueError, KeyError, TypeError, IndexError)):
        Decoder(Arrays(a0=np.array([1.0, 2.0]), a1=np.array([0, 3], np.uint32)), {}, 100).decode(node)


def test_a_letter_of_a_failed_alternative_is_free_for_the_next():
    check_value("x", np.ones((3, 5)), "f8 M or f8 T M", {})


def fits(value, spec, **sizes):
    """Whether the engine takes a value for the entry x of that spec; if not, it names the entry."""
    try:
        check_value("x", value, spec, {"big": 2**48, **sizes})
    except ValueError as error:
        assert "x" in str(error)
        return False
    return True


i8 = np.array


SPECS = {  # spec: the values that fit, those that do not
    "int 0 <4": ([0, 3, np.int64(3)], [-1, 4, 1.0, True, "1", None]),
    "?int 1": ([1, None, 2**48 - 1], [0, 2**48]),
    "flag": ([True], [1, None]), "number": ([1, 2.5, np.float64(np.nan)], ["1", True, None, [1.0]]),
    "finite": ([1.0], [np.nan, np.inf, "1"]), "of a b": (["a", "b"], ["c", 1, None]), "text": (["a"], [1]),
    "list 2 text": ([["a", "b"]], [["a", 1], ["a"], ("a", "b"), "ab"]),
    "list M f8 M": ([[np.zeros(1)], [np.zeros(2)] * 2, []], [[np.zeros(2)], [np.zeros(2), np.zeros(1)]]),
    "f8 2 _": ([np.zeros((2, 3)), np.zeros((2, 0))],
               [np.zeros((3, 2)), np.zeros(2), np.zeros((2, 3, 1)), np.zeros((2, 3), np.float32), [[0.0] * 3] * 2]),
    "f8 n n": ([np.eye(2)], [np.ones((2, 3))]), "f8 n finite": ([np.ones(2)], [np.array([1.0, np.nan])]),
    "f8 n positive": ([np.ones(2)], [np.array([1.0, 0.0])]),
    "i8 n <5": ([i8([0, 4]), np.zeros(0, np.int64)], [i8([0, 5]), i8([-1, 0]), i8([0, 4], np.int32)]),
    "i8 n <5 >=-1": ([i8([-1, 4])], [i8([-2])]), "i8 n asc": ([i8([1, 2])], [i8([1, 1]), i8([2, 1])]),
    "i8 3 asc 0..5": ([i8([0, 2, 5])], [i8([0, 2, 4]), i8([1, 2, 5]), i8([0, 5]), i8([0, 0, 5]), i8([0, 6, 5])]),
    "csr 2 _": ([sp.csr_array(np.eye(2))],
                [sp.csr_array(np.eye(3)), sp.csc_array(np.eye(2)), np.eye(2), sp.csr_array(np.eye(2, dtype="f4"))]),
    "csr|f8 2 2": ([sp.csr_array(np.eye(2)), np.eye(2)], [sp.csc_array(np.eye(2)), np.ones((2, 3))]),
    "number or f8 2": ([1.0, np.ones(2)], [np.ones(3), "1"]), "Sum": ([Linear() + Linear()], [Linear(), None, 3]),
    "Kernel": ([Linear()], [np.ones(2), None]), "jobs": ([None, 1, -1, 1024], [0, 1025, 1.0, True]),
    "plain": ([1, [1, "a", None, {"b": np.ones(2)}, (2.5, slice(1)), np.float32(1)]],
              [object(), [object()], {"a": object()}, np.array([None]), b"x"]),
    "labels": ([np.array(["a", 1], object)], [np.array([object()]), np.ones((2, 2)), ["a"]]),
    "records": ([[{"a": 1, "b": None, "c": "t", "d": np.float64(1)}]], [[{"a": [1]}], [{1: 1}], [[1]], {"a": 1}]),
}  # fmt: skip


@pytest.mark.parametrize("spec", SPECS)
def test_a_spec_takes_its_boundary_and_refuses_one_beyond(spec):
    good, bad = SPECS[spec]
    assert [fits(value, spec) for value in good] == [True] * len(good)
    assert [fits(value, spec) for value in bad] == [False] * len(bad)


def test_letters_are_one_number_in_an_object():
    saved = {"n": "int 1", "at": "i8 m <n", "values as own": "f8 m d", "scale": "?f8 d"}
    state = {"n": 3, "at": np.array([0, 2]), "values": np.ones((2, 4)), "scale": np.ones(4)}
    assert read_entries(saved, state).keys() == {"n", "at", "own", "scale"}
    assert read_entries(saved, {key: state[key] for key in ("n", "at", "values")})["scale"] is None
    for name, wrong in (("n", 2), ("at", np.zeros(3, int)), ("values", np.ones((2, 3))), ("scale", np.ones(3))):
        with pytest.raises(ValueError, match="^(at|values|scale) has"):
            read_entries(saved, state | {name: wrong})
    with pytest.raises(KeyError, match="values"):
        read_entries(saved, {"n": 3, "at": state["at"]})
