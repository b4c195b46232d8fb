"""Warnings of fits name the problems, steps and targets that they are about."""

import warnings
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from manykernels import MKLRegressor
from manykernels.estimators.convergence import warn_convergence
from manykernels.kernels import RBF
from manykernels.solution import Status

rng = np.random.default_rng(4)
X = rng.normal(size=(30, 2))


def solution(converged, steps, reason="", status=Status.STALLED, stationarity=None):
    return SimpleNamespace(converged=converged, n_iter=steps, reason=reason, status=status, stationarity=stationarity)


def said(solutions, labels, kind, **model):
    known = dict(duality_gap_=0.0123, stationarity_=0.5, tol=1e-3) | model
    with pytest.warns(kind) as found:
        warn_convergence(type("Model", (), known)(), solutions, labels)
    assert len(found) == 1
    return str(found[0].message)


def test_steps_and_names_are_those_of_the_problems_that_stopped():
    done, labels = solution(True, 900), [f", class {k}" for k in range(6)]
    short = [solution(False, 7, "the first reason"), solution(False, 31, "another")]
    text = said([done, short[0], done, short[1], done, done], labels, ConvergenceWarning)
    assert text == (
        "Model stopped at a relative duality gap of 1.23e-02, above tol=0.001, after 31 steps, class 1, class 3: the "
        "first reason."
    )
    text = said([done] + [short[0]] * 3 + [done] * 2, labels, ConvergenceWarning)
    assert "7 steps, class 1, class 2, class 3: the" in text
    text = said([done] + [short[0]] * 4 + [done], labels, ConvergenceWarning)
    assert "7 steps, class 1, class 2, class 3, …: the" in text
    text = said([solution(False, 5, "r", stationarity=0.5)], [""], ConvergenceWarning)
    assert text == "Model stopped at a stationarity of 5.00e-01, above tol=0.001, after 5 steps: r."


def test_doubtful_solutions_are_named_only_if_all_converged():
    rough = solution(True, 3, "float64 is not enough", Status.ROUGH)
    noiseless = solution(True, 3, "there is no noise", Status.NOISELESS)
    fine = solution(True, 3, "never said", Status.REACHED)
    labels = [", a", ", b", ", c"]
    text = said([fine, noiseless, rough], labels, UserWarning)
    assert text == "Model has converged, b, c, but there is no noise."
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_convergence(None, [fine, fine], labels[:2])
    text = said([rough, solution(False, 4, "why")], labels[:2], ConvergenceWarning)
    assert "4 steps, b: why" in text


def test_the_target_of_a_strange_unit_is_named():
    y = rng.normal(size=(30, 3))
    y[:, 1] *= 1e-4
    weight = np.ones(30)
    weight[0], y[0, 1] = 0.0, 50.0  # a row of no weight
    model = MKLRegressor([RBF(0.5)], loss="epsilon_insensitive")
    with pytest.warns(UserWarning, match=r"deviation of y\[:, 1\] is ") as found:
        model.fit(X, y, sample_weight=weight)
    text = next(str(one.message) for one in found if "deviation" in str(one.message))
    assert f"is {np.std(y[1:, 1]):.3g}, and loss='epsilon_insensitive'" in text
    with pytest.warns(UserWarning, match="deviation of y is "):
        model.fit(X, y[:, 1], sample_weight=weight)
