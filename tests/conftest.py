"""Workers of pytest-xdist share the cores of a machine: each keeps to two of them, as a fit would take all, and to one
thread of BLAS, since threads that wait for each other on the same two cores take most of the time of small products.

ALL_CORES=1 lets every worker have all. SMALL_BLOCKS=1 cuts the work of small tests into many blocks: see
`benchmarks/small_blocks.py`. Tests that count blocks or bytes fail there.
"""

import gc
import os

import pytest


@pytest.hookimpl(wrapper=True)
def pytest_collection():
    """What the imports of tests make stays: the collector of garbage need not look at it again and again."""
    gc.disable()
    try:
        return (yield)
    finally:
        gc.freeze()
        gc.enable()


def share_cores(worker: str) -> None:
    cores = sorted(os.sched_getaffinity(0))
    first = 2 * int(worker.removeprefix("gw"))
    os.sched_setaffinity(0, {cores[k % len(cores)] for k in (first, first + 1)})


def one_blas_thread() -> None:
    """For this process, if NumPy has not been imported, and for those that it starts."""
    for name in ("OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "BLIS_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"):
        os.environ.setdefault(name, "1")


WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if WORKER.startswith("gw") and not os.environ.get("ALL_CORES"):
    one_blas_thread()
    if hasattr(os, "sched_setaffinity"):
        share_cores(WORKER)


def restart(module) -> None:
    """Sets the generators of random numbers of a test module back to where its import left them.

    A test then draws the same numbers alone, in any order and beside any other.
    """
    import numpy as np

    generators = {name: value for name, value in vars(module).items() if isinstance(value, np.random.Generator)}
    states = module.__dict__.setdefault("_states_of_generators", {})
    for name, generator in generators.items():
        if name in states:
            generator.bit_generator.state = states[name]
        else:
            states[name] = generator.bit_generator.state


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item):
    """Before the fixtures, of which those of a module run once."""
    if hasattr(item, "module"):  # pytest's item: a block of a page has none
        restart(item.module)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_call(item):
    if hasattr(item, "module"):  # pytest's item
        restart(item.module)


@pytest.fixture(autouse=True)
def compiled_loops(request, monkeypatch):
    """Small tests of banks, kernels and contracts take the compiled loops, as large data do.

    `banks/test_plain_loops.py` compares them with NumPy, which computes few kernel values everywhere else.
    """
    if request.path.parent.name in ("banks", "contracts", "kernels"):
        from manykernels.kernels import pair_blocks

        monkeypatch.setattr(pair_blocks, "MAX_PLAIN_VALUES", -1)


if os.environ.get("SMALL_BLOCKS"):

    @pytest.fixture(autouse=True)
    def in_small_blocks():
        from benchmarks.small_blocks import small_blocks

        with small_blocks(3):
            yield
