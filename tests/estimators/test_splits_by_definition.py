"""Folds by their number, seed and groups: those of scikit-learn, for classes, numbers and times."""

import numpy as np
import pytest
from sklearn.model_selection import (
    GroupKFold,
    KFold,
    LeaveOneGroupOut,
    StratifiedGroupKFold,
    StratifiedKFold,
    TimeSeriesSplit,
)

from manykernels import survival_targets
from manykernels.estimators.check_targets import make_splits

n = 40
rng = np.random.default_rng(0)
ZERO = np.zeros((n, 1))
LABEL = np.array(list("aaabbc"))[rng.integers(0, 6, n)]
EVENT = rng.random(n) < 0.4
TIMES = survival_targets(EVENT, rng.exponential(size=n))
NUMBER = rng.normal(size=n)
GROUPS = rng.integers(0, 9, n)
SITES = np.array(["east", "north", "west"])[rng.integers(0, 3, n)]


def same(found, splitter, y, groups=None):
    wanted = list(splitter.split(ZERO, y, groups))
    assert len(found) == len(wanted)
    for (train, test), (one, other) in zip(found, wanted, strict=True):
        np.testing.assert_array_equal(train, one)
        np.testing.assert_array_equal(test, other)


@pytest.mark.parametrize("cv", [None, 3])
@pytest.mark.parametrize("seed", [None, 0, 4])
def test_a_number_of_folds_is_stratified_and_shuffled_by_the_seed(cv, seed):
    k, mixed = cv or 5, {} if seed is None else dict(shuffle=True, random_state=seed)
    same(make_splits(cv, ZERO, LABEL, True, seed=seed), StratifiedKFold(k, **mixed), LABEL)
    plain = KFold(k, **mixed) if seed is not None or cv else KFold(5, shuffle=True, random_state=0)
    if cv is not None or seed is None:
        same(make_splits(cv, ZERO, NUMBER, False, seed=seed), plain, NUMBER)
    own = StratifiedKFold(k, shuffle=True, random_state=seed or 0)  # each has its share of the events
    same(make_splits(cv, ZERO, TIMES, False, seed=seed), own, EVENT.astype(int))
    same(make_splits(cv, ZERO, LABEL, True, GROUPS, seed), StratifiedGroupKFold(k, **mixed), LABEL, GROUPS)
    same(make_splits(cv, ZERO, NUMBER, False, GROUPS, seed), GroupKFold(k), NUMBER, GROUPS)
    same(make_splits(cv, ZERO, TIMES, False, GROUPS, seed), StratifiedGroupKFold(k, **mixed), EVENT.astype(int), GROUPS)


@pytest.mark.parametrize("y", [LABEL, NUMBER, TIMES], ids=["classes", "numbers", "times"])
@pytest.mark.parametrize("seed", [None, 4])
def test_few_groups_are_held_out_one_by_one(y, seed):
    for cv in (None, 3, 7):
        found = make_splits(cv, ZERO, y, y is LABEL, SITES, seed)
        same(found, LeaveOneGroupOut(), LABEL, SITES)
    two = make_splits(2, ZERO, y, y is LABEL, SITES, seed)
    assert len(two) == 2 and all(not set(SITES[train]) & set(SITES[test]) for train, test in two)


def test_folds_with_a_seed_are_as_many_as_events_classes_or_groups_allow():
    assert make_splits(5, ZERO, np.array(["a"] * 39 + ["b"]), True, seed=1) == []
    assert len(make_splits(9, ZERO, NUMBER, False, SITES, seed=1)) == 3
    assert make_splits(5, ZERO, LABEL, True, np.zeros(n), seed=1) == []
    with pytest.warns(UserWarning, match="cv=30: there are 20 folds.*Give cv=20"):
        assert len(make_splits(30, ZERO, NUMBER, False, seed=1)) == 20
    with pytest.warns(UserWarning, match="cv=5: there are 3 folds.*Give cv=3"):
        assert len(make_splits(5, ZERO, np.array(["a"] * 37 + ["b"] * 3), True, seed=1)) == 3
    rare = survival_targets(np.arange(n) < 4, np.arange(1.0, n + 1))
    with pytest.warns(UserWarning, match="cv=10: there are 4 folds.*Give cv=4"):
        assert len(make_splits(10, ZERO, rare, False)) == 4
    assert len(make_splits(5, ZERO, survival_targets(np.arange(n) > 0, np.ones(n)), False)) == 5  # one is censored


@pytest.mark.parametrize("cv", [None, 5])
@pytest.mark.parametrize("seed", [None, 0, 4])
@pytest.mark.parametrize(("counts", "rows"), [((36, 2, 2), [2]), ((20, 18, 2), [2]), ((20, 17, 2, 1), [2, 1])])
def test_a_rare_class_costs_no_folds_and_is_said(cv, seed, counts, rows):
    """Two rows of a class turned five folds into two without a word."""
    y = np.random.default_rng(1).permutation(np.repeat(list("abcd")[: len(counts)], counts))
    with pytest.warns(UserWarning, match=f"cv=5: classes have fewer .*has {rows[0]}.*say little") as told:
        folds = make_splits(cv, ZERO, y, True, seed=seed)
    assert len(told) == 1 and len(folds) == 5
    tested = np.array([[np.sum(y[test] == label) for label in np.unique(y)] for _, test in folds])
    expected = [k if k > 1 else 0 for k in counts]  # a single example is in every training part
    assert tested.sum(axis=0).tolist() == expected and (np.ptp(tested, axis=0) <= 1).all()
    for train, test in folds:
        assert set(y[train]) == set(y) and sorted([*train, *test]) == list(range(n))


def test_splitters_and_lists_are_taken_as_they_are():
    same(make_splits(TimeSeriesSplit(3), ZERO, NUMBER, False, seed=5), TimeSeriesSplit(3), NUMBER)
    given = [(np.arange(10, n), np.arange(10)), (np.arange(30), np.arange(30, n))]
    for y in (LABEL, NUMBER, TIMES):
        found = make_splits(given, ZERO, y, False, seed=3)
        assert [(a.tolist(), b.tolist()) for a, b in found] == [(a.tolist(), b.tolist()) for a, b in given]
    same(make_splits(GroupKFold(4), ZERO, LABEL, True, GROUPS), GroupKFold(4), LABEL, GROUPS)
    assert len(make_splits(np.int64(4), ZERO, LABEL, True)) == 4


@pytest.mark.parametrize("kind", ["classes", "times"])
def test_one_example_of_a_class_and_one_event_are_too_few_to_hold_out(kind):
    one = np.arange(30) == 7
    y, few = (np.where(one, "rare", "usual"), "one example of 'rare'") if kind == "classes" else (None, "two events")
    y = survival_targets(one, np.arange(1.0, 31.0)) if y is None else y
    with pytest.raises(ValueError, match=f"y has .*{few}, and every fold would learn or test without it"):
        make_splits(3, np.zeros((30, 1)), y, kind == "classes")
    assert make_splits(3, np.zeros((30, 1)), y, kind == "classes", seed=0) == []  # a report does without folds
