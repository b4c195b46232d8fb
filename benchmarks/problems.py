"""One fit on 1, 2, 4, 8 and 16 threads: sequences, kernels on the fly, a stack, very many kernels.

Speed-ups are over one thread of the same fit in the same process, after a small fit that compiles; objective and
weights are compared with those of one thread. Medians of three, but for fits of over ten seconds, which run once.
`--only` takes cases by name; "million" runs only there.
"""

from functools import partial
from statistics import median

import numpy as np

from .datasets import GEOMETRIC, load_mnist, make_columns
from .report import clock, console, norm, show, write

THREADS = (1, 2, 4, 8, 16)
LONG = 10  # seconds
CASES = {  # name: (kind, n, M, values of p, repeats)
    "sequences": ("sequences", 100_000, 20, (1, 2), 3),
    "million": ("sequences", 1_000_000, 20, (1, 2), 1),
    "digits": ("digits", 20_000, 50, (1, 2), 3),
    "stack": ("stack", 4_000, 50, (1, 2), 3),
    "columns": ("columns", 1_000, 10_000, (1, 2), 3),
}
QUICK = {
    "sequences": ("sequences", 2_000, 20, (2,), 1),
    "digits": ("digits", 1_000, 10, (2,), 1),
    "stack": ("stack", 500, 10, (2,), 1),
    "columns": ("columns", 200, 500, (2,), 1),
}


def main(data=None, out=".", quick=False, only=None, threads=None):
    from manykernels._threads import n_threads

    cases = QUICK if quick else CASES
    names = only.split(",") if only else [name for name in cases if name != "million"]
    counts = [int(t) for t in threads.split(",")] if threads else [t for t in THREADS if t <= n_threads(-1)]
    rows = []
    for name in names:
        kind, n, M, norms, repeats = cases[name]
        X, y, small, kernels, options = problem(kind, n, M, data)
        for p in norms:
            first = None
            for t in counts:
                model = estimator(kernels, p, options, t).fit(*small)
                times = [clock(partial(model.fit, X, y))[0]]
                times += [clock(partial(model.fit, X, y))[0] for _ in range(repeats - 1) if times[0] < LONG]
                seconds = median(times)
                first = first or (seconds, model.objective_, model.kernel_weights_)
                rows.append({
                    "case": f"{name}, {n:,} × {M:,}", "p": p, "threads": t, "s": seconds,
                    "speed-up": first[0] / seconds, "gap": model.duality_gap_, "steps": model.n_iter_,
                    "objective": abs(model.objective_ / first[1] - 1),
                    "weights": float(np.abs(model.kernel_weights_ - first[2]).max()),
                })  # fmt: skip
                console.print(f"{name}, p = {norm(p)}, {t} threads: {seconds:.2f} s, {first[0] / seconds:.2f} ×")
    show(
        "Threads, C = 1, tol = 1e-3",
        ("case", "p", "threads", "s", "speed-up", "gap", "steps", "objective", "weights"),
        [(r["case"], norm(r["p"]), *list(r.values())[2:]) for r in rows],
        "speed-up over the first number of threads; objective and weights: the difference from it",
    )
    write(out, "threads", {"rows": rows})


def problem(kind, n, M, data):
    """(X, y, a small set that compiles the same loops, kernels, options of the estimator)."""
    if kind == "sequences":
        from manykernels.datasets import make_splice
        from manykernels.strings import degree_kernels

        small = make_splice(300, positives=0.3, random_state=9)
        return *make_splice(n, random_state=0), small, degree_kernels(M), {"solver": "coordinate"}
    from manykernels import KernelStack
    from manykernels.kernels import RBF

    if kind == "columns":
        X, y, _ = make_columns(n, M // 10)
        kernels = [(f"{j}, {k}", RBF(float(2.0 ** (k - 5))), [j]) for j in range(M // 10) for k in range(10)]
        return X, y, (X[:300], y[:300]), kernels, {"memory_limit": "4GB"}
    X, y, _ = load_mnist(n, data)
    X = X.astype(np.float32)
    kernels = [(f"2σ² = {w:.3g}", RBF(float(1 / w))) for w in GEOMETRIC[:: 50 // M]]
    if kind == "digits":
        return X, y, (X[:2000], y[:2000]), kernels, {"memory_limit": "8GB"}
    stack = np.stack([kernel(X) for _, kernel in kernels]).astype(np.float32)
    stack = (stack + stack.transpose(0, 2, 1)) / 2
    few = slice(0, 300)
    return KernelStack(stack), y, (KernelStack(stack[:, few, few]), y[few]), "precomputed", {}


def estimator(kernels, p, options, n_jobs):
    from manykernels import MKLClassifier

    return MKLClassifier(kernels, **{"regularizer": p, "C": 1, "tol": 1e-3, "n_jobs": n_jobs} | options)
