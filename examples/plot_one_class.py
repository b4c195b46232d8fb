"""
Novelties: one class and several widths
=======================================

Two dense clusters and a sparse one. No single width of an RBF kernel suits all three; a mixture need not choose. The
line is where `MKLOneClass` puts the border of what it has seen.
"""

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLOneClass
from manykernels.kernels import RBF

rng = np.random.default_rng(0)
X = np.vstack([
    rng.normal([-2, 0], 0.15, (120, 2)), rng.normal([2, 1.2], 0.15, (120, 2)), rng.normal([0.5, -1.8], 0.7, (120, 2)),
])  # fmt: skip
gammas = (0.3, 3.0, 30.0)
models = {f"gamma = {g:g}": MKLOneClass([RBF(gamma=g)], nu=0.05).fit(X) for g in gammas}
models["all three, learned"] = MKLOneClass([RBF(gamma=g) for g in gammas], nu=0.05, regularizer=2).fit(X)
learned = models["all three, learned"]
print("shares", (learned.kernel_weights_ / learned.kernel_weights_.sum()).round(2), f"gap {learned.duality_gap_:.0e}")

# %%
# Five in a hundred examples may lie outside.

x, y = np.meshgrid(np.linspace(-3.5, 3.5, 140), np.linspace(-4, 2.5, 140))
figure, axes = plt.subplots(1, 4, figsize=(12, 3.3), layout="constrained", sharex=True, sharey=True)
for ax, (name, model) in zip(axes, models.items(), strict=True):
    values = model.decision_function(np.column_stack([x.ravel(), y.ravel()])).reshape(x.shape)
    ax.contourf(x, y, values, levels=[0, values.max()], colors=["#56B4E9"], alpha=0.35)
    ax.contour(x, y, values, levels=[0], colors="#0072B2", linewidths=1.5)
    outside = model.predict(X) < 0
    ax.plot(*X[~outside].T, ".", color="0.3", ms=3)
    ax.plot(*X[outside].T, "x", color="#D55E00", ms=5)
    ax.set_title(f"{name}: {outside.mean():.0%} outside", fontsize="medium")
    ax.set_aspect("equal")
