"""`python -m benchmarks.metamorphic --cases 2000 --jobs 2 --seed 0`; `--case N` runs one, `--faults` the known ones."""

import argparse
import collections
import os
import sys
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ.setdefault(_name, "1")


def main(arguments=None):
    """The command; 1 where a case is flagged."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.metamorphic", description=__doc__)
    parser.add_argument("--cases", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0, help="the first case; the others follow it")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--case", type=int, help="run this one alone")
    parser.add_argument("--only", default="", help="a part of the name of the changes to run")
    parser.add_argument("--faults", action="store_true", help="which of the faults of faults.py are there")
    chosen = parser.parse_args(arguments)
    if chosen.faults:
        from .faults import found

        there = 0
        for name, wrong in found():
            there += bool(wrong)
            print(f"{f'FOUND   {name}: {wrong}' if wrong else f'absent  {name}'}", flush=True)
        return int(there > 0)
    from .cases import ALL, case

    numbers = [chosen.case] if chosen.case is not None else range(chosen.seed, chosen.seed + chosen.cases)
    numbers = [number for number in numbers if chosen.only in " ".join(ALL[number % len(ALL)])]
    flagged = collections.Counter()
    keys = collections.Counter()
    with ProcessPoolExecutor(chosen.jobs, get_context("spawn")) as pool:
        done = map(case, numbers) if chosen.jobs == 1 else pool.map(case, numbers, chunksize=5)
        for number, (key, wrong) in zip(numbers, done, strict=True):
            change = key.split(" | ")[0]
            keys[change] += 1
            if wrong:
                flagged[change] += 1
                print(f"case {number:6}  {key}: {wrong}", flush=True)
            elif chosen.case is not None:
                print(f"case {number:6}  {key}: right")
    for change, count in sorted(keys.items()):
        print(f"{change:32} {count:6} cases {flagged[change]:5} flagged")
    print(f"{'all':32} {keys.total():6} cases {flagged.total():5} flagged")
    return int(bool(flagged))


if __name__ == "__main__":
    sys.exit(main())
