"""Models and checkpoints as files: a zip of a JSON text and of arrays in NumPy's format; no pickle is written or read.

`write` fills a temporary file and moves it to its path when it is complete. `read` does not trust a file: it checks the
declared sizes before it unpacks, allocates no array that the bytes do not fill, and finds classes only by the tags of
`_tags`; each class checks its own state. docs/file-format.md describes the format.
"""

import errno
import gc
import io
import json
import math
import os
import platform
import stat
import threading
import zipfile
import zlib
from contextlib import contextmanager, suppress
from functools import lru_cache

import numpy as np

from . import __version__
from ._codec import Decoder, Encoder
from ._tags import Refused

FORMAT = 2
TEXT = "manykernels.json"
MIN_UNPACKED = 2**28  # bytes that every file may unpack to,
MAX_RATIO = 100  # plus this many times its bytes above QUICK_TO_UNPACK
QUICK_TO_UNPACK = 2 * 10**7  # bytes that unpack in less than a second
MIN_TEXT = 2**24  # bytes that the text of every file may unpack to
MIN_TREE = 2**27  # bytes of memory that the values of every text may take
MAX_LISTING = 2**22  # bytes of the list of members
CHUNK = 2**20  # bytes unpacked at a time
DTYPE_KINDS = "biufcmMSU"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write(path, kind, content, packed=True, most=None):
    """Writes the dict `content` to a file of this kind, compressed if `packed`; `most` is passed to `Encoder`."""
    encoder = Encoder(most)
    tree = {name: encoder.encode(value, "") for name, value in content.items()}
    with replacing(path) as file:
        whole = _pack(file, kind, tree, encoder.arrays, packed)
        if packed and whole > _allowed(file.tell()):  # `read` would refuse the packed file without a limit
            file.seek(0)
            file.truncate()
            _pack(file, kind, tree, encoder.arrays, False)


def _pack(file, kind, tree, arrays, packed):
    """Writes text and arrays as the members of a zip file and returns the bytes that they unpack to."""
    with zipfile.ZipFile(file, "w", 8 if packed else 0) as members:
        for name, array in arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=array.nbytes > 2**30) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        sums = {info.filename: info.CRC for info in members.infolist()}
        header = {"format": FORMAT, "kind": kind, "written_by": versions(), "checksums": sums, "content": tree}
        members.writestr(TEXT, json.dumps(header))
    return sum(info.file_size for info in members.infolist())


def _allowed(size):
    """The bytes that a file of `size` bytes may unpack to."""
    return MIN_UNPACKED + MAX_RATIO * max(0, size - QUICK_TO_UNPACK)


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


def check_file(path, says=""):
    """Raises a ValueError if `path` is a folder, a pipe, a socket or a device."""
    with suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode):  # opening a pipe may block forever
            kinds = {stat.S_IFDIR: "a folder", stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}
            kind = kinds.get(stat.S_IFMT(mode), "a device")
            raise ValueError(f"{says}{os.fspath(path)!r} is {kind}: give the path of a file.")


def read(stream, kind, limit=None, cure="it is no honest file", found=None, most=None, accept=None):
    """The `content` of a file; `accept(name, value)` may raise after each entry; see `Archive`, `Decoder` too."""
    archive = Archive(stream, limit, cure)
    if TEXT not in archive.members and {"header.json", "checkpoint.json"} & archive.members.keys():
        raise Refused("is of format 1, that of versions before the first release: fit anew and save it again")
    with _no_garbage():
        return _content(archive, json.loads(archive.text()), kind, Decoder(archive, found or {}, most), accept)


def _content(archive, header, kind, decoder, accept):
    """The decoded `content` of the text of a file."""
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
    content = {}
    for name, node in header["content"].items():
        content[name] = decoder.decode(node)
        if accept is not None:
            accept(name, content[name])
    if decoder.unread:
        raise ValueError(f"{min(decoder.unread)!r} is no part of it")
    return content


@contextmanager
def _no_garbage():
    """Turns off the garbage collector, which takes most of the time while a large tree is built."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


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


@lru_cache
def versions():
    """{package: version} of the packages that write the file."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"manykernels": __version__, "numpy": np.__version__}
    with suppress(PackageNotFoundError):
        found["scikit-learn"] = version("scikit-learn")
    return found


