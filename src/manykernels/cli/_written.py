"""Files that commands write, or stdout."""

import sys
import tempfile
from collections.abc import Iterator
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


def check_prefix(prefix: str) -> None:
    """An error if several files are to go to stdout."""
    if prefix == "-":
        raise Wrong("PREFIX - would be stdout, and there are several results: give the beginning of their names.")
