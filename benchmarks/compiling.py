"""python -m benchmarks.compiling ["two classes" ...]: what numba compiles in ten everyday tasks on an empty cache.

Each task of `TASKS` runs in a process of its own, with default settings where it says nothing else. All share a cache
that is empty at first, as on the machine of a new user, so that a task finds what the tasks before have compiled. The
table shows the functions that were compiled, with those of numba; the signatures, more than functions where a function
was compiled for several types; the processor seconds of compiling; and those of the whole process, import included.
Counts do not depend on the load of the machine.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import process_time, thread_time

TASKS = {
    "two classes": "X, y = table('breast_cancer'); mk.MKLClassifier().fit(X, y).predict(X)",
    "several classes": "X, y = table('wine'); mk.MKLClassifier().fit(X, y).predict(X)",
    "regression": "X, y = table('diabetes'); mk.MKLRegressor().fit(X, y).predict(X)",
    "digits": "X, y = table('digits'); mk.MKLClassifier(C=1.0).fit(X, y).save('digits.mk')",
    "digits, new": "X, y = table('digits'); mk.load('digits.mk').predict(X)",
    "two views": "X, y = table('breast_cancer'); views = {'a': X[:, :10], 'b': X[:, 10:]}\n"
    "mk.MKLClassifier().fit(views, y).predict(views)",
    "survival, one class": "X, y = table('wine'); times = np.exp(np.random.default_rng(0).normal(X[:, 0]))\n"
    "mk.MKLSurvival(C=1.0).fit(X, mk.survival_targets(y > 0, times)).predict(X)\n"
    "mk.MKLOneClass().fit(X).predict(X)",
    "DNA": "X, y = dna(60, 60); mk.MKLClassifier(C=1.0).fit(X, y).save('dna.mk')",
    "DNA, new": "X, y = dna(60, 60); mk.load('dna.mk').predict(X)",
    "gapped words": "X, y = dna(60, 120); gkm = mk.strings.GappedKmer(10, 6)\n"
    "mk.MKLClassifier([gkm], C=1.0).fit(X, y).predict(X)",
}
TITLES = "functions", "signatures", "s of compiling", "s in all"


def table(name):
    from sklearn import datasets

    return getattr(datasets, f"load_{name}")(return_X_y=True)


def dna(shortest, longest, n=200):
    """n texts, half of which have a TATA box at place 20, and their classes."""
    import numpy as np

    rng, y = np.random.default_rng(0), np.arange(n) % 2
    texts = ["".join(rng.choice(list("ACGT"), rng.integers(shortest, longest + 1))) for _ in y]
    return [f"{text[:20]}TATAAT{text[26:]}" if k else text for text, k in zip(texts, y, strict=True)], y


class Finder:
    """Listens to numba from the first import of a loop on, for `found` [(function, types)] and `seconds` of compiling.

    A task that needs no loop loads no numba. A function is compiled within the one that calls it: seconds count once.
    """

    found: list = []
    began: list = []
    seconds, listens = 0.0, False

    @classmethod
    def find_spec(cls, module, *_):
        if module.startswith("manykernels.loops.") and not cls.listens:
            cls.listens = True
            from numba.core import event

            heard = type("Heard", (event.Listener,), {"on_start": cls.start, "on_end": cls.end})
            event.register("numba:compile", heard())

    @classmethod
    def start(cls, seen):
        function = seen.data["dispatcher"].py_func
        cls.found.append((f"{function.__module__}.{function.__qualname__}", str(seen.data["args"])))
        cls.began.append(thread_time())

    @classmethod
    def end(cls, seen):
        began = cls.began.pop()
        if not cls.began:
            cls.seconds += thread_time() - began


def run(task):
    """Runs a task, and prints as JSON ([(function, types)], seconds of compiling, seconds)."""
    sys.meta_path.insert(0, Finder)
    import numpy as np

    import manykernels as mk

    exec(TASKS[task], {"np": np, "mk": mk, "table": table, "dna": dna})
    print(json.dumps((Finder.found, Finder.seconds, process_time())))


def compiled(tasks=TASKS):
    """Yields (task, [(function, types)], seconds of compiling, seconds); processes share a cache, empty at first."""
    home = Path(__file__).parents[1]
    path = os.pathsep.join([str(home), str(home / "src"), os.environ.get("PYTHONPATH", "")])
    with tempfile.TemporaryDirectory() as folder:
        env = os.environ | {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": path, "MANYKERNELS_NO_CACHE": "0"}
        for task in tasks:
            call = [sys.executable, "-m", "benchmarks.compiling", "--run", task]
            told = subprocess.run(call, cwd=folder, env=env, check=True, stdout=subprocess.PIPE, text=True).stdout
            yield task, *json.loads(told.splitlines()[-1])


def main():
    if sys.argv[1:2] == ["--run"]:
        run(sys.argv[2])
        return
    total = Counter()
    print(" " * 20 + "".join(f"{title:>16}" for title in TITLES))
    for task, found, *seconds in compiled(sys.argv[1:] or TASKS):
        row = Counter(dict(zip(TITLES, (len({name for name, _ in found}), len(found), *seconds), strict=True)))
        total.update(row)
        print(f"{task:<20}" + "".join(f"{row[title]:>16.4g}" for title in TITLES), flush=True)
    print(f"{'all':<20}" + "".join(f"{total[title]:>16.4g}" for title in TITLES))


if __name__ == "__main__":
    main()
