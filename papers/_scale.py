"""Quick or full, and the cells of a run: parts that are kept as they are finished, and cut off after half an hour."""

import hashlib
import importlib
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np

from ._data import Data

LIMIT = 30 * 60
TOO_LONG, TO_BE_RUN = "> 30 min", "to be run"


class NotKept(Exception):
    """A cell that was not run, where none may be."""


class Scale:
    """The size of a run.

    `quick` is True for the run of CI, on bundled and generated data; `pick` chooses between the two sizes. `cell`
    keeps what it computes under `folder`, if there is one, so that a run that was stopped goes on where it was; with
    `kept` nothing is run that is not there.
    """

    def __init__(self, quick, folder=None, kept=False):
        self.quick, self.kept, self.folder = quick, kept, None if folder is None else Path(folder)
        self.cells = []

    def pick(self, quick, full):
        return quick if self.quick else full

    def cell(self, function, *, apart=False, limit=LIMIT, **parameters):
        """function(**parameters), or what it returned the last time; None if it took longer than `limit` seconds.

        `function` is one of a module (not a lambda) and takes and returns what JSON can hold (arrays become lists). It
        is known by its name and its parameters, the folder of a `Data` not among them: delete its file to run it again.
        `apart` runs it in a process of its own, as timings want it, and only there the limit can be enforced.
        """
        name = f"{function.__module__.removeprefix('papers.')}.{function.__name__}"
        known = {
            key: str(bool(value.folder)) if isinstance(value, Data) else value for key, value in parameters.items()
        }
        text = json.dumps(known, sort_keys=True, default=_plain)
        path = self.folder and self.folder / f"{name}.{hashlib.sha1(text.encode()).hexdigest()[:12]}.json"
        if path and path.exists():
            record = json.loads(path.read_text())
        elif self.kept:
            raise NotKept(f"{name} {text}")
        else:
            print(f"  {name} {text}", flush=True)
            record = {"function": name, "parameters": json.loads(text)} | _measured(function, parameters, apart, limit)
            if path:
                path.parent.mkdir(parents=True, exist_ok=True)
                part = path.with_suffix(f".{os.getpid()}")
                part.write_text(json.dumps(record, default=_plain))
                part.replace(path)
        self.cells.append({key: value for key, value in record.items() if key != "result"})
        return record["result"]

    def each(self, cases, function, least=2):
        """{case: function(case)}; with `kept` those that are there, and an error if they are fewer than `least`."""
        found, missing = {}, None
        for case in cases:
            try:
                found[case] = function(case)
            except NotKept as error:
                missing = error
        if missing and len(found) < least:
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
            return None, TO_BE_RUN
        return result, TOO_LONG if result is None else None

    def loaded(self):
        """Whether others used the machine while a cell of this scale ran."""
        return any(cell["others"] > 0.2 for cell in self.cells)


def _measured(function, parameters, apart, limit):
    busy, spent, start = _busy(), sum(os.times()[:4]), time.perf_counter()
    result = _apart(function, parameters, limit) if apart else function(**parameters)
    wall, own = time.perf_counter() - start, sum(os.times()[:4]) - spent
    others = max(0.0, _busy() - busy - own) / max(wall, 1.0)
    return {"result": json.loads(json.dumps(result, default=_plain)), "seconds": wall, "cpu": own, "others": others}


def _apart(function, parameters, limit):
    command = [sys.executable, "-m", "papers._scale", function.__module__, function.__name__]
    text = json.dumps(parameters | {key: str(x.folder) for key, x in parameters.items() if isinstance(x, Data)})
    try:
        done = subprocess.run(command, input=text, stdout=subprocess.PIPE, text=True, check=True, timeout=limit)
    except subprocess.TimeoutExpired:
        return None
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
    print(json.dumps(getattr(importlib.import_module(sys.argv[1]), sys.argv[2])(**given), default=_plain))
