"""The identity of a fit: a checkpoint continues the same fit and no other."""

import hashlib
import re
import sys
from contextlib import suppress

import numpy as np

from ..solvers.checkpoint_file import Checkpoint, CheckpointSlot

MAY_CHANGE = {
    "max_iter", "memory_limit", "device", "n_jobs", "random_state", "verbose", "warm_start", "checkpoint",
}  # fmt: skip
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def parts_of(model, n_parts, seed, X, Y, weight, task, covariates=None):
    """The `CheckpointSlot` of each of the `n_parts` problems of a fit; None without a checkpoint."""
    if model.checkpoint is None:
        return [None] * n_parts
    free = MAY_CHANGE
    if model.features == "hash" or (isinstance(model.kernels, str) and model.kernels == "auto"):
        free = MAY_CHANGE - {"memory_limit"}  # it decides the hashes of words, or the kernels
    params = {name: value for name, value in model.get_params(deep=False).items() if name not in free}
    params |= {"estimator": type(model).__name__, "random_state": seed}
    data = dict(X=X, y=Y, sample_weight=weight, task=task)
    data |= {} if covariates is None else {"covariates": covariates.Z}
    file = Checkpoint(model.checkpoint, identify(params, **data), n_parts, Y.size)
    return [CheckpointSlot(file, k) for k in range(n_parts)]


def identify(params, **data):
    """{name: text}: the repr of each parameter, or a hash of its content, and a hash of the data.

    scikit-learn shortens a long repr, and a memory address is no value: these parameters are hashed.
    """
    with np.printoptions(threshold=sys.maxsize, precision=17):
        prints = {name: repr(value) for name, value in params.items()}
    texts = {name: ADDRESS.sub("", text) for name, text in prints.items()}
    for name, text in texts.items():
        if len(text) > 60 or text != prints[name]:
            texts[name] = hashlib.sha256("\n".join([text, *_leaves(params[name])]).encode()).hexdigest()
    return texts | {name: _hash(value) for name, value in data.items()}


def _hash(value):
    """A hash of `value` that does not depend on the memory layout of arrays."""
    from joblib.hashing import NumpyHasher

    class Hasher(NumpyHasher):
        def save(self, obj):
            super().save(np.asarray(obj, order="C") if isinstance(obj, np.ndarray) else obj)

    return Hasher(hash_name="sha1").hash(value)


def _leaves(value):
    """The content of `value` as texts, the same in every process and for a copy; for estimators their parameters."""
    if hasattr(value, "get_params") and not isinstance(value, type):  # scikit-learn's protocol
        yield type(value).__qualname__
        value = value.get_params(deep=False)
    if isinstance(value, dict):
        yield f"{len(value)} {list(value)}"
        value = list(value.values())
    if isinstance(value, list | tuple):
        yield f"{len(value)}"
        for item in value:
            yield from _leaves(item)
    elif value is None or isinstance(value, str | int | float):
        yield repr(value)
    else:
        with suppress(Exception):  # a lambda cannot be pickled
            yield _hash(value)
