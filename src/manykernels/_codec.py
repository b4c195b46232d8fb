"""States as JSON: dictionaries of numbers, texts, arrays, lists of those and other parts, each under its tag.

Numbers, texts, None and lists are written as JSON values; everything else is a JSON object whose key `is` names its
kind. Small arrays are written in the text, larger ones as separate members. Each member is used once, so that the
length of a file bounds the memory that its values take.
"""

import math
import os
import re
import types
from collections import Counter

import numpy as np
import scipy.sparse as sp

from ._state import check, check_array, check_index, check_integer, check_is, check_plain, check_sparse
from ._tags import TRANSFORMER, reader, tag_of
from ._validation import Bytes

MAX_INLINE = 8  # entries of an array in the text
MIN_SPARSE_ENTRIES = 2**22  # entries that all sparse arrays of a file together may have, more if the reader says so
MAX_AXES = 32  # axes of an array
MAX_LARGE_INTEGERS = 1024  # integers beyond 64 bits in a file
MAX_SAME_HASH = 16  # keys with the same hash in a set or dict; Python compares them one by one
_MEMBER = re.compile(r"a[0-9]{1,9}")
_NUMBER = re.compile(r"[<|][biuf][1248]")
_PLAIN = (str, float, type(None))  # written as JSON values
_KEYS = (str, int, float, type(None), np.generic)  # keys of dicts, members of sets
_PAIRWISE, _PROCESS = "sklearn.metrics.pairwise", "sklearn.gaussian_process.kernels"
_FUNCTIONS = ("_kernel", "_similarity", "_distances")
_WORDS = {tuple: "tuple", set: "set", frozenset: "frozenset"}


class Encoder:
    """Encodes values as JSON; `arrays` {name: array} are the members to write beside the text.

    With `most`, sparse arrays are written as their nonzero entries, truth values as bits and NumPy scalars as plain
    numbers, within the limits of a `Decoder` with the same `most`.
    """

    def __init__(self, most=None):
        self.sparse, self.left, self.arrays = most is not None, _most(most), {}

    def encode(self, value, where):
        """`value` as JSON; `where` is its path in the model, for errors."""
        if isinstance(value, Bytes):
            return int(value)
        if value is None or isinstance(value, (bool, int, float, str)) and type(value).__module__ == "builtins":
            return value
        if isinstance(value, list) or self.sparse and type(value) is tuple:
            return self._list(value, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic):
            return self._scalar(value)
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if type(value) in _WORDS:
            return {"is": _WORDS[type(value)], "items": self._list(value, where)}
        if type(value) is slice:
            return {"is": "slice", "items": self._list([value.start, value.stop, value.step], where)}
        if isinstance(value, dict):
            return self._dict(value, where)
        if sp.issparse(value) and value.format == "csr":
            parts = self._list([value.data, value.indices, value.indptr], where)
            return {"is": "csr", "array": isinstance(value, sp.sparray), "shape": value.shape, "items": parts}
        return self._other(value, where)

    def _list(self, items, where):
        return [self.encode(item, f"{where}[{i}]") for i, item in enumerate(items)]

    def _states(self, state, where):
        return {key: self.encode(item, f"{where}.{key}") for key, item in state.items()}

    def _dict(self, value, where):
        strange = [key for key in value if not isinstance(key, _KEYS)]
        if strange:
            raise ValueError(f"{where} has the key {strange[0]!r}, which cannot be saved: use a number or a text.")
        if all(type(key) is str for key in value):
            return {"is": "dict", "items": self._states(value, where)}
        items = [[self.encode(key, where), self.encode(item, f"{where}.{key}")] for key, item in value.items()]
        return {"is": "pairs", "items": items}

    def _array(self, value, where):
        if value.dtype == object:
            return {"is": "objects", "shape": value.shape, "items": self._list(value.ravel().tolist(), where)}
        if value.flags.f_contiguous and not value.flags.c_contiguous:  # a member of its own keeps the order of entries
            return {"is": "array", "of": self._aside(value)}
        if value.size <= MAX_INLINE and _NUMBER.fullmatch(value.dtype.str):
            return {"is": "numbers", "dtype": value.dtype.str, "shape": value.shape, "items": value.ravel().tolist()}
        if value.dtype == bool and self._saves(value):
            return {"is": "bits", "of": self._aside(np.packbits(value)), "shape": value.shape}
        if 3 * np.count_nonzero(value) < 2 * value.size < 2**33 and self._saves(value):
            at = np.flatnonzero(value)
            aside = self._aside(value.ravel()[at]), self._aside(at.astype(np.uint32))
            return {"is": "few", "of": aside[0], "at": aside[1], "shape": value.shape}
        return {"is": "array", "of": self._aside(value)}

    def _saves(self, array):
        """Whether a sparse or packed form of the array takes fewer bytes."""
        fits = array.size <= self.left
        self.left -= array.size * fits
        return fits

    def _aside(self, array):
        """The name of the member that holds the array."""
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name

    def _scalar(self, value):
        if self.sparse:
            return value.item()
        if _NUMBER.fullmatch(value.dtype.str):
            return {"is": "scalar", "dtype": value.dtype.str, "value": value.item()}
        return {"is": "entry", "of": self._aside(np.asarray(value))}

    def _other(self, value, where):
        module, name, tag = type(value).__module__, type(value).__qualname__, tag_of(type(value))
        if tag is not None and hasattr(value, "to_state"):  # a user's object may lack it
            node = {"is": "part", "tag": tag[0], "version": tag[1]}
            if not module.startswith(f"{__package__}."):
                node["class"] = f"{module}.{name}"
            return node | {"state": self._states(value.to_state(), where or name)}
        if is_function(value):
            return {"is": "function", "name": value.__name__}
        if module.startswith("sklearn.") and hasattr(value, "transform"):  # scikit-learn's transformer
            node = {"is": "part", "tag": TRANSFORMER[0], "version": TRANSFORMER[1]}
            return node | {"state": self._states(reader(TRANSFORMER, {}).to_state(value), where)}
        if module == _PROCESS:
            return {"is": "process", "name": name, "state": self._states(value.get_params(deep=False), where)}
        raise ValueError(f"{where} = {value!r} cannot be saved without pickle: {_cure(value)}, or pickle the model.")


