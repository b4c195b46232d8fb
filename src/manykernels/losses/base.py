"""The protocol of a loss V(y, f), convex in the prediction f."""

from typing import Any

import numpy as np
from numpy import ndarray
from numpy.typing import ArrayLike

from .._central_path import CentralPath
from .._limits import spend
from .._parts import Part

Bounds = tuple[ndarray, ndarray]  # (lo, hi)
Quadratic = tuple[Any, Any, Any]  # (linear, diagonal, kink), see `Loss.quadratic`
MAX_ADJUSTING_STEPS = 80  # on the central path of the coefficients of covariates
PRECISE = 1e-13  # relative gap at which that path ends
OTHER_UNIT = 100  # a parameter of this many standard deviations of y is in another unit


class Loss(Part):
    """A convex loss V(y, f), its conjugate, and the box of its signed dual variables.

    V*(y, u) = sup_f u f − V(y, f);   a_i = −c_i u_i lies in c_i · unit_box(y_i).

    A subclass defines `value`, `gradient`, `unit_box` and `quadratic`; arrays are (n,), c_i weighs example i.
    An `interior` loss, whose conjugate is not quadratic, also states `_conjugate(y, a)` = V*(y, −a) and `start`.
    `value` and the conjugate make the certificate; `gradient` finds the intercept and the steps of some solvers.

    Attributes
    ----------
    name : str
        Its name in messages; the name of the class unless given.
    targets : str
        "real" (the default) and "count" (y ≥ 0) for regressors, "binary" (y = ±1) for classifiers.
    flat : bool
        Whether V = 0 on an interval of f, where a = 0; data sources need such a loss.
    interior : bool
        Whether the conjugate has another form than that of `quadratic`.

    Examples
    --------
    >>> from manykernels.losses import LOSSES, Hinge, Loss
    >>> issubclass(Hinge, Loss), Hinge.targets, sorted(LOSSES)[:3]
    (True, 'binary', ['epsilon_insensitive', 'hinge', 'huber'])
    """

    name: str = ""  # in messages; the name of the class unless given
    targets = "real"  # or "binary" (y = ±1), "count" (y ≥ 0), "survival" (times), or "none" (y is not read)
    interior = False
    flat = False  # V = 0 on an interval of f, where a = 0
    total = 0.0  # Σ a_i when there is an intercept
    takes_intercept = True
    coupled = False  # no sum over examples: a `CoupledLoss`
    attained = False  # a coupled loss has a minimum even if covariates predict the order of the events
    timeless = False  # f orders times, and says nothing about how far apart they are
    probabilistic = False  # 1 / (1 + e^{-f}) is the probability of y = 1
    ratio = ""  # what e^w of the coefficient w of a covariate is called, if it says something
    own_score = ""  # the name of the share of this loss that f saves, which then scores regressions; else R²
    gaussian = False  # least squares: minus the logarithm of a Gaussian likelihood, up to constants

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    def _lacks(self, method):
        return f"{type(self).__name__} must define {method}; help(manykernels.losses.Loss) lists the methods of a loss"

    def value(self, y: ndarray, f: ndarray) -> ndarray:
        """V(y_i, f_i)."""
        raise NotImplementedError(self._lacks("value(y, f), the loss of each example, (n,)"))

    def gradient(self, y: ndarray, f: ndarray) -> ndarray:
        """A subgradient of V in f, nondecreasing in f."""
        raise NotImplementedError(self._lacks("gradient(y, f), its derivative in f, (n,)"))

    def unit_box(self, y: ndarray) -> Bounds:
        """The bounds (lo, hi) of a_i at c_i = 1: minus the domain of V*."""
        raise NotImplementedError(self._lacks("unit_box(y), the bounds (lo, hi) of a at c = 1, (n,) each"))

    def quadratic(self, y: ndarray, c: ndarray, a: ndarray) -> Quadratic:
        """(linear, diagonal, kink), (n,) each, with c V*(y, −a/c) = linear·a + ½ diagonal·a² + kink·|a|.

        Exact unless `interior`; then its slope and curvature are those of c V*(y, −a/c) at a: with
        g = d/da c V*(y, −a/c) and h its derivative, diagonal = h and linear = g − h·a.
        """
        raise NotImplementedError(self._lacks("quadratic(y, c, a), three arrays (linear, diagonal, kink), (n,) each"))

    def box(self, y: ndarray, c: ArrayLike) -> Bounds:
        """The bounds (lo, hi) of a_i; both 0 where c_i = 0."""
        c = spread(c, y)
        lo, hi = self.unit_box(y)
        return tuple(np.multiply(bound, c, out=np.zeros(c.shape), where=c > 0) for bound in (lo, hi))

    @property
    def smooth(self) -> bool:
        """Whether V has a slope without jumps, so that V* curves everywhere and inner problems take few products."""
        one = np.ones(1)
        return self.interior or bool(np.all(np.asarray(self.quadratic(one, one, 0 * one)[1]) > 0))

    def conjugate(self, y: ndarray, u: ndarray) -> ndarray:
        """V*(y_i, u_i), +inf outside its domain."""
        lo, hi = self.unit_box(y)
        a = np.minimum(np.maximum(-u, lo), hi)
        return np.where(np.abs(a + u) <= 1e-12 * (1 + np.abs(a)), self._conjugate(y, a), np.inf)

    def _conjugate(self, y, a):
        linear, diagonal, kink = self.quadratic(y, np.ones_like(a), a)
        return (linear + 0.5 * diagonal * a) * a + kink * np.abs(a)

    def risk(self, y: ndarray, c: ndarray, f: ndarray) -> float:
        """Σ_i c_i V(y_i, f_i)."""
        return float(c @ self.value(y, f))

    def dual_value(self, y: ndarray, c: ArrayLike, a: ndarray) -> float:
        """Σ_i c_i V*(y_i, −a_i/c_i), over the examples with c_i > 0."""
        c = spread(c, a)
        keep, y = c > 0, spread(y, a)
        return float(c[keep] @ self.conjugate(y[keep], -a[keep] / c[keep]))

    def intercept(self, y: ndarray, f: ndarray, c: ndarray) -> float:
        """argmin_b total·b + Σ_i c_i V(y_i, f_i + b); the midpoint, or the finite end, of an interval."""

        def slope(b):
            spend(20.0)
            terms = c * self.gradient(y, f + b)
            slope, noise = self.total + terms.sum(), self.total + np.abs(terms).sum() + weight
            return slope if abs(slope) > 1e-14 * noise else 0.0

        weight = np.sum(c)
        return middle(*_zeros(slope, 1.0 + np.max(np.abs(f)) + np.max(np.abs(y))))

    def coefficients(self, y: ndarray, f: ndarray, c: ndarray, E: ndarray) -> ndarray:
        """argmin_w Σ_i c_i V(y_i, f_i + (E w)_i), (k,), for covariates E (n, k)."""
        return adjusted(self, y, f, c, E)[0]

    def misfit(self, spread: float, C: float) -> str:
        """The warning about parameters in another unit than y, of standard deviation `spread`; "" if there is none."""
        return ""

    def mean(self, f: ndarray) -> ndarray:
        """What a decision f predicts of y: f itself, or the inverse of the link of this loss."""
        return f

    def alignment_target(self, y: ndarray) -> ndarray:
        """The targets that kernels are compared with, (n,): y, or what the loss says that f should follow."""
        return y

    def objection(self, y: ndarray, intercept: bool) -> str:
        """Why there is no minimum for these targets of the examples with weight; "" if there is one."""
        if self.interior and self.targets == "binary" and intercept and len(np.unique(y)) < 2:
            return (
                f"y has one class only among the examples with weight: the {self.name} loss then has no minimum; "
                "leave the class out or use loss='hinge'"
            )
        return ""

    def start(self, y: ndarray, c: ndarray, equality: bool) -> ndarray:
        """A feasible a, (n,); with `equality`, Σ a_i = total."""
        return np.zeros(np.shape(y))


