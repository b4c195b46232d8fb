"""By what a fit is known, so that a checkpoint goes on with it and with no other."""

from __future__ import annotations

import hashlib
import re
import sys

import numpy as np

from ..solvers._checkpoint import Checkpoint, Part

FREE = {"max_iter", "memory_limit", "n_jobs", "random_state", "verbose", "warm_start", "checkpoint"}  # may change


def parts_of(model, n_parts, seed, X, Y, weight, task):
    """Where each of the `n_parts` problems of this fit is kept, a `Part`, or None where there is no checkpoint."""
    if model.checkpoint is None:
        return [None] * n_parts
    params = {name: value for name, value in model.get_params(deep=False).items() if name not in FREE}
    params |= {"estimator": type(model).__name__, "random_state": seed}
    file = Checkpoint(model.checkpoint, identify(params, X=X, y=Y, sample_weight=weight, task=task), n_parts, Y.size)
    return [Part(file, k) for k in range(n_parts)]


def identify(params, **data):
    """{name: text}: the parameters as they print, or the hash of that where it is long, and the hash of the data."""
    from joblib import hash as hash_of

    with np.printoptions(threshold=sys.maxsize, precision=17):
        texts = {name: re.sub(r" at 0x[0-9a-fA-F]+", "", repr(value)) for name, value in params.items()}
    texts = {n: t if len(t) <= 60 else hashlib.sha256(t.encode()).hexdigest() for n, t in texts.items()}
    return texts | {name: hash_of(value, "sha1") for name, value in data.items()}
