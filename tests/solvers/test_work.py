"""A fit of few examples ends after a certain work, which is counted and not timed; "auto" shares it among solvers."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLClassifier, losses, regularizers, solvers
from manykernels._limits import Allowance, Exhausted, spend
from manykernels.banks import DenseBank
from manykernels.kernels import Linear
from manykernels.problem import Problem
from manykernels.solvers import BaseSolver, Oracle, solve


def problem(loss="hinge", regularizer=None, c=1.0, n=40, M=4):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(M, n, 3))
    K = np.moveaxis(np.einsum("mik,mjk->mij", X, X), 0, 2)
    y = np.sign(X[0, :, 0] + 0.5 * rng.normal(size=n))
    regularizer = regularizers.LpNorm(2) if regularizer is None else regularizer
    return Problem(DenseBank(K, normalize=None), y, losses.get(loss), regularizer, c, True)


class Endless(BaseSolver):
    """Solves the inner problem at the first weights over and over, and never says that it is done."""

    def solve(self, problem, control):
        def algorithm(oracle):
            oracle(oracle.theta)
            K = oracle.bank.matrix(oracle.theta, None, np.float64, problem.intercept)
            while True:
                oracle.inners[0].solve(K, oracle.a[0], 1e-9)

        control.tol = 0.0  # the first point is no end
        return Oracle(problem, control).run(algorithm)


def test_an_allowance_is_spent_by_its_thread_and_within_its_block_alone():
    spend(1e300)
    with Allowance(10.0) as outer:
        with Allowance(5.0) as inner:
            spend(4.0)
        assert (outer.left, inner.left) == (10.0, 1.0)
        with pytest.raises(Exhausted):
            spend(11.0)
    spend(1e300)


def test_an_allowance_holds_in_no_other_thread():
    """Two threads have one each, whichever enters and leaves first, and a third has none."""
    with ThreadPoolExecutor(1) as one, ThreadPoolExecutor(1) as other:
        first, second = Allowance(10.0), Allowance(20.0)
        one.submit(first.__enter__).result()
        spend(1e300)
        other.submit(second.__enter__).result()
        one.submit(spend, 4.0).result()
        other.submit(spend, 5.0).result()
        assert (first.left, second.left) == (6.0, 15.0)
        one.submit(first.__exit__).result()
        one.submit(spend, 1e300).result()
        with pytest.raises(Exhausted):
            other.submit(spend, 16.0).result()
        other.submit(second.__exit__).result()
    spend(1e300)


def test_a_solver_that_does_not_end_by_itself_ends_with_its_best_point_and_says_why(monkeypatch):
    """It ran for ever."""
    monkeypatch.setattr(solvers, "SMALL_FIT_WORK", 5e4)
    found = solve(problem(), Endless(), tol=1e-12)
    again = solve(problem(), Endless(), tol=1e-12)
    assert "a fit of this size may do no more work" in found.reason and not found.converged
    assert np.isfinite(found.gap) and found.a.any()
    assert np.array_equal(found.a, again.a) and found.gap == again.gap


@pytest.mark.parametrize("name", ["auto", "newton", "chunking", "spicy", "level", "nesterov", "hessian", "analytic"])
def test_a_run_that_is_cut_short_has_a_certificate_and_more_steps_allow_for_more(name, monkeypatch):
    monkeypatch.setattr(solvers, "SMALL_FIT_WORK", 3e3)
    asked = problem(regularizer=regularizers.LpNorm(1.5))
    short, long = solve(asked, name, tol=1e-9), solve(asked, name, tol=1e-9, max_iter=10**7)
    assert not short.converged and np.isfinite(short.gap) and "more work" in short.reason
    assert long.gap < short.gap


def test_the_work_that_is_allowed_grows_with_the_problem():
    small, steps = problem(), 1000
    assert solvers._allowed_work(small, steps) == solvers._allowed_work(problem(n=20), 3) == solvers.SMALL_FIT_WORK
    assert solvers._allowed_work(problem(n=400), steps) == 8 * solvers.SMALL_FIT_WORK
    assert solvers._allowed_work(problem(M=40), 5 * steps) == 10 * solvers.SMALL_FIT_WORK


@pytest.mark.parametrize("classes", [10, 20])
def test_the_classes_of_a_fit_share_the_work(classes, monkeypatch):
    """Each class had the work of a whole fit."""
    spent = []

    class Counted(Allowance):
        def __exit__(self, *error):
            spent.append(self.begun - self.left)
            super().__exit__(*error)

        def __enter__(self):
            self.begun = self.left
            return super().__enter__()

    monkeypatch.setattr(solvers, "SMALL_FIT_WORK", 4e4)
    monkeypatch.setattr("manykernels.solvers._run.Allowance", Counted)
    X = np.random.default_rng(0).normal(size=(3 * classes, 2))
    model = MKLClassifier([("k", Linear())], solver=Endless(), tol=1e-12, multi_class="ovr", C=1.0)
    with pytest.warns(ConvergenceWarning, match="a fit of this size may do no more work"):
        model.fit(X, np.arange(len(X)) % classes)
    turn = 2e3  # what the last turn of a class may spend beyond its share
    assert len(spent) == classes and 4e4 < sum(spent) < 2.5 * 4e4 + classes * turn


@pytest.mark.parametrize("regularizer", [regularizers.LpPenalty(2.0), regularizers.LpNorm(2.0)])
def test_the_fits_that_choose_C_share_the_work_of_a_fit(regularizer, monkeypatch):
    """Three classes at four C took the work of twelve fits, 26 s (fuzz, seed 20261125, 717)."""
    allowed = []

    class Noted(Allowance):
        def __init__(self, work):
            allowed.append(work)
            super().__init__(work)

    monkeypatch.setattr(solvers, "Allowance", Noted)
    rng = np.random.default_rng(0)
    model = MKLClassifier([("a", Linear(), [0]), ("b", Linear(), [1])], regularizer=regularizer, multi_class="ovr")
    model.fit(rng.normal(size=(30, 2)), np.arange(30) % 3)
    choosing, last = np.array(allowed[:-3]), np.array(allowed[-3:])
    assert len(choosing) >= 12 and np.allclose(last, 2.5 / 3 * solvers.SMALL_FIT_WORK)
    assert np.allclose(choosing, 2.5 / 12 * solvers.SMALL_FIT_WORK)


def test_two_solvers_that_fall_short_prove_together_what_neither_does_alone():
    """"auto" kept the smaller of two gaps."""
    asked = problem(regularizer=regularizers.LpNorm(1))
    exact = solve(asked, "newton", tol=1e-9)
    scale = (exact.primal - exact.dual) / exact.gap if exact.gap > 0 else 1.0
    weak = exact.dual - 0.5 * abs(exact.dual)
    upper = replace(exact, dual=weak, gap=(exact.primal - weak) / scale, converged=False)
    above = exact.primal + 0.5 * abs(exact.primal)
    lower = replace(exact, primal=above, gap=(above - exact.dual) / scale, converged=False)
    for pair in ((upper, lower), (lower, upper)):
        found = solvers._best_of_both(asked, *pair, 1e-6, 1000)
        assert found.converged and found.reason == "" and found.gap == pytest.approx(exact.gap, abs=1e-12)
        assert (found.primal, found.dual) == (exact.primal, exact.dual) and found.history[-1]["gap"] == found.gap
    broken = replace(lower, dual=2.0 * exact.primal)
    assert solvers._best_of_both(asked, upper, broken, 1e-6, 1000) is upper
    closed = replace(exact, dual=exact.primal, gap=0.0, converged=True)  # the gap was divided by 0
    for pair in ((lower, closed), (closed, lower)):
        assert solvers._best_of_both(asked, *pair, 1e-6, 1000) is closed


def test_newton_goes_on_where_passes_over_explicit_features_stall():
    """`coordinate` ended after seconds, far from the optimum."""
    rng = np.random.default_rng(0)
    n, d = int(rng.integers(15, 35)), int(rng.integers(2, 8))  # 32, 5
    X = rng.normal(size=(n, d))
    X[:, rng.random(d) < 0.5] = rng.normal()  # columns 0 and 1 are constant
    y = np.tanh(X[:, 0] - np.median(X[:, 0])) + rng.normal(size=n)
    kernels = [("all", Linear(), None), ("most", Linear(), [1, 2, 3, 4]), ("some", Linear(), [0, 3, 4])]
    model = MKLClassifier(
        kernels, regularizer=regularizers.BlockElasticNet(0.0), C=1e4, solver="coordinate", tol=1e-4, n_jobs=1,
        normalize="trace", fit_intercept=False,
    ).fit(X, y > np.median(y))  # fmt: skip
    assert model.duality_gap_ <= model.tol
