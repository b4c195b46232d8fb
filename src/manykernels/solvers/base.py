"""The base class of solvers, what a fit asks of them (`Control`), and who follows their progress (`Monitor`).

Your own solver is a subclass of `BaseSolver` with a `solve(problem, control)` that returns a `Solution`. It reads
`tol`, `max_iter` and `warm` of `control` and calls `record(...)`; `Oracle` does the rest for methods that solve the
inner problem at given weights.
"""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Integral
from typing import Any

import numpy as np

from .._parts import Part, declared
from ..problem import Problem
from ..solution import Solution


class BaseSolver(Part, ABC):
    """A method that solves a `Problem` to the gap that a `Control` asks for.

    The constructor keeps its arguments as they are; `solve` checks them. Unless an `Oracle` made the `Solution`, its
    primal value, dual value and gap are computed again from theta, a and b.

    Attributes
    ----------
    name : str
        Its name in messages.
    needs : tuple of str
        The methods that it calls on the regularizer.
    missing : str
        The words for what a regularizer without them lacks.
    wants : dict of str to str
        The properties of the regularizer without which it refuses, and why.
    explicit : bool
        Whether it works on explicit features; estimators then compute them.
    coupled : bool
        Whether it takes losses that are no sum over examples, such as `Cox`.
    adjusts : bool
        Whether it takes the covariates of a problem; a method of an `Oracle` does.
    reads_device : bool
        Whether it takes explicit features on a device.

    Examples
    --------
    >>> from manykernels.solvers import BaseSolver, Newton
    >>> class Mine(BaseSolver):
    ...     def __init__(self, effort=1.0):
    ...         self.effort = effort
    ...     def solve(self, problem, control):
    ...         return Newton().solve(problem, control)
    >>> Mine(2.0), Mine.name
    (Mine(effort=2.0), 'Mine')
    """

    name: str = ""
    needs: tuple[str, ...] = ()
    missing: str = ""
    wants: dict[str, str] = {}
    explicit = False
    coupled = False
    adjusts = False
    reads_device = False

    def __init_subclass__(cls, **options):
        super().__init_subclass__(**options)
        if "name" not in vars(cls):
            cls.name = cls.__name__

    @abstractmethod
    def solve(self, problem: Problem, control: Control) -> Solution:
        """The `Solution` of the problem, from `control.warm` on, to a relative gap of `control.tol`."""

    def refuse(self, problem: Problem) -> str | None:
        """Why it cannot take this loss, bank or regularizer, beyond what it `needs`; None where it can."""
        # properties that a regularizer declares
        return next((why for name, why in self.wants.items() if not getattr(problem.regularizer, name)), None)

    def expected_work(self, problem: Problem, tol: float) -> float:
        """About the work of a run, in the unit of `_limits.spend`; "auto" takes the default solver that needs least."""
        return np.inf

    def refusal(self, problem: Problem) -> str | None:
        """Why it cannot take the problem, or None."""
        regularizer = problem.regularizer
        if problem.loss.coupled and not self.coupled:
            return f"it needs a loss that is a sum over examples, which the {problem.loss.name} loss is not"
        for method in self.needs:
            if not regularizer.has(method):
                reason = regularizer.why_not(method) or self.missing or f"it needs {method}"
                return f"{regularizer!r} does not suit it: {reason}"
        if problem.bank.device_features is not None and not self.reads_device:
            return "it runs on the processor, and the features are on a device: take solver='primal' or device='cpu'"
        if problem.covariates is not None:
            if not self.adjusts:
                return "it takes no covariates (adjusts = False): its steps keep the sum of the dual variables alone"
            own = problem.bank.inner(problem.loss, problem.Y[0], problem.c[0], problem.intercept)
            if own is not None and not self.explicit:
                return (
                    "covariates need the combined kernel as one matrix in the memory of the host (device='cpu', and a "
                    "memory_limit that allows it), or kernels with few explicit features, such as Linear"
                )
        return self.refuse(problem)