def _cure(value):
    """The cure for a value that cannot be written."""
    cls = type(value)
    strange = isinstance(value, type) or hasattr(value, "__code__")  # a user's function
    if strange or cls.__module__.partition(".")[0] in (__package__, "sklearn", "builtins", "numpy"):
        return "use a kernel of manykernels.kernels, kernels='precomputed' or a plain value in its place"
    solves, stored = hasattr(value, "solve"), hasattr(value, "to_state")  # a user's object
    solver = "a fitted model does not need its solver, so set_params(solver='auto') first, or " if solves else ""
    wants = "" if stored else ", to_state() and from_state(state)"
    name = cls.__qualname__
    return f'{solver}give {name} a file_tag = ("name", 1){wants}, and load with parts=[{name}]'


def is_function(value):
    """Whether it is a kernel function of scikit-learn; files hold its name."""
    plain = isinstance(value, types.FunctionType) and value.__module__ == _PAIRWISE
    return plain and value.__name__.endswith(_FUNCTIONS) and not value.__name__.startswith("_")


class Decoder:
    """Decodes JSON with the arrays of an `Archive`; `found` are classes from outside the package, by tag.

    All sparse arrays together have at most `most` entries; None allows no sparse array.
    """

    KINDS = (
        "array", "numbers", "bits", "few", "scalar", "entry", "objects", "tuple", "set", "frozenset", "slice", "dict",
        "pairs", "csr", "function", "process", "part",
    )  # fmt: skip

    def __init__(self, archive, found, most=None):
        self.archive, self.found, self.left = archive, found, _most(most)
        self.unread, self.large = set(archive.checksums()), 0

    def decode(self, node):
        if isinstance(node, list):
            for i, item in enumerate(node):  # in place, to save memory
                if not isinstance(item, _PLAIN):
                    node[i] = self.decode(item)
            return node
        if not isinstance(node, dict):
            if isinstance(node, int) and not -(2**63) <= node < 2**64:  # they make it easy to collide hashes
                self.large += 1
                most = MAX_LARGE_INTEGERS
                check(self.large <= most, f"it holds more than {most} integers beyond 64 bits")
            return node
        kind = node["is"]
        if kind not in self.KINDS:
            raise ValueError(f"it holds the unknown kind {str(kind)[:80]!r}")
        return getattr(self, f"_{kind}")(node)  # its own method, one of KINDS

    def _member(self, name):
        check(isinstance(name, str) and _MEMBER.fullmatch(name), f"an array is called {str(name)[:80]!r}")
        self.unread.remove(f"{name}.npy")
        return self.archive.array(f"{name}.npy")

    def _items(self, node, *kinds):
        items = self.decode(node["items"])
        if not isinstance(items, list) or kinds and not all(isinstance(item, kinds) for item in items):
            raise ValueError(f"a {node['is']} in it holds something else")
        return items

    def _shape(self, node, size=None):
        """The shape that a node declares, for `size` entries."""
        shape = check_is("shape", node["shape"], list)
        check(len(shape) <= MAX_AXES, f"an array has {len(shape)} axes")
        shape = [check_integer("an entry of shape", length, 0, 2**48) for length in shape]
        count = math.prod(shape)
        check(size is None or count == size, f"an array of {size} has shape {shape}")
        return shape, count

    def _entries(self, node):
        """The shape and size of a sparse array; all of them together have a bound."""
        shape, size = self._shape(node)
        self.left -= size
        check(self.left >= 0, f"an array has {size} entries")
        return shape, size

    def _array(self, node):
        return self._member(node["of"])

    def _numbers(self, node):
        values = check_is("numbers", node["items"], list)
        numbers = len(values) <= MAX_INLINE and all(isinstance(v, bool | int | float) for v in values)
        check(numbers, "an array in the text is too long, or does not hold numbers")
        return np.array(values, _dtype(node["dtype"])).reshape(self._shape(node, len(values))[0])

    def _bits(self, node):
        shape, size = self._entries(node)
        value = self._member(node["of"])
        check_array("bits", value, np.uint8, -(-size // 8))
        return np.unpackbits(value, count=size).view(bool).reshape(shape)

    def _few(self, node):
        shape, size = self._entries(node)
        entries, at = self._member(node["of"]), self._member(node["at"])
        check_index("at", at, size, len(entries), ascending=True, dtype=np.uint32)
        value = np.zeros(size, entries.dtype)
        value[at] = entries
        return value.reshape(shape)

    def _scalar(self, node):
        check(isinstance(node["value"], bool | int | float), "a number is something else")
        return np.array(node["value"], _dtype(node["dtype"]))[()]

    def _entry(self, node):
        array = self._member(node["of"])
        check(array.ndim == 0, "a number in it is an array")
        return array[()]

    def _objects(self, node):
        items = self._items(node)
        value = np.empty(len(items), dtype=object)
        for i, item in enumerate(items):
            value[i] = item
        return value.reshape(self._shape(node, len(items))[0])

    def _tuple(self, node):
        return tuple(self._items(node))

    def _set(self, node):
        return set(_with_hashes(self._items(node, *_KEYS, tuple, frozenset)))

    def _frozenset(self, node):
        return frozenset(self._set(node))

    def _slice(self, node):
        return slice(*self._items(node, *_KEYS))

    def _dict(self, node):
        return {key: self.decode(item) for key, item in check_is("items", node["items"], dict).items()}

    def _pairs(self, node):
        keys = [self.decode(key) for key, _ in node["items"]]
        check(all(isinstance(key, _KEYS) for key in keys), "a dict in it has a key of another type")
        value = dict.fromkeys(_with_hashes(keys))
        check(len(value) == len(keys), "a dict in it has a key twice")
        for key, (_, item) in zip(keys, node["items"], strict=True):
            value[key] = self.decode(item)
        return value

    def _csr(self, node):
        parts, shape = self._items(node), tuple(node["shape"])
        check_sparse(*parts, *shape)
        return (sp.csr_array if node["array"] else sp.csr_matrix)(tuple(parts), shape=shape)

    def _function(self, node):
        from sklearn.metrics import pairwise

        value = getattr(pairwise, check_is("name", node["name"], str), None)  # scikit-learn's module
        check(is_function(value), f"it names {node['name'][:80]!r} where a kernel of scikit-learn should be")
        return value

    def _process(self, node):
        """A kernel of scikit-learn's Gaussian processes, made from its parameters."""
        from sklearn.gaussian_process import kernels

        cls = getattr(kernels, check_is("name", node["name"], str), None)  # scikit-learn's module
        named = isinstance(cls, type) and issubclass(cls, kernels.Kernel) and cls.__module__ == _PROCESS
        check(named, f"it names {node['name'][:80]!r} where a kernel of Gaussian processes should be")
        state = self._state(node)
        for name, value in state.items():
            check_plain(name, value, (kernels.Kernel,))
            numbers = not name.endswith(("_bounds", "metric", "_kwargs"))
            check(not (numbers and isinstance(value, str | None)), f"{name} is {value!r}")
        kernel = cls(**state)
        check(kernel.get_params(deep=False).keys() == state.keys(), f"{cls.__name__} has other parameters")
        return kernel

    def _state(self, node):
        return {name: self.decode(item) for name, item in check_is("a state", node["state"], dict).items()}

    def _part(self, node):
        tag = check_is("a tag", node["tag"], str)[:80], check_integer("a version", node["version"], 1, 2**31)
        cls = reader(tag, self.found, str(node.get("class", ""))[:80])
        return cls.from_state(self._state(node))


def _most(most):
    """The entries that all sparse arrays together may have; -1 refuses even an empty one."""
    return -1 if most is None else max(most, MIN_SPARSE_ENTRIES)


def _dtype(name):
    check(isinstance(name, str) and _NUMBER.fullmatch(name) is not None, f"it names the dtype {str(name)[:80]!r}")
    return np.dtype(name)


def _with_hashes(keys):
    """`keys` of a set or dict; a ValueError if too many have the same hash."""
    most = max(Counter(map(hash, keys)).values(), default=0)
    check(most <= MAX_SAME_HASH, f"{most} keys in it have one hash")
    return keys
