"""Blocks of work on the shared threads."""

import os
import signal
import threading
import time

import pytest

from manykernels._threads import run_blocks
from manykernels.inner.systems import blas_for


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
