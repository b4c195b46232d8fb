"""python -m benchmarks.calls [--data wine] [--rows 10]: the Python calls of a warm fit and of a prediction.

cProfile counts the calls of functions, built-in ones included, in the second fit and the second prediction of a
process, on one thread. The tables show the calls of the package's own functions by file, and the functions of any
library that are called most. Counts do not depend on the load of the machine.
"""

import argparse
import cProfile
import pstats
from collections import Counter
from functools import partial
from pathlib import Path

from sklearn import datasets
from threadpoolctl import threadpool_limits

import manykernels

OWN = Path(manykernels.__file__).parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", default="wine", help="a table of scikit-learn: wine, breast_cancer, iris, digits")
    parser.add_argument("--rows", type=int, default=10, help="lines of each table")
    given = parser.parse_args()
    X, y = getattr(datasets, f"load_{given.data}")(return_X_y=True)
    model = manykernels.MKLClassifier(C=1.0, n_jobs=1)
    with threadpool_limits(1):
        for name, job in {"fit": partial(model.fit, X, y), "predict": partial(model.predict, X)}.items():
            job()
            show(f"{name}, {given.data}", count_calls(job), given.rows)


def count_calls(job):
    """{(file, line, name): calls} of all functions during job()."""
    profile = cProfile.Profile()
    profile.runcall(job)
    return Counter({function: row[1] for function, row in pstats.Stats(profile).stats.items()})


def show(title, calls, rows):
    own = Counter()
    for (file, _, _), n in calls.items():
        if OWN in Path(file).parents:
            own[str(Path(file).relative_to(OWN))] += n
    print(f"{title}: {calls.total():,} calls, {own.total():,} of own functions")
    for file, n in own.most_common(rows):
        print(f"{n:9,}  {file}")
    print("  most calls")
    for (file, line, name), n in calls.most_common(rows):
        print(f"{n:9,}  {name}" + (f", {'/'.join(Path(file).parts[-2:])}:{line}" if line else ""))


if __name__ == "__main__":
    main()
