"""Pairs in scikit-learn: cut, split, searched, predicted; wrong ones refused with the cure."""

import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Identity, Linear
from manykernels.pairs import Pairs, PairSplit, Pairwise

rng = np.random.default_rng(1)
LEFT, RIGHT = rng.normal(size=(14, 3)), rng.normal(size=(10, 2))
X, FRAME = Pairs.grid(LEFT, RIGHT), pd.DataFrame(LEFT)
y = np.outer(LEFT[:, 0], RIGHT[:, 1]).ravel()
KERNELS = Pairwise([("line", Linear()), ("near", RBF(gamma=1.0))], [("flat", Linear()), ("wide", RBF(gamma="scale"))])


@pytest.mark.parametrize("wrong, match", [
    (lambda: PairSplit("new"), "setting"), (lambda: PairSplit(n_splits=1), "n_splits=1"),
    (lambda: next(PairSplit("left", 20).split(X)), "14 left objects"),
    (lambda: next(PairSplit().split(X, groups=[1])), "groups"), (lambda: next(PairSplit().split(np.ones(4))), "shape"),
    (lambda: Pairs([(0, 20)], LEFT, RIGHT), "object 20.*right has 10"),
    (lambda: Pairs([(0.5, 1)], LEFT, RIGHT), "integers"), (lambda: Pairs([(0, 1)], None, RIGHT), "left is NoneType"),
    (lambda: Pairs(np.ma.masked_equal(X.index, 3), LEFT, RIGHT), "index is a masked array"),
    (lambda: Pairs(X.index, {"A": FRAME, "B": FRAME[::-1]}, RIGHT), "different indices.*left, ids"),
    (lambda: Pairs(X.index, {"A": LEFT, "B": LEFT[:9]}, RIGHT), "different numbers"),
    (lambda: X[0, 1], "no index"), (lambda: Pairwise(Linear(), Linear(), "tensor"), "combine='tensor'"),
    (lambda: MKLRegressor(KERNELS).fit(np.ones((4, 2)), np.arange(4.0)), "take pairs"),
    (lambda: MKLRegressor(KERNELS, loss="squared").fit(X, y).predict(LEFT[:, :2]), "fitted on pairs"),
    (lambda: MKLRegressor(Pairwise("precomputed", Linear())).fit(X, y), "left has shape"),
    (lambda: MKLRegressor(Pairwise([Linear() + Identity()], Linear())).fit(X, y), "Identity within"),
])  # fmt: skip
def test_what_is_wrong_is_refused_by_name(wrong, match):
    with pytest.raises((ValueError, IndexError), match=match):
        wrong()


def test_pairs_cross_validate_and_search():
    model = MKLRegressor(KERNELS, loss="squared", C=100.0, regularizer=1)
    assert cross_val_score(model, X, y, cv=PairSplit("both", 2)).min() > 0.8  # a product of what each side shows
    search = GridSearchCV(model, {"C": [0.1, 100.0]}, cv=PairSplit("left", 2)).fit(X, y)
    assert search.best_params_ == {"C": 100.0}
    train, test, y_train, _ = train_test_split(X, y, random_state=0)
    model = clone(model).fit(train, y_train)
    np.testing.assert_allclose(model.decision_parts(test).sum(axis=1) + model.intercept_, model.predict(test))
    np.testing.assert_allclose(pickle.loads(pickle.dumps(model)).predict(test), model.predict(test))
    assert model.kernel_names_ == ["line × flat", "line × wide", "near × flat", "near × wide"]
    assert model.kernel_names_[model.kernel_weights_.argmax()] == "line × flat"


def test_relevance_goes_by_new_objects_and_joins_no_sides():
    from manykernels.inspect import relevance

    rng = np.random.default_rng(0)
    L, R = rng.normal(size=(15, 1)), rng.normal(size=(8, 1))
    sides = [[(name, Linear()) for name in names] for names in (("a", "b"), ("c", "d"))]
    sources = {"a": ["a × c", "a × d"], "b": ["b × c", "b × d"], "c": ["a × c", "b × c"], "d": ["a × d", "b × d"]}
    X, y = Pairs.grid(L, R), (L * R[:, 0] > 0).ravel()
    model, cv = MKLClassifier(Pairwise(*sides), loss="squared", regularizer=1.5), PairSplit("left", n_splits=4)
    found = relevance(model, X, y, sources=sources, cv=cv, scoring="roc_auc", kernels=False)
    np.testing.assert_allclose(found.score_all, cross_val_score(model, X, y, cv=cv, scoring="roc_auc"))
    assert sorted(sorted(group.names) for group in found.groups) == [["a", "b"], ["c", "d"]]


def test_kernels_of_a_side_have_names_for_a_search():
    rng = np.random.default_rng(0)
    X = Pairs.grid(rng.normal(size=(6, 2)), rng.normal(size=(5, 2)))
    y = rng.normal(size=30)
    kernels = Pairwise([("near", RBF(gamma=1.0)), Linear()], [("flat", Linear())])
    model = MKLRegressor(kernels, loss="squared")
    assert model.get_params()["kernels__left__near__gamma"] == 1.0
    assert {"kernels__combine", "kernels__right__flat", "kernels__left__near"} <= set(model.get_params())
    search = GridSearchCV(model, {"kernels__left__near__gamma": [0.1, 10.0]}, cv=2, error_score="raise").fit(X, y)
    assert search.best_params_["kernels__left__near__gamma"] in (0.1, 10.0) and kernels.left[0][1].gamma == 1.0
    changed = clone(model).set_params(kernels__right__flat=RBF(gamma=2.0), kernels__combine="sum")
    assert changed.kernels.right[0][1].gamma == 2.0 and changed.kernels.combine == "sum"
    with pytest.raises(ValueError, match="Invalid parameter 'far__gamma' for kernels: none has that name.*near"):
        clone(model).set_params(kernels__left__far__gamma=1.0)
    with pytest.raises(ValueError, match="left='precomputed' is no list of named kernels"):
        Pairwise("precomputed", [Linear()]).set_params(left__near__gamma=1.0)
