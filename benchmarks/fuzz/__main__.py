"""python -m benchmarks.fuzz --cases 20000 --jobs 16 --seed 1 [--only NUMBER] [--out DIR]

Random small fits: every kernel, loss, regularizer and solver, ordinary and awkward data, C from 1e-8 to 1e8, tol from
1e-8 to 1e-1. Each is judged (`judge`) and counted; a table of outcomes and, for each bad one, a way to run it again
are printed and written to `fuzz.json`. `--only` runs one case and says all about it. The exit code is 1 where a case
is bad.
"""

import argparse
import json
import os
import sys
import time
from collections import Counter
from pathlib import Path

from ..workers import run
from . import BAD

SECONDS, WALL = 600, 3600  # of the processor and on the clock, after which a case is lost


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fuzz")
    parser.add_argument("--cases", type=int, default=1000)
    parser.add_argument("--first", type=int, default=0, help="the first case")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--only", type=int, nargs="*", help="run these cases only, here")
    parser.add_argument("--out", default=".benchmarks")
    parser.add_argument("--minutes", type=float, default=600.0, help="begin no case after that")
    options = parser.parse_args()
    if options.only is not None:
        for number in options.only:
            show(options.seed, number)
    else:
        for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
            os.environ[name] = "1"
        sys.exit(any(v["outcome"] in BAD for v in judged(options)))


def show(seed, number):
    from .cases import draw
    from .judge import judge

    case = draw(seed, number)
    for name, value in case.told.items():
        print(f"  {name}: {value}")
    print(case.estimator)
    print(json.dumps(judge(case), default=str))


def judged(options):
    """The verdicts of all cases, on `jobs` processes."""
    began, verdicts = time.time(), []

    def measure(number):
        from .cases import draw
        from .judge import judge, memory

        if time.time() > began + 60 * options.minutes:
            return None
        case = draw(options.seed, number)
        verdict = judge(case) | {"number": number, "default": case.default, "memory": memory()} | case.told
        return json.loads(json.dumps(verdict, default=str))

    def tell(number, verdict):
        verdicts.extend([verdict] if verdict else [])
        if verdict and verdict["outcome"] in BAD:
            print(f"{number}: {verdict['outcome']}: {verdict['why'][:200]}", flush=True)

    def lose(number, why, where):
        outcome = {"outcome": "signal", "why": f"{why} {where}".strip(), "default": False, "seconds": 0}
        tell(number, {"number": number} | outcome)

    cases = list(range(options.first, options.first + options.cases))
    run(measure, cases, options.jobs, tell, lose, SECONDS, WALL)
    verdicts.sort(key=lambda v: v["number"])
    report(options, verdicts, time.time() - began)
    return verdicts


def report(options, verdicts, seconds):
    """Prints the table and writes the verdicts."""
    counts = Counter(v["outcome"] for v in verdicts)
    defaults = [v for v in verdicts if v.get("default") and v["outcome"] in ("converged", "unconverged")]
    stalled = [v for v in defaults if v["outcome"] == "unconverged"]
    bent = [v for v in stalled if "not convex" in v["why"]]
    stalled = [v for v in stalled if v not in bent]
    lines = [f"{len(verdicts)} cases, seed {options.seed}, {seconds:.0f} s on {options.jobs} processes", ""]
    lines += ["| outcome | cases |", "|---|---|"]
    lines += [f"| {name} | {counts.pop(name, 0)} |" for name in ("converged", "unconverged", "refused", *BAD)]
    few = sum(v["outcome"] == "unconverged" and v["max_iter"] < 1000 for v in verdicts)
    lines += ["", f"unconverged: {few} of them were given 1 or 3 steps"]
    lines += [f"default fits (solver auto, 1,000 steps): {len(defaults)}, unconverged {len(stalled)}"]
    lines += [f"and {len(bent)} of indefinite kernels, which have no convex problem"]
    lines += [f"  {v['number']}: {v['why']}" for v in stalled]
    slowest = sorted(verdicts, key=lambda v: -v["seconds"])[:5]
    lines += ["slowest: " + ", ".join(f"{v['number']} {v['seconds']:.1f} s" for v in slowest), ""]
    bad = [v for v in verdicts if v["outcome"] in BAD]
    again = f"python -m benchmarks.fuzz --seed {options.seed} --only"
    lines += [f"{v['outcome']}: {v['why']}\n    {again} {v['number']}" for v in bad]
    print("\n".join(lines))
    out = Path(options.out)
    out.mkdir(exist_ok=True, parents=True)
    (out / "fuzz.json").write_text(json.dumps(verdicts, indent=0, default=str))


if __name__ == "__main__":
    main()
