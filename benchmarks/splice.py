"""Splice sites: 20 kernels, one for each degree of the weighted degree kernel, on sequences of 141 letters.

Generated acceptor sites with 1 % positives, C = 1, multiplicative normalisation, gap 1e-3, N = 1,000 … 1,000,000, each
in a process of its own; tested on 100,000 others. With --data also the acceptor sites of C. elegans: trained on the
first 100,000, tested on the second, whose chromosomes are others. With --huge also 10,000,000 with the weighted degree
kernel of degree 20 alone: an hour and 20 GB, resumed from its checkpoint in the output directory if it was stopped.
"""

import json
import sys
import time
from pathlib import Path

import numpy as np

from .report import apart, console, norm, peak, show, write

SIZES = (1_000, 10_000, 100_000, 1_000_000)
HUGE = 10_000_000
# seconds in Table 4 of Sonnenburg et al. (2006), other data: kernels in memory, cached, linadd on 1, 4 and 8 processors
PAPER = {
    1_000: (56, 64, 139, 116, 116), 10_000: (2_786, 1_181, 474, 209, 172), 100_000: (None, None, 10_745, 3_456, 2_145),
    1_000_000: (None, None, None, 214_021, 124_691),
}  # fmt: skip


def main(data=None, out=".", quick=False, huge=False):
    jobs = [dict(n=n, p=p, data=None) for n in (SIZES[:1] if quick else SIZES) for p in (1, 2)]
    jobs += [dict(n=100_000, p=p, data=data) for p in (1, 2)] if data and not quick else []
    jobs += [dict(n=HUGE, p=2, data=None, checkpoint=str(Path(out) / "huge.checkpoint"))] if huge else []
    Path(out).mkdir(parents=True, exist_ok=True)
    rows = []
    for job in jobs:
        console.print(f"{'C. elegans' if job['data'] else 'generated'}: {job['n']:,} sequences, p = {norm(job['p'])} …")
        rows.append(job | apart("splice", json.dumps(job)))
    slopes = []
    for p in (1, 2):
        mine = [r for r in rows if r["p"] == p and not r["data"] and 10_000 <= r["n"] < HUGE]
        if len(mine) > 1:
            line = np.polyfit(np.log([r["n"] for r in mine]), np.log([r["seconds"] for r in mine]), 1)
            slopes.append(f"slope {line[0]:.2f} at p = {p}")
    show(
        "Splice sites of 141 letters × 20 degrees, gap 1e-3",
        ("data", "N", "p", "fit, s", "gap", "kernels", "support", "auROC", "auPRC", "predict, µs", "peak, GB"),
        [
            ("C. elegans" if r["data"] else "generated", r["n"], norm(r["p"]), r["seconds"], r["gap"], r["kernels"],
             r["support"], r["roc"], r["prc"], r["predict"], r["peak_GB"])
            for r in rows
        ],
        "; ".join(["the fit includes packing and indexing", *slopes]),
    )  # fmt: skip
    ours = {(r["n"], r["p"]): r["seconds"] for r in rows if not r["data"]}
    show(
        "Seconds, and those of Table 4 in Sonnenburg et al. (2006) on 141-mers of human DNA and machines of their time",
        ("N", "p = 1", "p = 2", "PreMKL", "MKL", "LinMKL1", "LinMKL4", "LinMKL8"),
        [(f"{n:,}", ours[n, 1], ours[n, 2], *PAPER[n]) for n in SIZES if (n, 2) in ours],
    )
    write(out, "splice", {"rows": [{k: v for k, v in r.items() if k != "data"} for r in rows], "slopes": slopes})


def load(n, data):
    from manykernels.datasets import make_splice
    from manykernels.strings import read_fasta

    if data is None:
        return *make_splice(n, random_state=0), *make_splice(100_000, random_state=1)
    files = (f"{data}/splice_C_elegans_acc_{part}.fasta.bz2" for part in ("100000", "modsel"))
    sets = [read_fasta(file, labels="label") for file in files]
    return tuple(part for X, y in sets for part in (X.window(128, 269), np.asarray(y, dtype=float)))


def child(n, p, data, checkpoint=None):
    """Fits one case and prints its figures as JSON."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    from manykernels import MKLClassifier
    from manykernels.datasets import make_splice
    from manykernels.strings import WeightedDegree, degree_kernels

    X, y, new, truth = load(n, data)
    kernels = degree_kernels(20) if checkpoint is None else [WeightedDegree(20)]
    model = MKLClassifier(kernels, regularizer=p, solver="coordinate", C=1.0)
    model.fit(*make_splice(300, positives=0.3, random_state=9)).decision_function(new[:10])  # compiles
    model.set_params(checkpoint=checkpoint)
    start = time.perf_counter()
    model.fit(X, y)
    seconds = time.perf_counter() - start
    start = time.perf_counter()
    f = model.decision_function(new)
    print(json.dumps({
        "seconds": seconds, "gap": model.duality_gap_, "support": len(model.support_),
        "kernels": int((model.kernel_weights_ > 0).sum()), "weights": model.kernel_weights_.round(4).tolist(),
        "roc": float(roc_auc_score(truth, f)), "prc": float(average_precision_score(truth, f)),
        "predict": (time.perf_counter() - start) / len(f) * 1e6,
        "peak_GB": peak(),
    }))  # fmt: skip


if __name__ == "__main__":
    child(**json.loads(sys.argv[1]))
