"""Which kernels of drugs and of targets tell who binds whom, and how well for objects never seen: generated data."""

import numpy as np
from sklearn.model_selection import cross_val_score

from manykernels import MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.pairs import Pairs, PairSplit, Pairwise

rng = np.random.default_rng(0)
drugs, targets = rng.normal(size=(40, 6)), rng.normal(size=(25, 4))
y = np.outer(drugs[:, 0], targets[:, 1]).ravel() + 0.1 * rng.normal(size=1000)
X = Pairs.grid(drugs, targets)
kernels = Pairwise(
    [("right columns", Linear(), [0, 1]), ("noise", RBF(gamma=0.5), [3, 4, 5])],
    [("right columns", Linear(), [0, 1]), ("noise", RBF(gamma=0.5), [2, 3])],
)
model = MKLRegressor(kernels, loss="squared", regularizer=1)
for setting in ("pair", "left", "right", "both"):
    scores = cross_val_score(model, X, y, cv=PairSplit(setting, n_splits=3))
    print(f"new {setting:5}: R² = {scores.mean():.2f}")
model.fit(X, y)
for name, weight in zip(model.kernel_names_, model.kernel_weights_ / model.kernel_weights_.sum(), strict=True):
    print(f"{weight:.2f}  {name}")
