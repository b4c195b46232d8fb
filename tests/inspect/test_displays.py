"""Pictures show the numbers they are made of, say what they leave out, and refuse what they cannot show."""

import copy

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

matplotlib = pytest.importorskip("matplotlib")
matplotlib.use("Agg")
import matplotlib.pyplot as plt  # noqa: E402

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor, inspect  # noqa: E402
from manykernels._pictures import shorts  # noqa: E402
from manykernels.inspect import (  # noqa: E402
    AlignmentDisplay,
    ConvergenceDisplay,
    DecisionDisplay,
    PathDisplay,
    ReliabilityDisplay,
    StabilityDisplay,
    WeightsAlongDisplay,
    WeightsDisplay,
)
from manykernels.kernels import RBF, Linear, alignment  # noqa: E402
from manykernels.regularizers import EmpiricalBayes  # noqa: E402

X, LABELS = load_wine(return_X_y=True)
X = scale(X)
Y = LABELS > 0
KERNELS = [("acids", RBF(gamma=0.3), [1, 2, 3]), ("sharp", RBF(gamma=3.0), [1, 2, 3]), ("colour", Linear(), [9, 10])]
MANY = [(f"{c} at {g:.2g}", RBF(gamma=g), [c]) for c in range(13) for g in (0.1, 1.0, 10.0)]


@pytest.fixture(scope="module")
def two():
    return MKLClassifier(KERNELS, C=1.0).fit(X, Y)


@pytest.fixture(scope="module")
def three():
    return MKLClassifier(KERNELS, C=1.0).fit(X, LABELS)


@pytest.fixture(scope="module")
def many():
    return MKLClassifier(MANY, C=1.0).fit(X, Y)


def shares(model):
    theta = np.atleast_2d(model.kernel_weights_)
    return theta / theta.sum(axis=1, keepdims=True)


