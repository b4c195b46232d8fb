"""C="auto": C chosen within a fit, by leave-one-out decisions at several C."""

import warnings
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from .._callers import caller_level
from .._limits import MemoryBudget
from .._validation import check_number, parse_bytes
from ..solution import Solution
from .progress import show_count
from .scored_fits import FIRST, ScoredFits, distance

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
        warnings.warn(
            f'C="auto": {"examples of the rarest class" if classes else "events"}: {least}. These are too few to '
            "choose C by leaving each of them out once. Give C=1, for example, or more examples.",
            UserWarning,
            stacklevel=caller_level(),
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
