"""The problem that every solver solves, and the gap that judges it.

    min over f_1..f_M, b, θ ≥ 0 :   Σ_ti c_ti V(y_ti, Σ_m f_tm(x_i) + b_t) + ½ Σ_tm ‖f_tm‖² / θ_m + Ω(θ)
    max over a, Σ_i a_ti = total :  − Σ_ti c_ti V*(y_ti, −a_ti / c_ti) − Ω*( ½ Σ_t a_tᵀ K_m a_t )_m

T problems (one row of Y each) share the weights θ; T = 1 is the usual case. At f_tm = θ_m Σ_i a_ti k_m(x_i, ·) the
norms are ‖f_tm‖² / θ_m = θ_m a_tᵀ K_m a_t. Kernels without variance get weight 0. Where Ω* is an indicator the dual
point is `a` scaled back into its domain.

Covariates Z (n, q) are adjusted for and not penalised. With an orthogonal basis E (n, k) of [1 Z], EᵀE = n I, b_t
becomes E b_t with b_t (k,), and Σ_i a_ti = total becomes Eᵀa_t = 0.
"""

from __future__ import annotations

from copy import copy
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from .losses.base import adjusted

if TYPE_CHECKING:
    from .losses.base import Loss
    from .regularizers.base import Regularizer

LEAST_TARGET = 1e-148  # 1e-12 of its square, the scale of a gap, is still a number of float64


class Certificate(NamedTuple):
    """A primal and a dual value, and their distance relative to `scale`, which bounds the distance to the optimum."""

    primal: float
    dual: float
    gap: float
    scale: float


