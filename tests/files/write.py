"""Writes the files of this folder, which every later release must read: `python tests/files/write.py`.

They stay as the release that made them left them: only those that are missing are written. A later release that writes
another format adds a folder, with the files that it writes, and leaves these alone. Inputs and wanted answers stand in
`wanted.json`.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.decomposition import PCA
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.impute import SimpleImputer
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

import manykernels
from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.kernels import (
    RBF,
    Categorical,
    Constant,
    Features,
    Laplacian,
    Linear,
    On,
    Polynomial,
    RandomFeatures,
    multi_task,
)
from manykernels.losses import Hinge
from manykernels.pairs import Pairs, Pairwise
from manykernels.problem import Problem
from manykernels.regularizers import ElasticNet, LpNorm
from manykernels.solvers import checkpoint_file, solve
from manykernels.strings import Mismatch, Spectrum, WeightedDegreeShift, degree_kernels

HERE = Path(__file__).parent
rng = np.random.RandomState(0)  # its stream is the same for ever
X = np.round(rng.normal(size=(24, 4)), 3)
Y = np.where(X[:, 0] + X[:, 1] ** 2 > 0.5, "yes", "no")
S = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(24)]
LABELS = np.array([s.count("A") > 2 for s in S]).astype(int)
K = np.stack([X @ X.T, np.exp(-0.3 * ((X[:, None] - X) ** 2).sum(axis=2))], axis=2)
FIT, NEW = slice(0, 18), slice(18, 24)
RBFS = [("narrow", RBF(gamma=1.0)), ("wide", RBF(gamma=0.1), [0, 1]), ("line", Linear() + Constant(1.0))]
VIEWS = [
    ("s", Spectrum(2), "letters"),
    ("x", Polynomial(degree=2), ("numbers", [0, 2])),
    ("l", Laplacian(0.5), "numbers"),
]
LETTERS = np.array([["abc"[i % 3], "xy"[i * i % 7 % 2]] for i in range(24)], dtype=object)
TEXTS = [" ".join(np.array(["one", "two", "red", "fox"])[[i % 4, i % 3, i % 2]]) for i in range(24)]
GRID = Pairs.grid(X[:6], X[6:10, :2])
TRANSFORMED = [
    ("scaled", make_pipeline(StandardScaler(), PCA(2)), RBF(gamma=0.3)),
    ("filled", SimpleImputer(), RBF(gamma=1.0), [0, 2]),
    Features(RBFSampler(n_components=5, random_state=0)),
    Features(Nystroem(n_components=3, random_state=0)),
]
LOW_RANK = [
    RandomFeatures(RBF(gamma=0.3), 8),
    ("l1", RandomFeatures(Laplacian(0.3), 6, random_state=1), [0, 2]),
    manykernels.kernels.Nystroem(Polynomial(degree=2), 5),
]
ACROSS = [
    On("x", RBF(gamma=0.5)) * On("t", Features(TfidfVectorizer())),
    On("x", Linear()) + On("s", Spectrum(2)) * On("l", Categorical()),
]

MODELS = {  # name: model, data, targets, further arguments
    "classifier": (MKLClassifier(RBFS, regularizer=ElasticNet(0.5), loss=Hinge()), X, Y),
    "regressor": (MKLRegressor(RBFS, regularizer=1.5, loss="epsilon_insensitive"), X, X[:, 0] * X[:, 1]),
    "one_class": (MKLOneClass(RBFS[:2], normalize="spherical", formulation="svdd"), X, None),
    "one_vs_rest": (MKLClassifier(RBFS), X, np.arange(24) % 3),
    "tasks": (MKLClassifier(multi_task([RBF(gamma=0.5)])), X, Y),
    "views": (MKLClassifier(VIEWS), {"letters": S, "numbers": X}, LABELS),
    "precomputed": (MKLClassifier("precomputed"), K, Y),
    "features": (MKLClassifier([Linear(), ("two", Linear(), [0, 2])], solver="coordinate"), X, Y),
    "sequences": (MKLClassifier(degree_kernels(3)), S, LABELS),
    "positions": (MKLClassifier([*degree_kernels(3), Spectrum(2)], solver="coordinate"), S, LABELS),
    "words": (MKLClassifier([Spectrum(3), Mismatch(3, 1)], solver="coordinate"), S, LABELS),
    "trie": (MKLClassifier([WeightedDegreeShift(3, 1)], solver="coordinate", features="trie"), S, LABELS),
    "transformed": (MKLClassifier(TRANSFORMED), X, Y),
    "categories": (MKLClassifier([Categorical(), ("b", OneHotEncoder(), RBF())]), LETTERS, Y),
    "across": (MKLClassifier(ACROSS), {"x": X, "t": TEXTS, "s": S, "l": LETTERS}, Y),
    "low_rank": (MKLClassifier(LOW_RANK, solver="coordinate"), X, Y),
    "pairs": (MKLClassifier(Pairwise([RBF(gamma=0.3), Linear()], [Linear()], ["kronecker", "sum"])), GRID, Y),
}


def cut(data, rows):
    if isinstance(data, dict):
        return {name: cut(view, rows) for name, view in data.items()}
    return data[rows]


def given(name, rows):
    """What `predict` takes of these examples."""
    data = MODELS[name][1]
    X = data[rows, :18] if name == "precomputed" else cut(data, rows)
    return {"X": X} | ({"task": np.arange(24)[rows] % 2} if name == "tasks" else {})


def problem():
    """That of the checkpoint."""
    bank = MKLClassifier("precomputed")._make_bank(K[FIT, FIT], None)
    return Problem(bank, np.where(Y[FIT] == "yes", 1.0, -1.0)[None], Hinge(), LpNorm(1.5), np.ones((1, 18)))


class Killed(BaseException):
    """Nothing catches it."""


def write_checkpoint(path):
    """A fit that was killed at its fourth step."""
    checkpoint_file.WRITE_INTERVAL, checkpoint_file.WRITE_PAUSE = 0.0, 0
    file, count = checkpoint_file.Checkpoint(path, {"fit": "of this folder"}, 1, 18), 0
    part = checkpoint_file.CheckpointSlot(file, 0)

    def kill(_):
        nonlocal count
        count += 1
        if count == 4:
            raise Killed

    try:
        solve(problem(), "analytic", tol=1e-9, checkpoint=part, callback=kill)
    except Killed:
        return
    raise SystemExit("the fit was done before it was killed")


def main():
    answers = HERE / "wanted.json"
    wanted = json.loads(answers.read_text()) if answers.exists() else {}
    for name, (model, _, target) in MODELS.items():
        if (HERE / f"{name}.mk").exists():
            continue
        target = None if target is None else target[FIT]
        model.fit(**(given(name, FIT) | {"y": target}))
        model.save(HERE / f"{name}.mk")
        decisions = model.predict if name == "regressor" else model.decision_function
        wanted[name] = {"decisions": decisions(**given(name, NEW)).tolist(), "weights": model.kernel_weights_.tolist(),
                        "predictions": model.predict(**given(name, NEW)).tolist()}  # fmt: skip
    if not (HERE / "fit.checkpoint").exists():
        write_checkpoint(HERE / "fit.checkpoint")
        wanted["checkpoint"] = solve(problem(), tol=1e-10).primal
    answers.write_text(json.dumps(wanted) + "\n")
    print(sum(path.stat().st_size for path in HERE.iterdir()), "bytes", file=sys.stderr)


if __name__ == "__main__":
    main()
