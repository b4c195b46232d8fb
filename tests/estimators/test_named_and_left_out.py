"""Messages that name some of many: which ones, how many more, and in which order; levels of covariates in theirs."""

import warnings

import numpy as np
import pandas as pd
import pytest

from manykernels.estimators.convergence import warn_convergence
from manykernels.estimators.covariates import Covariates, check_covariates, new_covariates, warn_without_events
from manykernels.estimators.new_data_warning import Gathered
from manykernels.kernels.new_data import News
from manykernels.solution import Solution, Status


def gap(column, *rows):
    return News("missing", f"column {column}", np.array(rows))


def test_new_values_of_all_blocks_are_counted_and_the_first_are_named():
    box = Gathered()
    first, second = np.zeros((4, 2)), np.zeros((9, 2))
    box.add(first, [gap("'a'", 1, 3), News("category", "column 'b'", np.array([0]), "z")])
    more = [gap(str(k), k) for k in range(5)]
    box.add(second, [gap("'a'", 0, 2, 7, 8), News("category", "column 'b'", np.array([5]), "y"), *more])
    assert box.n == 13
    with pytest.warns(UserWarning) as told:
        box.tell()
    said = str(told[0].message)
    assert "column 'a' is missing in 6 of 13 examples (1, 3, 4, 6, 11, …)" in said
    assert "column 'b' has new categories, 'z' for example, in 2 of 13 examples (0, 9), and these count as none" in said
    assert "column 2 is missing in 1 of 13 examples (6); 2 more such columns." in said and "column 3" not in said
    named = Gathered()
    for rows in (["u", "v"], ["w", "x", "y"]):
        named.add(pd.DataFrame({"a": rows}, index=rows), [gap("'a'", 1)] * 2)
    with pytest.warns(UserWarning, match=r"column 'a' is missing in 2 of 5 examples \(v, x\)\.$"):
        named.tell()


def solution(gap, converged, status, n_iter, reason=""):
    return Solution(np.ones(1), np.ones((1, 1)), np.zeros(1), 1.0, 1.0 - gap, gap, n_iter=n_iter, converged=converged,
                    status=status, reason=reason)  # fmt: skip


def test_of_many_problems_the_first_three_that_stopped_are_named():
    class Model:
        duality_gap_, tol = 0.25, 1e-3

    labels = [f", class {k}" for k in "abcdef"]
    good, bad = solution(1e-4, True, Status.REACHED, 99), solution(0.25, False, Status.STEPS, 7, "it is late")
    with pytest.warns(UserWarning) as told:
        warn_convergence(Model(), [good, bad, bad, good, bad, bad], labels)
    assert str(told[0].message) == (
        "Model stopped at a relative duality gap of 2.50e-01, above tol=0.001, after 7 steps, class b, class c, "
        "class e, …: it is late."
    )
    with pytest.warns(UserWarning, match=r"after 7 steps, class b, class c, class d: it is late\.$"):
        warn_convergence(Model(), [good, bad, bad, bad], labels[:4])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_convergence(Model(), [good, good], labels[:2])
    rough = solution(1e-4, True, Status.ROUGH, 3, "digits are few")
    with pytest.warns(UserWarning, match="^Model has converged, class b, but digits are few.$"):
        warn_convergence(Model(), [good, rough], labels[:2])


def test_levels_are_in_the_order_of_their_values_and_at_most_a_hundred():
    mixed = np.array([10, "b", 9, "a", 10, 9, 2.5, "b"], object)
    found = check_covariates({"c": mixed}, 8, np.ones(8))
    assert found.columns == {"c": [2.5, 9, 10, "a", "b"]} and found.names == ["c=9", "c=10", "c=a", "c=b"]
    np.testing.assert_array_equal(found.Z, [[level == one for one in (9, 10, "a", "b")] for level in mixed])
    assert [type(level) for level in found.columns["c"]] == [float, int, int, str, str]
    digits = np.array(["10", "9", "2", "9"] * 2)  # codes, as they repeat
    assert check_covariates(digits, 8, np.ones(8)).columns == {"z0": ["10", "2", "9"]}
    many = [f"{k:03}" for k in range(101)]
    assert len(check_covariates({"c": np.array(many[:100])}, 100, np.ones(100)).names) == 99
    with pytest.raises(ValueError, match="'c' has 101 levels, more than 100: give numbers, or merge levels"):
        check_covariates({"c": np.array(many)}, 101, np.ones(101))


