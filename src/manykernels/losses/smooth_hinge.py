from .._validation import check_number
from .logistic import Logistic


class SmoothHinge(Logistic):
    """A smooth hinge loss.

    V = (1/σ) ln(1 + e^{σ(1 − z)}), z = y f: the hinge as σ → ∞ (Kloft et al. 2010, App. B.3).

    Parameters
    ----------
    sigma : float, default 10
        σ > 0: the larger, the nearer to the hinge.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.losses import SmoothHinge
    >>> SmoothHinge(sigma=10).value(np.array([1.0, -1.0]), np.array([0.5, 2.0])).round(3)
    array([0.501, 3.   ])
    """

    file_tag = ("loss/smooth_hinge", 1)
    name = "smooth_hinge"
    probabilistic = False
    margin = 1.0

    def __init__(self, sigma: float = 10.0) -> None:
        self.sigma = check_number("sigma", sigma)
