"""What a fit takes, said before it begins, and how it goes on: the gap on a logarithmic scale, and the time left."""

import math
import sys
import time
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np

from .._callers import warn
from .._limits import MIN_FLOAT32_GAP, machine_memory
from .._threads import n_threads
from ..solvers import Monitor

N_LATEST_RECORDS = 8  # for the estimate of the time left
PLAIN_SECONDS = 10.0  # between two lines
LINES = "lines"  # a value of verbose
# Processor seconds of fits to a gap of 1e-3 on two x86-64 cores. For each pair of examples and each kernel, in float32:
# 2e-9 to 8e-9 at 4,000 to 16,000 examples, 11 and 36 kernels, classes with and without noise. A smooth loss keeps all
# examples active: for each triple 1e-10 at 4,000 examples and 5e-11 at 8,000.
PAIR_SECONDS, TRIPLE_SECONDS = 5e-9, 5e-11
LONG_SECONDS = 60.0
FIRST_SHARE = 4  # a solver begins with one example in so many, or with all of them
CURE = (
    'approximation="nystroem" (--approximation nystroem) takes time and memory in proportion to the examples, and less '
    "with a smaller rank"
)


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
    with show_stages(verbose) as tick:
        numbers = count()
        tick(label, next(numbers), total)
        yield lambda: tick(label, next(numbers), total)


@contextmanager
def show_stages(verbose=True):
    """Yields a function of (stage, done, total), which shows a bar with the remaining time for each stage."""
    if not verbose:
        yield lambda stage, done, total: None
        return
    from rich import progress as parts

    columns = parts.TextColumn("{task.description}"), parts.BarColumn(), parts.MofNCompleteColumn()
    times = parts.TimeElapsedColumn(), parts.TimeRemainingColumn(), parts.TextColumn("left")
    with parts.Progress(*columns, *times, disable=verbose == LINES) as progress:
        stages = {}

        def tick(stage, done, total):
            if stage not in stages:
                stages[stage] = progress.add_task(stage, total=total), plain_lines(stage, verbose)
            task, say = stages[stage]
            progress.update(task, completed=done)
            if done:
                say(f"{done} of {total or 'unknown'}")

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


def forecast(model: Any, examples: Any, M: int) -> None:
    """States the expected time and memory of a fit of M kernels; a ValueError if this machine lacks the memory.

    It warns above `LONG_SECONDS`. With `verbose` it prints what takes longer than `PLAIN_SECONDS`.
    """
    n, loss, unlimited = examples.n, examples.loss, model.memory_limit is None
    each = 4 if model.tol >= MIN_FLOAT32_GAP else 8
    pairs = f"{n:,} examples × {M} kernel{'s' * (M > 1)} are compared pair by pair"
    least = each * (n if loss.total or loss.interior else n // FIRST_SHARE) ** 2
    if unlimited and model.solver == "auto" and least > machine_memory():
        raise ValueError(
            f"{pairs}: this takes at least {least / 2**30:,.1f} GiB of memory, and this machine has "
            f"{machine_memory() / 2**30:,.1f} GiB. {CURE}; with memory_limit kernels are computed block by block, "
            "which takes many times longer."
        )
    work = PAIR_SECONDS * each / 4 * n**2 * M + loss.smooth * TRIPLE_SECONDS * n**3
    seconds = (1 if examples.joint else len(examples.Y)) * work / n_threads(model.n_jobs)
    held = f" and up to {each * n**2 / 2**29:,.1f} GiB of memory" * unlimited
    said = f"{pairs}: expect about {in_words(seconds)}{held}. {CURE}."
    if model.verbose and seconds > PLAIN_SECONDS:
        print(said, file=sys.stderr)
    elif seconds > LONG_SECONDS:
        warn(f"{said} verbose=True shows progress.")
