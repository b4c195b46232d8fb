"""Models on the simplex: by pair steps and by the dual, and the projection that the dual rests on."""

import numpy as np
import pytest

from manykernels import _simplex
from manykernels._simplex import project_simplex
from manykernels.regularizers import LpNorm
from manykernels.solvers.newton import LocalModel

M, RANK, SLACK = 2500, 12, 1e-6


def made(level, seed=0):
    """(a damped model, θ with many weights): some kernels are pulled more than others."""
    rng = np.random.default_rng(seed)
    theta = rng.exponential(size=M)
    theta /= theta.sum()
    Z = rng.normal(size=(RANK, M)) * rng.exponential(size=M)
    return LocalModel(-(rng.exponential(size=M) ** 2), Z, level / (theta + 0.1 / M)), theta


def lacks(model, theta, x):
    """What the model could still gain at x on the simplex, at most."""
    gradient = model.gradient + model.multiply(x - theta)
    return float(x @ gradient - gradient.min())


@pytest.mark.parametrize("level", [0.01, 1.0, 30.0])
def test_the_dual_leaves_no_more_than_the_tolerance(level, monkeypatch):
    model, theta = made(level)
    seen, dual = [], _simplex._minimise_dual
    monkeypatch.setattr(_simplex, "_minimise_dual", lambda *a: seen.append(dual(*a)) or seen[-1])
    x = LpNorm(1).minimise(model, theta, SLACK)
    assert seen and seen[0] is x and x.min() >= 0 and x.sum() == pytest.approx(1, abs=1e-9)
    monkeypatch.setattr(_simplex, "_by_dual", lambda *a: False)
    exact = LpNorm(1).minimise(model, theta, 1e-3 * SLACK)
    assert lacks(model, theta, exact) <= 1e-2 * SLACK
    gain = [move @ (model.gradient + 0.5 * model.multiply(move)) for move in (x - theta, exact - theta)]
    assert gain[0] - gain[1] <= SLACK


def test_pair_steps_go_on_where_the_dual_does_not_settle(monkeypatch):
    monkeypatch.setattr(_simplex, "DUAL_STEPS", 1)
    model, theta = made(1.0)
    assert _simplex._minimise_dual(model, theta, theta, SLACK) is None
    assert lacks(model, theta, LpNorm(1).minimise(model, theta, SLACK)) <= SLACK


@pytest.mark.parametrize("size", [1.0, 1e12])
def test_the_projection_in_a_metric_is_optimal(size):
    rng = np.random.default_rng(1)
    for w in (1.0, rng.exponential(size=50) + 0.01):
        z = rng.normal(size=50) + size * w
        x = project_simplex(z, w)
        pull = (z - x) / w  # one number where there is weight, no larger elsewhere
        assert x.min() >= 0 and x.sum() == pytest.approx(1, abs=1e-9)
        assert np.ptp(pull[x > 0]) <= 1e-9 * size * 100 and pull.max() <= pull[x > 0].max() + 1e-9 * size
