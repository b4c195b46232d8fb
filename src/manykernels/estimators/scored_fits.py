"""Fits of one plan at many C that are only scored: θ is learned at some C and kept at those beside them.

A search and C="auto" ask which C is best, not for the exact model at each. If Ω bounds θ, the weights change little
with C: they are learned at a few anchors, and every other fit has one kernel, Σ_m θ_m K_m, with the θ of the nearest
anchor. If Ω is a penalty, the size of θ depends on C, and every fit learns it with all kernels.
"""

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri

from ..banks.dense import DenseBank
from ..inner.systems import columns
from ..problem import Problem
from ..regularizers import Fixed
from ..solution import Solution

FIRST = 1.0  # where the choice of C begins
SCORED_TOL = 1e-2  # the least gap of fits that are only scored, by new examples
LOO_TOL = 1e-3, 1e-4  # the least gaps if leave-one-out decisions are scored: of θ, and of the fits to one kernel,
# which decide which a_i are at a bound
MAX_SUMMED = 2000  # examples up to which any bank makes the matrix of the one kernel
AT_BOUND = 1e-3  # times c_i: an a_i this near to an end of its box, or to a kink, stays there
UNDETERMINED = 1e-9  # of the precision of an example: without it a covariate that has no more is not determined
RIDGE = 1e-10  # times the mean of the diagonal, so that equal examples can be factorised


class ScoredFits:
    """The solutions of the problems of a plan at any C, each from the nearest C that is solved.

    Parameters
    ----------
    plan : FitPlan
    anchors : the values of C at which θ is learned; none if every C has its own θ, to the tolerance of the plan
    shared : bool
        Whether one-vs-rest problems share θ where it is kept: a single problem of T outputs.
    loo : bool
        Whether `left_out` is asked, which needs smaller gaps.
    known : list of {C: Solution}, one for each problem
        Solutions from before.
    """

    def __init__(
        self, plan: Any, anchors: Collection[float] = (), shared: bool = False, loo: bool = False, known: Any = None
    ) -> None:
        self.keeps = len(anchors) > 0 and plan.problem(0).regularizer.constraint
        self.count = len(plan.labels)  # problems of the plan as it is given
        if shared and self.keeps:
            plan = replace(plan, examples=replace(plan.examples, joint=True), labels=[""])
        tol, fine = LOO_TOL if loo else (SCORED_TOL, max(SCORED_TOL, plan.tol))
        self.fine: float = fine
        rough = {} if not len(anchors) else dict(tol=max(tol, plan.tol), thin=False)
        self.plan = replace(plan, checkpoints=[None] * len(plan.labels), **rough)
        read_often = self.keeps or not plan.examples.joint
        self.bank = plan.bank.held(plan.regularizer.exact) if read_often else plan.bank
        self.anchors = sorted(map(float, anchors))
        self.known: list[dict[float, Solution]] = [{} for _ in plan.labels] if known is None else known
        self._one: tuple[Any, Any] = None, None  # ((problem, anchor), the bank of its one kernel)

    def plan_at(self, C: float) -> Any:
        return replace(self.plan, examples=self.plan.examples.at(C))

    def at(self, C: float) -> list[Solution]:
        """The solutions of all problems at C."""
        return [self.solution(k, C) for k in range(len(self.plan.labels))]

    def solution(self, k: int, C: float) -> Solution:
        """The solution of problem k at C."""
        known = self.known[k]
        if C in known:
            return known[C]
        if self.keeps and C != (anchor := self._anchor(C)):
            self.solution(k, anchor)
        near = min(known, key=lambda other: abs(np.log(C / other)), default=None)
        warm: Any = None if near is None else known[near]
        plan, one, theta = self._part(k, C)
        if one is not None:
            warm = replace(warm, theta=np.ones(1))
        found = plan.solve_part(k, None, warm)
        if found.interrupted:
            raise KeyboardInterrupt
        known[C] = found if theta is None else replace(found, theta=theta)
        return known[C]

    def decisions(self, C: float) -> np.ndarray:
        """The decisions at C on every example by the fits without it, (T, n) of all outputs."""
        return np.concatenate([self.left_out(k, C) for k in range(len(self.plan.labels))])

    def left_out(self, k: int, C: float) -> np.ndarray:
        """The decisions of problem k at C on every example by the fit without it, (T, n): see `leave_one_out`."""
        found = self.solution(k, C)
        plan, one, _ = self._part(k, C)
        if one is not None:
            found = replace(found, theta=np.ones(1))
            found = plan.solve_part(k, None, found) if C in self.anchors else found
        return leave_one_out(plan.problem(k), found)

    def _anchor(self, C):
        return min(self.anchors, key=lambda anchor: abs(np.log(C / anchor)))

    def _part(self, k, C):
        """(plan of problem k at C, the bank of its one kernel or None, its θ or None), if θ is that of an anchor."""
        plan, known = replace(self.plan_at(C), bank=self.bank), self.known[k]
        anchor = self._anchor(C) if self.keeps else None
        if anchor not in known:
            return plan, None, None
        theta = known[anchor].theta
        if self._one[0] != (k, anchor):
            one = self.bank.summed(theta)
            if one is None and self.bank.n <= MAX_SUMMED:
                K = self.bank.combined(theta, None, None, np.float64)
                one = DenseBank.from_scaled(K[None], ["sum"], self.bank.n_jobs)
                one.indefinite = self.bank.indefinite
            self._one = (k, anchor), one
        one = self._one[1]
        own = dict(regularizer=Fixed(theta)) if one is None else dict(regularizer=Fixed([1.0]), bank=one)
        return replace(plan, solver="auto", tol=self.fine, **own), one, theta


