"""Checkpoints: the state of a fit in one file, replaced as a whole, read without pickle.

`_archive` writes a new file beside the old one, flushes it to the disk and moves it over the old one, so that a
complete file exists at every moment. A fit of several problems, such as one-vs-rest, has one part for each: its
`state`, or its `solution` once it is solved. If the fit has chosen C or learned a metric, the file says which.
"""

import errno
import glob
import hashlib
import os
import platform
import re
import shutil
import time
from contextlib import suppress
from pathlib import Path

import numpy as np

from .. import _archive
from .._callers import warn
from .._state import Refused, check, check_is, check_value, read_entries
from ..solution import Solution
from .base import Control

WRITE_INTERVAL = 5.0  # seconds between two writes, at least,
WRITE_PAUSE = 20  # and at least this many times the duration of the last write
MAX_SPARSE_VECTORS = 64  # sparse arrays of old files together have at most this many times the entries of a
MIN_SPARSE_ENTRIES = 2**22  # and this many for a small a
LEFTOVER_AGE = 3600.0  # seconds without a change after which a temporary file is abandoned
# the entries of states, as `_state` says
POINT = {"theta": "f8 M finite", "a": "f8 T n finite"}
SIDE = {"outputs": "f8 n finite", "active": "bool n", "excess": "finite", "turn": "int 0"}
RUN = POINT | {  # of the coordinate solver, as its `_state` says
    "b": "list T finite", "turn": "int 0", "at": "int 0 <sides", "place": "int 0 <places", "solves": "int 0",
    "sides": "list T dict", "history": "records", "upper": "number", "lower": "number", "scale": "finite",
    "best": "?dict", "best_dual": "?f8 T n finite", "dual_b": "f8 T finite", "draw": "dict",
    "points": "list cuts f8 T n finite", "added": "list cuts any",
}  # fmt: skip


