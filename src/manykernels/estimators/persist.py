"""Models as files: a zip of JSON (structure, parameters) and npz (arrays), read without pickle.

Objects of this package and of `sklearn.gaussian_process` are written by class name and attributes; anything that
only code could restore (a function, a foreign object) is refused by name.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
import zipfile
from importlib import import_module

import numpy as np
import scipy.sparse as sp

from .. import __version__

FORMAT = 1
_CLASSES = ("manykernels.", "sklearn.gaussian_process.kernels.")
_SEQUENCES = "manykernels.strings.sequences"
_FUNCTIONS = ("sklearn.metrics.pairwise.",)


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


def load(path):
    """Read a model that `save` wrote; runs no code from the file."""
    try:
        with zipfile.ZipFile(path) as file:
            header = json.loads(file.read("header.json"))
            if header["format"] > FORMAT:
                raise ValueError(
                    f"{path} has format {header['format']}, written by manykernels {header['manykernels']}; this "
                    f"release reads formats up to {FORMAT}: upgrade manykernels."
                )
            members = {name: file.read(name) for name in header["sha256"]}
    except (zipfile.BadZipFile, KeyError) as error:
        raise ValueError(f"{path} is not a whole manykernels model ({error}): save it again.") from error
    for name, digest in header["sha256"].items():
        if hashlib.sha256(members[name]).hexdigest() != digest:
            raise ValueError(f"{path} is damaged: {name} does not match its checksum; save it again.")
    with np.load(io.BytesIO(members["arrays.npz"]), allow_pickle=False) as arrays:
        return _decode(json.loads(members["model.json"]), arrays, {})


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
    if isinstance(value, tuple) and hasattr(value, "_fields") and f"{module}.".startswith(_CLASSES):
        return {"is": "named", "number": number, "module": module, "name": name, "items": inner(list(value), name)}
    if type(value) in (tuple, set):
        return {"is": type(value).__name__, "number": number, "items": inner(list(value), "")}
    if isinstance(value, dict):
        return {"is": "dict", "number": number, "items": [[inner(k, k), inner(v, k)] for k, v in value.items()]}
    if isinstance(value, slice):
        return {"is": "slice", "number": number, "items": [inner(v, "") for v in (value.start, value.stop, value.step)]}
    if isinstance(value, np.dtype) or (isinstance(value, type) and issubclass(value, np.generic)):
        return {"is": "dtype", "number": number, "name": np.dtype(value).str}
    if sp.issparse(value):
        parts = [inner(v, "") for v in (value.data, value.indices, value.indptr)]
        kind = f"{value.format}_{'array' if isinstance(value, sp.sparray) else 'matrix'}"
        return {"is": "sparse", "number": number, "kind": kind, "shape": value.shape, "parts": parts}
    if hasattr(value, "__name__") and f"{module}." in _FUNCTIONS:
        return {"is": "function", "number": number, "module": module, "name": value.__name__}
    if type(value).__module__ == _SEQUENCES and name == "Sequences":
        items = list(value.__reduce__()[1])
        return {"is": "sequences", "number": number, "items": inner(items, name)}
    if f"{module}.".startswith(_CLASSES) and not _is_code(value):
        state = value.__getstate__() or {}  # None where there are no attributes
        return {"is": "object", "number": number, "module": module, "name": name, "state": inner(state, name)}
    raise ValueError(
        f"{where} = {value!r} cannot be saved without pickle: use a kernel of manykernels.kernels or "
        "kernels='precomputed', or pickle the model."
    )


def _is_code(value):
    """Functions, classes and lambdas: nothing to restore them from but code."""
    return isinstance(value, type) or hasattr(value, "__code__") or not hasattr(value, "__dict__")


def _decode(node, arrays, seen):
    if isinstance(node, list):
        return [_decode(v, arrays, seen) for v in node]
    if not isinstance(node, dict):
        return node
    kind, number = node["is"], node["number"]
    if kind == "again":
        return seen[number]
    if kind == "object":
        cls = _find(node, _CLASSES)
        value = seen[number] = object.__new__(cls)
        state = _decode(node["state"], arrays, seen)
        value.__setstate__(state) if hasattr(cls, "__setstate__") else value.__dict__.update(state)
        return value
    if kind == "array":
        value = arrays[f"a{number}"]
    elif kind == "scalar":
        value = arrays[f"a{number}"][()]
    elif kind == "objects":
        items = _decode(node["items"], arrays, seen)
        value = np.empty(len(items), dtype=object)
        value[:] = items
        value = value.reshape(node["shape"])
    elif kind == "named":
        cls = _find(node, _CLASSES)
        if not (isinstance(cls, type) and issubclass(cls, tuple)):  # nothing else is ever called
            raise ValueError(f"the model names {node['module']}.{node['name']} where a tuple should be: save it again.")
        value = tuple.__new__(cls, _decode(node["items"], arrays, seen))
    elif kind in ("tuple", "set", "slice"):
        items = _decode(node["items"], arrays, seen)
        value = slice(*items) if kind == "slice" else {"tuple": tuple, "set": set}[kind](items)
    elif kind == "dict":
        value = {_decode(k, arrays, seen): _decode(v, arrays, seen) for k, v in node["items"]}
    elif kind == "dtype":
        value = np.dtype(node["name"])
    elif kind == "sparse":
        parts = tuple(_decode(v, arrays, seen) for v in node["parts"])
        value = getattr(sp, node["kind"])(parts, shape=tuple(node["shape"]))
    elif kind == "function":
        value = _find(node, _FUNCTIONS)
    elif kind == "sequences":
        value = _sequences(*_decode(node["items"], arrays, seen))
    else:
        raise ValueError(f"the model holds the unknown part {kind!r}: upgrade manykernels.")
    seen[number] = value
    return value


def _sequences(alphabet, bits, data, starts, lengths):
    """Packed sequences, if they lie within their data."""
    from ..strings import Sequences

    ends = starts + -(-(lengths.astype(np.int64) * bits) // 8)
    if (
        bits not in (2, 4, 8)
        or min(starts.min(initial=0), lengths.min(initial=0)) < 0
        or ends.max(initial=0) > data.size
    ):
        raise ValueError("the model holds sequences that do not fit their data: save it again.")
    return Sequences(alphabet, bits, data, starts, lengths)


def _find(node, allowed):
    """The class or function that `node` names, from the modules allowed and defined there itself."""
    module, name = node["module"], node["name"]
    value = getattr(import_module(module), name, None) if (module + ".").startswith(allowed) else None
    if getattr(value, "__module__", None) != module:
        raise ValueError(f"the model names {module}.{name}, which is not part of this release of manykernels.")
    return value
