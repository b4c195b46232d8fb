"""python -m benchmarks.run COMMAND [--quick] [--data DIR] [--out DIR]: see COMMANDS and benchmarks/README.md."""

import argparse
import os
from importlib import import_module

COMMANDS = """compare tables auto norms splice sequences gkm grammar gene_sets pairs cv relevance shares sources
sources_default survival gpu card_peers lowrank limits second_ways
compress""".split()
OPTIONS = {  # name: (the commands that take it, what it is)
    "dataset": ("compare", dict(default="mnist", help="mnist, synthetic, or NAME of uci_NAME.npz")),
    "huge": ("splice auto", dict(action="store_true", help="ten million sequences (an hour, 20 GB); 10,000 examples")),
    "only": ("sources sources_default pairs survival tables limits", dict(help="what to run, such as mfeat,webkb")),
    "jobs": ("tables sources_default auto gkm survival", dict(type=int, help="models that are fitted side by side")),
    "task": ("tables", dict(choices=("classification", "regression", "one-class"), help="one of them")),
    "half": ("tables", dict(choices=("choosing", "reporting", "views"), help="a part of them")),
    "rows": ("tables sources_default", dict(type=int, help="at most so many rows of each")),
    "seed": ("auto", dict(type=int, help="of the sample of cells")),
}


def main():
    parser = argparse.ArgumentParser(prog="python -m benchmarks.run", description="See benchmarks/README.md.")
    parser.add_argument("command", choices=COMMANDS)
    parser.add_argument("--quick", action="store_true", help="tiny sizes: does it run?")
    parser.add_argument(
        "--data",
        default=os.environ.get("MANYKERNELS_DATA"),
        help="directory with mnist.npz, uci_*.npz, mv_*.npz and splice_* (or MANYKERNELS_DATA)",
    )
    parser.add_argument("--out", default=".benchmarks", help="where JSON and PNG files go")
    for name, (takers, told) in OPTIONS.items():
        parser.add_argument(f"--{name}", **told | {"help": f"{', '.join(takers.split())}: {told['help']}"})
    options = vars(parser.parse_args())
    command = options.pop("command")
    for name, (takers, _) in OPTIONS.items():
        if command not in takers.split() and options.pop(name) != parser.get_default(name):
            parser.error(f"--{name} is for {', '.join(takers.split())} only")
    import_module(f".{command}", __package__).main(**options)


if __name__ == "__main__":
    main()