class Checkpoint:
    """The file `path` of the fit called `identity`, {name: text}, with `n_parts` problems of `size` values of a in all.

    Reads the file if it exists; refuses the file of another fit, and a path that cannot be written.
    """

    def __init__(self, path, identity, n_parts=1, size=0):
        self.path, self.identity, self.cost, self.last = Path(path).absolute(), identity, 0.0, time.monotonic()
        self.n_parts, self.size, self.chosen = n_parts, size, None
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
        with open(self.path, "rb") as stream, self.wholeness():  # errors outside `wholeness` concern the path
            return self._parts(stream)

    def wholeness(self):
        """Turns errors of a damaged file into a ValueError."""
        whole = "is no whole checkpoint ({}): delete the file to begin anew, or give another path."
        return _archive.wholeness(f"checkpoint={str(self.path)!r}", whole)

    def _parts(self, stream):
        size = os.fstat(stream.fileno()).st_size
        options = {"most": max(MAX_SPARSE_VECTORS * self.size, MIN_SPARSE_ENTRIES), "accept": self._accept}
        content = _archive.read(stream, "checkpoint", size, "its members are not packed", **options)
        check("identity" in content, "it does not say of which fit it is")
        if "chosen" in content:
            self.chosen = check_is("chosen", content["chosen"], dict)
            check(all(isinstance(text, str) for text in self.chosen.values()), f"chosen is {self.chosen!r}")
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
        if "estimator" in differ:  # other names then differ too
            differ = ["estimator"]
        if differ:
            what = "; ".join(_difference(name, there.get(name), here.get(name)) for name in differ)
            raise Refused(
                f"belongs to another fit: {what}. Give every fit another path, or delete the file to begin anew"
            )

    def _remove_leftovers(self):
        """Removes temporary files of writers that were killed."""
        for entry in os.scandir(self.path.parent):
            name = re.fullmatch(re.escape(self.path.name) + r"\.(.*)-(\d+)-\d+\.tmp", entry.name)
            with suppress(FileNotFoundError):
                if name and (_is_gone(name[1], int(name[2])) or time.time() - entry.stat().st_mtime > LEFTOVER_AGE):
                    os.remove(entry.path)

    def matrix(self, name, n, dtype):
        """An (n, n) array in a file of this fit beside the checkpoint, NaN where nothing was written yet.

        It is in memory if the file cannot be written.
        """
        fit = hashlib.sha256(repr(sorted(self.identity.items())).encode()).hexdigest()[:12]
        path = self.path.with_name(f"{self.path.name}.{fit}.{name}-{np.dtype(dtype)}.npy")
        row = np.full(n, np.nan, dtype)
        try:
            for other in self.path.parent.glob(f"{glob.escape(self.path.name)}.*.pairs*.npy"):
                if fit not in other.name:  # of a fit that was not continued
                    other.unlink()
            if not path.exists():
                begun = path.with_suffix(".tmp")
                with open(begun, "wb") as stream:  # all of it: a full disk ends a process that writes to a map
                    np.lib.format.write_array_header_1_0(
                        stream, {"descr": row.dtype.str, "fortran_order": False, "shape": (n, n)}
                    )
                    stream.writelines(row.tobytes() for _ in range(n))
                os.replace(begun, path)
            found = np.asarray(np.lib.format.open_memmap(path, "r+"))
            check(found.shape == (n, n) and found.dtype == row.dtype, f"it is {found.shape}, {found.dtype}")
            return found
        except (OSError, ValueError) as error:
            warn(
                f"{str(path)!r} cannot keep kernel values ({error}): the fit goes on, and a fit that continues it "
                "computes them again.",
                RuntimeWarning,
            )
            return np.tile(row, (n, 1))

    def choose(self, chosen):
        """Says what the fit has chosen, {name: text}; what the file has of another choice is a start at most."""
        if self.chosen != chosen:
            self.parts, self.chosen = [_as_start(part) for part in self.parts], chosen

    def write(self, parts):
        begun = time.monotonic()
        try:
            content = {"identity": self.identity, "parts": parts}
            content |= {} if self.chosen is None else {"chosen": self.chosen}
            _archive.write(self.path, "checkpoint", content, packed=False)
        finally:
            self.last = time.monotonic()
            self.cost = self.last - begun


class CheckpointSlot:
    """One problem of a fit: its last state, or its solution."""

    def __init__(self, file, k):
        self.file, self.k = file, k

    def carry_on(self, run, warm, max_iter, monitor, problem=None):
        """run(warm, state) from the last state; the solution itself if it exists and `max_iter` allows no more."""
        part, self.file.parts[self.k] = self.file.parts[self.k], {}  # free its memory early
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
            with self.file.wholeness():
                warm, state = Solution(**state["point"]), None
        found = run(warm, state)
        if not found.interrupted:
            part = {"solution": found.to_state(), "max_iter": max_iter}
            self.write(part)
            self.file.parts[self.k] = part
        return found

    def offer(self, state):
        """Writes state() if the last write is long enough ago."""
        if time.monotonic() - self.file.last >= max(WRITE_INTERVAL, WRITE_PAUSE * self.file.cost):
            self.write({"state": state()})

    def write(self, part):
        """Writes `part`; after an error the last file stays and the run continues."""
        file = self.file
        try:
            file.write([*file.parts[: self.k], part, *file.parts[self.k + 1 :]])
        except OSError as error:
            warn(
                f"checkpoint={str(file.path)!r} could not be written ({error.strerror or error}): the run goes on, "
                "and the file keeps its last state.",
                RuntimeWarning,
            )


class Watch(Control):
    """The control of a run that is saved in `part` of a checkpoint and continues from `state`."""

    kept = True

    def __init__(self, part, state, *asked):
        super().__init__(*asked)
        self.part, self.state = part, state

    def offer(self, state):
        self.part.offer(state)

    def leave(self, state):
        self.part.write({"state": state()})


