"""Every table, mark and caption of the page against the facts that it shows, which are made up."""

import math

import numpy as np
import pytest
from pages import Page, a_source, at, facts_of, percent, said, spread

from manykernels.report import _details, _results

rng = np.random.default_rng(11)


@pytest.mark.parametrize("measure", ["accuracy", "R²"])
def test_scores_of_folds(measure):
    folds, base = [0.71, 0.9, 0.62], [0.5, 0.6, 0.41]
    score = {
        "measure": measure,
        "folds": folds,
        "baseline_folds": base,
        "mean": 0.743,
        "se": 0.0812,
        "low": 0.4,
        "high": 0.95,
        "baseline": 0.503,
        "better": True,
    }
    page = Page(_results.sure(facts_of(score=score, sampled={"examples": 1200, "used": 60, "asked": False})))
    heads, rows, _ = page.tables[f"Scores of held-out examples: {measure}"]
    told = ["74.3 ± 8.1 %", "50.3 %"] if measure == "accuracy" else ["0.743 ± 0.081", "0.503"]
    assert [row[0][0] for row in rows] == ["this model", "always predicting the most frequent class"]
    assert heads[2:] == ["mean", "folds"] and [row[2][0] for row in rows] == told
    assert [row[3][0] for row in rows] == ["0.710, 0.900, 0.620", "0.500, 0.600, 0.410"]
    ends = (0.38, 0.97) if measure == "accuracy" else (0.4, 0.95)
    for kind, values, mean in (("own", folds, 0.743), ("base", base, 0.503)):
        rings = [given for tag, given in page.marks if given.get("class") == f"ring {kind}"]
        assert [ring["cx"] for ring in rings] == [at(ends, v) for v in values]
        text = [percent(v) if measure == "accuracy" else said(v) for v in values]
        assert [ring["data-t"] for ring in rings] == [f"fold {k + 1}: {t}" for k, t in enumerate(text)]
        assert [given["x1"] for _, given in page.marks if given.get("class") == f"mean {kind}"] == [at(ends, mean)]
    assert "3 folds" in page.words and "Measured on 60 of 1,200 examples" in page.words


def test_counts_and_points_of_predictions():
    score = {
        "measure": "accuracy",
        "threshold": {"at": -0.25, "positive": "ill"},
        "confusion": {"classes": ["fit", "ill"], "counts": [[1200, 300], [5, 15]]},
    }
    page = Page(_results._told(facts_of(score=score)))
    heads, rows, _ = page.tables["Held-out examples by true and by predicted class"]
    assert heads == ["true ↓ predicted →", "fit", "ill", "right"]
    assert rows == [
        [("fit", None), ("1,200", 1200.0), ("300", 300.0), ("80 %", None)],
        [("ill", None), ("5", 5.0), ("15", 15.0), ("75 %", None)],
    ]
    assert "counts an example as ill if its decision is above the threshold, −0.250" in page.words
    points = rng.normal(scale=3, size=(120, 2)).round(3).tolist()
    score = {"measure": "R²", "points": points, "points_total": 1400, "error": 0.51234}
    page = Page(_results._told(facts_of(score=score)))
    ((heads, rows, _),) = page.tables.values()
    assert heads == ["true", "predicted", "error"] and len(rows) == 100
    for (a, b), row in zip(points, rows, strict=False):
        assert [text for text, _ in row] == [said(a), said(b), said(b - a, 3, True)]
    assert "120 of 1,400 examples" in page.words and "error is 0.5123" in page.words
    assert "the first 100 of 120" in page.words
    low, high = np.min(points), np.max(points)
    circles = [given for tag, given in page.marks if tag == "circle"]
    assert len(circles) == 120
    for (a, b), given in zip(points, circles, strict=True):
        x, y = ((v - low) / (high - low) for v in (a, b))
        assert float(given["cx"]) == pytest.approx(46 + 288 * (0.02 + 0.96 * x), abs=0.06)
        assert float(given["cy"]) == pytest.approx(10 + 250 * (0.98 - 0.96 * y), abs=0.06)
        assert given["data-t"] == f"true {a:.4g}, predicted {b:.4g}"


