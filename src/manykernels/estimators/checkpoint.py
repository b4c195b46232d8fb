"""By what a fit is known, so that a checkpoint goes on with it and with no other."""

from __future__ import annotations

import hashlib
import re
import sys
from contextlib import suppress

import numpy as np

from ..solvers.checkpoint_file import Checkpoint, CheckpointSlot

FREE = {
    "max_iter",
    "memory_limit",
    "device",
    "n_jobs",
    "random_state",
    "verbose",
    "warm_start",
    "checkpoint",
}  # may change
ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+")


def parts_of(model, n_parts, seed, X, Y, weight, task):
    """The `CheckpointSlot` of each of the `n_parts` problems of a fit; None where there is no checkpoint."""
    if model.checkpoint is None:
        return [None] * n_parts
    free = FREE
    if model.features == "hash" or (isinstance(model.kernels, str) and model.kernels == "auto"):
        free = FREE - {"memory_limit"}  # there it chooses the places of the words, or the kernels
    params = {name: value for name, value in model.get_params(deep=False).items() if name not in free}
    params |= {"estimator": type(model).__name__, "random_state": seed}
    file = Checkpoint(model.checkpoint, identify(params, X=X, y=Y, sample_weight=weight, task=task), n_parts, Y.size)
    return [CheckpointSlot(file, k) for k in range(n_parts)]


def identify(params, **data):
    """{name: text}: the parameters as they print, or a hash where that is long or tells little, and that of the data.

    Long prints are shortened, by scikit-learn, and an address is no value: the hash is of all that is in them too.
    """
    with np.printoptions(threshold=sys.maxsize, precision=17):
        prints = {name: repr(value) for name, value in params.items()}
    texts = {name: ADDRESS.sub("", text) for name, text in prints.items()}
    for name, text in texts.items():
        if len(text) > 60 or text != prints[name]:
            texts[name] = hashlib.sha256("\n".join([text, *_leaves(params[name])]).encode()).hexdigest()
    return texts | {name: _hash(value) for name, value in data.items()}


def _hash(value):
    """A hash of `value` that is the same for equal arrays, however they lie in memory."""
    from joblib.hashing import NumpyHasher

    class Hasher(NumpyHasher):
        def save(self, obj):
            super().save(np.asarray(obj, order="C") if isinstance(obj, np.ndarray) else obj)

    return Hasher(hash_name="sha1").hash(value)


def _leaves(value):
    """All that `value` is made of, as texts: the same in every process and for a copy; of estimators the parameters."""
    if hasattr(value, "get_params") and not isinstance(value, type):
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
        with suppress(Exception):  # what cannot be pickled, such as a lambda
            yield _hash(value)
