"""The default kernels and p of several sources, and p of single tables: candidates beside each other and a forest.

Sets: `datasets/grouped.py`, and ten KEEL tables of the half by which defaults may be chosen. Repeated holdouts of a
quarter, stratified, the same for all methods; C is chosen by the fit. "before" has RBF kernels of three widths and a
linear kernel for each source, at p = 2; "new" has RBF and Laplacian kernels of three widths at p = 4/3; "new, p = 2" is
between the two. Columns of categories have a kernel each, and sparse sources RBF and linear kernels of the columns as
they are, in all of them. The rule was fixed before the first run: a candidate is taken if the mean differences of
accuracy and area are at least -0.002, and each has at least as many sets won as lost, which are those beyond 0.005.
Finished cells are kept in sources_default.jsonl and not run again.
"""

import time
import warnings
from functools import partial
from pathlib import Path

import numpy as np

from .cells import run_cells
from .datasets import grouped
from .datasets.keel import load_keel
from .report import show, write
from .tasks import Classification

SINGLE = "australian", "bands", "crx", "german", "heart", "housevotes", "mammographic", "phoneme", "segment", "sonar"
SOURCES = {"before": 2.0, "new": 4 / 3, "new, p = 2": 2.0, "forest": None}  # {method: p}
TABLES = {"p = 2": 2.0, "p = 4/3": 4 / 3}
LEAST, EQUAL = -0.002, 0.005  # of mean differences; of the difference on a set that neither has won


def main(data=None, out=".", quick=False, jobs=None, rows=None, only=None):
    rows, repeats = (100, 2) if quick else (rows or 400, 5)
    sets = [(name, method) for name in (*grouped.NEW, *grouped.SEEN) for method in SOURCES]
    sets += [(f"table {name}", method) for name in SINGLE for method in TABLES]
    cells = [
        {"set": name, "method": method, "repeat": repeat, "rows": rows}
        for repeat in range(repeats)
        for name, method in sets
        if only is None or name in only.split(",")
    ]
    found = run_cells(
        partial(measure, data=data), cells, Path(out) / "sources_default.jsonl", jobs=jobs, keep=not quick,
        say=lambda row: f"{row['set']}, {row['method']}: {row['accuracy']:.4f}, {row['seconds']:.1f} s",
    )  # fmt: skip
    here = {row["set"] for row in found}
    for title, names, methods in (
        ("new sets of several sources", grouped.NEW, SOURCES),
        ("sets by which the candidate was found", grouped.SEEN, SOURCES),
        ("single tables", [f"table {name}" for name in SINGLE], TABLES),
    ):
        if names := [name for name in names if name in here]:
            summary(title, names, methods, found)
    write(out, "sources_default", found)


def measure(cell, data):
    """The cell with accuracy, area and seconds on one holdout."""
    from sklearn.model_selection import train_test_split

    from manykernels import MKLClassifier

    name, method = cell["set"], cell["method"]
    single = name.startswith("table ")
    X, y = (load_keel(name[6:], data, cell["rows"]) if single else grouped.load(name, data, cell["rows"]))
    train, test = train_test_split(np.arange(len(y)), test_size=0.25, stratify=y, random_state=cell["repeat"])
    X_train, X_test = (X.iloc[train], X.iloc[test]) if single else (X[train], X[test])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        begin = time.perf_counter()
        if method == "forest":
            model, X_test = forest(X_train, y[train]), joined(X_test)
        elif single:
            model = MKLClassifier(regularizer=TABLES[method], n_jobs=1).fit(X_train, y[train])
        else:
            kernels = kernels_of(X_train, before=method == "before")
            model = MKLClassifier(kernels, regularizer=SOURCES[method], n_jobs=1).fit(X_train, y[train])
        seconds = time.perf_counter() - begin
        scores = Classification().score(model, X_test, y[test], y[train])
    return cell | {"accuracy": scores["accuracy"], "auc": scores["auc"], "seconds": seconds}


