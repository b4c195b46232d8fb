"""The pictures of docs/pictures.md, on data that come with scikit-learn: `python docs/images/pictures.py`."""

from pathlib import Path

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
from sklearn.calibration import CalibratedClassifierCV
from sklearn.datasets import load_breast_cancer, load_wine
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import StandardScaler, scale

from manykernels import MKLClassifier, inspect
from manykernels.kernels import RBF, Linear

HERE = Path(__file__).parent


def keep(shown, name):
    shown.figure_.savefig(HERE / f"picture_{name}.png", dpi=72)


X, y = load_breast_cancer(return_X_y=True)
X = np.hstack([scale(X), np.random.default_rng(0).normal(size=(len(X), 200))])
sources = {"mean": slice(0, 10), "error": slice(10, 20), "worst": slice(20, 30), "noise": slice(30, None)}
widths = np.geomspace(0.001, 1, 7)
kernels = [(f"{name} {g:.2g}", RBF(gamma=g), part) for name, part in sources.items() for g in widths]
A, B, a, b = train_test_split(X, y, random_state=0)
clf = MKLClassifier(kernels, regularizer=1.2, slack=True, C=1.0).fit(A, a)
groups = {name: [kernel[0] for kernel in kernels if kernel[0].startswith(name)] for name in sources}
found = inspect.relevance(clf, X, y, sources=groups, kernels=False)

keep(inspect.WeightsDisplay.from_estimator(clf, by="source", sources=groups, relevance=found), "relevance")
keep(inspect.WeightsDisplay.from_estimator(clf, top=10), "weights")
keep(inspect.WeightsAlongDisplay.from_estimator(clf, "gamma"), "along")
keep(inspect.AlignmentDisplay.from_estimator(clf, A, a), "alignment")
keep(inspect.StabilityDisplay.from_estimator(clf, A, a, n_boot=20, top=12), "stability")
keep(inspect.DecisionDisplay.from_estimator(clf, B, by="source", sources=groups), "decision")

names = load_breast_cancer().feature_names
tumours = [
    (part, StandardScaler(), RBF(), [name for name in names if part in name]) for part in ("mean", "error", "worst")
]
A, B, a, b = train_test_split(load_breast_cancer(as_frame=True).data, y, random_state=0)
shares = inspect.feature_shares(MKLClassifier(tumours, C=1.0).fit(A, a), B, background=A[:20])
figure, axes = plt.subplots(1, 2, figsize=(13, 4), layout="constrained")
shares.plot("beeswarm", top=10, ax=axes[0])
shares.plot("waterfall", i=3, top=10, ax=axes[1])
figure.savefig(HERE / "picture_shares.png", dpi=72)
A, B, a, b = train_test_split(X, y, random_state=0)

shown = inspect.ReliabilityDisplay.from_estimator(
    MKLClassifier(kernels, loss="logistic", C=1.0).fit(A, a), B, b, name="logistic"
)
hinge = CalibratedClassifierCV(MKLClassifier(kernels, C=1.0), ensemble=False).fit(A, a)
keep(inspect.ReliabilityDisplay.from_estimator(hinge, B, b, name="hinge, calibrated", ax=shown.ax_), "reliability")

X, y = load_wine(return_X_y=True)
columns = load_wine().feature_names
kernels = [(name, RBF(gamma=0.5), [k]) for k, name in enumerate(columns)] + [("all", Linear(), slice(None))]
wine = MKLClassifier(kernels, regularizer=1, C=10).fit(scale(X), y)
keep(inspect.WeightsDisplay.from_estimator(wine), "classes")
path = MKLClassifier(kernels, C=1.0).path(scale(X), y, Cs=8, regularizer=[1, 1.2, 2, np.inf])
keep(inspect.PathDisplay.from_path(path, at=0), "path")
keep(inspect.PathDisplay.from_path(path, against="p"), "norms")
ax = None
for solver in ("newton", "level", "silp"):
    model = MKLClassifier(kernels, solver=solver, regularizer=1, tol=1e-5, max_iter=500, C=1.0).fit(scale(X), y > 0)
    shown = inspect.ConvergenceDisplay.from_estimator(model, against="steps", name=solver, ax=ax)
    ax = shown.ax_
keep(shown, "convergence")