class Problem:
    """The problem that a solver solves: loss, regularizer and bank with targets and costs.

    Parameters
    ----------
    bank : Bank
    Y : array (T, n) or (n,)
        The targets of T outputs, which share the weights.
    loss : Loss
    regularizer : Regularizer
    c : array (T, n) or float, default 1
        The costs of the examples, at least 0.
    intercept : bool, default True
    covariates : array (n, q), optional
        Columns that enter the predictor with free coefficients.

    Attributes
    ----------
    Y, c : array (T, n)
    kernels : array (M',)
        The numbers of the kernels that can have weight.
    covariates : array (n, k) or None
        The basis E of the covariates, and of the constant where there is an intercept.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.losses import Hinge
    >>> from manykernels.problem import Problem
    >>> from manykernels.regularizers import LpNorm
    >>> problem = Problem(DenseBank(np.eye(4)[:, :, None]), [1, 1, -1, -1], Hinge(), LpNorm(2))
    >>> problem.n_outputs, problem.c.shape
    (1, (1, 4))
    """

    def __init__(
        self,
        bank: Any,
        Y: ArrayLike,
        loss: Loss,
        regularizer: Regularizer,
        c: ArrayLike = 1.0,
        intercept: bool = True,
        covariates: ArrayLike | None = None,
    ) -> None:
        self.bank, self.loss, self.intercept = bank, loss, intercept
        self.kernels = np.flatnonzero(bank.usable)
        self.regularizer = regularizer.restrict(self.kernels, bank.M)
        self.Y = np.atleast_2d(np.asarray(Y, dtype=np.float64))
        self.c = np.broadcast_to(np.asarray(c, dtype=np.float64), self.Y.shape)
        if not np.all(np.isfinite(self.c) & (self.c >= 0)):
            raise ValueError("c must be finite and at least 0: the cost of each example")
        if loss.targets == "binary" and not np.all(np.abs(self.Y) == 1):
            raise ValueError(f"Y must be +1 or -1 for the {loss.name} loss")
        if intercept and not loss.takes_intercept:
            raise ValueError(f"the {loss.name} loss has a trivial solution with an intercept; use intercept=False")
        if self.Y.shape[1] != bank.n:
            raise ValueError(f"Y has {self.Y.shape[1]} examples, the kernels have {bank.n}")
        if loss.total and not intercept:
            raise ValueError(f"the {loss.name} loss is defined with an intercept; use intercept=True")
        if loss.total and not self.regularizer.finite_conjugate:
            raise ValueError(
                f"regularizer={regularizer!r} grows like ‖f‖, not ‖f‖²: the {loss.name} problem is then unbounded; "
                "use LpNorm(1) instead"
            )
        for y, cost in zip(self.Y, self.c, strict=True):
            objection = loss.objection(y[cost > 0], intercept)
            if objection:
                raise ValueError(objection)
        size = np.abs(self._about_mean()).max(axis=1) if loss.gaussian else np.zeros(1)
        small = size[(size > 0) & (size < LEAST_TARGET)]
        if len(small):
            raise ValueError(f"y differs by {small[0]:.0e} at most from its mean, and its squares are 0: rescale y")
        self.covariates: np.ndarray | None = None
        self._back: Any = None
        if covariates is not None:
            Z = np.asarray(covariates, dtype=np.float64)
            if Z.ndim != 2 or len(Z) != bank.n or not np.all(np.isfinite(Z)):
                raise ValueError(f"covariates of shape {Z.shape} must be {bank.n} rows of finite numbers")
            if loss.total or not (loss.takes_intercept or loss.coupled):
                raise ValueError(f"the {loss.name} loss takes no covariates: they would explain every example alone")
            self.covariates, self._back = covariate_basis(Z, intercept, loss.coupled)
            self._first = self._starts()

    def _starts(self):
        """A feasible a (T, n) without kernels."""
        if not self.loss.interior:
            return np.zeros(self.Y.shape)
        parts = zip(self.Y, self.c, strict=True)
        if self.loss.coupled:
            return np.array([self._alone(y, c) for y, c in parts])
        found = np.array([adjusted(self.loss, y, np.zeros(len(y)), c, self.covariates)[1] for y, c in parts])
        if any(_at_edge(self.loss, *part) and _endless(self.loss, *part[:2], self.covariates)
               for part in zip(self.Y, self.c, found, strict=True)):  # fmt: skip
            raise ValueError(
                f"the covariates alone separate the classes: the {self.loss.name} loss then has no minimum; leave out "
                "or merge categories that have one class only, or use loss='hinge'"
            )
        return found

    def _alone(self, y, c):
        """The a (n,) of covariates without kernels, for a coupled loss."""
        E, zero = self.covariates, np.zeros(len(y))
        f = E @ self.loss.coefficients(y, zero, c, E)
        a = -self.loss.slope(y, c, f)
        lost = np.abs(E.T @ a).max(initial=0.0) > 1e-6 * max(np.abs(a).sum(), 1e-3 * c.sum())
        if lost or not self.loss.attained and self.loss.risk(y, c, f) <= 1e-9 * c.sum():
            raise ValueError(
                f"the covariates alone predict the order of the events: the {self.loss.name} loss then has no minimum; "
                "leave out or merge categories without events"
            )
        return a

    def among(self, keep: np.ndarray) -> Problem:
        """The same problem with these of its usable kernels alone, positions in `kernels`; the others have weight 0."""
        part = copy(self)
        part.kernels, part.regularizer = self.kernels[keep], self.regularizer.restrict(keep, len(self.kernels))
        return part

    @property
    def n_outputs(self) -> int:
        return len(self.Y)

    def start(self) -> np.ndarray:
        """A feasible a (T, n)."""
        if self.covariates is not None:
            return self._first.copy()
        return np.array([self.loss.start(y, c, self.intercept) for y, c in zip(self.Y, self.c, strict=True)])

    def no_b(self) -> np.ndarray:
        """The b of zeros: (T,), or (T, k) with covariates."""
        return np.zeros(self.n_outputs if self.covariates is None else (self.n_outputs, self.covariates.shape[1]))

    def best_b(self, outputs: np.ndarray) -> np.ndarray:
        """The b of the least loss at these outputs (T, n), 0 without an intercept."""
        parts = list(zip(self.Y, outputs, self.c, strict=True))
        if self.covariates is not None:
            return np.array([self.loss.coefficients(*part, self.covariates) for part in parts])
        return np.array([self.loss.intercept(*part) for part in parts]) if self.intercept else self.no_b()

    def level(self, b: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """What b adds to the outputs of the rows: b_t (T, 1), or E b_t (T, |rows|)."""
        return np.asarray(b)[:, None] if self.covariates is None else b @ self.covariates[rows].T

    def lack(self, a: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """How far a (T, |rows|), 0 elsewhere, is from its equality constraints, in the shape of b."""
        if self.covariates is not None:
            return -a @ self.covariates[rows]
        return self.loss.total - a.sum(axis=1) if self.intercept else self.no_b()

    def coefficients(self, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """(intercepts (T,), coefficients of the covariates (T, q)) of b (T, k)."""
        return in_units(b, self._back, self.intercept or self.loss.coupled)

    def losses(self, outputs: np.ndarray, b: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Σ c V at f = outputs + b over the rows, (T,), with the total·b of one-class problems left out."""
        f = outputs + self.level(b, rows)
        return np.array([
            self.loss.risk(y[rows], c[rows], f_t) for y, c, f_t in zip(self.Y, self.c, f, strict=True)
        ])  # fmt: skip

    def conjugates(self, a: np.ndarray, rows: np.ndarray | slice = slice(None)) -> np.ndarray:
        """Σ c V*(y, −a / c) over the rows, (T,)."""
        parts = zip(self.Y[:, rows], self.c[:, rows], a, strict=True)
        return np.array([self.loss.dual_value(*part) for part in parts])

    def _about_mean(self):
        """The targets, (T, n), less their mean where there is an intercept."""
        mean = np.sum(self.c * self.Y, axis=1) / np.maximum(self.c.sum(axis=1), 1e-300)
        return self.Y - mean[:, None] if self.intercept else self.Y

    def _floor(self):
        """The least scale of a gap, for an objective near 0; in the unit of y² for least squares."""
        if not self.loss.gaussian:
            return 1e-12 * float(self.c.sum())
        return float(np.sum(self.c * (1e-12 * self._about_mean() ** 2 + 1e-24 * self.Y**2)))

    def reach(self) -> np.ndarray:
        """The largest |a| to expect, (T, n): c, and 2 c |y| for least squares."""
        return 2.0 * self.c * np.abs(self._about_mean()) if self.loss.gaussian else self.c

    def origin(self) -> tuple[tuple[np.ndarray, np.ndarray, np.ndarray], Certificate]:
        """((θ, a, b), its certificate) of a point that is always feasible: a = 0, or the a that Σa = total requires."""
        theta, a, loss = self.regularizer.start(len(self.kernels)), np.zeros(self.Y.shape), self.loss
        outputs, q = np.zeros(self.Y.shape), np.zeros(len(theta))
        if loss.total:
            a = self.start()
            P = self.bank.products(a, np.arange(self.bank.n), None, self.kernels)
            outputs, q = np.einsum("m,tmi->ti", theta, P), np.einsum("tmi,ti->m", P, a)
        b = self.best_b(outputs)
        certificate = self.certificate(self.losses(outputs, b), a, b, theta, q)
        if not np.isfinite(certificate.primal - certificate.dual):
            raise ValueError(
                f"the objective is {certificate.primal} before any kernel is used: rescale y, lower C or sample_weight"
            )
        return (theta, a, b), certificate

    def rounding(self, a: np.ndarray, theta: np.ndarray) -> float:
        """The change of Σ c V by the rounding of a and of kernel values, 2⁻⁵³ of each, at a (T, n).

        |k_m(x_i, x_j)|² ≤ k_m(x_i, x_i) k_m(x_j, x_j), so that the error of an output is at most
        2⁻⁵² Σ_m θ_m √k_m(x_i, x_i) Σ_j |a_j| √k_m(x_j, x_j). The error of the risk is that times its slope: |a|, in the
        unit of y, for least squares, and about c for other losses.
        """
        used = np.flatnonzero(theta)
        roots = np.sqrt(np.maximum(self.bank.diagonals()[used], 0.0))
        with np.errstate(all="ignore"):
            known = np.einsum("m,mi,tm->ti", theta[used], roots, np.abs(a) @ roots.T)
            slope = np.abs(a) if self.loss.gaussian else np.maximum(np.abs(a), self.c)
            return 2.0**-52 * float(np.sum(slope * known))

    def dual_rounding(self, a: np.ndarray, theta: np.ndarray, tol: float) -> float:
        """The loss of dual value by the rounding of q_m = Σ_t a_tᵀK_m a_t, at a (T, n).

        Kernels without weight count too, since their q_m, with an error of 2⁻⁵² Σ_t (Σ_i |a_ti| √k_m(x_i, x_i))², also
        bounds a. The norms are computed again if the error could reach tol; else, and for an Ω without Ω*, the
        result is 0.
        """
        if not self.regularizer.has("conjugate"):
            return 0.0
        roots = np.sqrt(np.maximum(self.bank.diagonals()[self.kernels], 0.0))
        with np.errstate(all="ignore"):
            off = 2.0**-52 * ((np.abs(a) @ roots.T) ** 2).sum(axis=0)
            most = float(off.max(initial=0.0)) * max(1.0, float(theta.max(initial=0.0)))
            if most <= tol * min(1.0, float(np.sum(self.c))):
                return 0.0
            support = np.flatnonzero(a.any(axis=0))
            P = self.bank.products(a[:, support], support, support, self.kernels)
            q = np.maximum(np.einsum("tmi,ti->m", P, a[:, support]), 0.0)
            return self.dual_value(a, q) - self.dual_value(a, q + off)

    def dual_value(self, a: np.ndarray, q: np.ndarray, rows: np.ndarray | slice = slice(None)) -> float:
        """− Σ c V*(y, −t a / c) − Ω*(½ t² q) at a (T, |rows|), 0 elsewhere; t ≤ 1 takes q into the domain of Ω*."""
        t = self.regularizer.shrink(0.5 * q)
        return -float(self.conjugates(t * a, rows).sum()) - self.regularizer.conjugate(0.5 * t * t * q)

    def certificate(
        self,
        losses: np.ndarray,
        a: np.ndarray,
        b: np.ndarray,
        theta: np.ndarray,
        q: np.ndarray,
        rows: np.ndarray | slice = slice(None),
    ) -> Certificate:
        """The `Certificate` at a (T, |rows|), 0 elsewhere, from the losses and q_m = Σ_t a_tᵀ K_m a_t."""
        offset = self.loss.total * float(np.sum(b)) if self.loss.total else 0.0
        risk, q = float(losses.sum()), np.maximum(q, 0.0)
        norms, omega = self.regularizer.penalty(theta, q)
        primal = risk + offset + norms + omega
        dual = self.dual_value(a, q, rows)
        scale = max(risk + norms + abs(omega) + abs(offset), self._floor(), 1e-300)
        off = self.lack(a, rows)
        dual += float((off * b).sum())  # the cost of the rounding of Σ a
        if (np.abs(off.T) > 1e-6 * (1.0 + np.abs(a).sum(axis=1))).any():
            dual = -np.inf  # not a feasible point
        gap = (primal - dual) / scale
        return Certificate(primal, dual, max(gap, 0.0) if gap > -1e-6 else np.nan, scale)  # below: no bound


def covariate_basis(Z: np.ndarray, intercept: bool, centred: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """(E (n, k), back) for covariates Z (n, q): EᵀE = n I and [1 Z] back = E, or Z back = E without an intercept.

    k is the rank; columns that are combinations of others share a coefficient of least norm. `centred` is for losses
    that ignore constants: [1 Z] back = E too, but E spans no constant, which would swamp columns of large mean.
    """
    mean = Z.mean(axis=0) if intercept or centred else np.zeros(Z.shape[1])
    size = np.sqrt(np.mean((Z - mean) ** 2, axis=0))
    size[size <= 1e-12 * np.abs(mean)] = 1.0
    size[size == 0] = 1.0
    ones = np.ones((len(Z), int(intercept)))
    U, s, Vt = np.linalg.svd(np.hstack([ones, (Z - mean) / size]), full_matrices=False)
    keep = s > 1e-9 * s.max(initial=0.0)
    E, back = np.sqrt(len(Z)) * U[:, keep], np.sqrt(len(Z)) * Vt[keep].T / s[keep]
    back[ones.shape[1] :] /= size[:, None]
    if centred and not intercept:
        back = np.vstack([np.zeros(back.shape[1]), back])
    if centred or intercept:
        back[0] -= mean @ back[1:]
    return E, back


def in_units(b: np.ndarray, back: np.ndarray, constant: bool) -> tuple[np.ndarray, np.ndarray]:
    """(intercepts (T,), coefficients in the units of the covariates (T, q)) of b (T, k); see `covariate_basis`."""
    whole = b @ back.T
    return (whole[:, 0], whole[:, 1:]) if constant else (np.zeros(len(whole)), whole)


def _at_edge(loss, y, c, a):
    """Whether an a_i is next to the end of its box: the coefficients of the covariates may then be infinite."""
    lo, hi = loss.box(y, c)
    return bool(np.any(np.minimum(hi - a, a - lo)[hi > lo] < 1e-6 * c[hi > lo]))


def _endless(loss, y, c, E):
    """Whether some w ≠ 0 never raises the loss at E w · t, t → ∞: (E w)_i ≥ 0 where hi_i > 0, ≤ 0 where lo_i < 0."""
    from scipy.optimize import linprog

    lo, hi = loss.box(y, c)
    side = np.where(hi > 0, 1.0, 0.0) - np.where(lo < 0, 1.0, 0.0)
    free = side != 0
    D, still = side[free, None] * E[free], E[(hi > lo) & ~free]
    limits = np.repeat([1.0, 0.0], len(D))
    fixed = dict(A_eq=still, b_eq=np.zeros(len(still))) if len(still) else {}
    found = linprog(-D.sum(axis=0), np.vstack([D, -D]), limits, bounds=(None, None), **fixed)
    return bool(found.status != 0 or -found.fun > 0.5)  # the largest of (E w)_i is 1, or w = 0
