"""Models of positional words: their parts, and their kernel weights by word length and position.

s(x) = Σ_i a_i Σ_{l,k} weight[l, k−1] [x_i[l:l+k] = x[l:l+k]] is the decision without the intercept. A kernel with
shifts adds such a sum for each shift, with x_i moved.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import is_classifier
from sklearn.utils.validation import check_is_fitted

from .._pictures import as_shares
from .._validation import shown
from ..strings.base import positions
from ..strings.degree import degree_weights
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


@dataclass(frozen=True)
class PositionWeights:
    """The shares of the kernel weights by word length and position.

    Parameters
    ----------
    shares : array (…, d, L)
        They sum to 1; [k − 1, l] is the share of words of k letters that start at l.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import PositionWeights
    >>> shares = PositionWeights(np.array([[0.5, 0.0], [0.5, 0.0]]))
    >>> shares.degrees, shares.starts, shares.letters
    (array([0.5, 0.5]), array([1., 0.]), array([0.75, 0.25]))
    """

    shares: np.ndarray

    @property
    def degrees(self) -> np.ndarray:
        """By the length of the words, (…, d)."""
        return self.shares.sum(axis=-1)

    @property
    def starts(self) -> np.ndarray:
        """By the position at which words start, (…, L)."""
        return self.shares.sum(axis=-2)

    @property
    def letters(self) -> np.ndarray:
        """By letter, (…, L): the share of a word goes to its letters in equal parts."""
        d, L = self.shares.shape[-2:]
        out = np.zeros(self.starts.shape)
        for k in range(1, d + 1):
            for s in range(min(k, L)):
                out[..., s:] += self.shares[..., k - 1, : L - s] / k
        return out


def position_weights(model: Any, weights: ArrayLike | None = None) -> PositionWeights:
    """The shares θ_m / Σθ of a fitted model by word length and position (Sonnenburg et al. 2006, section 4.1.3).

    The share of a kernel is spread over its words in proportion to their coefficients in the kernel. Differences
    between kernels are learned; within a kernel they are its fixed shape. At p = 1 the shares are those of the norms,
    ‖f_m‖ / Σ‖f‖; at p = ∞ all θ are equal, and `poim` shows more.

    Parameters
    ----------
    model : estimator
        Fitted on Degree and WeightedDegree kernels.
    weights : array (…, M), optional
        Other weights, such as those of `bootstrap_weights`; None for those of the model.

    Returns
    -------
    PositionWeights

    Examples
    --------
    >>> from manykernels import MKLClassifier
    >>> from manykernels.inspect import position_weights
    >>> from manykernels.strings import degree_kernels
    >>> model = MKLClassifier(degree_kernels(2), C=1.0).fit(["ACGT", "ACGA", "TTGT", "TTGA"], [1, 1, 0, 0])
    >>> position_weights(model).shares.shape
    (2, 4)
    """
    kernels, L = positional(model)
    theta = np.asarray(model.kernel_weights_ if weights is None else weights, dtype=float)
    if theta.shape[-1] != len(kernels):
        raise ValueError(f"weights has shape {theta.shape}, but the model has {len(kernels)} kernels in the last axis")
    theta = as_shares(theta)
    shares = np.zeros((*theta.shape[:-1], max(kernel.words[-1] for kernel in kernels), L))
    for m, kernel in enumerate(kernels):
        table = kernel.degree_table(L).T
        shares[..., : len(table), :] += theta[..., m, None, None] * table / max(table.sum(), 1e-300)
    return PositionWeights(shares)