@pytest.mark.parametrize("measure", ["relevance", "permute", "share"])
def test_sources_and_their_worth(measure):
    a = a_source("a", 0.5, 2, **spread("relevance", 0.12, 0.02, 0.05, 0.19), drop=0.1, permute=0.2, alone=0.8)
    b = a_source("b", 0.2, 3, permute=0.04, permute_se=0.01, permute_low=0.01, permute_high=0.07)
    c = a_source(
        "c",
        0.3,
        1,
        **spread("relevance", -0.04, 0.01, -0.07, -0.01),
        drop=-0.02,
        permute=0.0,
        alone=0.5,
        joined="c and d",
    )
    a |= spread("permute", 0.2, 0.03, -0.1, 0.5)
    unit = {"name": "c and d", "members": ["c", "d"], "why": "columns", "share": 0.4, "kernels": 1, "drop": 0.01}
    unit |= spread("relevance", 0.3, 0.1, 0.2, 0.4) | spread("permute", 0.05, 0.1, -0.2, 0.4)
    sources = facts_of()["sources"] | {
        "measure": measure,
        "method": None if measure == "share" else "fast",
        "rows": [a, b, c],
        "units": [unit, {"name": "a", "why": "", "members": ["a"]}],
        "total": 7,
        "left_share": 0.034,
        "groups": [{"names": ["a", "b"], "drop": 0.31, "drop_se": 0.04}],
        "shared": [{"name": "a", "others": ["b"], "taken": False}],
    }
    page = Page(_results.sources(facts_of(sources=sources)))
    first = {"relevance": "the most relevant first", "permute": "the largest loss first", "share": "the heaviest first"}
    heads, rows, note = page.tables[f"Sources, {first[measure]}"]
    order = {"relevance": [unit, a, c, b], "permute": [a, unit, b, c], "share": [a, unit, c, b]}[measure]
    worth = {
        "relevance": ["relevance", "± one s.e.", "left out", "shuffled", "alone"],
        "permute": ["shuffled", "± one s.e."],
        "share": [],
    }[measure]
    assert heads == ["source", "weight", "share", *worth, "kernels"]
    dots = [given for _, given in page.marks if str(given.get("class")).startswith("dot")]
    sure = {"relevance": {"c and d", "a"}, "permute": {"b"}}.get(measure)
    for row, one in zip(rows, order, strict=True):
        called = "c (with d)" if one is unit else one["name"]
        v = {key: one.get(key, math.nan) for key in (measure, f"{measure}_se", "drop", "permute", "alone")}
        mean = v[measure]
        told = "only shuffled" if math.isnan(mean) else f"{said(mean, 3, True)} ± {said(v[f'{measure}_se'])}"
        number = lambda x: None if math.isnan(x) else pytest.approx(x, rel=1e-5)  # noqa: E731
        expected = [(called, None), ("", number(one["share"])), (percent(one["share"]), number(one["share"]))]
        if measure != "share":
            expected += [("", number(mean)), (told, number(mean))]
        if measure == "relevance":
            expected += [(said(v[key], 3, key != "alone"), number(v[key])) for key in ("drop", "permute", "alone")]
        assert row == [*expected, (str(one["kernels"]), one["kernels"])]
    if sure is not None:
        clear = {dot["data-t"].split(":")[0] for dot in dots if dot["class"] == "dot clear"}
        assert clear == sure and len(dots) == sum(measure in one for one in order)
        low = {
            f"{one['name']}: {said(one[measure], 3, True)}, 95 % from {said(one.get(measure + '_low', math.nan))} to "
            f"{said(one.get(measure + '_high', math.nan))}"
            for one in order
            if measure in one
        }
        assert {dot["data-t"] for dot in dots} == low
    assert note.startswith("3 of 7 sources") and "hold 3.4 % of the weight" in note
    assert "a and b can replace each other" in page.words and "falls by 0.310 ± 0.040" in page.words
    assert ("probability that an example of the second class" in page.words) == (measure != "share")
    assert "a also sees" in page.words and ("left out together" in page.words)


