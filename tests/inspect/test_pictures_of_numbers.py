"""Pictures of numbers that are made up: no fit hides a wrong row, unit or note."""

from types import SimpleNamespace

import matplotlib.pyplot as plt
import numpy as np
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.inspect import (
    AlignmentDisplay,
    ConvergenceDisplay,
    DecisionDisplay,
    FeatureShares,
    PathDisplay,
    ReliabilityDisplay,
    StabilityDisplay,
    WeightsAlongDisplay,
    WeightsDisplay,
)
from manykernels.inspect.displays.alignment_display import _measure
from manykernels.inspect.displays.base import class_names, weights_of
from manykernels.inspect.displays.decision_display import _rows, one_output
from manykernels.inspect.metric import column_shares, mean_shares, said
from manykernels.inspect.tables import top_weights, weights_table
from manykernels.kernels import RBF, Linear

rng = np.random.default_rng(9)


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


def texts(ax, axis="y"):
    return [label.get_text() for label in getattr(ax, f"get_{axis}ticklabels")()]


def note(ax):
    return ax.get_title(loc="right")


def test_curves_along_a_parameter_add_up_and_note_what_has_none():
    values, shares = [1.0, 1.0, 2.0, np.nan], [0.25, 0.125, 0.5, 0.125]
    shown = WeightsAlongDisplay(values, shares, ["a"] * 4, "degree").plot()
    (line,) = shown.ax_.get_lines()
    assert line.get_xdata().tolist() == [1, 2] and line.get_ydata().tolist() == [0.375, 0.5]
    assert note(shown.ax_) == "12% of the weight is on kernels without it" and shown.ax_.get_xlabel() == "degree"
    assert shown.ax_.get_xscale() == "linear"
    assert WeightsAlongDisplay([0.0, 30.0], [0.5, 0.5], ["a", "a"]).plot().ax_.get_xscale() == "linear"
    shown = WeightsAlongDisplay([1, 1, 1], [0.5, 0.375, 0.125], list("abc"), top=2).plot()
    assert note(shown.ax_) == "2 of 3 curves; the others hold 12% of the weight"


def test_curves_are_named_by_their_columns_and_by_their_kernels_if_several_have_the_parameter():
    X = rng.normal(size=(30, 3))
    rows = [(f"r{k}", RBF(g), [0]) for k, g in enumerate((0.1, 1.0))]
    one = MKLClassifier([*rows, ("l", Linear(), [1])], C=1.0, regularizer=2).fit(X, np.arange(30) % 3)
    shown = WeightsAlongDisplay.from_estimator(one)
    assert set(shown.groups) == {"column 0", "column 1"}
    theta = one.kernel_weights_ / one.kernel_weights_.sum(axis=1, keepdims=True)
    mean = one.kernel_weights_.mean(axis=0)
    np.testing.assert_allclose(shown.shares, mean / mean.sum())
    np.testing.assert_allclose(WeightsAlongDisplay.from_estimator(one, output=2).shares, theta[2])
    np.testing.assert_allclose(weights_of(one), mean)


def test_names_of_outputs():
    model = MKLRegressor()
    for b, expected in ((np.zeros(1), []), (np.zeros(3), ["0", "1", "2"])):
        model.intercept_ = b
        assert class_names(model) == expected
    model = MKLClassifier()
    for classes, expected in ((["u", "v", "w"], ["u", "v", "w"]), ([0, 1], ["0", "1", "2"])):  # labels of three outputs
        model.classes_, model.intercept_ = np.array(classes), np.zeros(3)
        assert class_names(model) == expected


def history(*runs):
    """Steps (time, gap, certified) of several classes."""
    return [
        {"class": label, "iteration": k, "time": t, "gap": gap, "stationarity": 0.5, "certified": sure}
        for label, run in zip("uvw", runs, strict=False)
        for k, (t, gap, sure) in enumerate(run)
    ]


def test_convergence_has_a_curve_for_each_class_the_slowest_first():
    steps = history([(0.0, 1.0, True), (1.0, 0.1, False), (2.0, 0.0, True)], [(0.0, 0.5, True), (9.0, 0.25, True)])
    shown = ConvergenceDisplay(steps, 1e-3)
    shown.plot()
    lines = {line.get_label(): line for line in shown.ax_.get_lines() if line.get_label().startswith("class")}
    assert lines["class u"].get_xdata().tolist() == [0, 1, 2] and lines["class u"].get_ydata().tolist()[2] == 1e-16
    assert lines["class v"].get_xdata().tolist() == [0, 9] and shown.ax_.get_xlabel() == "seconds"
    assert lines["class v"].get_color() == "#0072B2" and lines["class u"].get_color() == "#D55E00"
    dots = [line.get_xdata().tolist() for line in shown.ax_.get_lines() if line.get_linestyle() == "None"]
    assert sorted(map(len, dots)) == [2, 2] and [0, 2] in dots  # steps without a certificate are not filled
    assert note(shown.ax_) == ""
    again = ConvergenceDisplay(steps, against="steps", name="other").plot(shown.ax_)
    third = [line for line in again.ax_.get_lines() if line.get_label() == "other, class u"]
    assert third[0].get_xdata().tolist() == [0, 1, 2] and third[0].get_color() not in ("#0072B2", "#D55E00")
    assert again.ax_.get_xlabel() == "steps"


