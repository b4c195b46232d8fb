"""Fits of one plan at many C that are only scored, and C="auto", which chooses C by their leave-one-out decisions.

θ is learned at some C and kept at those beside them. A search and C="auto" ask which C is best, not for the exact model
at each. If Ω bounds θ, the weights change little with C: they are learned at a few anchors, and every other fit has one
kernel, Σ_m θ_m K_m, with the θ of the nearest anchor. If Ω is a penalty, the size of θ depends on C, and every fit
learns it with all kernels.
"""

from collections.abc import Collection, Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cholesky
from scipy.linalg.lapack import dtrtri
from scipy.optimize import brentq
from scipy.special import expit

from .._callers import warn
from .._limits import MemoryBudget
from .._validation import check_number, parse_bytes
from ..banks.dense import DenseBank
from ..inner.systems import columns
from ..problem import Problem
from ..regularizers import Fixed
from ..solution import Solution
from ..solvers import BaseSolver, best_for
from .progress import show_count

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
        self._last: tuple[Any, Any] = None, None  # ((problem, C, anchor), what `_part` returned)
        self._quickest: BaseSolver | None = None  # of the fits with one kernel

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
        plan, problem, theta = self._part(k, C)
        found = plan.solve_part(k, None, warm) if problem is None else self._solve_one(plan, problem, k, warm)
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
        plan, problem, _ = self._part(k, C)
        if problem is None:
            return leave_one_out(plan.problem(k), found)
        found = self._solve_one(plan, problem, k, found) if C in self.anchors else found
        return leave_one_out(problem, replace(found, theta=np.ones(1)))

    def _solve_one(self, plan, problem, k, warm):
        """The solution of problem k with its one kernel, whose bank need not be summed again.

        "auto" means the same solver for all of them; what it does not solve, its spares do.
        """
        warm = replace(warm, theta=np.ones(1))
        if problem.bank.explicit:
            return plan.solve_part(k, None, warm)
        self._quickest = self._quickest or best_for(problem, plan.tol)
        found = replace(plan, solver=self._quickest).solve_problem(k, problem, warm)
        return found if found.converged or found.interrupted else plan.solve_problem(k, problem, warm)

    def _anchor(self, C):
        return min(self.anchors, key=lambda anchor: abs(np.log(C / anchor)))

    def _part(self, k, C):
        """(the plan at C, problem k with one kernel or None, its θ or None), if θ is that of an anchor."""
        plan, known = replace(self.plan_at(C), bank=self.bank), self.known[k]
        anchor = self._anchor(C) if self.keeps else None
        if anchor not in known:
            return plan, None, None
        if self._last[0] == (k, C, anchor):
            return self._last[1]
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
        plan = replace(plan, solver="auto", tol=self.fine, **own)
        self._last = (k, C, anchor), (plan, None if one is None else plan.problem(k), theta)
        return self._last[1]


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


CANDIDATES = (0.1, 1.0, 10.0, 100.0)
MAX_EXAMPLES = 1000  # beyond it C is chosen on a sample
MIN_OF_A_CLASS = 10  # in a sample
ENOUGH = 3  # examples of a class, or events, to choose C by
BYTES_PER_ENTRY = 40  # of the kernel matrix of the sample, with its factors
BAND = 0.5  # standard errors of the difference to the best score


def is_auto(C: Any) -> bool:
    return isinstance(C, str) and C == "auto"


def check_C(C: Any) -> float:
    """C, or the C of the examples before C="auto" is chosen."""
    if isinstance(C, str) and not is_auto(C):
        raise ValueError(f'C={C!r} is not allowed: give a number above 0, or "auto".')
    return FIRST if is_auto(C) else check_number("C", C)


class Scored(NamedTuple):
    """The fits of a plan at several C: the index of the chosen C, its solutions, and leave-one-out scores.

    `scores` (K,) are the means at each C, and `per_example` (n,) the scores of the examples at the chosen C. `shift`
    (T,) is what the intercepts gain there, see `shift_of`.
    """

    at: int
    solutions: list[Solution]
    scores: np.ndarray
    per_example: np.ndarray
    shift: np.ndarray