def test_groups_held_out_and_weights_by_class():
    units = [{"name": n, "why": "", "members": [n]} for n in "vwxyz"]
    sites = [
        {"name": n, "examples": m, "score": s, "baseline": b, "relevance": {"w": r, "y": r / 2, "x": -r, "z": 1.0}}
        for n, m, s, b, r in (("north", 1300, 0.8, 0.5, 0.1), ("south", 20, 0.7, 0.6, -0.02))
    ]
    facts = facts_of()
    facts["sources"] |= {"units": units, "sites": sites}
    heads, rows, _ = Page(_results._sites(facts)).tables["Each group held out"]
    assert heads == ["group", "examples", "this model", "guess", "w", "x", "y", "z"]
    assert [[t for t, _ in row] for row in rows] == [
        ["north", "1,300", "80.0 %", "50.0 %", "+0.100", "−0.100", "+0.050", "+1.000"],
        ["south", "20", "70.0 %", "60.0 %", "−0.020", "+0.020", "−0.010", "+1.000"],
    ]
    assert [[v for _, v in row[1:]] for row in rows][1] == [20, 0.7, 0.6, -0.02, 0.02, -0.01, 1.0]
    found = {"names": ["u", "v"], "total": 4, "sources": ["b", "a"], "shares": [[0.25, 0.75], [0.64, 0.04]]}
    facts["weights"]["classes"] = found
    heads, rows, note = Page(_results._classes(facts)).tables["Share of each source in the weights of each class"]
    assert heads == ["source", "u", "v"] and note == "2 of 4 classes. 2 of 3 sources, the heaviest."
    assert rows == [[("b", None), ("25 %", 0.25), ("75 %", 0.75)], [("a", None), ("64 %", 0.64), ("4 %", 0.04)]]


def test_stability_of_weights():
    rows = [
        {"name": n, "low": a, "median": m, "high": b, "share": s, "selected": c}
        for n, a, m, b, s, c in (
            ("p", 0.4, 0.52, 0.7, 0.6, 1.0),
            ("q", 0.0, 0.1, 0.25, 0.35, 0.6),
            ("r", 0.05, 0.2, 0.3, 0.05, 0.9),
        )
    ]
    facts = facts_of(stability={"rows": rows, "alive": 5, "samples": 30, "total": 9, "level": 0.9})
    page = Page(_results.stability(facts))
    heads, body, note = page.tables["Shares of the weights over samples"]
    assert heads == ["source", "share of the weights", "90 % within", "all data", "has weight"]
    for row, cells in zip(rows, body, strict=True):
        assert cells == [
            (row["name"], None),
            ("", row["median"]),
            (f"{100 * row['low']:.1f}–{100 * row['high']:.1f} %", row["median"]),
            (percent(row["share"]), row["share"]),
            (percent(row["selected"], 0), row["selected"]),
        ]
    dots = [given for tag, given in page.marks if tag == "circle"]
    assert [(d["class"], d["cx"]) for d in dots] == [
        ("dot clear" if r["low"] > 0 else "dot", at((0, 0.7), r["median"])) for r in rows
    ]
    assert dots[1]["data-t"] == "q: median 10.0 %, 90 % from 0.0 % to 25.0 %"
    ticks = [given["x1"] for _, given in page.marks if given.get("class") == "tick"]
    assert ticks == [at((0, 0.7), row["share"]) for row in rows]
    assert "3 heaviest sources; 2 more have weight" in note and "to 30 samples" in page.words
    assert "outside the line of q." in page.words


