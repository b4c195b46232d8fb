"""Problems whose fits are timed: sequences, kernels on the fly, a stack, very many kernels."""

import numpy as np

from .datasets import GEOMETRIC, load_mnist, make_columns


def problem(kind, n, M, data):
    """(X, y, a small set that compiles the same loops, kernels, options of the estimator)."""
    if kind == "sequences":
        from manykernels.datasets import make_splice
        from manykernels.strings import degree_kernels

        small = make_splice(300, positives=0.3, random_state=9)
        return *make_splice(n, random_state=0), small, degree_kernels(M), {"solver": "coordinate"}
    from manykernels import KernelStack
    from manykernels.kernels import RBF

    if kind == "columns":
        X, y, _ = make_columns(n, M // 10)
        kernels = [(f"{j}, {k}", RBF(float(2.0 ** (k - 5))), [j]) for j in range(M // 10) for k in range(10)]
        return X, y, (X[:300], y[:300]), kernels, {"memory_limit": "4GB"}
    X, y, _ = load_mnist(n, data)
    X = X.astype(np.float32)
    kernels = [(f"2σ² = {w:.3g}", RBF(float(1 / w))) for w in GEOMETRIC[:: 50 // M]]
    if kind == "digits":
        return X, y, (X[:2000], y[:2000]), kernels, {"memory_limit": "8GB"}
    stack = np.stack([kernel(X) for _, kernel in kernels]).astype(np.float32)
    stack = (stack + stack.transpose(0, 2, 1)) / 2
    few = slice(0, 300)
    return KernelStack(stack), y, (KernelStack(stack[:, few, few]), y[few]), "precomputed", {}


def estimator(kernels, p, options, n_jobs):
    from manykernels import MKLClassifier

    return MKLClassifier(kernels, **{"regularizer": p, "C": 1, "tol": 1e-3, "n_jobs": n_jobs} | options)