def apart(solutions: Sequence[Solution], count: int) -> list[Solution]:
    """The solutions of `count` problems, where one solution may have the outputs of all."""
    if len(solutions) == count:
        return list(solutions)
    (one,) = solutions
    rows = [slice(t, t + 1) for t in range(len(one.a))]
    return [replace(one, a=one.a[t], b=one.b[t], primal=one.primal / len(rows), dual_a=None) for t in rows]


def distance(C: float) -> tuple[float, float]:
    """A key to sort values of C by their distance from `FIRST`, the least first of two."""
    return round(abs(np.log(C / FIRST)), 9), C


def leave_one_out(problem: Problem, solution: Solution) -> np.ndarray:
    """f_t without example i at example i, (T, n), for all examples and outputs, to first order and at the same θ.

    Without example i its a_i becomes 0, and the others keep a_j = −c_j V′(y_j, f_j). To first order that is
    δa_j = −δf_j / E_j for the free examples F, where E_j = 1 / (c_j V″) is the curvature of the conjugate, and δa_j = 0
    for the others, at a kink of V* or at an end of the box. With δf = K δa + δb, Σ δa = 0 (covariates
    are further columns beside the 1),

        f_i without i  =  f_i − a_i S_i,    S_i = k_ii − (k_iG 1) [K_GG + E_G  1; 1ᵀ  0]⁻¹ (k_iG 1)ᵀ,   G = F ∖ {i}

    and S_i = 1 / ([K_FF + E_F  1; 1ᵀ  0]⁻¹)_ii − E_i for free i. It is exact for the squared loss, a Newton step for
    smooth losses, and the span rule for the hinge (Chapelle et al. 2002), where E = 0 on the margin.
    """
    bank, theta, a = problem.bank, solution.theta, solution.a
    support = np.flatnonzero(a.any(axis=0))
    f = bank.outputs(theta, a[:, support], support) + problem.level(solution.b)
    if len(support):
        K = bank.combined(theta, support, support, np.float64)
        equality = problem.intercept if problem.covariates is None else problem.covariates[support]
        for f_t, y, c, a_t in zip(f, problem.Y[:, support], problem.c[:, support], a[:, support], strict=True):
            lo, hi = problem.loss.box(y, c)
            _, E, kink = problem.loss.quadratic(y, c, a_t)
            near = AT_BOUND * c
            free = (lo + near < a_t) & (a_t < hi - near) & ((kink == 0) | (np.abs(a_t) > near))
            f_t[support] -= a_t * spans(K, np.broadcast_to(E, a_t.shape), free, equality)
    return f


def spans(K: np.ndarray, E: np.ndarray, free: np.ndarray, equality: Any) -> np.ndarray:
    """S (n,) of `leave_one_out`, from K (n, n), E (n,) and the mask of the free examples.

    `equality` is True with an intercept, or the covariates (n, k), which include the constant. If no more than k
    examples are free (k = 1 with an intercept alone), or a coefficient is not determined without an example, it counts
    as known.
    """
    S, rest = K.diagonal().copy(), ~free
    if not free.any():
        return S
    B = K[np.ix_(free, free)]
    B[np.diag_indices_from(B)] += E[free]
    root, ridge = _inverse_root(B)
    own, beside = np.sum(root**2, axis=0), K[np.ix_(free, rest)]
    less, more = own, 0.0
    ones = columns(equality, len(K))
    ones = np.zeros((len(K), 0)) if ones is None else ones.reshape(len(K), -1)
    if 0 < ones.shape[1] < len(B):
        U = root.T @ (root @ ones[free])  # B⁻¹ 1
        values, vectors = np.linalg.eigh(ones[free].T @ U)
        some = values > 1e-12 * values[-1]
        turn = vectors[:, some] / np.sqrt(values[some])
        less = own - np.sum((U @ turn) ** 2, axis=1)
        more = np.sum(((ones[rest] - beside.T @ U) @ turn) ** 2, axis=1)
    S[free] = 1.0 / np.where(less > UNDETERMINED * own, less, own) - E[free] - ridge
    S[rest] += more - np.sum((root @ beside) ** 2, axis=0)
    return np.maximum(S, 0.0)


def _inverse_root(B):
    """(R, ridge): (B + ridge I)⁻¹ = RᵀR, with the least of some multiples of the mean of the diagonal as ridge."""
    step = RIDGE * B.diagonal().mean()
    for ridge in (step, 1e4 * step, np.linalg.norm(B, 1)):
        try:
            L = cholesky(B + ridge * np.eye(len(B)), lower=True, check_finite=False)
            return dtrtri(L, lower=1, overwrite_c=1)[0], ridge
        except LinAlgError:  # kernels that are not positive semidefinite
            continue
    raise ValueError("kernel values are not finite: rescale X first")
