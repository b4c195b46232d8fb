"""
String kernels find a planted motif
===================================

Random DNA of 60 letters; the positives carry TATAAT, with one letter in five changed, 24 letters from the start. One
kernel a position, words of up to three letters: the weights say where the signal is, the importance of single letters
what it says.
"""

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLClassifier
from manykernels.inspect import plot_logo, plot_positions, poim
from manykernels.strings import position_kernels

rng = np.random.default_rng(0)
letters, motif, start = np.array(list("ACGT")), np.array(list("TATAAT")), 24
X, y = rng.choice(letters, size=(1200, 60)), np.arange(1200) % 2
for row in np.flatnonzero(y):
    kept = rng.random(6) < 0.8
    X[row, start : start + 6][kept] = motif[kept]
X = ["".join(row) for row in X]

model = MKLClassifier(position_kernels(60, 3), regularizer=4 / 3, C=0.1).fit(X[:800], y[:800])
print(f"accuracy on new sequences {model.score(X[800:], y[800:]):.1%}, gap {model.duality_gap_:.1e}")

# %%
# Letters above the line speak for a positive. The motif is read off.

figure, (above, below) = plt.subplots(2, 1, figsize=(8, 5), layout="constrained")
plot_positions(model, ax=above)
above.axvspan(start - 0.5, start + 5.5, color="0.9", zorder=0)
above.set_title("share of the weight by position (grey: where the motif was planted)", fontsize="medium")
plot_logo(poim(model, 1, background=X), ax=below, start=18, stop=36)
below.set_xticks(range(18, 36, 2))
below.set_title("how much each letter moves the decision", fontsize="medium")
