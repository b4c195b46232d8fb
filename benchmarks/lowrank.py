"""Kernels of low rank: 20 RBF kernels on 50 columns by random features, hinge loss; each fit in a process of its own.

* sizes: 10,000, 100,000 and 1,000,000 generated examples, rank 256 a kernel (5,120 features), p = 1 and 2, gap 1e-3:
  seconds of the clock and of the processors, passes over all examples and over those that can still move, peak memory,
  test error on 20,000 others.
* exact: the same 10,000 examples with the kernels as they are, and by landmarks.
* card: the largest size on a CUDA card, if there is one, with the seconds of its parts; parts contain each other.

`python -m benchmarks.lowrank 1000000 2` is one fit: examples, p, and then "rff", "nystroem" or "exact", the rank, and
the device. `--quick` runs 4,000 examples, and PyTorch on the processor instead of a card.
"""

import json
import sys
import time

import numpy as np

from .report import apart, console, peak, show, write

COLUMNS, KERNELS, RANK, TEST = 50, 20, 256, 20_000
SIZES, QUICK = (10_000, 100_000, 1_000_000), (4_000,)
HEAD = ("examples", "p", "kernels", "clock, s", "processor, s", "gap", "passes", "kernels used", "test error, %",
        "peak, GB", "before, GB")  # fmt: skip


def main(data=None, out=".", quick=False):
    jobs = [(n, p, "rff") for n in (QUICK if quick else SIZES) for p in (1, 2)]
    jobs += [((QUICK if quick else SIZES)[0], p, how) for how in ("exact", "nystroem") for p in (1, 2)]
    device = "torch" if quick else card()
    if device is not None:
        size, rank = (QUICK[0], 32) if quick else (SIZES[-1], RANK)
        jobs += [(size, p, how, rank, device) for how in ("rff", "nystroem") for p in (1, 2)]
    rows = []
    for job in jobs:
        console.print(f"{job[0]} examples, p = {job[1]}, {' '.join(map(str, job[2:]))} …")
        rows.append(apart("lowrank", *map(str, job), check=False) or [*job[:3], "failed"])
        console.print(str(rows[-1]))
    show("Low rank", HEAD, rows)
    write(out, "lowrank", {"head": HEAD, "rows": rows})


def card():
    """ "cuda" if PyTorch finds a card, else None."""
    try:
        import torch
    except ImportError:
        return None
    return "cuda" if torch.cuda.is_available() else None


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


def watched():
    """A `Clock` of the parts of a fit on a device."""
    import torch

    from manykernels.banks import _device_features as features
    from manykernels.banks.low_rank import LowRankBank
    from manykernels.solvers import _primal_passes as passes
    from manykernels.solvers import _primal_quadratic as device
    from manykernels.solvers.primal import Descent

    from .gpu import Clock

    clock = Clock(torch)
    for name, owner, method in (
        ("kernels and features", LowRankBank, "from_list"), ("features", features.DeviceRows, "_compute"),
        ("moments", features.DeviceRows, "moments"), ("the solver", Descent, "iterate"), ("passes", Descent, "_visit"),
        ("rows of features", device.DeviceBlocks, "features"), ("outputs", device.DeviceBlocks, "outputs"),
        ("sums", device.DeviceBlocks, "sums"), ("curvature", device.DeviceCurvature, "add"),
        ("losses, on the host", passes.SmoothedOutput, "answer"), ("estimates, on the host", Descent, "_estimate"),
        ("quadratic models", Descent, "_model"), ("factors", device.DeviceCurvature, "factor"),
        ("line searches, on the host", Descent, "_between"), ("certificates", Descent, "_certify"),
    ):  # fmt: skip
        clock.watch(name, owner, method)
    return clock


def fit(n, p, how, rank=RANK, device="cpu"):
    from manykernels import MKLClassifier

    X, y = make(n, 0)
    parts, options = None, dict(approximation=None if how == "exact" else how, memory_limit="4GB", C=1.0, device=device)
    if device != "cpu":  # the libraries of a card take seconds to start
        few = min(n, 4_000)
        MKLClassifier(kernels()[::10], regularizer=p, **options, rank=32).fit(X[:few], y[:few])
        parts = watched()
    before, clock, used = peak(), time.perf_counter(), time.process_time()
    model = MKLClassifier(kernels(), regularizer=p, rank=rank, **options)
    model.fit(X, y)
    clock, used = time.perf_counter() - clock, time.process_time() - used
    whole = sum(step["n_active"] == n for step in model.history_)
    passes = f"{whole} + {len(model.history_) - whole}"
    most, count = peak(), int(np.count_nonzero(model.kernel_weights_ > 1e-6 * model.kernel_weights_.max()))
    X, y = make(TEST, 1)
    begin = time.perf_counter()
    error = 100 * float(np.mean(model.predict(X) != y))
    if parts is not None:
        print("seconds:", {name: round(seconds, 2) for name, seconds in parts.parts.items()}, file=sys.stderr)
        print(f"{TEST:,} predictions on the host: {time.perf_counter() - begin:.1f} s; {_memory()}", file=sys.stderr)
    figures = round(clock, 1), round(used, 1), float(model.duality_gap_), passes, count, error
    name = " ".join([how, *[str(rank)] * (rank != RANK), *[device] * (device != "cpu")])
    return [n, p, name, *figures, round(most, 2), round(before, 2)]


def _memory():
    import torch

    if not torch.cuda.is_available():
        return "PyTorch on the processor"
    return f"{torch.cuda.get_device_name()}, peak {torch.cuda.max_memory_allocated() / 1e9:.1f} GB"


if __name__ == "__main__":
    size, norm, *rest = sys.argv[1:]
    print(json.dumps(fit(int(size), float(norm), *(rest[:1] or ["rff"]), *map(int, rest[1:2]), *rest[2:])))
