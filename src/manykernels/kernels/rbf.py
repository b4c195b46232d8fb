from .metric import MetricKernel


class RBF(MetricKernel):
    """The Gaussian kernel.

    k(x, y) = exp(−gamma ‖x − y‖²), or with a metric s exp(−gamma Σ_j s_j² (x_j − y_j)²).

    Parameters
    ----------
    gamma : float, None, "scale" or "median", default None
        A number > 0, or a rule that computes it from the weighted training examples and the columns that the kernel
        sees. None, the default, is 1/n_features, which suits columns of unit variance; on unscaled columns the kernel
        may be nearly diagonal. "scale" is 1/(n_features · variance of X), the variance of all entries about their
        common mean: large columns hide small ones, and on many columns of noise all examples are about equally far
        apart. "median" is 1/the median of ‖x − y‖² over pairs of different examples (500 at most), which adapts to the
        columns: half of the pairs lie within the width. Fitted models keep the number.
    metric : array (d,), "learn" or None, default None
        The scales s of the columns: the kernel sees s∘x. None is 1 for all. "learn": the fit of MKLClassifier or
        MKLRegressor learns them from the gradients of the decisions, and keeps them only if held-out decisions are
        better with them; kernels on the same columns have one metric. `metric_` of the fitted model has the scales.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import RBF
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> RBF(gamma=0.5)(X).round(3)
    array([[1.   , 0.607, 0.011],
           [0.607, 1.   , 0.135],
           [0.011, 0.135, 1.   ]])
    >>> RBF(gamma="median").resolve(X).gamma
    0.25
    >>> X = np.array([[0.0, 0.0], [1.0, 5.0]])
    >>> RBF(gamma=0.5, metric=[1.0, 0.0])(X).round(3)
    array([[1.   , 0.607],
           [0.607, 1.   ]])
    """

    file_tag = ("kernel/rbf", 2)
    former_tags = (("kernel/rbf", 1),)  # without metric
    distance = "sqdist"
