"""
Examples that lack a source
===========================

Three sources, and a growing share of examples that lack the two best of them. The fourth member of a kernel's
specification, ``"zero"``, keeps these examples: the kernel is silent about them, and the others decide. The
alternatives are to drop incomplete examples, or to put a mean in the place of what is missing.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.impute import SimpleImputer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier
from manykernels.kernels import RBF

sources = {"a": slice(0, 5), "b": slice(5, 10), "c": slice(10, 15)}
silent = [(name, StandardScaler(), RBF(), columns, "zero") for name, columns in sources.items()]
filled = [(name, make_pipeline(SimpleImputer(), StandardScaler()), RBF(), columns) for name, columns in sources.items()]
whole = [(name, StandardScaler(), RBF(), columns) for name, columns in sources.items()]
strength = np.repeat([0.7, 0.7, 0.35], 5)


def make(n, share, rng):
    y = rng.integers(0, 2, n)
    X = rng.normal(size=(n, 15)) + strength * y[:, None]
    for columns in (sources["a"], sources["b"]):
        X[rng.random(n) < share, columns] = np.nan
    return X, y


shares, methods = np.linspace(0, 0.9, 7), ("kept, silent kernel", "filled with means", "incomplete ones dropped")
scores = np.zeros((len(shares), 4, 3))
for i, share in enumerate(shares):
    for seed in range(4):
        rng = np.random.default_rng(seed)
        (X, y), (X_new, y_new) = make(150, share, rng), make(1000, share, rng)
        complete = ~np.isnan(X).any(axis=1)
        scores[i, seed, 0] = MKLClassifier(silent).fit(X, y).score(X_new, y_new)
        scores[i, seed, 1] = MKLClassifier(filled).fit(X, y).score(X_new, y_new)
        if len(set(y[complete])) == 2 and complete.sum() > 10:
            only = MKLClassifier(whole).fit(X[complete], y[complete])
            known = ~np.isnan(X_new).any(axis=1)  # of the others it can say nothing: the more frequent class
            guess = np.full(len(y_new), int(y.mean() > 0.5))
            guess[known] = only.predict(X_new[known])
            scores[i, seed, 2] = np.mean(guess == y_new)
        else:
            scores[i, seed, 2] = np.mean(y_new == int(y.mean() > 0.5))

# %%
# Accuracy on new examples with the same gaps, four draws each.

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
for k, (name, colour) in enumerate(zip(methods, ("#0072B2", "#E69F00", "#999999"), strict=True)):
    mean, low, high = scores[:, :, k].mean(axis=1), scores[:, :, k].min(axis=1), scores[:, :, k].max(axis=1)
    ax.plot(shares, mean, "o-", color=colour, label=name)
    ax.fill_between(shares, low, high, color=colour, alpha=0.15, lw=0)
ax.set(xlabel="share of examples without source a, and of those without b", ylabel="accuracy on new examples")
ax.legend(frameon=False)
ax.spines[["top", "right"]].set_visible(False)
