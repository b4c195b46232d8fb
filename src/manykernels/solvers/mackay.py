"""MacKay updates of kernel weights by marginal likelihood: eq. 19–23 of Tomioka and Suzuki (2011).

    min over θ ≥ 0 (and σ²) of   −log p(y | θ, σ²) + h(θ),   y ~ N(0, K̄),   K̄ = σ² W⁻¹ + Σ_m θ_m K_m
    −log p = ½ yᵀK̄⁻¹y + ½ log|K̄| + (n/2) log 2π  (+ the terms of the Σw − n further copies of the examples)
    θ_m ← θ_m q_m / t_m,   a = K̄⁻¹y,  q_m = aᵀK_m a,  t_m = Tr(K̄⁻¹K_m);   σ² is the weight of one more kernel, W⁻¹

T outputs share the weights and the noise; their −log p add up. y is centred where there is an intercept, b its mean.

Departs from the paper: the convergence of (22)–(23) is not proved, so the update is read as a gradient step of length
1 in the metric θ_m / (½ t_m), θ_m ← θ_m − s (θ_m / ½t_m) ∂/∂θ_m, halved whenever −log p would rise and lengthened
while it falls (steps longer than 1 bring weights to 0 exactly); a weight of 0 whose derivative is negative may grow.
This converges slowly for similar kernels. So a Newton step over θ ≥ 0, with the average information ½ aᵀK_k K̄⁻¹ K_l a
in place of the Hessian (Gilmour et al. 1995), is taken instead whenever it lowers −log p.
It stops on stationarity: with φ_m = θ_m tr(K_m) / tr(K̄), the share of kernel m in the covariance (and σ² likewise),

    stationarity = ‖φ − [φ − (2 / nT) ∂(−log p + h)/∂φ]₊‖_∞ ≤ tol,

which no rescaling of y or of a kernel changes. n is the number of examples with weight.
"""

import time

import numpy as np

from .._limits import MemoryBudget
from ..inner.systems import blas_for
from ..problem import Problem
from ..solution import Solution, Status
from .base import BaseSolver, Control
from .diagnosis import NOISE_FLOOR

VANISHING_NOISE = 1e-6  # of the variance of y: the status names less noise
MAX_STEP = 64.0  # in units of MacKay's step
KERNELS_PER_READ = 16  # if the kernels do not fit in memory
MAX_NEWTON_KERNELS = 400


class MacKay(BaseSolver):
    """MacKay's updates of the weights by marginal likelihood, for `EmpiricalBayes`.

    θ_m ← θ_m q_m / t_m,   q_m = aᵀK_m a,   t_m = Tr(K̄⁻¹K_m),   a = K̄⁻¹y   (Tomioka and Suzuki 2011, eq. 19–23)

    A line search and Newton steps make it safe and quick; it stops on stationarity. The head of this file says how.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels.banks import DenseBank
    >>> from manykernels.losses import Squared
    >>> from manykernels.problem import Problem
    >>> from manykernels.regularizers import EmpiricalBayes
    >>> from manykernels.solvers import MacKay, solve
    >>> x = np.linspace(-1, 1, 20)
    >>> bank = DenseBank(np.stack([np.outer(x, x), np.outer(x**2, x**2)], axis=2))
    >>> found = solve(Problem(bank, x, Squared(), EmpiricalBayes(noise=0.1), 1.0), MacKay())
    >>> bool(found.theta[0] > 0), float(found.theta[1]), found.stationarity <= 1e-3
    (True, 0.0, True)
    """

    file_tag = ("solver/mackay", 1)
    name = "mackay"
    needs = ("hyperprior",)
    missing = "it maximises the marginal likelihood, which is EmpiricalBayes(...)"

    def refuse(self, problem: Problem) -> str | None:
        if not problem.loss.gaussian:
            return (
                f"the marginal likelihood is a formula for the squared loss only, not for the {problem.loss.name} loss"
            )
        return None

    def solve(self, problem: Problem, control: Control) -> Solution:
        with blas_for(problem.bank.n, problem.bank.n_jobs):
            return Updates(problem, control).run()


