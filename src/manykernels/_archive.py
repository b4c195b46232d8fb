"""Models and checkpoints as files: a zip of a JSON text and of arrays in NumPy's format; no pickle is written or read.

`write` fills a temporary file and moves it to its path when it is complete. `read` does not trust a file: it checks the
declared sizes before it unpacks, allocates no array that the bytes do not fill, and finds classes only by their tags;
each class checks its own state. docs/file-format.md describes the format.

States are dictionaries of numbers, texts, arrays, lists of those and other parts, each under its tag. Numbers, texts,
None and lists are written as JSON values; everything else is a JSON object whose key `is` names its kind. Small arrays
are written in the text, larger ones as separate members. Each member is used once, so that the length of a file bounds
the memory that its arrays take.
"""

import errno
import io
import json
import math
import os
import platform
import re
import stat
import threading
import types
import zipfile
from contextlib import contextmanager, suppress
from functools import lru_cache

import numpy as np
import scipy.sparse as sp

from . import __version__
from ._state import TRANSFORMER, Refused, check, check_is, check_sparse, reader, tag_of
from ._validation import Bytes

FORMAT = 2
TEXT = "manykernels.json"
MIN_UNPACKED = 2**28  # bytes that every file may unpack to,
MAX_RATIO = 100  # plus this many times its bytes above QUICK_TO_UNPACK
QUICK_TO_UNPACK = 2 * 10**7  # bytes that unpack in less than a second
MIN_TEXT = 2**24  # bytes that the text of every file may unpack to
DTYPE_KINDS = "biufcmMSU"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
MAX_INLINE = 8  # entries of an array in the text
_NUMBER = re.compile(r"[<|][biuf][1248]")
_KEYS = (str, int, float, type(None), np.generic)  # keys of dicts
_PAIRWISE, _PROCESS = "sklearn.metrics.pairwise", "sklearn.gaussian_process.kernels"
_FUNCTIONS = ("_kernel", "_similarity", "_distances")
_MAKERS = {"tuple": tuple, "set": set, "frozenset": frozenset, "slice": lambda items: slice(*items), "pairs": dict}


def write(path, kind, content, packed=True):
    """Writes the dict `content` to a file of this kind; compressed if `packed`, and not too large for `read` then."""
    encoder = Encoder()
    tree = {name: encoder.encode(value, "") for name, value in content.items()}
    packed = packed and 2 * sum(array.nbytes for array in encoder.arrays.values()) < MIN_UNPACKED
    with replacing(path) as file, zipfile.ZipFile(file, "w", 8 if packed else 0) as members:
        for name, array in encoder.arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=array.nbytes > 2**30) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        sums = {info.filename: info.CRC for info in members.infolist()}
        header = {"format": FORMAT, "kind": kind, "written_by": versions(), "checksums": sums, "content": tree}
        members.writestr(TEXT, json.dumps(header))


@contextmanager
def replacing(path):
    """A new file that replaces `path` at the end, flushed to the disk; after an error it is removed."""
    path = os.fspath(path)
    check_file(path)
    if not os.path.isdir(folder := os.path.dirname(path) or "."):
        raise FileNotFoundError(errno.ENOENT, "there is no such folder: make it first", folder)
    temporary = f"{path}.{platform.node()}-{os.getpid()}-{threading.get_ident()}.tmp"  # one for each writer
    try:
        with open(temporary, "wb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:  # Ctrl-C too
        with suppress(OSError):
            os.remove(temporary)
        raise


def write_text(path, parts):
    """Writes texts in UTF-8 to a file that replaces `path` at the end, or to a pipe or a device."""
    special = os.path.exists(path) and not os.path.isfile(path)
    with open(path, "wb") if special else replacing(path) as file:
        file.writelines(part.encode("utf-8", "replace") for part in parts)


def check_file(path, says=""):
    """Raises a ValueError if `path` is a folder, a pipe, a socket or a device."""
    with suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):  # opening a pipe may block forever
            kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
            kind = kinds.get(stat.S_IFMT(mode), "a device")
            raise ValueError(f"{says}{os.fspath(path)!r} is {kind}: give the path of a file.")


