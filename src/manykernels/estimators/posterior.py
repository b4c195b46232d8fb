"""The Gaussian posterior of an empirical Bayes model at new examples.

    f ~ GP(0, k_θ), k_θ = Σ_m θ_m k_m ;   y_i = b + f(x_i) + ε_i, ε_i ~ N(0, σ² / w_i), b = the weighted mean of y
    mean(x) = b + k_θ(x, X) a ,   a = K̄⁻¹ (y − b) ,   K̄ = k_θ(X, X) + σ² W⁻¹
    var(x)  = k_θ(x, x) − k_θ(x, X) K̄⁻¹ k_θ(X, x)

(Rasmussen and Williams 2006, eq. 2.25–2.26.) θ, σ² and b are taken as known. K̄ has all training examples, since none
has a = 0. Each call computes and factors it again, n² + 2 n n_new float64 numbers and n³/3 operations for each vector
of weights, so predict many new examples in one call.
"""

import numpy as np

from ..inner.systems import blas_for


def posterior_variance(model, X):
    """var(x) of each vector of weights, (n_new, 1) or one-vs-rest (n_new, T), of X as `_new_X` gives it."""
    thetas, noises = np.atleast_2d(model.kernel_weights_), np.atleast_1d(model.noise_)
    with blas_for(len(model.support_), model.n_jobs):
        return np.stack([_variance(model, X, *part) for part in zip(thetas, noises, strict=True)], axis=1)


def _variance(model, X, theta, noise):
    from scipy.linalg import LinAlgError, cholesky, solve_triangular

    predictor = model.predictor_
    K = predictor.support_gram(theta)
    if K is None:
        raise ValueError(
            "the posterior variance needs k(x, x) of new examples and the kernels between all training examples, but "
            f"a model of kernels={model.kernels!r} does not keep them: give members of manykernels.kernels, and X as "
            "their data."
        )
    own, K_new = predictor.diagonal(X, theta), predictor.combined(X, theta)
    K[np.diag_indices(len(K))] += noise / model.support_weight_
    try:
        L = cholesky(K, lower=True, overwrite_a=True, check_finite=False)
    except LinAlgError as error:
        raise ValueError(
            f"σ²I + Σ θ_m K_m is not positive definite at noise_={noise:g}: fit with EmpiricalBayes(noise=...) larger."
        ) from error
    half = solve_triangular(L, K_new.T, lower=True, overwrite_b=True, check_finite=False)
    return np.maximum(own - np.einsum("ij,ij->j", half, half), 0.0)
