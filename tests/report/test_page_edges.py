"""The page at the edges of its rules: facts that are just enough for a sentence or a mark, and facts that just fail."""

import pytest
from pages import Page, a_source, at, facts_of, plain, spread

from manykernels.report import _charts, _details, _html, _page, _rate_views, _results, _words


def a_unit(name, mean, low, share=0.1, se=0.02, **own):
    found = {"name": name, "members": [name], "why": "", "share": share, "drop": 0.1, "permute": mean}
    return found | spread("relevance", mean, se, low, 2 * mean - low) | own


def test_a_model_that_is_better_needs_no_advice_on_rare_classes():
    facts = facts_of()
    facts["score"] |= {"baseline": 0.75, "mean": 0.9, "better": True}
    assert "class is rare" not in plain(_words._how_well(facts))


def test_the_share_of_the_commonest_class_is_told_only_where_all_classes_are_known():
    def told(total, covariates=None, counts=(45, 15), baseline=0.7):
        facts = facts_of()
        classes = [{"name": str(k), "count": count} for k, count in enumerate(counts)]
        facts["data"] |= {"target": {"kind": "classes", "total": total, "classes": classes}}
        facts["score"] |= {"baseline": baseline}
        facts["model"]["covariates"] = covariates
        return plain(_words._of_all(facts))

    assert "that of all data has 75.0 %" in told(2)
    assert told(3) == told(2, {"columns": ["age"]}) == told(2, baseline=0.75) == ""


def test_sources_are_counted_by_units_if_some_kernels_see_several_columns():
    facts = facts_of(target="dose")
    facts["sources"]["units"] = [{"members": ["a", "b"]}, {"members": ["c", "d", "e"]}]
    for shared, sources in (([], 3), ([False], 3), ([False, True], 5)):
        facts["sources"]["shared"] = [{"name": "a", "others": ["b"], "taken": taken} for taken in shared]
        told = _words._what(facts)
        assert f"from {'3 kernels on 5 sources' if sources == 5 else '3 sources'}." in told and "dose" in told


@pytest.mark.parametrize("many", [4, 5])
def test_up_to_four_classes_are_named_in_the_order_of_their_numbers(many):
    facts = facts_of()
    classes = [{"name": str(10 - k)} for k in range(many)]
    facts["data"]["target"] = {"kind": "classes", "total": many, "classes": classes}
    assert ("(7, 8, 9 or 10)" if many == 4 else "(5 classes)") in plain(_words._what(facts))


def test_what_may_matter_as_much_is_told_from_what_does_not():
    def told(*units, **own):
        facts = facts_of()
        facts["sources"] |= {"units": list(units), "rows": [a_source("a", 0.3)]} | own
        return plain(_words._what_matters(facts))

    a, b = a_unit("a", 0.3, 0.1, 0.2), a_unit("b", 0.1, 0.05, 0.1)
    between = a_unit("n", 0.2, -0.1, 0.5, se=0.3)  # above the last of those that matter, below the first; the heaviest
    said = told(a, between, b)
    assert "n (+0.200) may matter as much" in said and "The heaviest" not in said
    light = a_unit("m", 0.0, -0.1, 0.9)
    assert "The heaviest, m with 90 % of the weight" in told(a, light)
    taken = [{"name": "m", "others": ["a"], "taken": True}]
    assert "The heaviest" not in told(a, light, shared=taken)
    assert "The heaviest" in told(a, light, shared=[taken[0] | {"taken": False}])
    assert "The heaviest" not in told(a, a_unit("m", 0.015, -0.1, 0.9, se=0.01))
    assert "The heaviest" in told(a, a_unit("m", 0.01, -0.1, 0.9, se=0.02))
    joined = a_unit("p and q", 0.01, -0.1, members=["p", "q"], why="columns")
    assert "whether 3 sources add to the rest" in told(a, joined, a_unit("r", 0.0, -0.1))
    assert "whether p (with q) adds to the rest" in told(a, joined)
    only = {"name": "w", "members": ["w"], "why": "", "share": 0.1, "permute": 0.1}
    assert "settle" not in told(a, only, refitted=1)


def test_a_group_that_was_tried_in_part_says_so():
    unit = a_unit("p and 2 that share columns", 0.3, 0.1, members=["p", "q", "r"], why="columns")
    rows = [a_source(n, 0.2, joined=unit["name"], gain=g, gain_low=0.05) for n, g in (("q", 0.1), ("p", 0.2))]
    facts = facts_of()
    facts["sources"] |= {"units": [unit], "rows": rows}
    assert "(2 of the heaviest were tried), p and q predict best alone" in plain(_words._inside(facts, [unit]))
    facts["sources"]["rows"].append(a_source("r", 0.1, joined=unit["name"], gain=0.0, gain_low=-0.1))
    assert "it, p and q predict" in plain(_words._inside(facts, [unit]))


