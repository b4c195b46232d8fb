"""`python -m benchmarks.journeys --cases 2000 --seed 0 --jobs 2`; `--case SEED` runs one and tells its story."""

from __future__ import annotations

import argparse
import collections
import faulthandler
import json
import multiprocessing
import os
import resource
import signal
import sys
import tempfile
import time
from typing import Any

KINDS = ["ok", "refused", "crash", "hang", "slow", "non-finite", "wrong", "warning", "mutated", "global"]


def warm_up() -> None:
    """Import and compile what most fits use, so that its time is not counted."""
    from .steps import journey

    for seed in (1_000_001, 1_000_002, 1_000_003):
        journey(seed, limit=1e9)


def work(seeds: list[int], pipe: Any, notes: str, seconds: int) -> None:
    """A worker: tells the parent where it is, and is ended by the system where a case takes too much of a processor."""
    from .steps import journey

    warm_up()
    file = open(notes, "w")  # noqa: SIM115  (stays open: a signal writes to it)
    faulthandler.enable(file)
    faulthandler.register(signal.SIGXCPU, file=file, all_threads=False, chain=True)
    for seed in seeds:
        used = resource.getrusage(resource.RUSAGE_SELF)
        soft = int(used.ru_utime + used.ru_stime) + seconds
        resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.getrlimit(resource.RLIMIT_CPU)[1]))
        file.seek(0)
        file.truncate()
        pipe.send(("begin", seed, None))
        ledger = journey(seed)
        pipe.send(("end", seed, (ledger.story, [vars(verdict) for verdict in ledger.verdicts])))
    pipe.send(("done", None, None))


def run(seeds: list[int], jobs: int, seconds: int, wall: float, tell: Any) -> None:
    """All journeys, in worker processes that are replaced when one dies or hangs; `tell` gets each result."""
    context = multiprocessing.get_context("fork")  # this process has imported nothing that has threads
    queues = [seeds[number::jobs] for number in range(jobs)]
    folder = tempfile.mkdtemp()
    alive: dict[int, Any] = {}

    def start(number: int) -> None:
        mine, theirs = context.Pipe(duplex=False)
        notes = os.path.join(folder, f"{number}.txt")
        process = context.Process(target=work, args=(queues[number], theirs, notes, seconds), daemon=True)
        process.start()
        theirs.close()
        alive[number] = {"process": process, "pipe": mine, "seed": None, "since": time.time(), "notes": notes}

    def lost(number: int, why: str) -> None:
        worker = alive.pop(number)
        worker["process"].kill()
        worker["process"].join()
        if worker["seed"] is None:
            sys.exit(f"worker {number} ended before its first journey: {why}")
        with open(worker["notes"]) as file:
            lines = [line.strip() for line in file if "manykernels" in line]
        where = lines[0].split("manykernels" + os.sep)[-1] if lines else ""
        failure = {"step": "?", "kind": "hang", "message": why, "where": where, "seconds": 0.0}
        tell(worker["seed"], [], [failure])
        queues[number] = queues[number][queues[number].index(worker["seed"]) + 1 :]
        if queues[number]:
            start(number)

    for number in range(jobs):
        if queues[number]:
            start(number)
    while alive:
        for number, worker in list(alive.items()):
            try:
                if worker["pipe"].poll(0.2):
                    event, seed, content = worker["pipe"].recv()
                    if event == "done":
                        worker["process"].join()
                        del alive[number]
                        continue
                    worker.update(seed=seed, since=time.time())
                    if event == "end":
                        tell(seed, *content)
                elif worker["seed"] is not None and time.time() - worker["since"] > wall:
                    lost(number, f"more than {wall:.0f} s on the clock")
            except EOFError:
                worker["process"].join()
                code = worker["process"].exitcode
                over = code == -signal.SIGXCPU
                lost(number, f"more than {seconds} s of the processor" if over else f"ended by signal or exit {code}")


class Tally:
    """Counts, failures by place, and refusals by message."""

    def __init__(self, path: str | None) -> None:
        self.journeys = 0
        self.steps: collections.Counter[str] = collections.Counter()
        self.refusals: dict[str, list[int]] = {}
        self.failures: list[tuple[int, dict[str, Any]]] = []
        self.slowest: tuple[float, int] = (0.0, -1)
        self.log = open(path, "a") if path else None  # noqa: SIM115

    def __call__(self, seed: int, story: list[str], verdicts: list[dict[str, Any]]) -> None:
        from .judge import general

        self.journeys += 1
        for verdict in verdicts:
            self.steps[verdict["kind"]] += 1
            if verdict["step"] == "fit":
                self.slowest = max(self.slowest, (verdict["seconds"], seed))
            if verdict["kind"] == "refused":
                self.refusals.setdefault(general(verdict["message"]), []).append(seed)
            elif verdict["kind"] != "ok":
                self.failures.append((seed, verdict))
                print(line(seed, verdict), flush=True)
        if self.log:
            self.log.write(json.dumps({"seed": seed, "story": story, "verdicts": verdicts}) + "\n")
            self.log.flush()

    def table(self, messages: bool) -> str:
        rows = [("journeys", self.journeys), ("steps", sum(self.steps.values()))]
        rows += [(kind, self.steps[kind]) for kind in KINDS]
        text = "\n".join(f"{name:12}{count:8,}" for name, count in rows)
        text += f"\nslowest fit {self.slowest[0]:8.1f} s of the processor, case {self.slowest[1]}"
        if messages:
            order = sorted(self.refusals.items(), key=lambda item: -len(item[1]))
            text += "\n\nrefusals\n" + "\n".join(f"{len(s):5}  {message}  (case {s[0]})" for message, s in order)
        return text


def line(seed: int, verdict: dict[str, Any]) -> str:
    """A failure on one line."""
    message = verdict["message"].split("\n")[0][:200]
    return f"case {seed:6}  {verdict['kind']:10} {verdict['step']:16} {message}  [{verdict['where']}]"


def main(arguments: list[str] | None = None) -> int:
    """The command; 1 where a journey failed."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.journeys", description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first case; the others follow it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", type=int, help="run this one alone, and tell its story")
    parser.add_argument("--seconds", type=int, default=120, help="of the processor, for one journey")
    parser.add_argument("--wall", type=float, default=900, help="seconds on the clock, for one journey")
    parser.add_argument("--log", help="a file to which every journey is added as a line of JSON")
    parser.add_argument("--refusals", action="store_true", help="list the messages of all refusals")
    chosen = parser.parse_args(arguments)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):  # threads that wait would count as time of the processor
        os.environ[name] = "1"
    if chosen.case is not None:
        from .steps import journey

        ledger = journey(chosen.case)
        print("\n".join(ledger.story))
        for verdict in ledger.verdicts:
            print(f"{verdict.kind:10} {verdict.seconds:6.2f} s  {verdict.step}  {verdict.message}  {verdict.where}")
        return int(bool(ledger.failures))
    tally = Tally(chosen.log)
    run(list(range(chosen.seed, chosen.seed + chosen.cases)), chosen.jobs, chosen.seconds, chosen.wall, tally)
    print(tally.table(chosen.refusals))
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