def test_convergence_names_as_many_classes_as_asked_for_and_takes_a_gap_where_there_is_one():
    steps = history(*([(0.0, 1.0, True), (float(k), 0.1, True)] for k in (1, 2, 3)))
    assert note(ConvergenceDisplay(steps, top=3).plot().ax_) == ""
    assert note(ConvergenceDisplay(steps, top=2).plot().ax_).startswith("2 of 3 classes named")
    steps[0]["gap"] = np.nan
    assert ConvergenceDisplay(steps).plot().ax_.get_ylabel() == "relative duality gap"


def test_intervals_of_frequencies_are_wilsons():
    p, true = np.linspace(0.01, 0.99, 40), rng.random(40) < 0.4
    for bins in (1, 2, 4):
        shown = ReliabilityDisplay(p, true, bins)
        assert shown.counts.tolist() == [40 // bins] * bins
        parts = np.split(np.arange(40), bins)
        np.testing.assert_allclose(shown.mean, [p[part].mean() for part in parts])
        np.testing.assert_allclose(shown.frequency, [true[part].mean() for part in parts])
        for end in (shown.low, shown.high):  # at the ends the frequency is 1.96 standard deviations away
            np.testing.assert_allclose((shown.frequency - end) ** 2, 1.959964**2 * end * (1 - end) / shown.counts)
    none = ReliabilityDisplay(p[:5], np.zeros(5), 1)
    assert none.low[0] == 0 and 0 < none.high[0] < 1
    shown = ReliabilityDisplay.from_predictions(true, p, n_bins=4, name="own")
    assert len(shown.counts) == 4 and shown.name == "own"
    far = ReliabilityDisplay(np.linspace(-3, 3, 20), np.arange(20) > 9, 2, probability=False)
    assert far.frequency.tolist() == [0, 1]


def test_reliability_of_two_classes_is_that_of_the_second():
    model = MKLClassifier([RBF(0.5)], C=1.0).fit(X := rng.normal(size=(30, 1)), y := np.where(X[:, 0] > 0, "yes", "no"))
    shown = ReliabilityDisplay.from_estimator(model, X, y, n_bins=2)
    assert shown.event == "class yes" and shown.frequency[0] < shown.frequency[1]


def test_parts_of_decisions_are_stacked_by_their_size():
    parts = np.array([[3.0, -1.0, 0.5, 0.0], [-3.0, -1.5, 0.5, 0.0]])
    shown = DecisionDisplay(parts, [0.25, -0.25], list("abcd"), top=1, what="sources").plot()
    assert shown.decisions.tolist() == [2.75, -4.25]
    labels = [text.get_text() for text in shown.ax_.get_legend().get_texts()]
    assert set(labels) == {"their sum", "a", "2 other sources", "intercept"}
    plain = DecisionDisplay(parts, 0.0, list("abcd"), top=4).plot()
    assert "intercept" not in [text.get_text() for text in plain.ax_.get_legend().get_texts()]
    assert _rows([-1, 0], 5).tolist() == [4, 0] and _rows(None, 30).tolist() == list(range(10))


def test_the_output_of_a_decision_is_the_class_that_is_predicted():
    model = MKLClassifier()
    model.classes_, model.intercept_, model.multilabel_ = np.array(["u", "v", "w"]), np.array([0.0, 5.0, 1.0]), False
    parts = np.array([[[1.0, 1.0], [0.0, 0.0], [2.0, 1.0]], [[9.0, 1.0], [0.0, 0.0], [0.0, 0.0]]])  # (n, T, M)
    (own, b), labels, label = one_output(model, parts, None)
    assert labels == ["v", "u"] and b.tolist() == [5.0, 0.0] and own.tolist() == [[0.0, 0.0], [9.0, 1.0]]
    (own, b), labels, label = one_output(model, parts, "v")
    assert b.tolist() == [5.0, 5.0] and label == "decision for v" and not own.any()
    model.multilabel_ = True
    with pytest.raises(ValueError, match="has 3 outputs"):
        one_output(model, parts, None)
    model.classes_, model.intercept_ = np.array(["no", "yes"]), np.array([-1.0])
    _, labels, label = one_output(model, np.array([[1.0], [1.5]]), None)
    assert labels == ["no", "yes"] and label == "decision for yes against no"  # a decision of 0 is the first class


def test_bands_of_samples_are_quantiles():
    shares = np.array([[0.5, 0.005, 0.495], [0.6, 0.0, 0.4], [0.7, 0.0, 0.3], [0.8, 0.01, 0.19], [0.9, 0.02, 0.08]])
    shown = StabilityDisplay(shares, list("abc"), [0.7, 0.0, 0.3], level=0.5).plot()
    np.testing.assert_allclose(shown.low, np.sort(shares, axis=0)[1])
    np.testing.assert_allclose(shown.high, np.sort(shares, axis=0)[3])
    assert shown.selected.tolist() == [1.0, 0.6, 1.0]
    assert [text.get_text() for text in shown.ax_.texts] == ["weight in 60%"] and texts(shown.ax_) == ["a", "c", "b"]


def test_alignments_stand_beside_those_with_the_target():
    A = np.array([[1, 0.1, 0.9, 0.0], [0.1, 1, 0.2, 0.8], [0.9, 0.2, 1, 0.1], [0.0, 0.8, 0.1, 1]])
    target = np.array([0.4, 0.1, 0.3, 0.2])
    shown = AlignmentDisplay(A, list("abcd"), target, total=9).plot()
    widths = [bar.get_width() for bar in shown.axes_[0, 1].patches]
    assert dict(zip(texts(shown.ax_), widths, strict=True)) == dict(zip("abcd", target, strict=True))
    assert note(shown.ax_) == "4 of 9 kernels, the best aligned" and widths != target.tolist()
    assert note(AlignmentDisplay(A, list("abcd"), total=9).plot().ax_) == "4 of 9 kernels, the first"


def test_the_best_aligned_kernels_are_compared_on_the_examples_of_their_targets():
    X = rng.normal(size=(60, 5))
    model = MKLRegressor([(f"c{k}", Linear(), [k]) for k in range(5)], C=1.0).fit(X, X[:, 3] + 0.3 * X[:, 1])
    y = X[:, 3] + 0.3 * X[:, 1]
    found = AlignmentDisplay.measured(model, X, y, 2)
    assert found.names == ["c1", "c3"] and found.total == 5 and found.target[1] > 0.5 > found.target[0]
    seeds = [AlignmentDisplay.measured(model, X, y, 5, 20, seed).target for seed in (0, 0, 1)]
    assert (seeds[0] == seeds[1]).all() and (seeds[0] != seeds[2]).any()
    assert all(one[3] > 0.4 for one in seeds)  # the targets of the drawn rows


def test_weights_of_columns_of_several_metrics_share_one_whole():
    metric = {
        "a": {"column": ["x", "y", "x"], "share": [0.25, 0.5, 0.25]},
        "b": {"column": ["z"], "share": [1.0]},
    }
    assert column_shares(metric) == {"a": {"x": 0.5, "y": 0.5}, "b": {"z": 1.0}}
    assert column_shares(None) == {}
    several = mean_shares([{"a": {"x": 0.2, "y": 0.8}}, {"a": {"x": 0.4, "y": 0.6}}])
    assert list(several["a"]) == ["y", "x"] and several["a"]["x"] == pytest.approx(0.3)
    shares = {f"c{k}": 0.5 - 0.1 * k for k in range(7)}
    assert said("s", shares) == (
        "learned metric of s: c0 50%, c1 40%, c2 30%, c3 20%, c4 10%, 2 more columns of the distances")  # fmt: skip
    assert "more" not in said("s", dict(list(shares.items())[:5]))
    model = MKLClassifier([("k", RBF(0.5))], C=1.0).fit(rng.normal(size=(20, 2)), np.arange(20) % 2)
    model.metric_ = metric
    shown = WeightsDisplay.from_estimator(model, by="column")
    assert shown.shares.sum() == pytest.approx(1) and set(shown.names) == {"a, x", "a, y", "b, z"}
    assert shown.ax_.get_xlabel() == "share of the distances, learned metric"


def several_classes():
    theta = np.array([[0.5, 0.5, 0.0], [0.0, 3.0, 1.0]])
    model = MKLClassifier([("k", RBF(0.5))], C=1.0).fit(rng.normal(size=(20, 2)), np.arange(20) % 2)
    model.kernel_weights_, model.kernel_names_ = theta, ["a", "b", "c"]
    model.classes_, model.intercept_ = np.array(["u", "v"]), np.zeros(2)
    return model, theta


def test_weights_of_classes_are_averaged_before_they_are_shared():
    model, theta = several_classes()
    names, weights, shares = top_weights(model, 2)
    assert names == ["b", "c"] and weights.tolist() == [1.75, 0.5]
    np.testing.assert_allclose(shares, [0.7, 0.2])
    table = weights_table(model, 2)
    assert table.title == "3 of 3 kernels have weight; the heaviest 2"
    assert list(table.columns[3].cells) == ["70.0%", "90.0%"]
    model.kernel_weights_ = theta * [1, 1, 0]
    assert weights_table(model).title == "2 of 3 kernels have weight; the heaviest 2"
    model.kernel_weights_ = theta
    shown = WeightsDisplay.from_estimator(model, per_class=False)
    assert dict(zip(shown.names, shown.shares, strict=True)) == pytest.approx({"a": 0.1, "b": 0.7, "c": 0.2})
    each = WeightsDisplay.from_estimator(model)
    np.testing.assert_allclose(each.ax_.images[0].get_array(), [[0.5, 0.75], [0.5, 0.0], [0.0, 0.25]])
    assert texts(each.ax_) == ["b", "a", "c"] and each.classes == ["u", "v"]
    with pytest.raises(ValueError, match="one image for each of 2"):
        WeightsDisplay(list("abcd"), np.ones((2, 4)), layout=(2, 2), images=np.ones((3, 4, 4)))
    alive = WeightsDisplay(list("abc"), [0.5, 0.0, 0.5]).plot()
    assert texts(alive.ax_) == ["a", "c"] and note(alive.ax_) == ""


def test_paths_are_drawn_at_the_place_that_is_asked_for(monkeypatch):
    path = MKLClassifier([("a", RBF(0.5)), ("b", Linear())]).path(
        X := rng.normal(size=(40, 2)), X[:, 0] > 0, Cs=[0.1, 10.0], regularizer=[1, 2], test=(X, X[:, 1] > 0)
    )
    drawn = []
    monkeypatch.setattr(type(path), "draw", lambda self, ax, *own: drawn.append(own))
    PathDisplay.from_path(path, at=1)
    PathDisplay.from_path(path, against="p", at=1)
    for own, weights, score, label in (
        (drawn[0], path.weights[1], path.score[1], "C, at regularizer 2"),
        (drawn[1], path.weights[:, 1], path.score[:, 1], "regularizer, at C = 10"),
    ):
        np.testing.assert_array_equal(own[0], weights)
        np.testing.assert_array_equal(own[1], score)
        assert own[3] == label


def shares_of(T=1):
    """Two sources, three examples, four columns."""
    parts = rng.normal(size=(2, 3, 4, T))
    parts[:, :, 3] = 0.0
    base = rng.normal(size=(2, 3, T))
    level = np.array([0.5] * T)
    decision = parts.sum(axis=(0, 2)) + base.sum(axis=0) + level
    names, data = ["a", "b", "c", "d"], rng.normal(size=(3, 4))
    if T == 1:
        return FeatureShares(parts[..., 0], base[..., 0], 0.5, decision[:, 0], names, ["s", "t"], data, [], "")
    return FeatureShares(parts, base, level, decision, names, ["s", "t"], data, [f"o{k}" for k in range(T)], "")


@pytest.mark.parametrize("T", [1, 2])
def test_shares_of_columns_by_source_and_output(T):
    found = shares_of(T)
    output = None if T == 1 else "o1"
    own = found.parts if T == 1 else found.parts[..., 1]
    np.testing.assert_allclose(found.of("t", output), own[1])
    np.testing.assert_allclose(found.of(None, output), own.sum(axis=0))
    for source, parts in ((None, found.parts.sum(axis=0)), ("s", found.parts[0])):
        size = np.abs(parts).reshape(3, 4, -1).mean(axis=(0, 2))
        top = found.top(2, source)
        assert [value for _, value in top] == pytest.approx(np.sort(size)[::-1][:2])
        assert [name for name, _ in top] == [found.names[p] for p in np.argsort(-size)[:2]]
    for source in (None, "t"):
        ax = found.plot("waterfall", i=2, output=output, source=source, top=1)
        values = found.of(source, output)[2]
        base = found.part_base.sum(axis=0) + found.intercept if source is None else found.part_base[1]
        start = base[2] if T == 1 else base[2, 1]
        assert ax.get_xlabel().endswith(f"{start:.3g} without columns, {start + values.sum():.3g} with all")
        heaviest = int(np.abs(values).argmax())
        assert texts(ax)[0].startswith(f"{found.names[heaviest]} = ") and texts(ax)[1] == "2 other columns"
        widths = [bar.get_width() for bar in ax.patches]
        assert sorted(map(abs, widths)) == pytest.approx(
            sorted(map(abs, (values[heaviest], values.sum() - values[heaviest])))
        )


def test_alignments_of_no_kernel_are_refused():
    bank = SimpleNamespace(usable=np.zeros(2, bool))
    with pytest.raises(ValueError, match="no kernel varies"):
        _measure(bank, None, 3)
