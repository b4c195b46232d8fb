"""The parts of a fitted model of positional words: tables of its kernels, support sequences, weights.

s(x) = Σ_i a_i Σ_{l,k} weight[l, k−1] [x_i[l:l+k] = x[l:l+k]] is its decision without the intercept. A kernel with
shifts adds such a sum for each shift, with x_i moved.
"""

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .._validation import shown
from ..strings.base import positions
from ..strings.weighted_degree import degree_weights
from .tables import check_model


def positional(model, shifts=False):
    """(kernels, L) of a fitted model whose kernels all count common words at equal positions, else a ValueError.

    With `shifts` kernels may also count common words at nearby positions.
    """
    check_model(model)
    check_is_fitted(model)
    listed = model.predictor_.kernel_list
    kernels = [] if listed is None else listed.kernels
    fit = [kernel.family == "degree" or shifts and kernel.family == "shift" for kernel in kernels]
    if not kernels or not all(fit) or listed.tasks is not None or len(set(listed.view_of)) > 1:
        others = [name for name, good in zip(model.kernel_names_, fit, strict=False) if not good]
        what = ", ".join(map(repr, others[:3])) if others else "precomputed kernels, several tasks or several columns"
        known = "Degree, WeightedDegree or WeightedDegreeShift" if shifts else "Degree or WeightedDegree"
        raise ValueError(
            f"model has {what}: give a model whose kernels are all {known}, on one column, such as "
            "strings.position_kernels, degree_kernels or degree_position_kernels."
        )
    return kernels, model.predictor_.support_codes()[0].shape[1]


def words(model, label=None):
    """([(codes (n, L) of the support, a (n,), weight (L, d))], alphabet, unknown): the output for the class `label`."""
    kernels, _ = positional(model, shifts=True)
    row = row_of(model, label)
    theta = np.atleast_2d(model.kernel_weights_)
    theta = theta[row if len(theta) > 1 else 0]
    predictor = model.predictor_
    return _pieces(predictor, model.dual_coef_[row], theta), predictor.support_codes()[1], kernels[0].unknown


def _pieces(predictor, a, theta):
    """The pieces of `words` for kernel weights theta (M,)."""
    if predictor.hashed:
        raise ValueError(
            'model has features="hash", where several words share an entry: its decision is no sum over '
            'words; fit it with features="auto".'
        )
    codes, alphabet = predictor.support_codes()
    values = theta * predictor.scale * _factors(predictor.row_factors())
    L, pieces, weight = codes.shape[1], [], np.zeros((codes.shape[1], 0))
    for kernel, value in zip(predictor.kernel_list.kernels, values, strict=True):
        if kernel.family == "degree":
            table = kernel.degree_table(L)
            weight = np.pad(weight, ((0, 0), (0, max(0, table.shape[1] - weight.shape[1]))))
            weight[:, : table.shape[1]] += value * table
        else:
            pieces += [(moved, a, value * table) for moved, table in _shifted(kernel, codes, alphabet.size)]
    return [(codes, a, weight), *pieces] if weight.size else pieces


def row_of(model, label):
    """The row of dual_coef_ of a class, or of a target by its number."""
    rows = len(model.dual_coef_)
    classes = np.asarray(model.classes_).tolist() if is_classifier(model) else list(range(rows))
    if rows == 1 and (label is None or len(classes) == 2 and label == classes[1]):
        return 0
    if rows == 1 or label not in classes:
        cure = f"one of {classes}" if rows > 1 else f"{classes[1]!r} or None" if len(classes) == 2 else "None"
        raise ValueError(f"label={shown(label)} has no output in this model: give {cure}")
    return classes.index(label)


def _factors(factor):
    """The product of the factors (members, n) of two sequences: one number per kernel if all letters are known."""
    if factor is None:
        return 1.0
    if not np.allclose(factor, factor[:, :1], rtol=1e-6, atol=0):
        raise ValueError(
            'model has normalize="spherical" with shifts or unknown letters, or missing sequences: its decision is no '
            'sum over words; fit it with normalize="multiplicative" on whole sequences.'
        )
    return factor[:, 0] ** 2


def _shifted(kernel, codes, unknown):
    """(codes of the support moved by s, weight) for each shift s of a WeightedDegreeShift kernel."""
    L = codes.shape[1]
    start, stop = positions(kernel, L)
    place, k = np.arange(L)[:, None], np.arange(1, kernel.d + 1)
    weight = degree_weights(kernel.d) * ((start <= place) & (place + k <= stop))
    most = min(kernel.shift, stop - start - 1)
    for s in range(-most, most + 1):
        moved, low, high = np.full_like(codes, unknown), max(start, start - s), min(stop, stop - s)
        moved[:, low:high] = codes[:, low + s : high + s]
        yield moved, weight * (0.5 / (abs(s) + 1) if s else 1.0)
