"""Models and checkpoints as files: a zip of a JSON text and of arrays in NumPy's format; no pickle is written or read.

`write` fills a temporary file and moves it to its path when it is complete. `read` does not trust a file: it checks the
declared sizes before it unpacks, allocates no array that the bytes do not fill, and finds classes only by the tags of
`_tags`; each class checks its own state. docs/file-format.md describes the format.
"""

import errno
import io
import json
import os
import platform
import stat
import threading
import zipfile
from contextlib import contextmanager, suppress
from functools import lru_cache

import numpy as np

from . import __version__
from ._codec import Decoder, Encoder
from ._state import check
from ._tags import Refused

FORMAT = 2
TEXT = "manykernels.json"
MIN_UNPACKED = 2**28  # bytes that every file may unpack to,
MAX_RATIO = 100  # plus this many times its bytes above QUICK_TO_UNPACK
QUICK_TO_UNPACK = 2 * 10**7  # bytes that unpack in less than a second
MIN_TEXT = 2**24  # bytes that the text of every file may unpack to
DTYPE_KINDS = "biufcmMSU"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


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
    return _content(archive, json.loads(archive.read(TEXT)), kind, Decoder(archive, found or {}, most), accept)


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
