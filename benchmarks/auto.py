"""solver="auto" beside every solver that takes the problem: CPU seconds of whole fits, one thread.

A seeded random sample of the table kind of kernels × n × M × p × loss × C × tol. In every cell "auto" is fitted first,
then each solver by name, on pairs and on explicit features where the kernels have some. A fit is stopped once it takes
longer than the best so far: it cannot win. What is within `SPARE` seconds of the best counts as equal to it, since
the overhead of a fit decides there; a fit that ends above tol does not count. If "auto" is slower than `GOOD` times the
best, both are fitted twice more and the shortest times count. Choices may be tuned on seeds 0 to 15; a report takes
another seed. Finished cells are kept in auto.jsonl and not run again.
"""

import signal
import time
import warnings
from pathlib import Path

import numpy as np

from .cells import run_cells
from .report import console, norm, show, write

SEED, COUNT = 16, 120
GOOD, POOR = 1.5, 3.0
SPARE = 0.02  # seconds
PATIENCE = 30.0  # CPU seconds of one fit, at most
PAIRS = "newton", "analytic", "hessian", "level", "chunking", "spicy", "nesterov"
EXPLICIT = "interior", "coordinate", "primal"
LOSSES = "hinge", "logistic", "squared", "epsilon_insensitive"
KINDS = {  # numbers of kernels of each kind
    "stack": (3, 10, 50, 200),
    "pairwise": (3, 10, 50, 200),
    "columns": (5, 20, 100, 500, 2000),
    "words": (100, 500, 2000),
    "spectra": (2, 4),
    "degrees": (5, 20),
    "low rank": (2, 5, 20),
}
SIZES = 50, 100, 200, 500, 1000, 2000, 5000, 10000
WARM = set()  # (kind, loss, solver) that this process has compiled
MAX_VALUES = 2e9  # of kernel matrices, n²M
FEW_VALUES = 2e7  # the same without --huge, for at most FEW_EXAMPLES
FEW_EXAMPLES = 2000


def main(data=None, out=".", quick=False, jobs=None, seed=None, huge=False):
    seed = SEED if seed is None else seed
    cells = draw(seed, 7 if quick else COUNT, huge)
    if quick:
        cells = [cell | {"n": 60, "M": KINDS[cell["kind"]][0], "tol": 1e-2} for cell in cells]
    path = Path(out) / "auto.jsonl"
    rows = run_cells(measure, cells, path, lambda row: f"{words(row)}: {row['ratio']:.2f}", jobs, keep=not quick)
    summary(rows)
    write(out, "auto", rows)


def draw(seed, count, huge=False):
    """`count` cells of the table, at most FEW_VALUES kernel values each without `huge`; every kind equally often."""
    rng, cells = np.random.default_rng(seed), []
    while len(cells) < count:
        kind = list(KINDS)[len(cells) % len(KINDS)]
        n, M = int(rng.choice(SIZES)), int(rng.choice(KINDS[kind]))
        p, loss = float(rng.choice([1, 4 / 3, 2, np.inf])), str(rng.choice(LOSSES))
        C, tol = 10.0 ** rng.integers(-2, 3), 10.0 ** -rng.choice([2, 3, 4, 6])
        cell = {"seed": seed, "kind": kind, "n": n, "M": M, "p": p, "loss": loss, "C": float(C), "tol": float(tol)}
        if n * n * M <= (MAX_VALUES if huge else FEW_VALUES) and (huge or n <= FEW_EXAMPLES) and cell not in cells:
            cells.append(cell)
    return cells


