"""Solves a problem whose examples lie in shards, by rounds on the examples that matter.

A round solves the problem on the active examples with the usual solvers and sends the predictor to the shards, which
compute the loss of every example. The certificate is that of the whole problem: the primal value has the losses of all
examples, and the dual value of the active examples is feasible with a = 0 elsewhere. An example that is not active adds
c V(y, f) to the gap; the examples with the largest values join until the gap is reached.

While the active set is small a few shards already have enough violators: the round then ends early, without a
certificate.
"""

import time
import warnings
from dataclasses import dataclass
from typing import Any

import numpy as np

from .._state import check, read_entries
from ..banks.choice import choose_bank
from ..inner import InnerProblem
from ..problem import Problem
from ..solution import Solution, Status
from ..solvers import solve
from ..solvers.diagnosis import sentence_for
from .shards import Question, SentModel, concatenate, price, take
from .stream import Stream

FIRST_ACTIVE = 2_000, 20_000  # the largest first active set: for pairwise kernels, for explicit features
MIN_ACTIVE = 200  # examples of the first active set, and of its growth
SPARE_SHARE = 0.25  # active examples that stay beyond those that matter
FIRST_GAP = 1e-2
SHARD_SURPLUS = 4  # times its share of the wanted violators that a shard may return


@dataclass(frozen=True)
class ActiveKernels:
    """The kernels of a stream, `scaled` by all examples, and how the bank of the active examples is made."""

    kernels: Any
    scaled: Any
    tol: float
    explicit: bool
    features: str
    memory_limit: float | None
    n_jobs: int | None

    def bank(self, X) -> Any:
        """The bank of the active examples X, without warnings: those about the kernels came from all examples."""
        options = dict(features=self.features, wanted=self.explicit, memory_limit=self.memory_limit, n_jobs=self.n_jobs)
        with warnings.catch_warnings(action="ignore"):
            return choose_bank(self.kernels, X, tol=self.tol, normalize=self.scaled, **options)


@dataclass(frozen=True)
class DriverOptions:
    """What the problems of a stream have in common."""

    loss: Any
    regularizer: Any
    intercept: bool
    solver: Any
    tol: float
    max_iter: int
    seed: int
    max_active: int


@dataclass(frozen=True)
class Streamed:
    """The `Solution` of the active examples `rows`, with their data X."""

    rows: np.ndarray
    X: Any
    solution: Solution
    interrupted = False  # `Driver.run` raises the interrupt


# what a checkpoint keeps of a streamed fit
STATE = {"rows": "i8 active <n asc", "a": "f8 T active", "theta": "f8 M", "b": "f8 T", "history": "records",
         "done": "flag"}  # fmt: skip


