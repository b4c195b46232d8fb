from .metric import MetricKernel


class Laplacian(MetricKernel):
    """The Laplacian kernel.

    k(x, y) = exp(−gamma ‖x − y‖₁), or with a metric s exp(−gamma Σ_j s_j |x_j − y_j|).

    Parameters
    ----------
    gamma : float, None, "scale" or "median", default None
        A number > 0, None for 1/n_features, "scale" for 1/(n_features · variance of X), or "median" for 1/the median of
        ‖x − y‖₁ over pairs of different examples (500 at most). `RBF` says which suits what data.
    metric : array (d,), "learn" or None, default None
        The scales s of the columns: the kernel sees s∘x. None is 1 for all. "learn": the fit of MKLClassifier or
        MKLRegressor learns them from the gradients of the decisions, and keeps them only if held-out decisions are
        better with them; kernels on the same columns have one metric. `metric_` of the fitted model has the scales.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.kernels import Laplacian
    >>> X = np.array([[0.0], [1.0], [3.0]])
    >>> Laplacian(gamma=0.5)(X).round(3)
    array([[1.   , 0.607, 0.223],
           [0.607, 1.   , 0.368],
           [0.223, 0.368, 1.   ]])
    >>> Laplacian(gamma="median").resolve(X).gamma
    0.5
    """

    file_tag = ("kernel/laplacian", 2)
    former_tags = (("kernel/laplacian", 1),)  # without metric
    distance = "l1"