def make(kind, n, M, seed):
    """(X, kernels, score (n,)) of one kind; targets are made of the score."""
    from manykernels.kernels import RBF, Nystroem, rank_one_kernels
    from manykernels.strings import Spectrum, degree_kernels

    rng = np.random.default_rng([seed, n, M])
    if kind in ("spectra", "degrees"):
        letters = rng.integers(0, 4, (n, 60))
        score = rng.choice([-1.0, 1.0], n)
        letters[score > 0, 20:24] = np.where(rng.random((np.sum(score > 0), 4)) < 0.8, [0, 1, 2, 3], 2)
        X = np.array(["".join("ACGT"[k] for k in row) for row in letters])
        kernels = degree_kernels(M) if kind == "degrees" else [Spectrum(k) for k in (2, 3, 4, 6)[:M]]
        return X, kernels, score + 0.3 * rng.standard_normal(n)
    if kind == "words":
        score = rng.standard_normal(n)
        tilt = np.where(rng.random(M) < 0.1, rng.standard_normal(M), 0.0)
        rates = np.exp(np.outer(score, tilt)) / np.arange(1, M + 1) ** 0.8
        counts = np.array([rng.multinomial(80, row / row.sum()) for row in rates])
        X = counts * np.log(n / (1.0 + np.sum(counts > 0, axis=0)) + 1.0)
        from scipy.sparse import csr_array

        return csr_array(X / np.linalg.norm(X, axis=1, keepdims=True)), rank_one_kernels(M), score
    if kind == "columns":
        X = rng.standard_normal((n, M))
        used = min(M, 10)
        return X, rank_one_kernels(M), X[:, :used] @ rng.standard_normal(used) / np.sqrt(used)
    X = rng.standard_normal((n, 10))
    score = X[:, 0] + X[:, 1] ** 2 - X[:, 2] ** 2
    widths = 10.0 ** np.linspace(-2.0, 0.5, M)
    columns = [list(range(10)) if m % 2 == 0 else [m // 2 % 10] for m in range(M)]
    if kind == "low rank":
        return X, [Nystroem(RBF(gamma=width), rank=30, random_state=m) for m, width in enumerate(widths)], score
    if kind == "pairwise":
        return X, [(f"{m}", RBF(gamma=widths[m]), columns[m]) for m in range(M)], score
    stack = np.empty((n, n, M))
    for m in range(M):
        stack[:, :, m] = RBF(gamma=widths[m])(X[:, columns[m]])
    return stack, "precomputed", score


def measure(cell):
    """The row of a cell: seconds of "auto" and of every other solver that is quicker, and the ratio to the best."""
    kind, n, M, loss = cell["kind"], cell["n"], cell["M"], cell["loss"]
    X, kernels, score = make(kind, n, M, cell["seed"])
    noisy = score + 0.3 * np.std(score) * np.random.default_rng(cell["seed"]).standard_normal(n)
    y = noisy > np.median(noisy) if loss in ("hinge", "logistic") else noisy / np.std(noisy)
    features = ("never", "auto") if kind not in ("stack", "pairwise") else ("auto",)
    others = [(solver, features[0]) for solver in PAIRS] + [(solver, "auto") for solver in EXPLICIT if features[1:]]
    few = np.argsort(np.arange(n) % 7, kind="stable")[:60]
    small = X[np.ix_(few, few)] if kind == "stack" else X[few]
    for solver, how in (("auto", "auto"), *others):  # compiles, or loads what was compiled
        if (kind, loss, solver) not in WARM:
            WARM.add((kind, loss, solver))
            fit(cell | {"tol": max(cell["tol"], 1e-3)}, small, y[few], kernels, solver, how, 20.0)
    seconds, ended = {}, {}
    once(cell, X, y, kernels, "auto", "auto", PATIENCE, seconds, ended)
    if "auto" in seconds and seconds["auto"] < 5.0:
        once(cell, X, y, kernels, "auto", "auto", PATIENCE, seconds, ended)
    for solver, how in others:
        once(cell, X, y, kernels, solver, how, min(seconds.values(), default=PATIENCE), seconds, ended)
    best = min(seconds, key=seconds.get, default="auto")
    if best != "auto" and ratio(seconds, best) > GOOD:
        for _ in range(2):
            for solver, how in (("auto", "auto"), (best, dict(others)[best])):
                once(cell, X, y, kernels, solver, how, PATIENCE, seconds, ended)
    return cell | {"seconds": seconds, "ended": ended, "best": best, "ratio": ratio(seconds, best)}


def ratio(seconds, best):
    """Seconds of "auto" over those of the best, 1 if they differ by less than SPARE."""
    auto, least = seconds.get("auto", np.inf), seconds.get(best, np.inf)
    return auto / least if auto > least + SPARE else 1.0


def once(cell, X, y, kernels, solver, how, limit, seconds, ended):
    """Keeps the CPU seconds of a fit, the least of all, if it reached tol; else the reason."""
    begin = time.process_time()
    model, why = fit(cell, X, y, kernels, solver, how, limit)
    spent = time.process_time() - begin
    if model is not None and model.duality_gap_ <= cell["tol"]:
        seconds[solver] = min(spent, seconds.get(solver, np.inf))
        if solver == "auto":
            ended["auto"] = f"{model.n_iter_} steps, {type(model.predictor_).__name__}"
    else:
        ended[solver] = f"gap {model.duality_gap_:.1e} after {spent:.2f} s" if model is not None else why


class TooLong(BaseException):
    """The limit of a fit has passed."""


def fit(cell, X, y, kernels, solver, how, limit):
    """(the fitted model, "") or (None, the reason) after `limit` CPU seconds or for a solver that refuses."""
    from manykernels import MKLClassifier, MKLRegressor

    kind = MKLClassifier if cell["loss"] in ("hinge", "logistic") else MKLRegressor
    options = dict(regularizer=cell["p"], loss=cell["loss"], C=cell["C"], tol=cell["tol"], n_jobs=1)
    model = kind(kernels, solver=solver, features=how, **options)

    running = True

    def stop(*_):
        if running:
            raise TooLong

    before = signal.signal(signal.SIGPROF, stop)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            signal.setitimer(signal.ITIMER_PROF, max(limit, 1e-3))
            return model.fit(X, y), ""
        except (TooLong, SystemError, RuntimeError):  # the latter if it met a compiled loop, or the compiler
            return None, "too long"
        except ValueError as error:
            return None, str(error)[:80]
        finally:
            running = False
            signal.setitimer(signal.ITIMER_PROF, 0.0)
            signal.signal(signal.SIGPROF, before)


def words(row):
    return (
        f"{row['kind']}, {row['n']} × {row['M']}, p = {norm(row['p'])}, {row['loss']}, C = {row['C']:g}, "
        f"tol = {row['tol']:g}"
    )


def summary(rows):
    ratios = np.array([row["ratio"] for row in rows])
    slow = sorted((row for row in rows if row["ratio"] > GOOD), key=lambda row: -row["ratio"])
    lines = [
        (words(row), row["ratio"], row["seconds"].get("auto"), row["seconds"].get(row["best"]), row["best"])
        for row in slow[:30]
    ]
    show(
        f"{len(rows)} cells: {100 * np.mean(ratios <= GOOD):.1f} % within {GOOD} × of the best solver, "
        f"{100 * np.mean(ratios <= POOR):.1f} % within {POOR} ×",
        ("cell", "ratio", "auto, s", "best, s", "best"), lines,
        "CPU seconds of the whole fit, one thread; the cells where auto is slowest",
    )  # fmt: skip
    small = [row for row in rows if row["n"] * row["M"] <= 1e5 and row["tol"] == 1e-3]
    if small:
        worst = max(small, key=lambda row: row["seconds"].get("auto", np.inf))
        most = worst["seconds"].get("auto", np.inf)
        console.print(f"n M ≤ 10⁵ at tol = 1e-3, {len(small)} cells: at most {most:.2f} s ({words(worst)})")
