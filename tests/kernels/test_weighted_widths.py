"""What kernels learn from data counts each example as often as its weight says."""

import re

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.preprocessing import StandardScaler

from manykernels.estimators.check_inputs import take_examples
from manykernels.kernels import RBF, KernelList, Laplacian, On

rng = np.random.default_rng(0)


def test_the_scale_of_unsorted_sparse_data_leaves_their_entries_in_place():
    """Scipy's `min` sorts them in place."""
    X = sp.csr_array((np.array([1.0, 2.0, 3.0]), np.array([1, 0, 1]), np.array([0, 2, 3])), shape=(2, 2))
    gamma = RBF(gamma="scale").resolve(X).gamma
    assert X.indices.tolist() == [1, 0, 1] and gamma == pytest.approx(1 / (2 * np.var(X.toarray())))


def numbers_of(kernel):
    return [float(number) for number in re.findall(r"[-\d.]+(?:e[-+]?\d+)?", repr(kernel)) if number.strip("-.")]


TABLE = rng.normal(size=(30, 3)) * np.repeat([0.3, 2.0, 5.0], 10)[:, None] * [1.0, 4.0, 0.2]
COUNTS = np.repeat([4, 1, 0], 10)
WAYS = {
    "auto": ("auto", TABLE),
    "auto, a frame": ("auto", pd.DataFrame(TABLE, columns=list("abc")).assign(kind=rng.choice(list("uvw"), 30))),
    "auto, views": ("auto", {"one": TABLE[:, :2], "two": TABLE[:, 2:]}),
    "widths": ([RBF("scale"), ("m", RBF("median"), [0, 2]), Laplacian("median"), ("s", RBF("scale"), [1])], TABLE),
    "sparse": ([RBF("scale"), RBF("median")], sp.csr_array(np.where(TABLE > 0, TABLE, 0.0))),
    "across views": ([On("one", RBF("scale")) * On("two", RBF("median"))], {"one": TABLE[:, :2], "two": TABLE[:, 2:]}),
    "own scaler": ([("own", StandardScaler(), RBF("median"))], TABLE),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_weight_counts_an_example_as_often_as_copies_of_it(way):
    """Widths and transformers, wherever the kernels come from; an example of weight 0 is not there."""
    kernels, data = WAYS[way]
    scaled = way == "own scaler"  # which counts every example with a weight once
    counts = np.minimum(COUNTS, 1) if scaled else COUNTS
    found = KernelList.from_spec(kernels, data, weights=counts.astype(float))
    rows = np.repeat(np.arange(30), counts)
    copies = KernelList.from_spec(kernels, take_examples(data, rows))
    plain = KernelList.from_spec(kernels, data)
    assert [type(k) for k in found.kernels] == [type(k) for k in copies.kernels]
    own, other, none = ([numbers_of(k) for k in one.kernels] for one in (found, copies, plain))
    np.testing.assert_allclose(np.concatenate(own), np.concatenate(other), rtol=1e-9)
    if way != "auto, views":  # whose widths are those of standardised columns
        assert not np.allclose(np.concatenate(own), np.concatenate(none), rtol=1e-3)
    for one, two in zip(found.views(data), copies.views(data), strict=True):
        if isinstance(one.X, np.ndarray):
            np.testing.assert_allclose(one.X, two.X, atol=1e-9)


@pytest.mark.parametrize("form", ["csr", "csc", "coo"])
@pytest.mark.parametrize("weights", [None, np.linspace(0.5, 2.0, 20)])
def test_the_scale_of_sparse_data_far_from_0_is_that_of_dense_ones(form, weights):
    """Case 13,093 of seed 1 of the fuzz: mean squares lost six digits, and γ with them."""
    x = 2634 + 0.06 * np.random.default_rng(0).normal(size=(20, 5))
    wanted = RBF("scale").resolve(x, weights=weights).gamma
    assert RBF("scale").resolve(getattr(sp, form + "_array")(x), weights=weights).gamma == pytest.approx(wanted, 1e-11)
