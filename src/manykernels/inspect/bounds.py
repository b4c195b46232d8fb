"""Generalisation bounds of ℓp-norm multiple kernel learning: section 5 of Kloft et al. (2011).

    H_p = {x ↦ Σ_m ⟨w_m, ψ_m(x)⟩ :  ‖w‖_{2,q} = (Σ_m ‖w_m‖^q)^{1/q} ≤ norm},   q = 2p/(p+1),   k_m(x, x) ≤ R²

is the set of predictors with ½ Σ ‖f_m‖²/θ_m ≤ ½ norm² for some ‖θ‖_p ≤ 1, without an intercept. Differences from the
paper: the conversion behind Corollary 9 uses the q with 1/q + 1/⌈p*⌉ = 1, not q = ⌈p*⌉; in section 5.1, Example 1 has
no C² at p = 1, and Example 2 has M^{1/p*} instead of M², where the paper repeats Example 1. The paper states Theorem 8
for even p*, but it holds for every integer r = p*: against Gaussian signs E(σᵀKσ)^r ≤ (2r − 1)!! (tr K)^r ≤ (r tr K)^r.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from .._validation import check_integer, check_number

__all__ = [
    "block_norm", "convert", "empirical_rademacher", "free_norm_bound", "generalization_bound", "margin_bound",
    "margin_risk", "optimal_p", "rademacher", "scenario",
]  # fmt: skip
CONSTANT = 23 / 22


def convert(complexity: float, p: float, q: float, M: int) -> float:
    """A complexity of H_q as one of H_p.

    R(H_p) ≤ √(M^{1/q − 1/p}) R(H_q) for q ≤ p: Theorem 6.

    Parameters
    ----------
    complexity : float
        A Rademacher complexity of H_q, or a bound on it.
    p, q : float
        1 ≤ q ≤ p ≤ inf.
    M : int
        The number of kernels.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.convert(0.1, p=2, q=1, M=16), 6)
    0.2
    """
    p, q, M = _exponent("p", p), _exponent("q", q), check_integer("M", M)
    if q > p:
        raise ValueError(f"q must be at most p, got q={q} and p={p}: the conversion goes from small exponents to large")
    return check_number("complexity", complexity, closed="left") * float(np.sqrt(M ** (1 / q - 1 / p)))


def rademacher(p: float, n: int, M: int, R: float = 1.0, norm: float = 1.0) -> float:
    """A bound of the Rademacher complexity of H_p.

    R(H_p) ≤ norm · R √(c M^{1/p*} min(e ⌈ln M⌉, ⌈p*⌉) / n),  c = 23/22,  1/p + 1/p* = 1: Corollary 9.

    At p = 1 it is Theorem 8, for p → ∞ norm · R √(2cM/n), and at p = ∞ itself, where ⌈p*⌉ = 1, norm · R √(cM/n).

    Parameters
    ----------
    p : float
        1 ≤ p ≤ inf.
    n : int
        Examples.
    M : int
        Kernels, at least 2.
    R : float, default 1
        k_m(x, x) ≤ R².
    norm : float, default 1
        The largest norm of the predictors of H_p.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.rademacher(p=1, n=1000, M=10), 3)
    0.092
    """
    p, n, M = _exponent("p", p), check_integer("n", n), check_integer("M", M, 2)
    R, norm = check_number("R", R), check_number("norm", norm)
    growth = min(np.e * np.ceil(np.log(M)), _above_conjugate(p))
    return norm * R * float(np.sqrt(CONSTANT * M ** (1 - 1 / p) * growth / n))


def generalization_bound(
    risk: float,
    p: float,
    n: int,
    M: int,
    R: float = 1.0,
    lipschitz: float = 1.0,
    delta: float = 0.05,
    norm: float = 1.0,
) -> float:
    """A bound of the error of all predictors of H_p at once.

    P[y h(x) ≤ 0] ≤ risk + 4 L · rademacher(p, n, M, R, norm) + √(ln(2/δ) / (2n)): Corollary 10 and (37),
    with probability 1 − δ.

    Parameters
    ----------
    risk : float
        The mean of a loss V(y h(x)) in [0, 1] with V(t) ≥ 1 for t ≤ 0.
    p, n, M, R
        As in `rademacher`.
    lipschitz : float, default 1
        The Lipschitz constant L of V.
    delta : float, default 0.05
    norm : float, default 1
        As in `rademacher`, fixed before the fit; a norm taken from the fit needs `free_norm_bound`.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.generalization_bound(0.1, p=1, n=100_000, M=10), 3)
    0.141
    """
    L, delta = check_number("lipschitz", lipschitz), check_number("delta", delta, 0, 1)
    risk = check_number("risk", risk, 0, 1, "both")
    deviation = np.sqrt(np.log(2 / delta) / (2 * check_integer("n", n)))
    return risk + 4 * L * rademacher(p, n, M, R, norm) + float(deviation)


def margin_risk(y: ArrayLike, f: ArrayLike, gamma: float = 1.0) -> float:
    """The mean margin loss of predictions.

    mean_i min(1, max(0, 1 − y_i f_i / γ)) for labels ±1: the loss of Corollary 11, 1/γ-Lipschitz.

    Parameters
    ----------
    y : array (n,)
        Labels ±1.
    f : array (n,)
        Predictions.
    gamma : float, default 1
        The margin γ > 0.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> bounds.margin_risk([1, 1, -1, -1], [2.0, 0.5, -1.0, 1.0])
    0.375
    """
    y, f, gamma = np.asarray(y, dtype=float), np.asarray(f, dtype=float), check_number("gamma", gamma)
    if y.ndim != 1 or y.shape != f.shape or not len(y) or not np.isin(y, (-1, 1)).all():
        raise ValueError(f"y must hold labels ±1, one for each f; got shapes {y.shape} and {f.shape}")
    return float(np.mean(np.clip(1 - y * f / gamma, 0.0, 1.0)))


def margin_bound(
    risk: float, p: float, n: int, M: int, R: float = 1.0, gamma: float = 1.0, delta: float = 0.05, norm: float = 1.0
) -> float:
    """A bound of the error by the margin.

    P[y h(x) ≤ 0] ≤ risk + (4R/γ) norm √(c M^{1/p*} min(e ⌈ln M⌉, ⌈p*⌉) / n) + √(ln(2/δ)/(2n)): Corollary 11.

    Parameters
    ----------
    risk : float
        `margin_risk` at the margin γ.
    p, n, M, R, delta, norm
        As in `generalization_bound`.
    gamma : float, default 1
        The margin γ > 0, fixed before the fit.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.margin_bound(0.1, p=1, n=100_000, M=10, gamma=0.5), 3)
    0.178
    """
    return generalization_bound(risk, p, n, M, R, 1 / check_number("gamma", gamma), delta, norm)


def free_norm_bound(
    risk: float, p: float, n: int, M: int, norm: float, R: float = 1.0, gamma: float = 1.0, delta: float = 0.05
) -> float:
    """`margin_bound` for a norm ‖w‖_{2,q} taken from the fit; not in the paper.

    A union bound over the radii 2^k, k = 0, ±1, …, with δ_k = δ / (3 (|k| + 1)²), whose sum is below δ; the norm is
    rounded up to a radius.

    Parameters
    ----------
    risk, p, n, M, R, gamma, delta
        As in `margin_bound`.
    norm : float
        ‖w‖_{2,q} of the fit, see `block_norm`.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.free_norm_bound(0.1, p=1, n=100_000, M=10, norm=3.0), 3)
    0.254
    """
    k = int(np.ceil(np.log2(check_number("norm", norm))))
    share = check_number("delta", delta, 0, 1) / (3 * (abs(k) + 1) ** 2)
    return margin_bound(risk, p, n, M, R, gamma, share, 2.0**k)


def block_norm(norms: ArrayLike, p: float) -> float:
    """The norm of a predictor in H_p.

    ‖w‖_{2,q} = (Σ_m ‖w_m‖^q)^{1/q}, q = 2p/(p+1).

    Parameters
    ----------
    norms : array (M,)
        ‖f_m‖ = θ_m √(aᵀK_m a).
    p : float
        1 ≤ p ≤ inf.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.block_norm([3.0, 4.0], p=1), 6), round(bounds.block_norm([3.0, 4.0], p=float("inf")), 6)
    (7.0, 5.0)
    """
    norms, p = np.asarray(norms, dtype=float), _exponent("p", p)
    if norms.ndim != 1 or not len(norms) or not np.isfinite(norms).all() or (norms < 0).any():
        raise ValueError(f"norms must be an array (M,) of non-negative numbers, got {norms!r}")
    q = 2.0 if np.isinf(p) else 2 * p / (p + 1)
    top = norms.max()
    return float(top * np.sum((norms / top) ** q) ** (1 / q)) if top > 0 else 0.0


def scenario(norms: ArrayLike, p: float, n: int, R: float = 1.0) -> float:
    """The complexity term of the smallest H_p that contains a predictor with these norms: section 5.1.

    R · block_norm(norms, p) √(c M^{1/p*} min(e ⌈ln M⌉, ⌈p*⌉) / n); norms = (1, …, 1) is Example 1, where the factor
    M^{1/p*} block_norm² = M² for every p, and (1, 0, …, 0) is Example 2, where block_norm = 1.

    Parameters
    ----------
    norms : array (M,)
        Not all 0.
    p, n, R
        As in `rademacher`.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> round(bounds.scenario([1.0] * 10, p=1, n=1000), 3)
    0.923
    """
    size = block_norm(norms, p)
    if size == 0:
        raise ValueError("norms are all 0: every H_p contains the zero predictor; give a norm above 0")
    return rademacher(p, n, len(np.asarray(norms)), R, size)


def optimal_p(norms: ArrayLike, candidates: Sequence[float] | None = None) -> float:
    """The p whose `scenario` is smallest for these norms.

    Parameters
    ----------
    norms : array (M,)
    candidates : sequence of float, optional
        By default 1, all p with an integer p*, 4, 8 and ∞.

    Returns
    -------
    float

    Examples
    --------
    >>> from manykernels.inspect import bounds
    >>> bounds.optimal_p([1.0] + [0.0] * 9), bounds.optimal_p([1.0] * 10)
    (2.0, inf)
    """
    if candidates is None:
        M = max(len(np.atleast_1d(norms)), 2)
        most = int(np.e * np.ceil(np.log(M))) + 1
        candidates = [1.0, *(k / (k - 1) for k in range(most, 1, -1)), 4.0, 8.0, np.inf]
    terms = [scenario(norms, p, 1) for p in candidates]
    return float(candidates[int(np.argmin(terms))])


def empirical_rademacher(
    matrices: ArrayLike, p: float, draws: int = 1000, norm: float = 1.0, seed: Any = 0
) -> tuple[float, float]:
    """The Rademacher complexity of H_p on a sample, by random signs.

    (norm/n) E_σ √‖(σᵀK_mσ)_m‖_{p*}, where the mean over draws of σ replaces E_σ.

    Parameters
    ----------
    matrices : array (M, n, n)
    p : float
        1 ≤ p ≤ inf.
    draws : int, default 1000
        Vectors of signs, at least 2.
    norm : float, default 1
    seed : int or NumPy generator, default 0

    Returns
    -------
    (mean, standard error) : tuple of float

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.inspect import bounds
    >>> mean, error = bounds.empirical_rademacher([np.eye(4), 2 * np.eye(4)], p=1, draws=10)
    >>> round(mean, 3), round(error, 3)
    (0.707, 0.0)
    """
    K, p = np.asarray(matrices, dtype=float), _exponent("p", p)
    if K.ndim != 3 or K.shape[1] != K.shape[2]:
        raise ValueError(f"matrices must have shape (M, n, n), got {K.shape}")
    draws, norm = check_integer("draws", draws, 2), check_number("norm", norm)
    signs = np.random.default_rng(seed).choice([-1.0, 1.0], (draws, K.shape[1]))
    forms = np.maximum(np.einsum("di,mij,dj->dm", signs, K, signs, optimize=True), 0.0)
    values = norm / K.shape[1] * np.sqrt(np.linalg.norm(forms, _conjugate(p), axis=1))
    return float(values.mean()), float(values.std(ddof=1) / np.sqrt(draws))


def _conjugate(p):
    return np.inf if p == 1 else 1.0 if np.isinf(p) else p / (p - 1)


def _above_conjugate(p):
    """⌈p*⌉; r for the float next to r / (r − 1), whose p* may be above r by rounding."""
    r = np.round(_conjugate(p))
    return r if 1 < r < np.inf and p == r / (r - 1) else np.ceil(_conjugate(p))


def _exponent(name, p):
    return check_number(name, p, 1, closed="both")
