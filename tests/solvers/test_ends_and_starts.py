"""Where runs go on: from a checkpoint, after passes, with a second solver; when they write; that they are silent."""

import time
import warnings
from dataclasses import replace

import numpy as np
import pytest
from checkpoints import assert_same
from numpy.testing import assert_allclose, assert_array_equal
from problems import make, partner, small_problem
from sklearn.base import clone

from manykernels import MKLClassifier
from manykernels.banks import DenseBank
from manykernels.banks.low_rank import LowRankPredictor
from manykernels.kernels import RBF, RandomFeatures
from manykernels.losses import Hinge
from manykernels.problem import Problem
from manykernels.regularizers import ElasticNet, EmpiricalBayes, Entropy, LpNorm, WeightedLpNorm
from manykernels.solvers import (
    SOLVERS,
    Control,
    Oracle,
    checkpoint_file,
    coordinate,
    solve,
)

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


def test_the_cost_of_a_write_is_its_duration(path, monkeypatch):
    file = checkpoint_file.Checkpoint(path, {})
    clock = iter([10.0, 13.0])
    monkeypatch.setattr(checkpoint_file.time, "monotonic", lambda: next(clock))
    monkeypatch.setattr(checkpoint_file._archive, "write", lambda *given, **options: None)
    file.write([{}])
    assert (file.last, file.cost) == (13.0, 3.0)


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


def test_a_problem_among_some_kernels_has_their_weights_alone():
    """Positions among the usable kernels, of which the first is none."""
    Ks, y = make(3, 20, 4)
    Ks = np.concatenate([np.ones((1, 20, 20)), Ks])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)
        bank = DenseBank(np.moveaxis(Ks, 0, 2), normalize=None)
    problem = Problem(bank, y, Hinge(), WeightedLpNorm(1.5, [9.0, 0.3, 1.0, 5.0, 2.0]), 1.0)
    part = problem.among(np.array([1, 3]))
    assert problem.kernels.tolist() == [1, 2, 3, 4] and part.kernels.tolist() == [2, 4]
    alone = Problem(
        DenseBank(np.moveaxis(Ks[[2, 4]], 0, 2), normalize=None), y, Hinge(), WeightedLpNorm(1.5, [1.0, 2.0]), 1.0
    )
    found, expected = solve(part, "newton", tol=1e-8), solve(alone, "newton", tol=1e-8)
    assert found.primal == pytest.approx(expected.primal, rel=1e-6)
    assert_allclose(found.theta, [0, 0, expected.theta[0], 0, expected.theta[1]], atol=1e-3)


def test_sums_of_a_support_are_kept_for_the_next_prediction():
    """Of features of low rank; other coefficients have sums of their own, and a copy begins without any."""
    model = MKLClassifier(KERNELS, solver="primal", C=1.0, loss="logistic").fit(X, Y)
    predictor = model.predictor_
    assert isinstance(predictor, LowRankPredictor)
    a, theta = rng.normal(size=(2, predictor.sizes()[0])), np.ones(2)
    first, second = (predictor.decision(X[:5], one[None], theta) for one in a)
    assert not np.allclose(first, second) and predictor.vectors(a[0]) is predictor.vectors(a[0].copy())
    assert_array_equal(predictor.decision(X[:5], a, theta), np.concatenate([first, second]))
    a[0] *= 2.0  # in place
    assert_allclose(predictor.decision(X[:5], a[:1], theta), 2 * first, rtol=1e-12)
    for _ in range(3):
        for _ in range(20):
            predictor.vectors(rng.normal(size=a.shape[1]))
    assert len(predictor._summed) <= 32


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
