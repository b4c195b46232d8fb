"""
Texts and numbers of the same examples
======================================

Letters of complaint, each with an age and an amount. Words tell some of the urgent ones, numbers others. A kernel for
each, `Views` to hold them together, and the share of each source in every single decision.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler

from manykernels import MKLClassifier, Views
from manykernels.inspect import DecisionDisplay
from manykernels.kernels import RBF, Features

rng = np.random.default_rng(0)
n = 300
urgency = rng.normal(size=(n, 2))  # what the words know, what the numbers know
y = (urgency.sum(axis=1) + 0.3 * rng.normal(size=n) > 0).astype(int)
calm, alarmed = "thanks question kindly invoice copy".split(), "broken immediately lawyer third still".split()
chance = 1 / (1 + np.exp(-2 * urgency[:, 0]))
texts = [" ".join(rng.choice(alarmed if rng.random() < c else calm) for _ in range(6)) for c in chance]
amount = np.exp(4 + urgency[:, 1] + 0.3 * rng.normal(size=n))
X = Views({"text": texts, "numbers": np.column_stack([rng.normal(50, 15, n), np.log(amount)])})
kernels = [
    ("text", Features(TfidfVectorizer()), "text"),
    ("numbers", StandardScaler(), RBF(), "numbers"),
]
scores = {name: cross_val_score(MKLClassifier(some), X, y, cv=5) for name, some in
          {"text": kernels[:1], "numbers": kernels[1:], "both": kernels}.items()}  # fmt: skip
print({name: f"{score.mean():.3f}" for name, score in scores.items()})

# %%
# Left: accuracy in five folds. Right: of six letters, what their decision is made of.

figure, (left, right) = plt.subplots(1, 2, figsize=(9.5, 3.8), layout="constrained", width_ratios=[1, 2])
for k, score in enumerate(scores.values()):
    left.plot(np.full(5, k) + np.linspace(-0.1, 0.1, 5), score, "o", color="#0072B2", alpha=0.5)
    left.plot([k - 0.25, k + 0.25], [score.mean()] * 2, color="#D55E00", lw=2)
left.set_xticks(range(3), list(scores))
left.set_ylabel("accuracy, five folds and their mean")
left.spines[["top", "right"]].set_visible(False)
model = MKLClassifier(kernels).fit(X[:200], y[:200])
DecisionDisplay.from_estimator(model, X, [200, 203, 206, 209, 212, 215], ax=right)