class Monitor:
    """Follows a run; override the methods that you need.

    Examples
    --------
    >>> from manykernels.solvers import Control, Monitor
    >>> class Gaps(Monitor):
    ...     def record(self, record):
    ...         print(record["gap"])
    >>> Control(monitor=Gaps()).record({"gap": 0.5})
    0.5
    """

    def record(self, record: dict[str, Any]) -> None:
        """Called after an outer step, with a dict of iteration, time, primal, dual, gap and more."""

    def visited(self, count: int, total: int) -> None:
        """Called when `count` of the `total` examples of a pass are visited."""

    def resumed(self, gap: float, seconds: float) -> None:
        """Called when the run continues from a checkpoint, at this gap and after this many seconds."""


@declared
class Caller(Monitor):
    """Calls a function with each record."""

    function: Callable[[dict[str, Any]], object]

    def record(self, record: dict[str, Any]) -> None:
        self.function(record)


class Control:
    """The request to a solver, and its record of the run.

    Parameters
    ----------
    tol : float, default 1e-3
        The relative duality gap to reach.
    max_iter : int, default 1000
        The largest number of outer steps.
    warm : Solution, optional
        A feasible point to begin from.
    monitor : Monitor, optional
        Called after each step.
    random_state : int, None or NumPy generator
        For solvers with random choices, unless they have their own.

    Attributes
    ----------
    state : dict or None
        The state of a run of this solver from a checkpoint.
    history : list of dict
        The records so far.

    Examples
    --------
    >>> from manykernels.solvers import Control
    >>> control = Control(tol=1e-4)
    >>> control.record({"gap": 0.5})
    >>> control.history[0]["iteration"], control.history[0]["gap"]
    (1, 0.5)
    """

    state: Any = None
    kept = False  # whether a checkpoint is written
    certified: Solution | None = None  # the result of the last run of an `Oracle`
    work: float = np.inf  # still allowed, in the unit of `_limits.spend`
    stalled: Any = None  # a `Stall` instead of that of the solver
    history: list[dict[str, Any]]

    def __init__(
        self,
        tol: float = 1e-3,
        max_iter: int = 1000,
        warm: Solution | None = None,
        monitor: Monitor | None = None,
        random_state=None,
    ) -> None:
        self.tol, self.max_iter, self.warm, self.random_state = tol, max_iter, warm, random_state
        self.monitor = Monitor() if monitor is None else monitor
        self.history, self.started = [], time.perf_counter()

    def record(self, record: dict[str, Any]) -> None:
        """Records an outer step, a dict with its `gap`; adds `iteration` and `time` if they are missing."""
        self.history.append(record)
        record.setdefault("iteration", len(self.history))
        record.setdefault("time", time.perf_counter() - self.started)
        self.monitor.record(record)

    def visited(self, count: int, total: int) -> None:
        """Tells the monitor that `count` of the `total` examples of a pass are visited."""
        self.monitor.visited(count, total)

    def offer(self, state: Callable[[], Any]) -> None:
        """Offers state(), from which the run could continue after a crash; without a checkpoint nothing is kept."""

    def leave(self, state: Callable[[], Any]) -> None:
        """Leaves state() at the end of an interrupted run."""


def seed_of(random_state) -> int:
    """The integer seed of a `random_state`.

    Parameters
    ----------
    random_state : int, None or NumPy generator

    Returns
    -------
    int
        Itself, 0 for None, or one drawn from the generator.

    Examples
    --------
    >>> from manykernels.solvers import seed_of
    >>> seed_of(None), seed_of(7)
    (0, 7)
    """
    if random_state is None:
        return 0
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(2**31 - 1))
    if isinstance(random_state, np.random.RandomState):
        return int(random_state.randint(2**31 - 1))
    whole = isinstance(random_state, Integral) and not isinstance(random_state, bool)
    if whole and random_state >= 0:
        return int(random_state)
    raise ValueError(
        f"random_state={random_state!r} is not allowed: give None, an integer >= 0, or a RandomState or Generator of "
        "numpy.random"
    )
