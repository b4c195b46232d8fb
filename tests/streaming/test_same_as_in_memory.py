"""A fit on a source is the fit in memory: objective, weights, scales and gap, whoever asks the shards."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from streams import assert_same, groups, implicit, matrices, rows, sequences

from manykernels import KernelStack, MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.streaming import ArrayFile, Processes, using

TOL = 3e-7


def case(name, folder):
    return {"implicit": implicit, "groups": groups, "sequences": sequences}[name](folder)


@pytest.mark.parametrize("p", [1, 2])
@pytest.mark.parametrize("name", ["implicit", "groups", "sequences"])
def test_streamed_by_threads(tmp_path, name, p):
    X, y, source, kernels, solver = case(name, tmp_path)
    model = MKLClassifier(kernels, regularizer=p, solver=solver, tol=TOL, C=1.0)
    whole = model.fit(X, y)
    weights, objective = whole.kernel_weights_, whole.decision_function(X)
    streamed = MKLClassifier(kernels, regularizer=p, solver=solver, tol=TOL, C=1.0).fit(
        source, "class" if name == "sequences" else y
    )
    assert_same(streamed, whole)
    assert_array_equal(streamed.classes_, whole.classes_)
    assert_allclose(streamed.decision_function(X), objective, atol=2e-3)
    assert_allclose(streamed.decision_function(source), streamed.decision_function(X), rtol=1e-9, atol=1e-11)
    assert weights.shape == streamed.kernel_weights_.shape
    assert len(streamed.support_) == streamed.dual_coef_.shape[1] <= streamed.history_[-1]["n_active"] < len(y)


@pytest.mark.parametrize("p", [1, 2])
def test_a_stack_in_files(tmp_path, p):
    """Its limit, a quarter of the stack, has no room for the matrices of all examples."""
    S, y, stack = matrices(tmp_path)
    whole = MKLClassifier("precomputed", regularizer=p, tol=TOL).fit(KernelStack(S), y)
    read = MKLClassifier("precomputed", regularizer=p, tol=TOL, memory_limit=S.nbytes // 4).fit(stack, y)
    assert_same(read, whole)
    assert 1 <= stack.passes < 40


@pytest.mark.slow  # processes take seconds to start
@pytest.mark.parametrize("name", ["implicit", "groups", "sequences"])
def test_processes_give_what_threads_give(tmp_path, name):
    X, y, source, kernels, solver = case(name, tmp_path)
    y = "class" if name == "sequences" else y
    model = MKLClassifier(kernels, solver=solver, tol=1e-4, n_jobs=1)
    threads = model.fit(source, y).objective_, model.kernel_weights_, model.dual_coef_
    with using(Processes(2)):
        model.fit(source, y)
    assert model.objective_ == pytest.approx(threads[0], rel=1e-12)
    assert_allclose(model.kernel_weights_, threads[1], rtol=1e-9)
    assert_allclose(model.dual_coef_, threads[2], atol=1e-9)
    assert all(step["bytes"] > 0 for step in model.history_)


@pytest.mark.parametrize("normalize", ["multiplicative", "spherical", "trace", None])
def test_every_normalisation_and_weights_of_examples(tmp_path, normalize):
    X, _ = rows(700)
    y = np.sin(X[:, 0]) + 0.1 * np.random.default_rng(2).normal(size=len(X))
    weight = np.random.default_rng(3).uniform(0, 2, size=len(X))
    weight[::7] = 0
    np.save(tmp_path / "X.npy", X)
    kernels = [RBF(gamma=0.3), RBF(gamma="scale"), Linear()]
    model = MKLRegressor(kernels, loss="epsilon_insensitive", normalize=normalize, C=1.0, tol=TOL)
    whole = model.fit(X, y, weight)
    found = whole.objective_, whole.kernel_weights_, whole.kernel_scale_
    model.fit(ArrayFile(tmp_path / "X.npy", rows=150), y, weight)
    assert model.objective_ == pytest.approx(found[0], rel=1e-6)
    assert_allclose(model.kernel_weights_, found[1], atol=1e-3)
    assert_allclose(model.kernel_scale_, found[2], rtol=1e-9)


@pytest.mark.parametrize("multi_class", ["ovr", "shared"])
def test_several_classes(tmp_path, multi_class):
    X, _ = rows(700)
    y = np.digitize(X[:, 0] + X[:, 1] ** 2, [-0.3, 1.2])
    np.save(tmp_path / "X.npy", X)
    source = ArrayFile(tmp_path / "X.npy", rows=150)
    kernels = [("x", RBF(gamma=0.5), [0]), ("y", RBF(gamma=0.5), [1]), ("rest", RBF(gamma=0.5), [2, 3])]
    model = MKLClassifier(kernels, multi_class=multi_class, tol=1e-9)  # at 3e-7 two optima may be 2e-3 apart
    whole = model.fit(X, y)
    found = whole.objective_, whole.kernel_weights_, whole.decision_function(X)
    model.fit(source, y)
    assert model.objective_ == pytest.approx(found[0], rel=1e-8)
    assert_allclose(model.kernel_weights_, found[1], atol=1e-3)
    assert_allclose(model.decision_function(source), found[2], atol=1e-2)
    assert {step.get("class") for step in model.history_} == ({0, 1, 2} if multi_class == "ovr" else {None})
