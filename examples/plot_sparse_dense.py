"""
Sparse against dense mixing, along p
====================================

Thirty columns, a kernel each. In one set two columns know the answer and the others nothing; in the other all of them
know a little. Which p is best depends on that, and on nothing that can be seen in the columns beforehand.
"""

import matplotlib.pyplot as plt
import numpy as np

from manykernels import MKLClassifierCV
from manykernels.kernels import RBF, per_column

ps = [1, 1.1, 4 / 3, 2, 4, np.inf]
kernels = per_column(RBF(gamma=0.5), 30)


def make(informative, n, seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 30))
    y = X[:, :informative].sum(axis=1) / np.sqrt(informative) + 0.5 * rng.normal(size=n) > 0
    return X, y.astype(int)


scores = {}
for informative in (2, 30):
    search = MKLClassifierCV(kernels, Cs=[0.1, 1, 10], regularizer=ps, cv=4).fit(*make(informative, 160, 0))
    X_new, y_new = make(informative, 2000, 1)
    scores[informative] = []
    for p in ps:
        best = max((m, C) for m, C, r in zip(search.cv_results_["mean_test_score"], search.cv_results_["param_C"],
                                             search.cv_results_["param_regularizer"]) if r == p)  # fmt: skip
        model = search.estimator.set_params(C=best[1], regularizer=p) if hasattr(search, "estimator") else None
        scores[informative].append(best[0])
print(scores)
