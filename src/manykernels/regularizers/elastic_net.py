from .._validation import check_number
from .mixed_norm import MixedNorm


class ElasticNet(MixedNorm):
    """The elastic net on the kernel weights.

    Ω(θ) = 0 if θ ≥ 0 and v ‖θ‖₁ + (1−v) ‖θ‖₂² ≤ 1, else +inf (Yang et al. 2011).

    Sparse for v near 1, and equal kernels get equal weights for v < 1. v = 1 is LpNorm(1), v = 0 is LpNorm(2).

    Parameters
    ----------
    v : float, default 0.5
        The share of the ℓ1-norm, 0 ≤ v ≤ 1.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import ElasticNet
    >>> ElasticNet(0.5).weights_from_dual(np.array([1.0, 1.0, 0.1])).round(3)
    array([0.618, 0.618, 0.   ])
    """

    file_tag = ("regularizer/elastic_net", 1)
    p = 2.0

    def __init__(self, v: float = 0.5) -> None:
        self.v = check_number("v", v, 0, 1, "both")
