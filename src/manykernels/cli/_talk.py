"""Output of the command line: results on stdout, messages on stderr, errors in one sentence, exit codes."""

import inspect
import json
import signal
import threading
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Annotated, Any, get_type_hints

import typer
from typer.core import TyperGroup

from .._validation import one_line
from ..sequences.packing import StrangeLetters

EXIT_INTERRUPTED = 130


class Wrong(Exception):
    """A user's mistake: one sentence that names it and its cure."""


def _note(ctx: typer.Context, param: typer.CallbackParam, value: bool) -> bool:
    ctx.find_root().ensure_object(dict)[param.name] = value
    return value


Quiet = Annotated[bool, typer.Option("--quiet", "-q", callback=_note, is_eager=True, help="Print only results.")]
Debug = Annotated[bool, typer.Option("--debug", callback=_note, is_eager=True, help="Show the traceback of an error.")]
Json = Annotated[bool, typer.Option("--json", help="Print results as JSON.")]


def command(function: Callable[[Any], None]) -> Callable[..., None]:
    """A command with one option per field of a dataclass, for a function that takes the dataclass as `asked`."""
    options = get_type_hints(function)["asked"]
    types = get_type_hints(options, include_extras=True)

    @wraps(function)
    def run(**given: Any) -> None:
        function(options(**given))

    parameters = inspect.signature(options).parameters.values()
    signature = inspect.Signature([parameter.replace(annotation=types[parameter.name]) for parameter in parameters])
    vars(run)["__signature__"] = signature
    return run


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
                _say_once(said, message) if issubclass(category, StrangeLetters) or not settings.get("quiet") else None
            )
            try:
                with _heard():
                    return super().invoke(ctx)
            except KeyboardInterrupt:
                complain("manykernels: interrupted.")
                raise typer.Exit(EXIT_INTERRUPTED) from None
            except (Wrong, ValueError, OSError, ImportError, MemoryError) as error:
                if settings.get("debug"):
                    raise
                complain(f"manykernels: {sentence(error)}")
                raise typer.Exit(1) from None


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


def speaker(quiet: bool) -> Callable[[str], None]:
    """The function that writes messages to stderr; with `quiet` it writes none."""
    return (lambda text: None) if quiet else complain


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
    return f"{value:.4g}" if isinstance(value, float) else one_line(value)


def _plain(value):
    return value.item() if hasattr(value, "item") else str(value)  # a scalar of numpy
