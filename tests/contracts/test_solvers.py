"""What every solver keeps to, whatever its method; `test_solvers_on_banks.py` has the same on every kind of bank."""

import numpy as np
import pytest
from sklearn.base import clone

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.problem import Problem
from manykernels.regularizers import BlockNorm, ElasticNet, EmpiricalBayes, LpNorm
from manykernels.solvers import SOLVERS, Level, Solver, best_for, solve
from problems import make, small_problem


@pytest.mark.parametrize("name", ["level", "silp", "sip"])
def test_the_gap_between_the_bounds_never_rises(name):
    """Yang et al. (2011), Theorem 4, for the level method."""
    problem, *_ = small_problem("hinge", LpNorm(1.5) if name == "sip" else LpNorm(1), seed=9, n=60, M=8)
    gaps = [r["gap"] for r in solve(problem, name, tol=1e-5).history]
    assert len(gaps) > 3 and all(after <= before * (1 + 1e-12) for before, after in zip(gaps, gaps[1:], strict=False))


@pytest.mark.parametrize("regularizer", [ElasticNet(0.5), LpNorm(1)])
def test_the_level_method_takes_any_level(regularizer):
    problem, *_ = small_problem("hinge", regularizer, seed=9, n=40)
    truth = solve(problem, tol=1e-7).primal
    for tau in (0.1, 0.9):
        assert solve(problem, Solver("level", tau=tau), tol=1e-4).primal == pytest.approx(truth, rel=1e-4)
    for tau in (0, 1, -1, "half"):
        with pytest.raises(ValueError, match="tau"):
            solve(problem, Solver("level", tau=tau))


@pytest.mark.parametrize("regularizer", [ElasticNet(0.5), LpNorm(1)])
def test_a_higher_level_means_a_shorter_step_of_the_level_method(regularizer):
    """{model ≤ lower + τ · gap} grows with τ, and its nearest point comes nearer: all begin from the same cut."""
    steps = []
    for tau in (0.1, 0.5, 0.9):
        problem, *_ = small_problem("hinge", regularizer, seed=9, n=40)
        seen, combined = [], problem.bank.combined
        problem.bank.combined = lambda theta, *a, seen=seen, combined=combined, **k: (
            seen.append(np.array(theta)) or combined(theta, *a, **k)
        )
        solve(problem, Solver("level", tau=tau), tol=1e-9, max_iter=2)
        steps.append(np.linalg.norm(seen[-1] - seen[0]))
    assert steps[0] > 1.2 * steps[1] > 1.2**2 * steps[2] > 0


def test_auto_is_newton_unless_the_regularizer_asks_for_another():
    for regularizer, name in ((LpNorm(1), "newton"), (BlockNorm(3), "reweighted"), (EmpiricalBayes(0.5), "mackay")):
        problem, *_ = small_problem("squared", regularizer)
        assert best_for(problem).name == name


def test_a_refusal_names_the_solver_and_the_reason():
    problem, *_ = small_problem("hinge", LpNorm(2))
    with pytest.raises(ValueError, match="silp.*simplex"):
        solve(problem, "silp")
    with pytest.raises(ValueError, match="newton.*marginal likelihood"):
        solve(small_problem("squared", EmpiricalBayes(0.5))[0], "newton")
    with pytest.raises(ValueError, match="unbounded.*LpNorm"):
        from manykernels.regularizers import LpSum

        small_problem("one_class", LpSum(1))


def test_solvers_and_options_are_checked_by_name():
    with pytest.raises(ValueError, match="'auto' or one of newton"):
        Solver("gradient descent")
    with pytest.raises(ValueError, match="no option.*fixed_step.*tau"):
        Solver("level", fixed_step=True)
    with pytest.raises(ValueError, match="Level is a class.*Level()"):
        solve(small_problem("hinge", LpNorm(1))[0], Level)
    assert Solver("level", tau=0.3) == Level(tau=0.3) != Solver("level")
    assert repr(Solver("level", tau=0.3)) == "Level(tau=0.3)" and Solver("level").defaults() == {"tau": 0.5}


@pytest.mark.parametrize("name", SOLVERS)
def test_a_solver_is_its_parameters(name):
    solver = Solver(name)
    assert solver.name == name and type(solver).__name__.lower() == name and type(solver).__doc__
    again = clone(solver)
    assert again is not solver and again == solver and repr(again) == repr(solver) and hash(again) == hash(solver)
    assert solver.get_params() == solver.defaults() == vars(solver)
    for parameter in solver.defaults():
        assert again.set_params(**{parameter: 7}).get_params()[parameter] == 7 and again != solver
    with pytest.raises(ValueError, match="Invalid parameter 'colour' for .*Valid parameters are"):
        solver.set_params(colour=1)


def test_a_point_that_is_not_feasible_proves_nothing():
    problem, Ks, _ = small_problem("hinge", LpNorm(2), n=30)
    a = np.where(problem.Y > 0, 0.5, 0.0)
    q = np.einsum("ti,mij,tj->m", a, Ks, a)
    certificate = problem.certificate(np.zeros(1), a, np.zeros(1), np.full(4, 0.5), q)
    assert certificate.dual == -np.inf and certificate.gap == np.inf


def test_the_mean_of_targets_is_no_unit_of_a_gap():
    """The intercept takes it up; a gap in the unit of its square would be small at once."""
    near, _, y = small_problem("squared", LpNorm(2))
    far = Problem(near.bank, y + 1e8, near.loss, LpNorm(2), near.c)
    one, other = (solve(problem, tol=1e-6) for problem in (near, far))
    np.testing.assert_allclose(other.a, one.a, atol=1e-3)
    np.testing.assert_allclose(other.theta, one.theta, atol=1e-3)


def test_problems_are_checked_by_name():
    Ks, y = make(12, n=20)
    bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    for options, message in (
        (dict(Y=y, c=-1.0), "c must be"),
        (dict(Y=y, c=np.where(y > 0, 1.0, np.inf)), "c must be finite"),
        (dict(Y=(y > 0).astype(float)), r"\+1 or -1"),
        (dict(Y=y, loss=losses.get("level_set")), "intercept=False"),
        (dict(Y=y[:5]), "5 examples"),
    ):
        with pytest.raises(ValueError, match=message):
            Problem(**{"bank": bank, "loss": losses.get("hinge"), "regularizer": LpNorm(2), **options})
