"""A KernelStack of labelled frames of pandas keeps their labels, and refuses labels in another order."""

import numpy as np
import pandas as pd
import pytest

from manykernels import KernelStack, MKLClassifier, MKLClassifierCV, load
from manykernels.kernels import RBF, Linear, multi_task_stack

rng = np.random.default_rng(0)
IDS = [f"p{i}" for i in range(60)]
X = rng.normal(size=(60, 3))
y = pd.Series((X[:, 0] > 0).astype(int), index=IDS)
K, L = (pd.DataFrame(kernel(X), IDS, IDS) for kernel in (RBF(0.3), Linear()))
TURNED = y.sample(frac=1, random_state=0)
OTHER = list(TURNED.index)
NEW = [pd.DataFrame(kernel(X[:9] + 0.1, X), [f"n{i}" for i in range(9)], IDS) for kernel in (RBF(0.3), Linear())]


def model(**options):
    return MKLClassifier("precomputed", C=1.0, **options)


def test_matrices_in_another_order_are_named():
    for turned in (L.loc[OTHER, OTHER], L.loc[OTHER], L[OTHER]):
        with pytest.raises(ValueError, match=r"matrices\[1\] has .* another order: give K.loc\[ids, ids\]"):
            KernelStack([K, turned])
        with pytest.raises(ValueError, match=r"matrices\[1\] \('line'\) has"):
            KernelStack([K, turned], names=["wide", "line"])
        with pytest.raises(ValueError, match=r"matrices\[2\] has"):
            KernelStack([K.to_numpy(), K, turned])
        KernelStack([K, turned.to_numpy()])
        with pytest.raises(
            ValueError, match=r"X has other ids in its rows than in its columns: give K.loc\[ids, ids\]"
        ):
            model().fit(KernelStack([K.loc[OTHER]]), y.loc[OTHER])
    strange = L.rename(index={"p3": "q"}, columns={"p3": "q"})
    with pytest.raises(ValueError, match=r"matrices\[1\] has other rows than matrices\[0\], 'q': give"):
        KernelStack([K, strange])


def test_targets_in_another_order_are_refused():
    stack = KernelStack([K, L])
    assert stack.ids.tolist() == stack.train_ids.tolist() == IDS
    for one in (stack, stack.examples()):
        with pytest.raises(ValueError, match=r"y has the ids of X in another order: give y.loc\[X.ids\]\."):
            model().fit(one, TURNED)
        model().fit(one, TURNED.loc[stack.ids])
    with pytest.raises(ValueError, match="y has the ids of X in another order"):
        MKLClassifierCV("precomputed", Cs=2).fit(stack, TURNED)
    assert KernelStack([K.to_numpy(), pd.DataFrame(L.to_numpy())]).ids is None
    turned = KernelStack([L.loc[OTHER, OTHER]])
    np.testing.assert_array_equal(turned[3:5].ids, OTHER[3:5])
    np.testing.assert_array_equal(turned[:, [2, 0]].train_ids, [OTHER[2], OTHER[0]])
    assert multi_task_stack(turned, np.arange(60) % 2).ids.tolist() == OTHER


def test_new_kernel_values_whose_columns_have_another_order_are_refused(tmp_path):
    fitted = model().fit(KernelStack([K, L]), y)
    fitted.save(tmp_path / "m.mk")
    decisions = fitted.decision_function(KernelStack(NEW))
    for here in (fitted, load(tmp_path / "m.mk")):
        np.testing.assert_array_equal(here.decision_function(KernelStack(NEW)), decisions)
        turned = [one[OTHER] for one in NEW]
        with pytest.raises(ValueError, match=r"X are in another order than in fit: give K\[names\].*feature_names_in_"):
            here.predict(KernelStack(turned))
        again = KernelStack([one[here.feature_names_in_] for one in turned])
        np.testing.assert_array_equal(here.decision_function(again), decisions)
        with pytest.raises(ValueError, match="X lack 'p0' of fit"):
            here.predict(KernelStack([one.rename(columns={"p0": "q"}) for one in NEW]))
        np.testing.assert_array_equal(here.decision_function(KernelStack([one.to_numpy() for one in NEW])), decisions)


def test_a_dict_of_matrices_has_their_names():
    stack = KernelStack({"wide": K, "line": L})
    assert stack.names == ["wide", "line"] and stack.shape == (60, 60, 2)
    with pytest.raises(ValueError, match="keys are the names"):
        KernelStack({"wide": K, "line": L}, names=["a", "b"])
    with pytest.raises(ValueError, match=r"matrices is one frame of shape \(60, 60\): give a list of matrices, \[K\]"):
        KernelStack(K)
    with pytest.raises(ValueError, match=r"X is a dict, .* give KernelStack\(X\), or KernelStack\(matrices, names="):
        model().fit({"wide": K, "line": L}, y)
