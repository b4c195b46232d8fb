"""Long runs that survive their process: the state of a fit in one file, replaced as a whole, read without pickle.

The file is that of `_archive`, written beside the old one, flushed to the disk and then moved over it, so that at every
moment a whole file is there. A fit of several problems, one-vs-rest, has one part for each: its `state`, or its
`solution` once it is solved.
"""

import errno
import os
import platform
import re
import shutil
import time
import warnings
from contextlib import suppress
from pathlib import Path

from .. import _archive
from .._state import check, check_is
from .._tags import Refused
from ..solution import Solution
from ._checkpoint_checks import check_part
from .base import Control

EVERY = 5.0  # seconds between two writes, at least,
SHARE = 20  # and this many times as long as the last one took
VECTORS = 64  # as many values as a has may all arrays together have that are mostly 0
OLD = 3600.0  # seconds without a change after which no one writes a temporary file any more


class Checkpoint:
    """The file `path` of the fit called `identity`, {name: text}, with `n_parts` problems of `size` values of a in all.

    Reads what is there; refuses the file of another fit, and a place that cannot be written.
    """

    def __init__(self, path, identity, n_parts=1, size=0):
        self.path, self.identity, self.cost, self.last = Path(path).absolute(), identity, 0.0, time.monotonic()
        self.n_parts, self.size = n_parts, size
        _archive.check_file(self.path, "checkpoint=")
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

    def wholeness(self):
        """Within this, what fails is what the file holds."""
        whole = "is no whole checkpoint ({}): delete the file to begin anew, or give another path."
        return _archive.wholeness(f"checkpoint={str(self.path)!r}", whole)

    def _parts(self, stream):
        size = os.fstat(stream.fileno()).st_size
        options = {"most": VECTORS * self.size, "accept": self._accept}
        content = _archive.read(stream, "checkpoint", size, "its members are not packed", **options)
        check("identity" in content, "it does not say of which fit it is")
        parts = check_is("parts", content["parts"], list)
        check(len(parts) == self.n_parts, f"it has {len(parts)} parts where {self.n_parts} are wanted")
        for part in parts:
            check_part(part, None)
        return parts

    def _accept(self, name, there):
        """Refuses the file of another fit before its arrays are read."""
        if name != "identity":
            return
        check_is("identity", there, dict)
        here, names = self.identity, self.identity | there
        differ = [name for name in names if there.get(name) != here.get(name)]
        if "estimator" in differ:  # the others follow
            differ = ["estimator"]
        if differ:
            what = "; ".join(_difference(name, there.get(name), here.get(name)) for name in differ)
            raise Refused(
                f"belongs to another fit: {what}. Give every fit a path of its own, or delete the file to begin anew"
            )

    def _remove_leftovers(self):
        """Files of writers that were killed."""
        for entry in os.scandir(self.path.parent):
            name = re.fullmatch(re.escape(self.path.name) + r"\.(.*)-(\d+)-\d+\.tmp", entry.name)
            with suppress(FileNotFoundError):
                if name and (_is_gone(name[1], int(name[2])) or time.time() - entry.stat().st_mtime > OLD):
                    os.remove(entry.path)

    def write(self, parts):
        begun = time.monotonic()
        try:
            content = {"identity": self.identity, "parts": parts}
            _archive.write(self.path, "checkpoint", content, False, VECTORS * self.size)
        finally:
            self.last = time.monotonic()
            self.cost = self.last - begun


class CheckpointSlot:
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
            return Solution.from_state(solution)
        if state is not None and "point" in state:
            warm, state = Solution.from_state(state["point"]), None
        found = run(warm, state)
        if not found.interrupted:
            part = {"solution": found.to_state(), "max_iter": max_iter}
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

    kept = True

    def __init__(self, part, state, *asked):
        super().__init__(*asked)
        self.part, self.state = part, state

    def offer(self, state):
        self.part.offer(state)

    def leave(self, state):
        self.part.write({"state": state()})


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
