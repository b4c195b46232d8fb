"""What a model of splice sites has learned: the pictures of docs/sequences.md, in about a minute.

Generated acceptor sites and decoys, 141 letters with AG at 60; one kernel per position, words of up to 3 letters.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from rich import print
from scipy.stats import spearmanr
from sklearn.metrics import roc_auc_score

from manykernels import MKLClassifier, inspect, strings
from manykernels.datasets import make_splice, splice_information

SITE = 60  # of the A
X, y = make_splice(10_000, positives=0.3, random_state=0)
information = splice_information()
model = MKLClassifier(strings.position_kernels(141, 3), regularizer=4 / 3, C=0.03).fit(X, y)
X_new, y_new = make_splice(5_000, positives=0.3, random_state=1)
auc = roc_auc_score(y_new, model.decision_function(X_new))
print(f"relative gap {model.duality_gap_:.1e}, auROC on new sequences {auc:.3f}")

boot = inspect.bootstrap_weights(model, X, y, n_boot=20)
poims = [inspect.poim(model, k, background=X) for k in range(1, 7)]
around = np.r_[SITE - 30 : SITE, SITE + 2 : SITE + 10]  # of the signals; the AG itself tells nothing
for name, values in (("weights", inspect.position_weights(model).letters), ("POIM, k = 1", poims[0].importance)):
    all_, near = (spearmanr(values[at], information[at])[0] for at in (slice(None), around))
    print(f"{name}: rank correlation with the planted information {all_:.2f}, around the site {near:.2f}")
print(inspect.top_kmers_table(model, 4, n=12, background=X))

images = Path(__file__).parent


def save(ax, name, **limits):
    ax.set(xlabel=ax.get_xlabel() + " (the A of AG is 0)", **limits)
    ax.figure.savefig(images / f"{name}.png", dpi=110)
    plt.close(ax.figure)


save(inspect.plot_positions(model, boot, information, origin=SITE), "splice_positions")
save(inspect.plot_poim(poims, origin=SITE), "splice_poim", xlim=(-40.5, 20.5))
save(inspect.plot_poim(poims[1], origin=SITE), "splice_poim2", xlim=(-40.5, 20.5))
save(inspect.plot_logo(poims[0], origin=SITE, start=36, stop=66), "splice_logo")
