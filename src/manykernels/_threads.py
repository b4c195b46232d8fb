"""One shared thread pool: numba loops, NumPy and BLAS release the GIL, so row blocks run side by side.

Work is cut into blocks before threads are counted, and results keep the order of the blocks, so a result never
depends on how many threads computed it.
"""

import os
import threading
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext

_lock = threading.Lock()
_pool = None
_pool_size = 0
_controller = None


def _forget_pool():
    """A forked child inherits the pool object but not its threads."""
    global _pool, _pool_size, _lock
    _pool, _pool_size, _lock = None, 0, threading.Lock()


os.register_at_fork(after_in_child=_forget_pool)


def n_threads(n_jobs=None):
    """Threads that `n_jobs` stands for: None = all cores (one inside joblib's worker processes), -1 = all cores."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    if n_jobs is None:
        return 1 if "LOKY_WORKER" in os.environ or _in_worker() else cores
    return max(1, cores + 1 + n_jobs) if n_jobs < 0 else n_jobs


def _in_worker():
    import multiprocessing

    return multiprocessing.parent_process() is not None


def run_blocks(fn, blocks, n_jobs=None):
    """`[fn(block) for block in blocks]` on the shared pool, results in order.

    An exception, Ctrl-C included, cancels what has not begun, waits for what has, and is raised.
    """
    blocks = list(blocks)
    threads = min(n_threads(n_jobs), len(blocks))
    if threads <= 1 or threading.current_thread().name.startswith("manykernels"):
        return [fn(block) for block in blocks]
    with limit_blas(1):
        futures = [_get_pool(threads).submit(fn, block) for block in blocks]
        try:
            return [future.result() for future in futures]
        except BaseException:
            close_pool()
            raise


def close_pool():
    """Ends the pool's threads after what they are doing; the next call of `run_blocks` makes a new pool."""
    global _pool, _pool_size
    with _lock:
        pool, _pool, _pool_size = _pool, None, 0
    if pool is not None:
        pool.shutdown(wait=True, cancel_futures=True)


def _get_pool(size):
    global _pool, _pool_size
    with _lock:
        if _pool is None or _pool_size < size:
            old, _pool = _pool, ThreadPoolExecutor(size, thread_name_prefix="manykernels")
            _pool_size = size
            if old is not None:
                old.shutdown(wait=False)
        return _pool


def limit_blas(n_jobs):
    """Context in which BLAS uses at most `n_jobs` threads (None: leave it as it is)."""
    global _controller
    if n_jobs is None:
        return nullcontext()
    if _controller is None:
        from threadpoolctl import ThreadpoolController

        _controller = ThreadpoolController()
    return _controller.limit(limits=n_threads(n_jobs), user_api="blas")