def adjusted(loss, y, f, c, E):
    """(w (k,), a (n,)) for E (n, k), a strictly inside its box, with Eᵀa = 0 up to rounding; a small convex problem.

    min over w :  Σ_i c_i V(y_i, f_i + (E w)_i)   =   max over a, Eᵀa = 0 :  − Σ_i a_i f_i − Σ_i c_i V*(y_i, −a_i / c_i)

    The dual is an inner problem without kernels. Its Newton matrices are diagonal, so that a step on the central path
    costs O(n k²); w are the multipliers of Eᵀa = 0.
    """
    lo, hi = loss.box(y, c)
    index = np.flatnonzero(hi > lo)
    y, f, c, E = y[index], f[index], c[index], E[index]

    def rest(x):
        linear, diagonal, _ = loss.quadratic(y, c, x)
        return f + linear + diagonal * x, diagonal

    a = loss.start(y, c, True)
    path = CentralPath(None, rest, loss.quadratic(y, c, a)[2], lo[index], hi[index], np.zeros(E.shape[1]), E)
    best, least, dual = (np.zeros(E.shape[1]), np.zeros(len(lo))), np.inf, -np.inf
    with np.errstate(all="ignore"):
        path.start(a)
        for _ in range(MAX_ADJUSTING_STEPS):
            spend(50.0 + 1e-2 * len(y))
            x = path.p - path.m
            value = float(c @ loss.value(y, f + E @ path.beta))
            if np.abs(E.T @ x).max(initial=0.0) <= 1e-9 * (np.abs(x).sum() + 1e-300):
                dual = max(dual, -float(x @ f) - loss.dual_value(y, c, np.clip(x, lo[index], hi[index])))
            size = value + float(np.abs(x * f).sum()) + 1e-300
            if value <= least:
                whole = np.zeros(len(lo))
                whole[index] = x
                least, best = value, (path.beta, whole)
            if value - dual <= PRECISE * size or not path.step():
                break
    return best


