"""Relevance at its edges: joint drops, equal classes, names, weights of 0, and requests that are refused."""

from types import SimpleNamespace

import numpy as np
import pandas as pd

from manykernels import MKLRegressor
from manykernels.inspect import relevance
from manykernels.inspect.held_out import find_groups
from manykernels.inspect.relevance_result import Relevance
from manykernels.inspect.sources import (
    Row,
)
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(21)


def test_relevance_tells_its_covariates_its_groups_and_what_shares_columns():
    X = rng.normal(size=(36, 5))
    Z = pd.DataFrame({"site": list("abc") * 12})
    model = MKLRegressor([("all", RBF(0.1), [0, 1, 2, 3]), ("two", Linear(), [2, 3]), ("last", Linear(), [4])], C=1.0)
    sources = {"all": [0], "two": [1], "last": [2]}
    seen = []
    cut = dict(cv=3, groups=np.arange(36) % 6, n_permutations=1, sources=sources, kernels=False)
    found = relevance(model, X, X[:, 0], covariates=Z, refits=1, scoring=lambda m, X, y: seen.append(y) or -1.0, **cut)
    assert found.covariates == ["site"] and found.overlapping == [["all", "two"]] and found.scoring == "lambda"
    assert [one.name for one in found.shared] == ["all"] and found.refitted.sum() == 1
    place = {float(value): group for value, group in zip(X[:, 0], cut["groups"], strict=True)}
    assert {len({place[float(v)] for v in y}) for y in seen} == {2} and {len(y) for y in seen} == {12}


def test_a_single_weight_of_zero_is_no_fold_without_weight():
    X, w = rng.normal(size=(30, 2)), np.ones(30)
    w[0] = 0
    model = MKLRegressor([("a", Linear(), [0]), ("b", Linear(), [1])], C=1.0)
    found = relevance(model, X, X[:, 0], cv=3, sample_weight=w, refits=0, n_permutations=1)
    assert np.isfinite(found.score_all).all()
    plain = relevance(model, X, X[:, 0], cv=3, refits=0, n_permutations=1)
    assert (found.score_all != plain.score_all).any()


def groups_of(drops, gains, joint, between, J=5):
    """`find_groups` of sources with these drops, (m,) or (J, m), and gains; a join loses joint(members)."""
    m = len(gains)
    rows = [Row(f"s{k}", "source", np.arange(m) == k) for k in range(m)]
    noise = 0.001 * np.arange(J)[:, None]
    whole = np.full(J, 0.9)
    without, alone, half = 0.9 - np.array(drops) - noise, 0.5 + np.array(gains) + noise, np.full((J, m), 0.5)
    names, none = [row.name for row in rows], np.zeros(m)
    result = Relevance(names, ["source"] * m, whole, whole, without, whole[:, None], alone, half, none, none, 0.2, 0.0)
    found = [{"all": 0.9, "between": np.array(between), "every": k} for k in range(J)]

    def fold_of(k, every):
        def refits(rows):
            return [(None, 0.9 - joint(np.flatnonzero(row.wanted)) - 0.001 * k, None) for row in rows]

        return SimpleNamespace(refits=refits, score=float)

    return [group.names for group in find_groups(result, rows, found, fold_of, None)]


def test_groups_have_a_joint_drop_above_the_sum_of_their_drops(monkeypatch):
    near = [[1, 0.9, 0.5], [0.9, 1, 0.5], [0.5, 0.5, 1]]
    lose = {2: 0.2, 3: 0.4}
    assert groups_of([-0.01] * 3, [0.3] * 3, lambda own: lose[len(own)], near) == [["s0", "s1"]]
    assert groups_of([0.0] * 3, [0.3] * 3, lambda own: lose[len(own)], near) == [["s0", "s1"]]  # no certain drops
    assert groups_of([-0.01] * 3, [0.3] * 3, lambda own: 0.4 * (len(own) == 3), near) == [["s0", "s1", "s2"]]
    assert groups_of([0.2] * 3, [0.3] * 3, lambda own: lose[len(own)], near) == []  # each is needed by itself
    assert groups_of([-0.01] * 3, [0.3] * 3, lambda own: -0.03 * (len(own) == 2), near) == []
    wide = np.array([[0.0, 0.6], [0.0, -0.3], [0.0, 0.5], [0.0, -0.2], [0.0, 0.4]])  # the second varies much
    assert groups_of(wide, [0.3] * 2, lambda own: 0.3, [[1, 0.9], [0.9, 1]]) == []
    needed = [0.5, -0.01, -0.01]  # the first is no candidate, and its drop not one of theirs
    assert groups_of(needed, [0.3] * 3, lambda own: 0.2, near) == [["s1", "s2"]]
    monkeypatch.setattr("manykernels.inspect.held_out.MAX_CANDIDATES", 2)
    assert groups_of([-0.01] * 3, [0.1, 0.3, 0.2], lambda own: lose[len(own)], near) == [["s1", "s2"]]
