"""Kernels whose weight says little: on the training examples each example is like itself and like no other."""

from __future__ import annotations

import warnings

import numpy as np

from .._callers import outside, outside_module

EXAMPLES = 250  # that are looked at, evenly spread
FEWEST = 30  # examples below which nothing is said
NARROW = 0.1  # neighbours below which a kernel is nearly diagonal
SAID: set[str] = set()  # in the loops of scikit-learn
HEAVY = 0.25, 1.05  # the share of the weights from which on it is said, and that in uniform shares, of several kernels


def effective_widths(bank, kernels, examples=EXAMPLES):
    """How many other examples count for an example, by each of these kernels: (|kernels|,), 0 for the identity.

        n − 1  times the mean over i ≠ j of  k_ij²  /  the mean over i of  k_ii²,   less 1/n,

    k the centred kernel. It is the sum of squares off the diagonal over that on it, estimated from evenly spread
    examples; the centred identity has 1/n, which is taken off. RBF kernels with gamma="scale" on d columns of noise
    have about n / 10d, linear ones n / d.
    """
    rows = np.unique(np.linspace(0, bank.n - 1, min(bank.n, examples)).astype(int))
    size, found = len(rows), []
    for m in kernels:
        theta = np.zeros(bank.M)
        theta[m] = 1.0
        K = bank.combined(theta, rows, rows, dtype=np.float64)
        K = K / (np.abs(K).max() or 1.0)  # squares of large values overflow
        K = K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()
        own = float(np.sum(np.diag(K) ** 2))
        rest = float(np.sum(K**2)) - own
        ratio = max(rest / own - 1.0 / (size - 1), 0.0) if own > 0 else np.inf
        found.append(ratio * (bank.n - 1) / (size - 1))
    return np.array(found)


def warn_diagonal(model, bank):
    """A UserWarning that names the kernels that are nearly diagonal on the training data and carry weight.

    An `Identity` says so itself. The sentence has no numbers, so that it is the same in every fold of a search: where
    scikit-learn fits, whose tasks forget what was warned of, it is said once.
    """
    theta = np.mean(np.atleast_2d(model.kernel_weights_), axis=0)
    share = theta / (theta.sum() or 1.0)
    kernels = model.predictor_.kernel_list
    least = max(HEAVY[0], HEAVY[1] / len(share)) if len(share) > 1 else 0.0
    heavy = [m for m in np.flatnonzero(share > least) if kernels is None or kernels.kernels[m].base != "same"]
    if bank.n < FEWEST or not len(heavy):
        return
    narrow = np.array(heavy)[effective_widths(bank, heavy) < NARROW]
    if not len(narrow):
        return
    sentence = _sentence(model, narrow)
    if outside_module().startswith("sklearn."):
        if sentence in SAID:
            return
        SAID.add(sentence)
    warnings.warn(sentence, UserWarning, stacklevel=outside())


def _sentence(model, narrow):
    names = ", ".join(repr(model.kernel_names_[m]) for m in narrow[:5])
    several = len(narrow) > 1
    held = "" if len(model.kernel_names_) == 1 else ", and a quarter of the weight or more is on " + "each" * several
    held += "it" * (bool(held) and not several)
    cure = _cure(model.predictor_.kernel_list, narrow)
    if model.get_params(deep=False).get("slack") is False:
        cure += ", or slack=True"
    return (
        f"{names} {'are' if several else 'is'} nearly diagonal on the training data{held}: to such a kernel an example "
        "is like itself and hardly like any other, so that its weight may be that of single examples that it fits, and "
        "does not say what it is worth on new ones; "
        f"{cure}. inspect.relevance measures what each kernel is worth."
    )


def _cure(kernels, narrow):
    """What to do about these kernels; `kernels` is None where they were computed elsewhere."""
    if kernels is None:
        return "compute it so that examples have others near them (an RBF with a smaller gamma), or leave it out"
    if all(kernels.kernels[m].reads == "sequences" for m in narrow):
        return "take shorter words"
    return "scale the columns, or take a smaller gamma"