@pytest.mark.parametrize("kind", ["classification", "regression", "one-class"])
def test_single_decisions(kind):
    first = {
        "row": 17,
        "id": "id17",
        "why": "a close call",
        "held_out": True,
        "prediction": "ill",
        "true": "fit",
        "parts": [{"name": "a", "value": -1.25}, {"name": "b", "value": 0.5}],
        "others": {"count": 3, "value": 0.125},
        "covariates": None,
        "intercept": -0.375,
        "sum": -1.0,
    }
    second = first | {
        "row": 3,
        "id": None,
        "held_out": False,
        "prediction": None,
        "true": 2.5,
        "sum": 0.25,
        "parts": [{"name": "b", "value": 0.625}],
        "others": {"count": 0, "value": 0.0},
    }
    facts = facts_of(kind=kind, examples={"label": "decision for ill", "rows": [first, second]})
    page = Page(_results.examples(facts))
    told = (" · predicted ill", " · predicted 0.250") if kind != "one-class" else ("", "")
    titles = [f"id17{told[0]} · true fit", f"Row 3{told[1]} · true 2.500"]
    assert list(page.tables) == titles
    _, rows, note = page.tables[titles[0]]
    assert [(row[0][0], row[2][0]) for row in rows] == [
        ("a", "−1.250"),
        ("b", "+0.500"),
        ("3 others", "+0.125"),
        ("intercept", "−0.375"),
        ("sum", "−1.000"),
    ]
    assert note == "a close call, row 17"
    _, rows, note = page.tables[titles[1]]
    assert [(row[0][0], row[2][0]) for row in rows] == [("b", "+0.625"), ("intercept", "−0.375"), ("sum", "+0.250")]
    assert note == "a close call, by the fitted model"
    bars = [given for tag, given in page.marks if tag == "rect"]
    for value, given in zip([-1.25, 0.5, 0.125, 0.625], bars, strict=True):
        low, high = sorted((0.0, value))
        assert given["class"] == ("bar neg" if value < 0 else "bar pos")
        assert given["x"] == at((-1.25, 1.25), low)
        assert float(given["width"][:-1]) == pytest.approx(97 * (high - low) / 2.5, abs=0.01)
    label = "decision (negative for outliers)" if kind == "one-class" else "decision for ill"
    assert f"Each {label} is exactly the sum" in page.words and "The notes mark decisions" in page.words
    facts["examples"]["rows"] = [first | {"covariates": 0.75}]
    page = Page(_results.examples(facts))
    assert ("covariates", "+0.750") in [(row[0][0], row[2][0]) for row in page.tables[titles[0]][1]]
    assert "count from their mean, which the intercept holds" in page.words


def test_kernels_and_columns_inside_sources():
    rows = [{"name": f"k{m}", "source": s, "share": v} for m, s, v in ((2, "b", 0.5), (0, "a", 0.3), (1, None, 0.05))]
    weights = {
        "kernels": 9,
        "alive": 5,
        "rows": rows,
        "sources": {"a": {}, "b": {}},
        "classes": {},
        "metric": {"b": [("x", 0.75), ("y", 0.25)]},
        "columns": {"a": [("z", 0.875), ("w", 0.125)]},
    }
    page = Page(_details.kernels({"weights": weights}))
    heads, body, note = page.tables["Kernels, the heaviest first"]
    assert heads == ["kernel", "weight", "share", "source"]
    for row, cells in zip(rows, body, strict=True):
        share = percent(row["share"])
        assert cells == [(row["name"], None), ("", row["share"]), (share, row["share"]), (row["source"] or "–", None)]
    assert note == "The 3 heaviest kernels; 2 more hold 15.0 % of the weight."
    assert "4 kernels have no weight at all. Each share is the mean over the classes." in page.words
    for title, shares in (
        ("Columns in the learned metric", weights["metric"]["b"]),
        ("Columns inside the source", weights["columns"]["a"]),
    ):
        assert page.tables[title][1] == [[(n, None), ("", v), (percent(v), v)] for n, v in shares]
    assert "The metric of b was learned" in page.words and "Inside a:" in page.words
    bars = {given["data-t"]: given["width"] for tag, given in page.marks if tag == "rect"}
    assert bars["k0: 30.0 %"] == f"{97 * 0.3 / 0.5:.2f}%"


