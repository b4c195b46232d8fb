"""Tables on the screen, JSON and PNG files in the output directory."""

import json
import os
import platform
import resource
import statistics
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

console = Console(width=None if sys.stdout.isatty() else 130)
PACKAGES = ("manykernels", "numpy", "scipy", "scikit-learn", "numba", "MKLpy", "torch", "himalaya", "cvxpy", "clarabel",
            "scikit-survival")  # fmt: skip


def timed(call, repeats=5, patience=10.0):
    """(seconds, last result): the median of `repeats` calls after a first one, or the first where it takes longer
    than `patience` seconds."""
    seconds, result = clock(call)
    if seconds > patience:
        return seconds, result
    times = []
    for _ in range(repeats):
        spent, result = clock(call)
        times.append(spent)
    return statistics.median(times), result


def paired(call, unit, repeats=5, patience=10.0):
    """(seconds, multiple of `unit`, last result): as `timed`, with `unit()` timed right before each call.

    The multiple is the median of the ratios, which noise that lasts longer than a call leaves alone.
    """
    unit()
    pairs = [(clock(unit)[0], *clock(call))]
    if pairs[0][1] <= patience:
        pairs = [(clock(unit)[0], *clock(call)) for _ in range(repeats)]
    seconds = statistics.median(spent for _, spent, _ in pairs)
    return seconds, statistics.median(spent / one for one, spent, _ in pairs), pairs[-1][2]


def clock(call):
    start = time.perf_counter()
    result = call()
    return time.perf_counter() - start, result


def apart(module, *words, check=True):
    """What a module of the benchmarks prints last, as JSON, in a process of its own; None where it fails unchecked."""
    command = [sys.executable, "-m", f"benchmarks.{module}", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=check)
    return None if done.returncode else json.loads(done.stdout.splitlines()[-1])


def peak():
    """Largest resident memory of this process so far, GB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e9


def show(title, columns, rows, caption=None):
    """A table; the first column is text, the others are numbers or words."""
    table = Table(title=title, caption=caption, caption_justify="left", title_justify="left")
    for k, column in enumerate(columns):
        table.add_column(column, justify="right" if k else "left", overflow="fold")
    for row in rows:
        table.add_row(*[cell if isinstance(cell, str) else number(cell) for cell in row])
    console.print(table)


def number(x):
    if x is None:
        return "–"
    if isinstance(x, int):
        return f"{x:,}"
    return f"{x:.1e}" if 0 < abs(x) < 1e-2 else f"{x:.3g}" if abs(x) < 1000 else f"{x:,.1f}"


def norm(p):
    return "4/3" if abs(p - 4 / 3) < 1e-9 else f"{p:g}"


def write(out, name, results):
    """OUT/name.json: the machine, the versions, the results."""
    out = Path(out)
    out.mkdir(parents=True, exist_ok=True)
    machine = {"cores": os.cpu_count(), "system": platform.system(), "machine": platform.machine()}
    document = {"machine": machine, "python": platform.python_version(), "packages": installed(), "results": results}
    (out / f"{name}.json").write_text(json.dumps(document, indent=1, ensure_ascii=False, default=float) + "\n")
    console.print(f"wrote {name}.json")


def installed():
    found = {}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def figure(columns, height=3.6, width=4.2):
    """(figure, axes list) without a display, or (None, None) where matplotlib is not installed."""
    try:
        import matplotlib
    except ImportError:
        console.print("matplotlib is not installed: no plot")
        return None, None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    fig, axes = plt.subplots(1, columns, figsize=(width * columns, height), squeeze=False, layout="constrained")
    for ax in axes[0]:
        ax.spines[["top", "right"]].set_visible(False)
        ax.grid(alpha=0.25, linewidth=0.6)
    return fig, list(axes[0])


def save(fig, out, name):
    fig.savefig(Path(out) / f"{name}.png", dpi=150)
    console.print(f"wrote {name}.png")
