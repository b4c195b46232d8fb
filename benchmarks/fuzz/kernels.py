"""Every kernel as its formula in extended precision, with the size of what rounds: slow, plain, and not ours to share.

`matrices(kernel, X)` gives K and A, both (n, n): a float64 evaluation of k may be off by some units of rounding of A.
"""

import numpy as np

from manykernels import kernels as mk

Real = np.longdouble
TINY = Real(2.0) ** (53 - 1022)  # what underflow may lose, in units of rounding


def matrices(kernel, X, w=None, sparse=False):
    """K and A of a kernel on training data X (n, d) of weights w, in extended precision; `sparse`: given as such."""
    if kernel.reads == "sequences":
        K = np.asarray(kernel(X), Real)
        return K, np.abs(K)
    X = np.asarray(X, Real)
    centre = 0 if sparse else X.mean(axis=0)  # distances of sparse data are not centred
    match kernel:
        case mk.Sum():
            (K, A), (L, B) = matrices(kernel.k1, X, w, sparse), matrices(kernel.k2, X, w, sparse)
            return K + L, A + B
        case mk.Product():
            (K, A), (L, B) = matrices(kernel.k1, X, w, sparse), matrices(kernel.k2, X, w, sparse)
            return K * L, A * np.abs(L) + np.abs(K) * B
        case mk.Linear():
            return X @ X.T, np.abs(X) @ np.abs(X).T + TINY
        case mk.Polynomial():
            g, c, degree = gamma(kernel, X, w), Real(kernel.coef0), int(kernel.degree)
            base, size = g * (X @ X.T) + c, g * (np.abs(X) @ np.abs(X).T + TINY) + abs(c)
            return base**degree, degree * size * np.abs(base) ** (degree - 1)
        case mk.RBF():
            far = ((X - centre) ** 2).sum(axis=1)
            return exponential(gamma(kernel, X, w), pairs(X, lambda x, y: (x - y) ** 2), far[:, None] + far)
        case mk.Laplacian():
            far = np.abs(X - centre).sum(axis=1)
            return exponential(gamma(kernel, X, w), pairs(X, lambda x, y: np.abs(x - y)), far[:, None] + far)
        case mk.Chi2():
            D = pairs(X, lambda x, y: np.divide((x - y) ** 2, x + y, out=np.zeros_like(x + y), where=x + y > 0))
            return exponential(gamma(kernel, X, w), D, D)
        case mk.HistogramIntersection():
            K = pairs(X, np.minimum)
            return K, K
        case mk.Tanimoto():
            dot, own = X @ X.T, (X * X).sum(axis=1)
            either = own[:, None] + own - dot
            K = np.divide(dot, either, out=np.ones_like(dot), where=either > 0)
            size = np.divide(own[:, None] + own + TINY, either, out=np.ones_like(dot), where=either > 0)
            return K, size * (1 + np.abs(K))
        case mk.Cosine():
            norms = np.sqrt((X * X).sum(axis=1))
            U = np.divide(X, norms[:, None], out=np.zeros_like(X), where=norms[:, None] > 0)
            lost = np.divide(TINY, norms, out=np.zeros_like(norms), where=norms > 0)
            lost = np.divide(lost[:, None], norms, out=np.zeros((len(X), len(X)), Real), where=norms > 0)
            return U @ U.T, np.abs(U) @ np.abs(U).T + lost
        case mk.Constant():
            K = np.full((len(X), len(X)), Real(kernel.value))
            return K, np.abs(K)
        case mk.Identity():
            return np.eye(len(X), dtype=Real), np.eye(len(X), dtype=Real)
    raise NotImplementedError(type(kernel))


def gamma(kernel, X, w):
    if kernel.gamma is None:
        return Real(1) / X.shape[1]
    if isinstance(kernel.gamma, str):
        w = np.ones(len(X), Real) if w is None else w
        mean = (w @ X).sum() / (w.sum() * X.shape[1])
        variance = (w @ (X - mean) ** 2).sum() / (w.sum() * X.shape[1])
        return 1 / (X.shape[1] * variance) if variance > 0 else Real(1)
    return Real(kernel.gamma)


def pairs(X, of):
    """Σ_k of(x_ik, x_jk), column by column."""
    return sum(of(x[:, None], x[None]) for x in X.T)


def exponential(g, D, size):
    """exp(−g D), where D comes out of numbers as large as `size`."""
    K = np.exp(-g * D)
    return K, K * (1 + g * (D + size + TINY))


def normalise(K, A, normalize, w, scale, kappa):
    """(K, A) normalised with example weights w and the model's `scale`; None where that scale is not K's own.

    The scale is one over a mean minus a mean, and may be off by what rounding, kappa, does to these.
    """
    w = w / w.sum()
    if normalize == "spherical":
        root = np.sqrt(np.maximum(np.diag(K), 0))
        root = np.divide(1, root, out=np.zeros_like(root), where=root > 0)
        own = np.diag(A) * root**2  # relative error of k(x, x)
        K, A = root[:, None] * K * root, root[:, None] * A * root
        return K, A + np.abs(K) * 0.5 * (own[:, None] + own)
    if normalize is None:
        return K, A
    by = w @ np.diag(K) - (w @ K @ w if normalize == "multiplicative" else 0)
    noise = w @ np.diag(A) + (w @ A @ w if normalize == "multiplicative" else 0)
    if not abs(1 / Real(scale) - by) <= kappa * noise + 1e-9 * abs(by):
        return None
    return K * Real(scale), A * Real(scale)
