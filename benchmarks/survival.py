"""Survival: ours beside Cox, forests, boosting and a kernel machine, on the sets that scikit-survival ships.

Every method gets the same columns, categories as 0 and 1, missing numbers as medians, all scaled within the training
fold. Ours reads the clinical columns and the genes of the breast cancer set as two sources. Splits are fixed: five
folds, stratified by event, repeated. Penalties of Cox are chosen by five folds within the training fold, those of the
kernel machine by three, on at most 250 of its patients; forest and boosting have the defaults of scikit-survival with
200 trees. Scores on the held-out fold: Harrell's concordance, and the integrated Brier score from the 10 % to the 80 %
quantile of its times, where a method predicts survival functions; seconds of fit and choice, one thread each. Rows are
kept in OUT/survival.jsonl; a run that was cut off goes on after the last row.
"""

import time
import warnings
from pathlib import Path

import numpy as np

from .cells import run_cells
from .report import console, write
from .survival_page import table

SETS = ("flchain", "gbsg2", "whas500", "breast_cancer", "veterans_lung_cancer")  # those that take longest first
METHODS = ("MKLSurvival", "MKLSurvival p=1", "MKLSurvival ranking", "MKLSurvival log_time", "Cox ridge", "Cox lasso",
           "forest", "boosting", "kernel SVM")  # fmt: skip
REPEATS, FOLDS, MAX_ROWS = 2, 5, 1000
MACHINE_ROWS = 250  # training examples of the kernel machine, drawn at random: with more its fits take too long


def main(data=None, out=".benchmarks", quick=False, only=None, jobs=None):
    names = only.split(",") if only else SETS[-1:] if quick else SETS
    strange = [name for name in names if name not in SETS]
    if strange:
        raise SystemExit(f"--only {strange[0]}: the sets are {', '.join(SETS)}.")
    repeats, folds = (1, 2) if quick else (REPEATS, FOLDS)
    cells = [
        {"set": name, "method": method, "split": split, "folds": folds}
        for name in names for split in range(repeats * folds) for method in METHODS
    ]  # fmt: skip
    path = Path(out) / f"survival{'_quick' * quick}.jsonl"
    rows = run_cells(measure, cells, path, said, jobs, start=(compiled, ()))
    write(out, f"survival{'_quick' * quick}", {"rows": rows})
    console.print(table(rows))


def compiled():
    """Compiles the loops of our kernels before the clock runs."""
    from manykernels import MKLSurvival

    rng = np.random.default_rng(0)
    MKLSurvival(n_jobs=1).fit(rng.normal(size=(40, 3)), np.column_stack([np.arange(40) % 2, rng.exponential(size=40)]))


def said(row):
    return f"{row['set']}, {row['method']}: {row['concordance']:.3f} in {row['seconds']:.1f} s"


def load(name):
    """(columns of numbers (n, d), {source: indices of columns}, structured y), at most `MAX_ROWS` rows."""
    import pandas as pd
    from sksurv import datasets

    X, y = {
        "breast_cancer": datasets.load_breast_cancer, "gbsg2": datasets.load_gbsg2, "whas500": datasets.load_whas500,
        "veterans_lung_cancer": datasets.load_veterans_lung_cancer, "flchain": datasets.load_flchain,
    }[name]()  # fmt: skip
    if len(X) > MAX_ROWS:
        rows = np.sort(np.random.default_rng(0).permutation(len(X))[:MAX_ROWS])
        X, y = X.iloc[rows], y[rows]
    X = X.drop(columns=["chapter"], errors="ignore")  # of flchain: the cause of death, which only the dead have
    genes = [column for column in X.columns if name == "breast_cancer" and str(column).startswith("X")]
    given = {str(column): X[column] for column in X.columns}
    table = pd.get_dummies(pd.DataFrame(given).reset_index(drop=True), drop_first=True, dtype=float)
    is_gene = np.array([column in set(map(str, genes)) for column in table.columns])
    sources = {"genes": np.flatnonzero(is_gene), "clinical": np.flatnonzero(~is_gene)} if genes else {}
    y = np.array([(bool(e), max(float(t), 1e-3)) for e, t in y], dtype=[("event", "?"), ("time", "<f8")])
    return table.to_numpy(float), sources, y


