"""Weights by the alignment of kernels with the targets."""

import numpy as np
from numpy import ndarray

from ...banks.base import Bank
from ...kernels.normalize import centred_products, units
from ...losses.base import Loss
from .base import TwoStage, shares


class Align(TwoStage):
    """Each kernel by its own alignment with the targets.

    θ_m ∝ ⟨K_m, yy'⟩ / (‖K_m‖ ‖yy'‖), centred: each kernel by its own alignment (Cortes et al. 2012, "align").

    With several outputs the target is Σ_t y_t y_t'.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.weighting import Align
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> bank = DenseBank(np.stack([np.outer(y, y), np.eye(4)], axis=2))
    >>> Align().bind(bank, y, 1.0)[0].weights.round(3)
    array([0.634, 0.366])
    """

    file_tag = ("weighting/align", 1)

    def weights(self, bank: Bank, Y: ndarray, c: ndarray, loss: Loss | None = None, *_, **__) -> ndarray:
        target, squares, _ = centred_products(bank, aims(Y, loss), c.mean(axis=0))
        rho = np.divide(target, np.sqrt(squares), out=np.zeros(bank.M), where=bank.usable & (squares > 0))
        return shares(np.maximum(rho, 0.0))


class AlignF(TwoStage):
    """The combination of kernels that is best aligned with the targets.

    θ ∝ argmin_{v ≥ 0} v'Mv − 2v'a, M_kl = ⟨K_k, K_l⟩, a_k = ⟨K_k, yy'⟩, centred (Cortes et al. 2012, "alignf").

    The combination Σθ_m K_m has the largest centred alignment with yy' (with Σ_t y_t y_t' for several outputs).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.weighting import AlignF
    >>> y = np.array([1.0, -1.0, 1.0, -1.0])
    >>> bank = DenseBank(np.stack([np.outer(y, y), np.eye(4)], axis=2))
    >>> AlignF().bind(bank, y, 1.0)[0].weights.round(3) + 0.0
    array([1., 0.])
    """

    file_tag = ("weighting/align_f", 1)

    def weights(self, bank: Bank, Y: ndarray, c: ndarray, loss: Loss | None = None, *_, **__) -> ndarray:
        from scipy.optimize import nnls

        target, M, _ = centred_products(bank, aims(Y, loss), c.mean(axis=0), pairs=True)
        keep = np.flatnonzero(bank.usable & (np.diag(M) > 0))
        if not len(keep):
            return np.zeros(bank.M)
        size = np.sqrt(np.diag(M)[keep])
        values, vectors = np.linalg.eigh(M[np.ix_(keep, keep)] / np.outer(size, size))
        root = np.sqrt(np.maximum(values, 0.0))
        solid = root > 1e-7 * root.max()  # a lies in the range of M
        A = root[solid, None] * vectors[:, solid].T
        v = np.zeros(bank.M)
        v[keep] = nnls(A, (vectors[:, solid].T @ (target[keep] / size)) / root[solid])[0] / size
        return shares(v / units(bank))


def aims(Y, loss):
    """The targets (T, n) that kernels are compared with."""
    return Y if loss is None else np.array([loss.alignment_target(y) for y in Y])
