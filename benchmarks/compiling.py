"""python -m benchmarks.compiling [TASK ...]: what numba compiles in ten everyday tasks on an empty cache.

The tasks, with defaults where nothing is said: a fit and a prediction of two classes, of several classes, and of
numbers; the fit of digits, and their prediction by the saved model; two views; risks of an event, and one class; a fit
of DNA, its prediction by the saved model, and gapped words of DNA of unequal lengths. Each runs in a process of its
own, after the tasks that save its model; all share a cache that is empty at first, as on the machine of a new user.

The table shows for each task the compiled functions, the signatures among them, the processor seconds of compiling, and
the processor seconds of the whole process, import included. Counts do not depend on the load of the machine.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections import Counter
from pathlib import Path
from time import process_time, thread_time

LETTERS = 60
SEQUENCES = 200
TITLES = "functions", "signatures", "s of compiling", "s in all"


class Finder:
    """Listens to numba from the first import of a loop on: `found` has (function, types), `seconds` those of compiling.

    A function that another one calls is compiled within it, and its seconds count once.
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


def two_classes():
    fit_and_predict("load_breast_cancer")


def several_classes():
    fit_and_predict("load_wine")


def numbers():
    fit_and_predict("load_diabetes", "MKLRegressor")


def digits():
    fit_and_predict("load_digits", saved="digits.mk", C=1.0)


def digits_predicted():
    from sklearn.datasets import load_digits

    import manykernels as mk

    mk.load("digits.mk").predict(load_digits().data)


def views():
    from sklearn.datasets import load_breast_cancer

    import manykernels as mk

    X, y = load_breast_cancer(return_X_y=True)
    data = {"first": X[:, :10], "second": X[:, 10:]}
    mk.MKLClassifier().fit(data, y).predict(data)


def survival_and_one_class():
    import numpy as np
    from sklearn.datasets import load_wine

    import manykernels as mk

    X, rng = load_wine().data, np.random.default_rng(0)
    time = rng.exponential(np.exp(X[:, 0] - X[:, 0].mean()))
    targets = mk.survival_targets(rng.random(len(X)) < 0.7, time)
    mk.MKLSurvival(C=1.0).fit(X, targets).predict(X)
    mk.MKLOneClass().fit(X).predict(X)


def dna():
    import manykernels as mk

    X, y = sequences(LETTERS, LETTERS)
    mk.MKLClassifier(C=1.0).fit(X, y).save("dna.mk")


def dna_predicted():
    import manykernels as mk

    mk.load("dna.mk").predict(sequences(LETTERS, LETTERS)[0])


def gapped_words():
    import manykernels as mk

    X, y = sequences(LETTERS, 2 * LETTERS)
    mk.MKLClassifier([mk.strings.GappedKmer()], C=1.0).fit(X, y).predict(X)


TASKS = (two_classes, several_classes, numbers, digits, digits_predicted, views, survival_and_one_class, dna,
         dna_predicted, gapped_words)  # fmt: skip


def fit_and_predict(data, estimator="MKLClassifier", saved=None, **settings):
    from sklearn import datasets

    import manykernels as mk

    X, y = getattr(datasets, data)(return_X_y=True)
    model = getattr(mk, estimator)(**settings).fit(X, y)
    model.save(saved) if saved else model.predict(X)


def sequences(shortest, longest):
    """DNA (texts), half of which has a word at some place, and its classes."""
    import numpy as np

    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), rng.integers(shortest, longest + 1))) for _ in range(SEQUENCES)]
    y = np.arange(SEQUENCES) % 2
    return [f"{text[:20]}TATAAT{text[26:]}" if k else text for text, k in zip(texts, y, strict=True)], y


def compiled(tasks=TASKS):
    """{task: (functions as (name, types), seconds of compiling, seconds)} in processes that share an empty cache."""
    found, home = {}, Path(__file__).parents[1]
    with tempfile.TemporaryDirectory() as folder:
        paths = os.pathsep.join([str(home), str(home / "src"), os.environ.get("PYTHONPATH", "")])
        env = os.environ | {"NUMBA_CACHE_DIR": folder, "PYTHONPATH": paths}
        for task in tasks:
            call = [sys.executable, "-m", "benchmarks.compiling", "--listen", task.__name__]
            told = subprocess.run(call, cwd=folder, env=env, check=True, capture_output=True, text=True).stdout
            found[task.__name__] = json.loads(told.splitlines()[-1])
    return found


def listen(name):
    """Run a task, and print its line of `compiled` as JSON."""
    sys.meta_path.insert(0, Finder)
    globals()[name]()
    print(json.dumps((Finder.found, Finder.seconds, process_time())))


def main():
    if sys.argv[1:2] == ["--listen"]:
        listen(sys.argv[2])
        return
    chosen = [task for task in TASKS if task.__name__ in sys.argv[1:]] or TASKS
    total = Counter()
    print(f"{'':<24}" + "".join(f"{title:>16}" for title in TITLES))
    for name, (functions, seconds, whole) in compiled(chosen).items():
        row = dict(zip(TITLES, (len({n for n, _ in functions}), len(functions), seconds, whole), strict=True))
        total.update(row)
        print(f"{name:<24}" + "".join(f"{value:>16.4g}" for value in row.values()))
    print(f"{'all':<24}" + "".join(f"{value:>16.4g}" for value in total.values()))


if __name__ == "__main__":
    main()
