"""Leave-one-out decisions from one fit against refits without each example."""

import numpy as np
import pytest

from manykernels import losses
from manykernels.banks import DenseBank
from manykernels.estimators.choose_c import leave_one_out, spans
from manykernels.problem import Problem
from manykernels.regularizers import Fixed
from manykernels.solvers import solve

N, THETA = 22, np.array([0.7, 0.4])
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
DISTANCES = ((X[:, None] - X[None]) ** 2).sum(axis=2)
K = np.stack([np.exp(-0.2 * DISTANCES), np.exp(-DISTANCES)], axis=2)
CLASSES = np.sign(X[:, 0] + 0.8 * RNG.normal(size=N))
VALUES = np.sin(X[:, 0]) + 0.3 * RNG.normal(size=N)
WEIGHTS = RNG.uniform(0.5, 2.0, N)
SHARES = {
    "squared": 1e-6, "logistic": 0.02, "smooth_hinge": 0.1, "squared_hinge": 0.06, "huber": 1e-3, "hinge": 0.6,
    "epsilon_insensitive": 0.7,
}  # fmt: skip
SETTINGS = ((True, np.ones(N)), (False, WEIGHTS), (True, WEIGHTS))


def fitted(rows, loss, intercept, c, Y=None):
    y = (CLASSES if loss.targets == "binary" else VALUES)[rows] if Y is None else Y[:, rows]
    bank = DenseBank(K[np.ix_(rows, rows)], normalize=None)
    problem = Problem(bank, y, loss, Fixed(THETA), c[rows], intercept=intercept)
    return problem, solve(problem, tol=1e-8)


def refitted(loss, intercept, c):
    """(the problem, its solution, decisions (n,) of refits, dual variables (n, n) of refits)."""
    every = np.arange(N)
    true, A = np.empty(N), np.zeros((N, N))
    for i in every:
        rows = np.delete(every, i)
        _, without = fitted(rows, loss, intercept, c)
        A[i, rows] = without.a[0]
        true[i] = (K[i][rows] @ THETA) @ without.a[0] + without.b[0]
    return *fitted(every, loss, intercept, c), true, A


@pytest.mark.parametrize(("intercept", "c"), SETTINGS[:2])
@pytest.mark.parametrize(("name", "share"), SHARES.items())
def test_decisions_are_near_those_of_refits(name, share, intercept, c):
    """Root mean square error as a share of that of the training decisions; the squared loss is exact."""
    problem, solution, true, _ = refitted(losses.get(name), intercept, c)
    plain = problem.bank.outputs(solution.theta, solution.a, np.arange(N))[0] + solution.b[0]
    error, before = (np.sqrt(np.mean((f - true) ** 2)) for f in (leave_one_out(problem, solution)[0], plain))
    assert error <= share * before


@pytest.mark.parametrize(("intercept", "c"), SETTINGS)
@pytest.mark.parametrize("name", ["hinge", "epsilon_insensitive"])
def test_piecewise_linear_losses_are_exact_while_the_others_stay_where_they_are(name, intercept, c):
    """On the margin, at the bound or without a: if no other example changes its kind, the span rule is exact."""
    loss = losses.get(name)
    problem, solution, true, A = refitted(loss, intercept, 0.3 * c)

    def kinds(a):
        return np.where(np.abs(a) < 1e-6, 0, np.where(np.abs(a) > 0.3 * c - 1e-6, 2, 1)) * np.sign(a)

    here, found = kinds(solution.a[0]), leave_one_out(problem, solution)[0]
    same = [i for i in range(N) if here[i] and (np.delete(kinds(A[i]), i) == np.delete(here, i)).all()]
    assert len(same) >= 2
    assert np.allclose(found[same], true[same], atol=1e-4)


def test_examples_without_a_keep_their_decision():
    problem, solution, true, _ = refitted(losses.get("hinge"), True, np.ones(N))
    out = np.flatnonzero(solution.a[0] == 0)
    assert len(out) and np.allclose(leave_one_out(problem, solution)[0, out], true[out], atol=1e-3)


def test_outputs_that_share_the_weights_have_their_own_decisions():
    loss, Y = losses.get("squared"), np.stack([VALUES, CLASSES, X[:, 1]])
    problem, solution = fitted(np.arange(N), loss, True, WEIGHTS, Y)
    alone = [leave_one_out(*fitted(np.arange(N), loss, True, WEIGHTS, y[None]))[0] for y in Y]
    assert np.allclose(leave_one_out(problem, solution), alone, atol=1e-5)


def test_equal_and_indefinite_examples_do_not_stop_it():
    """Equal examples make K singular; a kernel that is not positive semidefinite has no Cholesky factor."""
    twice = np.kron(np.eye(3), np.ones((2, 2)))
    assert np.allclose(spans(twice, np.zeros(6), np.ones(6, bool), False), 0.0, atol=1e-6)
    assert np.isfinite(spans(np.array([[1.0, 2.0], [2.0, 1.0]]), np.zeros(2), np.ones(2, bool), True)).all()


def test_no_or_one_free_example_leaves_the_intercept_as_it_is():
    assert np.array_equal(spans(np.eye(3), np.zeros(3), np.zeros(3, bool), True), np.ones(3))
    assert np.allclose(spans(np.eye(3), np.zeros(3), np.array([True, False, False]), True), 1.0)


@pytest.mark.parametrize("equality", ["none", "intercept", "covariates"])
def test_spans_are_those_of_the_bordered_matrix(equality):
    """S_i = k_ii − (k_iG e_i) [K_GG + E_G  e_G; e_Gᵀ  0]⁻¹ (k_iG e_i)ᵀ with G the free examples without i."""
    m = 12
    A = RNG.normal(size=(m, m + 3))
    K, E, free = A @ A.T / m, RNG.uniform(0.1, 1, m), RNG.random(m) < 0.7
    free[:5], free[5] = True, False
    border = {"none": np.zeros((m, 0)), "intercept": np.ones((m, 1)),
              "covariates": np.column_stack([np.ones(m), RNG.normal(size=m)])}[equality]  # fmt: skip
    given = {"none": False, "intercept": True, "covariates": border}[equality]
    S = spans(K, E, free, given)
    k = border.shape[1]
    for i in range(m):
        G = np.flatnonzero(free & (np.arange(m) != i))
        B = np.block([[K[np.ix_(G, G)] + np.diag(E[G]), border[G]], [border[G].T, np.zeros((k, k))]])
        row = np.concatenate([K[i, G], border[i]])
        assert S[i] == pytest.approx(K[i, i] - row @ np.linalg.solve(B, row), rel=1e-6)
    np.testing.assert_allclose(spans(K, E, np.zeros(m, bool), given), K.diagonal())
