"""Which parts of the image tell each digit from the others: the picture of the README.

One RBF kernel per 2 × 2 patch of the 8 × 8 digits, one-vs-rest, p = 1: `kernel_weights_` is (10 digits, 16 patches).
"""

from pathlib import Path

import numpy as np
from sklearn.datasets import load_digits

from manykernels import MKLClassifier
from manykernels.inspect import WeightsDisplay
from manykernels.kernels import RBF

X, y = load_digits(return_X_y=True)
X = X / 16
pixel = np.arange(64).reshape(8, 8)
patches = [pixel[r : r + 2, c : c + 2].ravel() for r in range(0, 8, 2) for c in range(0, 8, 2)]
kernels = [(f"rows {p[0] // 8}-{p[-1] // 8}, columns {p[0] % 8}-{p[-1] % 8}", RBF(gamma=1.0), p) for p in patches]
clf = MKLClassifier(kernels, regularizer=1).fit(X[:1000], y[:1000])
print(f"relative gap {clf.duality_gap_:.1e}, accuracy on the rest {clf.score(X[1000:], y[1000:]):.1%}")

means = np.array([X[y == digit].mean(axis=0).reshape(8, 8) for digit in range(10)])
shown = WeightsDisplay.from_estimator(clf, layout=(4, 4), images=means)
shown.figure_.savefig(Path(__file__).with_suffix(".png"), dpi=110)
