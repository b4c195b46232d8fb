"""Models and checkpoints as files: a zip of a JSON text and of arrays in NumPy's format; no pickle is written or read.

A file is written beside its place and moved there when it is whole. Anyone may have written what is read: nothing is
unpacked before its size is known and allowed, no array is made that its bytes do not fill, and the text names parts by
the tags of `_tags`, whose classes rebuild and check themselves. docs/file-format.md describes the format.
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
ROOM = 2**28  # bytes that a file may always unpack to,
RATIO = 100  # and so many times what it has beyond
SMALL = 2 * 10**7  # bytes: below that, unpacking takes less than a second
WORDS = 2**24  # the same as ROOM of the text,
TREE = 2**27  # and the bytes that its values may always take once they are read
LIST = 2**22  # bytes of the list of members
STEP = 2**20  # bytes unpacked at a time
KINDS = "biufcmMSU"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write(path, kind, content, packed=True, most=None):
    """Writes the dict `content` as a file of that kind; `packed`: deflated, `most`: see `Encoder`."""
    encoder = Encoder(most)
    tree = {name: encoder.encode(value, "") for name, value in content.items()}
    with replacing(path) as file:
        whole = _pack(file, kind, tree, encoder.arrays, packed)
        if packed and whole > _allowed(file.tell()):  # or no one could read it without being told how large it is
            file.seek(0)
            file.truncate()
            _pack(file, kind, tree, encoder.arrays, False)


def _pack(file, kind, tree, arrays, packed):
    """Writes text and arrays as the members of a zip file; how many bytes they unpack to."""
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
    return ROOM + RATIO * max(0, size - SMALL)


@contextmanager
def replacing(path):
    """A new file that takes the place of `path` at the end, whole and flushed to the disk, or leaves nothing behind."""
    path = os.fspath(path)
    check_file(path)
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
    """A ValueError where `path` is there and no plain file, nor a directory, of which the system says so itself."""
    with suppress(FileNotFoundError):
        mode = os.stat(path).st_mode
        if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):  # to open a pipe may take for ever
            kind = {stat.S_IFIFO: "a pipe", stat.S_IFSOCK: "a socket"}.get(stat.S_IFMT(mode), "a device")
            raise ValueError(f"{says}{os.fspath(path)!r} is {kind}: give the path of a file.")


def read(stream, kind, limit=None, cure="it is no honest file", found=None, most=None, accept=None):
    """The `content` of a file of that kind; `accept(name, value)` may refuse the rest after each of its entries.

    The other arguments are those of `Archive` and `Decoder`.
    """
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
    """Within this no garbage is looked for: of a tree of many values there is none, and it takes most of the time."""
    was = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was:
            gc.enable()


@contextmanager
def wholeness(says, whole):
    """Within this, what fails is what the file holds: a ValueError that says what is wrong, and then `whole`."""
    try:
        yield
    except Refused as error:
        raise ValueError(f"{says} {error}.") from None
    except MemoryError as error:
        raise ValueError(f"{says} asks for more memory than there is: free some, or give another path.") from error
    except Exception as error:  # a damaged zip can fail in many ways: also by a seek to nowhere, EINVAL
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        what = str(error)[:500] or type(error).__name__
        what = f"it lacks {what}" if isinstance(error, KeyError) else what
        raise ValueError(f"{says} {whole.format(what)}") from error


@lru_cache
def versions():
    """{package: version} of what writes a file."""
    from importlib.metadata import PackageNotFoundError, version

    found = {"manykernels": __version__, "numpy": np.__version__}
    with suppress(PackageNotFoundError):
        found["scikit-learn"] = version("scikit-learn")
    return found


class Archive:
    """The members of a zip file, by name; `limit` bounds what they unpack to (None: by the size of the file).

    `cure` says how to raise the limit.
    """

    def __init__(self, stream, limit=None, cure="it is no honest file"):
        self.stream, size = stream, stream.seek(0, io.SEEK_END)
        file = zipfile.ZipFile(_Short(stream, max(LIST, (limit or 0) // 16)))
        infos = file.infolist()
        self.members = {info.filename: info for info in infos}
        if len(self.members) < len(infos):
            raise ValueError("two of its members have the same name")
        strange = [info.filename for info in infos if info.flag_bits & 1 or info.compress_type not in (0, 8)]
        if strange:
            raise ValueError(f"{strange[0]!r} is encrypted or packed in a way that is not ours")
        whole, self.cure = sum(info.file_size for info in infos), cure
        self.tree = max(TREE, 2 * whole, limit or 0)
        limit = _allowed(size) if limit is None else limit
        text = self.members[TEXT].file_size if TEXT in self.members else 0
        for bytes_, bound in ((whole, limit), (text, min(limit, max(WORDS, RATIO * size)))):
            if bytes_ > bound:
                raise ValueError(f"its {size:,} bytes unpack to {bytes_:,}, more than {bound:,}; {cure}")

    def checksums(self):
        """{name: CRC-32} of all members but the text; `read` compares them with what the members hold."""
        return {name: info.CRC for name, info in self.members.items() if name != TEXT}

    def read(self, name):
        """The bytes of a member, (size,) uint8; its checksum was compared."""
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
        """What a member holds, by parts; `zipfile` takes five times as long for a short one."""
        self.stream.seek(info.header_offset)
        head, left = self.stream.read(30), info.compress_size
        if head[:4] != b"PK\3\4" or len(head) < 30:
            raise ValueError(f"{info.filename} is not where it should be")
        self.stream.seek(int.from_bytes(head[26:28], "little") + int.from_bytes(head[28:30], "little"), io.SEEK_CUR)
        inflate = zlib.decompressobj(-15) if info.compress_type else None
        while left > 0:
            packed = self.stream.read(min(STEP, left))
            left = left - len(packed) if packed else 0
            part = packed
            while part:  # zeros may still come where all that was packed is taken in
                part = packed if inflate is None else inflate.decompress(packed, STEP)
                packed = b"" if inflate is None else inflate.unconsumed_tail
                yield part

    def text(self):
        """The text, whose values will not take more than `tree` bytes: so many for each list, object and entry.

        Measured of CPython 3.11; letters beyond Latin-1 make every other letter of their text wider.
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
    """A file of which no more than `most` bytes are read at once: the list of its members is, and each is an object."""

    def __init__(self, stream, most):
        self.stream, self.most, self.seek, self.tell = stream, most, stream.seek, stream.tell

    def read(self, size=-1):
        if size > self.most:
            raise ValueError(f"the list of its members has {size:,} bytes, more than {self.most:,}")
        return self.stream.read(size)


@lru_cache(maxsize=1024)  # thousands of arrays may have one header
def _header(head):
    """(shape, whether columns come first, dtype, where the entries begin) of an array in NumPy's format."""
    stream = io.BytesIO(head)
    shape, fortran, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    if dtype.itemsize == 0 or dtype.names or dtype.kind not in KINDS or dtype.shape:
        raise ValueError(f"it holds an array of {dtype}")
    return shape, fortran, dtype, stream.tell()