def with_chosen_C(model: Any, plan: Any) -> Any:
    """The `FitPlan` of the model, made at C = 1, at the C of best score, with a start near its solution.

    θ is learned at C = 1. At every candidate the predictor is then found for the one kernel Σ_m θ_m K_m, which costs
    little, and `leave_one_out` gives its decision on each example without that example. If θ has no bound but a
    penalty, its size depends on C, and all kernels take part at every candidate.
    """
    if plan.regularizer.bayesian:  # C is the noise, 1/(2C), which it learns
        return replace(plan, regularizer=plan.regularizer.without_C(), C_scores=_table((FIRST,), np.full(1, np.nan)))
    _warn_of_few(plan.examples)
    part = plan.part(model, sample_rows(plan.examples, plan.seed, room_for_sample(model)))
    found = scored(part, CANDIDATES, FIRST)
    return at_chosen_C(plan, found, found.solutions if part is plan else (), part.examples.n == plan.examples.n)


def _warn_of_few(examples):
    """A warning about classes, or events, of which there are too few to leave one out."""
    counts, classes = (examples.Y[:, examples.c > 0] > 0).sum(axis=1), examples.classes is not None
    if classes:
        counts = np.append(counts, np.sum(examples.c > 0) - counts)
    least = counts[counts > 0].min(initial=ENOUGH)
    if least < ENOUGH and (classes or examples.loss.targets == "survival"):
        warn(
            f'C="auto": {"examples of the rarest class" if classes else "events"}: {least}. These are too few to '
            "choose C by leaving each of them out once. Give C=1, for example, or more examples."
        )


def at_chosen_C(plan: Any, found: Scored, start: Sequence[Solution], whole: bool) -> Any:
    """The plan at the C that was chosen among `CANDIDATES`; `whole` if on all examples, whose intercept is shifted."""
    chosen = dict(C_scores=_table(CANDIDATES, found.scores), shift=found.shift if whole else 0.0)
    return replace(plan, examples=plan.examples.at(CANDIDATES[found.at]), start=start, **chosen)


def scored(plan: Any, Cs: Sequence[float], first: float) -> Scored:
    """The fits of the plan at the candidates Cs, with θ learned at `first`; the best C is chosen."""
    (decisions, solutions), examples = _path(plan, Cs, first), plan.examples
    shift = np.zeros(decisions.shape[:2])
    used = examples.weight > 0
    weighed = float(np.ptp(examples.c[used] / examples.weight[used])) > 1e-9 * examples.C
    if weighed and examples.intercept and examples.classes is not None:
        shift = np.array([[shift_of(f, y, examples.c) for f, y in zip(F, examples.Y, strict=True)] for F in decisions])
    per_example = score(examples, decisions + shift[:, :, None])
    at, means = best_C(per_example, examples.c, Cs, examples.loss.coupled)
    return Scored(at, solutions[at], means, per_example[at], shift[at])


def shift_of(f: np.ndarray, y: np.ndarray, c: np.ndarray) -> float:
    """argmin_b Σ_i c_i ln(1 + e^{−y_i (f_i + b)}) of leave-one-out decisions f, y = ±1; 0 for too few of a class.

    Examples of a rare class are support vectors with large costs: without one of them its decision is far lower, and
    the intercept of the fit, at which these examples are right, is too low for new ones.
    """
    if min(np.sum(c[y > 0] > 0), np.sum(c[y < 0] > 0)) < ENOUGH:
        return 0.0
    far = float(np.abs(f).max()) + 50.0
    return brentq(lambda b: c @ (y * expit(-y * (f + b))), -far, far)


def room_for_sample(model: Any) -> int:
    """The number of examples whose kernel matrix fits in the share of memory_limit."""
    return int(np.sqrt(MemoryBudget(parse_bytes(model.memory_limit)).share("choice of C") / BYTES_PER_ENTRY))


