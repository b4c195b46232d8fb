"""`init` and `kernels`: write a first configuration, and list the kernels for it."""

from inspect import Parameter
from pathlib import Path
from typing import Annotated

import typer

from ._columns import read_texts, suggest
from ._config import KERNELS, STRINGS, kernel_class, parameters, write_config
from ._data import read_data
from ._models import check_output, split_target
from ._talk import Debug, Json, Quiet, Wrong, show, speaker
from .learn import Data, Id, Labels, Target, Task


def init(
    data: Data,
    target: Target = None,
    task: Task = None,
    id: Id = None,
    labels: Labels = None,
    output: Annotated[str, typer.Option("--output", "-o", help="The file of the configuration; - is stdout.")] = "-",
    force: Annotated[bool, typer.Option("--force", help="Overwrite an existing file.")] = False,
    quiet: Quiet = False,
    debug: Debug = False,
) -> None:
    """Write a commented TOML file of kernels for the columns of a table, which you can edit and give to fit."""
    say = speaker(quiet)
    over = ""
    if output != "-":
        over = check_output(output, data, labels)
        if Path(output).exists() and not force:
            raise Wrong(f"{output} exists: give another path, or --force to overwrite it.")
    task, _, frame = split_target(read_data(data, id, say, labels, target=target), task, target, data, say)
    text = write_config({"target": target, "id": id, "task": task}, suggest(read_texts(frame, say)[0], say)[0], data)
    if output == "-":
        typer.echo(text, nl=False)
        return
    Path(output).write_text(text)
    say(f"{output} is written{over}; `manykernels fit {data} --config {output}` uses it.")


def kernels(json: Json = False, quiet: Quiet = False, debug: Debug = False) -> None:
    """List the kernels that a configuration may name, with their parameters."""
    rows = []
    for name in (*KERNELS, *STRINGS):
        cls = kernel_class(name)
        takes = {} if name == "Categorical" else parameters(cls)
        says = (cls.__doc__ or "").strip().splitlines()[0]
        takes = {key: "required" if value is Parameter.empty else value for key, value in takes.items()}
        plain = (key if value == "required" else f"{key}={value!r}" for key, value in takes.items())
        given = takes if json else ", ".join(plain)
        rows.append({"kernel": name, "parameters": given, "what": says})
    show({"kernels": rows}, json)
