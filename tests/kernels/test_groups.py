"""Group lasso and overlapped group lasso as kernels on groups of columns."""

import cvxpy
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import NotFittedError

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Linear, group_kernels, linear_coefficients, multi_task
from manykernels.regularizers import LpSum

APART = {"a": [0, 1], "b": [2, 3, 4], "c": [5]}
OVERLAPPING = {"a": [0, 1, 2], "b": [2, 3], "c": [3, 4, 5]}


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 6))
    return X, X[:, 0] - 2 * X[:, 1] + 0.5 * X[:, 2] + 0.5 * rng.normal(size=50)


def lasso(X, y, groups, C, penalty):
    """The primal in its own variables: (value, weight vectors)."""
    w = [cvxpy.Variable(len(g)) for g in groups.values()]
    b = cvxpy.Variable()
    f = sum(X[:, g] @ v for g, v in zip(groups.values(), w, strict=True)) + b
    problem = cvxpy.Problem(cvxpy.Minimize(C * cvxpy.sum_squares(y - f) + penalty([cvxpy.norm(v, 2) for v in w])))
    return problem.solve(solver="CLARABEL"), [v.value for v in w]


@pytest.mark.parametrize("groups", [APART, OVERLAPPING], ids=["apart", "overlapping"])
@pytest.mark.parametrize("C", [0.02, 0.5])
def test_group_lasso(data, groups, C):
    X, y = data
    model = MKLRegressor(
        group_kernels(groups), regularizer=LpSum(1), loss="squared", normalize=None, C=C, tol=1e-8
    ).fit(X, y)
    value, vectors = lasso(X, y, groups, C, sum)
    total, parts = linear_coefficients(model)
    assert model.objective_ == pytest.approx(value, rel=1e-6) and list(parts) == list(groups)
    for part, vector, weight in zip(parts.values(), vectors, model.kernel_weights_, strict=True):
        np.testing.assert_allclose(part, vector, atol=1e-3)
        assert weight == pytest.approx(np.linalg.norm(part), abs=1e-4)  # Table 1: θ_m = ‖f_m‖
    np.testing.assert_allclose(model.predict(X), X @ total + model.intercept_, atol=1e-10)
    if C == 0.02:
        assert np.count_nonzero(model.kernel_weights_ > 1e-6) < 3  # whole groups are left out


def test_names_frames_and_unnamed_groups(data):
    X, y = data
    frame = pd.DataFrame(X, columns=list("uvwxyz"))
    named = group_kernels({"left": ["u", "v", "w"], "right": ["w", "z"]})
    model = MKLRegressor(named, loss="squared", tol=1e-6).fit(frame, y)
    plain = MKLRegressor(group_kernels([[0, 1, 2], slice(2, 6, 3)]), loss="squared", tol=1e-6).fit(X, y)
    assert model.kernel_names_ == ["left", "right"] and plain.kernel_names_[0] == "linear[0,1,2]"
    np.testing.assert_allclose(linear_coefficients(model).total, linear_coefficients(plain).total, atol=1e-9)
    assert linear_coefficients(model).total[3] == 0


@pytest.mark.parametrize("solver", ["auto", "coordinate"])
@pytest.mark.parametrize("normalize", ["multiplicative", "trace", None])
def test_coefficients_are_the_predictor(data, normalize, solver):
    X, y = data
    model = MKLClassifier(group_kernels(OVERLAPPING), normalize=normalize, solver=solver, tol=1e-8, C=1.0)
    model.fit(X, y > 0)
    decision = X @ linear_coefficients(model).total + model.intercept_
    np.testing.assert_allclose(model.decision_function(X), decision, atol=1e-9)
    thin = clone(model).fit(sp.csr_array(X), y > 0)
    # ½ ‖f‖² is strongly convex: each lies within √(2 gap · objective) of the optimum, in units of the kernels' scales
    apart = decision - X @ linear_coefficients(thin).total - thin.intercept_
    np.testing.assert_allclose(apart, 0, atol=2 * np.sqrt(2e-8 * model.objective_))
    for i, part in enumerate(linear_coefficients(model).parts.values()):
        columns = list(OVERLAPPING.values())[i]
        np.testing.assert_allclose(X[:, columns] @ part, model.decision_parts(X)[:, i], atol=1e-9)


def test_classes_and_tasks_have_coefficients_of_their_own(data):
    X, y = load_iris(return_X_y=True)
    for multi_class in ("ovr", "shared"):
        model = MKLClassifier(group_kernels([[0, 1], [1, 2, 3]]), multi_class=multi_class, C=1.0).fit(X, y)
        total, parts = linear_coefficients(model)
        assert total.shape == (3, 4) and [p.shape for p in parts.values()] == [(3, 2), (3, 3)]
        np.testing.assert_allclose(model.decision_function(X), X @ total.T + model.intercept_, atol=1e-9)
    X, y = data
    task = np.arange(50) % 2
    model = MKLRegressor(multi_task(group_kernels({"g": [0, 1, 2]})), loss="squared", C=1.0).fit(X, y, task=task)
    total, parts = linear_coefficients(model)
    of_task = np.where(task[:, None] == 0, parts["g@task=0"], parts["g@task=1"])
    np.testing.assert_array_equal(total[:3], parts["g@shared"])
    expected = X @ total + np.sum(X[:, :3] * of_task, axis=1) + model.intercept_
    np.testing.assert_allclose(model.predict(X, task=task), expected, atol=1e-9)


def test_bad_input(data):
    X, y = data
    with pytest.raises(ValueError, match="no group"):
        group_kernels([])
    with pytest.raises(ValueError, match="single number 3"):
        group_kernels([3, 4])
    with pytest.raises(ValueError, match="99"):
        MKLRegressor(group_kernels([[0, 99]])).fit(X, y)
    with pytest.raises(NotFittedError):
        linear_coefficients(MKLRegressor(group_kernels([[0]])))
    with pytest.raises(ValueError, match="all Linear"):
        linear_coefficients(MKLRegressor([Linear(), RBF(gamma=1.0)]).fit(X, y))
    with pytest.raises(ValueError, match="spherical"):
        linear_coefficients(MKLRegressor([Linear()], normalize="spherical").fit(X, y))
    with pytest.raises(ValueError, match="views"):
        linear_coefficients(MKLRegressor([("l", Linear(), "v")]).fit({"v": X}, y))
    stack = np.stack([X @ X.T], axis=2)
    with pytest.raises(ValueError, match="all Linear"):
        linear_coefficients(MKLRegressor("precomputed").fit(stack, y))
