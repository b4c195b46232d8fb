"""Splice sites streamed from gzipped FASTA files: memory and time of a fit that never holds its examples.

Generated acceptor sites of 141 letters with 1 % positives, C = 1, p = 2, gap 1e-3, in files of 250,000, each size in a
process of its own; auPRC on 100,000 others. With --whole the same fit in memory is run beside it. The files and a
checkpoint lie in the output directory, so that a run that was stopped goes on. --workers asks the shards by processes,
with --dask by those of a Dask cluster on this machine; then the seconds of each round are shown by part.

    python -m benchmarks.stream --sizes 100000 1000000 --kernels 20 --memory 3GB --out /data/stream
    python -m benchmarks.stream --sizes 1000000 --kernels 1 --dask --workers 4
"""

import argparse
import gzip
import json
import resource
import time
from contextlib import contextmanager
from pathlib import Path

import numpy as np

from .report import apart, peak, show, write

PART = 250_000


def main(sizes, kernels, memory, out, whole, workers, dask):
    rows = []
    for n in sizes:
        make_files(Path(out), n)
        for streamed in (True, False) if whole else (True,):
            job = dict(n=n, kernels=kernels, memory=memory, out=str(out), streamed=streamed, workers=workers, dask=dask)
            rows.append(apart("stream", "--child", json.dumps(job)))
            print(json.dumps(rows[-1]), flush=True)
    show(
        f"Splice sites of 141 letters from gzipped FASTA, memory_limit {memory}, gap 1e-3",
        ("N", "kernels", "streamed", "fit, s", "CPU, s", "peak, GB", "rounds", "active", "support", "gap", "auPRC"),
        [[r[k] for k in ("n", "kernels", "streamed", "seconds", "cpu", "peak_GB", "rounds", "active", "support", "gap",
                         "prc")] for r in rows],
    )  # fmt: skip
    parts = "support", "n_active", "bytes", "seconds_compute", "seconds_communication", "seconds_driver"
    for r in rows:
        if r["streamed"]:
            show(f"Rounds of {r['n']:,}", parts, [[step[k] for k in parts] for step in r["history"]])
    write(out, "stream", {"rows": rows})


def make_files(folder, n):
    """n sites in files of `PART`, those of one size apart from those of another."""
    from manykernels.datasets import make_splice

    folder = folder / str(n)
    folder.mkdir(parents=True, exist_ok=True)
    if (folder / "done").exists():
        return
    X, y = make_splice(n, random_state=0)
    for part, low in enumerate(range(0, n, PART)):
        with gzip.open(folder / f"{part:03}.fa.gz", "wt", compresslevel=1) as file:
            for start in range(low, min(low + PART, n), 10_000):
                some = slice(start, min(start + 10_000, low + PART, n))
                texts, labels = list(X[some]), y[some].tolist()
                file.write("".join(f">s class={label}\n{text}\n" for text, label in zip(texts, labels, strict=True)))
    (folder / "done").touch()


def child(n, kernels, memory, out, streamed, workers, dask):
    from sklearn.metrics import average_precision_score

    from manykernels import MKLClassifier
    from manykernels.datasets import make_splice
    from manykernels.streaming import FastaFiles
    from manykernels.strings import WeightedDegree, degree_kernels, read_fasta

    chosen = degree_kernels(20) if kernels > 1 else [WeightedDegree(20)]
    files = sorted(map(str, (Path(out) / str(n)).glob("*.fa.gz")))
    model = MKLClassifier(chosen, solver="coordinate", C=1.0)
    model.fit(*make_splice(300, positives=0.3, random_state=9))  # compiles
    begun, cpu = time.perf_counter(), spent()
    if streamed:
        model.set_params(memory_limit=memory)
        if not dask:  # rounds of a cluster are to be timed, all of them
            model.set_params(checkpoint=str(Path(out) / f"{n}-{kernels}.checkpoint"))
        with backend(workers, dask):
            model.fit(FastaFiles(files), "class")
    else:
        from manykernels.sequences import Sequences

        parts = [read_fasta(file, labels="class") for file in files]
        X, y = Sequences.concatenate([part for part, _ in parts]), np.concatenate([labels for _, labels in parts])
        model.fit(X, y)
    seconds, cpu, most = time.perf_counter() - begun, spent() - cpu, peak()
    new, truth = make_splice(100_000, random_state=1)
    last = model.history_[-1]
    print(json.dumps({
        "n": n, "kernels": kernels, "streamed": streamed, "seconds": seconds, "cpu": cpu, "peak_GB": most,
        "rounds": len(model.history_), "active": last["n_active"], "support": len(model.support_),
        "gap": model.duality_gap_, "objective": model.objective_, "weights": model.kernel_weights_.round(4).tolist(),
        "prc": float(average_precision_score(truth, model.decision_function(new))), "history": model.history_,
    }))  # fmt: skip


@contextmanager
def backend(workers, dask):
    """Threads, processes, or the processes of a Dask cluster ask the shards."""
    from manykernels.streaming import Processes, Threads, using

    if not dask:
        with using(Processes(workers) if workers else Threads()):
            yield
        return
    from distributed import Client, LocalCluster

    options = dict(n_workers=workers or 1, threads_per_worker=1, dashboard_address=None)
    with LocalCluster(**options) as cluster, Client(cluster):
        yield


def spent():
    """CPU seconds of this process and its children."""
    kinds = resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN
    return sum(getattr(resource.getrusage(kind), name) for kind in kinds for name in ("ru_utime", "ru_stime"))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", type=int, nargs="+", default=[100_000])
    parser.add_argument("--kernels", type=int, default=20, choices=(1, 20), help="20 degrees, or their weighted sum")
    parser.add_argument("--memory", default="3GB", help="memory_limit")
    parser.add_argument("--out", default="stream")
    parser.add_argument("--whole", action="store_true", help="fit in memory too")
    parser.add_argument("--workers", type=int, default=0, help="processes; threads unless given")
    parser.add_argument("--dask", action="store_true", help="the workers are those of a Dask cluster on this machine")
    parser.add_argument("--child", type=json.loads, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        child(**given.child)
    else:
        main(given.sizes, given.kernels, given.memory, given.out, given.whole, given.workers, given.dask)