def _table(Cs, scores):
    return {"C": np.array(Cs), "score": scores}


def sample_rows(examples: Any, seed: int, room: int) -> np.ndarray:
    """The examples with costs, or with many of them as many as there is room for, `MAX_EXAMPLES` at most.

    They are evenly spaced in the order of their targets, with at least `MIN_OF_A_CLASS` of each class.
    """
    able, most = np.flatnonzero(examples.c), max(2 * MIN_OF_A_CLASS, min(MAX_EXAMPLES, room))
    if len(able) <= most:
        return np.arange(examples.n)
    shuffled = np.random.default_rng(seed).permutation(able)
    Y = examples.Y[:, shuffled]
    rows = np.lexsort(Y)[np.linspace(0, len(able) - 1, most).astype(int)]
    if examples.classes is not None:
        rows = np.concatenate([rows, *(np.flatnonzero(y == side)[:MIN_OF_A_CLASS] for y in Y for side in (-1, 1))])
    return np.unique(shuffled[rows])


def _path(plan, Cs, first):
    """(leave-one-out decisions (K, T, n), solutions [K][problems]) at the K candidates Cs."""
    fits, count = ScoredFits(replace(plan, tries=len(Cs)), [first], loo=True), len(plan.labels) * len(Cs)
    decisions, solutions = [[] for _ in Cs], [[] for _ in Cs]
    shown = plan.verbose and len(Cs) > 1
    with show_count("choosing C", count, plan.verbose) if shown else nullcontext(lambda: None) as tick:
        for k in range(len(plan.labels)):
            for at in sorted(range(len(Cs)), key=lambda at: distance(Cs[at])):
                solutions[at].append(fits.solution(k, Cs[at]))
                decisions[at].append(fits.left_out(k, Cs[at]))
                tick()
    return np.array([np.concatenate(found) for found in decisions]), solutions


def score(examples: Any, decisions: np.ndarray) -> np.ndarray:
    """The score of each example (K, n), greater is better, of decisions (K, T, n).

    Classes: −ln(1 + e^{−z}), where z is the margin by which the class, or every label, is right. Regression: −V, the
    mean over the targets.
    """
    Y, loss = examples.Y, examples.loss
    if examples.classes is not None:
        return -np.logaddexp(0.0, -margins(Y, decisions))
    return -np.array([[loss.value(y, f) for y, f in zip(Y, F, strict=True)] for F in decisions]).mean(axis=1)


def margins(Y: np.ndarray, decisions: np.ndarray) -> np.ndarray:
    """z (K, n), above 0 where the prediction is right: the least y_t f_t, or ½ (f of the class − the best other)."""
    if len(Y) == 1 or not ((Y > 0).sum(axis=0) == 1).all():
        return (Y * decisions).min(axis=1)
    right = np.where(Y > 0, decisions, -np.inf).max(axis=1)
    return 0.5 * (right - np.where(Y > 0, -np.inf, decisions).max(axis=1))


def best_C(
    per_example: np.ndarray, c: np.ndarray, Cs: Sequence[float] = CANDIDATES, least: bool = False
) -> tuple[int, np.ndarray]:
    """(index of the chosen candidate, mean scores (K,)) of scores (K, n) and weights c (n,).

    Of the candidates whose score is within `BAND` standard errors of the best, it is the one nearest to C = 1, the
    least of two; or the `least` of all, for losses that compare examples with one another (docs/survival.md).
    """
    w = c / c.sum()
    means = per_example @ w
    behind = per_example[means.argmax()] - per_example
    mean = behind @ w
    error = np.hypot.reduce((behind - mean[:, None]) * w, axis=1)  # the root of a sum of squares that may overflow
    able = np.flatnonzero(mean <= BAND * error + 1e-12 * np.abs(means).max())
    return int(min(able, key=lambda k: Cs[int(k)] if least else distance(Cs[int(k)]))), means