def labels(ax, axis="y"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def widths(ax):
    return [bar.get_width() for bar in ax.patches]


def test_bars_are_the_shares_of_kernels_and_of_sources(two):
    shown = WeightsDisplay.from_estimator(two)
    own = dict(zip(two.kernel_names_, shares(two)[0], strict=True))
    np.testing.assert_allclose(widths(shown.ax_), sorted(own.values())[::-1])
    assert [own[name] for name in labels(shown.ax_)] == widths(shown.ax_)
    assert shown.figure_ is shown.ax_.figure and not shown.ax_.get_title(loc="right")
    by = WeightsDisplay.from_estimator(two, by="source", sources={"both": ["acids", "sharp"], "colour": 2})
    found = dict(zip(labels(by.ax_), widths(by.ax_), strict=True))
    assert found["both"] == pytest.approx(own["acids"] + own["sharp"]) and found["colour"] == pytest.approx(
        own["colour"]
    )
    usual = WeightsDisplay.from_estimator(two, by="source")
    assert sorted(widths(usual.ax_)) == pytest.approx(sorted(widths(by.ax_)))


def test_what_is_left_out_is_said(many):
    shown = WeightsDisplay.from_estimator(many, top=5)
    own = np.sort(shares(many)[0])[::-1]
    assert len(widths(shown.ax_)) == 5
    alive = np.count_nonzero(own)
    assert (
        shown.ax_.get_title(loc="right")
        == f"5 of {alive} kernels; the others hold {1 - own[:5].sum():.0%} of the weight"
    )
    assert inspect.plot_weights(many, top=5).get_title(loc="right") == shown.ax_.get_title(loc="right")
    assert AlignmentDisplay.from_estimator(many, X, Y, top=4).ax_.get_title(loc="right").startswith("4 of 39 kernels")
    assert WeightsAlongDisplay.from_estimator(many, top=2).ax_.get_title(loc="right").startswith("2 of 13 curves")
    boot = np.tile(many.kernel_weights_, (3, 1))
    said = StabilityDisplay.from_weights(boot, many, top=5).ax_.get_title(loc="right")
    assert said == shown.ax_.get_title(loc="right")
    legend = DecisionDisplay.from_estimator(many, X, [0], top=3).ax_.get_legend().get_texts()
    assert f"{alive - 3} other kernels" in [text.get_text() for text in legend]


def test_classes_are_columns_of_a_map_or_images_on_a_grid(three):
    shown = WeightsDisplay.from_estimator(three)
    order = [list(three.kernel_names_).index(name) for name in labels(shown.ax_)]
    np.testing.assert_allclose(shown.ax_.images[0].get_array(), shares(three)[:, order].T)
    assert labels(shown.ax_, "x") == ["0", "1", "2"]
    images = np.random.default_rng(0).random((3, 4, 4))
    shown = WeightsDisplay.from_estimator(three, layout=(3, 1), images=images)
    assert shown.axes_.shape == (2, 3) and shown.axes_[0, 2].get_title() == "2"
    np.testing.assert_allclose(shown.axes_[0, 2].images[0].get_array(), images[2])
    np.testing.assert_allclose(shown.axes_[1, 2].images[0].get_array(), shares(three)[2][:, None])
    flat = WeightsDisplay.from_estimator(three, per_class=False)
    mean = three.kernel_weights_.mean(axis=0)
    np.testing.assert_allclose(widths(flat.ax_), np.sort(mean / mean.sum())[::-1])


def test_relevance_stands_beside_the_weights(two):
    found = inspect.relevance(two, X, Y, cv=3)
    shown = WeightsDisplay.from_estimator(two, relevance=found)
    assert shown.axes_.shape == (1, 2)
    line = shown.axes_[0, 1].get_lines()[0]
    means = found.measure("relevance").mean
    np.testing.assert_allclose(line.get_xdata(), [means[found.row(name)] for name in labels(shown.ax_)])
    axes = plt.subplots(1, 2)[1]
    own = WeightsDisplay.from_relevance(found, ax=axes[1])
    assert own.figure_ is axes[1].figure and not axes[1].axison
    np.testing.assert_allclose(widths(own.ax_), np.sort(found.weights[found.of_kind("source")])[::-1])
    assert found.plot(top=1).get_title(loc="right") == "1 of 2 sources"
    kernels = found.of_kind("kernel")
    told = [label.get_text() for label in found.plot(kind="kernel").get_yticklabels()]
    assert len(told) == len(kernels) == 2 and list(kernels) != [0, 1]
    for text, m in zip(told, kernels, strict=True):
        assert text.startswith(found.names[m][:20]) and text.endswith(f"({found.weights[m]:.0%} of weight)")


def test_weights_stand_at_the_value_of_their_parameter(two, three):
    shown = WeightsAlongDisplay.from_estimator(two)
    (line,) = shown.ax_.get_lines()
    assert line.get_xdata().tolist() == [0.3, 3.0]
    np.testing.assert_allclose(line.get_ydata(), shares(two)[0, :2])
    line = WeightsAlongDisplay.from_estimator(three, output=2).ax_.get_lines()[0]
    np.testing.assert_allclose(line.get_ydata(), shares(three)[2, :2])


def test_the_heat_map_shows_centred_alignments(two):
    shown = AlignmentDisplay.from_estimator(two, X, Y)
    views = [RBF(gamma=0.3)(X[:, [1, 2, 3]]), RBF(gamma=3.0)(X[:, [1, 2, 3]]), X[:, [9, 10]] @ X[:, [9, 10]].T]
    want = [[alignment(K, L, centered=True) for L in views] for K in views]
    np.testing.assert_allclose(shown.alignments, want, atol=1e-5)
    np.testing.assert_allclose(
        shown.ax_.images[0].get_array(), np.array(want)[np.ix_(shown.order, shown.order)], atol=1e-5
    )
    target = [alignment(K, np.where(Y, 1.0, -1.0), centered=True) for K in views]
    np.testing.assert_allclose(widths(shown.axes_[0, 1]), np.array(target)[shown.order], atol=1e-5)
    assert labels(shown.ax_) == [two.kernel_names_[m] for m in shown.order]
    assert AlignmentDisplay.from_estimator(two, X).axes_.shape == (1, 1)


def test_alike_kernels_are_neighbours():
    block = np.kron(np.eye(3), np.ones((4, 4))) * 0.8 + 0.2
    mixed = np.random.default_rng(0).permutation(12)
    found = AlignmentDisplay(block[np.ix_(mixed, mixed)], list("abcdefghijkl"))
    group = mixed[found.order] // 4
    assert np.count_nonzero(np.diff(group)) == 2


def test_a_path_is_drawn_against_C_and_against_the_norm():
    path = MKLClassifier(KERNELS).path(X, Y, Cs=[0.1, 1, 10], regularizer=[1, 2, np.inf])
    shown = PathDisplay.from_path(path, at=1)
    own = path.weights[1] / path.weights[1].sum(axis=1, keepdims=True)
    for line in shown.ax_.get_lines():
        np.testing.assert_allclose(line.get_ydata(), own[:, path.kernel_names.index(line.get_label())])
        np.testing.assert_allclose(line.get_xdata(), path.Cs)
    shown = PathDisplay.from_path(path, against="p", at=2)
    assert labels(shown.ax_, "x") == ["1", "2", "∞"] and shown.ax_.get_xlabel() == "regularizer, at C = 10"
    own = path.weights[:, 2] / path.weights[:, 2].sum(axis=1, keepdims=True)
    for line in shown.ax_.get_lines():
        np.testing.assert_allclose(line.get_ydata(), own[:, path.kernel_names.index(line.get_label())])
    assert PathDisplay(path).at == path.score.max(axis=1).argmax()


def test_convergence_is_the_gap_of_each_step_of_each_class(three):
    shown = ConvergenceDisplay.from_estimator(three, against="steps", top=2)
    drawn = sorted(tuple(line.get_ydata()) for line in shown.ax_.get_lines() if line.get_linewidth() == 1.3)
    assert drawn == sorted(tuple(s["gap"] for s in three.history_ if s["class"] == label) for label in range(3))
    assert shown.ax_.get_title(loc="right") == "2 of 3 classes named, the slowest; the others grey"
    bayes = MKLRegressor(KERNELS, loss="squared", regularizer=EmpiricalBayes("learn")).fit(X, X[:, 0])
    assert ConvergenceDisplay.from_estimator(bayes).ax_.get_ylabel() == "distance from stationary"


@pytest.mark.parametrize("top", [1, 2, 6])
def test_stacked_parts_sum_to_the_decision(two, three, top):
    shown = DecisionDisplay.from_estimator(two, X, [5, 150], top=top)
    np.testing.assert_allclose(shown.decisions, two.decision_function(X[[5, 150]]))
    ends = np.zeros(2)
    for bar in shown.ax_.patches:
        ends[round(bar.get_y() + bar.get_height() / 2)] += bar.get_width()
    np.testing.assert_allclose(ends, shown.decisions)
    assert labels(shown.ax_) == ["5 → False", "150 → True"]
    shown = DecisionDisplay.from_estimator(three, X, [5, 150], by="source", top=top)
    np.testing.assert_allclose(shown.decisions, three.decision_function(X[[5, 150]]).max(axis=1))
    moved = copy.copy(three)
    moved.intercept_ = three.intercept_ + [0.0, 5.0, 0.0]  # which decides the class
    shown = DecisionDisplay.from_estimator(moved, X, [5, 150], top=top)
    np.testing.assert_allclose(shown.decisions, moved.decision_function(X[[5, 150]]).max(axis=1))
    one = DecisionDisplay.from_estimator(three, X, output=1)
    np.testing.assert_allclose(one.decisions, three.decision_function(X[:10])[:, 1])


def test_reliability_takes_probabilities_where_there_are_any(two, three):
    logistic = MKLClassifier(KERNELS, loss="logistic").fit(X, Y)
    shown = ReliabilityDisplay.from_estimator(logistic, X, Y)
    assert shown.probability and shown.ax_.get_xlabel() == "probability of class True"
    shown = ReliabilityDisplay.from_estimator(three, X, LABELS, n_bins=4)
    assert shown.ax_.get_xlabel() == "decision for the predicted class"
    np.testing.assert_allclose(shown.frequency @ shown.counts / len(X), three.score(X, LABELS))
    with pytest.raises(ValueError, match="response='predict_proba': this MKLClassifier has none"):
        ReliabilityDisplay.from_estimator(two, X, Y, response="predict_proba")


def test_stability_shows_the_interval_of_the_samples(two, three):
    shown = StabilityDisplay.from_estimator(two, X, Y, n_boot=4, level=0.5)
    boot = inspect.bootstrap_weights(two, X, Y, n_boot=4)
    boot /= boot.sum(axis=1, keepdims=True)
    low, high = np.quantile(boot, [0.25, 0.75], axis=0)
    order = np.argsort(-boot.mean(axis=0))
    np.testing.assert_allclose(widths(shown.ax_), (high - low)[order])
    np.testing.assert_allclose([bar.get_x() for bar in shown.ax_.patches], low[order])
    np.testing.assert_allclose(shown.fitted, shares(two)[0])
    boot = np.stack([three.kernel_weights_, three.kernel_weights_ * [1, 0, 1]])
    shown = StabilityDisplay.from_weights(boot, three, output=1)
    assert shown.selected.tolist() == [1, 0.5, 1] and [text.get_text() for text in shown.ax_.texts] == ["weight in 50%"]


@pytest.mark.parametrize("output", [None, 0, 1, 2])
def test_stability_compares_samples_of_a_class_with_its_own_weights(three, output):
    weights = three.kernel_weights_.mean(axis=0) if output is None else three.kernel_weights_[output]
    shown = StabilityDisplay.from_weights(three.kernel_weights_[None], three, output=output)
    np.testing.assert_allclose(shown.fitted, weights / weights.sum())
    np.testing.assert_allclose(shown.shares, [shown.fitted])  # one sample: the model itself


def test_names_that_would_be_the_same_are_not_shortened():
    long = ["a" * 40 + x + "b" * 40 for x in "cd"]
    assert shorts(long, 20) == long and len(shorts([*long, "e" * 90], 20)[2]) == 20


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda two, three: WeightsDisplay.from_estimator(two, by="view"), "by='view': choose 'kernel' or 'source'"),
        (lambda two, three: WeightsDisplay.from_estimator(two, sources={"a": 0}), "no effect with by='kernel'"),
        (lambda two, three: WeightsDisplay.from_estimator(two, top=0), "top=0"),
        (lambda two, three: WeightsDisplay.from_estimator(two, per_class=True), "one vector of weights"),
        (lambda two, three: WeightsDisplay.from_estimator(three, layout=(2, 2)), r"layout=\(2, 2\) has no place"),
        (lambda two, three: WeightsDisplay.from_estimator(three, images=X), "images needs layout"),
        (lambda two, three: WeightsDisplay.from_estimator(three, layout=(1, 3), images=X), "images has shape"),
        (lambda two, three: WeightsAlongDisplay.from_estimator(two, "shift"), "parameter='shift' is no number"),
        (lambda two, three: WeightsAlongDisplay.from_estimator(three, output=7), "output=7 is no output of the model"),
        (lambda two, three: WeightsAlongDisplay.from_estimator(two, output=1), "one vector of weights"),
        (lambda two, three: AlignmentDisplay(np.eye(2), ["a"]), r"alignments has shape \(2, 2\): give \(1 names"),
        (lambda two, three: PathDisplay(two), "path is a MKLClassifier"),
        (lambda two, three: ConvergenceDisplay.from_estimator(two, against="gap"), "against='gap'"),
        (lambda two, three: ConvergenceDisplay([]), "history is empty"),
        (lambda two, three: DecisionDisplay.from_estimator(two, X, [200]), "examples=.*from 0 to 177"),
        (lambda two, three: DecisionDisplay.from_estimator(two, X, output=1), "the model has one decision"),
        (lambda two, three: ReliabilityDisplay.from_predictions([0, 2], [0.1, 0.2]), "y_true holds"),
        (lambda two, three: ReliabilityDisplay.from_predictions([0, 1], [0.1, 2]), "probabilities lie in"),
        (lambda two, three: StabilityDisplay.from_weights(np.ones((2, 4)), two), r"boot has shape \(2, 4\)"),
        (lambda two, three: StabilityDisplay.from_weights(np.ones((2, 3)), two, level=2), "level=2"),
    ],
)  # fmt: skip
def test_what_cannot_be_shown_is_refused(two, three, call, said):
    with pytest.raises(ValueError, match=said):
        call(two, three)


def test_a_search_of_ours_shows_its_best_model():
    search = MKLClassifierCV(KERNELS, Cs=[1.0], cv=2).fit(X, Y)
    own = np.sort(shares(search.best_estimator_)[0])[::-1]
    np.testing.assert_allclose(widths(WeightsDisplay.from_estimator(search).ax_), own)
