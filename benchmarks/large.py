"""Problems whose kernels do not fit in memory, computed on the fly; each in a process of its own, peak memory measured.

* columns: 1,000 examples × 10,000 RBF kernels (10 widths on each of 1,000 columns), memory_limit="4GB".
* mnist: 20,000 digits × 50 RBF kernels with 2σ² = 1.2^0 … 1.2^49, memory_limit="8GB", within 12 GB in all.
"""

import json
import subprocess
import sys
import time

import numpy as np

from .datasets import GEOMETRIC, load_mnist, make_columns
from .report import console, norm, show, write

CASES = [  # name, n, M, p, memory_limit, peak allowed in GB
    ("columns", 1_000, 10_000, 1, "4GB", None),
    ("columns", 1_000, 10_000, 2, "4GB", None),
    ("mnist", 20_000, 50, 1, "8GB", 12),
    ("mnist", 20_000, 50, 2, "8GB", 12),
]
QUICK = [("columns", 300, 500, 1, "200MB", None), ("mnist", 1_500, 10, 2, "200MB", None)]


def main(data=None, out=".", quick=False):
    rows = []
    for name, n, M, p, limit, allowed in QUICK if quick else CASES:
        console.print(f"{name}: {n:,} examples × {M:,} kernels, p = {norm(p)}, memory_limit={limit} …")
        job = dict(name=name, n=n, M=M, p=p, limit=limit, data=data)
        child = subprocess.run(
            [sys.executable, "-m", "benchmarks.large", json.dumps(job)], stdout=subprocess.PIPE, text=True, check=False
        )
        if child.returncode:
            rows.append({"name": name, "n": n, "M": M, "p": p, "limit": limit, "failed": child.returncode})
            continue
        rows.append(json.loads(child.stdout.splitlines()[-1]) | {"limit": limit, "allowed_GB": allowed})
    show(
        "Kernels on the fly, C = 1, tol = 1e-3",
        ("case", "n", "M", "p", "memory_limit", "peak, GB", "before fit, GB", "a stack, GB", "fit, s", "gap", "steps"),
        [
            (r["name"], r["n"], r["M"], norm(r["p"]), r["limit"], f"failed ({r['failed']})", *["–"] * 5)
            if "failed" in r
            else (r["name"], r["n"], r["M"], norm(r["p"]), r["limit"], r["peak_GB"], r["before_GB"], r["stack_GB"],
                  r["seconds"], r["gap"], r["steps"])
            for r in rows
        ],
        "peak: the largest resident memory of the whole process, Python and the data included (1 GB = 1e9 bytes)",
    )  # fmt: skip
    write(out, "large", {"rows": rows})


def child(name, n, M, p, limit, data):
    """Fits one case and prints its figures as JSON."""
    from manykernels import MKLClassifier
    from manykernels.kernels import RBF

    if name == "columns":
        widths = 10
        X, y, source = make_columns(n, M // widths)
        kernels = [
            (f"column {j}, width {k}", RBF(gamma=float(2.0 ** (k - 5))), [j])
            for j in range(M // widths)
            for k in range(widths)
        ]
    else:
        X, y, source = load_mnist(n, data)
        X = X.astype(np.float32)
        kernels = [(f"2σ² = {w:.3g}", RBF(gamma=float(1 / w))) for w in GEOMETRIC[:: 50 // M]]
    before, start = peak(), time.perf_counter()
    model = MKLClassifier(kernels, regularizer=p, C=1, tol=1e-3, memory_limit=limit).fit(X, y)
    seconds = time.perf_counter() - start
    result = {
        "name": name, "data": source, "n": len(y), "M": len(kernels), "p": p, "seconds": seconds, "peak_GB": peak(),
        "before_GB": before, "stack_GB": 4e-9 * len(y) ** 2 * len(kernels), "gap": model.duality_gap_,
        "steps": model.n_iter_, "support": len(model.support_), "kernels_used": int((model.kernel_weights_ > 0).sum()),
    }  # fmt: skip
    print(json.dumps(result))


def peak():
    """Largest resident memory of this process so far, GB."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


if __name__ == "__main__":
    child(**json.loads(sys.argv[1]))
