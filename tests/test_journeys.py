"""Forty random journeys through the package, as a stranger would use it: none ends badly.

`python -m benchmarks.journeys --case NUMBER` tells the story of one; benchmarks/README.md says what is judged.
"""

import numpy as np
import pytest
from benchmarks.journeys.certificate import check
from benchmarks.journeys.grams import lost, of_table
from benchmarks.journeys.judge import Wrong
from benchmarks.journeys.steps import journey

from manykernels import MKLRegressor
from manykernels.kernels import RBF, Linear

CASES, CHUNK = range(4000, 4040), 5


@pytest.mark.parametrize("first", CASES[::CHUNK])
def test_journeys_succeed_or_are_refused_on_purpose(first):
    failures = [journey(number, limit=1e9).failures for number in range(first, first + CHUNK)]  # time is no test
    assert [failure for journey in failures for failure in journey] == []


@pytest.mark.parametrize("number", [51771, 70226])
def test_journeys_that_once_ended_badly(number):
    """Issue 11: as many new examples as training examples, with other tasks; an RBF kernel in a product, far from 0."""
    assert journey(number, limit=1e9).failures == []


def test_the_judge_knows_what_rounding_does_to_distances_inside_sums_and_products():
    """Issue 11: equal rows are not at distance 0 in float64; columns that no kernel sees do not count."""
    X = np.random.default_rng(0).normal(size=(50, 6)) * [1e8, 1e8, 1e8, 1e8, 1e8, 1.0]
    rbf = RBF(gamma=0.5)
    for kernel in (rbf, rbf * Linear(), 2 * rbf + Linear()):
        assert lost([("k", kernel, slice(0, 5))], X) > 1
        assert lost([("k", kernel, [5])], X) < 1e-9
    Z = X[:, :5] - X[:, :5].mean(axis=0)
    square = np.einsum("ij,ij->i", Z, Z)
    distances = np.maximum(square[:, None] + square - 2 * Z @ Z.T, 0)
    assert np.abs(np.exp(-0.5 * np.diagonal(distances)) - 1).max() > 1e-5
    assert lost([Linear()], X) == lost("precomputed", X) == lost([rbf], None) == 0


@pytest.mark.parametrize("unit", [1e-12, 1.0, 1e12])
def test_the_judge_sees_a_wrong_objective_of_least_squares_in_every_unit_of_y(unit):
    """Issue 11: it took any objective for right where y is small, since its floor was 1e-12 Σ c in any unit."""
    X = np.random.default_rng(0).normal(size=(30, 3))
    kernels, y = [RBF(gamma=0.3), Linear()], unit * (np.sin(X[:, 0]) + X[:, 1])
    model = MKLRegressor(kernels, loss="squared", regularizer=2, C=1.0).fit(X, y)
    arguments = of_table(kernels, X), y, None, 2.0, False, None
    check(model, *arguments)
    model.objective_ *= 1.001
    with pytest.raises(Wrong, match="objective_"):
        check(model, *arguments)