class Archive:
    """Members of a zip file that unpack to at most `limit` bytes (None: by its size); `cure` tells how to raise it."""

    def __init__(self, stream, limit=None, cure="it is no honest file"):
        self.stream, size = stream, stream.seek(0, io.SEEK_END)
        file = zipfile.ZipFile(_Short(stream, max(MAX_LISTING, (limit or 0) // 16)))
        infos = file.infolist()
        self.members = {info.filename: info for info in infos}
        if len(self.members) < len(infos):
            raise ValueError("two of its members have the same name")
        strange = [info.filename for info in infos if info.flag_bits & 1 or info.compress_type not in (0, 8)]
        if strange:
            raise ValueError(f"{strange[0]!r} is encrypted or packed in a way that is not ours")
        whole, self.cure = sum(info.file_size for info in infos), cure
        self.tree = max(MIN_TREE, 2 * whole, limit or 0)
        limit = _allowed(size) if limit is None else limit
        text = self.members[TEXT].file_size if TEXT in self.members else 0
        for bytes_, bound in ((whole, limit), (text, min(limit, max(MIN_TEXT, MAX_RATIO * size)))):
            if bytes_ > bound:
                raise ValueError(f"its {size:,} bytes unpack to {bytes_:,}, more than {bound:,}; {cure}")

    def checksums(self):
        """{name: CRC-32} of all members but the text; `read` compares them with what the members hold."""
        return {name: info.CRC for name, info in self.members.items() if name != TEXT}

    def read(self, name):
        """The bytes of a member, (size,) uint8, after a check of its checksum."""
        info, at, sum_ = self.members[name], 0, 0
        out = np.empty(info.file_size, np.uint8)
        for part in self._unpacked(info):
            if at + len(part) > len(out):
                raise ValueError(f"{name} holds more than the size that it declares")
            out[at : at + len(part)] = np.frombuffer(part, np.uint8)
            at, sum_ = at + len(part), zlib.crc32(part, sum_)
        if at < len(out):
            raise ValueError(f"{name} ends before the size that it declares")
        if sum_ != info.CRC:
            raise ValueError(f"{name} does not match its checksum, a CRC-32")
        return out

    def _unpacked(self, info):
        """Yields a member in chunks; `zipfile` takes five times as long for a short one."""
        self.stream.seek(info.header_offset)
        head, left = self.stream.read(30), info.compress_size
        if head[:4] != b"PK\3\4" or len(head) < 30:
            raise ValueError(f"{info.filename} is not where it should be")
        self.stream.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), io.SEEK_CUR)
        inflate = zlib.decompressobj(-15) if info.compress_type else None
        while left > 0:
            packed = self.stream.read(min(CHUNK, left))
            left = left - len(packed) if packed else 0
            part = packed
            while part:  # zlib may hold back output after all input is consumed
                part = packed if inflate is None else inflate.decompress(packed, CHUNK)
                packed = b"" if inflate is None else inflate.unconsumed_tail
                yield part

    def text(self):
        """The text, if its values take at most `tree` bytes, estimated from its lists, objects and entries.

        The sizes were measured in CPython 3.11; one letter beyond Latin-1 widens every letter of its string.
        """
        text = str(self.read(TEXT).data, "ascii")
        wide = 4 if "\\ud" in text else 2 if "\\u" in text else 1
        takes = 64 * (text.count("[") + text.count(",")) + 192 * text.count("{") + 32 * text.count(":")
        takes += wide * len(text)
        if takes > self.tree:
            raise ValueError(f"the values of its text take {takes:,} bytes, more than {self.tree:,}; {self.cure}")
        return text

    def array(self, name):
        """The array of a member in NumPy's format, in native byte order."""
        raw = self.read(name)
        shape, fortran, dtype, begin = _header(raw[: raw[:2048].tobytes().find(b"\n") + 1].tobytes())
        body = raw[begin:]
        if min(shape, default=0) < 0 or math.prod(shape) * dtype.itemsize != body.size:
            more = "more" if math.prod(shape) * dtype.itemsize < body.size else "less"
            raise ValueError(f"{name} has {body.size} bytes: it holds {more} than its header says")
        if dtype.kind == "b" and body.size and body.max() > 1:
            raise ValueError(f"{name} holds truth values that are neither true nor false")
        array = body.view(dtype).reshape(shape, order="F" if fortran else "C")
        array = array if array.flags.aligned else array.copy()
        return array if dtype.isnative else array.astype(dtype.newbyteorder("="))


class _Short:
    """A file that refuses reads above `most` bytes: `zipfile` reads the list of members at once, an object for each."""

    def __init__(self, stream, most):
        self.stream, self.most, self.seek, self.tell = stream, most, stream.seek, stream.tell

    def read(self, size=-1):
        if size > self.most:
            raise ValueError(f"the list of its members has {size:,} bytes, more than {self.most:,}")
        return self.stream.read(size)


@lru_cache(maxsize=1024)  # thousands of arrays may share one header
def _header(head):
    """(shape, Fortran order, dtype, offset of the entries) of an array in NumPy's format."""
    stream = io.BytesIO(head)
    shape, fortran, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    if dtype.itemsize == 0 or dtype.names or dtype.kind not in DTYPE_KINDS or dtype.shape:
        raise ValueError(f"it holds an array of {dtype}")
    return shape, fortran, dtype, stream.tell()
