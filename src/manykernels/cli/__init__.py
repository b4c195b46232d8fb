"""The command line: `manykernels fit`, `predict`, `score`, `cv`, `inspect`, `report`, `init`, `kernels` and `demo`."""

from typing import Annotated

import typer

from . import learn, start, use
from ._talk import Commands
from .demo import demo
from .report import report

app = typer.Typer(cls=Commands, add_completion=False, no_args_is_help=True, pretty_exceptions_enable=False)


def _show_version(asked: bool) -> None:
    if asked:
        from .. import __version__

        typer.echo(f"manykernels {__version__}")
        raise typer.Exit()


@app.callback()
def main(
    version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Multiple kernel learning: learn a predictor and the weights of its kernels together."""


for _command in (learn.fit, use.predict, use.score, learn.cv, use.inspect, report, start.init, start.kernels, demo):
    app.command()(_command)
