from collections.abc import Callable

import numpy as np
from numpy import ndarray

from .._limits import spend
from .base import Regularizer
from .lp_norm import positive

LOG_NORMS = np.linspace(-25.0, 25.0, 2001)  # ln ‖f_m‖
NORM_RANGE = np.exp(LOG_NORMS[[0, -1]])


class Separable(Regularizer):
    """A regularizer of the weights made from a function of the block norms.

    Ω(θ) = Σ sup_x g(x) − x/(2 θ_m), whose block norm is Σ g(‖f_m‖²) (Tomioka & Suzuki 2011, Theorem 7).

    g takes an array of x ≥ 0; it is concave in x, so that θ = 1/(2 g'(x)) is the best weight, and g(t²) is convex in
    t, so that Ω is convex.

    Parameters
    ----------
    g : callable
        g(x) of an array x ≥ 0.
    slope : callable or None
        Its derivative g'(x); None for differences.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.regularizers import Separable
    >>> group_lasso = Separable(np.sqrt)  # Σ ‖f_m‖, LpSum(1)
    >>> group_lasso.weights_from_norms(np.array([0.5, 2.0])).round(3)
    array([0.5, 2. ])
    """

    def __init__(self, g: Callable[[ndarray], ndarray], slope: Callable[[ndarray], ndarray] | None = None) -> None:
        if not callable(g):
            raise ValueError(f"g must be a function of an array x >= 0, got {g!r}")
        self.g, self.slope = g, slope
        self._zero = float(g(np.zeros(1))[0])
        with np.errstate(all="ignore"):
            self._theta, self._rise = self._maps(np.exp(LOG_NORMS))
        finite = np.isfinite(self._zero) and np.all(np.isfinite(self._rise)) and np.all(self._rise > 0)
        if not finite:
            raise ValueError("g must be finite and increasing for x >= 0")
        if np.any(self._theta[1:] < self._theta[:-1] * (1 - 1e-7)):
            raise ValueError("g must be concave in x; for a power of the norm above 2 use BlockNorm(q) or BlockSum(q)")
        if np.any(self._rise[1:] < self._rise[:-1] * (1 - 1e-7)):
            raise ValueError("g(t²) must be convex in t: no convex regularizer of the weights belongs to this g")
        self._theta, self._rise = np.maximum.accumulate(self._theta), np.maximum.accumulate(self._rise)

    @property
    def finite_conjugate(self) -> bool:  # type: ignore[override]  # depends on g
        return bool(self._rise[-1] > 1.01 * self._rise[-500])

    smooth = finite_conjugate

    @property
    def limit(self) -> float:  # type: ignore[override]  # depends on g
        return 0.5 * float(self._rise[-1]) ** 2

    def _maps(self, t):
        """The weight 1/(2 g') and the derivative 2 t g' of g(t²)."""
        x = t**2
        if self.slope is not None:
            slope = self.slope(x)
        else:
            slope = (self.g(x * (1 + 1e-5)) - self.g(x * (1 - 1e-5))) / (2e-5 * x)
        return 0.5 / slope, 2 * t * slope

    def _root(self, table, target, function):
        """t with function(θ(t), rise(t), t) = target, which increases along the grid: by false position and bisection
        in its cell."""
        cell = np.clip(np.searchsorted(table, target), 1, len(LOG_NORMS) - 1)
        lo, hi, below, above = LOG_NORMS[cell - 1], LOG_NORMS[cell], table[cell - 1] - target, table[cell] - target
        for turn in range(15):
            spend(40.0)
            share = 0.5
            if turn % 2 == 0:
                share = np.divide(below, below - above, out=np.full(len(lo), 0.5), where=above > below)
            mid = lo + np.clip(share, 0.0, 1.0) * (hi - lo)
            t = np.exp(mid)
            at = function(*self._maps(t), t) - target
            left = at < 0
            lo, below, hi, above = (np.where(left, *pair) for pair in ((mid, lo), (at, below), (hi, mid), (above, at)))
        return np.where(target < table[0], 0.0, t)

    def value(self, theta: ndarray) -> float:
        theta = np.asarray(theta, float)
        if theta.min() < -1e-9 or theta.max() > self._theta[-1] * (1 + 1e-9):
            return np.inf
        t = self._root(self._theta, theta, lambda weight, rise, t: weight)
        gain = self.g(t**2) - 0.5 * np.divide(t**2, theta, out=np.zeros(len(t)), where=t > 0)
        return float(np.sum(np.maximum(gain, self._zero)))

    def conjugate(self, s: ndarray) -> float:
        rise = np.sqrt(2 * np.maximum(s, 0.0))
        if rise.max() > self._rise[-1] * (1 + 1e-9):
            return np.inf
        t = self._from_rise(rise)
        return float(np.sum(np.maximum(t * rise - self.g(t**2), -self._zero)))

    def shrink(self, s: ndarray) -> float:
        level = self.level(s)
        return 1.0 if level <= self.limit else float(np.sqrt(self.limit / level))

    def _from_rise(self, rise):
        return self._root(self._rise, rise, lambda weight, rise, t: rise)

    def weights_from_norms(self, norms: ndarray) -> ndarray:
        return np.minimum(self._maps(np.clip(norms, *NORM_RANGE))[0], self._theta[-1])

    def weights_from_dual(self, s: ndarray) -> ndarray:
        rise = np.sqrt(2 * np.maximum(s, 0.0))
        t = self._from_rise(rise)
        return np.minimum(np.divide(t, rise, out=np.zeros(len(t)), where=rise > 0), self._theta[-1])

    def prox(self, z: ndarray, step: float = 1.0) -> ndarray:
        """θ + (step/2) rise² = z along the weights θ(t)."""
        z = positive(z)
        table = self._theta + 0.5 * step * self._rise**2
        t = self._root(table, z, lambda weight, rise, t: weight + 0.5 * step * rise**2)
        weight, rise = self._maps(np.clip(t, *NORM_RANGE))
        return np.clip(z - 0.5 * step * rise**2, 0.0, np.minimum(weight, self._theta[-1]))

    def start(self, M: int) -> ndarray:
        return self.weights_from_norms(np.full(M, 1 / M))

    def block_norm(self, sq_norms: ndarray) -> float:
        return float(np.sum(self.g(np.asarray(sq_norms, float))))

    def block_prox(self, norms: ndarray, step: float = 1.0) -> ndarray:
        table = np.exp(LOG_NORMS) + step * self._rise
        return self._root(table, np.maximum(norms, 0.0), lambda weight, rise, t: t + step * rise)

    def block_prox_jacobian(self, norms: ndarray, step: float = 1.0) -> ndarray:
        norms = np.asarray(norms, float)
        width = 1e-4 * np.maximum(norms, 1e-8)
        return (self.block_prox(norms + width, step) - self.block_prox(norms - width, step)) / (2 * width)