def read(stream, kind, limit=None, cure="it is no honest file", found=None, most=-1, accept=None):
    """The `content` of a file; `accept(name, value)` may raise after each entry; see `Archive`, `Decoder` too."""
    archive = Archive(stream, limit, cure)
    if TEXT not in archive.members and {"header.json", "checkpoint.json"} & archive.members.keys():
        raise Refused("is of format 1, that of versions before the first release: fit anew and save it again")
    header, decoder, content = json.loads(archive.read(TEXT)), Decoder(archive, found or {}, most), {}
    if header["format"] != FORMAT:
        by = ", ".join(f"{name} {version}" for name, version in dict(header["written_by"]).items())
        raise Refused(
            f"has format {header['format']!r}, written by {by[:200]}; this release, manykernels {__version__}, reads "
            f"format {FORMAT}: upgrade manykernels"
        )
    if header["kind"] != kind:
        raise Refused(f"is a {header['kind']!r} of manykernels, not a {kind!r}: give another path")
    if header["checksums"] != archive.checksums():
        raise ValueError("its arrays are not those that belong to it")
    for name, node in header["content"].items():
        content[name] = decoder.decode(node)
        if accept is not None:
            accept(name, content[name])
    if decoder.unread:
        raise ValueError(f"{min(decoder.unread)!r} is no part of it")
    return content


@contextmanager
def wholeness(says, whole):
    """Turns errors of a damaged file into a ValueError: `says`, then `whole` with the cause."""
    try:
        yield
    except Refused as error:
        raise ValueError(f"{says} {error}.") from None
    except MemoryError as error:
        raise ValueError(f"{says} asks for more memory than there is: free some, or give another path.") from error
    except Exception as error:  # a damaged zip raises many errors, also EINVAL from a bad seek
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        what = str(error)[:500] or type(error).__name__
        what = f"it lacks {what}" if isinstance(error, KeyError) else what
        raise ValueError(f"{says} {whole.format(what)}") from error


def versions():
    """{package: version} of the packages that write the file."""
    from sklearn import __version__ as theirs

    return {"manykernels": __version__, "numpy": np.__version__, "scikit-learn": theirs}


class Archive:
    """Members of a zip file that unpack to at most `limit` bytes (None: by its size); `cure` tells how to raise it."""

    def __init__(self, stream, limit=None, cure="it is no honest file"):
        size, self.file = stream.seek(0, io.SEEK_END), zipfile.ZipFile(stream)
        infos = self.file.infolist()
        self.members = {info.filename: info for info in infos}
        check(len(self.members) == len(infos), "two of its members have the same name")
        check({info.compress_type for info in infos} <= {0, 8}, "a member is packed in a way that is not ours")
        limit = MIN_UNPACKED + MAX_RATIO * max(0, size - QUICK_TO_UNPACK) if limit is None else limit
        whole, text = sum(info.file_size for info in infos), self.members.get(TEXT, zipfile.ZipInfo()).file_size
        for bytes_, bound in ((whole, limit), (text, min(limit, max(MIN_TEXT, MAX_RATIO * size)))):
            check(bytes_ <= bound, f"its {size:,} bytes unpack to {bytes_:,}, more than {bound:,}; {cure}")

    def checksums(self):
        """{name: CRC-32} of all members but the text; `zipfile` compares them with what the members hold."""
        return {name: info.CRC for name, info in self.members.items() if name != TEXT}

    def read(self, name):
        """The bytes of a member."""
        size = self.members[name].file_size
        with self.file.open(name) as member:
            data = member.read(size)  # no more, even if it unpacks to more
        check(len(data) == size, f"{name} ends before the size that it declares")
        return data

    def array(self, name):
        """The array of a member in NumPy's format, in native byte order."""
        raw = self.read(name)
        shape, fortran, dtype, begin = _header(raw[: raw.find(b"\n", 0, 2**12) + 1])
        check(dtype.kind in DTYPE_KINDS, f"{name} holds an array of {dtype}")
        entries = np.frombuffer(raw, dtype, offset=begin)
        check(dtype.kind != "b" or entries.view(np.uint8).max(initial=0) < 2,
              f"{name} holds truth values that are neither true nor false")  # fmt: skip
        return entries.reshape(shape, order="F" if fortran else "C").astype(dtype.newbyteorder("="), order="K")


@lru_cache(maxsize=1024)  # thousands of arrays may share one header
def _header(head):
    """(shape, Fortran order, dtype, offset of the entries) of an array in NumPy's format."""
    stream = io.BytesIO(head)
    return *_HEADERS[np.lib.format.read_magic(stream)](stream), stream.tell()


