"""Zip files of arrays that anyone may have written: nothing is unpacked before its size is known and allowed.

Sizes that a file declares are never exceeded, whatever it holds, and no array is made that its bytes do not fill. No
pickle is read.
"""

import io
import math
import zipfile
from functools import lru_cache

import numpy as np

ROOM = 2**28  # bytes that a file may always unpack to,
RATIO = 100  # and so many times its own size; the most that deflate can do is 1,032
STEP = 2**20  # bytes unpacked at a time
KINDS = "biufcmMSU"
_HEADERS = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}


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
        if whole > limit:
            raise ValueError(f"its {size:,} bytes unpack to {whole:,}, more than {limit:,}; {cure}")

    def names(self):
        return list(self.members)

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
    parts = [dtype] if dtype.names is None else [dtype[field] for field in dtype.names]
    if dtype.itemsize == 0 or any(part.kind not in KINDS or part.shape for part in parts):
        raise ValueError(f"it holds an array of {dtype}")
    return shape, fortran, dtype, stream.tell()
