"""Sources of which it is known what they hold: informative ones, a copy, noise, noise in a nearly diagonal kernel."""

from typing import Any, NamedTuple

import numpy as np

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF

SIZES = (100,) * 20 + (200,) * 30 + (400,) * 38 + (1000,) * 10 + (2000,) * 2
WIDTHS = (5, 20, 100, 500)  # columns of noise
NORMS = (1, 4 / 3, 2)
COSTS = (0.1, 1, 10, 100)
INFORMATIVE, NOISE = ("first", "copy", "second"), ("noise", "more noise", "diagonal")


class Planted(NamedTuple):
    """Data and a model whose kernels are called as in `INFORMATIVE` and `NOISE`."""

    X: np.ndarray
    y: np.ndarray
    model: Any
    about: dict


def draw(seed, n=None):
    """The set of this number: sizes, widths, norms and costs go through all their values in turn.

    y is the sign of g(first) + h(second) + noise, in every fifth set that sum itself; g and h are linear or quadratic.
    """
    rng = np.random.default_rng(seed)
    n = SIZES[seed % len(SIZES)] if n is None else n
    wide, p, C = WIDTHS[seed % 4], NORMS[seed % 3], COSTS[(seed // 4) % 4]
    first, second = rng.normal(size=(2, n, 3))
    copy = first + 0.3 * rng.normal(size=first.shape)
    signal = sum(_effect(x, rng.random() < 0.25) for x in (first, second)) + 0.3 * rng.normal(size=n)
    noise = [rng.normal(size=(n, wide)), rng.normal(size=(n, int(rng.choice(WIDTHS)))), 30 * rng.normal(size=(n, 5))]
    blocks = dict(zip((*INFORMATIVE, *NOISE), (first, copy, second, *noise), strict=True))
    ends = np.cumsum([block.shape[1] for block in blocks.values()])
    kernels = [
        (name, RBF(gamma=1.0 if name == "diagonal" else "scale"), slice(int(end) - block.shape[1], int(end)))
        for (name, block), end in zip(blocks.items(), ends, strict=True)
    ]
    real = seed % 5 == 4
    loss = "epsilon_insensitive" if real else "hinge"
    model = (MKLRegressor if real else MKLClassifier)(kernels, loss=loss, regularizer=p, C=C, n_jobs=1)
    about = dict(seed=seed, n=n, columns=wide, p=p, C=C, task="regression" if real else "classification")
    return Planted(np.hstack(list(blocks.values())), signal if real else (signal > np.median(signal)) * 1, model, about)


def issue(seed=0, n=400):
    """Five columns that matter and 500 that do not, p = 1, C = 10."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 505))
    y = np.sign(X[:, :5].sum(axis=1) + 0.5 * rng.normal(size=n)).astype(int)
    kernels = [("signal", RBF(gamma="scale"), slice(0, 5)), ("noise", RBF(gamma="scale"), slice(5, 505))]
    return Planted(X, y, MKLClassifier(kernels, regularizer=1, C=10), {})


def _effect(x, quadratic):
    """A column of unit variance."""
    value = (x**2).sum(axis=1) / np.sqrt(6.0) if quadratic else x.sum(axis=1) / np.sqrt(3.0)
    return value - value.mean()
