"""
Empirical Bayes: a curve with its uncertainty
=============================================

A trend, a season and a short wiggle make up a series; the kernels are a linear one, a periodic one of scikit-learn
and two RBF kernels. Their weights and the noise are those of the largest marginal likelihood: no C, no
cross-validation. The model knows how far it can be trusted between and beyond the observations.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.gaussian_process.kernels import ExpSineSquared

from manykernels import MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import EmpiricalBayes

rng = np.random.default_rng(1)
t = np.sort(np.r_[rng.uniform(0, 4, 60), rng.uniform(5.5, 8, 40)])[:, None]
truth = lambda t: 0.3 * t[:, 0] + np.sin(2 * np.pi * t[:, 0])  # noqa: E731
y = truth(t) + 0.25 * rng.normal(size=len(t))
kernels = [
    ("trend", Linear()),
    ("season", ExpSineSquared(length_scale=1.0, periodicity=1.0)),
    ("slow", RBF(gamma=0.5)),
    ("fast", RBF(gamma=50.0)),
]
model = MKLRegressor(kernels, regularizer=EmpiricalBayes(noise="learn"), loss="squared").fit(t, y)
print(f"noise: learned {model.noise_**0.5:.2f}, true 0.25")

# %%
# The band is twice the standard deviation of a new observation. Between 4 and 5.5 and beyond 8 there are none: trend
# and season, which have all the weight, go on, and the band widens a little. An RBF kernel alone would fall back to
# the mean.

grid = np.linspace(0, 10, 500)[:, None]
mean, std = model.predict(grid, return_std=True)
spread = 2 * np.sqrt(std**2 + model.noise_)
figure, (above, below) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained", width_ratios=[3, 1])
above.fill_between(grid[:, 0], mean - spread, mean + spread, color="#56B4E9", alpha=0.35, lw=0, label="± 2 std")
above.plot(grid[:, 0], mean, color="#0072B2", label="learned")
above.plot(grid[:, 0], truth(grid), "--", color="0.4", lw=1, label="truth")
above.plot(t[:, 0], y, ".", color="k", ms=4)
above.legend(frameon=False, ncols=3, loc="upper left")
above.set(xlabel="t", ylabel="y")
shares = model.kernel_weights_ / model.kernel_weights_.sum()
below.barh(model.kernel_names_, shares, color="#0072B2")
below.invert_yaxis()
below.set_xlabel("share of the weight")
for ax in (above, below):
    ax.spines[["top", "right"]].set_visible(False)
