"""What is done block by block, or for some of many, is the same with small blocks as with one."""

import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.estimators import plan
from manykernels.inspect import (
    ConvergenceDisplay,
    FeatureShares,
    explain,
    explain_sequences,
    relevance,
    shares_result,
    sources,
    suggest,
)
from manykernels.kernels import RBF, Linear, alignment
from manykernels.strings import Spectrum, WeightedDegree

rng = np.random.default_rng(5)
n = 60
X = rng.normal(size=(n, 4))
Y = X[:, 0] + X[:, 1] * X[:, 2] + 0.3 * rng.normal(size=n)
THREE = np.digitize(Y, np.quantile(Y, [0.35, 0.7]))
KERNELS = [("a", RBF(0.3), [0, 1]), ("b", Linear(), [0, 1]), ("c", RBF(0.2), [2]), ("d", RBF(0.1), [3])]


@pytest.mark.parametrize("classes", [False, True])
def test_decisions_of_many_fits_are_computed_some_at_a_time(classes, monkeypatch):
    model = (MKLClassifier if classes else MKLRegressor)(KERNELS, C=1.0)
    given = dict(cv=2, n_permutations=2, kernels=True, random_state=3)
    whole = relevance(model, X, THREE if classes else Y, **given)
    monkeypatch.setattr(plan, "MAX_PARTS", 2 * n * len(KERNELS))  # of two or four functions
    some = relevance(model, X, THREE if classes else Y, **given)
    monkeypatch.setattr(plan, "MAX_PARTS", 1)
    each = relevance(model, X, THREE if classes else Y, **given)
    for name in ("all", "nothing", "without", "permuted", "alone", "alone_permuted"):
        for found in (some, each):
            np.testing.assert_allclose(vars(found)[f"score_{name}"], vars(whole)[f"score_{name}"], atol=1e-9)


@pytest.mark.parametrize("by_kernel", [False, True])
def test_copies_of_sequences_are_decided_some_at_a_time(by_kernel, monkeypatch):
    texts = ["".join(row) for row in rng.choice(list("ACGT"), (30, 6))]
    model = MKLClassifier([WeightedDegree(2), Spectrum(2, counts="sqrt")], C=1.0).fit(texts, np.arange(30) % 2)
    whole = explain_sequences(model, texts[:9], by_kernel=by_kernel)
    for most in (1, 50, 80):  # a sequence, two or three at a time, of 24 copies each
        monkeypatch.setattr(explain, "COPIES", most)
        found = explain_sequences(model, texts[:9], by_kernel=by_kernel)
        np.testing.assert_allclose(found.values, whole.values, atol=1e-12)
    monkeypatch.undo()
    single = [explain_sequences(model, [text], by_kernel=by_kernel).values[0] for text in texts[:9]]
    np.testing.assert_allclose(whole.values, single, atol=1e-12)


def test_redundancy_is_that_of_the_best_aligned_kernels(monkeypatch):
    suggestions = __import__("sys").modules[suggest.__module__]
    kernels = [("one", RBF(0.3), [0]), ("two", RBF(0.2), [0]), ("none", RBF(0.5), [3]), ("three", Linear(), [0, 2])]
    for most in (2, 3, 40):
        monkeypatch.setattr(suggestions, "MAX_COMPARED_KERNELS", most)
        found = suggest(X, Y, kernels, Cs=[1.0], cv=2)
        K = [kernel(X[:, columns]) for _, kernel, columns in kernels]
        own = [alignment(one, Y, centered=True) for one in K]
        np.testing.assert_allclose(found.alignments, own, atol=1e-6)
        top = sorted(range(4), key=lambda m: -own[m])[:most]
        pairs = [alignment(K[i], K[j], centered=True) for i in top for j in top if i != j]
        assert found.redundancy == pytest.approx(np.mean(pairs), abs=1e-6)


def test_kernels_have_rows_of_their_own_up_to_a_number(monkeypatch):
    model = MKLRegressor(KERNELS, C=1.0)
    for most, kinds in ((4, 2), (3, 0)):
        monkeypatch.setattr(sources, "MAX_KERNEL_ROWS", most)
        found = relevance(model, X, Y, cv=2, n_permutations=1)
        assert found.kinds.count("kernel") == kinds and found.kinds.count("source") == 3


def test_a_beeswarm_of_many_examples_has_dots_of_evenly_spread_ones(monkeypatch):
    pytest.importorskip("matplotlib").use("Agg")
    monkeypatch.setattr(shares_result, "MAX_DOTS", 4)
    values, data = rng.normal(size=(10, 2)), rng.normal(size=(10, 2))
    zero = np.zeros((1, 10))
    found = FeatureShares(values[None], zero, 0.5, values.sum(axis=1) + 0.5, ["u", "v"], ["s"], data, [], "")
    ax, rows = found.plot("beeswarm"), [0, 3, 6, 9]
    order = np.argsort(-np.abs(values).mean(axis=0))
    for dots, p in zip(ax.collections, order, strict=False):
        np.testing.assert_allclose(np.asarray(dots.get_offsets())[:, 0], values[rows, p])
        np.testing.assert_allclose(dots.get_array(), np.argsort(np.argsort(data[rows, p])) / 3)


def test_curves_of_many_steps_mark_their_last_certified_one():
    pytest.importorskip("matplotlib").use("Agg")
    for many in (20, 21):
        history = [{"iteration": k, "time": k / 10, "gap": 0.5**k * (k < 18), "certified": k % 2 == 0 and k < 18}
                   for k in range(many)]  # fmt: skip
        ax = ConvergenceDisplay(history, tol=1e-3, against="steps").plot().ax_
        curve, marks = ax.get_lines()[:2]
        assert curve.get_marker() == ("" if many > 20 else marks.get_marker())
        np.testing.assert_array_equal(curve.get_xdata(), np.arange(many))
        np.testing.assert_allclose(curve.get_ydata()[-2:], 1e-16)  # a gap of 0
        done = [16] if many > 20 else list(range(0, 18, 2))
        np.testing.assert_array_equal(marks.get_xdata(), done)
        np.testing.assert_allclose(marks.get_ydata(), 0.5 ** np.array(done))
