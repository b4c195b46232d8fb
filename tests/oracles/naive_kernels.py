"""Every kernel as its formula in a double loop over examples: slow and plain."""

import math

import numpy as np

from manykernels import kernels as mk


def _chi2(x, y):
    return sum((a - b) ** 2 / (a + b) for a, b in zip(x, y, strict=True) if a + b > 0)


def value(kernel, x, y, same=False):
    """k(x, y) of two examples; `same` says that they are one and the same training example."""
    dot, d2 = math.fsum(x * y), math.fsum((x - y) ** 2)
    gamma = getattr(kernel, "gamma", None)
    gamma = 1 / len(x) if gamma is None else gamma
    match kernel:
        case mk.Sum():
            return value(kernel.k1, x, y, same) + value(kernel.k2, x, y, same)
        case mk.Product():
            return value(kernel.k1, x, y, same) * value(kernel.k2, x, y, same)
        case mk.Linear():
            return dot
        case mk.Polynomial():
            return (gamma * dot + kernel.coef0) ** kernel.degree
        case mk.RBF():
            return math.exp(-gamma * d2)
        case mk.Laplacian():
            return math.exp(-gamma * math.fsum(abs(x - y)))
        case mk.Chi2():
            return math.exp(-gamma * _chi2(x, y))
        case mk.HistogramIntersection():
            return math.fsum(np.minimum(x, y))
        case mk.Tanimoto():
            either = math.fsum(x * x) + math.fsum(y * y) - dot
            return dot / either if either > 0 else 1.0
        case mk.Cosine():
            norms = math.sqrt(math.fsum(x * x)) * math.sqrt(math.fsum(y * y))
            return dot / norms if norms > 0 else 0.0
        case mk.Constant():
            return kernel.value
        case mk.Categorical():
            return float(np.mean(x == y))
        case mk.On():
            return value(kernel.kernel, x[kernel.columns], y[kernel.columns], same)
        case mk.Identity():
            return float(same)
        case mk.Function():
            return float(kernel.function(x[None], y[None])[0, 0])
    raise NotImplementedError(type(kernel))


def matrix(kernel, X, Y=None):
    """k(x_i, y_j), (n, m); Y = None: the training data themselves."""
    other = X if Y is None else Y
    return np.array([[value(kernel, x, y, Y is None and i == j) for j, y in enumerate(other)] for i, x in enumerate(X)])


def normalised(K, normalize, w=None):
    """(scaled K, scale, row factors) of a training matrix; the formulas of DESIGN.md on the whole matrix."""
    n = len(K)
    w = np.ones(n) if w is None else w
    scale, factor = 1.0, np.ones(n)
    if normalize == "multiplicative":
        scale = 1 / (w @ np.diag(K) / w.sum() - w @ K @ w / w.sum() ** 2)
    elif normalize == "trace":
        scale = w.sum() / (w @ np.diag(K))
    elif normalize == "spherical":
        factor = np.array([1 / math.sqrt(k) if k > 0 else 0.0 for k in np.diag(K)])
    return scale * factor[:, None] * K * factor, scale, factor
