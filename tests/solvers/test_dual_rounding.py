"""A solution says so where rounding alone may change its primal or its dual value by more than `tol`."""

import numpy as np
import pytest

from manykernels import losses, regularizers
from manykernels.banks import DenseBank
from manykernels.problem import Problem
from manykernels.solvers import solve


def problem(regularizer, c, offset=1.0):
    """Targets without a trace of the two kernels, whose norms at a = c y are nothing but rounding."""
    t = np.arange(28)
    x = np.where(t % 2 == 0, 1e-3, -1e-3)
    y = 0.5 * np.where(t % 4 < 2, 1.0, -1.0) * (1 + np.repeat([0.19, 0.08, 0.01, 0.005, 0.24, 0.27, 0.18], 4))
    K = np.stack([np.outer(f, f) for f in (offset + x, offset - x)], axis=2)
    return Problem(DenseBank(K, normalize=None), y, losses.get("huber"), regularizer, c)


@pytest.mark.parametrize("regularizer", [regularizers.Wedge(), regularizers.BlockElasticNet(0.0)])
@pytest.mark.parametrize("c", [1e7, 1e8])
def test_norms_that_are_all_rounding_are_told_of(regularizer, c):
    """Issue 11, point 14: a gap of 0 and no word, since the primal value of weights near 0 is well known."""
    asked = problem(regularizer, c)
    found = solve(asked)
    assert found.converged and found.reason.startswith("rounding alone")
    assert asked.rounding(np.abs(found.a), found.theta) < 1e-3 * found.primal  # the primal value alone says nothing


@pytest.mark.parametrize("regularizer", [regularizers.Wedge(), regularizers.LpNorm(1), regularizers.LpNorm(2)])
@pytest.mark.parametrize(("c", "offset"), [(1.0, 1.0), (1e3, 1.0), (1e8, 0.0)])
def test_norms_that_are_known_well_enough_are_not(regularizer, c, offset):
    assert solve(problem(regularizer, c, offset)).reason == ""
