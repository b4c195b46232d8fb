"""Run by itself: the growth of a process's memory, in bytes, while it fits on a source; Linux alone can say it.

python peak.py KIND FOLDER LIMIT N [whole]

With the last word the same examples are read as a whole and fitted in memory, without a limit.
"""

import sys
from pathlib import Path

import numpy as np

from manykernels import MKLClassifier
from manykernels.datasets import make_splice
from manykernels.kernels import Linear
from manykernels.streaming import ArrayFile, CSVFiles, FastaFiles, HDF5File, ParquetFiles, ZarrArray
from manykernels.strings import degree_kernels, read_fasta

WIDTH = 48
BLOCK = 4096  # rows


def table(n, seed=0):
    """Rows in blocks, (X, y) each."""
    rng = np.random.default_rng(seed)
    for low in range(0, n, BLOCK):
        X = rng.normal(size=(min(BLOCK, n - low), WIDTH))
        yield X, (X[:, 0] + X[:, 5] > 0).astype(np.int8)


def make(kind, folder, n):
    """(source, targets) of n examples."""
    import pandas as pd

    names, y = [f"c{j}" for j in range(WIDTH)], np.concatenate([y for _, y in table(n)])
    if kind == "fasta":
        X, y = make_splice(n, length=101, positives=0.005, random_state=0)
        with open(folder / "sites.fa", "w") as file:
            file.writelines(f">s class={label}\n{text}\n" for text, label in zip(X, y, strict=True))
        return FastaFiles(folder / "sites.fa", rows=BLOCK), "class"
    if kind in ("npy", "dask"):
        out = np.lib.format.open_memmap(folder / "X.npy", "w+", np.float64, (n, WIDTH))
        for k, (X, _) in enumerate(table(n)):
            out[k * BLOCK : k * BLOCK + len(X)] = X
        if kind == "dask":
            import dask.array as da

            return da.from_array(np.load(folder / "X.npy", mmap_mode="r"), chunks=(BLOCK, WIDTH), name=False), y
        return ArrayFile(folder / "X.npy", rows=BLOCK), y
    if kind == "hdf5":
        import h5py

        with h5py.File(folder / "data.h5", "w") as file:
            out = file.create_dataset("X", (n, WIDTH), "f8", chunks=(BLOCK, WIDTH))
            for k, (X, _) in enumerate(table(n)):
                out[k * BLOCK : k * BLOCK + len(X)] = X
        return HDF5File(folder / "data.h5", "X", rows=BLOCK), y
    if kind == "zarr":
        import zarr

        out = zarr.create_array(str(folder / "X.zarr"), shape=(n, WIDTH), chunks=(BLOCK, WIDTH), dtype="f8")
        for k, (X, _) in enumerate(table(n)):
            out[k * BLOCK : k * BLOCK + len(X)] = X
        return ZarrArray(folder / "X.zarr", rows=BLOCK), y
    for k, (X, labels) in enumerate(table(n)):
        frame = pd.DataFrame(X, columns=names).assign(label=labels)
        if kind == "csv":
            frame.to_csv(folder / f"{k:03}.csv", index=False, float_format="%.4f")
        else:
            frame.to_parquet(folder / f"{k:03}.parquet")
    return (CSVFiles if kind == "csv" else ParquetFiles)(folder / f"*.{kind}", rows=BLOCK), "label"


def status(name):
    line = next(line for line in Path("/proc/self/status").read_text().splitlines() if line.startswith(name))
    return int(line.split()[1]) * 1024


def whole(kind, folder, y):
    """The same examples in memory."""
    return read_fasta(folder / "sites.fa", labels="class") if kind == "fasta" else (np.load(folder / "X.npy"), y)


def main(kind, folder, limit, n, in_memory):
    folder = Path(folder)
    kernels = degree_kernels(6) if kind == "fasta" else [(f"g{j}", Linear(), [j, j + 1]) for j in range(0, WIDTH, 2)]
    (folder / "small").mkdir()
    model = MKLClassifier(kernels, solver="coordinate", memory_limit=None if in_memory else limit, n_jobs=2)
    model.fit(*make(kind, folder / "small", 5000))  # compiles and imports all there is
    source, y = make(kind, folder, n)
    Path("/proc/self/clear_refs").write_text("5")  # the peak begins anew
    before = status("VmRSS")
    model.fit(*whole(kind, folder, y) if in_memory else (source, y))
    print(status("VmHWM") - before, model.duality_gap_)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), sys.argv[5:] == ["whole"])
