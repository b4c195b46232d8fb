"""Small random data of every form, with everything that has one entry per example."""

from dataclasses import dataclass, field

import numpy as np

SIDES = ("y", "sample_weight", "covariates", "groups", "task", "strata")
NEW = 12  # new examples


@dataclass
class World:
    """Training examples and new ones, each as the arguments of a call, and an estimator that is not fitted."""

    kind: str
    target: str  # "classes", "numbers", "times" or "one class"
    model: object
    train: dict
    new: dict
    fitted: dict = field(default_factory=dict)

    def fit(self):
        """The estimator fitted on the training data; only once."""
        if "model" not in self.fitted:
            given = {name: value for name, value in self.train.items() if name != "groups"}
            self.fitted["model"] = fit(self.model, given)
        return self.fitted["model"]


def fit(model, args):
    """A fitted clone of the model."""
    from sklearn.base import clone

    return clone(model).fit(**args)


def choose(value, rows, square=False):
    """Some rows of data of any form; of the columns too where they are `square` matrices."""
    from manykernels.pairs import Pairs

    if value is None:
        return None
    if isinstance(value, Pairs):
        return Pairs(value.index[rows], value.left, value.right)
    if isinstance(value, dict):
        return {name: choose(part, rows) for name, part in value.items()}
    if hasattr(value, "iloc"):
        return value.iloc[rows]
    if isinstance(value, list):
        return [value[i] for i in rows]
    return value[np.ix_(rows, rows)] if square else value[rows]


def index_of(rng, kind, n, start):
    """The index of n rows: numbered, texts, other numbers or dates."""
    import pandas as pd

    if kind == "texts":
        return pd.Index([f"p{i}" for i in range(start, start + n)])
    if kind == "numbers":
        return pd.Index(1000 + start + rng.permutation(n))
    if kind == "dates":
        return pd.date_range("2020-01-01", periods=n) + pd.Timedelta(days=start)
    return pd.RangeIndex(n)


def tables(rng, n, kind):
    """(X, kernels, signal) of a kind of data, n examples."""
    import pandas as pd

    from manykernels.kernels import RBF, Linear, multi_task
    from manykernels.pairs import Pairs, Pairwise
    from manykernels.strings import Spectrum, WeightedDegree

    whole = rng.integers(0, 10, size=(n, 4)).astype(float)  # every dtype holds it
    signal = whole[:, 0] + 0.5 * whole[:, 1]
    if kind == "frame":
        X = pd.DataFrame(whole, columns=["age", "glucose", "dose", "size"])
        return X, [("ab", RBF(gamma=0.02), ["age", "glucose"]), ("line", Linear(), ["dose", "size"])], signal
    if kind == "auto":
        X = pd.DataFrame(whole / 8, columns=["age", "glucose", "dose", "size"])
        X["sex"] = rng.choice(["f", "m"], n)
        return X, "auto", signal
    if kind == "array":
        return whole, [RBF(gamma=0.02), Linear(), ("first", RBF(gamma=0.1), [0, 1])], signal
    if kind == "tasks":
        return whole, multi_task([RBF(gamma=0.02)]), signal
    if kind == "views":
        X = {"rna": whole[:, :2], "clinic": pd.DataFrame(whole[:, 2:], columns=["dose", "size"])}
        return X, [("rna", RBF(gamma=0.05), "rna"), ("clinic", RBF(gamma=0.05), "clinic")], signal
    if kind == "sequences":
        X = ["".join(rng.choice(list("ACGT"), 24, p=[0.1 + 0.05 * (s % 5), 0.3, 0.3, 0.3 - 0.05 * (s % 5)]))
             for s in signal.astype(int)]  # fmt: skip
        return X, [("words", Spectrum(3)), ("sites", WeightedDegree(2))], np.array([x.count("A") for x in X], float)
    if kind == "pairs":
        left, right = rng.normal(size=(8, 3)), rng.normal(size=(9, 2))
        index = np.column_stack([rng.integers(8, size=n), rng.integers(9, size=n)])
        signal = left[index[:, 0], 0] + right[index[:, 1], 0]
        return Pairs(index, left, right), Pairwise([RBF(gamma=0.3)], [RBF(gamma=0.3)], "kronecker"), signal
    raise ValueError(kind)


KINDS = ("frame", "frame", "array", "array", "auto", "views", "sequences", "stack", "tasks", "pairs")
TARGETS = ("classes", "numbers", "times", "one class")


