"""The bar that `verbose=True` shows: how far the gap has come, on a logarithmic scale."""

from __future__ import annotations

import math
from contextlib import contextmanager


@contextmanager
def show_progress(label, tol):
    """Yields a function to call with each record of the solver; its bar is full when the gap reaches `tol`."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    shown = TextColumn("{task.description}"), BarColumn(), TextColumn("gap {task.fields[gap]}"), TimeElapsedColumn()
    with Progress(*shown) as progress:
        task = progress.add_task(label, total=1.0, gap="-")

        def advance(record):
            gap = record.get("stationarity", record["gap"])  # empirical Bayes has no gap
            left = math.log(max(gap, tol) / tol) / math.log(max(1.0 / tol, math.e))
            done = max(progress.tasks[task].completed, 1.0 - left)
            progress.update(task, completed=done, gap=f"{gap:.1e}")

        yield advance
