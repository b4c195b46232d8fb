"""Quick or full, and the cells of a run: parts that are kept as they are finished, and cut off after half an hour."""

import copy
import hashlib
import json
import os
import threading
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np

from ._code import commit, fingerprint, stale
from ._data import Data
from ._page import machine, versions
from ._worker import Worker, here

CAP = 30 * 60
TO_BE_RUN = "to be run"


class NotKept(Exception):
    """A cell that was not run, where none may be."""


class CutOff(NotKept):
    """A cell that took longer than its cap: its name, and the words that stand in tables, such as > 30 min."""

    def __init__(self, name, limit):
        self.name, self.words = name, f"> {limit / 60:.0f} min" if limit > 90 else f"> {limit:.0f} s"
        super().__init__(f"{name} {self.words}")


@dataclass
class Wanted:
    """A cell that is still to be run: the lower its rank, the sooner a page can use it."""

    function: object
    parameters: dict
    rank: int
    timed: bool
    cores: int
    alone: bool = False


class Scale:
    """The size of a run.

    `quick` is True for the run of CI, on bundled and generated data; `pick` chooses between the two sizes. `cell`
    keeps what it computes under `folder`, so that a run that was stopped goes on where it was, or in memory; with
    `kept` nothing is run that is not there, and `wanted` fills: {name of the file: Wanted}. A cell that is not `quick`
    runs in a process apart and is killed after `cap` seconds; `beside` is how many may run at the same time, itself
    among them. With `fresh` a cell that is stale counts as one that was not run.
    """

    def __init__(self, quick, folder=None, kept=False, cap=CAP, worker=None, beside=1, fresh=False):
        self.quick, self.kept, self.folder = quick, kept, None if folder is None else Path(folder)
        self.cap, self.worker, self.beside, self.fresh = cap, worker or Worker(), beside, fresh
        self.cells, self.missing, self.cut, self.wanted, self.rank, self.waits = [], 0, {}, {}, 0, False
        self.held = {}  # cells, where there is no folder
        self.prefix, self.parts = "", []

    def alone(self):
        """The part of this scale for times that verdicts rest on; of a quick run the scale itself.

        Its cells are run one at a time on a machine with nothing else to do (`--cells 1 --alone`), and kept apart from
        those of the same parameters that were timed elsewhere. One during which others kept the processors busy counts
        as not run.
        """
        if self.quick:
            return self
        part = copy.copy(self)
        part.cells, part.missing, part.cut, part.parts, part.prefix = [], 0, {}, [], "alone."
        self.parts.append(part)
        return part

    def pick(self, quick, full):
        return quick if self.quick else full

    def cell(self, function, *, apart=False, cores=1, **parameters):
        """function(**parameters), or what it returned the last time.

        `function` is one of a module (not a lambda) and takes and returns what JSON can hold (arrays become lists). It
        is known by its name and its parameters, floats to 12 digits, the folder of a `Data` not among them: delete its
        file to run it again. One that lacked files of real data which are there now counts as one that was not run.
        `apart` gives it a process with exactly `cores` threads, as timings want it; a machine of fewer leaves it out.
        CutOff is raised for one that took longer than `cap`; it is run again where the cap is larger than it was.
        """
        name = f"{function.__module__.removeprefix('papers.')}.{function.__name__}"
        text = named(parameters)
        file = f"{self.prefix}{name}.{hashlib.sha1(text.encode()).hexdigest()[:12]}.json"
        path = self.folder and self.folder / file
        record = json.loads(path.read_text()) if path and path.exists() else self.held.get((name, text))
        record = None if record and _found_since(record, parameters) else record
        lacks = record is None or (record["result"] is None and record["limit"] < self.cap)
        lacks = lacks or bool(self.fresh and stale(record, function)) or bool(self.prefix and busy(record))
        able = cores <= os.cpu_count()
        if self.kept and lacks and path and able and not self.waits:
            rank = min(self.rank, self.wanted[path.name].rank) if path.name in self.wanted else self.rank
            self.wanted[path.name] = Wanted(function, parameters, rank, apart, cores, bool(self.prefix))
        if record is None and (self.kept or not able):
            raise NotKept(f"{name} {text}")
        if lacks and not self.kept and able:
            print(f"  {name} {text}", flush=True)
            before, record = record, {"function": name, "parameters": json.loads(text), "timed": apart} | _where()
            record |= {"commit": commit(), "code": fingerprint(function)} | ({"alone": True} if self.prefix else {})
            own = apart and self.worker.threads != cores
            record |= self._measured(function, parameters, Worker(cores) if own else self.worker)
            if before and before["result"] is not None and record["result"] is None:
                record = before  # stale, but better than nothing
            elif path:
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(f".{os.getpid()}.{threading.get_ident()}")
                part.write_text(json.dumps(record))
                part.replace(path)
            else:
                self.held[name, text] = record
        self.cells.append({key: value for key, value in record.items() if key != "result"})
        if record["result"] is None:
            raise CutOff(name, record["limit"])
        return record["result"]

    def _measured(self, function, parameters, worker):
        busy, start = _busy(), time.perf_counter()
        try:
            found = here(function, parameters) if self.quick else worker.run(function, parameters, self.cap)
        finally:
            if worker is not self.worker:
                worker.close()
        wall = time.perf_counter() - start
        result, own, lacked = found or (None, wall, [])
        others = max(0.0, _busy() - busy - own) / max(wall, 1.0)
        times = {"limit": self.cap, "seconds": wall, "cpu": own, "others": others}
        times |= {"lacked": lacked} if lacked else {}
        return {"result": result} | times | {"cores": os.cpu_count(), "beside": self.beside}

    def each(self, cases, function, least=2):
        """{case: function(case)} of those that are there and were not cut off; an error if fewer than `least`."""
        found, missing, before = {}, None, self.rank
        for k, case in enumerate(cases):
            try:
                self.rank = before + k
                found[case] = function(case)
            except CutOff as late:
                missing, self.cut[late.name] = late, late.words
            except NotKept as error:
                missing, self.missing = error, self.missing + 1
        self.rank = before
        if missing and len(found) < least:
            raise missing
        return found

    def there(self, cases, function):
        """({case: function(case)} of those that are there, the others); an error if none is."""
        found = self.each(cases, function, least=1)
        return found, [case for case in cases if case not in found]

    def all(self, cases, function):
        """[function(case), …]: an error if one of them is missing, but after all were tried."""
        found, missing = [], None
        for case in cases:
            try:
                found.append(function(case))
            except NotKept as error:
                missing = error
        if missing:
            raise missing
        return found

    def repeat(self, times, function, least=2):
        """[function(0), function(1), …]; with `kept` those that are there, and an error if fewer than `least`."""
        return list(self.each(range(times), function, least).values())

    def time(self, function, **parameters):
        """A cell apart: (its result, None), or (None, the words that stand in the table for it)."""
        try:
            return self.cell(function, apart=not self.quick, **parameters), None
        except CutOff as late:
            return None, late.words
        except NotKept:
            self.missing += 1
            return None, TO_BE_RUN

    def grow(self, names, sizes, fits, timed):
        """{name: {size: what timed(name, size) returned}} of `time` over growing sizes for which fits(name, size).

        After a size that was cut off no larger one is tried: its words stand there too. While one is to be run, larger
        ones are not yet `wanted`.
        """
        found = {name: {} for name in names}

        def at(size):
            for name, row in ((name, row) for name, row in found.items() if fits(name, size)):
                words = [words for _, words in row.values() if words]
                self.waits = TO_BE_RUN in words
                cut = next((text for text in words if text != TO_BE_RUN), None)
                row[size] = (None, cut) if cut else timed(name, size)
            self.waits = False

        self.each(sizes, at, least=0)
        return found

    def loaded(self):
        """Whether the processors were too busy with others while a cell of this scale ran."""
        return any(map(busy, self.cells))

    def machines(self):
        """The machines that timed the cells of this scale."""
        return sorted({cell["machine"] for cell in self.cells if cell.get("timed") and "machine" in cell})

    def clock(self):
        """Under which circumstances the cells were timed."""
        cells = [cell for cell in self.cells if cell.get("timed")]
        if not cells:
            return ""
        cores, beside = (max(cell[key] for cell in cells) for key in ("cores", "beside"))
        others = sum(cell["others"] * cell["seconds"] for cell in cells) / sum(cell["seconds"] for cell in cells)
        side = f"up to {beside} threads ran side by side" if beside > 1 else "one thread ran at a time"
        return f"on {cores} cores, on which {side}; {others:.1f} were busy with others"


def named(parameters):
    """The parameters of a cell as text, with floats to 12 digits: the last ones of a power differ between machines."""

    def rounded(value):
        if isinstance(value, Data):
            return str(bool(value.folder))
        if isinstance(value, np.ndarray | np.generic):
            value = value.tolist()
        if isinstance(value, dict):
            return {key: rounded(part) for key, part in value.items()}
        if isinstance(value, list | tuple):
            return [rounded(part) for part in value]
        return float(f"{value:.12g}") if isinstance(value, float) else value

    return json.dumps(rounded(parameters), sort_keys=True)


def _found_since(record, parameters):
    """Whether real data that a cell lacked are there by now: it was run on a stand-in."""
    folders = [x.folder for x in parameters.values() if isinstance(x, Data) and x.folder]
    return any((folder / name).exists() for folder in folders for name in record.get("lacked", ()))


def busy(cell):
    """Whether the processors were too busy with others while a cell ran."""
    return cell["others"] > 0.2 and cell["others"] + 1 > 0.75 * cell["cores"]


@cache
def _where():
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "versions": versions()}


def _busy():
    """Seconds that all processors have worked since the start, by the kernel; 0 where it does not say."""
    try:
        user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    except OSError:
        return 0.0
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")
