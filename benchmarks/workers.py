"""Cases side by side, in worker processes that are replaced when one dies, hangs or takes too much of a processor."""

import faulthandler
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time


def run(measure, cases, jobs, tell, lose, seconds, wall, warm=None):
    """tell(case, measure(case)) for each case, or lose(case, why, where) of those whose worker was lost.

    `seconds` of the processor and `wall` seconds on the clock are allowed for a case; `warm` is called first in each
    worker, and its time is not counted. `where` is the innermost line of the package, if it is known.
    """
    context = multiprocessing.get_context("fork")  # this process has imported nothing that has threads
    queues = [cases[number::jobs] for number in range(jobs)]
    folder, alive = tempfile.mkdtemp(), {}

    def start(number):
        mine, theirs = context.Pipe(duplex=False)
        notes = os.path.join(folder, f"{number}.txt")
        arguments = measure, warm, queues[number], theirs, notes, seconds
        process = context.Process(target=_work, args=arguments, daemon=True)
        process.start()
        theirs.close()
        alive[number] = {"process": process, "pipe": mine, "case": None, "since": time.time(), "notes": notes}

    def lost(number, why):
        worker = alive.pop(number)
        worker["process"].kill()
        worker["process"].join()
        if worker["case"] is None:
            sys.exit(f"worker {number} ended before its first case: {why}")
        with open(worker["notes"]) as file:
            lines = [line.strip() for line in file if "manykernels" in line]
        lose(worker["case"], why, lines[0].split("manykernels" + os.sep)[-1] if lines else "")
        queues[number] = queues[number][queues[number].index(worker["case"]) + 1 :]
        if queues[number]:
            start(number)

    for number in range(jobs):
        if queues[number]:
            start(number)
    while alive:
        for number, worker in list(alive.items()):
            try:
                if worker["pipe"].poll(0.2):
                    event, case, content = worker["pipe"].recv()
                    if event == "done":
                        worker["process"].join()
                        del alive[number]
                        continue
                    worker.update(case=case, since=time.time())
                    if event == "end":
                        tell(case, content)
                elif worker["case"] is not None and time.time() - worker["since"] > wall:
                    lost(number, f"more than {wall:.0f} s on the clock")
            except EOFError:
                worker["process"].join()
                code = worker["process"].exitcode
                over = code == -signal.SIGXCPU
                lost(number, f"more than {seconds} s of the processor" if over else f"ended by signal or exit {code}")


def _work(measure, warm, cases, pipe, notes, seconds):
    """Tells the parent where it is, and is ended by the system where a case takes too much of a processor."""
    if warm:
        warm()
    file = open(notes, "w")  # noqa: SIM115  (stays open: a signal writes to it)
    faulthandler.enable(file)
    faulthandler.register(signal.SIGXCPU, file=file, all_threads=False, chain=True)
    for case in cases:
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        file.seek(0)
        file.truncate()
        pipe.send(("begin", case, None))
        pipe.send(("end", case, measure(case)))
    pipe.send(("done", None, None))
