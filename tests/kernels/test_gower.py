"""Gower's kernel of mixed tables: its formula, positive semidefinite, missing entries, in a fit."""

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, load
from manykernels.inspect import feature_shares
from manykernels.kernels import RBF, Gower, On


def mixed(n=40, missing=0.0, seed=0):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({
        "age": rng.normal(60, 9, n), "sex": rng.choice(["m", "f"], n), "stage": rng.integers(1, 5, n),
        "smoker": rng.random(n) > 0.5, "site": rng.choice(["A", "B", "C"], n),
    }).astype(object)  # fmt: skip
    return frame.mask(pd.DataFrame(rng.random(frame.shape) < missing, columns=frame.columns))


def by_definition(X, Y):
    """Σ_j s_j / √(d_x d_y), entry by entry, with the ranges of X."""
    K = np.zeros((len(X), len(Y)))
    known = [[[not pd.isna(v) for v in row] for row in Z.to_numpy()] for Z in (X, Y)]
    numbers = {"age", "stage", "smoker"}
    for i, x in enumerate(X.to_dict("records")):
        for k, y in enumerate(Y.to_dict("records")):
            for name in X.columns:
                if pd.isna(x[name]) or pd.isna(y[name]):
                    continue
                if name not in numbers:
                    K[i, k] += x[name] == y[name]
                    continue
                low, high = (float(f(X[name].dropna())) for f in (min, max))
                u, v = (np.clip(float(z[name]), low, high) for z in (x, y))
                K[i, k] += 1 - abs(u - v) / (high - low)
            K[i, k] /= np.sqrt(sum(known[0][i]) * sum(known[1][k])) or 1
    return K


@pytest.mark.parametrize("missing", [0.0, 0.3])
def test_values_equal_the_definition(missing):
    X, Y = mixed(12, missing), mixed(6, missing, seed=1)
    np.testing.assert_allclose(Gower()(X, Y), by_definition(X, Y), atol=1e-12)
    np.testing.assert_allclose(Gower()(X), by_definition(X, X), atol=1e-12)
    np.testing.assert_allclose(Gower().diag(X), np.diag(Gower()(X)), atol=1e-12)


def test_the_kernel_is_positive_semidefinite_and_the_mean_over_common_columns_is_not():
    lowest, of_pairs = [], []
    for seed in range(30):
        X = mixed(30, missing=0.5, seed=seed)
        lowest.append(np.linalg.eigvalsh(Gower()(X)).min())
        known = (~X.isna()).to_numpy().astype(float)
        both = known @ known.T
        sums = Gower()(X) * np.sqrt(np.outer(known.sum(axis=1), known.sum(axis=1)))
        of_pairs.append(np.linalg.eigvalsh(np.divide(sums, both, out=np.zeros_like(sums), where=both > 0)).min())
    assert min(lowest) > -1e-10
    assert min(of_pairs) < -0.01


def test_a_new_category_differs_from_all_and_numbers_outside_the_range_count_as_its_ends():
    X = [[1.0, "a"], [3.0, "b"]]
    np.testing.assert_allclose(Gower()(X, [[9.0, "c"], [np.nan, "a"], [None, None]]), [
        [0.0, 2**-0.5, 0.0], [0.5, 0.0, 0.0]])  # fmt: skip
    np.testing.assert_allclose(Gower()([["a", 1], ["b", 1]]), [[1, 0.5], [0.5, 1]])  # a column without range


def test_a_model_with_missing_entries_predicts_is_saved_and_has_shares_that_sum_to_the_decision(tmp_path):
    X = mixed(60, missing=0.2)
    y = (X["sex"] == "m").to_numpy() ^ (X["stage"].fillna(2) > 2).to_numpy(bool)
    kernels = [
        ("clinic", Gower()),
        ("by site", On(["age", "smoker"], Gower()) * On(["stage"], RBF(), Gower().split()[0])),
    ]
    model = MKLClassifier(kernels, C=1.0, regularizer=2).fit(X, y)
    model.save(tmp_path / "model.mkl")
    f = model.decision_function(X)
    np.testing.assert_allclose(load(tmp_path / "model.mkl").decision_function(X), f, atol=1e-12)
    for background in (None, X[:5]):
        found = feature_shares(model, X, background=background)
        np.testing.assert_allclose(found.base + found.values.sum(axis=1), f, atol=1e-10)
        assert set(found.names) == set(X.columns)


def test_codes_are_categories_where_they_are_named(tmp_path):
    """The same kernel as that of the codes as texts; positions that are no columns are an error."""
    frame = mixed(missing=0.2)
    texts = frame.assign(stage=[None if pd.isna(v) else f"stage {v}" for v in frame.stage])
    np.testing.assert_allclose(Gower([2])(frame), Gower()(texts))
    assert not np.allclose(Gower()(frame), Gower()(texts))
    model = MKLClassifier([("all", Gower([2]))], C=1.0).fit(frame, frame.age.isna())
    model.save(tmp_path / "m.mk")
    np.testing.assert_array_equal(load(tmp_path / "m.mk").decision_function(frame), model.decision_function(frame))
    for wrong in ([5], ["stage"], "stage", [True], 2):
        with pytest.raises(ValueError, match="categories=.*positions of columns"):
            MKLClassifier([("all", Gower(wrong))], C=1.0).fit(frame, frame.age.isna())
