"""A solver that a user writes: given to `solve` and to estimators, cloned, searched, refused and told of by name."""

import inspect
from pathlib import Path

import numpy as np
import pytest
from agreement import assert_models_agree
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.model_selection import GridSearchCV

import manykernels
from manykernels import MKLClassifier
from manykernels.kernels import RBF, Linear
from manykernels.regularizers import BlockNorm, LpNorm
from manykernels.solution import Solution
from manykernels.solvers import BaseSolver, Level, Monitor, Newton, Oracle, solve
from problems import small_problem

X, y = make_classification(80, 6, random_state=0)
KERNELS = [RBF(gamma=0.01), RBF(gamma=0.3), Linear()]


class Damped(BaseSolver):
    """The closed-form weights, approached by a share of the way at each step."""

    needs = ("weights_from_norms", "start")

    def __init__(self, damping=0.5):
        self.damping = damping

    def solve(self, problem, control):
        return Oracle(problem, control).run(self.alternate)

    def alternate(self, oracle):
        theta, regularizer = oracle.theta, oracle.problem.regularizer
        while True:
            norms = theta * np.sqrt(np.maximum(oracle(theta).q, 0.0))
            theta = self.damping * theta + (1 - self.damping) * regularizer.weights_from_norms(norms)


class Twice(BaseSolver):
    """Runs another solver coarsely, then from there on; tells of both."""

    name = "twice"
    file_tag = ("example/twice", 1)

    def __init__(self, inner=None, first=0.1):
        self.inner = inner
        self.first = first

    def refuse(self, problem):
        return "it is for the hinge loss" if problem.loss.name != "hinge" else self.inner.refusal(problem)

    def solve(self, problem, control):
        found = solve(problem, self.inner, tol=self.first, max_iter=control.max_iter, warm=control.warm)
        control.record({"gap": found.gap})
        found = solve(problem, self.inner, tol=control.tol, max_iter=control.max_iter, warm=found)
        control.record({"gap": found.gap})
        names = ("theta", "a", "b", "primal", "dual", "gap", "converged")
        return Solution(**{name: getattr(found, name) for name in names})


def test_the_documents_show_this_solver():
    assert inspect.getsource(Damped) in (Path(__file__).parents[2] / "docs" / "solvers.md").read_text()


@pytest.mark.parametrize("solver", [Damped(), Damped(0.1), Twice(Newton())], ids=repr)
def test_it_reaches_its_gap_and_the_optimum(solver):
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    found, truth = solve(problem, solver, tol=1e-4), solve(problem, tol=1e-7)
    assert found.converged and found.gap <= 1e-4 and found.primal == pytest.approx(truth.primal, rel=2e-4)
    model = MKLClassifier(KERNELS, solver=solver, tol=1e-5).fit(X, y)
    assert model.duality_gap_ <= 1e-5
    assert_models_agree(model, MKLClassifier(KERNELS, tol=1e-6).fit(X, y), X)


def test_what_it_records_is_the_history_and_reaches_the_callback():
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    heard = []
    found = solve(problem, Twice(Newton()), tol=1e-4, callback=heard.append)
    assert found.n_iter == 2 and found.history == heard and [r["iteration"] for r in heard] == [1, 2]
    assert found.history[0]["gap"] <= 0.1 and found.history[1]["gap"] <= 1e-4 and found.history[1]["time"] > 0

    class Ear(Monitor):
        def record(self, record):
            heard.append(record)

    again = solve(problem, Twice(Newton()), tol=1e-4, callback=Ear())
    assert heard[2:] == again.history


def test_it_goes_on_from_a_warm_start_and_a_checkpoint(tmp_path):
    model = MKLClassifier(KERNELS, solver=Damped(), tol=1e-6, warm_start=True, C=1.0).fit(X, y)
    assert model.n_iter_ > 3 and model.fit(X, y).n_iter_ <= 2
    for solver in (Damped(), Twice(Newton())):
        kept = MKLClassifier(KERNELS, solver=solver, checkpoint=tmp_path / type(solver).__name__, C=1.0)
        one, two = clone(kept).fit(X, y), clone(kept).fit(X, y)
        np.testing.assert_array_equal(one.dual_coef_, two.dual_coef_)
        with pytest.raises(ValueError, match="another fit: solver"):
            kept.set_params(solver="newton").fit(X, y)


