"""Default models on tables beside what else people would take: scores, ranks, seconds, for each task of `tasks.TASKS`.

Five folds, one thread a model. Defaults may be chosen by the tables of one half, fixed by name; the page reports those
of the other, and for classes also the sets of several views, mv_*.npz, that are in the folder of --data. There ours get
the views, and the others all columns side by side. Finished cells are kept in tables_TASK.jsonl and not run again.
"""

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from .cells import run_cells
from .peers import PEERS
from .report import console, figure, save, show, write
from .tasks import TASKS


def main(data=None, out=".", quick=False, only=None, jobs=None, task=None, half=None, rows=None):
    for name in [task] if task else TASKS:
        one_task(name, data, out, quick, only, jobs, half, rows)


def one_task(name, data, out, quick, only, jobs, half, rows):
    task, file = TASKS[name], f"tables_{name}"
    halves = {"reporting": task.reporting, "views": task.views(data), "choosing": task.choosing}
    if quick:
        halves, rows = {"choosing": task.choosing[:2]}, 200
    halves = {key: tables for key, tables in halves.items() if half in (None, key) and tables}
    methods = [
        method for method in PEERS[name] if (only is None or method in only.split(",")) and installed(name, method)
    ]
    cells = [
        {"task": name, "table": table, "method": method, "rows": rows or task.rows}
        for tables in halves.values()
        for method in sorted(methods, key=lambda method: method not in task.long)
        for table in tables
    ]
    rows = run_cells(
        partial(measure, data=data), cells, Path(out) / f"{file}.jsonl", jobs=jobs, keep=not quick,
        start=(warm_up, (name, methods)),
        say=lambda row: f"{row['table']}, {row['method']}: {row[next(iter(task.scores))]:.4f}, {row['seconds']:.1f} s",
    )  # fmt: skip
    for key, tables in halves.items():
        summary(f"{name}, {key}", task, tables, methods, rows)
    write(out, file, rows)
    if "reporting" in halves and len(methods) > 1:
        plot(name, halves["reporting"], methods, rows, out)


def warm_up(task, methods):
    """Fits every method once, so that no cell counts imports and compilations."""
    import pandas as pd

    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"number": rng.normal(size=60), "other": rng.normal(size=60), "word": rng.choice(["a", "b"], 60)}
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for method in methods:
            for classes in (2, 3):
                PEERS[task][method]().fit(frame, np.arange(60) % classes).predict(frame)


def installed(task, method):
    try:
        PEERS[task][method]()
    except ImportError as error:
        console.print(f"{method} is left out: {error}")
        return False
    return True


def measure(cell, data):
    """The cell with mean scores over the folds and the seconds of all; a model that fails counts as the null model."""
    task, make = TASKS[cell["task"]], PEERS[cell["task"]][cell["method"]]
    X, y = task.load(cell["table"], data, cell["method"], cell["rows"])
    found, failed, begin = [], None, time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in task.folds(y):
            try:
                model = make().fit(take(X, train), y[train])
                found.append(task.score(model, take(X, test), y[test], y[train]))
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"[:300]
                found.append(task.null(y[test], y[train]))
    seconds = time.process_time() - begin
    row = cell | {"seconds": seconds, "failed": failed, "n": len(y)}
    for key in task.scores:
        row[f"{key}_folds"] = values = [one[key] for one in found]
        row[key] = None if None in values else float(np.mean(values))
    return row


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def ranks(tables, methods, rows, key, sign=1):
    """Ranks (tables, methods), 1 the best, of a score that is better if it is greater (sign 1) or less (−1)."""
    from scipy.stats import rankdata

    value = {(r["table"], r["method"]): r[key] for r in rows}
    return np.array([rankdata([-sign * value[t, m] for m in methods]) for t in tables])


def summary(title, task, tables, methods, rows):
    cell = {(r["table"], r["method"]): r for r in rows}
    first, *others = task.scores
    order = ranks(tables, methods, rows, first)
    mean, error = order.mean(axis=0), order.std(axis=0) / np.sqrt(max(len(tables) - 1, 1))
    second = {key: ranks(tables, methods, rows, key, task.scores[key][2]).mean(axis=0) for key in others[:1]}
    lines = []
    for k in np.argsort(mean):
        own = [cell[t, methods[k]] for t in tables]
        line = [methods[k], f"{mean[k]:.2f} ± {error[k]:.2f}"]
        for key, (_, form, _) in task.scores.items():
            values = [r[key] for r in own]
            line += [f"{second[key][k]:.2f}"] if key in second else []
            line += ["" if None in values else form(np.mean(values))]
        lines.append((*line, f"{np.median([r['seconds'] for r in own]):.2f}", f"{max(r['seconds'] for r in own):.1f}",
                      str(sum(r["failed"] is not None for r in own))))  # fmt: skip
    columns = []
    for key, (word, *_) in task.scores.items():
        columns += [f"rank by {word}"] * (key in second) + [word]
    show(
        f"{len(tables)} tables: {title}", ("method", "rank", *columns, "median s", "worst s", "failed"), lines,
        f"ranks by {task.scores[first][0]} among {len(methods)}; they differ clearly beyond "
        f"{critical(len(methods), len(tables)):.2f} (Nemenyi, 5 %), ± one standard error over the tables; seconds "
        "of five folds, one thread",
    )  # fmt: skip


def critical(k, n):
    """Nemenyi's critical difference of mean ranks of k methods on n tables at 5 %."""
    from scipy.stats import studentized_range

    return studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))


def plot(name, tables, methods, rows, out):
    """Mean ranks on a line, with a bar as long as the critical difference."""
    key = next(iter(TASKS[name].scores))
    mean = ranks(tables, methods, rows, key).mean(axis=0)
    order = np.argsort(mean)
    fig, axes = figure(1, 0.8 + 0.32 * len(methods), 8.0)
    if fig is None:
        return
    ax = axes[0]
    for place, k in enumerate(order):
        ours = methods[k].startswith("MKL")
        ax.plot(mean[k], -place, "o", color="C0" if ours else "0.45")
        ax.annotate(f"{methods[k]}  {mean[k]:.2f}", (mean[k], -place), xytext=(8, 0), textcoords="offset points",
                    va="center", color="C0" if ours else "0.25")  # fmt: skip
    width = critical(len(methods), len(tables))
    ax.plot([mean.min(), mean.min() + width], [1, 1], color="0.25")
    ax.annotate("critical difference", (mean.min(), 1), xytext=(0, 4), textcoords="offset points", color="0.25")
    ax.set_xlim(mean.min() - 0.3, mean.max() + 1.6)
    ax.set_ylim(-len(methods), 2)
    ax.set_yticks([])
    ax.set_xlabel(f"mean rank by {TASKS[name].scores[key][0]} on {len(tables)} tables that no default was chosen by")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    save(fig, out, f"tables_{name}")
