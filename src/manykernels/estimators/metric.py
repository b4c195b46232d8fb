"""Kernels with metric="learn": the scales of their columns are learned from the gradients of the fitted model.

A round finds the predictor f, computes how fast it changes along each column, and rescales the columns by it:

    s_j  ∝  √( mean over outputs t and examples i of (∂f_t/∂x_j)² at x_i )

the root of the diagonal of the average gradient outer product (Radhakrishnan et al. 2024). Along all columns of s∘x, f
changes equally fast. f is the sum of the kernels that learn the metric of one source: kernels of both kinds and of
several widths on the same columns have one metric. A round is kept if held-out decisions are better with it: the
metric that one half of the examples learns is judged by leave-one-out decisions within the other half. All rounds have
the weights θ and the C of the fit without a metric; the last fit learns both anew.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from sklearn.base import is_classifier, is_regressor

from .. import regularizers
from ..banks.dense import DenseBank
from ..kernels.base import Kernel
from ..kernels.metric import MetricKernel, slopes
from ..kernels.spec import KernelSpec, as_spec, specs_of
from ..regularizers import Fixed
from ..solvers import seed_of
from .choose_c import (
    CANDIDATES,
    FIRST,
    LOO_TOL,
    at_chosen_C,
    is_auto,
    leave_one_out,
    room_for_sample,
    sample_rows,
    score,
    scored,
)

ROUNDS = 2
MAX_ROWS = 300  # examples at which gradients are computed
MIN_GAIN = 1.0  # standard errors by which a round that is kept is better
Sizes = Sequence[np.ndarray] | None  # √mean (∂f/∂x_j)² of each source, None for no metric


def learns_metric(model: Any) -> bool:
    """Whether the fit of the model learns a metric; elsewhere `resolve` of the kernel raises an error."""
    able = (is_classifier(model) or is_regressor(model)) and model.approximation is None
    return able and any(map(_asks, _specs(model)))


def _specs(model):
    kernels = model.kernels
    if isinstance(kernels, Kernel | KernelSpec):
        return [as_spec(kernels)]
    return specs_of(kernels)


def _asks(spec):
    return isinstance(spec.kernel, MetricKernel) and spec.kernel.to_learn


def kernels_known(model: Any) -> Any:
    """The kernels of the model without what is to be learned: with its metric if it is fitted, else without one."""
    if not learns_metric(model):
        return model.kernels
    return model.predictor_.kernel_list if "predictor_" in vars(model) else _without_metric(_specs(model))


def _without_metric(specs):
    return [spec._replace(kernel=spec.kernel.with_metric(None)) if _asks(spec) else spec for spec in specs]


def with_learned_metric(model: Any, examples: Any, plan_of: Callable[[Any, Any], Any]) -> Any:
    """The plan of the model with its learned metric, at the C that is chosen with it; `plan_of` is `FitPlan.of`."""
    _refuse(model, examples)
    rows = sample_rows(examples, seed_of(model.random_state), room_for_sample(model))
    whole = len(rows) == examples.n
    some, auto = examples if whole else examples.take(rows), is_auto(model.C)
    Cs, first = (CANDIDATES, FIRST) if auto else ((examples.C,), examples.C)

    def planned(kernels, examples):
        twin = copy.copy(model)
        twin.kernels, twin.C, twin.checkpoint = kernels, examples.C, None
        return plan_of(twin, examples)

    specs = _specs(model)
    plan = planned(_without_metric(specs), some)
    found = scored(plan, Cs, first)
    theta = np.mean([solution.theta for solution in found.solutions], axis=0)
    trial = Rounds(plan, Cs[found.at], theta, [m for m, spec in enumerate(specs) if _asks(spec)])
    sizes: Sizes = None
    for _ in range(kept := int(worth(trial.gains()).sum())):
        sizes = trial.next(every := np.arange(trial.n), trial.fit(every, sizes)[0], sizes)
    kernels = trial.kernels.with_metric(trial.scales(sizes))
    if kept:
        plan = planned(kernels, some)
        found = scored(plan, Cs, first)
    plan = plan if whole else planned(kernels, examples)
    start = found.solutions if whole else ()
    slots = plan.settings(model, plan.examples, plan.examples.X)["checkpoints"]
    plan = replace(plan, metric=trial.table(sizes), checkpoints=slots)
    return at_chosen_C(plan, found, start, whole) if auto else replace(plan, start=start)


def _refuse(model, examples):
    """A ValueError for fits that have no leave-one-out decisions, or no one metric."""
    if regularizers.get(model.regularizer).bayesian:
        raise ValueError(
            f'metric="learn" needs a regularizer with C, not {model.regularizer!r}: learn the metric with a number p, '
            "and give its scales, metric=[...]."
        )
    if examples.covariates is not None:
        raise ValueError('metric="learn" with covariates: learn it without them, and give the scales, metric=[...].')
    if examples.task is not None:
        raise ValueError(
            'metric="learn" with task: learn it without tasks, and give the scales, metric=[...], or fit each task '
            "alone."
        )


class MetricSource(NamedTuple):
    """Kernels `members` of a list that see the columns Z (n, d) of the examples `present` (n,), and learn one metric.

    `spread` has for each kind of distance the mean distance along each column (d,), in a unit that does not matter.
    """

    name: str
    columns: list[str]
    members: list[int]
    Z: np.ndarray
    present: np.ndarray
    spread: dict[str, np.ndarray]

    @classmethod
    def of(cls, kernels: Any, members: list[int], view: Any, X: Any) -> MetricSource:
        present = np.ones(view.X.shape[0], bool) if view.present is None else view.present
        Z = view.X.toarray() if sp.issparse(view.X) else np.asarray(view.X, float)
        some = Z[present]
        spread = {"sqdist": some.var(axis=0), "l1": (2 * np.arange(len(some)) - len(some) + 1) @ np.sort(some, axis=0)}
        names = kernels.made_columns(members[0], X, Z.shape[1])
        return cls(str(kernels.seen(members[0])), names, members, Z, present, spread)

    def scales(self, distance: str, size: np.ndarray) -> np.ndarray:
        """The scales ∝ size (d,) by which examples are as far apart as before, on average."""
        far, power = self.spread[distance], POWERS[distance]
        ratio = far @ size**power / max(far.sum(), np.finfo(float).tiny)
        return size / ratio ** (1 / power) if ratio > 0 else np.ones(len(size))


def worth(gains: Any) -> np.ndarray:
    """Which rounds are better by `MIN_GAIN` standard errors than the rounds before, of (gain, standard error)."""
    found = np.reshape(gains, (-1, 2))
    return found[:, 0] > MIN_GAIN * found[:, 1]


POWERS = {"sqdist": 2, "l1": 1}  # of the scales in a distance


class Rounds:
    """The kernel K = Σ_m θ_m K_m of the examples of a plan with any metric, and fits to it at C.

    The kernels that learn no metric are summed once.
    """

    def __init__(self, plan: Any, C: float, theta: np.ndarray, members: list[int]) -> None:
        self.plan, self.n, self.kernels = plan, plan.examples.n, plan.predictor().kernel_list
        self.examples = replace(plan.examples.at(C), joint=True)
        X = plan.examples.X
        views = self.kernels.views(X)
        self.sources = [
            MetricSource.of(self.kernels, [m for m in members if self.kernels.view_of[m] == v], views[v], X)
            for v in dict.fromkeys(self.kernels.view_of[members].tolist())
        ]
        self.weights = theta * plan.bank.scale
        others = theta.copy()
        others[members] = 0.0
        self.rest = plan.bank.combined(others, None, None, np.float64) if others.any() else np.zeros((self.n, self.n))

    def scales(self, sizes: Sizes) -> dict[int, np.ndarray]:
        """{kernel: the scales of its columns}, {} without a metric."""
        pairs = [] if sizes is None else list(zip(self.sources, sizes, strict=True))
        return {m: one.scales(self.kernels.kernels[m].distance, size) for one, size in pairs for m in one.members}

    def table(self, sizes: Sizes) -> dict[str, dict[str, Any]]:
        """{source: {"column", "scale", "share"}}: the share of each column in the distance between examples."""
        scales, found = self.scales(sizes), {}
        for one in self.sources:
            m = one.members[0]
            kind, s = self.kernels.kernels[m].distance, scales.get(m, np.ones(len(one.columns)))
            part = one.spread[kind] * s ** POWERS[kind]
            found[one.name] = {"column": one.columns, "scale": s, "share": part / (part.sum() or 1.0)}
        return found

    def gains(self) -> np.ndarray:
        """(rounds, 2): the gain of each round in held-out score over the round before, and its standard error.

        Rounds end at `ROUNDS`, or with the first that is not `worth` it.
        """
        order = np.lexsort(self.examples.Y)
        halves = [np.sort(order[half::2]) for half in (0, 1)]
        w = self.examples.c[np.concatenate(halves)] / self.examples.c.sum()
        fits, sizes = [self.fit(half, None) for half in halves], [None, None]  # type: list[Any], list[Sizes]
        found: list[tuple[float, float]] = []
        before = np.concatenate([scores for _, scores in fits])
        while len(found) < ROUNDS and worth(found).all():
            if found:
                fits = [self.fit(half, one) for half, one in zip(halves, sizes, strict=True)]
            sizes = [self.next(half, a, one) for half, (a, _), one in zip(halves, fits, sizes, strict=True)]
            after = np.concatenate([self.fit(half, other)[1] for half, other in zip(halves, sizes[::-1], strict=True)])
            gain, before = after - before, after
            mean = gain @ w
            found.append((mean, np.sqrt((gain - mean) ** 2 @ w**2)))
        return np.array(found)

    def next(self, rows: np.ndarray, a: np.ndarray, sizes: Sizes) -> list[np.ndarray]:
        """√mean (∂f/∂x_j)² of the fit `a` to these examples, for each source."""
        return [np.sqrt(self.mean_squared_gradient(rows, a, sizes, k)) for k in range(len(self.sources))]

    def fit(self, rows: np.ndarray, sizes: Sizes) -> tuple[np.ndarray, np.ndarray]:
        """(a (T, n_rows), the leave-one-out score of each example) of the fit to these examples."""
        K = self.rest[np.ix_(rows, rows)]
        for source, kernels, U in self.seen(sizes):
            there = source.present[rows].astype(float)
            for m in kernels:
                K += self.weights[m] * there[:, None] * self.kernels.kernels[m].between(U[rows], U[rows]) * there
        bank, some = DenseBank.from_scaled(K[None], ["sum"], self.plan.bank.n_jobs), self.examples.take(rows, rows)
        plan = replace(
            self.plan, bank=bank, examples=some, regularizer=Fixed([1.0]), solver="auto", labels=[""],
            checkpoints=[None], tol=max(LOO_TOL[1], self.plan.tol), thin=False,
        )  # fmt: skip
        found = plan.solve_part(0)
        return found.a, score(some, leave_one_out(plan.problem(0), found)[None])[0]

    def seen(self, sizes: Sizes, which: int | None = None) -> Any:
        """Yields (source, its kernels of one distance, the columns U (n, d) that they see)."""
        scales = self.scales(sizes)
        for source in self.sources if which is None else [self.sources[which]]:
            for distance in POWERS:
                own = [m for m in source.members if self.kernels.kernels[m].distance == distance]
                if own:
                    yield source, own, source.Z * scales[own[0]] if own[0] in scales else source.Z

    def mean_squared_gradient(self, rows: np.ndarray, a: np.ndarray, sizes: Sizes, which: int) -> np.ndarray:
        """The mean over outputs t and examples of (∂f_t/∂x_j)², (d,), at `MAX_ROWS` of the examples at most.

        f_t(x) = Σ_m θ_m Σ_l a_tl k_m(x, x_l), the sum over the kernels m of source number `which` and the examples
        `rows`; a (T, n_rows). Columns x are those before the metric: ∂f/∂x_j = s_j ∂f/∂u_j, u = s∘x, and
        ∂k/∂u_j = −γ k ∂B/∂u_j with the distance B.
        """
        there = self.sources[which].present[rows]
        at, support = rows[there], there & a.any(axis=0)
        at, scales = at[np.linspace(0, len(at) - 1, min(len(at), MAX_ROWS)).astype(int)], self.scales(sizes)
        g: Any = 0.0
        for _, own, U in self.seen(sizes, which):
            X, Y, kernels = U[at], U[rows[support]], self.kernels.kernels
            V = sum(-kernels[m].gamma * self.weights[m] * kernels[m].between(X, Y) for m in own)
            g = g + scales.get(own[0], 1.0) * slopes(kernels[own[0]].distance, X, Y, V * a[:, None, support])
        return np.einsum("i,tij->j", self.examples.weight[at], g**2) / (len(a) * self.examples.weight[at].sum())
