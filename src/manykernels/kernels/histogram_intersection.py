from .base import Kernel


class HistogramIntersection(Kernel):
    """The intersection of two histograms.

    k(x, y) = Σ_k min(x_k, y_k), for non-negative data.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import HistogramIntersection
    >>> HistogramIntersection()(np.array([[3.0, 1.0], [1.0, 2.0]]))
    array([[4., 2.],
           [2., 3.]])
    """

    file_tag = ("kernel/histogram_intersection", 1)
    base = "min"
    plain = True