@pytest.mark.parametrize("target", [None, [0.5, -0.25, 0.125]])
def test_alignments(target):
    values = [[1.0, 0.25, -0.5], [0.25, 1.0, 0.1], [-0.5, 0.1, 1.0]]
    page = Page(
        _details.alignment({"alignment": {"names": ["r", "p", "q"], "values": values, "target": target, "total": 9}})
    )
    heads, rows, _ = page.tables["Kernels, as numbered in the picture"]
    assert [row[0] for row in rows] == [("1", 1.0), ("2", 2.0), ("3", 3.0)] and [r[1][0] for r in rows] == list("rpq")
    if target:
        assert heads[2] == "with the target"
        assert [row[3] for row in rows] == [(said(v, 2), v) for v in target]
    _, rows, _ = page.tables["Centred alignments between kernels"]
    assert [[t for t, _ in row] for row in rows] == [[str(k + 1), *(said(v, 2) for v in values[k])] for k in range(3)]
    squares = [given for tag, given in page.marks if tag == "rect" and "fill-opacity" in given]
    for k, given in enumerate(squares):
        i, j = divmod(k, 3)
        assert float(given["x"]) == pytest.approx(26 + 75 * j) and float(given["y"]) == pytest.approx(26 + 75 * i)
        assert given["class"] == ("neg" if values[i][j] < 0 else "pos") and given["data-t"] == said(values[i][j], 2)
        assert float(given["fill-opacity"]) == pytest.approx(0.04 + 0.96 * abs(values[i][j]), abs=0.006)
    assert [given["data-n"] for tag, given in page.marks if tag == "g"] == ["1 r", "2 p", "3 q"]
    assert f"3 of 9 kernels, {'the best aligned with the target' if target else 'the first'}." in page.words


def test_steps_of_a_fit():
    runs = [
        {"class": "u", "steps": [{"step": 0, "time": 0.5, "gap": 1.0}, {"step": 4, "time": 1.25, "gap": 1e-4}]},
        {"class": "v", "steps": [{"step": 0, "time": 0.25, "gap": 0.1}]},
    ]
    found = {"measure": "gap", "tol": 1e-3, "runs": runs, "total": 5, "seconds": 12.25}
    page = Page(_details.convergence({"convergence": found}))
    ((_, rows, _),) = page.tables.values()
    assert rows == [
        [("class u, 0", None), ("1.0", 1.0), ("0.500", 0.5)],
        [("class u, 4", None), ("1.0e−4", 1e-4), ("1.250", 1.25)],
        [("class v, 0", None), ("1.0e−1", 0.1), ("0.250", 0.25)],
    ]
    for words in ("2 longest fits of 5 classes", "Each of 2 classes has a curve", "12.25 s", "relative duality gap"):
        assert words in page.words
    knots = {given["data-t"]: given for tag, given in page.marks if tag == "circle"}
    for label, kind, step, level in (
        ("class u, step 0: 1.0", "first", 0, 0),
        ("class u, step 4: 1.0e−4", "first", 4, 4),
        ("class v, step 0: 1.0e−1", "other", 0, 1),
    ):
        given = knots[label]
        assert given["class"] == f"knot {kind}"
        assert float(given["cx"]) == pytest.approx(46 + 288 * (0.02 + 0.94 * step / 4), abs=0.06)
        assert float(given["cy"]) == pytest.approx(10 + 180 * level / 4, abs=0.06)
    goal = [given["y1"] for _, given in page.marks if given.get("class") == "goal"]
    assert float(goal[0]) == pytest.approx(10 + 180 * 3 / 4)


