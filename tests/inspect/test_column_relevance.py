"""The relevance of single columns inside a source, on held-out examples."""

from functools import partial

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.model_selection import GroupKFold, KFold

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import column_relevance, relevance
from manykernels.kernels import RBF, Linear, Views


def planted(n=120, seed=0):
    rng = np.random.default_rng(seed)
    rna, clinic = rng.normal(size=(n, 5)), rng.normal(size=(n, 2))
    return rna, clinic, rna[:, 3] + 0.7 * rna[:, 1] + 0.3 * clinic[:, 0] + 0.2 * rng.normal(size=n)


def test_a_table_as_a_list_of_rows_has_the_relevance_of_the_array():
    X, _, y = planted(40)
    model = MKLRegressor([RBF(0.1), ("line", Linear(), [0, 1])], C=1.0)
    for measure in (partial(column_relevance, n_permutations=1), partial(relevance, n_permutations=1, refits=0)):
        one, other = measure(model, X, y, cv=2), measure(model, X.tolist(), y, cv=2)
        assert one.names == other.names
        np.testing.assert_array_equal(one.score_permuted, other.score_permuted)


@pytest.mark.parametrize("form", ["dict", "sparse", "missing"])
def test_a_source_of_views_has_its_own_columns(form):
    rna, clinic, y = planted()
    X = {"rna": csr_array(rna) if form == "sparse" else rna, "clinic": clinic}
    if form == "missing":
        X = Views(
            X | {"rna": rna[20:]}, ids={"rna": np.arange(20, 120), "clinic": np.arange(120)}, examples=np.arange(120)
        )
    kernels = [("rna", RBF(0.1), "rna", "zero"), ("clinic", RBF(0.3), "clinic", "zero")]
    found = column_relevance(MKLClassifier(kernels, C=1.0), X, y > 0, "rna", cv=3, scoring="roc_auc")
    assert found.names == [f"rna: {k}" for k in range(5)]
    assert found.table()[0]["name"] == "rna: 3" and found.table()[0]["permute"] > 0.05
    assert column_relevance(MKLClassifier(kernels, C=1.0), X, y > 0, cv=2).names[5:] == ["clinic: 0", "clinic: 1"]


def test_groups_are_not_divided_between_training_and_held_out_examples():
    X, _, y = planted(60)
    groups = np.random.default_rng(1).permutation(np.repeat(np.arange(12), 5))
    model, folds = MKLRegressor([RBF(0.1)], C=1.0), GroupKFold(3)
    by_group = column_relevance(model, X, y, cv=folds, groups=groups)
    splits = list(folds.split(X, y, groups))
    by_split, without = column_relevance(model, X, y, cv=splits), column_relevance(model, X, y, cv=KFold(3))
    np.testing.assert_array_equal(by_group.score_all, by_split.score_all)
    np.testing.assert_array_equal(by_group.score_permuted, by_split.score_permuted)
    assert not np.isclose(by_group.score_all, without.score_all).any()
