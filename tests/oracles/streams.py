"""Small data sets in files, and what a streamed fit must have in common with the one in memory."""

import gzip

import numpy as np

from manykernels import KernelStack, losses
from manykernels.datasets import make_splice
from manykernels.kernels import RBF, KernelList, Linear
from manykernels.regularizers import LpNorm
from manykernels.solvers import Monitor
from manykernels.streaming import ArrayFile, DataSource, FastaFiles
from manykernels.streaming.driver import ActiveKernels, Driver, DriverOptions
from manykernels.streaming.shards import take
from manykernels.streaming.stream import normalisation
from manykernels.strings import degree_kernels


class Pieces(DataSource):
    """Examples in memory, in blocks of these sizes, several in a piece."""

    def __init__(self, X, sizes, in_order=False):
        self.X, self.sizes, self.in_order = X, sizes, in_order

    def pieces(self):
        return list(range(len(self.sizes)))

    def read(self, piece):
        start = sum(map(sum, self.sizes[:piece]))
        for size in self.sizes[piece]:
            yield take(self.X, np.arange(start, start + size)), None
            start += size


def driver_of(stream, specs, outputs=slice(0, 1), kept=None, monitor=None, **options):
    """(the `Driver` of these outputs of a stream of `Pieces`, its kernels); `options` are `DriverOptions`."""
    plain = dict(loss=losses.get("hinge"), regularizer=LpNorm(2), intercept=True, solver="newton", tol=1e-3,
                 max_iter=30, seed=0, max_active=stream.n)  # fmt: skip
    options = DriverOptions(**plain | options)
    kernels = KernelList.from_spec(specs, stream.source.X)
    scaled, _ = normalisation(stream, kernels, stream.head, "multiplicative")
    active = ActiveKernels(kernels, scaled, options.tol, False, "never", None, 1)
    return Driver(stream, active, options, outputs, monitor or Monitor(), kept), active


def rows(n=1200, seed=0):
    """(X (n, 6), y of 0 and 1)."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X, (np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n) > 0).astype(int)


def implicit(folder):
    """(X, y, the source of X, kernels, solver): kernels by pairs, one of them with a width from the data."""
    X, y = rows()
    np.save(folder / "X.npy", X)
    kernels = [("a", RBF(gamma=0.5), [0]), ("b", RBF(gamma="scale"), [1, 2]), ("c", RBF(gamma=0.1)), ("d", Linear())]
    return X, y, ArrayFile(folder / "X.npy", rows=250), kernels, "newton"


def groups(folder):
    """The same for linear kernels on groups of columns."""
    X, _ = rows()
    y = (X[:, 0] + 0.5 * X[:, 2] + 0.3 * np.random.default_rng(1).normal(size=len(X)) > 0).astype(int)
    np.save(folder / "X.npy", X)
    kernels = [(f"columns {j}", Linear(), [j, j + 1]) for j in (0, 2, 4)]
    return X, y, ArrayFile(folder / "X.npy", rows=250), kernels, "coordinate"


def sequences(folder, n=900):
    """The same for string kernels on two gzipped FASTA files, with unknown letters in one of them."""
    X, y = make_splice(n, length=40, positives=0.3, random_state=0)
    texts = list(X)
    texts[3] = "N" + texts[3][1:20] + "NN" + texts[3][22:]
    half = n // 2
    for k in (0, 1):
        with gzip.open(folder / f"{k}.fa.gz", "wt") as file:
            for i in range(k * half, (k + 1) * half):
                print(f">site{i} class={y[i]}\n{texts[i]}", file=file)
    return texts, y, FastaFiles(folder / "*.fa.gz", rows=100), degree_kernels(4), "coordinate"


def matrices(folder):
    """(stack (4, n, n), y, the same stack in files): kernels as matrices."""
    X, y = rows(600)
    kernels = [RBF(gamma=0.5), RBF(gamma=0.1), RBF(gamma=0.02), Linear()]
    S = np.stack([kernel(X, X) for kernel in kernels])
    for m, K in enumerate(S):
        np.save(folder / f"kernel{m}.npy", K)
    return S, y, KernelStack.from_files([folder / f"kernel{m}.npy" for m in range(len(S))])


def assert_same(streamed, whole, weights=1e-3):
    """The same certified optimum."""
    assert max(streamed.duality_gap_, whole.duality_gap_) <= whole.tol
    assert abs(streamed.objective_ - whole.objective_) <= 1e-6 * whole.objective_
    np.testing.assert_allclose(streamed.kernel_scale_, whole.kernel_scale_, rtol=1e-9)
    np.testing.assert_allclose(streamed.kernel_weights_, whole.kernel_weights_, atol=weights)
