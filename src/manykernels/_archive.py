"""Models and checkpoints as files: a zip of a JSON text and of arrays in NumPy's format; no pickle is written or read.

A file is written beside its place and moved there when it is whole. Anyone may have written what is read: nothing is
unpacked before its size is known and allowed, no array is made that its bytes do not fill, and the text names parts by
the tags of `_tags`, whose classes rebuild and check themselves. docs/file-format.md describes the format.
"""

import errno
import io
import json
import math
import os
import platform
import threading
import zipfile
from contextlib import contextmanager, suppress
from functools import lru_cache

import numpy as np

from . import __version__
from ._codec import Decoder, Encoder
from ._tags import Refused

FORMAT = 2
TEXT = "manykernels.json"
ROOM = 2**28  # bytes that a file may always unpack to,
RATIO = 100  # and so many times its own size; the most that deflate can do is 1,032
WORDS = 2**24  # the same of the text, which takes some 20 times as much once it is read
STEP = 2**20  # bytes unpacked at a time
KINDS = "biufcmMSU"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


def write(path, kind, content, packed=True, sparse=False):
    """Writes the dict `content` as a file of that kind; `packed`: deflated, `sparse`: see `Encoder`."""
    encoder = Encoder(sparse)
    tree = {name: encoder.encode(value, "") for name, value in content.items()}
    with replacing(path) as file, zipfile.ZipFile(file, "w", 8 if packed else 0) as members:
        for name, array in encoder.arrays.items():
            with members.open(f"{name}.npy", "w", force_zip64=array.nbytes > 2**30) as member:
                np.lib.format.write_array(member, array, allow_pickle=False)
        sums = {info.filename: info.CRC for info in members.infolist()}
        header = {"format": FORMAT, "kind": kind, "written_by": versions(), "checksums": sums, "content": tree}
        members.writestr(TEXT, json.dumps(header))


@contextmanager
def replacing(path):
    """A new file that takes the place of `path` at the end, whole and flushed to the disk, or leaves nothing behind."""
    path = os.fspath(path)
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


def read(stream, kind, limit=None, cure="it is no honest file", found=None, most=None, accept=None):
    """The `content` of a file of that kind; `accept(name, value)` may refuse the rest after each of its entries.

    The other arguments are those of `Archive` and `Decoder`.
    """
    archive = Archive(stream, limit, cure)
    if TEXT not in archive.members and {"header.json", "checkpoint.json"} & archive.members.keys():
        raise Refused("is of format 1, that of versions before the first release: fit anew and save it again")
    header = json.loads(archive.read(TEXT).tobytes())
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
    decoder, content = Decoder(archive, found or {}, most), {}
    for name, node in header["content"].items():
        content[name] = decoder.decode(node)
        if accept is not None:
            accept(name, content[name])
    if decoder.unread:
        raise ValueError(f"{min(decoder.unread)!r} is no part of it")
    return content


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
        size = stream.seek(0, io.SEEK_END)
        self.file = zipfile.ZipFile(stream)
        infos = self.file.infolist()
        self.members = {info.filename: info for info in infos}
        if len(self.members) < len(infos):
            raise ValueError("two of its members have the same name")
        strange = [info.filename for info in infos if info.flag_bits & 1 or info.compress_type not in (0, 8)]
        if strange:
            raise ValueError(f"{strange[0]!r} is encrypted or packed in a way that is not ours")
        whole, limit = sum(info.file_size for info in infos), max(ROOM, RATIO * size) if limit is None else limit
        text = self.members[TEXT].file_size if TEXT in self.members else 0
        for bytes_, bound in ((whole, limit), (text, min(limit, max(WORDS, RATIO * size)))):
            if bytes_ > bound:
                raise ValueError(f"its {size:,} bytes unpack to {bytes_:,}, more than {bound:,}; {cure}")

    def checksums(self):
        """{name: CRC-32} of all members but the text; `read` compares them with what the members hold."""
        return {name: info.CRC for name, info in self.members.items() if name != TEXT}

    def read(self, name):
        """The bytes of a member, (size,) uint8; its checksum was compared."""
        info = self.members[name]
        out, at = np.empty(info.file_size, np.uint8), 0
        with self.file.open(info) as member:
            while at < len(out):  # by steps: a member may hold more than it declares
                part = member.read(min(STEP, len(out) - at))
                if not part:
                    raise ValueError(f"{name} ends before the size that it declares")
                out[at : at + len(part)] = np.frombuffer(part, np.uint8)
                at += len(part)
            if not len(out) and info.CRC:
                raise ValueError(f"{name} does not match its checksum")
        return out

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


@lru_cache(maxsize=1024)  # thousands of arrays may have one header
def _header(head):
    """(shape, whether columns come first, dtype, where the entries begin) of an array in NumPy's format."""
    stream = io.BytesIO(head)
    shape, fortran, dtype = _HEADERS[np.lib.format.read_magic(stream)](stream)
    if dtype.itemsize == 0 or dtype.names or dtype.kind not in KINDS or dtype.shape:
        raise ValueError(f"it holds an array of {dtype}")
    return shape, fortran, dtype, stream.tell()
