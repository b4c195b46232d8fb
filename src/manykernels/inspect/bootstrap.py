"""The variation of the kernel weights over bootstrap samples."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_outlier_detector
from sklearn.utils import check_random_state

from .._validation import check_integer
from ..estimators.check_inputs import open_annotated
from ..estimators.shared_kernels import SharedFold, SharedKernels, shared_by_samples
from ..kernels.view_data import n_examples
from ..streaming import is_source
from .fold import with_kernels_of
from .held_out import covariates_for
from .tables import check_plain, chosen_C


def bootstrap_weights(
    model: Any,
    X: Any,
    y: Any,
    n_boot: int = 20,
    random_state: Any = 0,
    n_jobs: int | None = None,
    callback: Callable[[int, int], None] | None = None,
    covariates: Any = None,
) -> np.ndarray:
    """The kernel weights of clones of a model that are fitted on resampled data.

    An example drawn twice has sample weight 2, and an example not drawn has weight 0. Classes, or sets of labels, keep
    their sizes. kernels="auto" means the kernels chosen for all examples. The clones use no checkpoint, and the C
    that a fitted model chose for C="auto".

    Parameters
    ----------
    model : estimator
        Fitted or not.
    X : data
    y : array (n,) or None
        None for `MKLOneClass` only.
    n_boot : int, default 20
        The number of clones.
    random_state : int, None or RandomState, default 0
    n_jobs : int, optional
        The number of clones fitted in parallel, in separate processes.
    callback : callable, optional
        Called after each clone with the number of finished clones and their total.
    covariates : (n, q), optional
        As in `fit`.

    Returns
    -------
    array (n_boot, M) or (n_boot, n_classes, M)

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import bootstrap_weights
    >>> X, y = np.arange(12.0).reshape(6, 2), [0, 0, 0, 1, 1, 1]
    >>> bootstrap_weights(MKLClassifier(C=1.0), X, y, n_boot=2).shape
    (2, 8)
    """
    from joblib import Parallel, delayed

    check_integer("n_boot", n_boot)
    check_plain(model)
    X, y, covariates = open_annotated(X, y, covariates)
    if y is None and not is_outlier_detector(model):
        raise ValueError(f"y=None: {type(model).__name__} learns from labels; give one for each example")
    n, rng = n_examples(X) if y is None else len(y), check_random_state(random_state)
    strata = np.unique(y, axis=0, return_inverse=True)[1].reshape(-1) if is_classifier(model) else np.zeros(n, int)
    Z = covariates_for(model, covariates, n)
    own = clone(model).set_params(checkpoint=None, **chosen_C(model))  # a file belongs to one fit
    model = with_kernels_of(own, X)

    def counts():
        drawn = np.zeros(n)
        for stratum in range(strata.max() + 1):
            rows = np.flatnonzero(strata == stratum)
            drawn[rows] = rng.multinomial(len(rows), np.full(len(rows), 1 / len(rows)))
        return drawn

    drawn = [counts() for _ in range(n_boot)]
    plain = is_source(X) or Z is not None
    kernels = None if plain else shared_by_samples(model, X, np.flatnonzero(drawn[0]))
    fits = [delayed(_weights)(clone(model), X if kernels is None else kernels, y, one, Z) for one in drawn]
    found = []
    for weights in Parallel(n_jobs, return_as="generator")(fits):
        found.append(weights)
        if callback is not None:
            callback(len(found), n_boot)
    return np.array(found)


def _weights(model, X, y, sample_weight, covariates):
    """The weights of a fit to X; in `SharedKernels` the kernel matrices of all examples are computed already."""
    if not isinstance(X, SharedKernels):
        extra = {} if covariates is None else {"covariates": covariates}
        return model.fit(X, y, sample_weight=sample_weight, **extra).kernel_weights_
    every = np.arange(X.n)
    SharedFold(X, every, every[:0]).fit(model, y, sample_weight, X=X.X)
    return model.kernel_weights_
