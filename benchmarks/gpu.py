"""Digits on a card: 60,000 × 50 RBF kernels, odd against even, ten classes, doubled data, a stack; host = card.

The breakdown says where the time goes; the floor is the two products that cannot be avoided, of all distances and of
one Cholesky factor, timed alone. `--quick` runs tiny sizes on PyTorch's device of the host.
"""

import time
from statistics import median

import numpy as np

from manykernels import KernelStack, MKLClassifier
from manykernels.kernels import RBF

from .datasets import load_ten_digits
from .report import console, norm, show, write

REPEATS = 3


def main(data=None, out=".", quick=False):
    import torch

    from manykernels.banks import _device_parts, device
    from manykernels.inner import device as inner

    device_name = "torch" if quick or not torch.cuda.is_available() else "cuda"
    quick = quick or device_name == "torch"
    n, repeats = (600, 1) if quick else (60_000, REPEATS)
    X, y, X_new, y_new, source = load_ten_digits(n, data)
    kernels = widths(X, 5 if quick else 50)
    card = torch.cuda.get_device_name() if device_name == "cuda" else "PyTorch on the host"
    console.print(f"{source}, {len(X):,} examples × {len(kernels)} kernels; {card}, PyTorch {torch.__version__}")
    clock = Clock(torch)
    clock.watch("distances", _device_parts.Family, "keep")
    clock.watch("normalisation", device.DeviceBank, "_set_scale")
    clock.watch("combination", _device_parts.Sums, "combined")
    clock.watch("products and certificate", _device_parts.Sums, "products")
    clock.watch("inner problem", inner.DeviceProblem, "solve")
    clock.watch("weight step", inner.DeviceProblem, "half_hessian")
    rows, results = [], {"card": card, "torch": torch.__version__}

    def timed(what, model, *data, times=repeats):
        seconds, parts = [], []
        for _ in range(times):
            clock.parts = {}
            begin = time.perf_counter()
            model.fit(*data)
            seconds.append(time.perf_counter() - begin)
            parts.append(dict(clock.parts))
        parts = parts[int(np.argsort(seconds)[len(seconds) // 2])]
        memory = torch.cuda.max_memory_allocated() / 1e9 if device_name == "cuda" else float("nan")
        rows.append({"case": what, "seconds": median(seconds), "gap": model.duality_gap_, "steps": model.n_iter_,
                     "support": len(model.support_), "memory_GB": memory, "parts": parts})  # fmt: skip
        console.print(f"{what}: {median(seconds):.2f} s, gap {model.duality_gap_:.1e}")
        if device_name == "cuda":
            torch.cuda.reset_peak_memory_stats()
        return model

    odd = y % 2
    MKLClassifier(kernels, device=device_name, C=1.0).fit(X[:3000], odd[:3000])  # compiles
    for p in (1, 4 / 3, 2):
        MKLClassifier(kernels, regularizer=p, device=device_name, C=1.0).fit(X[:3000], odd[:3000])
        model = timed(
            f"odd against even, p = {norm(p)}", MKLClassifier(kernels, regularizer=p, device=device_name, C=1.0), X, odd
        )
        results[f"accuracy, p = {norm(p)}"] = float(np.mean(model.predict(X_new) == y_new % 2))
    model = timed("ten classes, p = 2", MKLClassifier(kernels, device=device_name, C=1.0), X, y, times=1)
    begin = time.perf_counter()
    results["accuracy, ten classes"] = float(np.mean(model.predict(X_new) == y_new))
    results["prediction, ten classes, s"] = time.perf_counter() - begin
    twice = np.concatenate([X, shifted(X)])
    timed(
        "doubled by shifted copies, p = 2",
        MKLClassifier(kernels, device=device_name, C=1.0),
        twice,
        np.tile(odd, 2),
        times=1,
    )
    few = 300 if quick else 4_000
    stack = KernelStack([spec(X[:few]) for spec in kernels])
    timed(f"a stack of {few:,} examples", MKLClassifier("precomputed", device=device_name, C=1.0), stack, odd[:few])
    if not quick:
        few = 10_000
        host = MKLClassifier(kernels, C=1.0).fit(X[:few], odd[:few])
        begin = time.perf_counter()
        host.fit(X[:few], odd[:few])
        seconds = time.perf_counter() - begin
        card = timed(f"{few:,} examples", MKLClassifier(kernels, device=device_name, C=1.0), X[:few], odd[:few])
        results["host, 10,000 examples, s"] = seconds
        results["objectives differ by"] = abs(host.objective_ / card.objective_ - 1)
        results["weights differ by"] = float(np.abs(host.kernel_weights_ - card.kernel_weights_).max())
    names = list(dict.fromkeys(name for row in rows for name in row["parts"]))
    show(
        f"Kernels on {results['card']}, C = 1, tol = 1e-3",
        ("case", "s", "gap", "steps", "support", "GB", *names),
        [(r["case"], r["seconds"], r["gap"], r["steps"], r["support"], r["memory_GB"],
          *(r["parts"].get(name, 0.0) for name in names)) for r in rows],
        f"medians of {repeats}; peak GB of the card; parts in seconds, those of the median run; the normalisation "
        "includes its products",
    )  # fmt: skip
    for name, value in results.items():
        console.print(f"{name}: {value}")
    write(out, "gpu", {"rows": rows, **results})


class Clock:
    """Seconds spent in methods that are watched, the device waited for."""

    def __init__(self, torch):
        self.torch, self.parts = torch, {}

    def watch(self, name, cls, method):
        plain = getattr(cls, method)

        def timed(*args, **kwargs):
            self._wait()
            begin = time.perf_counter()
            try:
                return plain(*args, **kwargs)
            finally:  # a run ends by an exception
                self._wait()
                self.parts[name] = self.parts.get(name, 0.0) + time.perf_counter() - begin

        setattr(cls, method, timed)

    def _wait(self):
        if self.torch.cuda.is_available():
            self.torch.cuda.synchronize()


def widths(X, M):
    """RBF kernels around the median distance, from 1/16 to 16 times it."""
    some = X[:400].astype(float)
    middle = np.median(((some[:200, None] - some[None, 200:]) ** 2).sum(-1))
    return [RBF(float(2**e / middle)) for e in np.linspace(-4, 4, M)]


def shifted(X):
    """The digits one pixel to the right."""
    side = round(np.sqrt(X.shape[1]))
    return np.roll(X.reshape(-1, side, side), 1, axis=2).reshape(len(X), -1)
