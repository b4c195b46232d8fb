"""
One problem, several solvers, one gap
=====================================

Algorithms from five papers on the same problem, judged by the same duality gap: 30 RBF kernels of several widths and
rows, p = 1. They come to the same model; they differ in the steps that they need.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLClassifier
from manykernels.inspect import ConvergenceDisplay
from manykernels.kernels import RBF

X, y = load_digits(return_X_y=True)
X, y = X[:300] / 16, y[:300] % 2
pixel = np.arange(64).reshape(8, 8)
kernels = [(f"rows {r}-{r + 3}, gamma {g:g}", RBF(gamma=g), pixel[r : r + 4].ravel())
           for r in range(5) for g in np.logspace(-2, 1, 6)]  # fmt: skip

warnings.simplefilter("ignore", ConvergenceWarning)  # simplemkl needs more than 40 steps
figure, ax = plt.subplots(figsize=(7, 4.2), layout="constrained")
objectives = {}
for solver in ("newton", "level", "silp", "simplemkl"):
    model = MKLClassifier(kernels, regularizer=1, solver=solver, tol=1e-4, max_iter=40, C=1.0)
    model.fit(X, y)
    objectives[solver] = model.objective_
    ConvergenceDisplay.from_estimator(model, against="steps", name=solver, ax=ax)
print({name: round(value, 3) for name, value in objectives.items()})

# %%
# Each step of each is one support vector machine, warm-started, and one pass over the kernels.

ax.set_xscale("log")
ax.set_title("odd against even digits, 30 kernels")