def test_data_and_settings():
    numbers = {"kind": "numbers", "missing": 2, "mean": 1.5, "sd": 0.25, "low": -3.0, "high": 4.75, "counts": [2, 8, 4]}
    parts = [
        {"name": "x"} | numbers,
        {"name": "s", "kind": "categories", "missing": 0, "different": 1500, "common": ["u", "v"], "counts": [5, 1]},
        {"name": "t", "kind": "texts", "missing": 1, "different": 7, "shortest": 2, "longest": 1100, "counts": [3]},
        {"name": "e", "kind": "empty", "missing": 60},
    ]
    target = {"kind": "classes", "total": 5, "classes": [{"name": "u", "count": 45}, {"name": "v", "count": 15}]}
    data = {
        "examples": 60,
        "form": "a table",
        "parts": parts,
        "what": "column",
        "total": 12,
        "target": target,
        "identical": [["x", "y"], list("abcdefgh")],
        "unused": ["p", "q"],
    }
    page = Page(_details.data({"data": data}))
    _, rows, note = page.tables["Classes"]
    assert [[t for t, _ in row] for row in rows] == [["u", "", "45", "75.0 %"], ["v", "", "15", "25.0 %"]]
    assert note == "2 of 5 classes."
    heads, rows, note = page.tables["Columns"]
    assert heads == ["column", "values", "missing", "mean", "s.d.", "minimum", "maximum"]
    assert rows[0] == [
        ("x", None),
        ("", None),
        ("2", 2.0),
        ("1.500", 1.5),
        ("0.2500", 0.25),
        ("−3.000", -3.0),
        ("4.750", 4.75),
    ]
    assert [t for t, _ in rows[1]] == ["s", "", "–", "1,500 categories", "u, v", "", ""]
    assert [t for t, _ in rows[2]] == ["t", "", "1", "7 texts", "2 to 1,100 letters", "", ""]
    assert [t for t, _ in rows[3]] == ["e", "", "60", "empty", "", "", ""]
    assert note == "The first 4 of 12 columns." and "60 examples: a table." in page.words
    assert "x and y have the same values in every row. a, b, c, d, e, f and 2 more have" in page.words
    assert "Not used by the model: p and q." in page.words
    shapes = [given for tag, given in page.marks if given.get("class") == "shape"][:3]
    assert [(g["x"], g["height"]) for g in shapes] == [("0.0%", "4.0"), ("33.3%", "16.0"), ("66.7%", "8.0")]
    data |= {"target": numbers, "what": "view", "parts": [{"name": "a", "kind": "2 columns", "missing": 1200}]}
    page = Page(_details.data({"data": data, "target": "dose"}))
    assert [t for t, _ in page.tables["The target"][1][0]] == ["dose", "", "1.500", "0.2500", "−3.000", "4.750"]
    assert page.tables["Views"][:2] == (
        ["view", "holds", "lack it"],
        [[("a", None), ("2 columns", None), ("1,200", 1200.0)]],
    )
    covariates = {"names": ["age", "sex=m"], "coefficients": [[0.5, -1.25]]}
    model = {
        "estimator": "MKLClassifier",
        "parameters": {"C": "2.0"},
        "support": 1234,
        "steps": 7,
        "covariates": covariates,
    }
    page = Page(_details.settings({"model": model, "versions": {"numpy": "9"}, "reproduce": ["one", "two"]}))
    assert [[t for t, _ in row] for row in page.tables["MKLClassifier"][1]] == [
        ["C", "2.0"],
        ["support", "1,234 examples"],
        ["steps", "7"],
    ]
    assert page.tables["Versions"][1] == [[("numpy", None), ("9", None)]] and "one\ntwo" in page.words
