"""`Precomputed`, values from elsewhere as one kernel beside others, is what a stack of matrices is."""

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import cross_val_score

from manykernels import KernelStack, MKLClassifier, Views, load
from manykernels.kernels import RBF, Precomputed

rng = np.random.default_rng(0)
y = np.arange(40) % 2
POINTS = rng.normal(size=(40, 3)) + 1.3 * y[:, None]
K = POINTS @ POINTS.T
WIDE = RBF(gamma=0.1)(POINTS)
OLD, NEW = np.arange(30), np.arange(30, 40)


def test_values_are_looked_up():
    rows = Precomputed.table(K[:30, :30])
    np.testing.assert_array_equal(Precomputed()(rows), K[:30, :30])
    np.testing.assert_array_equal(Precomputed()(rows[5:9], rows[[2, 2, 7]]), K[5:9][:, [2, 2, 7]])
    np.testing.assert_array_equal(Precomputed().diag(rows), np.diag(K)[:30])
    new = Precomputed.table(K[30:, :30], new=True)
    np.testing.assert_array_equal(Precomputed()(new, rows[::3]), K[30:, :30:3])
    assert np.isnan(Precomputed().diag(new)).all() and isinstance(clone(Precomputed()), Precomputed)


def test_a_model_is_that_of_the_stack_and_is_saved(tmp_path):
    views = {"dot": Precomputed.table(K[np.ix_(OLD, OLD)]), "points": POINTS[OLD]}
    new = {"dot": Precomputed.table(K[np.ix_(NEW, OLD)], new=True), "points": POINTS[NEW]}
    model = MKLClassifier([("dot", Precomputed()), ("wide", RBF(gamma=0.1), "points")], tol=1e-6).fit(views, y[OLD])
    stack = KernelStack([K, WIDE])
    twin = MKLClassifier("precomputed", tol=1e-6).fit(stack[OLD], y[OLD])
    np.testing.assert_allclose(model.kernel_weights_, twin.kernel_weights_, atol=1e-3)
    np.testing.assert_allclose(model.decision_function(new), twin.decision_function(stack[NEW]), atol=5e-3)
    model.save(tmp_path / "m.mk")
    np.testing.assert_array_equal(load(tmp_path / "m.mk").predict(new), model.predict(new))


def test_examples_without_the_matrix_are_like_no_other():
    some = np.arange(25)
    X = Views({"dot": Precomputed.table(K[:25, :25]), "points": POINTS[OLD]}, ids={"dot": some, "points": OLD})
    kernels = [("dot", Precomputed(), "dot", "zero"), ("wide", RBF(gamma=0.1), "points")]
    model = MKLClassifier(kernels).fit(X, y[OLD])
    parts = model.decision_parts(X)
    assert (parts[25:, 0] == 0).all() and (parts[:25, 0] != 0).any()
    assert cross_val_score(MKLClassifier(kernels), X, y[OLD], cv=3).mean() > 0.6


def test_wrong_tables_are_refused():
    names = list("abc")
    shuffled = pd.DataFrame(K[:3, :3], names, names)[["b", "a", "c"]]
    with pytest.raises(ValueError, match=r"in another order: give K.loc\[:, K.index\]"):
        Precomputed.table(shuffled)
    assert Precomputed.table(shuffled.loc[:, shuffled.index]).equals(Precomputed.table(shuffled[names]))
    with pytest.raises(ValueError, match="not square: give new=True"):
        Precomputed.table(K[:, :30])
    with pytest.raises(ValueError, match=r"K\[0, 1\] = 5"):
        Precomputed.table([[1.0, 5.0], [2.0, 1.0]])
    with pytest.raises(ValueError, match=r"shape \(3,\)"):
        Precomputed.table(np.ones(3))
    with pytest.raises(ValueError, match="two new examples"):
        Precomputed()(Precomputed.table(K, new=True))
    with pytest.raises(ValueError, match="do not begin with the number"):
        Precomputed()(POINTS)
    ids = [f"p{i}" for i in range(30)]
    train = pd.DataFrame(K[:30, :30], ids, ids)
    model = MKLClassifier([("k", Precomputed(), "k")], C=1.0).fit({"k": Precomputed.table(train)}, y[OLD])
    with pytest.raises(ValueError, match="columns of fit in another order, 'p29', 'p28'"):  # without 'number'
        model.predict({"k": Precomputed.table(train[ids[::-1]], new=True)})
    rows, new = Precomputed.table(K[:30, :30]), Precomputed.table(K[30:, :30], new=True)
    model = MKLClassifier([Precomputed()], normalize="spherical").fit(rows, y[OLD])
    with pytest.raises(ValueError, match="spherical"):
        model.predict(new)


def test_a_matrix_that_is_no_kernel_is_named():
    bad = K[:30, :30].copy()
    bad[3, 4] = bad[4, 3] = 2 * np.diag(bad).max()
    with pytest.warns(UserWarning, match="positive semidefinite"):
        MKLClassifier([Precomputed()]).fit(Precomputed.table(bad), y[OLD])


@pytest.mark.filterwarnings("error::UserWarning")
def test_examples_that_lack_the_matrix_are_not_asked_for_its_values():
    """What stands for their rows does not show whether the kernel is symmetric and positive semidefinite."""
    x, some, table = POINTS[:28, :2], np.arange(3, 26), np.full((28, 24), np.nan)
    table[some] = Precomputed.table(RBF(gamma=0.3)(x[some]))
    kernels = [("net", Precomputed(), np.arange(24), "zero"), ("age", RBF(0.5), [24, 25])]
    model = MKLClassifier(kernels, C=1.0, tol=1e-6).fit(np.hstack([table, x]), y[:28])
    assert model.duality_gap_ <= 1e-6 and model.kernel_weights_[0] > 0
