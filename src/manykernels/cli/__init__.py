"""The command line: `fit`, `predict`, `score`, `cv`, `inspect`, `report`, `init`, `kernels`, `demo` and `gkm`."""

from typing import Annotated

import typer

from . import gkm, gkm_use, learn, use
from ._talk import Commands, command
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


for _command in (learn.fit, use.predict, use.score, learn.cv, use.inspect, report, use.init, use.kernels, demo):
    app.command()(command(_command))

words = typer.Typer(no_args_is_help=True)
for _word_command in (gkm_use.peaks, gkm.train, gkm_use.predict, gkm_use.explain, gkm_use.motifs, gkm_use.variants,
                 gkm_use.weights, gkm_use.kmers):  # fmt: skip
    words.command()(command(_word_command))
app.add_typer(words, name="gkm", help="Support vector machines on gapped words of DNA, as gkm-SVM and LS-GKM.")
