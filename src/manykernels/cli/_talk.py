"""Output of the command line: results on stdout or in files, messages on stderr, errors in one sentence, exit codes."""

import inspect
import json
import os
import signal
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import wraps
from pathlib import Path
from typing import Annotated, Any, get_type_hints

import typer
from typer import Option
from typer.core import TyperGroup

import manykernels as mk

EXIT_INTERRUPTED = 130
_RUNNING: ContextVar[dict[str, Any] | None] = ContextVar("running", default=None)


class Wrong(Exception):
    """A user's mistake: one sentence that names it and its cure."""


def _note(ctx: typer.Context, param: typer.CallbackParam, value: bool) -> bool:
    ctx.find_root().ensure_object(dict)[param.name] = value
    return value


SETTINGS = {
    "quiet": Annotated[bool, Option("--quiet", "-q", callback=_note, is_eager=True, help="Print only results.")],
    "debug": Annotated[bool, Option("--debug", callback=_note, is_eager=True, help="Show the traceback of an error.")],
}
Json = Annotated[bool, Option("--json", help="Print results as JSON.")]


def command(function: Callable[..., None]) -> Callable[..., None]:
    """The function as a command with the `SETTINGS`; a dataclass that it takes as `asked` has an option per field."""
    options = get_type_hints(function).get("asked")
    types = get_type_hints(options or function, include_extras=True) | SETTINGS

    @wraps(function)
    def run(**given: Any) -> None:
        given = {name: value for name, value in given.items() if name not in SETTINGS}
        function(options(**given)) if options else function(**given)

    own = inspect.signature(options or function).parameters.values()
    shared = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=False) for name in SETTINGS]
    parameters = [parameter.replace(annotation=types[parameter.name]) for parameter in (*own, *shared)]
    vars(run)["__signature__"] = inspect.Signature(parameters)
    return run


def is_quiet() -> bool:
    """Whether the command that runs prints only results."""
    return bool((_RUNNING.get() or {}).get("quiet"))


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


@contextmanager
def _heard() -> Iterator[None]:
    """Let Ctrl-C raise an instance: Python's handler raises the class, which pandas replaces by an error of its parser
    before Python 3.12."""
    main = threading.current_thread() is threading.main_thread()
    if not main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, _interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)


class Commands(TyperGroup):
    """Commands whose errors are one sentence on stderr: exit code 1, or 130 after Ctrl-C; 2 is a wrong call."""

    def invoke(self, ctx: Any) -> Any:
        settings = ctx.find_root().ensure_object(dict)
        with warnings.catch_warnings():
            said: set[str] = set()  # decisions and predictions of the same data give the same warnings
            warnings.showwarning = lambda message, category, *_: (
                None if settings.get("quiet") and not _is_always_said(category) else _say_once(said, message)
            )
            try:
                with _heard(), running(settings):
                    return super().invoke(ctx)
            except KeyboardInterrupt:
                complain("manykernels: interrupted.")
                raise typer.Exit(EXIT_INTERRUPTED) from None
            except (Wrong, ValueError, OSError, ImportError, MemoryError) as error:
                if settings.get("debug"):
                    raise
                complain(f"manykernels: {sentence(error)}")
                raise typer.Exit(1) from None


def _is_always_said(category: type) -> bool:
    return issubclass(category, mk.sequences.packing.StrangeLetters)


def _say_once(said: set[str], message: Any) -> None:
    text = f"note: {message}"
    if text not in said:
        said.add(text)
        complain(text)


def pandas() -> Any:
    """The module; the error says how to install it."""
    try:
        import pandas
    except ImportError:
        raise Wrong('Reading data needs pandas: pip install "manykernels[cli]".') from None
    return pandas


def sentence(error: BaseException) -> str:
    """The message of an error, on one line."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}." if error.filename else f"{error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__


def complain(text: str) -> None:
    typer.echo(text, err=True)


@contextmanager
def running(settings: dict[str, Any]) -> Iterator[None]:
    """The `SETTINGS` of the command that runs within."""
    token = _RUNNING.set(settings)
    try:
        yield
    finally:
        _RUNNING.reset(token)


def say(text: str) -> None:
    """Write a message to stderr, unless the command is quiet."""
    if not is_quiet():
        complain(text)


def show(facts: dict[str, Any], as_json: bool) -> None:
    """Print results, one per line or as JSON."""
    if as_json:
        typer.echo(json.dumps(facts, default=_plain, allow_nan=True))
        return
    for name, value in facts.items():
        if isinstance(value, list):
            show_rows(name, value)
        else:
            typer.echo(f"{name:<12} {_text(value)}")


def show_rows(title: str, rows: list[dict[str, Any]]) -> None:
    """Print the rows of a table, aligned, under a title."""
    if not rows:
        return
    head = list(rows[0])
    cells = [head, *([_text(row[name]) for name in head] for row in rows)]
    width = [max(len(row[j]) for row in cells) for j in range(len(head))]
    typer.echo(f"{title}:")
    for row in cells:
        typer.echo("  " + "  ".join(cell.ljust(w) for cell, w in zip(row, width, strict=True)).rstrip())


def _text(value):
    from .._validation import one_line

    return f"{value:.4g}" if isinstance(value, float) else one_line(value)


def _plain(value):
    return value.item() if hasattr(value, "item") else str(value)  # a scalar of numpy


def check_output(path: str, *inputs: str | None, option: str = "-o ") -> str:
    """An error if a file cannot be written or is one of the `inputs`, checked before the work.

    Returns a clause for the final message: that the file replaces an older one, or "".
    """
    folder = Path(path).absolute().parent
    if not folder.is_dir():
        raise Wrong(f"{option}{path}: the folder {folder} does not exist: make it first.")
    if Path(path).is_dir() or not os.access(folder, os.W_OK):
        raise Wrong(f"{option}{path} cannot be written: give another path.")
    for given in inputs:
        place, own = Path(given or "-"), Path(path)
        files = place.iterdir() if place.is_dir() else [place]
        if given != "-" and own.is_file() and any(file.is_file() and file.samefile(own) for file in files):
            raise Wrong(f"{option}{path} would overwrite {given}, which this command reads: give another path.")
    return ", replacing an older file" if Path(path).is_file() else ""


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


def write(path: str, parts: Iterable[str]) -> None:
    """Write texts to a file, which replaces an older one when it is complete."""
    from .._archive import write_text

    write_text(path, parts)


def results(prefix: str, ends: Iterable[str], *inputs: str | None) -> list[str]:
    """The paths PREFIX.end of several files to write, none of the `inputs`."""
    if prefix == "-":
        raise Wrong("PREFIX - would be stdout, and there are several results: give the beginning of their names.")
    paths = [f"{prefix}.{end}" for end in ends]
    for path in paths:
        check_output(path, *inputs, option="")
    return paths
