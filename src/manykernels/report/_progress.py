"""The progress of a report, on stderr."""

from collections.abc import Iterator
from contextlib import contextmanager

from ._case import Tick


@contextmanager
def showing(verbose: bool) -> Iterator[Tick]:
    """Yields a function of (stage, done, total), which shows a bar with the remaining time for each stage."""
    if not verbose:
        yield lambda stage, done, total: None
        return
    from rich.console import Console
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn(),
               TextColumn("left"), TimeRemainingColumn())  # fmt: skip
    with Progress(*columns, console=Console(stderr=True), transient=True) as progress:
        tasks: dict = {}

        def tick(stage, done, total):
            if stage not in tasks:
                tasks[stage] = progress.add_task(stage, total=total)
            progress.update(tasks[stage], completed=done)

        yield tick
