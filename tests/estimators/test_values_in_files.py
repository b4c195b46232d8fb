"""Each value comes back from a file as it was written, or the file is refused. Issue 11, point 24."""

import zipfile

import numpy as np
import pytest
import scipy.sparse as sp

import manykernels
from manykernels import MKLClassifier, _archive
from manykernels._archive import Decoder
from manykernels.kernels import RBF, Linear

X = np.random.default_rng(0).normal(size=(30, 10))
y = X[:, 0] + X[:, 2] > 0

VALUES = [
    slice(None), slice(3), slice(1, 9), slice(0, 10, 2), slice(None, None, -1), slice(8, None, -3), slice("a", "c", 2),
    (slice(0, 4, 2), "view"), ("x", (1, [2.5, None])), {1, "a", 2.5}, frozenset([(1, 2)]),
    {"a": slice(0, 2, 1), 3: None}, np.float32(0.1), np.int8(-3), np.bool_(True), True, 2**70, -0.0,
]  # fmt: skip


def same(a, b):
    if isinstance(a, set) and isinstance(b, set):  # their order is that of hashes, which differ between processes
        a, b = sorted(map(repr, a)), sorted(map(repr, b))
    return type(a) is type(b) and repr(a) == repr(b)


@pytest.mark.parametrize("value", VALUES, ids=lambda value: "set" if isinstance(value, set) else repr(value))
def test_a_value_comes_back_with_all_its_parts(tmp_path, value):
    """NumPy's truth values were written, and refused when they were read."""
    _archive.write(tmp_path / "file", "model", {"value": value})
    with open(tmp_path / "file", "rb") as stream:
        assert same(_archive.read(stream, "model")["value"], value)


@pytest.mark.parametrize("columns", [slice(0, 10, 2), slice(9, None, -3), slice(4), [0, 2], np.arange(10) % 3 == 0])
def test_a_model_from_a_file_is_refitted_on_the_same_columns(tmp_path, columns):
    model = MKLClassifier([("some", RBF(gamma=0.3), columns), ("all", RBF(gamma=0.1))], tol=1e-6).fit(X, y)
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    assert same(again.get_params()["kernels"][0][2], columns)
    np.testing.assert_array_equal(again.fit(X, y).dual_coef_, model.dual_coef_)


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
@pytest.mark.parametrize("kind", [sp.csr_array, sp.csr_matrix])
@pytest.mark.parametrize("indptr", ROWS.values(), ids=ROWS)
def test_rows_of_a_sparse_matrix_lie_one_behind_the_other(tmp_path, indptr, kind, dtype):
    def write(indptr):
        value = kind((np.arange(1.0, 7.0), np.array([0, 1, 0, 2, 1, 2], dtype), np.array([0, 2, 2, 4, 6], dtype)))
        value.indptr = np.array(indptr, dtype)
        _archive.write(tmp_path / "file", "model", {"value": value})
        with open(tmp_path / "file", "rb") as stream:
            return _archive.read(stream, "model")["value"]

    assert write([0, 2, 2, 4, 6]).toarray().sum() == 21.0  # with an empty row
    with pytest.raises(ValueError, match="indptr"):
        write(indptr)


class Members:
    """An archive of arrays without entries, as many as are asked for."""

    def checksums(self):
        return {f"a{i}.npy": 0 for i in range(100)}

    def array(self, name):
        return np.empty(0, np.uint32 if int(name[1:-4]) % 2 else np.float64)


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


class Arrays(dict):
    """An archive of these arrays."""

    def checksums(self):
        return {f"{name}.npy": 0 for name in self}

    def array(self, name):
        return self[name.removesuffix(".npy")]


def test_truth_values_have_a_bit_each():
    node = {"is": "bits", "of": "a0", "shape": [12]}
    assert Decoder(Arrays(a0=np.full(2, 255, np.uint8)), {}, 100).decode(dict(node)).tolist() == [True] * 12


def test_a_member_of_a_file_is_one_value():
    """Issue 11, point 24. A value for each mention of a large member would take more memory than the limit."""
    nodes = [{"is": "array", "of": "a0"}, {"is": "array", "of": "a1"}]
    assert [len(value) for value in Decoder(Arrays(a0=np.zeros(3), a1=np.zeros(4)), {}).decode(list(nodes))] == [3, 4]
    with pytest.raises(KeyError, match="a0"):
        Decoder(Arrays(a0=np.zeros(3), a1=np.zeros(4)), {}).decode([nodes[0], nodes[0]])


def test_a_memory_limit_with_its_unit_comes_back_as_it_was_given(tmp_path):
    model = MKLClassifier([Linear()], C=1.0, solver="coordinate", memory_limit="500MB").fit(X, y)  # the bank has it too
    model.save(tmp_path / "model.mk")
    again = manykernels.load(tmp_path / "model.mk")
    assert again.memory_limit == "500MB" and again.kernel_names_ == model.kernel_names_
    np.testing.assert_array_equal(again.decision_function(X), model.decision_function(X))
    assert vars(again).keys() == vars(model).keys()