class Driver:
    """One problem: the rows `outputs` of the targets of a stream; `kept` is its `CheckpointSlot` or None."""

    def __init__(
        self, stream: Stream, kernels: ActiveKernels, options: DriverOptions, outputs: slice, monitor, kept
    ) -> None:
        self.stream, self.kernels, self.options, self.outputs = stream, kernels, options, outputs
        self.loss, self.tol, self.monitor, self.kept = options.loss, options.tol, monitor, kept
        self.Y, self.c, self.n = stream.Y[outputs], stream.c, stream.n
        self.history: list[dict[str, Any]] = []
        self.compute = self.communication = 0.0  # seconds of the last pricing: of the busiest worker, and the rest
        self.begun = time.perf_counter()

    def run(self) -> Streamed:
        """Runs rounds until the gap is at most `tol`, from the beginning or from a checkpoint."""
        rows, warm, last = self._resume()
        X, gap, outside = self.stream.fetch(rows), np.inf, np.inf
        if last is not None:
            gap = last["gap"]
            if last["done"] and last["best"]["gap"] <= self.tol:
                return Streamed(rows, X, self._solution(warm, last["best"]))
        best: Any = None
        while True:
            settled = outside <= 0.1 * gap < np.inf  # the active examples cause most of the gap
            aim = 0.5 * self.tol if settled else max(0.5 * self.tol, min(FIRST_GAP, 0.1 * gap))
            problem, warm, room, found, record = self._round(rows, X, warm, aim)
            status = self._end(record, found, room, warm, aim)
            if status and not record["certified"]:
                found = self._price(problem, warm, rows, room=0)
                record |= self._certificate(problem, warm, found) | {"certified": True, "priced": self.n}
            gap, outside = record["gap"], record["gap"] - warm.gap if record["certified"] else np.inf
            if record["certified"] and (best is None or gap <= best[1]["gap"]):
                best = rows, record, warm, X
            if status or record["certified"] and gap <= self.tol:
                break
            rows, X, warm = self._grow(problem, rows, X, warm, found, room)
            self._keep(rows, warm, gap, False)
        reason = "" if status is None else sentence_for(status, n_active=record["n_active"])
        reason = warm.reason if status is Status.STALLED and warm.reason else reason
        rows, record, warm, X = best
        support = warm.support
        rows, X = rows[support], take(X, support)
        solution = self._solution(_moved(warm, warm.a[:, support]), record, status, reason)
        self._keep(rows, solution, record["gap"], True)
        return Streamed(rows, X, solution)

    def _round(self, rows, X, warm, aim):
        """(problem, its solution to the gap `aim`, room for others, answers of the shards, record)."""
        begun = time.perf_counter()
        problem, options = self._problem(rows, X), self.options
        with warnings.catch_warnings(action="ignore"):
            warm = solve(problem, options.solver, aim, options.max_iter, warm, random_state=options.seed)
        if warm.interrupted:
            raise KeyboardInterrupt
        before = self.stream.backend.sent
        room = self._room(problem, warm)
        found = self._price(problem, warm, rows, room)
        priced = sum(self.stream.shards[k].n for k in found)
        record = self._certificate(problem, warm, found) | {
            "certified": priced == self.n, "n_active": len(rows), "priced": priced, "steps": warm.n_iter,
            "violators": sum(p.violators for p in found.values()),
            "support": len(warm.support), "bytes": self.stream.backend.sent - before,
            "seconds_compute": self.compute, "seconds_communication": self.communication,
            "seconds_driver": time.perf_counter() - begun - self.compute - self.communication,
            "seconds_shards": float(sum(p.seconds for p in found.values())),
            "iteration": len(self.history) + 1, "time": time.perf_counter() - self.begun,
        }  # fmt: skip
        self.history.append(record)
        self.monitor.record(record)
        return problem, warm, room, found, record

    def _end(self, record, found, room, warm, aim):
        """Why no round follows although the gap is not reached; None if one follows."""
        more = sum(len(p.rows) for p in found.values())
        if record["certified"] and record["gap"] <= self.tol:
            return None
        if len(self.history) >= self.options.max_iter:
            return Status.STEPS
        if not more and record["certified"] and (not warm.converged or aim <= 0.5 * self.tol):
            return Status.STALLED
        return Status.MEMORY if more > room and room < min(MIN_ACTIVE, 0.02 * self.options.max_active) else None

    def _first(self):
        """The same number of each class, or a random sample, with the seed of the fit."""
        first = max(FIRST_ACTIVE[True], self.n // 50) if self.kernels.explicit else FIRST_ACTIVE[False]
        size = max(MIN_ACTIVE, min(self.n // 10, first, self.options.max_active // 2))
        rng = np.random.default_rng(self.options.seed)
        keep = np.zeros(self.n, bool)
        for y in self.Y:
            groups = [y > 0, y <= 0] if self.loss.targets == "binary" else [np.ones(self.n, bool)]
            found, left = sorted((np.flatnonzero(group & (self.c > 0)) for group in groups), key=len), size
            for k, index in enumerate(found):
                share = min(left // (len(found) - k), len(index))
                keep[rng.choice(index, share, replace=False)] = True
                left -= share
        return np.flatnonzero(keep)

    def _problem(self, rows, X):
        costs = np.tile(self.c[rows], (len(self.Y), 1))
        Y = np.asarray(self.Y[:, rows], np.float64)
        bank, options = self.kernels.bank(X), self.options
        return Problem(bank, Y, self.loss, options.regularizer, costs, intercept=options.intercept)

    def _room(self, problem, solution):
        """How many examples may join."""
        return min(max(MIN_ACTIVE, problem.bank.n), self.options.max_active - len(solution.support))

    def _grow(self, problem, rows, X, solution, found, room):
        """The active examples of the next round, their data, and a warm start."""
        new = [p for p in found.values() if len(p.rows)]
        keep = self._needed(problem, solution, min(room, sum(len(p.rows) for p in new)))
        values = np.concatenate([p.values for p in new]) if new else np.empty(0)
        worst = np.sort(np.argsort(-values, kind="stable")[: max(room, 0)])
        numbers = np.concatenate([*(p.rows for p in new), np.empty(0, np.int64)]).astype(np.int64)[worst]
        data = [take(X, keep)] + ([take(concatenate([p.X for p in new]), worst)] if len(worst) else [])
        both = np.concatenate([rows[keep], numbers])
        order = np.argsort(both)
        a = np.concatenate([solution.a[:, keep], np.zeros((len(self.Y), len(worst)))], axis=1)[:, order]
        return both[order], take(concatenate(data), order), _moved(solution, a)

    def _needed(self, problem, solution, room):
        """The active examples that matter and the nearest others; all of them after the first rounds."""
        n = problem.bank.n
        if len(self.history) > 2 and n + room <= self.options.max_active:
            return np.arange(n)
        support = solution.support
        outputs = problem.bank.outputs(solution.theta, solution.a[:, support], support)
        parts = zip(problem.Y, problem.c, solution.a, outputs, solution.b, strict=True)
        slacks = [InnerProblem(self.loss, y, c, self.options.intercept).slack(a, f, b) for y, c, a, f, b in parts]
        slack = np.min(slacks, axis=0)
        wanted = int((1 + SPARE_SHARE) * np.count_nonzero(slack <= 0)) + MIN_ACTIVE
        wanted = max(len(support), min(wanted, self.options.max_active - room))
        return np.sort(np.argsort(slack, kind="stable")[:wanted])

    def _price(self, problem, solution, rows, room):
        """{number of a shard: its answer} at a solution, of all shards, or of enough shards to fill the room."""
        stream, backend = self.stream, self.stream.backend
        support = solution.support
        state = SentModel(
            problem.bank.predictor(support), solution.a[:, support], solution.theta,
            np.asarray(solution.b, float), self.loss, self.outputs, stream.room,
        )  # fmt: skip
        if backend.here:
            state.prepare()
        shared = backend.share(state)
        count = len(stream.shards)
        order = np.roll(np.arange(count), -(len(self.history) * 7) % count)
        batch = max(backend.width, -(-count // 16))
        found: dict[int, Any] = {}
        self.compute = self.communication = 0.0
        for start in range(0, count, batch):
            calls, begun = [], time.perf_counter()
            for k in order[start : start + batch]:
                share = SHARD_SURPLUS * max(room, 1) * stream.shards[k].n / self.n
                calls.append((stream.handles[k], shared, stream.local(rows, k), max(16, int(np.ceil(share)))))
            answers = backend.run(Question(price), calls)
            busy = _busiest(answers)
            self.compute += busy
            self.communication += time.perf_counter() - begun - busy
            found |= dict(zip(order[start : start + batch].tolist(), answers, strict=True))
            seen = sum(stream.shards[k].n for k in found)
            self.monitor.visited(seen, self.n)
            if sum(len(p.rows) for p in found.values()) >= 2 * room > 0 and seen < 0.9 * self.n:
                break
        for k, priced in found.items():  # with the numbers of the examples in the whole data set
            found[k] = priced._replace(rows=priced.rows + stream.shards[k].first)
        return dict(sorted(found.items()))

    def _certificate(self, problem, solution, found):
        """Primal, dual and gap of the whole problem; an estimate if not all shards were asked."""
        share = sum(self.stream.shards[k].n for k in found) / self.n
        losses = np.sum([p.losses for p in found.values()], axis=0) / share
        support = solution.support
        A = solution.a[:, support]
        q = np.einsum("tmi,ti->m", problem.bank.products(A, support, support), A)[problem.kernels]
        theta = solution.theta[problem.kernels]
        found = problem.certificate(losses, solution.a, np.asarray(solution.b, float), theta, q)
        dual = max(found.dual, solution.dual)  # the solver may know a better dual point
        gap = (found.primal - dual) / found.scale
        return {"primal": found.primal, "dual": dual, "gap": max(gap, 0.0) if gap > -1e-6 else np.nan}

    def _solution(self, found, record, status=None, reason=""):
        values = {name: float(record[name]) for name in ("primal", "dual", "gap")}
        reached = bool(values["gap"] <= self.tol)
        return Solution(
            found.theta, found.a, np.asarray(found.b, float), **values, n_iter=len(self.history),
            history=self.history, converged=reached, reason=reason,
            status=Status.REACHED if reached else status,
        )  # fmt: skip

    def _keep(self, rows, solution, gap, done):
        """Writes the checkpoint after each round."""
        if self.kept is None:
            return
        state = {
            "rows": rows, "a": solution.a, "theta": solution.theta, "b": np.asarray(solution.b, float),
            "gap": float(gap), "time": time.perf_counter() - self.begun, "history": self.history, "done": done,
            "best": {"primal": float(solution.primal), "dual": float(solution.dual), "gap": float(solution.gap)},
        }  # fmt: skip
        self.kept.write({"state": state})
        if done:
            self.kept.file.parts[self.kept.k] = {"state": state}

    def _resume(self):
        """(active rows, a warm start or None, the state of a checkpoint or None)."""
        part = {} if self.kept is None else self.kept.file.parts[self.kept.k]
        if "state" not in part:
            return self._first(), None, None
        state, T = part["state"], len(self.Y)
        with self.kept.file.wholeness():
            check("rows" in state, "it is not that of a streamed fit")
            read_entries(STATE, state, n=self.n, T=T, M=self.kernels.kernels.M)
        self.history, self.begun = state["history"], time.perf_counter() - state["time"]
        self.monitor.resumed(state["gap"], state["time"])
        point = Solution(state["theta"], state["a"], state["b"], **state["best"])
        return state["rows"], point, state


def _busiest(answers):
    """Seconds of the worker that worked longest."""
    each: dict[tuple, float] = {}
    for answer in answers:
        each[answer.who] = each.get(answer.who, 0.0) + answer.seconds
    return max(each.values())


def _moved(solution, a):
    """The same solution, with the a of other active examples."""
    b = np.asarray(solution.b, float)
    return Solution(solution.theta, a, b, primal=solution.primal, dual=solution.dual, gap=solution.gap)