def test_guesses_and_samples_in_words():
    facts = facts_of()
    assert _words.sampled(facts) == ""
    facts["model"] |= {"quantile": 0.9}
    assert _words.guess(facts) == "always predicting the 0.9 quantile of all targets"
    model = {"stationarity": 0.0, "gap": None, "tol": 1e-3}
    assert "a local maximum of the marginal likelihood" in _words.certificate({"model": model})


def test_headers_have_a_tick_for_each_round_number():
    page = _charts.axis(_charts.Scale(-0.5, 0.5), 3).html()
    assert [page.count(f'text-anchor="{side}"') for side in ("start", "middle", "end")] == [1, 1, 1]
    assert page.index('"start"') < page.index('"middle"') < page.index('"end"') and ">−0.5<" in page
    assert ">50 %<" in _charts.axis(_charts.Scale(0.0, 0.7), 3, True).html()


@pytest.mark.parametrize(("low", "high", "shown"), [(0.0, 1.0, True), (-1.0, 0.0, True), (0.1, 1.0, False)])
def test_zero_has_a_line_if_the_scale_has_a_zero(low, high, shown):
    marks = Page(_charts.interval(_charts.Scale(low, high), 0.2, 0.3, 0.4, "", True, 0.0)).marks
    assert [given["x1"] for _, given in marks if given.get("class") == "zero"] == [at((low, high), 0.0)] * shown
    assert [given["class"] for _, given in marks].count("tick") == 1  # a share of 0 too


def test_a_bin_without_examples_has_no_bar():
    heights = [given["height"] for _, given in Page(_charts.histogram([1, 0, 1000])).marks]
    assert heights == ["1.0", "0.0", "16.0"]


@pytest.mark.parametrize(("n", "numbers"), [(15, range(1, 16)), (24, range(1, 25, 2)), (26, [1, 5, 10, 15, 20, 25])])
def test_heat_maps_number_their_rows(n, numbers):
    values = [[float(i == j) for j in range(n)] for i in range(n)]
    page = _charts.heat_map(values, [f"k{i}" for i in range(n)], "")
    found = [part.partition("<")[0] for part in page.html().split(">")]
    assert [int(text) for text in found if text.isdigit()] == [k for k in numbers for _ in range(2)]


def test_descents_cover_their_goal_and_draw_a_gap_of_zero_at_the_bottom():
    page = _charts.descent([("", [(0.0, 1.0), (1.0, 0.1), (2.0, 0.0)])], 1e-3, "", "gap")
    assert all(f'dy="-4">−{k}<' in page.html() for k in (1, 2, 3))  # ticks of 10 to these powers
    knots = [float(given["cy"]) for tag, given in Page(page).marks if tag == "circle"]
    assert knots == pytest.approx([10, 10 + 180 / 3, 10 + 180])
    short = _charts.descent([("", [(0.0, 1.0), (1.0, 0.1)])], None, "", "gap").html()
    assert ">0<" in short and ">1<" in short and ">0.5<" not in short


def test_two_curves_have_the_first_and_the_last_colour():
    for names in (("first", "third"), ("first", "second", "third")):
        curves = [(f"risk {k}", [(0.0, 1.0), (1.0, 0.5)], 2.0) for k in range(len(names))]
        marks = Page(_charts.steps(curves, 2.0, "")).marks
        lines = [(given["class"], given["points"]) for _, given in marks if "data-t" in given]
        assert [kind for kind, _ in lines] == [f"curve {name}" for name in names]
        assert all(points.split()[-1] == "334.0,110.0" for _, points in lines)  # on to the last time


def test_columns_of_exactly_ten_sources_need_no_note():
    def told(many):
        sources = {f"s{k}": {} for k in range(many)}
        weights = {"rows": [], "kernels": many, "sources": sources, "columns": {"s0": [("x", 0.6), ("y", 0.4)]}}
        return Page(_details.kernels({"weights": weights})).words

    assert "10 heaviest" not in told(10) and "The columns of the 10 heaviest of 11 sources" in told(11)