def split_of(y, number, folds):
    from sklearn.model_selection import RepeatedStratifiedKFold

    splitter = RepeatedStratifiedKFold(n_splits=folds, n_repeats=number // folds + 1, random_state=0)
    return list(splitter.split(y, y["event"]))[number]


def measure(cell):
    """The row of one cell: the method fitted on the training fold and scored on the other."""
    from sklearn.impute import SimpleImputer
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sksurv.metrics import concordance_index_censored, integrated_brier_score

    warnings.simplefilter("ignore")
    X, sources, y = load(cell["set"])
    train, test = split_of(y, cell["split"], cell["folds"])
    scaler = make_pipeline(SimpleImputer(strategy="median"), StandardScaler())
    A, B = scaler.fit_transform(X[train]), scaler.transform(X[test])
    machine = cell["method"] == "kernel SVM"
    begin = time.perf_counter()
    used = np.random.default_rng(cell["split"]).permutation(len(train))[:MACHINE_ROWS] if machine else slice(None)
    model = estimator(cell["method"], sources).fit(A[used], y[train][used])
    seconds = time.perf_counter() - begin
    row = cell | {"seconds": seconds, "n": len(y), "events": int(y["event"].sum()), "columns": X.shape[1]}
    risk = model.predict(B)
    row["concordance"] = float(concordance_index_censored(y["event"][test], y["time"][test], risk)[0])
    if cell["method"] in ("kernel SVM", "MKLSurvival ranking"):  # no survival functions
        return row | {"brier": None}
    low, high = np.quantile(y["time"][test], [0.1, 0.8])
    known = y["time"][test] <= y["time"][train].max()
    times = np.linspace(low, min(high, 0.999 * y["time"][train].max()), 50)
    best = model.best_estimator_ if cell["method"].startswith("Cox") else model
    functions = best.predict_survival_function(B[known])
    table = np.array([[float(f(max(t, f.x[0]))) for t in times] for f in functions])
    return row | {"brier": float(integrated_brier_score(y[train], y[test][known], table, times))}


def estimator(method, sources):
    from sklearn.model_selection import GridSearchCV

    if method.startswith("MKLSurvival"):
        from manykernels import MKLSurvival
        from manykernels.kernels import RBF, Linear

        kernels = "auto" if not sources else [
            (f"{source} {name}", kernel, columns.tolist())
            for source, columns in sources.items()
            for name, kernel in (("linear", Linear()), ("rbf", RBF("median")), ("wide", RBF("scale")))
        ]  # fmt: skip
        own = method.removeprefix("MKLSurvival").strip()
        options = {"": {}, "p=1": {"regularizer": 1}}.get(own, {"loss": own})
        return MKLSurvival(kernels, n_jobs=1, **options)
    from sksurv.ensemble import GradientBoostingSurvivalAnalysis, RandomSurvivalForest
    from sksurv.linear_model import CoxnetSurvivalAnalysis, CoxPHSurvivalAnalysis
    from sksurv.svm import FastKernelSurvivalSVM

    if method == "Cox ridge":
        return GridSearchCV(CoxPHSurvivalAnalysis(ties="efron"), {"alpha": np.logspace(-1, 3, 9)}, cv=5)
    if method == "Cox lasso":
        grid = {"alphas": [[alpha] for alpha in np.logspace(-3, -0.3, 12)]}
        return GridSearchCV(CoxnetSurvivalAnalysis(l1_ratio=1.0, fit_baseline_model=True), grid, cv=5)
    if method == "forest":
        return RandomSurvivalForest(200, min_samples_leaf=5, random_state=0, n_jobs=1)
    if method == "boosting":
        return GradientBoostingSurvivalAnalysis(n_estimators=200, random_state=0)
    machine = FastKernelSurvivalSVM(kernel="rbf", rank_ratio=1.0, random_state=0)
    return GridSearchCV(machine, {"alpha": np.logspace(-3, -1, 3)}, cv=3)
