"""The progress bar of `verbose=True`: the gap on a logarithmic scale, and the time left."""

import math
import sys
import time
from contextlib import contextmanager

import numpy as np

from ..solvers import Monitor

N_LATEST_RECORDS = 8  # for the estimate of the time left
PLAIN_SECONDS = 10.0  # between two lines
LINES = "lines"  # a value of verbose


def plain_lines(label, verbose):
    """A function that writes a text on stderr, at most once in `PLAIN_SECONDS`, where `verbose` asks for lines."""
    last = time.monotonic()

    def say(text):
        nonlocal last
        if verbose == LINES and time.monotonic() - last >= PLAIN_SECONDS:
            last = time.monotonic()
            print(f"{label}: {text}", file=sys.stderr, flush=True)

    return say


@contextmanager
def show_progress(label, tol, verbose=True):
    """Yields a `Bar`, the monitor of a run; `verbose` is the parameter of an estimator."""
    from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

    fields = TextColumn("gap {task.fields[gap]}"), TimeElapsedColumn(), TextColumn("{task.fields[more]}")
    title = TextColumn("{task.description}", markup=False)
    with Progress(title, BarColumn(), *fields, disable=verbose == LINES) as progress:
        yield Bar(progress, label, tol, verbose)


@contextmanager
def show_count(label, total, verbose=True):
    """Yields a function to call after each of `total` fits (None: unknown); the bar shows their number and the time."""
    from rich import progress as parts

    columns = parts.TextColumn("{task.description}"), parts.BarColumn(), parts.MofNCompleteColumn()
    times = parts.TimeElapsedColumn(), parts.TimeRemainingColumn(), parts.TextColumn("left")
    with parts.Progress(*columns, *times, disable=verbose == LINES) as progress:
        task, say = progress.add_task(label, total=total), plain_lines(label, verbose)

        def tick():
            progress.advance(task)
            say(f"{progress.tasks[0].completed:.0f} of {total or 'unknown'}")

        yield tick


class Bar(Monitor):
    """Full when the gap reaches `tol`."""

    def __init__(self, progress, label, tol, verbose=True):
        self.progress, self.tol, self.records, self.left = progress, tol, [], ""
        self.say = plain_lines(label, verbose)
        self.task = progress.add_task(label, total=1.0, gap="-", more="")

    def record(self, record):
        gap = record.get("stationarity", record["gap"])  # empirical Bayes has no gap
        self.records = [*self.records, (record["time"], gap)][-N_LATEST_RECORDS:]
        left = time_left(self.records, self.tol)
        said = [f"about {in_words(left)} left"] if left else []
        said = ["the gap hardly falls"] if stalls(self.records, self.tol) else said
        if "violators" in record:  # of a stream
            said.append(f"round {record['iteration']}, {record['violators']:,} violators")
        self.left = ", ".join(said)
        self._show(gap)

    def _show(self, gap):
        rest = math.log(max(gap, self.tol) / self.tol) / math.log(max(1.0 / self.tol, math.e))
        done = max(self.progress.tasks[0].completed, 1.0 - rest)
        self.progress.update(self.task, completed=done, gap=f"{gap:.1e}", more=self.left)
        self.say(f"gap {gap:.1e}, {self.left}".rstrip(", "))

    def visited(self, count, total):
        """Within a pass over the examples."""
        more = f"{count:,} of {total:,} examples visited"
        self.progress.update(self.task, more=f"{self.left}, {more}" if self.left else more)
        self.say(more)

    def resumed(self, gap, seconds):
        """A checkpoint was found."""
        where = f"at gap {gap:.0e} " if math.isfinite(gap) else ""
        if where:
            self._show(gap)
        self.progress.console.print(f"resumed {where}after {in_words(seconds)}")


def time_left(records, tol):
    """Seconds until the gap is `tol` if log(gap) keeps falling as in the records (time, gap); None if unknown."""
    known = [(t, math.log(gap)) for t, gap in records if 0 < gap < math.inf]
    if len(known) < 3 or known[-1][0] <= known[0][0]:
        return None
    slope = np.polyfit(*zip(*known, strict=True), 1)[0]
    return max(known[-1][1] - math.log(tol), 0.0) / -slope if slope < 0 else None


def stalls(records, tol):
    """Whether the gap of the latest records fell by less than a tenth, too little to estimate a time."""
    return len(records) == N_LATEST_RECORDS and records[-1][1] > max(0.9 * records[0][1], tol)


def in_words(seconds):
    minutes = round(seconds / 60)
    if minutes >= 60:
        return f"{minutes // 60} h {minutes % 60} min"
    return f"{minutes} min" if seconds >= 100 else f"{seconds:.0f} s"
