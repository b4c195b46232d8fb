"""Models as files: a zip of JSON (structure, parameters) and npz (arrays), read without pickle.

Objects of this package and of `sklearn.gaussian_process` are written by class name and attributes; anything that
only code could restore (a function, a foreign object) is refused by name. A file is not trusted: what it unpacks to is
bounded, and every object is checked before anything works with it (see `_restored` and `_state`).
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import zipfile
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from .. import __version__
from .._archive import Archive
from .._state import check_sparse
from .._validation import parse_bytes
from ..banks._base import Predictor
from ..solvers import BaseSolver
from ._restored import find, is_function, may_be_stored, restore

FORMAT = 1
_SEQUENCES = "manykernels.sequences.packed"
_KEYS = (str, int, float, type(None), np.generic)  # of dicts, and members of sets
_PARTS = (
    "array", "scalar", "objects", "object", "named", "tuple", "set", "slice", "dict", "dtype", "sparse", "function",
    "sequences",
)  # fmt: skip
_SPARSE = ("csr_array", "csr_matrix")
_UNFOLDED = 2**20  # parts that a model may always have, each counted as often as it occurs


def save(model, path):
    """Write `model` to the file `path`."""
    arrays = {}
    tree = _encode(model, arrays, {}, type(model).__name__)
    buffer = io.BytesIO()
    np.savez_compressed(buffer, **arrays)
    members = {"model.json": json.dumps(tree, indent=1).encode(), "arrays.npz": buffer.getvalue()}
    header = {
        "format": FORMAT,
        "manykernels": __version__,
        "sha256": {name: hashlib.sha256(data).hexdigest() for name, data in members.items()},
    }
    with zipfile.ZipFile(path, "w") as file:
        file.writestr("header.json", json.dumps(header, indent=1))
        for name, data in members.items():
            file.writestr(name, data)


def load(path: str | PathLike[str], memory_limit: float | str | None = None) -> Any:
    """Read a model that `save` wrote; runs no code from the file, and checks all that is in it.

    A file may unpack to `memory_limit` (bytes, or "4GB"), by default to 100 times its size and to 256 MiB at least.
    """
    limit = parse_bytes(memory_limit)
    with open(path, "rb") as stream:  # what fails here is the place, and below it is what the file holds
        try:
            return _load(stream, limit, os.fspath(path))
        except Newer:
            raise
        except Exception as error:  # a damaged zip can fail in many ways: also by a seek to nowhere, EINVAL
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            what = str(error) or type(error).__name__
            what = f"it lacks {what}" if isinstance(error, KeyError) else what
            raise ValueError(f"{path} is damaged or not a whole manykernels model ({what}): save it again.") from error


class Newer(ValueError):
    """The file is of a later release."""


def _load(stream, limit, path):
    archive = Archive(stream, os.fstat(stream.fileno()).st_size, "its members are not packed")
    header = json.loads(archive.read("header.json").tobytes())
    if header["format"] != FORMAT:
        raise Newer(
            f"{path} has format {header['format']!r}, written by manykernels {header['manykernels']!r}; this release "
            f"reads format {FORMAT}: upgrade manykernels."
        )
    if set(header["sha256"]) != {"model.json", "arrays.npz"} or len(archive.names()) != 3:
        raise ValueError(f"its members are {archive.names()[:5]}")
    members = {name: archive.read(name) for name in header["sha256"]}
    for name, digest in header["sha256"].items():
        if hashlib.sha256(members[name]).hexdigest() != digest:
            raise ValueError(f"{name} does not match its checksum")
    cure = "if you trust it, give load(path, memory_limit=...)"
    arrays = Archive(io.BytesIO(members.pop("arrays.npz")), limit, cure)
    tree = members.pop("model.json").tobytes()
    decoder = Decoder(arrays, _UNFOLDED + len(tree))
    model = decoder.decode(json.loads(tree))
    if decoder.unread:
        raise ValueError(f"{sorted(decoder.unread)[0]} is no part of it")
    if not hasattr(model, "decision_parts") and not isinstance(model, Predictor):
        raise ValueError(f"it holds a {type(model).__name__}")
    return model


def _encode(value, arrays, seen, where):
    """`value` as JSON, its arrays put aside in `arrays`; `where` is its path in the model, for errors."""
    if value is None or isinstance(value, (bool, int, float, str)) and type(value).__module__ == "builtins":
        return value
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    if isinstance(value, list):
        return [_encode(v, arrays, seen, f"{where}[{i}]") for i, v in enumerate(value)]
    if id(value) in seen:
        return {"is": "again", "number": seen[id(value)][0]}

    def inner(v, name):
        return _encode(v, arrays, seen, f"{where}.{name}")

    module, name = getattr(value, "__module__", type(value).__module__), type(value).__qualname__
    number = len(seen)
    seen[id(value)] = number, value  # the reference keeps the id from being used twice
    if isinstance(value, (np.ndarray, np.generic)):
        if value.dtype == object:
            return {"is": "objects", "number": number, "shape": value.shape, "items": inner(value.ravel().tolist(), "")}
        arrays[f"a{number}"] = np.asarray(value)
        return {"is": "array" if isinstance(value, np.ndarray) else "scalar", "number": number}
    if isinstance(value, tuple) and hasattr(value, "_fields") and module.startswith("manykernels."):
        return {"is": "named", "number": number, "module": module, "name": name, "items": inner(list(value), name)}
    keys = value if isinstance(value, (dict, set)) else ()
    strange = [key for key in keys if not isinstance(key, _KEYS)]
    if strange:
        raise ValueError(f"{where} has the key {strange[0]!r}, which cannot be saved: use a number or a text.")
    if type(value) in (tuple, set):
        return {"is": type(value).__name__, "number": number, "items": inner(list(value), "")}
    if isinstance(value, dict):
        return {"is": "dict", "number": number, "items": [[inner(k, k), inner(v, k)] for k, v in value.items()]}
    if isinstance(value, slice):
        return {"is": "slice", "number": number, "items": [inner(v, "") for v in (value.start, value.stop, value.step)]}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"is": "dtype", "number": number, "name": np.dtype(value).str}
    if sp.issparse(value) and value.format == "csr":
        parts = [inner(v, "") for v in (value.data, value.indices, value.indptr)]
        kind = f"{value.format}_{'array' if isinstance(value, sp.sparray) else 'matrix'}"
        return {"is": "sparse", "number": number, "kind": kind, "shape": value.shape, "parts": parts}
    if is_function(value):
        return {"is": "function", "number": number, "module": module, "name": value.__name__}
    if type(value).__module__ == _SEQUENCES and name == "Sequences":
        items = list(value.__reduce__()[1])
        return {"is": "sequences", "number": number, "items": inner(items, name)}
    if not _is_code(value) and may_be_stored(type(value)):
        state = value.__getstate__() or {}  # None where there are no attributes
        state = _encode(state, arrays, seen, where)
        return {"is": "object", "number": number, "module": module, "name": name, "state": state}
    cure = "use a kernel of manykernels.kernels or kernels='precomputed'"
    if isinstance(value, BaseSolver):
        cure = "a fitted model does without, so set_params(solver='auto') first"
    raise ValueError(f"{where} = {value!r} cannot be saved without pickle: {cure}, or pickle the model.")


def _is_code(value):
    """Functions, classes and lambdas: nothing to restore them from but code."""
    return isinstance(value, type) or hasattr(value, "__code__") or not hasattr(value, "__dict__")


class Decoder:
    """From JSON to objects, with the arrays of an `Archive`; `most` bounds the parts, counted as often as they occur.

    Parts refer only to parts that are complete, so that nothing contains itself.
    """

    def __init__(self, arrays, most):
        self.arrays, self.most, self.unread = arrays, most, set(arrays.names())
        self.values, self.sizes, self.count = {}, {}, 0

    def decode(self, node):
        self.count += 1
        if isinstance(node, list):
            return [self.decode(v) for v in node]
        if not isinstance(node, dict):
            return node
        kind, number, before = node["is"], node["number"], self.count
        if kind == "again":
            self.count += self.sizes[number]
            if self.count > self.most:
                raise ValueError("its parts occur in each other too often")
            return self.values[number]
        if type(number) is not int or number in self.values:
            raise ValueError(f"two of its parts have the number {number!r}")
        if kind not in _PARTS:
            raise ValueError(f"it holds the unknown part {kind!r}")
        value = getattr(self, f"_{kind}")(node)
        self.values[number], self.sizes[number] = value, self.count - before
        return value

    def _items(self, node, *kinds):
        items = self.decode(node["items"])
        if not isinstance(items, list) or kinds and not all(isinstance(item, kinds) for item in items):
            raise ValueError(f"a {node['is']} in it holds something else")
        return items

    def _array(self, node):
        name = f"a{node['number']}.npy"
        self.unread.discard(name)
        return self.arrays.array(name)

    def _scalar(self, node):
        array = self._array(node)
        if array.ndim or array.dtype.names:
            raise ValueError("a number in it is an array")
        return array[()]

    def _objects(self, node):
        items = self._items(node)
        value = np.empty(len(items), dtype=object)
        value[:] = items
        return value.reshape(node["shape"])

    def _object(self, node):
        return restore(find(node["module"], node["name"]), self.decode(node["state"]))

    def _named(self, node):
        cls, items = find(node["module"], node["name"]), self._items(node)
        if not (isinstance(cls, type) and issubclass(cls, tuple)) or len(items) != len(cls._fields):
            raise ValueError(f"it names {node['module']}.{node['name']} where a tuple should be")
        return tuple.__new__(cls, items)

    def _tuple(self, node):
        return tuple(self._items(node))

    def _set(self, node):
        return set(self._items(node, *_KEYS))

    def _slice(self, node):
        return slice(*self._items(node, *_KEYS))

    def _dict(self, node):
        value = {self._key(k): self.decode(v) for k, v in node["items"]}
        if len(value) != len(node["items"]):
            raise ValueError("a dict in it has a key twice")
        return value

    def _key(self, node):
        key = self.decode(node)
        if not isinstance(key, _KEYS):
            raise ValueError(f"a dict in it has a {type(key).__name__} for a key")
        return key

    def _dtype(self, node):
        dtype = np.dtype(node["name"] if len(node["name"]) < 8 else None)
        if dtype.kind not in "biuf" or dtype.str != node["name"]:
            raise ValueError(f"it names the dtype {node['name']!r}")
        return dtype

    def _sparse(self, node):
        if node["kind"] not in _SPARSE:
            raise ValueError(f"it names a sparse {node['kind']!r}")
        parts, shape = tuple(self.decode(v) for v in node["parts"]), tuple(node["shape"])
        check_sparse(*parts, *shape)
        return getattr(sp, node["kind"])(parts, shape=shape)

    def _function(self, node):
        value = find(node["module"], node["name"])
        if not is_function(value):
            raise ValueError(f"it names {node['module']}.{node['name']} where a kernel should be")
        return value

    def _sequences(self, node):
        from ..sequences import Sequences

        return Sequences.restored(*self._items(node))