class Encoder:
    """Encodes values as JSON; `arrays` {name: array} are the members to write beside the text."""

    def __init__(self):
        self.arrays = {}

    def encode(self, value, where):
        """`value` as JSON; `where` is its path in the model, for errors."""
        if isinstance(value, Bytes):
            return int(value)
        if value is None or type(value) in (bool, int, float, str):
            return value
        if isinstance(value, list):
            return self._list(value, where)
        if isinstance(value, np.ndarray):
            return self._array(value, where)
        if isinstance(value, np.generic) and _NUMBER.fullmatch(value.dtype.str):
            return {"is": "scalar", "dtype": value.dtype.str, "value": value.item()}
        if isinstance(value, np.generic):
            return {"is": "entry", "of": self._aside(np.asarray(value))}
        if isinstance(value, os.PathLike):
            return os.fspath(value)
        if type(value) in (tuple, set, frozenset, slice):
            items = [value.start, value.stop, value.step] if type(value) is slice else value
            return {"is": type(value).__name__, "items": self._list(items, where)}
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
        mine = value.flags.f_contiguous and not value.flags.c_contiguous  # a member keeps the order of entries
        if value.size <= MAX_INLINE and _NUMBER.fullmatch(value.dtype.str) and not mine:
            return {"is": "numbers", "dtype": value.dtype.str, "shape": value.shape, "items": value.ravel().tolist()}
        return {"is": "array", "of": self._aside(value)}

    def _aside(self, array):
        """The name of the member that holds the array."""
        name = f"a{len(self.arrays)}"
        self.arrays[name] = array
        return name

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

    Old checkpoints have arrays whose zeros no bytes fill: all together may have `most` entries.
    """

    def __init__(self, archive, found, most=-1):
        self.archive, self.found, self.left = archive, found, most
        self.unread = set(archive.checksums())

    def decode(self, node):
        if isinstance(node, list):
            return [self.decode(item) for item in node]
        if not isinstance(node, dict):
            return node
        kind = node["is"]
        if kind == "part":
            tag = check_is("a tag", node["tag"], str)[:80], check_is("a version", node["version"], int)
            cls = reader(tag, self.found, str(node.get("class", ""))[:80])
            return cls.from_state(self._state(node["state"]))
        if kind == "dict":
            return self._state(node["items"])
        if kind in ("array", "entry"):
            array = self._member(node["of"])
            return array if kind == "array" else array[()]
        if kind == "scalar":
            check(isinstance(node["value"], bool | int | float), "a number is something else")
            return _number(node["dtype"]).type(node["value"])
        if kind == "numbers":
            check(len(node["items"]) <= MAX_INLINE, "an array in the text is too long")
            return np.array(node["items"], _number(node["dtype"])).reshape(node["shape"])
        if kind in ("bits", "few"):
            return self._spread(node, math.prod(node["shape"]))
        if kind in ("function", "process"):
            return _of_sklearn(kind, node["name"], self._state(node.get("state", {})))
        items = self.decode(check_is(f"a {kind!r:.80}", node["items"], list))
        if kind == "objects":
            value = np.empty(len(items), dtype=object)
            for i, item in enumerate(items):
                value[i] = item
            return value.reshape(node["shape"])
        if kind == "csr":
            check_sparse(*items, *node["shape"])
            return (sp.csr_array if node["array"] else sp.csr_matrix)(tuple(items), shape=tuple(node["shape"]))
        check(kind in _MAKERS, f"it holds the unknown kind {kind!r:.80}")
        return _MAKERS[kind](items)

    def _state(self, items):
        return {name: self.decode(item) for name, item in check_is("a state", items, dict).items()}

    def _member(self, name):
        check(re.fullmatch("a[0-9]{1,9}", name), f"an array is called {name[:80]!r}")
        self.unread.remove(f"{name}.npy")
        return self.archive.array(f"{name}.npy")

    def _spread(self, node, size):
        """An array of bits, or one of zeros but for a few entries."""
        check(0 <= size <= self.left, f"an array has {size} entries")
        self.left -= size
        entries = self._member(node["of"])
        if node["is"] == "bits":
            return np.unpackbits(entries, count=size).view(bool).reshape(node["shape"])
        value = np.zeros(size, entries.dtype)
        value[self._member(node["at"])] = entries
        return value.reshape(node["shape"])


def _number(name):
    check(_NUMBER.fullmatch(name), f"it names the dtype {name[:80]!r}")
    return np.dtype(name)


def _of_sklearn(kind, name, state):
    """A kernel function of scikit-learn, or a kernel of its Gaussian processes, made from its parameters."""
    from sklearn.gaussian_process import kernels
    from sklearn.metrics import pairwise

    found = getattr(pairwise if kind == "function" else kernels, name, None)  # a module of scikit-learn
    if kind == "function":
        check(is_function(found), f"it names {name[:80]!r} where a kernel of scikit-learn should be")
        return found
    named = isinstance(found, type) and issubclass(found, kernels.Kernel) and found.__module__ == _PROCESS
    check(named, f"it names {name[:80]!r} where a kernel of Gaussian processes should be")
    kernel = found(**state)
    check(kernel.get_params(deep=False).keys() == state.keys(), f"{name} has other parameters")
    return kernel
