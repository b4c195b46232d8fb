"""
Sparse against dense mixing, along p
====================================

Thirty columns, a kernel each. In one set two columns know the answer and the others nothing; in the other all of them
know a little. Which p is best depends on that, and it cannot be seen in the columns beforehand.
"""

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLClassifier
from manykernels.kernels import RBF, per_column

ps = [1, 1.1, 4 / 3, 2, 4, np.inf]
kernels = per_column(RBF(gamma=0.5), 30)


def make(informative, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30))
    y = X[:, :informative].sum(axis=1) / np.sqrt(informative) + 0.5 * rng.normal(size=n) > 0
    return X, y.astype(int)


figure, (left, right) = plt.subplots(1, 2, figsize=(9, 3.6), layout="constrained")
for informative, colour in ((2, "#0072B2"), (30, "#D55E00")):
    X_new, y_new = make(informative, 600, 99)
    paths = [MKLClassifier(kernels).path(*make(informative, 160, seed), Cs=[0.1, 0.5, 3], regularizer=ps,
                                         test=(X_new, y_new)) for seed in range(3)]  # fmt: skip
    scores = [path.score.max(axis=1) for path in paths]
    label = f"{informative} of 30 columns know something"
    left.plot(range(len(ps)), np.mean(scores, axis=0), "o-", color=colour, label=label)
    left.plot(range(len(ps)), np.transpose(scores), color=colour, alpha=0.3, lw=0.8)
    shares = np.sort(paths[0].weights[0, paths[0].score[0].argmax()])[::-1]
    right.plot(range(1, 31), shares / shares.sum(), "o-", ms=3, color=colour, label=label)

# %%
# Left: accuracy on 600 new examples at the best of three C for each p; three training sets of 160, and their mean.
# Right: the shares of the kernels at p = 1, largest first.

left.set_xticks(range(len(ps)), ["1", "1.1", "4/3", "2", "4", "∞"])
left.set(xlabel="p", ylabel="accuracy on new examples")
left.legend(frameon=False, fontsize="small")
right.set(xlabel="kernel, by its weight", ylabel="share of the weight at p = 1")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
