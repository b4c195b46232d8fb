"""What files hold, and the checks of what is read from them, at both sides of every boundary."""

import json

import numpy as np
import pytest
import scipy.sparse as sp

from manykernels._archive import Decoder, Encoder
from manykernels._state import check_sparse, check_value, read_entries
from manykernels.kernels import Linear

rng = np.random.default_rng(9)


class Members:
    """The arrays of a file, in memory."""

    def __init__(self, arrays):
        self.arrays = {f"{name}.npy": array for name, array in arrays.items()}

    def checksums(self):
        return dict.fromkeys(self.arrays, 0)

    def array(self, name):
        return self.arrays[name]


def there_and_back(value):
    encoder = Encoder()
    node = json.loads(json.dumps(encoder.encode(value, "value")))
    decoder = Decoder(Members(encoder.arrays), {})
    found = decoder.decode(node)
    assert not decoder.unread  # each member is used, and once
    return found


def same(one, other):
    if isinstance(one, np.ndarray | np.generic):
        strict = type(one) is type(other) and one.dtype == other.dtype and one.shape == other.shape
        return strict and one.tobytes() == other.tobytes() if one.dtype != object else strict and all(
            same(a, b) for a, b in zip(one.ravel(), other.ravel(), strict=True))  # fmt: skip
    if isinstance(one, list | tuple):
        return type(one) is type(other) and len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return list(one) == list(other) and [type(k) for k in one] == [type(k) for k in other] and all(
            same(one[k], other[k]) for k in one)  # fmt: skip
    return type(one) is type(other) and (one == other or one != one)


def sparse(size, dtype, share):
    out = np.zeros(size, dtype)
    out[rng.permutation(size)[: max(1, int(share * size))]] = 3
    return out


VALUES = [
    None, True, 1, -(2**62), 2**70, 0.1, float("inf"), float("nan"), "text", [1, "a", [None]], (1, (2.5,), "b"),
    slice(1, None, 2),
    {"a": 1, "b": {"c": (1,)}}, {1: "a", "b": 2.5, None: [1]}, {}, [], (), np.float32(0.1), np.int8(-3), np.bool_(True),
    np.array(1.5), np.zeros((0, 3)), np.arange(8.0).reshape(2, 4), np.arange(9.0), np.arange(9, dtype=np.int16),
    np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.array(["a", "bcd"]), np.array([1, "a", None, (2, 3)], object),
    np.array([[1.5, None]], object), rng.random((5, 7)).astype(np.float32), np.array([True, False] * 9),
]  # fmt: skip


@pytest.mark.parametrize("k", range(len(VALUES)))
def test_values_come_back_with_type_order_and_bits(k):
    found = there_and_back(VALUES[k])
    assert same(VALUES[k], found)
    if isinstance(found, np.ndarray) and found.ndim == 2 and found.size > 1:
        assert found.flags.f_contiguous == VALUES[k].flags.f_contiguous


def test_objects_in_any_order_come_back_at_their_places():
    value = np.array([[1, "a", None], [(2, 3), 2.5, "b"]], object)
    assert same(value, there_and_back(np.asfortranarray(value))) and same(value.T, there_and_back(value.T))


def test_sets_scalars_and_sparse_matrices_come_back():
    assert there_and_back({1, "a", (2, 3)}) == {1, "a", (2, 3)} and there_and_back(frozenset({1})) == frozenset({1})
    for make in (sp.csr_array, sp.csr_matrix):
        value = make(sparse(30, float, 0.2).reshape(5, 6))
        found = there_and_back(value)
        assert type(found) is type(value) and (found != value).nnz == 0 and found.shape == (5, 6)
    from sklearn.gaussian_process.kernels import RBF, ConstantKernel
    from sklearn.metrics.pairwise import cosine_similarity

    assert there_and_back(cosine_similarity) is cosine_similarity
    kernel = ConstantKernel(2.0, (0.1, 10)) * RBF([1.0, 2.0], "fixed")
    assert repr(there_and_back(kernel)) == repr(kernel)
    for bad in (lambda x: x, object(), {(1, 2): 3}):
        with pytest.raises(ValueError, match="cannot be saved"):
            Encoder().encode(bad, "model.x")


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
    at = np.array([0, 3], np.uint32)
    members = Members({"a0": np.array([1.0, 2.0]), "a1": at, "a2": at[::-1].copy()})
    with pytest.raises((ValueError, KeyError, TypeError, IndexError)):
        Decoder(members, {}, 100).decode(node)


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


def test_a_sparse_matrix_has_indices_within_its_shape():
    good = dict(data=np.ones(3), indices=np.array([0, 2, 1]), indptr=np.array([0, 2, 2, 3]), rows=3, columns=3)
    check_sparse(**good)
    check_sparse(**good | dict(indices=np.array([0, 2, 1], np.int32), indptr=np.array([0, 2, 2, 3], np.int32)))
    wrong = [dict(indptr=np.array(bad)) for bad in ([0, 2, 1, 3], [1, 2, 2, 3], [0, 2, 2, 4], [0, 2, 3])]
    wrong += [dict(indices=np.array([0, 3, 1])), dict(indices=np.array([0, 1])), dict(rows=4), dict(columns=2)]
    for bad in [*wrong, dict(data=np.ones((3, 1))), dict(data=np.array(["a"] * 3))]:
        with pytest.raises(ValueError):
            check_sparse(**good | bad)