class Updates:
    """Descends in x = (θ, σ²), or in x = θ where σ² is given."""

    def __init__(self, problem, control):
        self.problem, self.control, self.tol, self.max_iter = problem, control, control.tol, control.max_iter
        self.started, self.history = time.perf_counter(), []
        noise = problem.regularizer.noise
        self.learns = isinstance(noise, str)
        cost = problem.c.max()
        self.noise = (0.5 / cost if noise is None else float(noise)) if not self.learns else None
        w = problem.c / cost if noise is None else problem.c
        if (w != w[0]).any():
            raise ValueError("solver 'mackay' needs the same example weights for all outputs; use multi_class='ovr'")
        self.rows = np.flatnonzero(w[0] > 0)
        self.w, Y = w[0, self.rows], problem.Y[:, self.rows]
        self.n, self.T = len(self.rows), len(Y)
        self.b = np.zeros(self.T)
        if problem.intercept:  # the mean of a constant is that constant, to the last digit
            self.b = np.where(np.ptp(Y, axis=1) > 0, Y @ self.w / self.w.sum(), Y[:, 0])
        self.y = Y - self.b[:, None]
        self.variance = float(np.sum(self.w * self.y**2) / (self.T * self.w.sum()))
        if self.learns and not self.variance > 0:
            raise ValueError('y is constant: noise="learn" has nothing to learn from; give noise a number')
        self.kernels = Kernels(problem.bank, problem.kernels, self.rows)
        diagonals = problem.bank.diagonals()[np.ix_(problem.kernels, self.rows)]
        self.mean = np.maximum(diagonals.mean(axis=1), 1e-300)  # tr(K_m) / n
        self.x = self._begin(control.warm)
        self.step, self.damping = 1.0, 1e-3

    def _begin(self, warm):
        """The start: half the variance of y for the noise, half for the kernels; or a warm start."""
        M = len(self.mean)
        theta = 0.5 * self.variance / (M * self.mean)
        noise = 0.5 * self.variance
        if warm is not None:
            known = warm.theta[self.problem.kernels]
            noise = max(warm.noise or noise, NOISE_FLOOR * self.variance)
            same = np.append(known, noise) if self.learns else known
            if EvidencePoint(self, same).stationarity <= self.tol:
                return same
            theta = np.maximum(known, 1e-3 * theta) if known.any() else theta
        return np.append(theta, noise) if self.learns else theta

    def run(self):
        point, interrupted, converged = EvidencePoint(self, self.x), False, False
        if not np.isfinite(point.value):
            raise ValueError(
                f"solver 'mackay': σ²I + Σ θ_m K_m is not positive definite at noise={point.noise:g}: raise the noise "
                "or clip the negative eigenvalues of the kernels that have some"
            )
        try:
            while True:
                self._record(point)
                converged = point.stationarity <= self.tol
                if converged or len(self.history) >= self.max_iter:
                    break
                new = self._descend(point)
                if new is None:  # rounding hides any further descent
                    break
                point = new
        except KeyboardInterrupt:
            interrupted = True
        return self._solution(point, converged, interrupted)

    def _descend(self, point):
        """The next point with a lower objective; None if none is found."""
        x = self._newton(point) if len(self.history) > 2 else None
        if x is not None:
            new = EvidencePoint(self, x)
            if self._better(new, point):
                self.damping = max(0.1 * self.damping, 1e-9)
                return new
            self.damping = min(10 * self.damping, 1e3)
        for _ in range(60):
            x = self._project(point.x - self.step * point.metric * point.gradient)
            if np.array_equal(x, point.x):
                return None
            new = EvidencePoint(self, x)
            if self._better(new, point):
                self.step = min(2.0 * self.step, MAX_STEP)
                return new
            self.step *= 0.5
        return None

    def _better(self, new, old):
        """Whether the objective falls by a share of its predicted fall; judged by the slope if rounding hides it."""
        promise = float(old.gradient @ (old.x - new.x))
        if new.value < old.value - 1e-4 * max(promise, 0.0):
            return True
        return new.value <= old.value + 1e-13 * abs(old.value) and new.stationarity < 0.9 * old.stationarity

    def _newton(self, point):
        """argmin over x ≥ 0 of the damped model with the average information; None if it is too large or singular."""
        from scipy.optimize import nnls

        index = np.flatnonzero((point.x > 0) | (point.gradient < 0))
        if len(index) > MAX_NEWTON_KERNELS:
            return None
        P = point.information[:, index]
        H = 0.5 * P.T @ P + np.diag(point.curvature[index])
        unit = np.sqrt(np.diag(H)) + 1e-300
        H = H / np.outer(unit, unit) + self.damping * np.eye(len(index))
        try:
            R = np.linalg.cholesky(H).T
            z = nnls(R, R @ (point.x[index] * unit) - np.linalg.solve(R.T, point.gradient[index] / unit))[0]
        except (np.linalg.LinAlgError, RuntimeError):
            return None
        x = np.zeros_like(point.x)
        x[index] = z / unit
        x = self._project(x)
        return None if np.array_equal(x, point.x) or not np.isfinite(x).all() else x

    def _project(self, x):
        x = np.maximum(x, 0.0)
        if self.learns:
            x[-1] = max(x[-1], NOISE_FLOOR * self.variance)
        return x

    def _record(self, point):
        record = {
            "iteration": len(self.history) + 1, "time": time.perf_counter() - self.started,
            "primal": point.value, "dual": np.nan, "gap": np.nan, "stationarity": point.stationarity,
            "certified": True, "n_active": self.n, "n_support": self.n,
            "n_kernels": int(np.count_nonzero(point.theta)),
        }  # fmt: skip
        self.history.append(record)
        self.control.record(record)

    def _solution(self, point, converged, interrupted):
        theta = np.zeros(self.problem.bank.M)
        theta[self.problem.kernels] = point.theta
        a = np.zeros_like(self.problem.Y)
        a[:, self.rows] = point.a
        noiseless = self.learns and not point.noise > VANISHING_NOISE * self.variance
        return Solution(
            theta, a, self.b, point.value, np.nan, np.nan,
            n_iter=len(self.history), history=self.history, converged=converged, interrupted=interrupted,
            log_marginal_likelihood=-float(point.likelihood), stationarity=point.stationarity, noise=point.noise,
            status=Status.NOISELESS if noiseless else None,
        )  # fmt: skip


