"""Which parts of the image tell each digit from the others: the picture of the README.

One RBF kernel per 2 × 2 patch of the 8 × 8 digits, one-vs-rest, p = 1: `kernel_weights_` is (10 digits, 16 patches).
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from manykernels import MKLClassifier
from manykernels.kernels import RBF

X, y = load_digits(return_X_y=True)
X = X / 16
pixel = np.arange(64).reshape(8, 8)
patches = [pixel[r : r + 2, c : c + 2].ravel() for r in range(0, 8, 2) for c in range(0, 8, 2)]
kernels = [(f"rows {p[0] // 8}-{p[-1] // 8}, columns {p[0] % 8}-{p[-1] % 8}", RBF(gamma=1.0), p) for p in patches]
clf = MKLClassifier(kernels, regularizer=1).fit(X[:1000], y[:1000])
print(f"relative gap {clf.duality_gap_:.1e}, accuracy on the rest {clf.score(X[1000:], y[1000:]):.1%}")

shares = clf.kernel_weights_ / clf.kernel_weights_.sum(axis=1, keepdims=True)
figure, axes = plt.subplots(2, 10, figsize=(11, 2.6), layout="constrained")
for digit in range(10):
    axes[0, digit].imshow(X[y == digit].mean(axis=0).reshape(8, 8), cmap="gray_r")
    image = axes[1, digit].imshow(shares[digit].reshape(4, 4), cmap="viridis", vmin=0, vmax=shares.max())
    axes[0, digit].set_title(str(digit))
for ax in axes.flat:
    ax.set_xticks([])
    ax.set_yticks([])
axes[0, 0].set_ylabel("mean image")
axes[1, 0].set_ylabel("weight")
figure.colorbar(image, ax=axes[1], label="share", aspect=10)
path = Path(__file__).parent.parent / "docs" / "images" / "digits_weights.png"
path.parent.mkdir(parents=True, exist_ok=True)
figure.savefig(path, dpi=110)
