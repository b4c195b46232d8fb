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

LIMIT = 30 * 60
TOO_LONG = "> 30 min"


class Scale:
    """The size of a run.

    `quick` is True for the run of CI, on bundled and generated data; `pick` chooses between the two sizes. `cell`
    keeps what it computes under `folder`, if there is one, so that a run that was stopped goes on where it was.
    """

    def __init__(self, quick, folder=None):
        self.quick, self.folder = quick, None if folder is None else Path(folder)
        self.cells = []

    def pick(self, quick, full):
        return quick if self.quick else full

    def cell(self, function, *, apart=False, limit=LIMIT, **parameters):
        """function(**parameters), or what it returned the last time; None if it took longer than `limit` seconds.

        `function` is one of a module (not a lambda) and takes and returns what JSON can hold (arrays become lists). It
        is known by its name and its parameters: delete its file to run it again. `apart` runs it in a process of its
        own, as timings want it, and only there the limit can be enforced.
        """
        name = f"{function.__module__.removeprefix('papers.')}.{function.__name__}"
        text = json.dumps(parameters, sort_keys=True, default=_plain)
        path = self.folder and self.folder / f"{name}.{hashlib.sha1(text.encode()).hexdigest()[:12]}.json"
        if path and path.exists():
            record = json.loads(path.read_text())
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
    text = json.dumps(parameters, default=_plain)
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
    function = getattr(importlib.import_module(sys.argv[1]), sys.argv[2])
    print(json.dumps(function(**json.load(sys.stdin)), default=_plain))
