"""Runs the cells that are missing, several at a time, those first by which most pages gain."""

import time
from concurrent.futures import FIRST_COMPLETED, ThreadPoolExecutor, wait
from importlib import import_module
from queue import Empty, SimpleQueue

from . import _page
from ._scale import CAP, CutOff, NotKept, Scale
from ._worker import Worker

LEAST = 45  # seconds: a timed cell that would be cut off before them is not begun
PAUSE = 2  # seconds between two looks at what an experiment still wants


def run(experiments, folder, data, jobs, timed=False, within=None, cap=CAP, fresh=False, alone=False):
    """Runs missing cells of [(paper, experiment)], the timed ones, those timed `alone`, or the others, on `jobs` cores.

    It ends when there is nothing left or after `within` seconds; what was not finished is lost, but for timed cells,
    which are kept as cut off at the seconds they had.
    """
    end, least = time.monotonic() + (within or 1e9), min(LEAST, cap)
    timed = timed or alone
    queue, running, tried = _Queue(experiments, folder, data, (timed, alone), cap, fresh), {}, set()
    room, workers, crew = _Room(jobs, timed), _Workers(), ThreadPoolExecutor(jobs)
    try:
        while (left := end - time.monotonic()) > 0:
            limit, waiting = min(cap, left) if timed else cap, queue.next(tried)
            room.look([item.cores for _, item in waiting], [cores for _, cores in running.values()])
            for key, item in waiting if limit >= least else ():
                if room.take(item.cores):
                    tried.add(key)
                    running[crew.submit(_run, folder, item, limit, workers, jobs)] = key, item.cores
            if not running and (limit < least or not queue.look_again(tried)):
                break
            done, _ = wait(running, timeout=min(1.0, left), return_when=FIRST_COMPLETED)
            queue.news |= bool(done)
            for future in done:
                key, _ = running.pop(future)
                if error := future.exception():
                    print(f"  FAILED {key}: {type(error).__name__}: {error}", flush=True)
            queue.look_again(tried, PAUSE)
        left = len(queue.next(tried)) + len(running)
        print(f"  {len(tried) - len(running)} cells run, {left} and those that wait for them left", flush=True)
    finally:
        crew.shutdown(wait=False, cancel_futures=True)
        while not all(future.done() for future in running):
            if not timed:  # the others end by themselves
                workers.kill()
            time.sleep(0.05)
        workers.close()


def _run(folder, item, limit, workers, beside):
    worker = workers.take(item.cores)
    try:
        scale = Scale(False, folder, cap=limit, worker=worker, beside=beside, fresh=True)
        scale = scale.alone() if item.alone else scale
        scale.cell(item.function, apart=item.timed, cores=item.cores, **item.parameters)
    except CutOff as late:
        print(f"  {late}", flush=True)
    finally:
        workers.give(worker)


class _Room:
    """Which cells may begin: threads on `jobs` cores, half of them held for cells of several while there are such."""

    def __init__(self, jobs, timed):
        self.jobs, self.timed, self.seen = jobs, timed, -1e9

    def look(self, waiting, running):
        """Takes note of the threads of the cells that wait and that run."""
        self.one, self.several = running.count(1), sum(cores for cores in running if cores > 1)
        if any(cores > 1 for cores in (*waiting, *running)):
            self.seen = time.monotonic()
        self.held = self.jobs // 2 if time.monotonic() - self.seen < 4 * PAUSE else 0

    def take(self, cores):
        if not self.timed:  # the next ones wait in the pool
            self.one += 1
            return self.one <= 2 * self.jobs
        if cores > 1:
            fits = not self.several or self.several + cores <= self.jobs // 2
            self.several += cores * fits
        else:
            fits = not self.one or self.one < self.jobs - max(self.held, self.several)
            self.one += fits
        return fits


class _Workers:
    """Workers by their number of threads, each for one cell at a time."""

    def __init__(self):
        self.all, self.idle = [], {}

    def take(self, threads):
        try:
            return self.idle.setdefault(threads, SimpleQueue()).get_nowait()
        except Empty:
            self.all.append(Worker(threads))
            return self.all[-1]

    def give(self, worker):
        self.idle[worker.threads].put(worker)

    def kill(self):
        for worker in self.all:
            worker.kill()

    def close(self):
        for worker in self.all:
            worker.close()


class _Queue:
    """What the experiments want, by rank; an experiment is asked again where cells of it were finished."""

    def __init__(self, experiments, folder, data, kind, cap, fresh):
        self.folder, self.data, self.kind, self.cap, self.fresh = folder, data, kind, cap, fresh
        self.news = False  # whether a cell was finished since all were asked
        self.wanted = {experiment: self._asked(experiment) for experiment in experiments}
        self.asked = {experiment: time.monotonic() for experiment in experiments if self.wanted[experiment]}

    def next(self, tried):
        found = {key: item for items in self.wanted.values() for key, item in items.items() if key not in tried}
        return sorted(found.items(), key=lambda pair: pair[1].rank)  # of equal rank: in the order of the experiments

    def look_again(self, tried, pause=0):
        """Asks those again that were not asked for `pause` seconds; returns whether there is something to run."""
        if pause and not self.news:
            return bool(self.next(tried))
        self.news = any(time.monotonic() - when < pause for when in self.asked.values())
        for experiment in [e for e, when in self.asked.items() if time.monotonic() - when >= pause]:
            self.wanted[experiment], self.asked[experiment] = self._asked(experiment), time.monotonic()
            if not self.wanted[experiment]:
                del self.asked[experiment]  # it has all that it needs
        return bool(self.next(tried))

    def _asked(self, experiment):
        scale, (paper, name) = Scale(False, self.folder, kept=True, cap=self.cap, fresh=self.fresh), experiment
        _page.drawn = False
        try:
            import_module(f".{paper}.{name}", __package__).run(scale, self.data)
        except NotKept:
            pass
        except Exception as error:  # others go on; where cells are missing it may have failed for lack of them
            if not scale.wanted:
                print(f"  FAILED {paper} {name}: {type(error).__name__}: {error}", flush=True)
        finally:
            _page.drawn = True
        return {key: item for key, item in scale.wanted.items() if (item.timed, item.alone) == self.kind}
