"""Balanced accuracy of class_weight="balanced" on ten imbalanced sets, beside an SVC and a forest.

    python -m benchmarks.imbalance [--jobs 16] [--seeds 3] [--rows 400]

Five made sets of different imbalance, and scikit-learn's own with thinned classes; five stratified folds, all models
with their defaults and class_weight="balanced". "unshifted" is ours without `intercept_shift_`. The last line counts
the sets on which ours is ahead of each by more than half a point, and behind.
"""

import argparse
import warnings

import numpy as np
from joblib import Parallel, delayed
from sklearn import datasets
from sklearn.ensemble import RandomForestClassifier
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from manykernels import MKLClassifier

from .report import show

MADE = ((0.03, 1.2), (0.05, 1.0), (0.08, 1.5), (0.1, 0.7), (0.2, 0.6))  # the share of the rare class, its distance
OTHERS = "SVC", "forest", "unshifted"


def data_sets(rows, seed):
    """[(name, X, y)] of ten sets."""
    rng = np.random.default_rng(seed)

    def thinned(name, load, rare, keep, label=lambda y: y, most=rows):
        X, y = load(return_X_y=True)
        some = rng.permutation(len(y))
        X, y = X[some], label(y[some])
        wanted = np.concatenate([np.flatnonzero(y == rare)[:keep], np.flatnonzero(y != rare)[:most]])
        return name, X[wanted], y[wanted]

    found = []
    for k, (share, apart) in enumerate(MADE):
        X, y = datasets.make_classification(
            rows, 20, n_informative=4 + k % 3, n_redundant=2, weights=[1 - share], class_sep=apart, flip_y=0.02,
            random_state=100 * seed + k,
        )  # fmt: skip
        found.append((f"made, {share:.0%}", X, y))
    found.append(thinned("tumours, 20 malignant", datasets.load_breast_cancer, 0, 20))
    found.append(thinned("digits, 20 threes", datasets.load_digits, 1, 20, lambda y: (y == 3).astype(int)))
    found.append(thinned("digits mod 3, 20 of one", datasets.load_digits, 1, 20, lambda y: y % 3))
    found.append(thinned("wine, 10 of one", datasets.load_wine, 1, 10))
    found.append(thinned("diabetes, 25 worst", datasets.load_diabetes, 1, 25, lambda y: (y > 250).astype(int)))
    return found


def scores(X, y, train, test):
    """{model: balanced accuracy} of one fold."""
    warnings.simplefilter("ignore")
    ours = MKLClassifier(class_weight="balanced").fit(X[train], y[train])
    decision = ours.decision_function(X[test]) - getattr(ours, "intercept_shift_", 0.0)
    plain = ours.classes_[decision.argmax(axis=1) if decision.ndim > 1 else (decision > 0).astype(int)]
    said = {"ours": ours.predict(X[test]), "unshifted": plain}
    forest = RandomForestClassifier(300, class_weight="balanced", random_state=0)
    for name, model in (("SVC", make_pipeline(StandardScaler(), SVC(class_weight="balanced"))), ("forest", forest)):
        said[name] = model.fit(X[train], y[train]).predict(X[test])
    return {name: balanced_accuracy_score(y[test], guess) for name, guess in said.items()}


def main(argv=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("jobs", 1), ("seeds", 1), ("rows", 400), ("sets", 10)):
        parser.add_argument(f"--{name}", type=int, default=default)
    asked = parser.parse_args(argv)
    work = [
        (name, X, y, train, test)
        for seed in range(asked.seeds)
        for name, X, y in data_sets(asked.rows, seed)[: asked.sets]
        for train, test in StratifiedKFold(5, shuffle=True, random_state=seed).split(X, y)
    ]
    found = Parallel(asked.jobs)(delayed(scores)(*one[1:]) for one in work)
    names = list(dict.fromkeys(name for name, *_ in work))
    means = {
        name: {key: np.mean([f[key] for f, w in zip(found, work, strict=True) if w[0] == name]) for key in found[0]}
        for name in names
    }
    mean = {key: np.mean([means[name][key] for name in names]) for key in found[0]}
    rows = [[name, *(f"{own[key]:.3f}" for key in ("ours", *OTHERS))] for name, own in [*means.items(), ("mean", mean)]]
    ahead = [
        " : ".join(str(sum(sign * (means[n]["ours"] - means[n][key]) > 0.005 for n in names)) for sign in (1, -1))
        for key in OTHERS
    ]
    columns = ["balanced accuracy", "ours", *OTHERS]
    show("class_weight='balanced'", columns, [*rows, ["ours ahead : behind", "", *ahead]])
    return means


if __name__ == "__main__":
    main()
