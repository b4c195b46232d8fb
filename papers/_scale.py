"""Quick or full, and the cells of a run: parts that are kept as they are finished, and cut off after half an hour."""

import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path

import numpy as np

from ._data import Data
from ._page import machine, versions

LIMIT = 30 * 60
TO_BE_RUN = "to be run"


class NotKept(Exception):
    """A cell that was not run, where none may be."""


@dataclass
class Wanted:
    """A cell that is still to be run: the lower its rank, the sooner a page can use it."""

    function: object
    parameters: dict
    rank: int
    timed: bool
    cores: int


class Scale:
    """The size of a run.

    `quick` is True for the run of CI, on bundled and generated data; `pick` chooses between the two sizes. `cell`
    keeps what it computes under `folder`, if there is one, so that a run that was stopped goes on where it was; with
    `kept` nothing is run that is not there, and `wanted` fills: {name of the file: Wanted}.
    """

    def __init__(self, quick, folder=None, kept=False):
        self.quick, self.kept, self.folder = quick, kept, None if folder is None else Path(folder)
        self.cells, self.missing, self.wanted, self.rank = [], 0, {}, 0

    def pick(self, quick, full):
        return quick if self.quick else full

    def cell(self, function, *, apart=False, limit=LIMIT, cores=1, **parameters):
        """function(**parameters), or what it returned the last time; None if it took longer than `limit` seconds.

        `function` is one of a module (not a lambda) and takes and returns what JSON can hold (arrays become lists). It
        is known by its name and its parameters, the folder of a `Data` not among them: delete its file to run it again.
        `apart` runs it in a process of its own, as timings want it, and only there the limit can be enforced. What was
        cut off at a lower limit is run again. A machine of fewer `cores` than it needs leaves it out.
        """
        name = f"{function.__module__.removeprefix('papers.')}.{function.__name__}"
        known = {
            key: str(bool(value.folder)) if isinstance(value, Data) else value for key, value in parameters.items()
        }
        text = json.dumps(known, sort_keys=True, default=_plain)
        path = self.folder and self.folder / f"{name}.{hashlib.sha1(text.encode()).hexdigest()[:12]}.json"
        record = json.loads(path.read_text()) if path and path.exists() else None
        cut = record is not None and record["result"] is None and record.get("limit", LIMIT) < limit
        able = cores <= os.cpu_count()
        if self.kept and (record is None or cut) and path and able:
            rank = min(self.rank, self.wanted[path.name].rank) if path.name in self.wanted else self.rank
            self.wanted[path.name] = Wanted(function, parameters, rank, apart, cores)
        if record is None and (self.kept or not able):
            raise NotKept(f"{name} {text}")
        if (record is None or cut) and not self.kept and able:
            print(f"  {name} {text}", flush=True)
            record = {"function": name, "parameters": json.loads(text)} | _where()
            record |= _measured(function, parameters, apart, limit, cores)
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(f".{os.getpid()}")
                part.write_text(json.dumps(record, default=_plain))
                part.replace(path)
        self.cells.append({key: value for key, value in record.items() if key != "result"})
        return record["result"]

    def each(self, cases, function, least=2):
        """{case: function(case)}; with `kept` those that are there, and an error if they are fewer than `least`."""
        found, missing, before = {}, None, self.rank
        for k, case in enumerate(cases):
            try:
                self.rank = before + k
                found[case] = function(case)
            except NotKept as error:
                missing, self.missing = error, self.missing + 1
        self.rank = before
        if missing and len(found) < least:
            raise missing
        return found

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
            result = self.cell(function, apart=not self.quick, **parameters)
        except NotKept:
            self.missing += 1
            return None, TO_BE_RUN
        if result is not None:
            return result, None
        limit = self.cells[-1].get("limit", LIMIT)
        return None, f"> {limit / 60:.0f} min" if limit > 90 else f"> {limit:.0f} s"

    def loaded(self):
        """Whether the processors were too busy with others while a cell of this scale ran."""
        return any(cell["others"] > 0.2 and cell["others"] + 1 > 0.75 * cell.get("cores", 2) for cell in self.cells)


def _measured(function, parameters, apart, limit, cores):
    busy, start = _busy(), time.perf_counter()
    result, own = _apart(function, parameters, limit, cores) if apart else _here(function, parameters)
    wall = time.perf_counter() - start
    others = max(0.0, _busy() - busy - own) / max(wall, 1.0)
    result = json.loads(json.dumps(result, default=_plain))
    return {"result": result, "limit": limit, "seconds": wall, "cpu": own, "others": others, "cores": os.cpu_count()}


def _here(function, parameters):
    """What the function returns, and the CPU seconds of this process meanwhile."""
    spent = time.process_time()
    result = function(**parameters)
    return result, time.process_time() - spent


@cache
def _where():
    return {"date": datetime.now(UTC).date().isoformat(), "machine": machine(), "versions": versions()}


def _apart(function, parameters, limit, cores):
    command = [sys.executable, "-m", "papers._scale", function.__module__, function.__name__]
    text = json.dumps(parameters | {key: str(x.folder) for key, x in parameters.items() if isinstance(x, Data)})
    try:
        done = subprocess.run(
            command, input=text, stdout=subprocess.PIPE, text=True, check=True, timeout=limit,
            env=os.environ | {f"{name}_NUM_THREADS": str(cores) for name in ("NUMBA", "OMP", "OPENBLAS")},
        )  # fmt: skip
    except subprocess.TimeoutExpired:
        return None, float(limit)
    return json.loads(done.stdout.splitlines()[-1])


def _busy():
    """Seconds that all processors have worked since the start, by the kernel; 0 where it does not say."""
    try:
        user, nice, system = Path("/proc/stat").read_text().split()[1:4]
    except OSError:
        return 0.0
    return (int(user) + int(nice) + int(system)) / os.sysconf("SC_CLK_TCK")


def _plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a cell takes and returns what JSON can hold, got {type(value).__name__}")


if __name__ == "__main__":
    given = json.load(sys.stdin)
    if "data" in given:
        given["data"] = Data(None if given["data"] == "None" else given["data"])
    print(json.dumps(_here(getattr(importlib.import_module(sys.argv[1]), sys.argv[2]), given), default=_plain))
