"""Kernels of low rank: 20 RBF kernels on 50 columns by random features, hinge loss; each fit in a process of its own.

* sizes: 10,000, 100,000 and 1,000,000 generated examples, rank 256 a kernel (5,120 features), p = 1 and 2, gap 1e-3:
  seconds of the clock and of the processors, passes over all examples and over those that can still move, peak memory,
  test error on 20,000 others.
* exact: the same 10,000 examples with the kernels as they are, and by landmarks.

`python -m benchmarks.lowrank 1000000 2` is one fit: examples, p, and then "rff", "nystroem" or "exact", and the rank.
"""

import json
import resource
import subprocess
import sys
import time

import numpy as np

from .report import console, show, write

COLUMNS, KERNELS, RANK, TEST = 50, 20, 256, 20_000
SIZES, QUICK = (10_000, 100_000, 1_000_000), (4_000,)
HEAD = ("examples", "p", "kernels", "clock, s", "processor, s", "gap", "passes", "kernels used", "test error, %",
        "peak, GB", "before, GB")  # fmt: skip


def main(data=None, out=".", quick=False):
    jobs = [(n, p, "rff") for n in (QUICK if quick else SIZES) for p in (1, 2)]
    jobs += [((QUICK if quick else SIZES)[0], p, how) for how in ("exact", "nystroem") for p in (1, 2)]
    rows = []
    for job in jobs:
        console.print("{} examples, p = {}, {} …".format(*job))
        command = [sys.executable, "-m", "benchmarks.lowrank", *map(str, job)]
        found = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
        rows.append(json.loads(found.stdout.splitlines()[-1]) if not found.returncode else [*job, "failed"])
        console.print(str(rows[-1]))
    show("Low rank", HEAD, rows)
    write(out, "lowrank", {"head": HEAD, "rows": rows})


def make(n, seed):
    """X (n, 50) float32 and y = ±1: a smooth function of ten of the columns, products among it, and noise."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, COLUMNS), dtype=np.float32)
    score = 0.7 * X[:, 1] * X[:, 2] + np.sin(X[:, 0]) - 0.5 * (X[:, 3] ** 2 - 1) + 0.3 * X[:, 4] * X[:, 5]
    score += np.tanh(X[:, 5:10].sum(axis=1)) + 0.5 * rng.standard_normal(n, dtype=np.float32)
    return X, np.where(score > 0, 1, -1)


def kernels():
    """Ten widths about the median distance on the ten columns that matter, and ten on all."""
    from manykernels.kernels import RBF

    widths = np.geomspace(1 / 16, 2, KERNELS // 2)
    return [
        (f"{name} {g:.3g}", RBF(gamma=g / (2 * d)), slice(0, d))
        for name, d in (("some", 10), ("all", COLUMNS))
        for g in widths
    ]


def fit(n, p, how, rank=RANK):
    from manykernels import MKLClassifier

    X, y = make(n, 0)
    before, clock, used = _peak(), time.perf_counter(), time.process_time()
    approximation = None if how == "exact" else how
    model = MKLClassifier(kernels(), regularizer=p, approximation=approximation, rank=rank, memory_limit="4GB", C=1.0)
    model.fit(X, y)
    clock, used = time.perf_counter() - clock, time.process_time() - used
    whole = sum(step["n_active"] == n for step in model.history_)
    passes = f"{whole} + {len(model.history_) - whole}"
    peak, count = _peak(), int(np.count_nonzero(model.kernel_weights_ > 1e-6 * model.kernel_weights_.max()))
    X, y = make(TEST, 1)
    error = 100 * float(np.mean(model.predict(X) != y))
    figures = round(clock, 1), round(used, 1), float(model.duality_gap_), passes, count, error
    return [n, p, how if rank == RANK else f"{how} {rank}", *figures, round(peak, 2), round(before, 2)]


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


if __name__ == "__main__":
    size, norm, *rest = sys.argv[1:]
    print(json.dumps(fit(int(size), float(norm), *(rest[:1] or ["rff"]), *map(int, rest[1:]))))