class EvidencePoint:
    """−log p + h at x, its gradient, and the metric in which a gradient step of length 1 is MacKay's update."""

    def __init__(self, fit, x):
        from scipy.linalg import cho_factor, cho_solve, lapack, solve_triangular

        M, T, n, w = len(fit.mean), fit.T, fit.n, fit.w
        self.x, self.theta = x, x[:M]
        self.noise = float(x[M]) if fit.learns else fit.noise
        K = fit.kernels.combined(self.theta)
        K[np.diag_indices(n)] += self.noise / w
        self.value = self.stationarity = np.inf
        try:
            factor = cho_factor(K, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:  # rounding; treated like a rise
            return
        self.a = cho_solve(factor, fit.y.T, check_finite=False).T
        copies = np.sum(w - 1.0) * np.log(2 * np.pi * self.noise) + np.sum(np.log(w))
        half_log_det = float(np.sum(np.log(np.diag(factor[0]))))
        self.likelihood = 0.5 * float(np.sum(self.a * fit.y))
        self.likelihood += T * (half_log_det + 0.5 * n * np.log(2 * np.pi) + 0.5 * float(copies))
        h, slope, curvature = fit.problem.regularizer.hyperprior(self.theta)
        self.value = self.likelihood + h
        if not np.isfinite(self.value):
            return
        inverse = lapack.dpotri(factor[0], lower=1)[0]
        P = fit.kernels.products(self.a)
        t, q = T * fit.kernels.traces(inverse), np.maximum(np.einsum("tmi,ti->m", P, self.a), 0.0)
        gradient, scale = 0.5 * (t - q) + slope, 0.5 * t + np.abs(slope)
        unit = np.append(fit.mean, np.mean(1 / w)) if fit.learns else fit.mean
        if fit.learns:
            trace = T * float(np.diag(inverse) @ (1 / w) + np.sum(w - 1.0) / self.noise)
            gradient = np.append(gradient, 0.5 * (trace - np.sum(self.a**2 / w)))
            scale = np.append(scale, 0.5 * T * float(np.diag(inverse) @ (1 / w)))
            P, curvature = np.concatenate([P, (self.a / w)[:, None]], axis=1), np.append(curvature, 0.0)
        P = np.moveaxis(P, 1, 2).reshape(T, n, -1)
        roots = [solve_triangular(factor[0], block, lower=True, check_finite=False) for block in P]
        self.information = np.concatenate(roots)  # (T·n, M): its square is twice the average information
        total = float(self.theta @ fit.mean) + self.noise * float(np.mean(1 / w))
        self.gradient, self.curvature = gradient, curvature
        self.metric = np.maximum(x, 1e-3 * total / (len(x) * unit)) / np.maximum(scale, 1e-300)
        share = unit / total
        moved = fit._project(x - 2.0 / (n * T) * gradient / share**2)
        self.stationarity = float(np.max(np.abs(x - moved) * share))


class Kernels:
    """Products with some kernels on some rows: from memory if they fit, else computed again, a few kernels at a time.

    They may take half of the bank's `memory_limit`, 4 GiB without a limit.
    """

    def __init__(self, bank, kernels, rows):
        self.bank, self.kernels, self.rows = bank, kernels, rows
        fits = int(MemoryBudget(bank.memory_limit).share("matrices kept") // (8 * max(len(rows), 1) ** 2))
        self.some, self.stack = max(1, min(KERNELS_PER_READ, fits)), None
        if len(kernels) <= fits:
            self.stack = self._read(0, len(kernels))

    def _read(self, first, last):
        return self.bank.matrices(self.kernels[first:last], self.rows, np.float64)

    def combined(self, theta):
        if self.stack is not None:
            return np.tensordot(theta, self.stack, 1)
        weights = np.zeros(self.bank.M)
        weights[self.kernels] = theta
        return self.bank.combined(weights, self.rows, self.rows, dtype=np.float64)

    def traces(self, lower):
        """Tr(A K_m), (M',), for the symmetric A of which the lower triangle is given."""
        A = np.tril(lower)
        A *= 2.0
        A[np.diag_indices(len(A))] *= 0.5
        if self.stack is not None:
            return self.stack.reshape(len(self.stack), -1) @ A.ravel()
        parts = (self._read(k, k + self.some) for k in range(0, len(self.kernels), self.some))
        return np.concatenate([part.reshape(len(part), -1) @ A.ravel() for part in parts])

    def products(self, a):
        """K_m a_t, (T, M', n)."""
        if self.stack is not None:
            P = self.stack.reshape(-1, len(self.rows)) @ a.T
            return np.moveaxis(P, 1, 0).reshape(len(a), len(self.stack), -1)
        return self.bank.products(a, self.rows, self.rows, self.kernels)
