"""An interior-point method in the dual variables and the weights, for many kernels with few numeric features each.

    max over a, Σa = total :  − Σ c V*(y, −a / c) − Ω*(½ q_m)_m ,   q_m = ‖v_m‖² ,   v_m = Σ_i a_i φ_m(x_i)

On the simplex Ω* is a largest value, min τ with ½ q_m ≤ τ: the weights are the multipliers of those bounds, and
θ_m (τ − ½ q_m) goes to 0 along the central path as the products of the box do. Where Ω* is smooth, θ = ∇Ω*(½ q).
With a kernel for each word thousands of kernels have weight, each on another bound: cutting planes would need as many
cuts, while the number of steps here hardly depends on the number of kernels. `_interior_path` has the steps,
`_interior_system` the linear systems that they solve.

On the path every kernel has some weight. A θ_m that is small beside its τ − ½ q_m goes to 0, and the final point sets
these weights to 0. If its gap is then above tol, a few more steps follow; after them as many weights become 0 as the
gap allows, those with the clearest bound first.
"""

import numpy as np
from scipy.linalg import LinAlgError

from ..inner import host_problem
from ..problem import Problem
from ..solution import Solution
from ._interior_path import JointPath, SimplexWeights, SmoothWeights, share_of_bound
from ._interior_system import PRECONDITIONER_COLUMNS, StackedFeatures
from ._run import Finished, Run
from ._warm import onto_total
from .base import BaseSolver, Control

EXACT_CG, EXACT_CG_SHARE = 1e-3, 1e-3  # tolerance of conjugate gradients in the norm of A⁻¹, and over the gap
LOOSE_CG = 1e-2, 1e-1  # the same for smooth Ω* while the gap falls: a quarter of the time for 20,000 words
MAX_SLOW_STEPS = 3  # in a row without a fall by a tenth; then the systems are solved to EXACT_CG
USUAL_STEPS, MANY_STEPS = 25, 125  # the latter on the simplex with several features for each kernel
LEAST_PAIRS = 1e-3  # times tol: where Ω* bends, the products of the central path need not fall below this share
TIDY_GAP = 30  # times tol: below this gap, points with fewer examples and kernels are tried
MAX_EXTRA_STEPS = 4  # after the gap is reached, until kernels can lose their weight


class Interior(BaseSolver):
    """An interior-point method in the dual variables and the weights, for many kernels with few features each.

    Examples
    --------
    >>> import numpy as np
    >>> from manykernels import MKLClassifier
    >>> from manykernels.kernels import rank_one_kernels
    >>> from manykernels.solvers import Interior
    >>> X = np.random.default_rng(0).normal(size=(40, 300))
    >>> y, kernels = X[:, 0] + X[:, 1] > 0, rank_one_kernels(X)
    >>> few, many = (MKLClassifier(kernels[:m], regularizer=1, solver=Interior()).fit(X, y) for m in (30, 300))
    >>> bool(many.n_iter_ < 2 * few.n_iter_), bool(np.count_nonzero(many.kernel_weights_) < 50)
    (True, True)
    """

    file_tag = ("solver/interior", 1)
    name = "interior"
    needs = ("value", "conjugate", "start")
    explicit = adjusts = True

    def expected_work(self, problem: Problem, tol: float) -> float:
        F, _, _ = problem.bank.numeric()  # type: ignore[misc]  # `refuse` has asked
        n, D = F.shape
        steps = MANY_STEPS if problem.regularizer.simplex and D > problem.bank.M > 1 else USUAL_STEPS
        return steps * (1e3 + 1e-4 * n * min(n, D, PRECONDITIONER_COLUMNS) ** 2)

    def refuse(self, problem: Problem) -> str | None:
        if problem.bank.numeric() is None:
            return "it needs kernels with numeric features, as Linear and rank_one_kernels have"
        if problem.n_outputs > 1:
            return "it takes one output at a time"
        if problem.loss.total:
            return f"the {problem.loss.name} loss has no point to begin from inside its box"
        if not (problem.regularizer.simplex or problem.regularizer.has("conjugate_curvature")):
            return f"{problem.regularizer!r} has neither the simplex for its domain nor a conjugate of known curvature"
        return None

    def solve(self, problem: Problem, control: Control) -> Solution:
        return InteriorRun(problem, control).run(InteriorRun.follow)


