"""C="auto": C chosen within a fit, by leave-one-out decisions at several C."""

from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from .._memory import MemoryBudget
from .._validation import check_number, parse_bytes
from ..solution import Solution
from .progress import show_count
from .scored_fits import FIRST, ScoredFits, distance

CANDIDATES = (0.1, 1.0, 10.0, 100.0)
MAX_EXAMPLES = 1000  # beyond it C is chosen on a sample
MIN_OF_A_CLASS = 10  # in a sample
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

    `scores` (K,) are the means at each C, and `per_example` (n,) the scores of the examples at the chosen C.
    """

    at: int
    solutions: list[Solution]
    scores: np.ndarray
    per_example: np.ndarray


def with_chosen_C(model: Any, plan: Any) -> Any:
    """The `FitPlan` of the model, made at C = 1, at the C of best score, with a start near its solution.

    θ is learned at C = 1. At every candidate the predictor is then found for the one kernel Σ_m θ_m K_m, which costs
    little, and `leave_one_out` gives its decision on each example without that example. If θ has no bound but a
    penalty, its size depends on C, and all kernels take part at every candidate.
    """
    if plan.regularizer.bayesian:  # C is the noise, 1/(2C), which it learns
        return replace(plan, regularizer=plan.regularizer.without_C(), C_scores=_table((FIRST,), np.full(1, np.nan)))
    part = plan.part(model, sample_rows(plan.examples, plan.seed, room_for_sample(model)))
    found = scored(part, CANDIDATES, FIRST)
    return at_chosen_C(plan, found, found.solutions if part is plan else ())


def at_chosen_C(plan: Any, found: Scored, start: Sequence[Solution]) -> Any:
    """The plan at the C that was chosen among `CANDIDATES`."""
    C_scores = _table(CANDIDATES, found.scores)
    return replace(plan, examples=plan.examples.at(CANDIDATES[found.at]), start=start, C_scores=C_scores)


def scored(plan: Any, Cs: Sequence[float], first: float) -> Scored:
    """The fits of the plan at the candidates Cs, with θ learned at `first`; the best C is chosen."""
    decisions, solutions = _path(plan, Cs, first)
    per_example = score(plan.examples, decisions)
    at, means = best_C(per_example, plan.examples.c, Cs, plan.examples.loss.coupled)
    return Scored(at, solutions[at], means, per_example[at])


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
    with show_count("choosing C", count) if plan.verbose and len(Cs) > 1 else nullcontext(lambda: None) as tick:
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
