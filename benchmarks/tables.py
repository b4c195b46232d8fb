"""Default models on the KEEL tables beside what else people would take: accuracy, log loss, area, ranks, seconds.

Five stratified folds, at most 2,000 rows, one thread a model. Defaults may be chosen by the tables of
`keel.CHOOSING`; the page reports those of `keel.REPORTING`, and the sets of several views, mv_*.npz, that are in the
folder of --data. There ours get the views, and the others all columns side by side. Finished cells are kept in
tables.jsonl and not run again.
"""

import json
import os
import time
import warnings
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from .datasets.keel import CHOOSING, NAMES, REPORTING, load_keel
from .peers import PEERS
from .report import console, figure, save, show, write

FOLDS = 5
LONG = "MKLClassifierCV()", "SVC grid"  # begin first


def main(data=None, out=".", quick=False, only=None, jobs=None):
    views = sorted(path.stem for path in Path(data or ".").glob("mv_*.npz"))
    names = ("iris", "hayes-roth") if quick else (*NAMES, *views)
    methods = [name for name in PEERS if only is None or name in only.split(",")]
    methods = [name for name in methods if installed(name)]
    path = Path(out) / "tables.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    rows = [json.loads(line) for line in path.read_text().splitlines()] if path.exists() and not quick else []
    done = {(row["table"], row["method"]) for row in rows}
    cells = [(name, method) for name in names for method in methods if (name, method) not in done]
    cells.sort(key=lambda cell: (cell[0] in CHOOSING, cell[1] not in LONG))
    threads = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS")
    os.environ |= dict.fromkeys(threads, "1")  # of the processes that follow
    with ProcessPoolExecutor(jobs or os.cpu_count(), get_context("spawn"), warm_up, (methods,)) as pool:
        running = [pool.submit(measure, *cell, data) for cell in cells]
        for count, finished in enumerate(as_completed(running)):
            row = finished.result()
            rows.append(row)
            if not quick:
                with path.open("a") as file:
                    file.write(json.dumps(row) + "\n")
            console.print(f"  {count + 1} of {len(cells)}: {row['table']}, {row['method']}: {row['accuracy']:.4f}, "
                          f"{row['seconds']:.1f} s", style="dim")  # fmt: skip
    for half, tables in (("reported", REPORTING), ("of several views", views), ("used to choose", CHOOSING)):
        cells = {(row["table"], row["method"]) for row in rows}
        known = [name for name in tables if name in names and cells >= {(name, method) for method in methods}]
        if known:
            summary(half, known, methods, rows)
    write(out, "tables", rows)
    known = [name for name in REPORTING if name in names]
    if known and len(methods) > 1 and not quick:
        plot(known, methods, rows, out)


def warm_up(methods):
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
                PEERS[method]().fit(frame, np.arange(60) % classes).predict(frame)


def installed(method):
    try:
        PEERS[method]()
    except ImportError:
        return False
    return True


def measure(table, method, data):
    """Mean scores over the folds, and the seconds of all of them; a model that fails counts as the commonest class."""
    from sklearn.model_selection import StratifiedKFold

    X, y = load(table, data, method)
    found, failed, begin = [], None, time.perf_counter()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for train, test in StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y):
            try:
                model = PEERS[method]().fit(take(X, train), y[train])
                found.append(scores(model, take(X, test), y[test]))
            except Exception as error:
                failed = f"{type(error).__name__}: {error}"[:300]
                most = np.bincount(y[train]).argmax()
                found.append({"accuracy": float(np.mean(y[test] == most)), "auc": 0.5, "log_loss": None})
    seconds = time.perf_counter() - begin
    row = {"table": table, "method": method, "seconds": seconds, "failed": failed, "n": len(y)}
    row["folds"] = [one["accuracy"] for one in found]
    for key in ("accuracy", "auc", "log_loss"):
        values = [one[key] for one in found]
        row[key] = None if None in values else float(np.mean(values))
    return row


