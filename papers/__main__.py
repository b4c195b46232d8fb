"""python -m papers PAPER --quick | --full [--data DIR] [--only NAMES] [--cap SECONDS] [--out DIR]: see README.md."""

import argparse
import json
import os
import sys
import time
import warnings
from collections import Counter
from importlib import import_module
from pathlib import Path

from . import PAPERS, _code, _crew, _margins, _page
from ._data import Data
from ._scale import CAP, CutOff, NotKept, Scale

OUT = Path(__file__).parents[1] / "docs" / "papers"


def main():
    parser = argparse.ArgumentParser(prog="python -m papers", description="See papers/README.md.")
    parser.add_argument("paper", choices=(*PAPERS, "all"))
    size = parser.add_mutually_exclusive_group(required=True)
    size.add_argument("--quick", action="store_true", help="minutes, on generated data: are findings as known?")
    size.add_argument("--full", action="store_true", help="hours, on real data; goes on where it was stopped")
    size.add_argument("--kept", action="store_true", help="--full from the cells that are there: nothing is run")
    size.add_argument("--cells", type=int, metavar="CORES", help="missing cells of --full side by side, without pages")
    size.add_argument("--stale", action="store_true", help="which cells were run with other code; nothing is run")
    size.add_argument("--margins", action="store_true", help="write papers/margins.json, from git")
    size.add_argument("--pages", action="store_true", help="write the pages again from the results that are there")
    parser.add_argument("--data", default=os.environ.get("MANYKERNELS_DATA"), help="real data (or MANYKERNELS_DATA)")
    parser.add_argument("--only", help="experiments: figure3,figure7, of all papers that have them, or xu2010.table3")
    parser.add_argument("--timed", action="store_true", help="with --cells: those that are timed instead of the others")
    parser.add_argument("--alone", action="store_true", help="with --cells 1: those that want a machine to themselves")
    parser.add_argument("--fresh", action="store_true", help="with --cells: also those that --stale lists")
    parser.add_argument("--within", type=float, help="with --cells: stop after so many seconds")
    parser.add_argument("--cap", type=float, default=CAP, help="seconds after which a cell of --full is cut off: 1800")
    parser.add_argument("--out", help="folder of pages and cells: docs/papers, and .papers for --quick")
    options = parser.parse_args()
    out = Path(options.out or (".papers" if options.quick else OUT))
    papers = PAPERS if options.paper == "all" else (options.paper,)
    only = options.only.split(",") if options.only else None
    known = [(paper, name) for paper in papers for name in _page.about(paper).experiments]
    if options.alone and options.cells != 1:
        parser.error("--alone goes with --cells 1: nothing may run beside")
    if options.cap <= 0:
        parser.error(f"--cap {options.cap:g}: seconds above 0")
    if wrong := [word for word in only or () if not any(_chosen(*pair, [word]) for pair in known)]:
        parser.error(f"--only {','.join(wrong)}: the experiments are {', '.join(map('.'.join, known))}")
    warnings.filterwarnings("ignore", message=".*nearly diagonal")  # the pages speak of it
    bad = []
    if not (options.quick or options.pages or options.stale or options.margins or options.data):
        print("no --data and no MANYKERNELS_DATA: generated sets in the place of real ones")
    if options.cells:
        experiments = [pair for pair in known if _chosen(*pair, only)]
        data, times = Data(options.data), (options.timed, options.within, options.cap)
        _crew.run(experiments, out / ".cells", data, options.cells, *times, options.fresh, options.alone)
        return
    if options.margins:
        _margins.record(out)
        return
    if options.stale:
        _stale(out / ".cells", [pair for pair in known if _chosen(*pair, only)])
        return
    for paper in papers:
        if not options.pages:
            bad += run(paper, options, only, out)
        _page.write(out, paper)
    if not options.quick:
        _page.write_claims(out, PAPERS)
    _page.summary(out, PAPERS)
    if not options.quick:
        _margins.write(out)
    for line in bad:
        print(f"NOT AS KNOWN: {line}")
    sys.exit(1 if bad else 0)


def run(paper, options, only, out):
    """Runs the experiments of a paper; returns a line for each finding that is not as known."""
    bad, counts = [], dict.fromkeys(("as known", "bad", "left"), 0)
    for name in _page.about(paper).experiments:
        if not _chosen(paper, name, only):
            continue
        print(f"{paper} {name}", flush=True)
        start, spent = time.perf_counter(), time.process_time()
        scale = Scale(options.quick, None if options.quick else out / ".cells", options.kept, options.cap)
        data = Data(None if options.quick else options.data)
        try:
            section = import_module(f".{paper}.{name}", __package__).run(scale, data)
        except NotKept as missing:
            print(f"  left as it is: {missing}" + ("" if isinstance(missing, CutOff) else " was not run"))
            continue
        finally:
            scale.worker.close()
        _page.keep(out, paper, name, section, scale)
        if options.quick:
            _page.weaker(section)
        for item in section.all:
            judged = "as known" if item.holds and item.judged else "CANNOT JUDGE" if item.holds else "NOT AS KNOWN"
            counts["left" if not item.judged else "as known" if item.holds else "bad"] += 1
            print(f"  {judged}: {item.verdict}: {item.says} (theirs {item.theirs}, ours {item.ours})")
            bad += [] if item.holds else [f"{paper} {name}: {item.says}: {item.ours}; margin {item.margin}"]
        print(f"  {time.perf_counter() - start:.1f} s, CPU {time.process_time() - spent:.1f} s", flush=True)
    print(f"{paper}: {counts['as known']} as known, {counts['bad']} not, {counts['left']} cannot be judged by this run")
    return bad


def _stale(folder, experiments):
    """Prints the cells that are stale, by function and reason, and what the library saw since the others."""
    kinds = Counter()
    for path in folder.glob("*.json"):
        record = json.loads(path.read_text())
        if any(record["function"].startswith(f"{paper}.") for paper, _ in experiments):
            why = _code.stale(record)
            kinds[record["function"], why or f"fresh: {record['commit']}"] += 1
    for (function, why), cells in sorted(kinds.items()):
        since = _code.library(why.split()[-1]) if why.startswith("fresh") else None
        print(
            f"{function}: {cells} cells, {why}" + (f", the library changed in {since} commits since" if since else "")
        )
    stale = sum(cells for (_, why), cells in kinds.items() if not why.startswith("fresh"))
    print(f"{stale} of {sum(kinds.values())} cells are stale")


def _chosen(paper, name, only):
    return not only or name in only or f"{paper}.{name}" in only


if __name__ == "__main__":
    main()
