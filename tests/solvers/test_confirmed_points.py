"""What `chunking` certifies anew where a run would end, and what passes of `primal` sample and halve."""

from contextlib import nullcontext, suppress

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.banks.choice import explicit_bank
from manykernels.kernels import KernelList, Linear
from manykernels.problem import Problem
from manykernels.regularizers import LpNorm
from manykernels.solvers import Control, _primal_passes, _wrapper, solve
from manykernels.solvers._primal_passes import LinearModel, Stage
from manykernels.solvers._run import Finished
from manykernels.solvers._wrapper import Wrapper
from manykernels.solvers.classical._kernel_rows import rows_of
from manykernels.solvers.classical.chunking import Interleaved
from manykernels.solvers.newton import NewtonStep
from manykernels.solvers.primal import Descent

n = 64
rng = np.random.default_rng(11)
X = rng.normal(size=(n, 6))
COLUMNS = [[0, 1], [2, 3], [4, 5]]
Y = np.where(np.array([X[:, 0] - X[:, 2], X[:, 4] + X[:, 1]]) + 0.4 * rng.normal(size=(2, n)) > 0.2, 1.0, -1.0)


def end():
    raise Finished


@pytest.mark.parametrize("by_cuts", [False, True])
def test_a_run_that_would_end_is_certified_at_its_best_point_and_its_best_dual_point(by_cuts):
    """Whatever the present point is, and whatever its sums of many steps are."""
    bank = DenseBank(np.stack([X[:, own] @ X[:, own].T for own in COLUMNS], axis=2))
    problem = Problem(bank, Y, losses.get("hinge"), LpNorm(2), 1.0)
    good, proof = solve(problem, "level", tol=1e-9, max_iter=1), solve(problem, "newton", tol=1e-6)
    q = np.einsum("tmi,ti->m", bank.products(good.a, np.arange(n)), good.a)
    own, both = (good.primal - bound for bound in (problem.dual_value(good.a, q), proof.dual))
    assert own > 1.5 * both  # so that the gap asks for the better bound
    scale = (good.primal - good.dual) / good.gap
    run = Interleaved(problem, Control(0.5 * (own + both) / scale, 100), None)
    run.rows, run.g = rows_of(bank, run.kernels), np.zeros((2, 3, n))
    run.best, run.upper, run.scale = {"theta": good.theta, "a": good.a, "b": good.b}, good.primal, scale
    run.lower, run.best_dual = proof.dual, (lambda: proof.a) if by_cuts else proof.a
    run.theta, run.a, run.g[:], run.fresh, run.certified_fresh = np.ones(3), 0.1 * good.a, 1e-3, False, False
    with pytest.raises(Finished):
        run.confirmed(end)
    np.testing.assert_array_equal(run.theta, good.theta)
    np.testing.assert_array_equal(run.a, good.a)
    np.testing.assert_allclose(run.g, bank.products(good.a, np.arange(n)), atol=1e-10)
    assert run.upper == pytest.approx(good.primal, rel=1e-9) and run.history[0]["certified"]
    q = np.einsum("tmi,ti->m", bank.products(proof.a, np.arange(n)), proof.a)
    if by_cuts:
        assert run.lower == proof.dual and callable(run.best_dual)
    else:
        assert run.history[0]["dual"] < run.lower and len(run.history) == 2
        assert run.lower == pytest.approx(problem.dual_value(proof.a, q), rel=1e-9)
        np.testing.assert_array_equal(run.best_dual, proof.a)
    again = len(run.history)
    with pytest.raises(Finished):  # it was certified with new sums: nothing is computed again
        run.confirmed(end)
    assert len(run.history) == again


def descent(loss, **options):
    kernels = KernelList.from_spec([(str(m), Linear(), own) for m, own in enumerate(COLUMNS)], X)
    y = Y if losses.get(loss).targets == "binary" else np.array([X[:, 0], X[:, 2]])
    return Descent(Problem(explicit_bank(kernels, X), y, losses.get(loss), LpNorm(2), 0.5), Control(**options))


def test_samples_for_the_curvature_begin_at_another_example_in_each_block(monkeypatch):
    monkeypatch.setattr(_primal_passes, "ROWS_PER_BLOCK", 15)
    run, added = descent("squared"), []
    curvature = run.blocks.curvature

    def noted(D, k):
        curve = curvature(D, k)
        add = curve.add
        curve.add = lambda G, r, E: added.append(G) or add(G, r, E)
        return curve

    monkeypatch.setattr(run.blocks, "curvature", noted)
    run.per_feature = 3
    run._visit(Stage(np.arange(n), 1e-3), LinearModel(np.zeros((2, 6)), np.zeros((2, 1)), np.full(3, 0.5)), 0.0)
    step = n // (3 * 6)
    for k in range(5):
        for G in added[2 * k : 2 * k + 2]:
            rows = np.arange(15 * k + k % step, min(15 * k + 15, n), step)
            np.testing.assert_array_equal(G, run.blocks.features(rows))
    assert len(added) == 10


