"""`Solution.status` says how a fit has ended; sentences are made of it, and nothing is decided by them."""

import numpy as np
import pytest

from manykernels.banks import DenseBank
from manykernels.losses import Hinge, Squared
from manykernels.problem import Problem
from manykernels.regularizers import EmpiricalBayes, LpNorm
from manykernels.solution import Solution, Status
from manykernels.solvers import _run, diagnosis, solve

rng = np.random.default_rng(0)
X = rng.normal(size=(60, 3))
y = np.where(X[:, 0] + 0.3 * rng.normal(size=60) > 0, 1.0, -1.0)


def problem(*matrices, C=1.0, normalize="multiplicative"):
    return Problem(DenseBank(np.stack(matrices, axis=2), normalize=normalize), y, Hinge(), LpNorm(2), C)


PLAIN = X @ X.T, np.exp(-((X[:, :1] - X[:, 0]) ** 2))


def test_a_gap_that_is_reached():
    found = solve(problem(*PLAIN))
    assert found.status is Status.REACHED and found.reason == ""


def test_steps_that_are_used_up():
    found = solve(problem(*PLAIN), tol=1e-10, max_iter=1, solver="analytic")
    assert found.status is Status.STEPS and found.reason == diagnosis.CURES[Status.STEPS]


def test_a_kernel_that_is_not_positive_semidefinite():
    with pytest.warns(UserWarning, match="positive semidefinite"):
        given = problem(np.tanh(X @ X.T - 1.0), C=100.0, normalize=None)
    found = solve(given, tol=1e-9)
    assert not found.converged and found.status is Status.INDEFINITE and "psd=" in found.reason


def test_values_that_float64_cannot_hold():
    found = solve(problem(X @ X.T + 1e9, normalize=None), tol=1e-9)
    assert found.status in (Status.ROUNDING, Status.ROUGH) and found.reason.startswith("rounding alone")


def test_work_that_is_used_up(monkeypatch):
    monkeypatch.setattr("manykernels.solvers.SMALL_FIT_WORK", 1.0)
    found = solve(problem(*PLAIN), tol=1e-10, solver="newton")
    assert found.status is Status.WORK and found.reason.startswith(diagnosis.CURES[Status.WORK])


@pytest.mark.parametrize("tol, precision", [(1e-2, "float32"), (1e-6, "float64")])
def test_precision_is_that_of_the_combined_kernel(tol, precision, monkeypatch):
    assert solve(problem(*PLAIN), tol=tol, solver="newton").precision == "float64"  # few examples
    monkeypatch.setattr(_run, "MIN_FLOAT32_EXAMPLES", 0)
    assert solve(problem(*PLAIN), tol=tol, solver="newton").precision == precision


def test_a_file_keeps_both_and_old_files_have_neither():
    found = solve(problem(*PLAIN))
    state = found.to_state()
    assert type(state["status"]) is str
    again = Solution.from_state(state)
    assert (again.status, again.precision) == (found.status, found.precision)
    old = {name: value for name, value in state.items() if name not in ("status", "precision")}
    assert Solution.from_state(old).status is None
    for wrong in ({"status": "fine"}, {"precision": "float16"}):
        with pytest.raises(ValueError):
            Solution.from_state(state | wrong)


def test_a_noise_that_vanishes():
    bank = DenseBank(np.exp(-50 * (X[:, :1] - X[:, 0]) ** 2)[:, :, None])
    found = solve(Problem(bank, X[:, 0], Squared(), EmpiricalBayes(noise="learn"), 1.0))
    assert found.converged and found.status is Status.NOISELESS
    assert found.reason == diagnosis.sentence_for(Status.NOISELESS, noise=found.noise)
