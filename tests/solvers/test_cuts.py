"""Cutting planes: the lower bound is proved by the multipliers alone, and level sets are met."""

from types import SimpleNamespace

import numpy as np
import pytest

from manykernels.regularizers import ElasticNet, LpNorm
from manykernels.solvers._cuts import cuts_for

rng = np.random.default_rng(0)


def some_cuts(regularizer, count=6, M=5):
    cuts = cuts_for(regularizer)
    for _ in range(count):
        q = rng.exponential(size=M)
        cuts.add(SimpleNamespace(q=q, constant=rng.uniform(1, 2), value=1.0, a=rng.normal(size=(1, 3))))
    return cuts


def weights(regularizer, M=5, count=2000):
    """Weights all over the domain, its edges included."""
    z = rng.dirichlet(np.full(M, 0.3), size=count)
    return [regularizer.prox(3 * v) for v in z] if regularizer.constraint else z


@pytest.mark.parametrize("regularizer", [LpNorm(1), LpNorm(1.5), ElasticNet(0.4)], ids=repr)
def test_the_minimum_of_the_cuts_is_below_all_of_them_and_attained(regularizer):
    cuts = some_cuts(regularizer)
    theta, bound = cuts.minimum(1e-9)
    assert regularizer.value(theta) == 0 and cuts.values(theta).max() <= bound + 1e-6
    assert bound <= min(cuts.values(v).max() for v in weights(regularizer)) + 1e-12


def test_the_bound_does_not_rest_on_the_weights_of_the_linear_program():
    """A program that stopped early has wrong weights and wrong multipliers: the bound is weaker, never wrong."""
    cuts = some_cuts(LpNorm(1))
    _, exact = cuts.minimum(1e-9)
    for _ in range(20):
        wrong = SimpleNamespace(col_value=np.append(rng.dirichlet(np.ones(5)), 0.0), row_dual=rng.normal(size=7))
        cuts.program = SimpleNamespace(run=lambda: None, getSolution=lambda wrong=wrong: wrong)
        assert cuts.minimum(1e-9)[1] <= exact + 1e-12


@pytest.mark.parametrize("regularizer", [LpNorm(1), LpNorm(1.5), ElasticNet(0.4)], ids=repr)
def test_a_projection_lies_in_the_level_set_and_none_of_it_is_nearer(regularizer):
    cuts, start = some_cuts(regularizer), regularizer.start(5)
    _, bound = cuts.minimum(1e-9)
    level = bound + 0.3 * (cuts.values(start).max() - bound)
    theta = cuts.project(start, level, 1e-6)
    assert regularizer.value(theta) == 0 and cuts.values(theta).max() <= level + 1e-6
    inside = [v for v in weights(regularizer) if cuts.values(v).max() <= level]
    assert inside and np.linalg.norm(theta - start) <= min(np.linalg.norm(v - start) for v in inside) + 1e-3


def test_a_row_that_the_linear_program_refuses_leaves_a_bound():
    """Found by the fuzz runs: a slope beyond what the program takes, so that it has fewer rows than there are cuts."""
    cuts = some_cuts(LpNorm(1))
    cuts.add(SimpleNamespace(q=np.full(5, 1e300), constant=1.0, value=1.0, a=np.zeros((1, 3))))
    theta, bound = cuts.minimum(1e-9)
    assert theta.sum() == pytest.approx(1) and bound <= min(cuts.values(v).max() for v in weights(LpNorm(1))) + 1e-12
    assert np.isfinite(cuts.dual_point()()).all()
