"""Kernel weights by maximum marginal likelihood: not convex, and tied to the kernels."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from numpy import ndarray

from .._parts import Part
from .._validation import check_number, shown
from ..losses.base import Loss
from .base import Regularizer


class EmpiricalBayes(Regularizer):
    """Weights of maximum marginal likelihood, as of a Gaussian process.

    θ = argmin −log p(y | θ, σ²) + h(θ),   y ~ N(0, σ²I + Σ_m θ_m K_m)   (Tomioka and Suzuki 2011, §3)

    For the squared loss only, with C = 1/(2σ²), y centred where there is an intercept (classes are ±1). An example of
    weight w counts as w observations. The problem is not convex and has no duality gap: instead, a model has
    `log_marginal_likelihood_` (with its n/2 log 2π, without h), `stationarity_` and `noise_`. Each step factors a
    matrix for every vector of weights, n³ operations: one-vs-rest classes share the kernels but not the factor, and
    multi_class="shared" costs about as much as one class.

    Parameters
    ----------
    noise : float, "learn" or None, default None
        σ², or "learn" (no less than 1e-8 of y's variance); None is σ² = 1/(2C), and "learn" if C is "auto".
    prior : Prior or None, default None
        h(θ) = −log p(θ) (their §5), such as `GammaPrior`; None for h = 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLRegressor
    >>> from manykernels.kernels import RBF, Linear
    >>> from manykernels.regularizers import EmpiricalBayes
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, size=(80, 1))
    >>> y = np.sin(4 * X[:, 0]) + 0.1 * rng.normal(size=80)
    >>> bayes = EmpiricalBayes(noise="learn")
    >>> model = MKLRegressor([RBF(gamma=3.0), Linear()], regularizer=bayes, loss="squared").fit(X, y)
    >>> bool(0.005 < model.noise_ < 0.02), model.stationarity_ <= 1e-3
    (True, True)
    """

    file_tag = ("regularizer/empirical_bayes", 1)
    bayesian = True
    exact = True  # log|K̄| needs float64 kernels

    def __init__(self, noise: float | str | None = None, prior: Prior | None = None) -> None:
        learn = isinstance(noise, str) and noise == "learn"
        number = isinstance(noise, Real) and not isinstance(noise, bool) and 0 < noise < np.inf
        if not (noise is None or learn or number):
            raise ValueError(f'noise={noise!r} must be a variance > 0, "learn", or None for 1/(2C)')
        if not isinstance(prior, Prior | None):
            raise ValueError(f"prior={prior!r} must be a Prior, such as GammaPrior(), or None")
        self.noise, self.prior = noise, prior

    def bind(
        self, bank, Y: ndarray, c: ndarray, loss: Loss | None = None, intercept: bool = True, C: float = 1.0
    ) -> tuple[Regularizer, ndarray]:
        """The regularizer with the noise that C implies, and the weights of the examples as costs, c / C."""
        if loss is not None and not loss.gaussian:
            raise ValueError(
                f"regularizer={self!r} takes the squared loss only, whose marginal likelihood has a formula, not the "
                f"{loss.name} loss: use MKLRegressor or MKLClassifier with loss='squared'"
            )
        if self.noise is not None and C != 1.0:
            raise ValueError(
                f"noise={shown(self.noise)} and C={shown(C)} both set the noise, C = 1/(2 noise): "
                'leave C at "auto" or noise at None'
            )
        return EmpiricalBayes(1.0 / (2.0 * C) if self.noise is None else self.noise, self.prior), np.asarray(c) / C

    def without_C(self) -> EmpiricalBayes:
        """The same if no C is given: the noise that C would imply is learned."""
        return EmpiricalBayes("learn", self.prior) if self.noise is None else self

    def hyperprior(self, theta: ndarray) -> tuple[Any, Any, Any]:
        """h(θ), its gradient (M,) and its second derivatives (M,)."""
        if self.prior is None:
            return 0.0, np.zeros(len(theta)), np.zeros(len(theta))
        with np.errstate(divide="ignore"):
            slope, curvature = np.asarray(self.prior.gradient(theta), float), self.prior.curvature(theta)
            return float(self.prior.value(theta)), slope, curvature

    def has(self, method: str) -> bool:
        return method in ("hyperprior", "bind")

    def why_not(self, method: str) -> str:
        return "the marginal likelihood is not convex and ties the weights to the kernels; only 'mackay' maximises it"


class Prior(Part):
    """A prior p(θ) of the kernel weights, as h(θ) = Σ_m h_m(θ_m), minus its logarithm; arrays are (M,).

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import EmpiricalBayes, Prior
    >>> class Exponential(Prior):
    ...     def value(self, theta):
    ...         return np.sum(theta)
    ...     def gradient(self, theta):
    ...         return np.ones(len(theta))
    >>> EmpiricalBayes(prior=Exponential())
    EmpiricalBayes(noise=None, prior=Exponential())
    """

    def value(self, theta: ndarray) -> ndarray:
        """h(θ), a number."""
        raise NotImplementedError

    def gradient(self, theta: ndarray) -> ndarray:
        """h'_m(θ_m)."""
        raise NotImplementedError

    def curvature(self, theta: ndarray) -> ndarray:
        """h''_m(θ_m); 0 if a subclass does not define it, which costs steps only."""
        return np.zeros(len(theta))


class GammaPrior(Prior):
    """The gamma distribution as prior of each weight.

    p(θ_m) ∝ θ_m^(shape − 1) e^(−rate θ_m):   h(θ) = Σ_m rate θ_m − (shape − 1) ln θ_m

    Parameters
    ----------
    shape : float, default 1.0
        ≥ 1. 1 favours small weights as an ℓ1 penalty does; more than 1 keeps every weight away from 0.
    rate : float, default 1.0
        ≥ 0.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import GammaPrior
    >>> prior = GammaPrior(shape=2.0, rate=3.0)
    >>> prior.value(np.ones(2)), prior.gradient(np.ones(2))
    (6.0, array([2., 2.]))
    """

    file_tag = ("prior/gamma", 1)

    def __init__(self, shape: float = 1.0, rate: float = 1.0) -> None:
        self.shape = check_number("shape", shape, 1, closed="left")
        self.rate = check_number("rate", rate, closed="left")

    def value(self, theta: ndarray) -> ndarray:
        logs = np.sum(np.log(theta)) if self.shape > 1 else 0.0
        return self.rate * float(np.sum(theta)) - (self.shape - 1) * float(logs)

    def gradient(self, theta: ndarray) -> ndarray:
        return self.rate - (self.shape - 1) / theta if self.shape > 1 else np.full(len(theta), self.rate)

    def curvature(self, theta: ndarray) -> ndarray:
        return (self.shape - 1) / theta**2 if self.shape > 1 else np.zeros(len(theta))