def test_groups_of_covariates_without_an_event_are_named_once_each():
    table = {"kind": np.array(list("abcabc")), "sex": np.array([0.0, 1, 0, 1, 0, 1]), "age": np.arange(6.0)}
    found = check_covariates(table, 6, np.ones(6))
    named = found.groups()
    assert [name for name, _ in named] == ["kind=a", "kind=b", "kind=c", "sex=0", "sex=1"]
    wanted = [[table["kind"] == k for k in "abc"], [table["sex"] == k for k in (0, 1)]]
    for (_, own), mask in zip(named, [one for part in wanted for one in part], strict=True):
        np.testing.assert_array_equal(own, mask)
    with pytest.warns(UserWarning) as told:
        warn_without_events(found, np.array([False, True, False, False, False, True]))
    said = str(told[0].message)
    assert said.startswith("covariates: none of the 2 examples with kind=a has an event (nor has 'sex=0'): in Cox's")
    with pytest.warns(UserWarning, match="none of the 3 examples with sex=1 has an event: in Cox's"):
        warn_without_events(found, np.array([True, False, True, False, True, False]))


class Known:
    def __init__(self, covariates):
        self.covariate_columns_, self.covariate_names_ = covariates.columns, covariates.names


def test_new_covariates_are_read_by_name_and_an_array_by_place():
    table = {"dose": [1.0, 2, 4, 8, 3, 7], "kind": list("abcaab"), "age": [5, 6, 6, 9, 2, 7]}
    model = Known(check_covariates(table, 6, np.ones(6)))
    assert model.covariate_names_ == ["dose", "kind=b", "kind=c", "age"]
    new = {"age": [7, 8], "extra": ["?", "?"], "kind": ["c", "a"], "dose": [3, 0]}
    expected = [[3, 0, 1, 7], [0, 0, 0, 8]]
    for given in (new, pd.DataFrame(new), pd.DataFrame(new)[["kind", "dose", "age"]]):
        np.testing.assert_array_equal(new_covariates(model, given, 2), expected)
    np.testing.assert_array_equal(new_covariates(model, np.array([[3, "c", 7], [0, "a", 8]], object), 2), expected)
    numbers = Known(check_covariates(np.column_stack([table["dose"], table["age"]]), 6, np.ones(6)))
    np.testing.assert_array_equal(new_covariates(numbers, np.array([[3, 7], [0, 8]]), 2), [[3, 7], [0, 8]])
    given = Covariates(np.eye(2), [], {})
    assert new_covariates(numbers, given, 2) is given.Z
    with pytest.raises(ValueError, match="covariates lacks 'kind', 'age': give the columns 'dose', 'kind', 'age'"):
        new_covariates(model, {"dose": [1, 2]}, 2)
    strange = {**new, "kind": ["q", "c"]}
    with pytest.raises(ValueError, match=r"'kind' has \['q'\], not seen in fit"):
        new_covariates(model, strange, 2)


def test_a_column_that_varies_only_without_weight_or_far_from_0_is_told_apart():
    weight = np.array([1.0, 1, 1, 1, 0])
    table = {"still": np.array([3.0, 3, 3, 3, 9]), "far": 1e6 + np.arange(5.0), "big": np.array([0.0, 1, 0, 2, 1e15])}
    with pytest.warns(UserWarning, match="dropped 'still', constant"):
        found = check_covariates(table, 5, weight)
    assert found.names == ["far", "big"] and found.Z.shape == (5, 2)
