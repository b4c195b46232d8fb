"""python -m benchmarks.run COMMAND [--quick] [--data DIR] [--out DIR]: see COMMANDS and benchmarks/README.md."""

import argparse
import os
from importlib import import_module

COMMANDS = (
    "compare",
    "tables",
    "auto",
    "norms",
    "speed",
    "growth",
    "large",
    "classic",
    "splice",
    "sequences",
    "gkm",
    "grammar",
    "gene_sets",
    "pairs",
    "cv",
    "relevance",
    "shares",
    "sources",
    "sources_default",
    "survival",
    "gpu",
    "card_peers",
    "threads",
    "lowrank",
    "limits",
    "compress",
)


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
    parser.add_argument("--dataset", default="mnist", help="compare: mnist, synthetic, or NAME of uci_NAME.npz")
    parser.add_argument(
        "--huge",
        action="store_true",
        help="splice: ten million sequences too (an hour, 20 GB); auto: up to 10,000 examples",
    )
    parser.add_argument(
        "--only",
        help="sources, sources_default, pairs, survival, threads, tables, limits: what to run, such as mfeat,webkb",
    )
    parser.add_argument("--threads", help="threads: their numbers, such as 1,8,16")
    parser.add_argument(
        "--jobs", type=int, help="tables, sources_default, auto, gkm, survival: models that are fitted side by side"
    )
    parser.add_argument("--task", choices=("classification", "regression", "one-class"), help="tables: one of them")
    parser.add_argument("--half", choices=("choosing", "reporting", "views"), help="tables: a part of them")
    parser.add_argument("--rows", type=int, help="tables, sources_default: at most so many rows of each")
    parser.add_argument("--seed", type=int, help="auto: of the sample of cells")
    options = vars(parser.parse_args())
    command = options.pop("command")
    if command != "compare" and options.pop("dataset") != "mnist":
        parser.error("--dataset is for compare only")
    if command not in ("splice", "auto") and options.pop("huge"):
        parser.error("--huge is for splice and auto only")
    only = "sources", "sources_default", "pairs", "survival", "threads", "tables", "limits"
    if command not in only and options.pop("only"):
        parser.error("--only is for sources, sources_default, pairs, survival, threads, tables and limits only")
    if command not in ("tables", "sources_default", "auto", "gkm", "survival") and options.pop("jobs"):
        parser.error("--jobs is for tables, sources_default, auto, gkm and survival only")
    for name in ("task", "half", "rows"):
        if command != "tables" and (name, command) != ("rows", "sources_default") and options.pop(name):
            parser.error(f"--{name} is for tables only")
    if command != "auto" and options.pop("seed") is not None:
        parser.error("--seed is for auto only")
    if command != "threads" and options.pop("threads"):
        parser.error("--threads is for threads only")
    import_module(f".{command}", __package__).main(**options)


if __name__ == "__main__":
    main()