def load(table, data, method):
    """(X, y) of a table, or of views, which are one frame for all but ours."""
    if not table.startswith("mv_"):
        return load_keel(table, data)
    import pandas as pd

    from manykernels import Views

    with np.load(Path(data) / f"{table}.npz") as file:
        y, views = file["y"].astype(int), {name: file[name].astype(float) for name in file.files if name != "y"}
    y = np.unique(y, return_inverse=True)[1]
    if method.startswith("MKL"):
        return Views(views), y
    return pd.DataFrame({f"{name} {k}": column for name, x in views.items() for k, column in enumerate(x.T)}), y


def take(X, rows):
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]


def scores(model, X, y):
    """Accuracy; area under the ROC curve, one against the rest, by probabilities or decisions; log loss."""
    from sklearn.metrics import log_loss, roc_auc_score

    found = {"accuracy": float(np.mean(model.predict(X) == y)), "log_loss": None}
    try:
        value = model.predict_proba(X)
        found["log_loss"] = float(log_loss(y, value, labels=model.classes_))
    except AttributeError:
        value = model.decision_function(X)
    value = np.asarray(value)
    columns = value if value.ndim == 2 else np.column_stack([-value, value])
    held = [(k, y == label) for k, label in enumerate(model.classes_) if 0 < np.sum(y == label) < len(y)]
    areas = [roc_auc_score(is_class, columns[:, k]) for k, is_class in held]
    return found | {"auc": float(np.mean(areas))}


def ranks(tables, methods, rows, key):
    """Ranks (tables, methods), 1 the best, of accuracy, area or log loss; ties share theirs."""
    from scipy.stats import rankdata

    value = {(r["table"], r["method"]): r[key] for r in rows}
    sign = 1.0 if key == "log_loss" else -1.0
    return np.array([rankdata([sign * value[t, m] for m in methods]) for t in tables])


def summary(half, tables, methods, rows):
    cell = {(r["table"], r["method"]): r for r in rows}
    by_accuracy, area = ranks(tables, methods, rows, "accuracy"), ranks(tables, methods, rows, "auc").mean(axis=0)
    order, error = by_accuracy.mean(axis=0), by_accuracy.std(axis=0, ddof=1) / np.sqrt(len(tables))
    lines = []
    for k in np.argsort(order):
        own = [cell[t, methods[k]] for t in tables]
        losses = [r["log_loss"] for r in own]
        lines.append((
            methods[k], f"{order[k]:.2f} ± {error[k]:.2f}", f"{100 * np.mean([r['accuracy'] for r in own]):.2f}",
            f"{area[k]:.2f}", f"{np.mean([r['auc'] for r in own]):.4f}",
            "" if None in losses else f"{np.mean(losses):.3f}", f"{np.median([r['seconds'] for r in own]):.2f}",
            f"{max(r['seconds'] for r in own):.1f}", str(sum(r["failed"] is not None for r in own)),
        ))  # fmt: skip
    show(
        f"{len(tables)} tables, {half}", ("method", "rank", "accuracy %", "rank by area", "area", "log loss",
        "median s", "worst s", "failed"), lines,
        f"ranks of accuracy among {len(methods)}; they differ clearly beyond {critical(len(methods), len(tables)):.2f} "
        "(Nemenyi, 5 %), ± one standard error over the tables; seconds of five folds, one thread",
    )  # fmt: skip


def critical(k, n):
    """Nemenyi's critical difference of mean ranks of k methods on n tables at 5 %."""
    from scipy.stats import studentized_range

    return studentized_range.ppf(0.95, k, np.inf) / np.sqrt(2) * np.sqrt(k * (k + 1) / (6 * n))


def plot(tables, methods, rows, out):
    """Mean ranks on a line, with a bar as long as the critical difference."""
    mean = ranks(tables, methods, rows, "accuracy").mean(axis=0)
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
    ax.set_xlabel(f"mean rank of accuracy on {len(tables)} tables that no default was chosen by")
    for side in ("left", "right", "top"):
        ax.spines[side].set_visible(False)
    save(fig, out, "tables")
