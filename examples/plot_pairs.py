"""
Pairs of objects: which drug binds which target
===============================================

The examples are pairs, and there are kernels for each side. All their products get a weight, and the score depends on
what was new in the test pairs: the pair, the drug, the target, or both. Generated affinities, which hang on the first
columns of either side.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import cross_val_score

from manykernels import MKLRegressor
from manykernels.kernels import RBF
from manykernels.pairs import Pairs, PairSplit, Pairwise

rng = np.random.default_rng(0)
drugs, targets = rng.normal(size=(30, 6)), rng.normal(size=(24, 6))
y = np.outer(np.sin(1.5 * drugs[:, 0]) + 0.5 * drugs[:, 1], targets[:, 0] + np.cos(targets[:, 1])).ravel()
y += 0.3 * rng.normal(size=len(y))
X = Pairs.grid(drugs, targets)
left = [("structure", RBF(gamma=0.3), [0, 1]), ("effects", RBF(gamma=0.2), [2, 3]), ("noise", RBF(gamma=0.5), [4, 5])]
right = [("sequence", RBF(gamma=0.3), [0, 1]), ("function", RBF(gamma=0.2), [2, 3]), ("noise", RBF(gamma=0.5), [4, 5])]
model = MKLRegressor(Pairwise(left, right), loss="squared", regularizer=1, C=3)
settings = {"pair": "new pair", "left": "new drug", "right": "new target", "both": "both new"}
scores = {name: cross_val_score(model, X, y, cv=PairSplit(setting, n_splits=3)) for setting, name in settings.items()}
model.fit(X, y)
print({name: f"{score.mean():.2f}" for name, score in scores.items()}, f"gap {model.duality_gap_:.0e}")

# %%
# Left: the weights of all products. Right: what can be predicted of pairs with new objects.

figure, (one, two) = plt.subplots(1, 2, figsize=(9, 3.8), layout="constrained")
shares = (model.kernel_weights_ / model.kernel_weights_.sum()).reshape(3, 3)
shown = one.imshow(shares, cmap="Blues", vmin=0, vmax=1)
for i, j in np.ndindex(3, 3):
    one.text(j, i, f"{shares[i, j]:.2f}", ha="center", va="center", color="white" if shares[i, j] > 0.5 else "0.2")
one.set_xticks(range(3), [name for name, *_ in right])
one.set_yticks(range(3), [name for name, *_ in left])
one.set(xlabel="kernel of targets", ylabel="kernel of drugs", title="share of the weight")
for k, score in enumerate(scores.values()):
    two.plot(np.full(len(score), k), score, "o", color="#0072B2", alpha=0.6)
two.set_xticks(range(4), list(scores))
two.set(ylabel="R² on the test pairs", ylim=(min(-0.05, min(map(np.min, scores.values())) - 0.05), 1.05))
two.axhline(0, color="0.8", lw=0.8)
two.spines[["top", "right"]].set_visible(False)