@pytest.mark.parametrize("measure", ["gap", "stationarity"])
def test_fifty_steps_are_listed_under_their_measure(measure):
    steps = [{"step": k, "time": 0.1 * k, "gap": 1.0 / (k + 1)} for k in range(55)]
    runs = [{"class": None, "steps": steps}]
    found = {"measure": measure, "tol": 1e-3, "runs": runs, "total": 1, "seconds": 123.4}
    page = Page(_details.convergence({"convergence": found}))
    up = {"gap": "The relative duality gap", "stationarity": "The distance from a stationary point"}[measure]
    ((_, rows, _),) = page.tables.values()
    assert len(rows) == 50 and rows[-1][0][0] == "49" and f"{up} after each step" in page.words
    assert "123 s in all" in page.words and "class" not in page.words


def figures_of(**own):
    """{head: number} of the main numbers."""
    facts = facts_of(**own)
    facts["weights"]["alive"] = 2
    parts = _page._figures(facts).html().split("<dt>")[1:]
    return {part.partition("</dt>")[0]: part.partition("<dd>")[2].partition("</dd>")[0] for part in parts}


def test_the_main_numbers_are_those_of_the_facts():
    score = facts_of()["score"] | {"areas": {"rows": [{"mean": 0.91234}], "total": 1}}
    right, guess, gap = "of held-out examples are predicted correctly", "for a guess without the features", "from the o"
    found = figures_of(score=score)
    assert found.pop("kernels have weight") == "2 of 3"
    assert (found.pop(right), found.pop(guess)) == ("80.0 ± 5.0 %", "55.0 %")
    assert [(head[: len(gap)], value) for head, value in found.items()] == [(gap, "0.03 %")]
    assert figures_of(score=score | {"threshold": {}})["area under the ROC curve, held out"] == "0.912"
    model = facts_of()["model"]
    found = figures_of(model=model | {"gap": None, "stationarity": 2e-4, "covariates": {"columns": []}})
    assert found["from a stationary point"] == "2.0e−4" and found["for the covariates alone"] == "55.0 %"
    found = figures_of(model=model | {"gap": None}, score=score | {"measure": "R²"})
    assert len(found) == 3 and "0.800 ± 0.050" in found.values() and "from a stationary point" not in found
    gap = "from the optimum at most (duality gap)"
    assert figures_of(score={"why": "none"}).keys() == {gap, "kernels have weight"}


def test_the_footer_lists_what_took_time():
    told = _page._footer({"cost": {"score": 2.0, "stability": 0.06, "alignment": 0.01, "examples": 0.5}}).html()
    parts = "held-out scores and relevance 2.0 s, stability 0.1 s, single examples 0.5 s."
    assert f"took 2.6 s: {parts}" in told


def test_a_score_that_is_not_nested_is_marked_at_the_top():
    nested = {"done": False, "candidates": 6, "why": "it was saved."}
    facts = facts_of(score={"nested": nested})
    (told,) = _rate_views.warnings(facts)
    assert "among 6 candidates" in told and told.endswith("it was saved.")
    assert Page(_rate_views.searched(facts)).words == plain(told)
    assert _rate_views.warnings(facts_of(score={"nested": nested | {"done": True}})) == []


@pytest.mark.parametrize("value", [-0.25, 0.25, 0.0])
def test_a_threshold_other_than_zero_is_told(value):
    score = {"threshold": {"at": value, "positive": "ill"}, "measure": "accuracy"}
    assert bool(Page(_rate_views.moved(score)).words) == (value != 0)


def test_numbers_counts_and_names():
    assert _html.number(999_999.0, 1) == "999,999.0" and _html.number(1e6, 1) == "1.00e+06"
    assert [_html.decimals(reach) for reach in (1250.0, 12.5, 1.0, 0.5, 0.0123)] == [0, 2, 3, 3, 4]
    assert [_html.count(k, "fold") for k in (0, 1, 2)] == ["0 folds", "1 fold", "2 folds"]
    long = "a name of more than thirty letters, in which the end matters"
    (mark,) = Page(_html.element("p", _html.name(long, 30))).marks or [None]
    assert mark is None and f'title="{long}"' in _html.element("p", _html.name(long, 30)).html()


def test_scales_of_accuracies_end_at_one():
    score = facts_of()["score"] | {"folds": [0.99], "baseline_folds": [0.5], "low": 0.9, "high": 1.0}
    page = Page(_results.sure(facts_of(score=score | {"mean": 0.99})))
    (ring,) = [given["cx"] for _, given in page.marks if given.get("class") == "ring own"]
    assert ring == at((0.48, 1.0), 0.99)


