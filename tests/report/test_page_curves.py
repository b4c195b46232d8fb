"""Rates, curves and scales of the page against the facts that it shows, which are made up."""

import math

import numpy as np
import pytest
from pages import Page, facts_of

from manykernels.report import _charts, _rate_views, _survival


def test_rates_curves_and_calibration():
    areas = [
        {"name": n, "mean": m, "se": s, "folds": [m - 0.1, m + 0.1], "left": k}
        for n, m, s, k in (("u", 0.75, 0.02, 0), ("v", 0.625, math.nan, 2))
    ]
    bins = [
        {"low": 0.1, "high": 0.3, "said": 0.25, "came": 0.125, "count": 1100},
        {"low": 0.4, "high": 0.9, "said": 0.75, "came": 0.875, "count": 9},
    ]
    score = {
        "measure": "accuracy",
        "areas": {"rows": areas, "total": 4},
        "calibration": {"event": "ill", "rows": bins, "off": 0.0625, "brier": 0.1875},
        "threshold": {
            "at": 0.5,
            "positive": "ill",
            "negative": "fit",
            "sensitivity": {"value": 0.875, "se": 0.0312, "right": 7, "of": 8},
            "specificity": {"value": 0.25, "se": math.nan, "right": 1000, "of": 4000},
        },
        "curve": [[0.0, 0.25, 1.5], [0.25, 0.75, -0.5], [1.0, 1.0, -2.0]],
    }
    page = Page(_rate_views.rates({"score": score}))
    _, rows, note = page.tables["Area under the ROC curve, held out"]
    assert rows == [
        [("u", None), ("0.750 ± 0.020", 0.75), ("0.650, 0.850", None)],
        [("v", None), ("0.625", 0.625), ("0.525, 0.725", None)],
    ]
    assert note == "2 of 4 classes." and "2 folds without both classes are left out." in page.words
    _, rows, _ = page.tables["Sensitivity and specificity"]
    assert [[t for t, _ in row][:3] for row in rows] == [
        ["sensitivity", "87.5 ± 3.1 %", "7 of 8"],
        ["specificity", "25.0 %", "1,000 of 4,000"],
    ]
    assert [row[3][0] for row in rows] == [f"the share of {n} that is predicted as such" for n in ("ill", "fit")]
    assert "counts as ill if its decision is above 0.500" in page.words
    (rows,) = [rows for heads, rows, _ in page.tables.values() if heads[0] == "decision above"]
    assert [[t for t, _ in row] for row in rows] == [
        ["1.500", "25.0 %", "100.0 %"],
        ["−0.500", "75.0 %", "75.0 %"],
        ["−2.000", "100.0 %", "0.0 %"],
    ]
    (rows,) = [rows for heads, rows, _ in page.tables.values() if heads[0] == "probability"]
    assert rows == [
        [("10.0 % to 30.0 %", None), ("25.0 %", 0.25), ("12.5 %", 0.125), ("1,100", 1100.0)],
        [("40.0 % to 90.0 %", None), ("75.0 %", 0.75), ("87.5 %", 0.875), ("9", 9.0)],
    ]
    assert "examples that are ill differ" in page.words and "by 6.2 % on average (Brier score 0.188)" in page.words
    one = score | {"areas": {"rows": areas[:1], "total": 1}}
    assert "The area under the ROC curve is 0.750 ± 0.020" in Page(_rate_views.rates({"score": one})).words
    chosen = [{"C": c, "regularizer": r} for c, r in ((1.0, "L1()"), (10.0, "L1()"), (10.0, "L1()"))]
    facts = facts_of(score={"nested": {"done": True, "candidates": 6, "chosen": chosen}})
    told = Page(_rate_views.searched(facts)).words
    assert "among 6 candidates" in told and "2 of 3 folds chose C = 10 and regularizer=L1()" in told


def test_curves_of_risk():
    groups = [
        {"name": "low", "examples": 1200, "events": 3, "last": 9.0, "curve": [[2.0, 0.75], [4.0, 0.625]]},
        {"name": "high", "examples": 11, "events": 8, "last": 8.0, "curve": [[1.0, 0.75], [3.0, 0.5], [5.0, 0.25]]},
    ]
    page = Page(_survival.shown({"groups": groups}))
    ((_, rows, _),) = page.tables.values()
    assert [[t for t, _ in row] for row in rows] == [
        ["low risk", "1,200", "3", "not reached"],
        ["high risk", "11", "8", "3.00"],
    ]
    assert "2 groups" in page.words
    lines = {given["data-t"]: given["points"] for tag, given in page.marks if "data-t" in given}
    place = lambda t, s: (46 + 288 * t / 9, 10 + 200 * (1 - s))  # noqa: E731
    corners = [(0, 1), (1, 1), (1, 0.75), (3, 0.75), (3, 0.5), (5, 0.5), (5, 0.25), (8, 0.25)]
    found = [tuple(map(float, point.split(","))) for point in lines["high risk"].split()]
    np.testing.assert_allclose(found, [place(*corner) for corner in corners], atol=0.06)


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
