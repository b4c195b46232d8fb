"""Newton steps on explicit features: the certificate is that of the point which is returned."""

import numpy as np
import pytest
from members import MEMBERS, every

from manykernels import losses
from manykernels.banks.choice import explicit_bank
from manykernels.kernels import RBF, KernelList, Linear, Nystroem, RandomFeatures
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import primal, solve
from manykernels.solvers._primal_passes import HostBlocks


@pytest.mark.parametrize("max_iter", [1, 2, 3, 1000])
@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared"])
def test_the_certificate_is_that_of_the_point_that_is_returned(loss, max_iter):
    """Classes are unbalanced, so that Σa = 0 moves a: v goes with it."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 3))
    y = np.where(X[:, 0] + 0.3 * rng.normal(size=400) > 1.2, 1.0, -1.0)
    kernels = [RandomFeatures(RBF(gamma=g), rank=12, random_state=k) for k, g in enumerate((0.1, 0.5))]
    bank = explicit_bank(KernelList.from_spec(kernels, X), X)
    problem = Problem(bank, y, losses.get(loss), LpNorm(2), 2.0)
    s = solve(problem, "primal", tol=1e-3, max_iter=max_iter)
    assert s.n_iter == len(s.history) <= max_iter
    exact = certificate_of(problem, s)
    assert s.primal == pytest.approx(exact.primal, rel=1e-5)
    assert exact.gap == pytest.approx(s.gap, abs=1e-5) and (s.converged or max_iter < 1000)


def certificate_of(problem, s):
    """The certificate of a solution, computed anew."""
    P = problem.bank.products(s.a, np.arange(problem.bank.n))
    q, outputs = np.einsum("tmi,ti->m", P, s.a), np.einsum("m,tmi->ti", s.theta, P)
    return problem.certificate(problem.losses(outputs, s.b), s.a, s.b, s.theta, q)


def problem_of(loss, **options):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 3))
    y = np.where(X[:, 0] + 0.5 * rng.normal(size=300) > 0.2, 1.0, -1.0)
    kernels = [RandomFeatures(RBF(gamma=g), rank=12, random_state=k) for k, g in enumerate((0.1, 0.5))]
    return Problem(explicit_bank(KernelList.from_spec(kernels, X), X, **options), y, losses.get(loss), LpNorm(2), 0.5)


@pytest.mark.parametrize("loss", ["hinge", "epsilon_insensitive"])
def test_it_has_converged_where_the_gap_is_that_of_the_tol_that_was_asked_for(loss, monkeypatch):
    """Steps that end at a coarser gap, for want of steps or of one who finishes, are not enough."""
    monkeypatch.setattr(primal, "SMOOTHED_TOL", 1e-2)
    tol, problem = 1e-4, problem_of(loss)
    with monkeypatch.context() as patch:
        patch.setattr(primal.Coordinate, "refuse", lambda self, problem: "it is away")
        alone = solve(problem, "primal", tol=tol)
    assert tol < alone.gap <= 1e-2 and not alone.converged
    for max_iter in (1, alone.n_iter - 1, alone.n_iter, 1000):
        found = solve(problem, "primal", tol=tol, max_iter=max_iter)
        assert found.converged == (found.gap <= tol), max_iter
        assert found.converged == (max_iter == 1000) or max_iter == alone.n_iter - 1
    coarse = solve(problem, "primal", tol=2 * alone.gap, max_iter=alone.n_iter)
    assert coarse.converged and coarse.gap <= 2 * alone.gap


def test_features_that_are_kept_between_passes_have_a_quarter_of_the_memory_limit(monkeypatch):
    """Those of few examples are kept, those of more are computed again; the fit is the same."""
    asked, room = [], HostBlocks.room

    def look(self, size, D):
        row, limit = D * self.bank.dtype.itemsize, self.bank.memory_limit
        fits = 10**6 if limit is None else limit // 4 // row
        assert room(self, fits + 1, D) is None or limit is None
        assert room(self, fits, D).nbytes == fits * row
        kept = room(self, size, D)
        asked.append((size * row, None if kept is None else kept.nbytes))
        return kept

    monkeypatch.setattr(HostBlocks, "room", look)
    free = solve(problem_of("hinge"), "primal", tol=1e-3)
    assert asked and all(kept == size for size, kept in asked)
    most = max(size for size, _ in asked)
    for limit in (2 * most, 8 * most + 1):
        asked.clear()
        found = solve(problem_of("hinge", memory_limit=limit), "primal", tol=1e-3)
        assert asked and all(kept == (size if size <= limit // 4 else None) for size, kept in asked)
        assert any(kept is None for _, kept in asked) == (limit == 2 * most)
        assert found.converged and found.primal == pytest.approx(free.primal, rel=2e-3)


@pytest.mark.parametrize("C", [1.0, 100.0])
def test_passes_stay_few_where_the_features_are_nearly_dependent(C):
    """A sample of the examples for the curvature took some hundred passes here."""
    rng = np.random.default_rng(77)
    X = rng.normal(size=(2000, 5))
    y = X[:, 0] + np.sin(X[:, 1]) + 0.3 * rng.normal(size=2000)
    kernels = [Nystroem(RBF(gamma=g), rank=30, random_state=k) for k, g in enumerate((0.01, 3.0))]
    bank = explicit_bank(KernelList.from_spec(kernels, X), X)
    s = solve(Problem(bank, y / y.std(), losses.get("squared"), LpNorm(2), C), "primal", tol=1e-4)
    assert s.converged and s.n_iter <= 15


@every(*primal.Primal.needs, where=lambda omega: omega is MEMBERS[type(omega)][-1])
def test_it_reaches_its_gap_with_every_regularizer(omega):
    """Values of `LpPenalty` are NumPy's, and so are comparisons of them."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 5))
    y = np.where(X @ [1.0, 1.0, 0.5, 0.0, 0.0] + 0.5 * rng.normal(size=120) > 0, 1.0, -1.0)
    bank = explicit_bank(KernelList.from_spec([(f"{k}", Linear(), [k]) for k in range(5)], X), X)
    s = solve(Problem(bank, y, losses.get("logistic"), omega, 1.0), "primal", tol=1e-3)
    assert s.converged and s.gap <= 1e-3
