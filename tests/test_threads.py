"""Blocks of work on the shared threads."""

import os
import signal
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed
from threadpoolctl import threadpool_info, threadpool_limits

from manykernels import MKLClassifier, MKLRegressor
from manykernels._threads import limit_blas, run_blocks
from manykernels.inner.systems import blas_for
from manykernels.kernels import RBF, KernelStack


@pytest.mark.parametrize("n_jobs", [1, 3])
def test_results_keep_the_order_of_the_blocks(n_jobs):
    def late(k):
        time.sleep(0.002 * (k % 3 == 0))
        return k * k

    assert run_blocks(late, range(40), n_jobs) == [k * k for k in range(40)]


@pytest.mark.parametrize(
    ("size", "length", "threads"), [(200, 0, 1), (200, 3000, 1), (200, 10_000, 4), (5000, 0, 16), (5000, 10_000, 16)]
)
def test_blas_has_threads_by_the_size_of_its_factors(size, length, threads):
    assert blas_for(size, 16, length).size == threads
    assert blas_for(size, 1, length).size == 1


def test_the_first_block_that_fails_is_the_one_that_is_told_of():
    begun = []

    def fails(k):
        begun.append(k)
        time.sleep(0.02 if k == 4 else 0.001)
        if k in (4, 5):
            raise ValueError(k)

    for _ in range(5):
        with pytest.raises(ValueError, match="4"):
            run_blocks(fails, range(1000), 3)
    assert len(begun) < 100  # the rest was not begun
    assert run_blocks(abs, range(-5, 0), 3) == [5, 4, 3, 2, 1]  # and the threads are there for others


@pytest.mark.skipif(os.name == "nt", reason="no signal for one process alone")
def test_ctrl_c_ends_it():
    begun, before = [], signal.signal(signal.SIGINT, signal.default_int_handler)  # ignored in the background of a shell
    alarm = threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT))
    try:
        with pytest.raises(KeyboardInterrupt):
            alarm.start()
            run_blocks(lambda k: begun.append(k) or time.sleep(0.01), range(1000), 2)
    finally:
        alarm.join()
        signal.signal(signal.SIGINT, before)
    count = len(begun)
    time.sleep(0.05)
    assert len(begun) == count < 1000


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


def from_a_thread(ask):
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(ask).result()


def limited(size):
    with limit_blas(size):
        return blas_threads()


def test_a_limit_holds_in_every_thread():
    """Issue 11, point 21: threadpoolctl 3.7 listens to the first thread that sets OpenBLAS, and ignores all others."""
    with threadpool_limits(3, "blas"):
        assert [limited(2), from_a_thread(lambda: limited(1)), limited(2), from_a_thread(lambda: limited(2))] == [
            2,
            1,
            2,
            2,
        ]
        assert blas_threads() == 3


def test_a_limit_holds_whoever_enters_and_leaves_another_beside_it():
    """Issue 11, point 21: of several threads the one that asks for the fewest decides."""
    enter, leave = threading.Event(), threading.Event()

    def beside():
        with limit_blas(2):
            enter.set()
            leave.wait(60)

    with threadpool_limits(3, "blas"):
        other = threading.Thread(target=beside)
        with limit_blas(1):
            other.start()
            assert enter.wait(60)
            assert blas_threads() == 1
            with limit_blas(2):
                assert blas_threads() == 2
            assert blas_threads() == 1
            leave.set()
            other.join()
            assert blas_threads() == 1
        assert blas_threads() == 3


@pytest.mark.parametrize("given", [1, 2, 3])
def test_a_limit_never_gives_blas_more_threads_than_it_was_left_with(given):
    """Issue 11, point 24. Alone, within another, beside another thread's, and in blocks; what was given comes back."""
    seen = []

    def look(*_):
        seen.append(blas_threads())

    with threadpool_limits(given, "blas"):
        for size in (1, 2, 4, 8):
            with limit_blas(size):
                assert blas_threads() == min(size, given)
                with limit_blas(8):
                    assert blas_threads() == min(8, given)
                    assert from_a_thread(lambda: limited(8)) <= given
                assert blas_threads() <= given
            assert blas_threads() <= given
        with blas_for(5000, 8):
            assert blas_threads() == given
        run_blocks(look, range(4), 8)
        assert len(seen) == 4 and max(seen) <= given and blas_threads() == given


rng = np.random.default_rng(0)
X = rng.standard_normal((260, 4))
y = np.sign(X[:, 0] + 0.5 * X[:, 1] ** 2 - 0.4 + 0.5 * rng.standard_normal(260))
RBFS = [RBF(gamma=g) for g in (0.1, 1.0)]
FITS = {
    "stack": lambda: MKLClassifier("precomputed").fit(KernelStack([kernel(X) for kernel in RBFS]), y),
    "pairwise kernels": lambda: MKLClassifier(RBFS).fit(X, y),
    "smooth loss": lambda: MKLClassifier(RBFS, loss="logistic").fit(X, y),
    "no box": lambda: MKLRegressor(RBFS, loss="squared").fit(X, y),
}


@pytest.mark.parametrize("case", FITS)
def test_fits_have_the_same_bits_from_any_thread(case):
    """Issue 11, point 21."""

    def bits(_=None):
        model = FITS[case]()
        return np.concatenate([np.ravel(v) for v in (model.dual_coef_, model.intercept_, model.kernel_weights_)])

    with threadpool_limits(3, "blas"):
        here = bits()
        found = [from_a_thread(bits), *ThreadPoolExecutor(3).map(bits, range(3))]
        found += Parallel(2, backend="threading")(delayed(bits)() for _ in range(2))
    for other in found:
        np.testing.assert_array_equal(here, other)