class InteriorRun(Run):
    """One run: the path on the usable kernels, each of its points certified on all examples."""

    coefficients = None  # of the covariates at the present point of the path, (1, k)

    def __init__(self, problem, control):
        super().__init__(problem, control)
        self.scale = float(problem.c.sum())
        self.inner = host_problem(problem, problem.Y[0], problem.c[0])

    def follow(self, *_):
        path, more = self._path(), MAX_EXTRA_STEPS
        if self.control.warm is not None:
            self.stop_at_warm(*self._sums(self.theta, self.a[0]))
        path.start(self.a[0][path.index])
        loose, slow, last = not path.simplex, 0.0, np.inf
        while True:
            if self.problem.covariates is not None:
                self.coefficients = (self.back @ path.beta)[None]
            if self.history and self.gap <= TIDY_GAP * self.tol:  # try fewer examples and kernels
                point = self._point(path.index, path.settled(), path.settled_weights())
                if self.certificate_at(*point).primal <= self.upper:
                    self._certify(*point)
            try:
                self._certify(*self._point(path.index, path.p - path.m, path.theta))
            except Finished:
                last = not path.simplex or more == 0 or len(self.history) >= self.max_iter
                if self.gap > self.tol or last or self._tidy(path):
                    raise
                more -= 1
            self.solves += 1
            slow = 0.0 if self.gap <= 0.9 * last else slow + (1.0 if self.gap < 0.5 else 0.1)
            last = self.gap
            loose = loose and slow < MAX_SLOW_STEPS
            exact, share = LOOSE_CG if loose else (EXACT_CG, EXACT_CG_SHARE)
            try:
                least = LEAST_PAIRS * self.tol * self.scale
                moved = path.step(min(exact, share * max(self.gap, self.tol)), least)
            except LinAlgError:  # the system has become singular
                moved = False
            if not moved and not loose:
                raise Finished
            loose = loose and moved

    def intercepts(self, outputs):
        """On the path its own coefficients of the covariates, since the best ones cost as much as some steps."""
        return super().intercepts(outputs) if self.coefficients is None else self.coefficients

    def _tidy(self, path):
        """Whether the point without the kernels that go to 0 reaches the gap too; then it becomes the best one."""
        theta = path.settled_weights()
        return any(self._take(*self._point(path.index, a, theta)) for a in (path.settled(), path.p - path.m))

    def finish(self):
        """Sets weights that go to 0 to 0, as many as the gap allows."""
        self.coefficients = None
        if self.problem.regularizer.simplex and self.best_dual is not None and self.best is not None:
            q, theta = self.features.norms(self.best_dual[0]), self.best["theta"]
            share = share_of_bound(theta, 0.5 * (q.max() - q), 0.5 * q.max())
            order = np.argsort(share, kind="stable")
            first, stop = np.count_nonzero(theta == 0), np.count_nonzero(share < 1)
            least, most = first, stop + 1
            while most - least > 1:
                count = stop if most > stop else (least + most) // 2  # try all of them first
                if self._without(order[:count]):
                    least = count
                else:
                    most = count
        super().finish()

    def _without(self, gone):
        """Whether the best point without these kernels reaches the gap too; then it becomes the best one."""
        theta, a = self.best["theta"].copy(), self.best["a"]
        theta[gone] = 0.0
        return self._take(theta / theta.sum(), a, *self._sums(theta / theta.sum(), a[0]))

    def _take(self, theta, a, q, outputs):
        certificate, b = self.certificate_at(theta, a, q, outputs), self.intercepts(outputs)
        gap = (certificate.primal - self.lower) / certificate.scale
        if not gap <= max(self.tol, self.gap):
            return False
        self.best, self.upper, self.scale = {"theta": theta, "a": a, "b": b}, certificate.primal, certificate.scale
        told = {"n_support": int(np.count_nonzero(a)), "n_kernels": int(np.count_nonzero(theta))}
        self.history[-1].update(primal=self.upper, gap=self.gap, **told)
        return True

    def _path(self):
        inner, problem = self.inner, self.problem
        index = np.flatnonzero(inner.hi > inner.lo)  # examples with a cost
        self.features = StackedFeatures(*problem.bank.numeric(), problem.kernels)
        y, c = inner.y[index], inner.c[index]

        def rest(x):
            linear, diagonal, _ = inner.loss.quadratic(y, c, x)
            return linear + diagonal * x, diagonal

        kind = SimplexWeights if problem.regularizer.simplex else SmoothWeights
        weights = kind(problem.regularizer, self.features.M)
        box = inner.kink[index], inner.lo[index], inner.hi[index]
        E = np.ones(len(index)) if inner.intercept else None
        if problem.covariates is not None:
            U, s, Vt = np.linalg.svd(problem.covariates[index], full_matrices=False)
            keep = s > 1e-9 * s.max()  # examples without cost may leave columns that are combinations of others
            E, self.back = U[:, keep], Vt[keep].T / s[keep]
        path = JointPath(self.features.take(index), weights, rest, *box, E)
        path.index = index
        return path

    def _point(self, index, x, theta):
        """(θ, a, q, outputs) of a point on the path, moved onto the box and Σa = 0, or Eᵀa = 0."""
        inner, a = self.inner, np.zeros(self.n)
        a[index] = np.clip(x, inner.lo[index], inner.hi[index])
        if not np.all(np.isfinite(a)):
            raise Finished
        a = onto_total(a, inner)
        return theta, a[None], *self._sums(theta, a)

    def _sums(self, theta, a):
        v = self.features.add(a)
        return self.features.sums(v * v), self.features.look_up(self.features.spread(theta) * v)[None]

    def _certify(self, theta, a, q, outputs):
        self._scaled(a[0], q)
        self.certify(theta, a, q=q, outputs=outputs)

    def _scaled(self, a, q):
        """The bound of the best multiple of a; early points are too large for their largest q."""
        if self.problem.loss.interior or not self.history or not self.problem.regularizer.constraint:
            return
        inner = self.inner
        linear = float(inner.linear @ a + inner.kink @ np.abs(a))
        bend = float(inner.diagonal @ (a * a)) + 2.0 * self.problem.regularizer.conjugate(0.5 * q)
        t = min(max(-linear / bend, 0.0), 1.0) if bend > 0 else 1.0  # the best multiple if Ω* is of degree 1
        lower = -float(np.sum(self.problem.conjugates(t * a[None])))
        lower -= self.problem.regularizer.conjugate(0.5 * t * t * q)
        if np.abs(self.problem.lack(a[None])).max() <= 1e-12 * np.abs(a).sum():
            self.raise_lower(lower, t * a[None])
