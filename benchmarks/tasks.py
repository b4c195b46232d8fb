"""What `benchmarks.run tables` measures: classification, regression and one-class, each with tables, folds and scores.

A task has `names` of tables in two halves, `choosing` and `reporting`; `rows`, the most of a table; `scores`, {key:
(title, form, 1 if greater is better, else −1)}, the first of which ranks the methods; `load`, `folds` and `score`.
"""

from pathlib import Path

import numpy as np

from .datasets import keel, r_tables

FOLDS = 5


class Classification:
    """Five stratified folds of the KEEL tables, and of views, mv_*.npz; the null model is the commonest class."""

    choosing, reporting, rows = keel.CHOOSING, keel.REPORTING, 2000
    scores = {
        "accuracy": ("accuracy %", lambda x: f"{100 * x:.2f}", 1),
        "auc": ("area", "{:.4f}".format, 1),
        "log_loss": ("log loss", "{:.3f}".format, -1),
    }
    long = "MKLClassifierCV()", "SVC grid"  # begin first

    def views(self, data):
        return tuple(sorted(path.stem for path in Path(data or ".").glob("mv_*.npz")))

    def load(self, table, data, method, n):
        """(X, y) of a table, or of views, which are one frame for all but ours."""
        if not table.startswith("mv_"):
            return keel.load_keel(table, data, n)
        import pandas as pd

        from manykernels import Views

        with np.load(Path(data) / f"{table}.npz") as file:
            y, views = file["y"].astype(int), {name: file[name].astype(float) for name in file.files if name != "y"}
        y = np.unique(y, return_inverse=True)[1]
        if method.startswith("MKL"):
            return Views(views), y
        return pd.DataFrame({f"{name} {k}": column for name, x in views.items() for k, column in enumerate(x.T)}), y

    def folds(self, y):
        from sklearn.model_selection import StratifiedKFold

        return StratifiedKFold(FOLDS, shuffle=True, random_state=0).split(y, y)

    def null(self, y, train):
        return {"accuracy": float(np.mean(y == np.bincount(train).argmax())), "auc": 0.5, "log_loss": None}

    def score(self, model, X, y, train):
        """Accuracy; area under the ROC curve, one against the rest, by probabilities or decisions; log loss."""
        from sklearn.metrics import log_loss, roc_auc_score

        found = {"accuracy": float(np.mean(np.ravel(model.predict(X)) == y)), "log_loss": None}  # CatBoost gives (n, 1)
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


class Regression:
    """Five folds of R's tables: R², and the mean absolute error relative to that of the median."""

    choosing, reporting, rows = r_tables.CHOOSING, r_tables.REPORTING, 1000
    scores = {"r2": ("R²", "{:.4f}".format, 1), "error": ("relative error", "{:.4f}".format, -1)}
    long = "MKLRegressorCV()", "SVR grid", "Gaussian process"

    def views(self, data):
        return ()

    def load(self, table, data, method, n):
        return r_tables.load_r(table, data, n)

    def folds(self, y):
        from sklearn.model_selection import KFold

        return KFold(FOLDS, shuffle=True, random_state=0).split(y)

    def null(self, y, train):
        return {"r2": 0.0, "error": 1.0}

    def score(self, model, X, y, train):
        from sklearn.metrics import r2_score

        found = model.predict(X)
        error = np.abs(y - found).mean() / np.abs(y - np.median(train)).mean()
        return {"r2": float(r2_score(y, found)), "error": float(error)}


class OneClass(Classification):
    """Learned from half of the rows of the commonest class, five times; the other half is told from other classes."""

    scores = {"auc": ("area", "{:.4f}".format, 1)}
    long = ("MKLOneClass()",)

    def views(self, data):
        return ()

    def load(self, table, data, method, n):
        X, y = keel.load_keel(table, data, n)
        return X, (y == np.bincount(y).argmax()).astype(int)

    def folds(self, y):
        rng, inside = np.random.default_rng(0), np.flatnonzero(y)
        for _ in range(FOLDS):
            train = np.sort(rng.permutation(inside)[: len(inside) // 2])
            yield train, np.setdiff1d(np.arange(len(y)), train)

    def null(self, y, train):
        return {"auc": 0.5}

    def score(self, model, X, y, train):
        from sklearn.metrics import roc_auc_score

        return {"auc": float(roc_auc_score(y, model.decision_function(X)))}


TASKS = {"classification": Classification(), "regression": Regression(), "one-class": OneClass()}
