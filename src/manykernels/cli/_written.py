"""Files that commands write, or stdout."""

import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from ._models import check_output
from ._talk import Wrong


@contextmanager
def written(path: str, *inputs: str | None, end: str = ".tsv") -> Iterator[str]:
    """The path of a file to write, none of the `inputs`; what is written there for "-" goes to stdout."""
    if path != "-":
        check_output(path, *inputs, option="")
        yield path
        return
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / f"out{end}"
        yield str(place)
        sys.stdout.write(place.read_text(encoding="utf-8"))


def results(prefix: str, ends: Iterable[str], *inputs: str | None) -> list[str]:
    """The paths PREFIX.end of several files to write, none of the `inputs`."""
    if prefix == "-":
        raise Wrong("PREFIX - would be stdout, and there are several results: give the beginning of their names.")
    paths = [f"{prefix}.{end}" for end in ends]
    for path in paths:
        check_output(path, *inputs, option="")
    return paths
