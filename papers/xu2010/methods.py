"""The three methods of the paper: ℓ1, ℓ2 and the entropy, SMKL, with the λ that its bound suggests."""

import numpy as np

NAMES = ("L1-MKL", "L2-MKL", "SMKL")
SOLVERS = (  # why times are not judged
    "the paper has ℓ2 by the SimpleMKL toolbox too and does not say how, and our SimpleMKL takes ℓ1 alone"
)
STEPS = 500  # the paper's limit, which enters its λ


def smoothing(n, C, M, largest):
    """λ = 2 n C² √(b / (ln M − 1)) / (N + 1), b = ½ Λ², for N steps and the largest eigenvalue Λ of all kernels.

    The paper says "compute λ" and gives no formula. Its Corollary 5 is the sum of the bound of Theorem 4,
    2 L n C² / (N+1)² with L of Corollary 3, and of the smoothing, (λ/2)(ln M − 1): this is the λ at its minimum.
    """
    return float(2 * n * C**2 * np.sqrt(0.5 * largest**2 / max(np.log(M) - 1, 0.1)) / (STEPS + 1))


def regularizer(name, n, C, M, largest):
    from manykernels.regularizers import Entropy, LpNorm

    if name == "SMKL":
        return Entropy(smoothing(n, C, M, largest))
    return LpNorm(1 if name == "L1-MKL" else 2)


def largest_eigenvalue(kernels):
    """Of matrices (n, n)."""
    return max(float(np.linalg.eigvalsh(K)[-1]) for K in kernels)


def best_C(scores, Cs):
    """The C of the best mean score (folds, Cs), the smallest of those that tie."""
    mean = np.mean(scores, axis=0)
    return float(np.asarray(Cs)[mean >= mean.max() - 1e-12].min())