def _zeros(slope, reach):
    """The ends of the interval where a nondecreasing slope vanishes: secant and bisection by turns."""
    (lo, below), (hi, above) = (_bracket(slope, side * reach) for side in (-1, 1))
    if below == 0 or above == 0:
        return -np.inf if below == 0 else _edge(slope, lo, hi), np.inf if above == 0 else _edge(slope, hi, lo)
    for turn in range(200):
        mid = lo - below * ((hi - lo) / (above - below)) if turn % 2 == 0 else 0.5 * (lo + hi)
        if not lo < mid < hi:
            mid = 0.5 * (lo + hi)
            if mid in (lo, hi):
                return mid, mid
        at = slope(mid)
        if at == 0:
            break
        lo, below, hi, above = (mid, at, hi, above) if at < 0 else (lo, below, mid, at)
    near = 1e-9 * max(1.0, abs(mid))
    if slope(mid - near) < 0 < slope(mid + near):
        return mid, mid
    return _edge(slope, lo, mid), _edge(slope, hi, mid)


def _bracket(slope, b):
    """(b doubled until the slope has the sign of b, that slope); 0 if it never has."""
    for _ in range(60):
        at = slope(b)
        if at * b > 0:
            return b, at
        b *= 2
    return b, 0.0


def _edge(slope, outside, zero):
    """Where the slope becomes zero on the way from `outside`, by bisection."""
    for _ in range(100):
        mid = 0.5 * (outside + zero)
        if mid in (outside, zero):
            break
        outside, zero = (outside, mid) if slope(mid) == 0 else (mid, zero)
    return zero


def step_root(knots: ndarray, jumps: ndarray, slope: float) -> float:
    """The middle of the zeros of slope + Σ jumps·[b > knots], for piecewise linear losses."""
    order = np.argsort(knots)
    after = slope + np.cumsum(jumps[order])
    ends = np.concatenate([[-np.inf], knots[order], [np.inf]])
    noise = 1e-14 * (abs(slope) + jumps.sum())
    lower, upper = np.searchsorted(np.concatenate([[slope], after]), [-noise, noise], side="left")
    return middle(ends[lower], ends[upper])


def middle(lower: float, upper: float) -> float:
    """The midpoint of an interval, its finite end, or 0."""
    finite = [end for end in (lower, upper) if np.isfinite(end)]
    return float(sum(finite) / max(len(finite), 1))


def weak(what: str, pull: float, spread: float) -> str:
    """Words if |a_i| ≤ pull keeps f nearly constant: pull is less than spread / OTHER_UNIT."""
    if OTHER_UNIT * pull >= spread:
        return ""
    return f"{what} is small beside that, so that f stays nearly constant"


def signed_box(y: ndarray, width: float) -> Bounds:
    """The unit box of a loss of z = y f: 0 ≤ y a ≤ width."""
    return np.where(y > 0, 0.0, -width), np.where(y > 0, width, 0.0)


def spread(c: ArrayLike, y: ndarray) -> ndarray:
    """The weights as floats of the shape of y."""
    c = np.asarray(c, float)
    return c if c.shape == y.shape else np.broadcast_to(c, y.shape)


def reciprocal(c: ArrayLike) -> ndarray:
    """1/c, and 0 where c = 0."""
    c = np.asarray(c, float)
    return np.divide(1.0, np.maximum(c, 1e-300), out=np.zeros_like(c), where=c > 0)
