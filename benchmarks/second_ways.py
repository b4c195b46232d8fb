"""Ways that are there for speed alone, beside the plain way: processor seconds of both, one thread, and their ratio.

A way stays where the plain one takes 1.3 times as long or more on one of two sizes of work. Both ways run by turns, and
the least time of several counts.
"""

import time
from contextlib import ExitStack
from unittest.mock import patch

import numpy as np

from .report import console, show, write

REPEATS = 5


def main(data=None, out=".", quick=False):
    """`data` is not read: all data are drawn."""
    from threadpoolctl import threadpool_limits

    rows = []
    with threadpool_limits(1):
        for case in (exponentials, few_columns, one_column, triangles, small_supports, visits):
            for size in (1, 2):
                name, sizes, work, changes = case(0.1 * size if quick else size)
                fast, plain = least(work, changes, 1 if quick else REPEATS)
                rows.append({"way": name, "size": sizes, "s": fast, "plain s": plain, "ratio": plain / fast})
                console.print(f"{name}, {sizes}: {fast:.4f} s, the plain way {plain / fast:.2f} ×")
    show("Second ways", ("way", "size", "s", "plain s", "ratio"), [row.values() for row in rows])
    write(out, "second_ways", rows)


def least(work, changes, repeats):
    """The least processor seconds of `work`, as it is and with (object, attribute, value) `changes`."""

    def changed():
        with ExitStack() as stack:
            for place, name, value in changes:
                stack.enter_context(patch.object(place, name, value))
            work()

    work(), changed()  # compiles
    seconds = [[], []]
    for _ in range(repeats):
        for times, run in zip(seconds, (work, changed), strict=True):
            began = time.process_time()
            run()
            times.append(time.process_time() - began)
    return min(seconds[0]), min(seconds[1])


def pairwise(kernels, X):
    """A call that sums all kernels of a list, computed on the fly in float32."""
    from manykernels.banks import PairwiseBank
    from manykernels.kernels import KernelList

    bank = PairwiseBank(KernelList.from_spec(kernels, X), X, normalize=None)
    return lambda: bank.combined(np.ones(bank.M))


def exponentials(size):
    from manykernels.banks._tiled_sums import Tiles
    from manykernels.kernels import RBF

    n = int(1500 * size)
    X = np.random.default_rng(0).normal(size=(n, 30))
    direct = lambda self, group, chosen, *rest: (chosen[:0], chosen)  # noqa: E731
    work = pairwise([RBF(gamma=g) for g in np.geomspace(1e-3, 1, 50)], X)
    return "table of exponentials", f"{n:,} × 50 widths", work, [(Tiles, "_exponentials", direct)]


def few_columns(size):
    from manykernels.banks._narrow_views import NarrowViews
    from manykernels.kernels import Laplacian

    n = int(1000 * size)
    X = np.random.default_rng(0).normal(size=(n, 60))
    kernels = [(f"{j} {g}", Laplacian(gamma=g), [j, j + 1, j + 2]) for j in range(0, 60, 3) for g in (0.3, 3.0, 30.0)]
    never = staticmethod(lambda *sides: False)
    return "views of few columns at once", f"{n:,} × 20 views", pairwise(kernels, X), [(NarrowViews, "takes", never)]


def one_column(size):
    from manykernels.banks import _tiled_sums
    from manykernels.kernels import RBF

    n = int(1000 * size)
    X = np.random.default_rng(0).normal(size=(n, 40))
    work = pairwise([(f"{j} {g}", RBF(gamma=g), [j]) for j in range(40) for g in (0.1, 1.0)], X)
    return "series of one column", f"{n:,} × 40 columns", work, [(_tiled_sums, "smooth_column", lambda *given: None)]


def triangles(size):
    from manykernels.banks import DenseBank
    from manykernels.banks._stack import Stack

    n = int(1000 * size)
    F = np.random.default_rng(0).normal(size=(20, n, 5))
    bank, whole = DenseBank(np.moveaxis(F @ F.swapaxes(1, 2), 0, 2), n_jobs=1), Stack.products
    some, A = np.arange(0, n, 3), np.random.default_rng(1).normal(size=(1, len(range(0, n, 3))))

    def every(self, *given, symmetric=False):
        return whole(self, *given)

    work = lambda: bank.products(A, some, some)  # noqa: E731
    return "products from one triangle", f"20 × {n:,}²", work, [(Stack, "products", every)]


def small_supports(size):
    from manykernels.banks.words._trie_stores import TrieGroup
    from manykernels.banks.words.trie import TrieBank
    from manykernels.datasets import make_splice
    from manykernels.kernels import KernelList
    from manykernels.strings import WeightedDegree

    n = int(2000 * size)
    X, _ = make_splice(n, random_state=0)
    bank = TrieBank.from_list(KernelList.from_spec([WeightedDegree(20)], X), X, n_jobs=1)
    support = np.arange(0, n, n // 100)
    never = lambda self, size: False  # noqa: E731
    work = lambda: bank.products(np.ones((1, len(support))), support)  # noqa: E731
    return "tries by pairs", f"{n:,}, support {len(support)}", work, [(TrieGroup, "compares", never)]


def visits(size):
    """The team is there for many threads, which this does not show: `benchmarks.run limits` does."""
    from manykernels import MKLClassifier
    from manykernels.banks.explicit import Vectors
    from manykernels.banks.words.degree import DegreeVectors
    from manykernels.datasets import make_splice
    from manykernels.strings import degree_kernels

    n = int(2000 * size)
    X, y = make_splice(n, positives=0.2, random_state=0)
    model = MKLClassifier(degree_kernels(20), C=1.0, solver="coordinate", n_jobs=1, random_state=0)
    work = lambda: model.fit(X, y)  # noqa: E731
    return "team of visits, alone", f"{n:,} × 20 degrees", work, [(DegreeVectors, "team", Vectors.team)]
