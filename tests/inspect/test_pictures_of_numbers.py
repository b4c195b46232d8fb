"""Pictures of numbers that are made up: no fit hides a wrong row, unit or note."""

import numpy as np
import pytest

from manykernels import MKLClassifier
from manykernels.inspect import (
    AlignmentDisplay,
    ConvergenceDisplay,
    FeatureShares,
    ReliabilityDisplay,
    WeightsAlongDisplay,
    WeightsDisplay,
)
from manykernels.inspect.tables import column_shares, mean_shares, said
from manykernels.kernels import RBF

rng = np.random.default_rng(9)


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
    dots = [line.get_xdata().tolist() for line in shown.ax_.get_lines() if line.get_linestyle() == "None"]
    assert sorted(map(len, dots)) == [2, 2] and [0, 2] in dots  # steps without a certificate are not filled
    assert note(shown.ax_) == ""
    again = ConvergenceDisplay(steps, against="steps", name="other").plot(shown.ax_)
    assert "other, class u" in [line.get_label() for line in again.ax_.get_lines()]
    assert again.ax_.get_xlabel() == "steps"


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


def test_alignments_stand_beside_those_with_the_target():
    A = np.array([[1, 0.1, 0.9, 0.0], [0.1, 1, 0.2, 0.8], [0.9, 0.2, 1, 0.1], [0.0, 0.8, 0.1, 1]])
    target = np.array([0.4, 0.1, 0.3, 0.2])
    shown = AlignmentDisplay(A, list("abcd"), target, total=9).plot()
    widths = [bar.get_width() for bar in shown.axes_[0, 1].patches]
    assert dict(zip(texts(shown.ax_), widths, strict=True)) == dict(zip("abcd", target, strict=True))
    assert note(shown.ax_) == "4 of 9 kernels, the best aligned" and widths != target.tolist()
    assert note(AlignmentDisplay(A, list("abcd"), total=9).plot().ax_) == "4 of 9 kernels, the first"


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
