"""A process that runs cells one after another, and is killed with the one that takes too long."""

import importlib
import json
import os
import subprocess
import sys
import threading
import time
import warnings
from pathlib import Path
from queue import SimpleQueue

import numpy as np

from ._data import Data


class Worker:
    """Runs functions of modules in a process of its own, which starts when it is first needed.

    `threads` is what numba, OpenMP and BLAS may use there; None leaves it to the environment.
    """

    def __init__(self, threads=None):
        self.threads, self.process = threads, None

    def run(self, function, parameters, limit):
        """What `here` returns there, or None after `limit` seconds: the process is over."""
        process = self.process = self.process or self._started()
        late = threading.Event()
        clock = threading.Timer(limit, lambda: (late.set(), process.kill()))
        clock.start()
        try:
            given = {key: {"folder": _folder(x)} if isinstance(x, Data) else x for key, x in parameters.items()}
            process.stdin.write(json.dumps([function.__module__, function.__name__, given], default=plain) + "\n")
            process.stdin.flush()
            line = process.stdout.readline()
        except BrokenPipeError:
            line = ""
        finally:
            clock.cancel()
        if not line:
            self.close()
            if late.is_set():
                return None
            raise RuntimeError(f"the process of the cell ended with {process.returncode}")
        result, spent, lacked, error = json.loads(line)
        if error:
            raise RuntimeError(error)
        return result, spent, lacked

    def kill(self):
        """Ends the process, if there is one: a `run` in another thread fails."""
        if process := self.process:
            process.kill()

    def close(self):
        """Ends the process and waits for that; the next `run` starts another."""
        process, self.process = self.process, None
        if process:
            process.kill()
            process.communicate()

    def _started(self):
        more = {"PYTHONPATH": os.pathsep.join(sys.path)}
        if self.threads:
            more |= {f"{name}_NUM_THREADS": str(self.threads) for name in ("NUMBA", "OMP", "OPENBLAS", "MKL")}
        command, pipe = [sys.executable, "-m", "papers._worker"], subprocess.PIPE
        return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, env=os.environ | more)


def here(function, parameters):
    """What the function returns, as JSON holds it, the CPU seconds of this process, and the files that it lacked."""
    spent = time.process_time()
    result = function(**parameters)
    lacked = [name for x in parameters.values() if isinstance(x, Data) for name in x.missed]
    return json.loads(json.dumps(result, default=plain)), time.process_time() - spent, lacked


def plain(value):
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"a cell takes and returns what JSON can hold, got {type(value).__name__}")


def _folder(data):
    return data.folder and str(Path(data.folder).absolute())


def _serve():
    """Answers a line [module, function, parameters] by one [result, CPU seconds, lacked, error], until nobody asks."""
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what a cell prints is no answer
    warnings.filterwarnings("ignore", message=".*nearly diagonal")  # the pages speak of it
    asked = SimpleQueue()
    threading.Thread(target=_listen, args=[asked], daemon=True).start()
    while True:
        module, name, given = json.loads(asked.get())
        given = {key: Data(**x) if isinstance(x, dict) and x.keys() == {"folder"} else x for key, x in given.items()}
        try:
            answer = *here(getattr(importlib.import_module(module), name), given), None
        except Exception as error:
            answer = None, 0.0, [], f"{type(error).__name__}: {error}"
        out.write(json.dumps(answer) + "\n")
        out.flush()


def _listen(asked):
    for line in sys.stdin:
        asked.put(line)
    os._exit(0)  # also in the middle of a cell: whoever asked is gone


if __name__ == "__main__":
    _serve()
