"""Parts of kernel lists at seldom taken branches: weights, missing views, names, seeds and second calls."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder, StandardScaler

from manykernels import KernelStack
from manykernels.kernels import (
    RBF,
    Constant,
    Function,
    Laplacian,
    Nystroem,
    RandomFeatures,
    auto_kernels,
    multi_task_stack,
    normalize,
    table_scaler,
)
from manykernels.kernels._scaled import median_between
from manykernels.kernels.base import Fitted
from manykernels.kernels.nystroem import approximated
from manykernels.kernels.tasks import checked, numbers
from manykernels.kernels.transformers import Pipe, reads_of
from manykernels.kernels.view_data import View

rng = np.random.default_rng(17)
X = rng.normal(size=(20, 4))
WEIGHTS = np.repeat([1.0, 3.0], 10)


def copies(x, w=WEIGHTS):
    """Each row as often as its weight."""
    return x[np.repeat(np.arange(len(x)), w.astype(int))]


def test_a_metric_is_learned_by_the_kernels_of_all_columns_alone():
    specs = auto_kernels(X, metric="learn")
    learned = [spec.prior for spec in specs if getattr(spec.kernel, "metric", None) == "learn"]
    assert len(learned) == 6 and set(learned) == {1.0}
    assert {spec.prior for spec in specs if getattr(spec.kernel, "metric", None) is None} == {0.2}


def test_tasks_of_stacks_and_new_examples():
    K = rng.normal(size=(1, 3, 4))
    task, train = np.array(["b", "c", "a"]), np.array(["a", "b", "b", "a"])
    for one_parameter in (False, True):
        found = multi_task_stack(K, task, train, one_parameter)
        same = (task[:, None] == train) * 2.0
        own = [same * K[0]] if one_parameter else [K[0] * np.outer(task == t, train == t) for t in "ab"]
        np.testing.assert_allclose(list(found.matrices), [K[0], *own])
        assert found.names[1:] == (["kernel 0@same task"] if one_parameter else ["kernel 0@task=a", "kernel 0@task=b"])
        own = KernelStack(K, ["k"], [np.array([1.0, 2.0, 3.0])])  # with k(x, x) of the new examples
        diagonals = np.array(multi_task_stack(own, task, train, one_parameter).test_diagonals)
        known = [[2.0, 0.0, 6.0]] if one_parameter else [[0.0, 0.0, 3.0], [1.0, 0.0, 0.0]]
        np.testing.assert_allclose(diagonals, [[1.0, 2.0, 3.0], *known])
    assert numbers(np.array(["a", "b"]), ["b", "z", "a"]).tolist() == [1, -1, 0]
    with pytest.raises(ValueError, match="missing value"):
        checked([1.0, np.nan], 2)


class Weighed(TransformerMixin, BaseEstimator):
    """Multiplies by the sum of the weights."""

    def fit(self, X, y=None, sample_weight=None):
        self.total_ = -1.0 if sample_weight is None else float(np.sum(sample_weight))
        return self

    def transform(self, X):
        return np.asarray(X) * self.total_


def test_transformers_get_the_weights_of_the_examples_that_they_see():
    present = np.array([True, False, True])
    x, w = np.ones((3, 1)), np.array([1.0, 10.0, 100.0])
    for given in (Weighed(), make_pipeline(StandardScaler(with_mean=False, with_std=False), Weighed())):
        pipe = Pipe(given).fit(View(x, present), w)
        np.testing.assert_array_equal(pipe.transform(View(x, present), lambda: ["x"]).X, [[101.0], [0.0], [101.0]])
        assert Pipe(given).fit(View(x, None), None).transform(View(x, None), lambda: ["x"]).X[0, 0] == -1.0
    assert reads_of(StandardScaler()) == "anything" and reads_of(OneHotEncoder()) == "anything"
    wide = Pipe(SimpleNamespace(), SimpleNamespace(transform=lambda X: np.ones((len(X), 3))), 2)
    with pytest.raises(ValueError, match="made 3 columns of X, 2 in fit"):
        wide.transform(View(x, None), lambda: ["x"])


def test_normalisations_of_weighted_matrices():
    K, w = X @ X.T, WEIGHTS
    full = copies(copies(K).T).T
    np.testing.assert_allclose(copies(copies(normalize.multiplicative(K, w)).T).T, normalize.multiplicative(full))
    np.testing.assert_allclose(copies(copies(normalize.trace(K, w)).T).T, normalize.trace(full))
    for own in (normalize.multiplicative(full), normalize.multiplicative(K, np.ones(20))):
        assert np.diag(own).mean() - own.mean() == pytest.approx(1)  # of unit variance
    part = normalize.spherical(K[:3], np.diag(K)[:3], np.diag(K))
    np.testing.assert_allclose(part, normalize.spherical(K)[:3])
    assert normalize.inverse_root([4.0, 0.0, -1.0]).tolist() == [0.5, 0.0, 0.0]
    assert normalize.precision(np.float32) == 1e-6 and normalize.precision(np.float64) == 1e-12
    whole = normalize.Scaled("trace", np.arange(3.0), np.array([True, False, True]), 10.0 + np.arange(3))
    part = whole.part([2, 0])
    assert (part.kind, part.scale.tolist(), part.usable.tolist(), part.mean.tolist()) == (
        "trace", [2, 0], [True, True], [12, 10])  # fmt: skip


@pytest.mark.parametrize("make", [
    lambda seed, rank=8: Nystroem(RBF("scale"), rank, random_state=seed),
    lambda seed, rank=8: Nystroem(RBF("scale"), rank, "uniform", random_state=seed),
    lambda seed, rank=8: RandomFeatures(RBF("scale"), rank, random_state=seed),
    lambda seed, rank=8: RandomFeatures(Laplacian("scale"), rank, random_state=seed),
])  # fmt: skip
def test_approximations_have_a_seed_weights_and_a_rank(make):
    F = [make(seed).resolve(X).features(X) for seed in (0, 0, 1)]
    np.testing.assert_array_equal(F[0], F[1])
    assert F[0].shape[1] <= 8 and (F[0].shape != F[2].shape or np.abs(F[0] - F[2]).max() > 1e-3)
    weighted, plain = make(0).resolve(X, WEIGHTS), make(0).resolve(X)
    assert weighted.kernel.gamma == pytest.approx(type(plain.kernel)("scale").resolve(X, WEIGHTS).gamma)
    assert weighted.kernel.gamma != pytest.approx(plain.kernel.gamma)
    many = make(0, 64).resolve(X)  # more than there are examples
    assert many.features(X).shape[1] == (64 if isinstance(many, RandomFeatures) else 20)


def test_random_features_approach_their_kernel_in_both_precisions():
    x = 0.5 * rng.normal(size=(6, 12))
    for kernel in (RBF(0.05), Laplacian(0.1)):
        features = RandomFeatures(kernel, 20_000)
        F = features.features(x)
        np.testing.assert_allclose(F @ F.T, kernel(x), atol=0.03)
        few, far = RandomFeatures(kernel, 8), (1e6 * x).astype(np.float32)  # angles beyond the digits of float32
        np.testing.assert_allclose(few.features(far, np.float32), few.features(far.astype(float)), atol=1e-4)
    with pytest.raises(ValueError, match="rank=7"):
        RandomFeatures(RBF(0.1), 7).resolve(x)
    assert approximated(RBF(0.1), "nystroem", 5, 9).random_state == 9 and approximated(RBF(0.1), "rff", 4, 9).rank == 4


def test_medians_of_zeros_of_both_signs_and_of_heavy_examples():
    assert median_between(np.array([[0.0], [-0.0], [2.0], [5.0]]), [1, 1, 1, 1]) == pytest.approx(
        median_between(np.array([[0.0], [2.0], [5.0]]), [2, 1, 1]))  # fmt: skip
    heavy = np.where(np.arange(600) < 3, 1e4, 1e-6)  # a sample by weight has the heavy ones alone
    assert median_between(np.arange(600.0)[:, None], heavy, sample=50) in (1.0, 2.5, 4.0)


def test_tables_with_weights_cycles_and_owners():
    x = np.column_stack([X[:, 0].astype(object), np.array(["a", "b", None, "c"] * 5, object)])
    x[3, 0] = None
    parts = [("numbers", 1), ("categories", 1)]
    found = table_scaler.TableScaler(parts).fit(x, sample_weight=WEIGHTS)
    expected = table_scaler.TableScaler(parts).fit(copies(x))
    np.testing.assert_allclose(found.transform(x), expected.transform(x), atol=1e-12)
    assert found.owners() == [0, 1, 1, 1] and found.get_feature_names_out(["p", "q"]).tolist() == ["p", "q", "q", "q"]
    again = table_scaler.TableScaler.from_state(found.to_state())
    np.testing.assert_array_equal(again.transform(x), found.transform(x))
    start = np.datetime64("2024-01-01")
    for span, step, cycles in ((10, 1, []), (12, 1, ["week"]), (400, 10, ["week"]), (600, 10, ["year", "week"])):
        dates = (start + np.arange(0, span + 1, step)).astype("datetime64[us]")[:, None]
        assert table_scaler._learn("dates", dates) == cycles
    hours = (start + np.arange(0, 60, 7).astype("timedelta64[h]")).astype("datetime64[us]")[:, None]
    assert table_scaler._learn("dates", hours) == ["day"]
    assert table_scaler.days(np.array(["1970-01-03", "1970-01-01T12:00", None], object)).tolist()[:2] == [2.0, 0.5]


def test_sums_and_products_know_what_both_sides_are():
    twice = 2.0 + RBF(0.1)
    assert isinstance(twice.k1, Constant) and isinstance((RBF(0.1) + 2.0).k2, Constant)
    assert not (Constant() + RBF(0.1)).exempt and (Constant() * Constant(2.0)).exempt
    assert not (RBF(0.1) + Constant(-1.0)).psd and (RBF(0.1) + Constant(1.0)).psd and Constant(0.0).psd
    assert (Constant() + RBF(0.1)).reads == (RBF(0.1) + Constant()).reads == "numeric"
    mixed = (RBF(0.1) + RBF("scale")).resolve(X, WEIGHTS)
    assert mixed.k2.gamma == pytest.approx(RBF("scale").resolve(X, WEIGHTS).gamma)
    assert (RBF(0.1) + RBF("median")).learns() == RBF("median").learns() != RBF(0.1).learns()
    with pytest.raises(ValueError, match="returned an array of shape"):
        Function(lambda X, Y: np.ones((len(X), 1)))(X[:3], X[:2])

    class Gram:
        def fit_transform(self, X):
            self.X = X
            return X @ X.T

        def transform(self, X):
            return X @ self.X.T

    own = Gram()
    kernel = Fitted(own)
    kernel.fit(X[:3])
    assert not hasattr(own, "X")  # the user's object stays as it was
    np.testing.assert_allclose(kernel(X[:2], X[:4]), X[:2] @ X[:4].T)