def test_it_is_cloned_and_searched_by_its_parameters():
    model = MKLClassifier(KERNELS, solver=Twice(Level(tau=0.3)), regularizer=1)
    again = clone(model).set_params(solver__inner__tau=0.7, solver__first=0.2)
    assert (again.solver.inner, again.solver.first) == (Level(tau=0.7), 0.2) and again.solver != model.solver
    assert model.solver == Twice(Level(tau=0.3)) and repr(model.solver) == "Twice(inner=Level(tau=0.3), first=0.1)"
    search = GridSearchCV(MKLClassifier(KERNELS, solver=Damped()), {"solver__damping": [0.0, 0.3]}, cv=2).fit(X, y)
    assert {params["solver__damping"] for params in search.cv_results_["params"]} == {0.0, 0.3}
    assert search.best_estimator_.duality_gap_ <= 1e-3


def test_it_is_refused_by_name():
    with pytest.raises(ValueError, match="'Damped' cannot take this problem: BlockNorm.*no Ω"):
        MKLClassifier(KERNELS, regularizer=BlockNorm(3), solver=Damped()).fit(X, y)
    with pytest.raises(ValueError, match="'twice' cannot take this problem: it is for the hinge loss"):
        MKLClassifier(KERNELS, loss="squared_hinge", solver=Twice(Newton())).fit(X, y)
    with pytest.raises(ValueError, match="Damped is a class.*Damped()"):
        MKLClassifier(KERNELS, solver=Damped).fit(X, y)
    with pytest.raises(TypeError, match="abstract.*solve"):

        class Nothing(BaseSolver):
            pass

        Nothing()


def test_it_stands_in_a_file_where_it_has_a_tag(tmp_path):
    model = MKLClassifier(KERNELS, solver=Twice(Newton())).fit(X, y)
    model.save(tmp_path / "model.mk")
    assert manykernels.load(tmp_path / "model.mk", parts=[Twice]).solver == model.solver


def test_a_file_holds_no_code(tmp_path):
    model = MKLClassifier(KERNELS, solver=Damped(0.25)).fit(X, y)
    with pytest.raises(ValueError, match=r"solver = Damped\(damping=0.25\) cannot be saved.*solver='auto'"):
        model.save(tmp_path / "model.mk")
    model.set_params(solver="auto").save(tmp_path / "model.mk")
    np.testing.assert_array_equal(manykernels.load(tmp_path / "model.mk").predict(X), model.predict(X))


class Stepped(BaseSolver):
    """Gives the oracle these weights."""

    def __init__(self, step=None):
        self.step = step

    def solve(self, problem, control):
        return Oracle(problem, control).run(lambda oracle: oracle(self.step(oracle.theta)))


@pytest.mark.parametrize("factor", [-1.0, np.nan, 5.0], ids=["negative", "NaN", "outside"])
def test_weights_that_no_regularizer_allows_are_told_of(factor):
    problem, *_ = small_problem("hinge", LpNorm(1.5))
    found = solve(problem, Stepped(lambda theta: factor * theta))
    assert not found.converged and "negative, not finite or outside LpNorm(p=1.5)" in found.reason
    with pytest.raises(ValueError, match=r"theta of shape \(1,\): give the weights of the \d+ kernels"):
        solve(problem, Stepped(lambda theta: theta[:1]))


class Adjusted(Damped):
    adjusts = True


def test_an_oracle_takes_covariates():
    fitted = [
        MKLClassifier(KERNELS, solver=s, C=1.0, tol=1e-5).fit(X, y, covariates=X[:, :1]) for s in (Adjusted(), "auto")
    ]
    assert fitted[0].objective_ == pytest.approx(fitted[1].objective_, rel=2e-5)
    with pytest.raises(ValueError, match="it takes no covariates .adjusts = False."):
        MKLClassifier(KERNELS, solver=Damped(), C=1.0).fit(X, y, covariates=X[:, :1])