def targets(rng, target, signal):
    """The targets (n,) that depend on the signal."""
    s = (signal - signal.mean()) / (signal.std() + 1e-9) + 0.4 * rng.normal(size=len(signal))
    if target == "classes":
        many = int(rng.integers(2, 4))
        codes = np.argsort(np.argsort(s)) * many // len(s)
        return codes if rng.random() < 0.5 else np.array(["ill", "well", "dead"])[codes]
    if target == "numbers":
        return np.round(4 * s)
    from manykernels import survival_targets

    return survival_targets(rng.random(len(s)) < 0.7, np.ceil(50 * np.exp(-0.5 * s)))


def estimator(rng, target, kernels):
    """An estimator of the kernels, nearly always with C = 1, and exact enough for comparisons."""
    import manykernels as mk

    options = {"tol": 1e-7, "regularizer": [2, 4 / 3, np.inf][rng.integers(3)]}
    if target == "one class":
        return mk.MKLOneClass(kernels, nu=0.4, **options)
    C = "auto" if rng.random() < 0.03 else 1.0
    if target == "classes":
        return mk.MKLClassifier(kernels, C=C, loss=str(rng.choice(["hinge", "logistic", "squared"])), **options)
    if target == "numbers":
        return mk.MKLRegressor(kernels, C=C, loss=str(rng.choice(["squared", "epsilon_insensitive"])), **options)
    return mk.MKLSurvival(kernels, C=C, **options)


def make(rng, kind, target):
    """A world; `groups` are for folds only, strata for times only."""
    n = int(rng.integers(32, 48))
    total = n + NEW
    if kind == "stack":
        points, kernels, signal = rng.normal(size=(total, 3)), "precomputed", None
        signal = points[:, 0] + points[:, 1]
        near = np.exp(-0.3 * ((points[:, None] - points[None]) ** 2).sum(axis=2))
        X = np.stack([near, points @ points.T], axis=2)
    else:
        X, kernels, signal = tables(rng, total, kind)
    framed = kind in ("frame", "auto", "views") or kind == "tasks" and bool(rng.random() < 0.5)
    index = str(rng.choice(["range", "range", "texts", "numbers", "dates"])) if framed else "none"
    sides = {"sample_weight": rng.integers(1, 5, total).astype(float), "groups": rng.integers(0, 4, total)}
    if target != "one class":
        sides["y"] = targets(rng, target, signal)
        sides["covariates"] = covariates(rng, total)
    if kind == "tasks":
        sides["task"] = np.array(["a", "b"])[rng.permutation(total) % 2]
    if target == "times" and kind != "tasks" and rng.random() < 0.6:
        sides["strata"] = np.array(["north", "south"])[rng.permutation(total) % 2]
    drop = [name for name in ("sample_weight", "covariates") if rng.random() < 0.3]
    drop += ["covariates"] if kind == "pairs" else []  # not every regularizer takes them
    parts = []
    for rows, first in ((np.arange(n), 0), (np.arange(n, total), n)):
        args = {name: choose(value, rows) for name, value in sides.items()}
        args["X"] = X[np.ix_(rows, np.arange(n))] if kind == "stack" else choose(X, rows)
        if framed:
            own = index_of(rng, index, len(rows), first)
            args = {name: labelled(value, own, name) for name, value in args.items()}
        parts.append({name: value for name, value in args.items() if name not in drop})
    name = f"{kind} {index} {target}" if framed else f"{kind} {target}"
    return World(name, target, estimator(rng, target, kernels), *parts)


def covariates(rng, n):
    """Two columns as a frame, a dict or a single column."""
    import pandas as pd

    frame = pd.DataFrame({"years": np.round(rng.normal(50, 9, n)), "smoker": rng.integers(0, 2, n)})
    form = rng.integers(3)
    return frame if form == 0 else {name: frame[name] for name in frame} if form == 1 else frame["years"]


def labelled(value, index, name=""):
    """The same value with these labels of rows, as pandas has them; times as a frame."""
    import pandas as pd

    if isinstance(value, dict):
        return {key: labelled(part, index) for key, part in value.items()}
    if isinstance(value, pd.DataFrame | pd.Series):
        return value.set_axis(index, axis=0)
    if isinstance(value, np.ndarray) and value.dtype.names:
        return pd.DataFrame({field: value[field] for field in value.dtype.names}, index=index)
    if isinstance(value, np.ndarray) and value.ndim == 2:
        return pd.DataFrame(value, index=index, columns=[f"c{j}" for j in range(value.shape[1])])
    return pd.Series(value, index=index, name=name or None)
