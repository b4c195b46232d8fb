"""Tables of all kinds, scaled to unit variance: what a solver meets when the data are not one it was tuned on."""

import gzip
from pathlib import Path

import numpy as np
from sklearn import datasets

from .mnist import load_mnist
from .synthetic import make_table


def _classes(**options):
    def load(n, data):
        return datasets.make_classification(n, random_state=0, **options)

    return load


def _digits(n, data):
    X, digit = datasets.load_digits(return_X_y=True)
    return X[:n], digit[:n] % 2


def _breast_cancer(n, data):
    """The 569 examples again and again, each time with noise of a tenth of the scale of each column."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    rng, pick = np.random.default_rng(0), np.arange(n) % len(X)
    return X[pick] + 0.1 * X.std(axis=0) * rng.standard_normal((n, X.shape[1])), y[pick]


def _moons(n, data):
    X, y = datasets.make_moons(n, noise=0.25, random_state=0)
    return np.hstack([X, np.random.default_rng(0).standard_normal((n, 8))]), y


def _forest(n, data):
    """Like covtype: ten skewed numbers, two groups of indicators, a label from a few thresholds."""
    rng = np.random.default_rng(0)
    numbers = np.hstack([rng.standard_normal((n, 5)), rng.exponential(size=(n, 5))])
    soil, area = rng.choice(40, n, p=rng.dirichlet(np.full(40, 0.5))), rng.integers(0, 4, n)
    score = (numbers[:, 0] > 0.3) + (numbers[:, 5] * numbers[:, 1] > 0.5) + 0.8 * np.sin(soil) + 0.4 * area
    score += 0.3 * rng.standard_normal(n)
    return np.hstack([numbers, np.eye(40)[soil], np.eye(4)[area]]), score > np.median(score)


def _friedman(n, data):
    X, target = datasets.make_friedman1(n, n_features=10, noise=1.0, random_state=0)
    return X, target > np.median(target)


def _chess(n, data):
    """A 4 × 4 board: no width but a narrow one sees it."""
    X = np.random.default_rng(0).uniform(0, 4, (n, 2))
    return X, np.floor(X).sum(axis=1) % 2


def _hastie(n, data):
    return datasets.make_hastie_10_2(n, random_state=0)


def _synthetic(n, data):
    return make_table(n)[:2]


def _mnist(n, data):
    return load_mnist(n, data)[:2]


def _mfeat(n, data):
    with np.load(Path(data) / "mv_mfeat_digits.npz") as arrays:
        y = arrays["y"].astype(int)
        X = np.hstack([arrays[name].reshape(len(y), -1) for name in arrays.files if name != "y"])
    pick = np.random.default_rng(0).permutation(len(y))[:n]
    return X[pick], y[pick] % 2


def _junctions(n, data):
    """One column a place and letter; junctions against none."""
    with gzip.open(Path(data) / "splice_uci_junctions.tsv.gz", "rt") as lines:
        head = next(lines).rstrip("\n").split("\t")
        rows = [dict(zip(head, line.rstrip("\n").split("\t"), strict=True)) for line in lines]
    sequence = max(head, key=lambda name: len(rows[0][name]))
    label = next(name for name in head if {row[name] for row in rows} == {"EI", "IE", "N"})
    rows = [rows[k] for k in np.random.default_rng(0).permutation(len(rows))[:n]]
    letters = np.array([list(row[sequence]) for row in rows])
    return np.hstack([letters == letter for letter in "ACGT"]).astype(float), [row[label] == "N" for row in rows]


TABLES = {
    "digits": _digits,
    "breast cancer": _breast_cancer,
    "classes, easy": _classes(n_features=10, n_informative=8, n_redundant=2, class_sep=2.0),
    "classes, noisy": _classes(n_features=20, n_informative=10, flip_y=0.2),
    "classes, wide": _classes(n_features=100, n_informative=10, n_redundant=20),
    "classes, clusters": _classes(n_features=12, n_informative=6, n_clusters_per_class=8, class_sep=1.5),
    "classes, rare": _classes(n_features=20, n_informative=5, weights=[0.95], flip_y=0.02),
    "moons": _moons,
    "forest": _forest,
    "friedman": _friedman,
    "chess": _chess,
    "hastie": _hastie,
    "quadratic": _synthetic,
}
REAL = {"mnist": ("mnist.npz", _mnist), "mfeat": ("mv_mfeat_digits.npz", _mfeat),
        "junctions": ("splice_uci_junctions.tsv.gz", _junctions)}  # fmt: skip


def table_names(data=None):
    """The generated tables and those that come with scikit-learn, then what is there under `data`."""
    return [*TABLES, *(name for name, (file, _) in REAL.items() if data and (Path(data) / file).exists())]


def load_table(name, n, data=None):
    """X (at most n, d) with columns of mean 0 and variance 1, y ±1."""
    X, y = (TABLES[name] if name in TABLES else REAL[name][1])(n, data)
    X, y = np.asarray(X, float)[:n], np.asarray(y, float)[:n]
    X = X[:, X.std(axis=0) > 0]
    return (X - X.mean(axis=0)) / X.std(axis=0), np.where(y > y.mean(), 1.0, -1.0)
