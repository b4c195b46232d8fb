"""Where runs go on: from a checkpoint, after passes, with a second solver; when they write; that they are silent."""

import time
from dataclasses import replace

import numpy as np
import pytest
from checkpoints import assert_same
from numpy.testing import assert_allclose
from sklearn.base import clone

from manykernels import MKLClassifier
from manykernels.banks import DenseBank
from manykernels.kernels import RBF, RandomFeatures
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import ElasticNet, EmpiricalBayes, Entropy, LpNorm
from manykernels.solvers import (
    SOLVERS,
    Control,
    Oracle,
    checkpoint_file,
    coordinate,
    solve,
)
from problems import partner, small_problem

rng = np.random.default_rng(0)
X = rng.normal(size=(240, 3))
Y = np.where(X[:, 0] + 0.5 * X[:, 1] ** 2 + 0.5 * rng.normal(size=240) > 0.4, 1, -1)
KERNELS = [RandomFeatures(RBF(gamma=g), rank=8, random_state=k) for k, g in enumerate((0.1, 1.0))]


class Killed(BaseException):
    pass


@pytest.mark.parametrize("stop", [1, 3])
@pytest.mark.usefixtures("often")
def test_passes_that_coordinate_steps_finish_go_on_within_these_steps(stop, path, monkeypatch):
    """`primal` leaves a hinge loss at a gap of 1e-4 to `coordinate`, whose state is in the file."""
    model = MKLClassifier(KERNELS, solver="primal", tol=1e-6, C=1.0, n_jobs=1)
    whole = clone(model).fit(X, Y)
    model.set_params(checkpoint=path)
    offer, count = coordinate.Passes._offer, 0

    def broken(self, draw):
        nonlocal count
        offer(self, draw)
        count += 1
        if count == stop:
            raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(coordinate.Passes, "_offer", broken)
        with pytest.raises(Killed):
            model.fit(X, Y)
    passes = []
    monkeypatch.setattr("manykernels.solvers.primal.Descent.iterate", lambda self: passes.append(self))
    assert_same(model.fit(X, Y), whole)
    assert not passes


def test_states_are_written_after_five_seconds_and_a_pause_that_grows_with_their_cost(path):
    file = checkpoint_file.Checkpoint(path, {})
    slot, written = checkpoint_file.CheckpointSlot(file, 0), []
    slot.write = written.append
    now = time.monotonic()
    for ago, cost, due in (
        (0.0, 0.0, False),
        (4.0, 0.0, False),
        (9.0, 0.0, True),
        (9.0, 1.0, False),
        (25.0, 1.0, True),
    ):
        file.last, file.cost = now - ago, cost
        asked = []
        slot.offer(lambda asked=asked: asked.append(1) or {"gap": 0.5})
        assert bool(asked) == due and len(written) == due
        written.clear()


@pytest.mark.parametrize("name", SOLVERS)
def test_solvers_print_nothing(name, capfd):
    if name in ("coordinate", "primal"):
        MKLClassifier(KERNELS, solver=name, C=1.0).fit(X[:120], Y[:120])
    elif name == "interior":
        MKLClassifier(KERNELS, solver=name, C=1.0, regularizer=1).fit(X[:120], Y[:120])
    elif name == "mackay":
        solve(small_problem("squared", EmpiricalBayes(noise=0.1))[0], name)
    else:
        for regularizer in (partner(name), LpNorm(1), Entropy(0.5)):
            problem = small_problem("squared_hinge", regularizer)[0]
            if SOLVERS[name]().refusal(problem) is None:
                solve(problem, name)
    said = capfd.readouterr()
    assert said.out == "" and said.err == ""


@pytest.mark.parametrize("regularizer", [Entropy(0.5), ElasticNet(0.5), LpNorm(2)], ids=repr)
def test_an_oracle_gives_the_value_of_the_inner_problem_and_its_cut_without_the_penalty_of_the_weights(regularizer):
    problem, Ks, y = small_problem("squared_hinge", regularizer, n=24, M=3)
    points = []

    def method(oracle):
        for theta in (np.array([0.2, 0.3, 0.5]), np.array([0.6, 0.3, 0.1])):
            points.append(oracle(theta))

    Oracle(problem, Control(tol=1e-9)).run(method)
    assert len(points) == 2
    for point in points:
        f = np.einsum("m,mij,tj->ti", point.theta, Ks, point.a)
        q = np.einsum("ti,mij,tj->m", point.a, Ks, point.a)
        assert_allclose(point.q, q, rtol=1e-8)
        value = problem.losses(f, problem.best_b(f)).sum() + 0.5 * point.theta @ q
        assert point.value == pytest.approx(value, rel=1e-6)
        assert point.constant - 0.5 * point.theta @ q == pytest.approx(value, rel=1e-2)
        assert point.constant == pytest.approx(-problem.conjugates(point.a).sum(), rel=1e-9)


@pytest.mark.parametrize("solver", ["newton", "analytic"])
def test_known_weights_are_those_of_the_regularizer_from_any_warm_start(solver):
    """A start with half of the weights takes no step on the weights: only the predictor is found."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(60, 2))
    bank = DenseBank(np.stack([RBF(g)(X) for g in (0.1, 1.0, 5.0)], axis=2))
    y = np.where(X[:, 0] * X[:, 1] > 0, 1.0, -1.0)
    problem = Problem(bank, y, Hinge(), LpNorm(np.inf))
    cold = solve(problem, solver, tol=1e-6)
    warm = solve(problem, solver, tol=1e-6, warm=replace(cold, theta=np.full(3, 0.5)))
    for found in (cold, warm):
        assert found.theta.tolist() == [1.0, 1.0, 1.0]
        assert found.gap <= 1e-6
    assert_allclose(warm.primal, cold.primal, rtol=3e-6)
