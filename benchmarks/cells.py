"""Cells of a benchmark, measured side by side, one thread each; those that are done are kept in a file."""

import json
import os
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

from .report import console


def run_cells(measure, cells, path, say, jobs=None, keep=True, start=None):
    """The rows of all cells: dicts that extend the cell, in the order in which they were done.

    `measure(cell)` gives a row, `say(row)` its line on the screen, and `start` = (function, arguments) is called first
    in each process. With `keep` every row is appended to the file `path`, and cells that it has are not run again.
    """
    path = Path(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() and keep else []
    known = [{key: row.get(key) for key in cell} for row in rows for cell in cells[:1]]
    rows = [row for row, cell in zip(rows, known, strict=False) if cell in cells]
    missing = [cell for cell in cells if cell not in known]
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    os.environ |= dict.fromkeys(threads, "1")  # of the processes that follow
    with ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn"), *(start or ())) as pool:
        running = [pool.submit(measure, cell) for cell in missing]
        for count, finished in enumerate(as_completed(running)):
            row = finished.result()
            rows.append(row)
            if keep:
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            console.print(f"  {count + 1} of {len(missing)}: {say(row)}", style="dim")
    return rows
