"""Scales of charts, and the marks that the templates draw on them."""

import math
import re

import pytest

from manykernels import _pictures
from manykernels.report import _charts, _report


def drawn(chart, *given, **options):
    """[{attribute: value} of each mark] of a chart of templates/charts.html.jinja, and its text."""
    template = _pictures._templates().get_template("report/templates/charts.html.jinja")
    page = getattr(template.make_module(_report.TOOLS), chart)(*given, **options)
    return [dict(re.findall(r'([\w-]+)="([^"]*)"', mark)) for mark in re.findall("<(?!/|text|tspan)[^>]*>", page)], page


def test_scales_have_round_ticks_and_margins():
    for low, high, most, expected in (
        (0, 1, 4, [0, 0.5, 1]),
        (0, 0.7, 3, [0, 0.5]),
        (-3, 7, 5, [-2, 0, 2, 4, 6]),
        (0.12, 0.35, 3, [0.2, 0.3]),
        (0, 1200, 5, [0, 500, 1000]),
    ):
        assert _charts.Scale(low, high).ticks(most) == pytest.approx(expected)
    scale = _charts.covering([2.0, math.nan, None, 6.0], zero=False)
    assert (scale.low, scale.high, scale.at(2.0), scale.at(4.0), scale.at(99.0)) == (2.0, 6.0, 1.5, 50.0, 98.5)
    assert (_charts.covering([2.0, 6.0]).low, _charts.covering([]).high, _charts.Scale(3.0, 3.0).low) == (0.0, 0.5, 2.5)


@pytest.mark.parametrize(("low", "high", "shown"), [(0.0, 1.0, True), (-1.0, 0.0, True), (0.1, 1.0, False)])
def test_zero_has_a_line_if_the_scale_has_a_zero(low, high, shown):
    marks, _ = drawn("interval", _charts.Scale(low, high), 0.2, 0.3, 0.4, "", True, 0.0)
    classes = [mark.get("class") for mark in marks]
    assert classes.count("zero") == shown and classes.count("tick") == 1  # a share of 0 too


def test_marks_rise_to_the_right_and_upwards():
    for value, kind in ((-0.5, "bar neg"), (0.5, "bar pos")):
        assert drawn("bar", _charts.Scale(-1.0, 1.0), value)[0][-1]["class"] == kind
    assert [mark["height"] for mark in drawn("histogram", [1, 0, 1000])[0][1:]] == ["1.0", "0.0", "16.0"]
    marks, _ = drawn("scatter", [(0.0, 0.0), (1.0, 0.5)], "points", "x", "y")
    (x0, y0), (x1, y1) = [(float(mark["cx"]), float(mark["cy"])) for mark in marks if "cx" in mark]
    assert (x1 - x0) / 276 == pytest.approx(1, rel=0.01) and (y0 - y1) / 250 == pytest.approx(0.5, rel=0.01)


def test_a_gap_of_zero_is_at_the_bottom_and_powers_of_ten_have_lines():
    marks, page = drawn("descent", [("", [(0.0, 1.0), (1.0, 0.1), (2.0, 0.0)])], 1e-3, "", "gap")
    assert [float(mark["cy"]) for mark in marks if "cy" in mark] == pytest.approx([10, 10 + 180 / 3, 10 + 180])
    assert all(f'dy="-4">−{k}<' in page for k in (1, 2, 3)) and ">0.5<" not in page


def test_step_curves_go_on_to_their_last_time():
    curves = [(f"risk {k}", [(0.0, 1.0), (1.0, 0.5)], 2.0 + k) for k in range(2)]
    marks, _ = drawn("steps", curves, 3.0, "")
    lines = [mark for mark in marks if "data-t" in mark]
    assert [mark["class"] for mark in lines] == ["curve first", "curve third"]
    x = _charts.across(0.0, 3.0)
    for mark, last in zip(lines, (2.0, 3.0), strict=True):
        assert [float(part) for part in mark["points"].split()[-1].split(",")] == pytest.approx([x.at(last), 110.0])


@pytest.mark.parametrize(("n", "numbers"), [(15, range(1, 16)), (24, range(1, 25, 2)), (26, [1, 5, 10, 15, 20, 25])])
def test_heat_maps_number_their_rows(n, numbers):
    _, page = drawn("heat_map", [[float(i == j) for j in range(n)] for i in range(n)], [f"k{i}" for i in range(n)], "")
    assert [int(text) for text in re.findall(r">(\d+)<", page)] == [k for k in numbers for _ in range(2)]
