"""`python -m benchmarks.journeys --cases 2000 --seed 0 --jobs 2`; `--case SEED` runs one and tells its story."""

import argparse
import collections
import json
import os
import sys

from ..workers import run

KINDS = ["ok", "refused", "crash", "hang", "slow", "non-finite", "wrong", "warning", "mutated", "global"]


def warm_up():
    """Import and compile what most fits use, so that its time is not counted."""
    from .steps import journey

    for seed in (1_000_001, 1_000_002, 1_000_003):
        journey(seed, limit=1e9)


def measured(seed):
    """(story, verdicts) of a journey."""
    from .steps import journey

    ledger = journey(seed)
    return ledger.story, [vars(verdict) for verdict in ledger.verdicts]


class Tally:
    """Counts, failures by place, and refusals by message."""

    def __init__(self, path):
        self.journeys = 0
        self.steps = collections.Counter()
        self.refusals = {}
        self.failures = []
        self.slowest = (0.0, -1)
        self.log = open(path, "a") if path else None  # noqa: SIM115

    def __call__(self, seed, found):
        from .judge import general

        self.journeys += 1
        story, verdicts = found
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

    def lose(self, seed, why, where):
        failure = {"step": "?", "kind": "hang", "message": why, "where": where, "seconds": 0.0}
        self(seed, ([], [failure]))

    def table(self, messages):
        rows = [("journeys", self.journeys), ("steps", sum(self.steps.values()))]
        rows += [(kind, self.steps[kind]) for kind in KINDS]
        text = "\n".join(f"{name:12}{count:8,}" for name, count in rows)
        text += f"\nslowest fit {self.slowest[0]:8.1f} s of the processor, case {self.slowest[1]}"
        if messages:
            order = sorted(self.refusals.items(), key=lambda item: -len(item[1]))
            text += "\n\nrefusals\n" + "\n".join(f"{len(s):5}  {message}  (case {s[0]})" for message, s in order)
        return text


def line(seed, verdict):
    """A failure on one line."""
    message = verdict["message"].split("\n")[0][:200]
    return f"case {seed:6}  {verdict['kind']:10} {verdict['step']:16} {message}  [{verdict['where']}]"


def main(arguments=None):
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
    seeds = list(range(chosen.seed, chosen.seed + chosen.cases))
    run(measured, seeds, chosen.jobs, tally, tally.lose, chosen.seconds, chosen.wall, warm_up)
    print(tally.table(chosen.refusals))
    return int(bool(tally.failures))


if __name__ == "__main__":
    sys.exit(main())
