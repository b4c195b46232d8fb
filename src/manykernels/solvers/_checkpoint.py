"""Long runs that survive their process: the state of a fit in one file, replaced as a whole, read without pickle.

The file is a zip of JSON (what is fitted, how far it is) and of arrays in NumPy's own format, each with its checksum.
It is written beside the old one, flushed to the disk and then moved over it, so that at every moment a whole file is
there. A fit of several problems, one-vs-rest, has one part for each: its `state`, or its `solution` once it is solved.
"""

import errno
import json
import os
import platform
import re
import shutil
import threading
import time
import warnings
import zipfile
from contextlib import contextmanager, suppress
from math import prod
from pathlib import Path

import numpy as np

from .._archive import Archive
from .._state import check, check_array, check_index, check_list
from ..solution import Solution
from ._base import Control
from ._kept import check_part

FORMAT = 1
EVERY = 5.0  # seconds between two writes, at least,
SHARE = 20  # and this many times as long as the last one took
SPARSE = 2**24  # entries that an array of few others than 0 may have, or as many as there are values of a
OLD = 3600.0  # seconds without a change after which no one writes a temporary file any more


class Checkpoint:
    """The file `path` of the fit called `identity`, {name: text}, with `n_parts` problems of `size` values of a in all.

    Reads what is there; refuses the file of another fit, and a place that cannot be written.
    """

    def __init__(self, path, identity, n_parts=1, size=0):
        self.path, self.identity, self.cost, self.last = Path(path).absolute(), identity, 0.0, time.monotonic()
        self.n_parts, self.size = n_parts, size
        try:
            self.parts = self._read() if self.path.exists() else [{} for _ in range(n_parts)]
            if not all("solution" in part for part in self.parts):
                self._remove_leftovers()
                if shutil.disk_usage(self.path.parent).free < 64 * size:  # two files of four vectors
                    raise OSError(errno.ENOSPC, f"there should be room for {64 * size:,} bytes")
                self.write(self.parts)
        except OSError as error:
            raise OSError(
                error.errno,
                f"checkpoint={str(self.path)!r} cannot be used ({error.strerror}): give a path in a directory that "
                "exists, can be written and has room, or checkpoint=None",
            ) from error

    def _read(self):
        with open(self.path, "rb") as stream, self.wholeness():  # what fails outside of the latter is the place
            return self._parts(stream)

    @contextmanager
    def wholeness(self):
        """Within this, what fails is what the file holds."""
        path = str(self.path)
        try:
            yield
        except _Another as error:
            raise ValueError(
                f"checkpoint={path!r} belongs to another fit: {error}. Give every fit a path of its own, or delete "
                "the file to begin anew."
            ) from None
        except MemoryError as error:
            raise ValueError(
                f"checkpoint={path!r} asks for more memory than there is: free some, or give another path."
            ) from error
        except Exception as error:  # a damaged zip can fail in many ways: also by a seek to nowhere, EINVAL
            if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
                raise
            raise ValueError(
                f"checkpoint={path!r} is no whole checkpoint ({error}): delete the file to begin anew, or give "
                "another path."
            ) from error

    def _parts(self, stream):
        archive = Archive(stream, os.fstat(stream.fileno()).st_size, "its members are not packed")
        header = json.loads(archive.read("checkpoint.json").tobytes())
        if header["format"] != FORMAT:
            raise ValueError(f"its format is {header['format']}, and this release reads {FORMAT}")
        self._compare(header["identity"])
        arrays = {name[:-4]: archive.array(name) for name in archive.names() if name.endswith(".npy")}
        parts = _unpack(header["parts"], arrays, max(self.size, SPARSE))
        if arrays or len(parts) != self.n_parts:
            raise ValueError(f"it has {len(parts)} parts where {self.n_parts} are wanted")
        for part in parts:
            check_part(part, None)
        return parts

    def _compare(self, there):
        here, names = self.identity, self.identity | there
        differ = [name for name in names if there.get(name) != here.get(name)]
        if "estimator" in differ:  # the others follow
            differ = ["estimator"]
        if differ:
            raise _Another("; ".join(_difference(name, there.get(name), here.get(name)) for name in differ))

    def _remove_leftovers(self):
        """Files of writers that were killed."""
        for entry in os.scandir(self.path.parent):
            name = re.fullmatch(re.escape(self.path.name) + r"\.(.*)-(\d+)-\d+\.tmp", entry.name)
            with suppress(FileNotFoundError):
                if name and (_is_gone(name[1], int(name[2])) or time.time() - entry.stat().st_mtime > OLD):
                    os.remove(entry.path)

    def write(self, parts):
        begun, arrays = time.monotonic(), {}
        temporary = f"{self.path}.{platform.node()}-{os.getpid()}-{threading.get_ident()}.tmp"  # one for each writer
        header = {"format": FORMAT, "identity": self.identity, "parts": _pack(parts, arrays)}
        try:
            with open(temporary, "wb") as file:
                with zipfile.ZipFile(file, "w") as members:
                    members.writestr("checkpoint.json", json.dumps(header))
                    for name, array in arrays.items():
                        with members.open(f"{name}.npy", "w", force_zip64=True) as member:
                            np.lib.format.write_array(member, array, allow_pickle=False)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, self.path)
        except BaseException:  # Ctrl-C too
            with suppress(OSError):
                os.remove(temporary)
            raise
        finally:
            self.last = time.monotonic()
            self.cost = self.last - begun