def kernels_of(X, before):
    """The kernels of "before", or those of the candidate, written out."""
    from manykernels.kernels import RBF, Categorical, KernelSpec, Laplacian, Linear
    from manykernels.kernels.column_kinds import describe, entries
    from manykernels.kernels.grids import rbf_grid
    from manykernels.kernels.table import GAMMA_FACTORS, scaler

    specs = []
    for view in X.names:
        x = X[view]
        sparse = not hasattr(x, "iloc")
        facts = [] if sparse else describe(entries(x))
        words = [c.name for c in facts if c.kind == "categories"]
        specs += [KernelSpec(f"{view}, {name}", Categorical(), (view, [name]), "zero") for name in words]
        columns = list(x.columns) if sparse else [c.name for c in facts if c.kind == "numbers"]
        if not columns:
            continue
        numbers = x.to_numpy() if sparse else x[columns].to_numpy(float)
        few = sparse or np.count_nonzero(numbers) < 0.1 * numbers.size and not np.isnan(numbers).any()
        d, steps = len(columns), None if few else scaler()
        if few or before:
            z = numbers if few else steps.fit_transform(numbers)
            kernels = [spec.kernel for spec in rbf_grid(z, n=3, ratio=8.0)] + [Linear()]
        else:
            kernels = [kernel for g in GAMMA_FACTORS for kernel in (RBF(g / (2 * d)), Laplacian(g / d))]
        specs += [
            KernelSpec(f"{view} {k}", kernel, (view, columns), "zero", transformer=steps)
            for k, kernel in enumerate(kernels)
        ]
    return specs


def forest(X, y):
    """A forest of 300 trees on the columns of all sources, with indicators of categories."""
    from sklearn.compose import make_column_selector, make_column_transformer
    from sklearn.ensemble import RandomForestClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import OneHotEncoder

    words = OneHotEncoder(handle_unknown="ignore", sparse_output=False), make_column_selector(dtype_exclude="number")
    encoder = make_column_transformer(words, remainder="passthrough")
    return make_pipeline(encoder, RandomForestClassifier(300, random_state=0, n_jobs=1)).fit(joined(X), y)


def joined(X):
    """The columns of all views side by side, NaN for an example that lacks a view."""
    import pandas as pd

    parts = []
    for view in X.names:
        x = X[view]
        x = x if hasattr(x, "iloc") else pd.DataFrame(x.to_numpy().toarray(), columns=x.columns)
        rows = np.flatnonzero(X.present[view])
        parts.append(x.set_axis(rows).reindex(range(len(X))).add_prefix(f"{view} "))
    return pd.concat(parts, axis=1)


def summary(title, names, methods, rows):
    """The scores of each set, the differences from the first method, and the verdict of the rule."""
    first, *others = methods
    mean = {
        (name, method, key): np.mean([row[key] for row in rows if (row["set"], row["method"]) == (name, method)])
        for name in names
        for method in methods
        for key in ("accuracy", "auc", "seconds")
    }
    def both(name, method):
        return f"{100 * mean[name, method, 'accuracy']:.1f} / {100 * mean[name, method, 'auc']:.1f}"

    lines = [(name, *(both(name, method) for method in methods)) for name in names]
    show(f"{title}: accuracy / area, %", ("set", *methods), lines, f"means over {_repeats(rows)} holdouts")
    lines = []
    for method in others:
        taken, cells = True, []
        for key in ("accuracy", "auc"):
            differences = np.array([mean[name, method, key] - mean[name, first, key] for name in names])
            won, lost = np.sum(differences > EQUAL), np.sum(differences < -EQUAL)
            taken = taken and differences.mean() >= LEAST and won >= lost
            error = differences.std(ddof=1) / np.sqrt(len(names)) if len(names) > 1 else np.nan
            cells.append(f"{100 * differences.mean():+.2f} ± {100 * error:.2f}, {won} won, {lost} lost")
        ratio = np.median([mean[name, method, "seconds"] / mean[name, first, "seconds"] for name in names])
        lines.append((method, *cells, f"{ratio:.2f} ×", "yes" if taken else "no"))
    head = "method", "accuracy, points", "area, points", "time", "by the rule"
    caption = f"± one standard error over {len(names)} sets; time is the median ratio"
    show(f"{title}: differences from {first!r}", head, lines, caption)


def _repeats(rows):
    return len({row["repeat"] for row in rows})
