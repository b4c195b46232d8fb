"""The base of every run of a solver: its history, its best point and bound, and its end."""

import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
from numpy import ndarray

from .._limits import MIN_FLOAT32_GAP, Allowance, Exhausted, spend
from .._threads import close_pool, limit_blas
from ..problem import Certificate, Problem
from ..solution import Solution, Status
from .base import Control

MAX_IDLE_STEPS = 200  # without progress, before a run ends
MAX_UNSOLVED = 20  # unsolved inner problems in a row, before a run ends
MIN_FLOAT32_EXAMPLES = 1000  # below, float32 saves less than the compiling of its loops


class Finished(Exception):
    """Ends a run: the gap is reached, the steps are used up, or they no longer help."""


class Stall:
    """Whether the gap has not fallen by a thousandth, or to the share `least`, in `patience` steps."""

    def __init__(self, patience, least=0.999):
        self.patience, self.least, self.mark, self.since = patience, least, np.inf, 0

    def __call__(self, gap):
        better = gap < self.least * self.mark
        self.mark, self.since = (gap, 0) if better else (self.mark, self.since + 1)
        return self.since >= self.patience


def is_finite(*parts):
    """Whether all these arrays and numbers are finite; only such a point can be the best one."""
    return all(np.isfinite(part).all() for part in parts)


