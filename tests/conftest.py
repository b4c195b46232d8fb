"""Workers of pytest-xdist share the cores of a large machine: each keeps to two of them, as a fit would take all.

ALL_CORES=1 lets every worker have all.
"""

import os


def share_cores(worker: str) -> None:
    cores = sorted(os.sched_getaffinity(0))
    first = 2 * int(worker.removeprefix("gw"))
    os.sched_setaffinity(0, {cores[k % len(cores)] for k in (first, first + 1)})


WORKER = os.environ.get("PYTEST_XDIST_WORKER", "")
if WORKER.startswith("gw") and hasattr(os, "sched_setaffinity") and not os.environ.get("ALL_CORES"):
    share_cores(WORKER)
