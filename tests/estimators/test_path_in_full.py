"""The table and the picture of a path hold the numbers of its points, each under its own name."""

import matplotlib
import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Linear

matplotlib.use("Agg")
rng = np.random.default_rng(2)
X = rng.normal(size=(60, 3))
y = np.sin(X[:, 0]) + X[:, 1] + 0.3 * rng.normal(size=60)
KERNELS = [("wide", RBF(0.1), [0]), ("line", Linear(), [1]), ("noise", RBF(1.0), [2])]
CS, NORMS = [3.0, 0.02, 0.3], [1, 4 / 3]


@pytest.fixture(scope="module")
def path():
    return MKLRegressor(KERNELS, tol=1e-6, loss="epsilon_insensitive").path(X, y, Cs=CS, regularizer=NORMS)


def test_rows_of_the_table_are_the_points(path):
    frame, row = path.to_frame(), 0
    assert list(frame.columns[:2]) == ["regularizer", "C"]
    assert path.score_on == "training data" and path.kernel_names == ["wide", "line", "noise"]
    for r, norm in enumerate(NORMS):
        for k, C in enumerate(sorted(CS)):
            alone = MKLRegressor(KERNELS, tol=1e-6, C=C, regularizer=norm, loss="epsilon_insensitive").fit(X, y)
            seen = frame.iloc[row]
            assert seen["regularizer"] == str(path.regularizers[r]) and seen["C"] == C
            for name in ("objective", "duality_gap", "score", "n_support", "n_iter"):
                assert seen[name] == getattr(path, name)[r, k]
            assert seen["n_kernels"] == (path.weights[r, k] > 0).sum()
            np.testing.assert_array_equal(seen[path.kernel_names].to_numpy(float), path.weights[r, k])
            assert abs(path.n_support[r, k] - len(alone.support_)) <= 1 and 0 <= path.duality_gap[r, k] <= 1e-6
            assert path.score[r, k] == pytest.approx(alone.score(X, y), abs=2e-3)
            row += 1
    assert len(frame) == row == 6 and len(set(frame["regularizer"])) == 2
    assert frame["n_kernels"].nunique() > 1 and frame["n_support"].nunique() > 1


def test_the_score_is_drawn_dashed_and_small_differences_stay_small(path):
    for r in range(2):
        ax = path.plot(regularizer=r, top=2)
        right = next(one for one in ax.figure.axes if one is not ax)
        (line,) = right.get_lines()
        np.testing.assert_array_equal(line.get_xdata(), path.Cs)
        np.testing.assert_array_equal(line.get_ydata(), path.score[r])
        assert line.get_linestyle() == "--" and right.get_ylabel() == "score on the training data (dashed)"
        low, high = right.get_ylim()
        assert np.ptp(path.score[r]) > 0.02 and high - low == pytest.approx(1.1 * np.ptp(path.score[r]))
        shares = path.weights[r] / path.weights[r].sum(axis=1, keepdims=True)
        others = 1 - np.sort(shares, axis=1)[:, 1:].sum(axis=1)
        assert ax.get_xlabel() == "C" and (others.max() < 0.5)
    ax = path.plot()
    _, right = ax.figure.axes
    path.draw(ax, path.weights[0], np.array([0.9, 0.91, 0.905]), path.Cs, "C", 3)
    flat = ax.figure.axes[-1]
    assert flat is not right and flat.get_ylim() == pytest.approx((0.81, 0.92))


def test_points_of_other_examples_are_scored_with_their_covariates():
    age = rng.normal(size=60)
    target = y + 2 * age
    model = MKLRegressor(KERNELS)
    other = (X[:20] + 0.1, target[:20], {"age": age[:20]})
    found = model.path(X, target, Cs=CS, covariates={"age": age}, test=other)
    assert found.score_on == "test data"
    for k, C in enumerate(sorted(CS)):
        alone = MKLRegressor(KERNELS, C=C).fit(X, target, covariates={"age": age})
        expected = alone.score(other[0], other[1], covariates=other[2])
        assert found.score[0, k] == pytest.approx(expected, abs=5e-3)
    with pytest.raises(ValueError, match=r"give \(X, y, covariates\) of other"):
        model.path(X, target, Cs=CS, covariates={"age": age}, test=other[:2])


def test_weights_of_classes_are_their_mean_and_supports_are_counted_once():
    labels = np.digitize(y, [-0.7, 0.7])
    model = MKLClassifier(KERNELS, tol=1e-5, C=0.3)
    found, alone = model.path(X, labels, Cs=[0.3]), model.fit(X, labels)
    assert alone.kernel_weights_.shape == (3, 3)
    np.testing.assert_allclose(found.weights[0, 0], alone.kernel_weights_.mean(axis=0), atol=1e-3)
    assert abs(found.n_support[0, 0] - len(alone.support_)) <= 1
    assert found.objective[0, 0] == pytest.approx(alone.objective_, rel=1e-4)
