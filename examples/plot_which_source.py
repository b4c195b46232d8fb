"""
Which source matters: weights beside relevance
==============================================

Four sources describe the cells of a biopsy: the means of ten measurements, their errors, their worst values, and 200
columns of pure noise. The weights say what the predictor uses to fit. Relevance says what each source is worth on
examples that it was not fitted to.
"""

import warnings

import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier
from manykernels.inspect import WeightsDisplay, relevance
from manykernels.kernels import RBF

warnings.filterwarnings("ignore", message=".*nearly diagonal")  # the warning that this example is about

X, y = load_breast_cancer(return_X_y=True)
X = np.hstack([X, np.random.default_rng(0).normal(size=(len(X), 200))])[::2]
y = y[::2]
kernels = [
    ("means", StandardScaler(), RBF(), slice(0, 10)),
    ("errors", StandardScaler(), RBF(), slice(10, 20)),
    ("worst", StandardScaler(), RBF(), slice(20, 30)),
    ("noise", StandardScaler(), RBF(), slice(30, 230)),
]
clf = MKLClassifier(kernels, C=10, regularizer=1.5).fit(X, y)
found = relevance(clf, X, y, cv=5, scoring="roc_auc")
print(found)

# %%
# The noise has weight, since a kernel to which every example is like itself alone fits training examples one by one.
# It has the largest share, and its relevance is not above 0. Means, errors and worst values describe the same cells:
# without one of them little is lost, and those that stand in for each other are named.

WeightsDisplay.from_estimator(clf, relevance=found)