class Run:
    """One fit: where it starts, its history, the best certified point, and when it stops."""

    history: list[dict[str, Any]]
    best: Any  # a dict of theta, a and b, None before the first certificate
    best_dual: Any  # a dual point, or a function that gives it
    dual_b: ndarray  # (T,), the b in its bound, which contains (total − Σa) b: the rounding of Σa
    carried = False  # products are sums over many steps: the last point is certified again
    reason = ""  # why the run ended at a point without a certificate
    precision = ""  # of the combined kernel in the last step, see `Solution`

    def __init__(self, problem: Problem, control: Control) -> None:
        self.problem, self.control, self.tol, self.max_iter = problem, control, control.tol, control.max_iter
        self.kernels, self.n = problem.kernels, problem.bank.n
        self.bank, self.index = problem.bank, problem.kernels
        warm = control.warm
        if warm is None:
            self.theta = problem.regularizer.start(len(self.kernels))
            self.a, self.b = problem.start(), problem.no_b()
        else:
            self.theta, self.a = self._clean(warm.theta[self.kernels]), np.array(warm.a)
            self.b = np.array(warm.b, float)
        self.history = list(control.history)  # of the solver before this one
        self.started = time.perf_counter() - (self.history[-1]["time"] if self.history else 0.0)
        self.best, self.stalled = None, Stall(MAX_IDLE_STEPS)
        self.upper, self.lower, self.best_dual, self.dual_b = np.inf, -np.inf, None, problem.no_b()
        self.solves = self.unsolved = 0

    @property
    def first_dtype(self) -> type:
        """The dtype of the combined kernel until it proves too coarse."""
        single = self.tol >= MIN_FLOAT32_GAP and self.n >= MIN_FLOAT32_EXAMPLES
        return np.float32 if single else np.float64

    def _clean(self, theta):
        """Warm weights made feasible for this regularizer if they are outside its domain."""
        regularizer = self.problem.regularizer
        known = regularizer.has("value") and theta.any() and theta.min() >= 0
        if known and np.isfinite(regularizer.value(theta)):
            return theta
        theta = regularizer.prox(theta, 1e-9) if regularizer.has("prox") else np.maximum(theta, 0.0)
        return theta if theta.any() else regularizer.start(len(theta))

    def run(self, algorithm: Callable[[Any], object]) -> Solution:
        """The `Solution` of algorithm(self); Ctrl-C gives the best point so far."""
        interrupted, status, allowance = False, None, Allowance(self.control.work)
        try:
            with limit_blas(1), allowance:
                algorithm(self)
        except Finished:
            pass
        except Exhausted:
            status = Status.WORK
            with suppress(Finished):
                self.rescue()
        except KeyboardInterrupt:
            interrupted = True
            with suppress(Finished, KeyboardInterrupt):
                self.rescue()
            if self.best is None:
                close_pool()
                raise
        self.control.work = allowance.left
        self.finish()
        if interrupted:
            close_pool()
            self.leave()
        reached = bool(self.best["gap"] <= self.tol)
        self.control.certified = Solution(
            self.full(self.best.pop("theta")), n_iter=len(self.history), history=self.history, interrupted=interrupted,
            status=status, reason="" if reached else self.reason, precision=self.precision, converged=reached,
            **self.best,
        )  # fmt: skip
        return self.control.certified

    def full(self, theta: ndarray) -> ndarray:
        """The weights of all kernels, (M,): 0 for those that are not usable."""
        weights = np.zeros(self.problem.bank.M)
        weights[self.kernels] = theta
        return weights

    def rescue(self) -> None:
        """Finishes the run after an interrupt."""

    def finish(self) -> None:
        """Completes the best point with its certificate, which is finite."""
        best_dual = self.best_dual() if callable(self.best_dual) else self.best_dual
        known = self.best is not None and best_dual is not None
        if known:  # at the b of the result, not at that of the dual point
            self.lower += float(np.sum(self.problem.lack(best_dual) * (self.best["b"] - self.dual_b)))
        carried = self.carried and self.best is not None
        if carried:
            theta, a, b = (self.best[name] for name in ("theta", "a", "b"))
            P = self.products(a)
            losses = self.problem.losses(np.einsum("m,tmi->ti", theta, P), b)
            certificate = self.problem.certificate(losses, a, b, theta, np.einsum("tmi,ti->m", P, a))
            self.upper, self.scale, self.lower = certificate.primal, certificate.scale, certificate.dual
        mean = callable(self.best_dual) and known and not self.bank.explicit
        if mean or carried and known and not np.array_equal(best_dual, a):
            self.lower = self._dual_value(best_dual)  # a mean of cuts holds for positive semidefinite kernels
        elif best_dual is not None and self.tol < self.gap < np.inf and not self.bank.explicit:
            again, unit = self._dual_value(best_dual), 4 * (self.n + 64) * 2.0**-53  # docs/reliability.md
            # without convergence the bound may be rounding error
            self.lower = self.lower if again > self.lower - unit * abs(self.lower) else again
        if not np.isfinite(self.gap):
            best_dual = self._go_back()
        same = best_dual is None or np.array_equal(best_dual, self.best["a"])
        self.best |= {"primal": self.upper, "dual": self.lower, "gap": self.gap, "dual_a": None if same else best_dual}

    def _go_back(self):
        """Takes the dual point of `Problem.origin` for a missing or broken bound, and its predictor for a missing one.

        At a = 0 no kernel and no rounding of a kernel counts, so that this bound holds for every finite objective.
        """
        (theta, a, b), (primal, self.lower, _, scale) = self.problem.origin()
        if not np.isfinite(self.upper):
            self.best, self.upper, self.scale = {"theta": theta, "a": a, "b": b}, primal, scale
        if self.history:
            self.history[-1]["gap"] = self.gap
        return a

    def _dual_value(self, a):
        support, b = np.flatnonzero(a.any(axis=0)), self.best["b"]
        q = np.einsum("tmi,ti->m", self.bank.products(a[:, support], support, support, self.index), a[:, support])
        return self.problem.certificate(np.zeros(len(b)), a, b, self.best["theta"], q).dual

    def intercepts(self, outputs: ndarray) -> ndarray:
        """The best b (T,) at these outputs, 0 without an intercept; (T, k) with covariates."""
        return self.problem.best_b(outputs)

    def products(self, a: ndarray) -> ndarray:
        """K_m a over the usable kernels and all examples, (T, M', n)."""
        support = np.flatnonzero(a.any(axis=0))
        return self.bank.products(a[:, support], support, None, self.index)

    def certify(
        self,
        theta: ndarray,
        a: ndarray,
        P: ndarray | None = None,
        *,
        q: ndarray | None = None,
        outputs=None,
        b: ndarray | None = None,
        **extra,
    ) -> Certificate:
        """The certificate of (θ, a) on all examples, in float64 sums; records it, keeps the best, stops the run.

        Uses P = `products(a)`, or, if known, q_m = Σ_t a_tᵀK_m a_t and the outputs Σ_m θ_m K_m a, (T, n), with their
        `intercepts`. The gap of the run lies between the best primal and the best dual value so far.
        """
        spend(500.0 + 1e-3 * len(self.kernels) * a.size * self.n)
        if q is None:
            P = self.products(a) if P is None else P
            q, outputs = np.einsum("tmi,ti->m", P, a), np.einsum("m,tmi->ti", theta, P)
        b = self.intercepts(outputs) if b is None else b
        certificate = self.problem.certificate(self.problem.losses(outputs, b), a, b, theta, q)
        if certificate.primal < self.upper and is_finite(theta, a, b, certificate.primal):
            self.upper, self.scale = certificate.primal, certificate.scale
            self.best = {"theta": theta.copy(), "a": a.copy(), "b": b}
        self.raise_lower(certificate.dual, a.copy(), b)
        self.record(theta, a, certificate, **{"gap": self.gap} | extra)
        broken = np.isnan(self.gap) or not np.isfinite(certificate.gap)
        if broken and not self._allowed(theta):
            self.reason = f"a step led to weights that are negative, not finite or outside {self.problem.regularizer!r}"
        if self.gap <= self.tol or len(self.history) >= self.max_iter or broken or self.stalled(self.gap):
            raise Finished
        return certificate

    def _allowed(self, theta):
        """Whether the weights lie in the domain of the regularizer."""
        if not is_finite(theta) or np.min(theta, initial=0.0) < 0:
            return False
        return bool(np.isfinite(self.problem.regularizer.penalty(theta, np.zeros(len(theta)))[1]))

    def certificate_at(self, theta: ndarray, a: ndarray, q: ndarray, outputs: ndarray) -> Certificate:
        """The certificate of (θ, a) with the best intercepts, without a record."""
        b = self.intercepts(outputs)
        return self.problem.certificate(self.problem.losses(outputs, b), a, b, theta, q)

    def stop_at_warm(self, q: ndarray, outputs: ndarray) -> None:
        """Ends the run if the warm start reaches the gap already."""
        if self.certificate_at(self.theta, self.a, q, outputs).gap <= self.tol:
            self.certify(self.theta, self.a, q=q, outputs=outputs)

    def raise_lower(self, lower: float, a: ndarray | Callable[[], ndarray], b: ndarray | None = None) -> bool:
        """Whether this lower bound, proved by a and containing (total − Σa) b, is the best so far; then keeps it."""
        if not self.lower < lower < np.inf:
            return False
        self.lower, self.best_dual, self.dual_b = lower, a, self.problem.no_b() if b is None else b.copy()
        return True

    def bound(self, lower: float, a: ndarray | Callable[[], ndarray]) -> None:
        """Records a lower bound of the optimum, proved by a, (T, n) or a function that gives it."""
        if self.raise_lower(lower, a):
            self.history[-1]["gap"] = self.gap
        if self.gap <= self.tol:
            raise Finished

    @property
    def gap(self) -> float:
        """The relative gap between the best primal and the best dual value so far."""
        gap = (self.upper - self.lower) / self.scale if self.upper < np.inf else np.inf
        return max(gap, 0.0) if gap > -1e-6 else np.nan  # below: no bound

    def record(self, theta: ndarray, a: ndarray, certificate: Certificate, **extra) -> None:
        record = {
            "iteration": len(self.history) + 1, "time": time.perf_counter() - self.started,
            "primal": certificate.primal, "dual": certificate.dual, "gap": certificate.gap,
            "certified": True, "n_active": self.n, "n_support": int(np.count_nonzero(a.any(axis=0))),
            "n_kernels": int(np.count_nonzero(theta)), "solves": self.solves, **extra,
        }  # fmt: skip
        self.history.append(record)
        self.control.record(record)
        self.keep(theta, record)

    def keep(self, theta: ndarray, record: dict[str, Any]) -> None:
        """Offers the checkpoint a point for a warm start: the best certified one, or the present one."""
        point = self.best if record["certified"] else {"theta": theta, "a": self.a, "b": self.b}
        if point is not None:
            self.control.offer(lambda: self.state(point))

    def leave(self) -> None:
        """Leaves the best point in the checkpoint after an interrupt."""
        self.control.leave(lambda: self.state(self.best))

    def state(self, point: dict[str, Any]) -> dict[str, Any]:
        """The state of a warm start."""
        last = self.history[-1]
        point = {"theta": self.full(point["theta"]), "a": point["a"], "b": point["b"]}
        return {
            "point": point | {name: last[name] for name in ("primal", "dual", "gap")},
            "gap": last["gap"],
            "time": last["time"],
        }
