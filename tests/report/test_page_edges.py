"""The page at the edges of its rules: facts that are just enough for a sentence or a mark, and facts that just fail."""

import pytest
from pages import Page, a_source, facts_of, sentence, spread

from manykernels.report import _html
from manykernels.report._page import section


def a_unit(name, mean, low, share=0.1, se=0.02, **own):
    found = {"name": name, "members": [name], "why": "", "share": share, "drop": 0.1, "permute": mean}
    return found | spread("relevance", mean, se, low, 2 * mean - low) | own


def test_a_model_that_is_better_needs_no_advice_on_rare_classes():
    facts = facts_of()
    facts["score"] |= {"baseline": 0.75, "mean": 0.9, "better": True}
    assert "class is rare" not in sentence("how_well", facts)


def test_the_share_of_the_commonest_class_is_told_only_where_all_classes_are_known():
    def told(total, covariates=None, counts=(45, 15), baseline=0.7):
        facts = facts_of()
        classes = [{"name": str(k), "count": count} for k, count in enumerate(counts)]
        facts["data"] |= {"target": {"kind": "classes", "total": total, "classes": classes}}
        facts["score"] |= {"baseline": baseline}
        facts["model"]["covariates"] = covariates
        return "that of all data has 75.0 %" in sentence("how_well", facts)

    assert told(2) and not told(3) and not told(2, {"columns": ["age"]}) and not told(2, baseline=0.75)


def test_sources_are_counted_by_units_if_some_kernels_see_several_columns():
    facts = facts_of(target="dose")
    facts["sources"]["units"] = [{"members": ["a", "b"]}, {"members": ["c", "d", "e"]}]
    for shared, sources in (([], 3), ([False], 3), ([False, True], 5)):
        facts["sources"]["shared"] = [{"name": "a", "others": ["b"], "taken": taken} for taken in shared]
        told = sentence("what", facts)
        assert f"from {'3 kernels on 5 sources' if sources == 5 else '3 sources'}." in told and "dose" in told


@pytest.mark.parametrize("many", [4, 5])
def test_up_to_four_classes_are_named_in_the_order_of_their_numbers(many):
    facts = facts_of()
    classes = [{"name": str(10 - k)} for k in range(many)]
    facts["data"]["target"] = {"kind": "classes", "total": many, "classes": classes}
    assert ("(7, 8, 9 or 10)" if many == 4 else "(5 classes)") in sentence("what", facts)


def test_what_may_matter_as_much_is_told_from_what_does_not():
    def told(*units, **own):
        facts = facts_of()
        facts["sources"] |= {"units": list(units), "rows": [a_source("a", 0.3)]} | own
        return sentence("matters", facts)

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
    assert "(2 of the heaviest were tried), p and q predict best alone" in sentence("inside", facts)
    facts["sources"]["rows"].append(a_source("r", 0.1, joined=unit["name"], gain=0.0, gain_low=-0.1))
    assert "it, p and q predict" in sentence("inside", facts)


def test_guesses_and_samples_in_words():
    facts = facts_of()
    assert sentence("sampled", facts) == ""
    facts["model"] |= {"quantile": 0.9}
    assert sentence("guess", facts) == "always predicting the 0.9 quantile of all targets"
    model = {"stationarity": 0.0, "gap": None, "tol": 1e-3}
    assert "a local maximum of the marginal likelihood" in sentence("certificate", {"model": model})


def test_columns_of_exactly_ten_sources_need_no_note():
    def told(many):
        sources = {f"s{k}": {} for k in range(many)}
        weights = {"rows": [], "kernels": many, "sources": sources, "columns": {"s0": [("x", 0.6), ("y", 0.4)]}}
        return Page(section("kernels", {"weights": weights})).words

    assert "10 heaviest" not in told(10) and "The columns of the 10 heaviest of 11 sources" in told(11)


@pytest.mark.parametrize("measure", ["gap", "stationarity"])
def test_fifty_steps_are_listed_under_their_measure(measure):
    steps = [{"step": k, "time": 0.1 * k, "gap": 1.0 / (k + 1)} for k in range(55)]
    runs = [{"class": None, "steps": steps}]
    found = {"measure": measure, "tol": 1e-3, "runs": runs, "total": 1, "seconds": 123.4}
    page = Page(section("convergence", {"convergence": found}))
    up = {"gap": "The relative duality gap", "stationarity": "The distance from a stationary point"}[measure]
    ((_, rows, _),) = page.tables.values()
    assert len(rows) == 50 and rows[-1][0][0] == "49" and f"{up} after each step" in page.words
    assert "123 s in all" in page.words and "class" not in page.words


def test_numbers_counts_and_names():
    assert _html.number(999_999.0, 1) == "999,999.0" and _html.number(1e6, 1) == "1.00e+06"
    assert [_html.decimals(reach) for reach in (1250.0, 12.5, 1.0, 0.5, 0.0123)] == [0, 2, 3, 3, 4]
    assert [_html.count(k, "fold") for k in (0, 1, 2)] == ["0 folds", "1 fold", "2 folds"]
    long = "a name of more than thirty letters, in which the end matters"
    assert f'title="{long}">a name' in _html.name(long, 30).translate(_html.MARKS)


def test_sources_say_how_they_were_joined_and_what_was_not_measured():
    columns = a_unit("c and d", 0.3, 0.1, members=["c", "d"], why="columns", kernels=2)
    rest = a_unit("2 other sources", 0.1, 0.05, members=["e", "f"], why="rest", kernels=2)
    rows = [a_source("all", 0.1, several=True), a_source("c", 0.2, joined="c and d"), a_source("e", 0.1)]

    def told(*units, **own):
        sources = facts_of()["sources"] | {"rows": rows, "units": list(units)} | own
        return Page(section("sources", facts_of(sources=sources)))

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
    (_, rows, note), *_ = Page(section("sources", facts_of(sources=sources))).tables.values()
    assert len(rows) == 41 and ("2 groups of sources more" in note) == (many == 42)
    assert "1 of 3 sources" in note and "25.0 %" in note and ("more." in note) == (many == 42)


@pytest.mark.parametrize("measure", ["relevance", "permute"])
def test_sites_have_the_first_four_units(measure):
    units = [{"name": n, "why": "", "members": [n]} for n in "uvwxyz"]
    site = {"name": "north", "examples": 9, "score": 0.8, "baseline": 0.5, "relevance": dict.fromkeys("uvwxyz", 0.1)}
    facts = facts_of()
    facts["sources"] |= {"units": units, "sites": [site, site], "measure": measure}
    page = Page(section("sources", facts))
    heads, _, _ = page.tables["Each group held out"]
    assert heads[4:] == list("uvwx")
    assert ("have the loss when shuffled of" in page.words) == (measure == "permute")


def a_decision(**own):
    plain = {"row": 0, "id": None, "why": "", "held_out": True, "prediction": None, "true": None, "intercept": 0.0,
             "covariates": None}  # fmt: skip
    parts = {"parts": [{"name": "a", "value": 0.5}], "others": {"count": 1, "value": -2.0}, "sum": -1.5}
    return plain | parts | own


def test_decisions_say_whose_they_are():
    for held, said in (([False], "No example was held out"), ([True], "The examples were held out"),
                       ([True, False], "The notes mark decisions")):  # fmt: skip
        rows = [a_decision(held_out=one) for one in held]
        page = Page(section("examples", facts_of(examples={"label": "decision", "rows": rows})))
        assert said in page.words
        notes = [note for _, _, note in page.tables.values()]
        assert any("by the fitted model" in note for note in notes) == (len(held) == 2)
