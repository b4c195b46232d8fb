"""How much the weights of the kernels depend on the sample."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.utils import check_random_state

from ..estimators._base import _n_examples
from .tables import check_model


def bootstrap_weights(
    model: Any, X: Any, y: Any, n_boot: int = 20, random_state: Any = 0, n_jobs: int | None = None
) -> np.ndarray:
    """The weights of `n_boot` clones of `model`, (n_boot, M) or (n_boot, n_classes, M), fitted on resampled data.

    An example drawn twice has sample weight 2, one not drawn weight 0: copies and removal, at the cost of neither.
    Classes keep their sizes; y may be None for `MKLOneClass`. A checkpoint of the model is left alone.
    n_jobs: clones fitted at a time, each in a process of its own.
    """
    from joblib import Parallel, delayed

    if n_boot < 1:
        raise ValueError(f"n_boot={n_boot}: at least one sample is needed")
    check_model(model)
    if y is None and not is_outlier_detector(model):
        raise ValueError(f"y=None: {type(model).__name__} learns from labels; give one for each example")
    n, rng = _n_examples(X) if y is None else len(y), check_random_state(random_state)
    strata = np.unique(y, return_inverse=True)[1] if is_classifier(model) else np.zeros(n, int)
    model = clone(model).set_params(checkpoint=None)  # the file is that of one fit

    def counts():
        drawn = np.zeros(n)
        for stratum in range(strata.max() + 1):
            rows = np.flatnonzero(strata == stratum)
            drawn[rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)))
        return drawn

    fits = [delayed(_weights)(clone(model), X, y, counts()) for _ in range(n_boot)]
    return np.array(Parallel(n_jobs)(fits))


def _weights(model, X, y, sample_weight):
    return model.fit(X, y, sample_weight=sample_weight).kernel_weights_