def test_the_smoothing_is_halved_after_each_certificate(monkeypatch):
    run, calls = descent("hinge", tol=1e-3), []
    settle, visit, certify = Descent._settle, Descent._visit, Descent._certify

    def settled(self, level, place, found, mu):
        calls.append(("settled", mu))
        return settle(self, level, place, found, mu)

    def visited(self, level, place, mu, first=False):
        calls.append(("visit", mu))
        return visit(self, level, place, mu, first)

    def certified(self, *given):
        with suppress(Finished) if sum(what == "settled" for what, _ in calls) < 3 else nullcontext():
            certify(self, *given)

    for name, method in (("_settle", settled), ("_visit", visited), ("_certify", certified)):
        monkeypatch.setattr(Descent, name, method)
    run.run(Descent.iterate)
    ends = [k for k, (what, _) in enumerate(calls) if what == "settled"]
    assert len(ends) == 3
    for k in ends[:-1]:  # the visit at its own point, and the one that follows
        mu = calls[k][1]
        assert calls[k + 1] == ("visit", mu) and 0 < calls[k + 2][1] <= 0.5 * mu


@pytest.mark.parametrize("T", [1, 2])
@pytest.mark.parametrize("most", [1, 7, 30])
def test_outputs_beyond_the_active_examples_are_computed_a_few_at_a_time(most, T, monkeypatch):
    """In blocks that do not divide their number, of one example at least."""
    draw = np.random.default_rng(1)
    Z = draw.normal(size=(211, 3))
    y = np.where(np.array([Z[:, 0], Z[:, 1] + Z[:, 2]])[:T] + 0.1 * draw.normal(size=(T, 211)) > 0.1, 1.0, -1.0)
    Ks = np.stack([np.exp(-g * ((Z[:, None] - Z) ** 2).sum(axis=2)) for g in (0.1, 0.5)])
    problem = Problem(DenseBank(np.moveaxis(Ks, 0, 2), normalize=None), y, losses.get("hinge"), LpNorm(2), 3.0)
    monkeypatch.setattr(_wrapper, "FIRST_ACTIVE", 20)
    monkeypatch.setattr(_wrapper, "MAX_OUTPUTS", most)
    for steps in (1, 2, 100):
        found = solve(problem, "newton", tol=1e-5, max_iter=steps)
        f = np.einsum("m,mij,tj->ti", found.theta, Ks, found.a)
        np.testing.assert_allclose(found.b, problem.best_b(f), atol=1e-8)
        q = np.einsum("ti,mij,tj->m", found.a, Ks, found.a)
        exact = problem.certificate(problem.losses(f, found.b), found.a, found.b, found.theta, q)
        assert found.primal == pytest.approx(exact.primal, rel=1e-9)
    assert found.converged and min(record["n_active"] for record in found.history) < 150


def test_outputs_are_known_only_where_no_output_of_an_example_is_near_its_margin(monkeypatch):
    """Three outputs on some examples; the combined kernel is float32, and outputs of the support are exact."""
    bank = DenseBank(np.stack([X[:, own] @ X[:, own].T for own in COLUMNS], axis=2))
    three = np.where(X[:, [0, 2, 4]].T + 0.3 > 0, 1.0, -1.0)
    problem = Problem(bank, three, losses.get("hinge"), LpNorm(2), np.linspace(3.0, 30.0, n))
    run, rows = Wrapper(problem, NewtonStep(), Control(1e-4)), np.sort(rng.permutation(n)[:41])
    run._activate(rows)
    run.dtype, run.effort = np.float32, 1e-3
    state, certificate, _ = run._evaluate(0.01)
    last, K = run.last, bank.matrices(dtype=np.float64)
    f = np.einsum("m,mij,tj->ti", last.theta, K, last.a)
    assert not last.a[:, np.setdiff1d(np.arange(n), rows)].any() and set(last.support) <= set(last.known) <= set(rows)
    at = np.isin(last.known, last.support)
    np.testing.assert_allclose(last.outputs[:, at], f[:, last.support], atol=1e-10)
    np.testing.assert_allclose(last.outputs, f[:, last.known], atol=1e-4)
    slack = three * (f + run.b[:, None]) - 1
    free = last.known[~at]
    assert len(free) and (slack[:, free] > 0).all()
    exact = problem.certificate(
        problem.losses(f[:, rows], run.b, rows), last.a[:, rows], run.b, last.theta, last.q, rows
    )
    assert certificate.primal == pytest.approx(exact.primal, rel=1e-5)
    np.testing.assert_allclose(last.q, np.einsum("ti,mij,tj->m", last.a, K, last.a), rtol=1e-9)
