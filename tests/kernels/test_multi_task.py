"""Multi-task kernels: equal to block matrices made by hand, and the task as an argument of everything."""

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from agreement import assert_models_agree
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, LeaveOneGroupOut, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import manykernels
from manykernels import KernelStack, MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.kernels import RBF, Linear, multi_task, multi_task_stack
from manykernels.strings import Spectrum

BASES = [("rbf", RBF(gamma=0.3)), ("line", Linear(), [0, 1])]


@pytest.fixture(scope="module")
def data():
    """Three tasks of unequal size whose classes differ in part."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    task = np.array(["a", "b", "c"])[rng.choice(3, 120, p=[0.5, 0.3, 0.2])]
    f = X[:, 0] + np.where(task == "a", X[:, 1], -X[:, 1]) + 0.3 * rng.normal(size=120)
    return X, np.where(f > 0, "yes", "no"), task, f


def by_hand(X, task, Z=None, task_Z=None, one_parameter=False):
    """The kernels of multi_task(BASES) as an (n, m, M) array, before normalisation."""
    Z, task_Z = (X, task) if Z is None else (Z, task_Z)
    matrices = []
    for K in (RBF(gamma=0.3)(X, Z), Linear()(X[:, :2], Z[:, :2])):
        equal = task[:, None] == task_Z
        blocks = [3 * equal * K] if one_parameter else [np.outer(task == t, task_Z == t) * K for t in "abc"]
        matrices += [K, *blocks]
    return np.stack(matrices, axis=2)


@pytest.mark.parametrize("one_parameter", [False, True])
@pytest.mark.parametrize("normalize", ["multiplicative", "trace", None, "spherical"])
def test_equal_to_block_matrices_made_by_hand(data, one_parameter, normalize):
    X, y, task, _ = data
    kernels = multi_task(BASES, one_parameter)
    train, new = np.arange(120) < 90, np.arange(120) >= 90
    options = dict(regularizer=1.5, normalize=normalize, tol=1e-7)
    model = MKLClassifier(kernels, **options).fit(X[train], y[train], task=task[train])
    S = by_hand(X[train], task[train], one_parameter=one_parameter)
    peer = MKLClassifier("precomputed", **options).fit(S, y[train])
    diagonals = np.einsum("iim->mi", S)
    assert_models_agree(model, peer, KernelStack(np.moveaxis(S, 2, 0), test_diagonals=diagonals))
    cross = by_hand(X[new], task[new], X[train], task[train], one_parameter)
    diagonals = np.einsum("iim->mi", by_hand(X[new], task[new], one_parameter=one_parameter))
    cross = KernelStack(np.moveaxis(cross, 2, 0), test_diagonals=diagonals)
    decision = model.decision_function(X[new], task=task[new])
    np.testing.assert_allclose(decision, peer.decision_function(cross), atol=2e-3)
    parts = model.decision_parts(X[new], task=task[new])
    np.testing.assert_allclose(parts, peer.decision_parts(cross), atol=2e-3)
    np.testing.assert_allclose(parts.sum(axis=1) + model.intercept_, decision, atol=1e-9)
    if not one_parameter:
        assert (parts[:, 1][task[new] != "a"] == 0).all() and (parts[:, 1][task[new] == "a"] != 0).any()


@pytest.mark.parametrize("one_parameter", [False, True])
@pytest.mark.parametrize("normalize", [None, "spherical"])
def test_sequences_are_compared_with_those_of_their_task(data, normalize, one_parameter):
    """Sums over words of the support knew no task of new examples, with spherical normalisation."""
    _, y, task, _ = data
    rng = np.random.default_rng(0)
    texts = ["".join(rng.choice(list("ACGT"), 12)) for _ in range(100)]
    kernels, old, new = multi_task([Spectrum(2)], one_parameter), slice(70), slice(70, 100)
    model = MKLClassifier(kernels, normalize=normalize, C=1.0, features="never").fit(texts[old], y[old], task=task[old])
    K = Spectrum(2)(texts)
    K = K / np.sqrt(np.outer(np.diag(K), np.diag(K))) if normalize else K
    K, there = K[new, old][:, model.support_], task[model.support_]
    equal = [np.outer(task[new] == t, there == t) for t in "abc"]
    parts = [K, *([(1 if normalize else 3) * sum(equal) * K] if one_parameter else [one * K for one in equal])]
    weights = model.kernel_weights_ * model.kernel_scale_
    decision = np.tensordot(weights, parts, 1) @ model.dual_coef_[0] + model.intercept_
    np.testing.assert_allclose(model.decision_function(texts[new], task=task[new]), decision, atol=1e-9)
    assert model.kernel_weights_.min() > 0


def test_names_say_what_is_shared(data):
    X, y, task, _ = data
    model = MKLClassifier(multi_task(BASES)).fit(X, y, task=task)
    assert model.kernel_names_ == [
        "rbf@shared", "rbf@task=a", "rbf@task=b", "rbf@task=c",
        "line@shared", "line@task=a", "line@task=b", "line@task=c",
    ]  # fmt: skip
    assert list(model.tasks_) == ["a", "b", "c"]
    model = MKLClassifier(multi_task(RBF(gamma=0.1), one_parameter=True)).fit(X, y, task=task)
    assert model.kernel_names_ == ["rbf(gamma=0.1)[all]@shared", "rbf(gamma=0.1)[all]@same task"]
    model = MKLClassifier(multi_task([RBF(gamma=0.1)])).fit(X, y, task=np.unique(task, return_inverse=True)[1] + 5)
    assert model.kernel_names_[1:] == [f"rbf(gamma=0.1)[all]@task={t}" for t in (5, 6, 7)]


@pytest.mark.parametrize("one_parameter", [False, True])
def test_precomputed_stacks(data, one_parameter):
    X, y, task, _ = data
    S = [RBF(gamma=0.3)(X), Linear()(X[:, :2])]
    stack = multi_task_stack(KernelStack(S, ["rbf", "line"]), task, one_parameter=one_parameter)
    np.testing.assert_allclose(np.asarray(stack), by_hand(X, task, one_parameter=one_parameter))
    model = MKLClassifier(multi_task(BASES, one_parameter), tol=1e-6).fit(X, y, task=task)
    given = MKLClassifier("precomputed", tol=1e-6).fit(stack, y)
    assert given.kernel_names_ == model.kernel_names_
    new = multi_task_stack([K[:9] for K in S], task[:9], task, one_parameter)
    np.testing.assert_allclose(given.decision_function(new), model.decision_function(X[:9], task=task[:9]), atol=1e-3)
    with pytest.raises(ValueError, match="multi_task_stack"):
        given.fit(stack, y, task=task)
    with pytest.raises(ValueError, match="train_task has shape"):
        multi_task_stack(S, task, task[:9])


def test_frames_views_missing_sources_and_weights(data):
    X, y, task, _ = data
    frame = pd.DataFrame(X, columns=["r", "s", "t"])
    kernels = multi_task([("rbf", RBF(gamma=0.3)), ("line", Linear(), ["r", "s"])])
    a = MKLClassifier(kernels, tol=1e-8, C=1.0).fit(frame, y, task=pd.Series(task))
    b = MKLClassifier(multi_task(BASES), tol=1e-8, C=1.0).fit(X, y, task=task)
    apart = a.decision_function(frame, task=list(task)) - b.decision_function(X, task)
    np.testing.assert_allclose(apart, 0, atol=2 * np.sqrt(2e-8 * b.objective_))  # what strong convexity leaves open
    views = {"left": X[:, :1], "right": X[:, 1:]}
    both = MKLClassifier(multi_task([("l", Linear(), "left"), ("r", RBF(gamma=1.0), "right")]), C=1.0).fit(
        views, y, task=task
    )
    assert both.score(views, y, task=task) > 0.8
    holes = X.copy()
    holes[::4, 2] = np.nan
    model = MKLClassifier(multi_task([("h", RBF(gamma=1.0), [2], "zero"), ("l", Linear(), [0, 1])]), C=1.0)
    assert (model.fit(holes, y, task=task).decision_parts(holes, task)[::4, :4] == 0).all()
    weight = (task != "c").astype(float)  # weight 0 is removal, of a task too
    kept = MKLClassifier(multi_task(BASES), C=1.0).fit(X, y, sample_weight=weight, task=task)
    assert list(kept.tasks_) == ["a", "b"] and len(kept.kernel_names_) == 6


def test_regression_novelties_and_probabilities(data):
    X, y, task, f = data
    regressor = MKLRegressor(multi_task(BASES), C=10).fit(X, f, task=task)
    assert regressor.score(X, f, task=task) > 0.8
    one = MKLOneClass(multi_task(BASES[:1]))
    assert set(one.fit_predict(X, task=task)) == {-1, 1} and one.score_samples(X, task).shape == (120,)
    P = MKLClassifier(multi_task(BASES), loss="logistic", C=1.0).fit(X, y, task=task).predict_proba(X, task=task)
    np.testing.assert_allclose(P.sum(axis=1), 1)


def test_save_load_clone_and_pickle(data, tmp_path):
    X, y, task, _ = data
    model = clone(MKLClassifier(multi_task(BASES, one_parameter=True))).fit(X, y, task=task)
    model.save(tmp_path / "model.mk")
    for copy in (manykernels.load(tmp_path / "model.mk"), pickle.loads(pickle.dumps(model))):
        np.testing.assert_array_equal(copy.decision_function(X, task=task), model.decision_function(X, task=task))
        with pytest.raises(ValueError, match="give task="):
            copy.predict(X)


def test_metadata_routing(data):
    X, y, task, _ = data
    with sklearn.config_context(enable_metadata_routing=True):
        model = MKLClassifier(multi_task(BASES), C=1.0).set_fit_request(task=True).set_score_request(task=True)
        model.set_predict_request(task=True).set_decision_function_request(task=True)
        scores = cross_validate(model, X, y, cv=3, params={"task": task}, error_score="raise")["test_score"]
        assert scores.min() > 0.7
        search = GridSearchCV(model, {"C": [0.1, 10]}, cv=3, error_score="raise").fit(X, y, task=task)
        assert search.best_score_ > 0.7 and search.score(X, y, task=task) > 0.8
        pipe = make_pipeline(StandardScaler(), model).fit(X, y, task=task)
        assert pipe.score(X, y, task=task) > 0.8
        with pytest.warns(UserWarning, match="not seen in fit"):  # another task altogether
            groups = dict(params={"task": task, "groups": task}, cv=LeaveOneGroupOut(), error_score="raise")
            assert cross_validate(model, X, y, **groups)["test_score"].shape == (3,)


def test_a_task_not_seen_in_fit_is_predicted_by_the_shared_kernels(data):
    X, y, task, _ = data
    model = MKLClassifier(multi_task(BASES)).fit(X, y, task=task)
    with pytest.warns(UserWarning, match="'d'.*shared kernels only"):
        parts = model.decision_parts(X[:5], task=["d"] * 5)
    shared = [name.endswith("@shared") for name in model.kernel_names_]
    assert (parts[:, np.logical_not(shared)] == 0).all() and (parts[:, shared] != 0).all()
    np.testing.assert_allclose(parts[:, shared], model.decision_parts(X[:5], task=task[:5])[:, shared], atol=1e-12)
    alone = MKLClassifier([k for k in multi_task(BASES) if k.task.kind != "shared"]).fit(X, y, task=task)
    with pytest.raises(ValueError, match="no kernel is shared"):
        alone.predict(X[:1], task=["d"])


def test_bad_tasks(data):
    X, y, task, f = data
    model = MKLClassifier(multi_task(BASES))
    with pytest.raises(ValueError, match=r"no task: give fit\(X, y, task=task\)"):
        model.fit(X, y)
    with pytest.raises(ValueError, match="no kernel uses it"):
        MKLClassifier(BASES).fit(X, y, task=task)
    with pytest.raises(ValueError, match="no kernel uses it"):
        MKLClassifier().fit(X, y, task=task)
    with pytest.raises(ValueError, match=r"task has shape \(7,\).*120"):
        model.fit(X, y, task=task[:7])
    with pytest.raises(ValueError, match="task has .* missing values"):
        model.fit(X, y, task=np.where(task == "a", np.nan, 1.0))
    with pytest.raises(ValueError, match="task has .* missing values"):
        model.fit(X, y, task=np.where(task == "a", None, "b"))
    with pytest.raises(ValueError, match="cannot be sorted"):
        model.fit(X, y, task=np.array(["a", 1] * 60, dtype=object))
    with pytest.raises(ValueError, match=r"task 'b' has one class only \(.*'yes'.*two classes in each task"):
        model.fit(X, np.where(task == "b", "yes", y), task=task)
    with pytest.raises(ValueError, match="task 'c' has one class only"):
        model.fit(X, y, sample_weight=np.where((task == "c") & (y == "no"), 0.0, 1.0), task=task)
    model.fit(X, y, task=task)
    with pytest.raises(ValueError, match=r"tasks \['a', 'b', 'c'\]: give task="):
        model.predict(X)
    with pytest.raises(ValueError, match="task has shape"):
        model.predict(X, task="a")
    with pytest.raises(ValueError, match="no task kernels"):
        MKLRegressor(BASES).fit(X, f).predict(X, task=task)
    with pytest.raises(ValueError, match="auto_kernels"):
        multi_task("auto")


def test_errors_show_labels_of_numpy_as_they_are(data):
    """Lists and arrays of objects hold np.str_('a')."""
    X, y, task, _ = data
    held = np.empty(len(task), object)
    held[:] = [np.str_(label) for label in task.tolist()]
    model = MKLClassifier(multi_task(BASES))
    with pytest.raises(ValueError, match="^task 'b' has one class only"):
        model.fit(X, np.where(task == "b", "yes", y), task=held)
    with pytest.raises(ValueError, match=r"^y has one class only \('[abc]'\)"):
        MKLClassifier(BASES).fit(X, held[[0] * len(y)])
    model.fit(X, y, task=held)
    with pytest.raises(ValueError, match=r"tasks \['a', 'b', 'c'\]: give task="):
        model.predict(X)
    new = held.copy()
    new[0] = np.str_("q")
    with pytest.warns(UserWarning, match=r"^task has \['q'\], not seen in fit"):
        model.predict(X, task=new)


def test_an_earlier_fit_with_tasks_is_forgotten(data):
    X, y, task, _ = data
    model = MKLClassifier(multi_task(BASES)).fit(X, y, task=task).set_params(kernels=BASES).fit(X, y)
    assert not hasattr(model, "tasks_") and model.score(X, y) > 0.6