def _as_start(part):
    """The part as a state to begin from after another choice: its point, if it has one."""
    if "solution" in part:
        found = part["solution"]
        point = {name: found[name] for name in ("theta", "a", "b", "primal", "dual", "gap")}
        return {"state": {"point": point, "gap": found["gap"], "time": found["history"][-1]["time"]}}
    return part if "point" in part.get("state", {}) else {}


def _is_gone(node, pid):
    """Whether process `pid` of machine `node` has certainly ended."""
    if node != platform.node() or os.name != "posix":  # only POSIX uses signal 0 as a test
        return False
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return True
    except PermissionError:  # it runs as another user
        return False
    return False


def _difference(name, there, here):
    if any(re.fullmatch(r"[0-9a-f]{40,}", text or "") for text in (there, here)):
        return "kernels differ" if name == "kernels" else f"{name} differs"
    return f"{name} is {there} there and {here} here"


def check_part(part, problem):
    """Checks that `part` is empty, a solution or a state for this problem; None skips what needs the problem."""
    check_is("a part", part, dict)
    check(set(part) in (set(), {"state"}, {"solution", "max_iter"}), f"a part holds {sorted(part)}")
    if "solution" in part:
        check_value("max_iter", part["max_iter"], "int 1 <most", {"most": 2**62})
        solution = Solution.from_state(part["solution"])
        check(len(solution.history) > 0, "a solution has no history")
        check(not solution.interrupted, "a solution was interrupted")
        check_value("time", solution.history[-1]["time"], "finite", {})
        if problem is not None:
            check_point(part["solution"], problem)
            bayesian = solution.stationarity is not None
            check(problem.regularizer.bayesian == bayesian, "a solution is of another kind of problem")
    if "state" in part:
        state = check_is("state", part["state"], dict)
        if problem is not None:
            read_entries({"gap": "number", "time": "finite"}, state)
            check_warm(state["point"], problem) if "point" in state else check_run(state, problem)


def sizes_of(problem, M):
    """The letters of the specs above."""
    T, n = problem.Y.shape
    return {"M": M, "T": T, "n": n, "sides": T + 1, "places": n + 1}


def check_point(point, problem):
    """theta (M,), a (T, n) and b (T,) of all kernels, or b (T, k)."""
    b = f"f8 {' '.join(map(str, problem.no_b().shape))} finite"
    read_entries(POINT | {"b": b}, point | {"b": np.asarray(point["b"])}, **sizes_of(problem, problem.bank.M))


def check_warm(point, problem):
    """The point of a warm start."""
    check_is("a point", point, dict)
    check(set(point) == {"theta", "a", "b", "primal", "dual", "gap"}, f"a point holds {sorted(point)}")
    check_point(point, problem)


def check_run(state, problem):
    """The state of a run of the coordinate solver."""
    sizes = sizes_of(problem, len(problem.kernels))
    read_entries(RUN, state, **sizes)
    for side in state["sides"]:
        read_entries(SIDE, side, **sizes)
    check(state["turn"] == 0 or len(state["history"]) > 0, "there is no history")
    check(state["scale"] > 0, f"scale is {state['scale']}")
    check(not state["upper"] < state["lower"] - 1e-6 * state["scale"], "upper lies below lower")
    check((state["best"] is None) == (state["upper"] == np.inf), "best and upper do not go together")
    if state["best"] is not None:
        read_entries(POINT, state["best"], **sizes)
        check_value("b", np.asarray(state["best"]["b"]), "f8 T finite", sizes)
    np.random.PCG64().state = state["draw"]
    cuts = problem.regularizer.smooth or problem.regularizer.simplex
    check(not state["added"] or cuts, "there are cuts of another problem")
    for q, *numbers in state["added"]:
        check_value("added", q, "f8 M finite", sizes)
        check_value("added", numbers, "list 3 finite", {})
