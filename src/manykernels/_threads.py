"""One shared thread pool: numba loops, NumPy and BLAS release the GIL, so row blocks run side by side.

Work is cut into blocks before threads are counted, and results keep the order of the blocks, so a result never
depends on how many threads computed it.
"""

import os
import threading
from collections import deque
from concurrent.futures import ThreadPoolExecutor, wait
from functools import cache

SIGNAL_INTERVAL = 0.1  # seconds between two checks for a signal

_lock = threading.Lock()
_pool, _users = None, 0
_libraries = None
_wishes: dict[int, list[int]] = {}  # {thread: the sizes of its `limit_blas`, the innermost last}


def _forget_pool():
    """A forked child inherits the pool object and the wishes, but not the threads."""
    global _pool, _users, _lock
    _pool, _users, _lock = None, 0, threading.Lock()
    for thread in _wishes.keys() - {threading.get_ident()}:
        del _wishes[thread]


if hasattr(os, "register_at_fork"):  # Windows does not fork
    os.register_at_fork(after_in_child=_forget_pool)


def n_threads(n_jobs=None):
    """The number of threads for `n_jobs`: None = all cores (one inside joblib's worker processes), -1 = all cores.

    Affinity, a container's quota and LOKY_MAX_CPU_COUNT limit the cores. A thread of the pool gets one core.
    """
    if n_jobs == 1 or threading.current_thread().name.startswith("manykernels"):
        return 1
    if n_jobs is not None and n_jobs >= 0:
        return n_jobs
    if n_jobs is None and ("LOKY_WORKER" in os.environ or _in_worker()):
        return 1
    has_affinity = hasattr(os, "sched_getaffinity")  # Python's os, on Linux
    free = len(os.sched_getaffinity(0)) if has_affinity else os.cpu_count() or 1
    cores = min(free, _allowed(free, os.environ.get("LOKY_MAX_CPU_COUNT")))
    return max(1, cores + 1 + (-1 if n_jobs is None else n_jobs))


@cache
def _allowed(*reasons_to_ask_again):
    from joblib import cpu_count

    return cpu_count()


def _in_worker():
    import multiprocessing

    return multiprocessing.parent_process() is not None


def slices(n, parts):
    """The numbers below n in `parts` slices."""
    cuts = [n * k // max(parts, 1) for k in range(max(parts, 1) + 1)]
    return [slice(low, high) for low, high in zip(cuts[:-1], cuts[1:], strict=True)]


def run_blocks(fn, blocks, n_jobs=None):
    """`[fn(block) for block in blocks]` on the shared pool, results in order.

    An exception, Ctrl-C included, cancels the waiting blocks, waits for the running ones, and is raised.
    """
    blocks = list(blocks)
    threads = min(n_threads(n_jobs), len(blocks)) if len(blocks) > 1 else 1
    if threads <= 1:
        return [fn(block) for block in blocks]
    results, errors, turns = [None] * len(blocks), {}, iter(range(len(blocks)))

    def work():
        for k in turns:
            try:
                results[k] = fn(blocks[k])
            except BaseException as error:  # raised below
                errors[k] = error
                deque(turns, maxlen=0)

    with limit_blas(1):
        futures = _submit(work, threads)
        try:
            while wait(futures, SIGNAL_INTERVAL).not_done:  # Python handles signals between two waits
                pass
        finally:
            deque(turns, maxlen=0)  # no thread begins another block
            wait(futures)
            _leave()
    if errors:
        raise errors[min(errors)]
    return results


def _submit(work, threads):
    """Starts `work` on this many threads of the pool, which is made once for all cores."""
    global _pool, _users
    with _lock:
        if _pool is None:
            _pool = ThreadPoolExecutor(max(n_threads(-1), threads), thread_name_prefix="manykernels")
        _users += 1
        return [_pool.submit(work) for _ in range(threads)]


def _leave():
    global _users
    with _lock:
        _users -= 1


def close_pool():
    """Ends the pool's threads, unless another fit is using them; the next call of `run_blocks` makes a new pool."""
    global _pool
    with _lock:
        pool, _pool = (_pool, None) if _users == 0 else (None, _pool)
    if pool is not None:
        pool.shutdown(wait=True)


class limit_blas:  # noqa: N801 (a context manager that reads like a function)
    """Context in which BLAS uses at most `n_threads(n_jobs)` threads, and never more than before.

    BLAS has one setting for the whole process. Within a thread the innermost context counts; between threads the
    smallest number wins, so that a fit that asks for one thread gets one. The last context restores the first setting.
    """

    def __init__(self, n_jobs):
        self.size = n_threads(n_jobs)

    def __enter__(self):
        with _lock:
            if not _wishes:
                _look_up()
            mine = _wishes.setdefault(threading.get_ident(), [])
            mine.append(self.size)
            if mine[-2:-1] != [self.size]:
                _set_blas()

    def __exit__(self, *error):
        with _lock:
            mine = _wishes[threading.get_ident()]
            left = mine.pop()
            if not mine:
                del _wishes[threading.get_ident()]
            if mine[-1:] != [left]:
                _set_blas()


def _look_up():
    """The BLAS libraries, each with its present number of threads."""
    global _libraries
    if _libraries is None:
        from threadpoolctl import ThreadpoolController

        _libraries = dict.fromkeys(ThreadpoolController().select(user_api="blas").lib_controllers)
    for library in _libraries:
        _libraries[library] = library.num_threads


def _set_blas():
    """Sets BLAS to the smallest number of threads asked for, or back to its old number."""
    least = min((sizes[-1] for sizes in _wishes.values()), default=None)
    for library, found in _libraries.items():
        # threadpoolctl 3.7 lets one thread set OpenBLAS and silently ignores all others: clear that owner
        disown = getattr(library, "clear_controlling_thread", lambda force: None)  # threadpoolctl's, from 3.7 on
        disown(force=True)
        library.set_num_threads(found if least is None else min(least, found))
        disown(force=True)