def test_a_hundred_points_are_all_listed_and_quantiles_have_a_share_below():
    points = [[0.01 * k, 0.02 * k] for k in range(100)]
    facts = facts_of(score={"measure": "D²", "points": points, "points_total": 100, "error": 0.5, "below": 0.875})
    facts["model"]["quantile"] = 0.9
    page = Page(_results._told(facts))
    assert "the first" not in page.words and "examples are shown" not in page.words
    assert "87.5 % of the values lie at or below their prediction; q = 0.9 asks for 90.0 %." in page.words


def test_sources_say_how_they_were_joined_and_what_was_not_measured():
    columns = a_unit("c and d", 0.3, 0.1, members=["c", "d"], why="columns", kernels=2)
    rest = a_unit("2 other sources", 0.1, 0.05, members=["e", "f"], why="rest", kernels=2)
    rows = [a_source("all", 0.1, several=True), a_source("c", 0.2, joined="c and d"), a_source("e", 0.1)]

    def told(*units, **own):
        sources = facts_of()["sources"] | {"rows": rows, "units": list(units)} | own
        return Page(_results.sources(facts_of(sources=sources)))

    lightest, halves, single = "The lightest sources are", "share half of the columns of", "of a group were left out"
    page = told(columns)
    assert halves in page.words and single in page.words and lightest not in page.words
    page = told(rest, refitted=2)
    assert lightest in page.words and halves not in page.words and single not in page.words
    assert "Kernels share columns here" in page.words
    (_, body, _), *_ = page.tables.values()
    assert {row[0][0]: row[4][0] for row in body[1:]} == {
        "all": "by its columns", "c": "not by itself", "e": "not measured"}  # fmt: skip
    rows[0]["several"] = False
    assert "Kernels share columns here" not in told(rest).words


@pytest.mark.parametrize("many", [40, 42])
def test_groups_beyond_the_table_are_counted(many):
    units = [a_unit(f"g{k}", 0.5 - 0.01 * k, 0.1, members=["p", "q"], why="columns", kernels=1) for k in range(many)]
    sources = facts_of()["sources"] | {"rows": [a_source("a", 0.5)], "units": units, "total": 3, "left_share": 0.25}
    (_, rows, note), *_ = Page(_results.sources(facts_of(sources=sources))).tables.values()
    assert len(rows) == 41 and ("2 groups of sources more" in note) == (many == 42)
    assert "1 of 3 sources" in note and "25.0 %" in note and ("more." in note) == (many == 42)


@pytest.mark.parametrize("measure", ["relevance", "permute"])
def test_sites_have_the_first_four_units(measure):
    units = [{"name": n, "why": "", "members": [n]} for n in "uvwxyz"]
    site = {"name": "north", "examples": 9, "score": 0.8, "baseline": 0.5, "relevance": dict.fromkeys("uvwxyz", 0.1)}
    facts = facts_of()
    facts["sources"] |= {"units": units, "sites": [site, site], "measure": measure}
    page = Page(_results._sites(facts))
    heads, _, _ = page.tables["Each group held out"]
    assert heads[4:] == list("uvwx")
    assert ("have the loss when shuffled of" in page.words) == (measure == "permute")


def a_decision(**own):
    plain = {"row": 0, "id": None, "why": "", "held_out": True, "prediction": None, "true": None, "intercept": 0.0,
             "covariates": None}  # fmt: skip
    parts = {"parts": [{"name": "a", "value": 0.5}], "others": {"count": 1, "value": -2.0}, "sum": -1.5}
    return plain | parts | own


def test_bars_of_decisions_share_a_scale_that_covers_the_others():
    page = Page(_results.examples(facts_of(examples={"label": "decision", "rows": [a_decision()]})))
    bars = [(given["x"], given["width"]) for tag, given in page.marks if tag == "rect"]
    assert bars == [(at((-2.0, 2.0), 0.0), f"{97 / 8:.2f}%"), (at((-2.0, 2.0), -2.0), f"{97 / 2:.2f}%")]
    assert "1 other" in str(page.tables) and "true" not in str(list(page.tables))


def test_decisions_say_whose_they_are():
    for held, said in (([False], "No example was held out"), ([True], "The examples were held out"),
                       ([True, False], "The notes mark decisions")):  # fmt: skip
        rows = [a_decision(held_out=one) for one in held]
        page = Page(_results.examples(facts_of(examples={"label": "decision", "rows": rows})))
        assert said in page.words
        notes = [note for _, _, note in page.tables.values()]
        assert any("by the fitted model" in note for note in notes) == (len(held) == 2)