class Part:
    """One problem of a fit: where it stood, or its solution."""

    def __init__(self, file, k):
        self.file, self.k = file, k

    def carry_on(self, run, warm, max_iter, monitor, problem=None):
        """run(warm, state), from where it stood; at once if it is solved, and `max_iter` allows no further steps."""
        part, self.file.parts[self.k] = self.file.parts[self.k], {}  # not held longer than it is needed
        with self.file.wholeness():
            check_part(part, problem)
        solution, state = part.get("solution"), part.get("state")
        if solution is not None:
            state = {"point": solution, "gap": solution["gap"], "time": solution["history"][-1]["time"]}
        if state is not None:
            monitor.resumed(state["gap"], state["time"])
        if solution is not None and (solution["converged"] or max_iter <= part["max_iter"]):
            self.file.parts[self.k] = part
            return Solution(**solution)
        if state is not None and "point" in state:
            warm, state = Solution(**state["point"]), None
        found = run(warm, state)
        if not found.interrupted:
            part = {"solution": vars(found), "max_iter": max_iter}
            self.write(part)
            self.file.parts[self.k] = part
        return found

    def offer(self, state):
        """Writes state() if the last time is long enough ago."""
        if time.monotonic() - self.file.last >= max(EVERY, SHARE * self.file.cost):
            self.write({"state": state()})

    def write(self, part):
        """Writes `part`; where that fails the last file stays and the run goes on."""
        file = self.file
        try:
            file.write([*file.parts[: self.k], part, *file.parts[self.k + 1 :]])
        except OSError as error:
            warnings.warn(
                f"checkpoint={str(file.path)!r} could not be written ({error.strerror or error}): the run goes on, "
                "and the file keeps its last state.",
                RuntimeWarning,
                stacklevel=2,
            )


class Watch(Control):
    """The control of a run that is kept in `part` of a checkpoint, and goes on from `state`."""

    def __init__(self, part, state, *asked):
        super().__init__(*asked)
        self.part, self.state = part, state

    def offer(self, state):
        self.part.offer(state)

    def leave(self, state):
        self.part.write({"state": state()})


class _Another(Exception):
    """The file is of another fit."""


def _is_gone(node, pid):
    """Whether it is known that process `pid` of machine `node` has ended."""
    if node != platform.node() or os.name != "posix":  # elsewhere signal 0 is no question
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it runs, for another user
        return False
    return False


def _difference(name, there, here):
    if any(re.fullmatch(r"[0-9a-f]{40,}", text or "") for text in (there, here)):
        return "kernels differ" if name == "kernels" else f"{name} differs"
    return f"{name} is {there} there and {here} here"


def _pack(value, arrays):
    """`value` as JSON; its arrays go to `arrays`, those with many zeros as their other entries and where they are."""
    if isinstance(value, dict):
        return {name: _pack(item, arrays) for name, item in value.items()}
    if isinstance(value, list | tuple):
        return [_pack(item, arrays) for item in value]
    if isinstance(value, np.generic):
        return value.item()
    if not isinstance(value, np.ndarray):
        return value
    name, at = f"a{len(arrays)}", None
    if value.dtype == bool:
        arrays[name] = np.packbits(value)
    elif 3 * np.count_nonzero(value) < 2 * value.size < 2**33:
        at = f"{name}at"
        index = np.flatnonzero(value)
        arrays[name], arrays[at] = value.ravel()[index], index.astype(np.uint32)
    else:
        arrays[name] = value
    return {"array": name, "at": at, "shape": value.shape, "bits": value.dtype == bool}


def _unpack(node, arrays, most):
    """The value of a node; it takes its arrays out of `arrays`, and makes none of more than `most` entries of few."""
    if isinstance(node, list):
        return [_unpack(item, arrays, most) for item in node]
    if not isinstance(node, dict):
        return node
    if node.keys() != {"array", "at", "shape", "bits"}:
        return {name: _unpack(item, arrays, most) for name, item in node.items()}
    value, size = arrays.pop(node["array"]), prod(check_list("shape", node["shape"], int, len(node["shape"])))
    if node["bits"]:
        check_array("bits", value, np.uint8, -(-size // 8))
        value = np.unpackbits(value, count=size).astype(bool)
    elif node["at"] is not None:
        check(size <= most, f"an array has {size} entries")
        at = arrays.pop(node["at"])
        check_index("at", at, size, len(value), ascending=True, dtype=np.uint32)
        entries, value = value, np.zeros(size, value.dtype)
        value[at] = entries
    return value.reshape(node["shape"])
