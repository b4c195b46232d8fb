"""The sentences of the page against facts that are made up."""

import pytest
from pages import a_source, facts_of, sentence, spread

from manykernels.report import _words
from manykernels.report._worth import certain


def test_sentences_on_the_score():
    def told(kind="classification", covariates=None, **score):
        facts = facts_of(kind=kind)
        facts["score"] |= score
        facts["model"]["covariates"] = covariates
        return sentence("how_well", facts)

    assert "correctly predicted 80.0 ± 5.0 % of the examples" in told()
    assert "most frequent class would reach 55.0 %" in told() and "settle" not in told() and "rely" not in told()
    assert "These 60 examples do not settle whether it is better than a guess" in told(better=False)
    assert "no better than a guess: do not rely" in told(mean=0.55, better=False)
    assert "class is rare" in told(baseline=0.75, better=False) and "class is rare" not in told(better=False)
    assert "reached R² of 0.800 ± 0.050; always predicting the mean" in told("regression", measure="R²")
    assert "a concordance of 0.800" in told("survival", measure="concordance")
    assert "a score (log) of 0.800" in told("regression", measure="log")
    assert "no better than the covariates alone" in told(covariates={"columns": ["a"]}, mean=0.5)


def test_sentences_on_what_matters():
    def unit(name, mean, low, share, drop=0.1, **own):
        return {
            "name": name,
            "members": [name],
            "why": "",
            "share": share,
            "drop": drop,
            "drop_low": drop / 2,
            "permute": mean,
            **spread("relevance", mean, 0.02, low, 2 * mean - low),
        } | own

    def told(*units, **own):
        facts = facts_of()
        facts["sources"] |= {"units": list(units), "rows": [a_source("a", 0.3)]} | own
        return sentence("matters", facts)

    a, b, c = unit("a", 0.3, 0.1, 0.2), unit("b", 0.2, 0.05, 0.3), unit("c", 0.01, -0.2, 0.5)
    said = told(a, b, c)
    assert said.startswith("What the model clearly needs: a and b.") and "whether c adds to the rest" in said
    assert "The heaviest, c with 50 % of the weight" in said
    many = [unit(n, 0.3 - 0.01 * k, 0.1, 0.1) for k, n in enumerate("abcde")]
    assert told(*many).startswith("What the model clearly needs: a, b, c and 2 more.")
    assert "a, b, c and 1 more." in told(*many[:4])
    used = [{key: v for key, v in u.items() if key != "drop"} | {"permute_low": 0.1} for u in many]
    said = told(*used, measure="permute")  # issue 11, point 1
    assert said.startswith("What the model clearly uses: a, b, c and 2 more.")
    near = unit("n", 0.5, -0.1, 0.1), unit("o", 0.4, -0.1, 0.1)
    assert "n (+0.500) and o (+0.400) may matter as much, but this is not certain for any of them." in told(*near, a)
    assert "n (+0.500) may matter as much, but this is not certain." in told(near[0], a)
    assert "whether 2 sources add to the rest" in told(a, c, unit("d", 0.0, -0.1, 0.1))
    joined = unit("p and q", 0.4, 0.1, 0.4, members=["p", "q"], why="columns")
    rest = unit("3 other sources", 0.1, 0.05, 0.1, members=["x", "y", "z"], why="rest")
    rows = [
        a_source("p", 0.2, joined="p and q", gain=0.1, gain_low=-0.05),
        a_source("q", 0.2, joined="p and q", gain=0.3, gain_low=0.05),
        a_source("r", 0.2, gain=0.9, gain_low=0.5),
        a_source("y", 0.1, joined="3 other sources", drop=0.1, **spread("relevance", 0.2, 0.1, 0.05, 0.3)),
        a_source("z", 0.1, joined="3 other sources", drop=-0.1, **spread("relevance", 0.3, 0.1, 0.05, 0.3)),
    ]
    said = told(joined, rest, rows=rows)
    assert said.startswith("What the model clearly needs: p (with q) and 3 other sources together.")
    assert "Among p and sources that share columns with it, q predicts best alone." in said
    rows[0]["gain_low"] = 0.05
    assert "best alone" not in told(joined, rest, rows=rows)  # all predict alone
    assert "Of 3 other sources together, y is clearly relevant." in said
    assert "All 2 sources share columns" in told(joined, rows=rows)
    assert "The heaviest source is a, with 30 % of the weight" in told(measure="share")
    lost = [a, {"name": "w", "members": ["w"], "why": "", "share": 0.1, "permute": 0.1, "permute_low": 0.05}]
    said = told(*lost, refitted=1, alike={"w": "v"})
    assert "Of 2 sources, 1 was left out and tried alone" in said and "; 1 was only shuffled" in said
    assert "1 of them repeats another column (such as w and v;" in said


@pytest.mark.parametrize(
    ("drop_low", "gain_low", "drop", "said"),
    [
        (0.01, 0.1, 0.05, "What the model clearly needs: a."),
        (0.0, 0.1, 0.0, "What clearly predicts alone, but is not clearly needed, as others may replace it: a."),
        (-0.01, 0.0, 0.05, "What is clearly relevant, by the mean of its loss and its gain alone: a."),
        (-0.1, 0.1, -0.02, "No source is clearly relevant"),
    ],
)
def test_words_follow_the_measures(drop_low, gain_low, drop, said):
    """A source without which the model lost exactly 0 "clearly mattered"."""
    own = {"name": "a", "members": ["a"], "why": "", "share": 0.2} | spread("relevance", 0.3, 0.02, 0.1, 0.5)
    own |= spread("drop", drop, 0.01, drop_low, 0.2) | {"gain_low": gain_low}
    facts = facts_of()
    facts["sources"] |= {"units": [own], "rows": [a_source("a", 0.2)]}
    assert sentence("matters", facts).startswith(said)
    first = sentence("how_well", facts)
    assert ("the model was better without a (by 0.020 ± 0.010): try" in first) == (drop < 0)


def test_a_source_that_clearly_does_harm_is_named_first_and_is_not_unsettled():
    facts, own = facts_of(), {"why": "", "share": 0.2}
    harm = own | {"name": "h", "members": ["h"]} | spread("drop", -0.2, 0.05, -0.3, -0.1)
    harm |= spread("relevance", -0.1, 0.05, -0.2, 0.0)
    good = own | {"name": "a", "members": ["a"]} | spread("drop", 0.2, 0.05, 0.1, 0.3)
    good |= spread("relevance", 0.2, 0.05, 0.1, 0.3)
    facts["sources"] |= {"units": [good, harm], "rows": [a_source("a", 0.2)]}
    first, matters = sentence("how_well", facts), sentence("matters", facts)
    assert "better without h (by 0.200 ± 0.050)" in first and "a (by" not in first
    assert "whether h adds" not in matters and "needs: a." in matters


@pytest.mark.parametrize(("scoring", "alone"), [("roc_auc", 0.996), ("R²", 1.0), ("concordance", 0.999)])
def test_a_source_that_alone_predicts_nearly_perfectly_may_hold_the_target(scoring, alone):
    facts, own = facts_of(), {"members": ["a"], "why": "", "share": 0.2, "name": "a"}
    for value, measure in ((alone, scoring), (0.98, scoring), (alone, "neg_log_loss"), (None, None)):
        unit = own if value is None else own | {"alone": value}
        facts["sources"] |= {"units": [unit], "rows": [a_source("a", 0.2)], "scoring": measure, "measure": "share"}
        facts["data"]["target"], facts["weights"]["kernels"] = {"kind": "numbers"}, 3
        told = sentence("leaks", facts)
        assert ("the target has leaked" in told and "a (" in told) == (value == alone and measure == scoring)


def test_sentences_on_the_data():
    facts = facts_of(target=None)
    facts["sources"]["units"] = [{"members": ["a", "b"]}, {"members": ["c"]}]
    for kind, target, expected in (
        (
            "classification",
            {"kind": "classes", "total": 2, "classes": [{"name": "9"}, {"name": "10"}]},
            "predicts the class (9 or 10) from 5 kernels on 3 sources. The data of this page have 60 examples.",
        ),
        ("classification", {"kind": "classes", "total": 7, "classes": [{"name": "9"}]}, "the class (7 classes) from"),
        (
            "survival",
            {"kind": "times", "events": 45},
            "the risk of an event from 5 kernels on 3 sources. The data of "
            "this page have 60 examples, 45 events and 15 censored times.",
        ),
        ("regression", {"kind": "several", "outputs": 4}, "predicts 4 outputs from"),
        ("regression", {"kind": "numbers"}, "predicts a number from"),
        ("one-class", {}, "usual from unusual examples"),
    ):
        facts |= {"kind": kind, "data": facts["data"] | {"target": target}}
        facts["weights"]["kernels"] = 5
        assert expected in sentence("what", facts)
    model = {"stationarity": None, "gap": 2.5e-3, "tol": 1e-2}
    for own, words in (
        (
            {},
            "gap is 2.5e−3: no other weights and predictor lower the objective by more than 0.25 %. The "
            "fit reached its tolerance (0.01).",
        ),
        ({"tol": 1e-3}, "stopped before it reached its tolerance (0.001)"),
        ({"tol": 2.5e-3}, "reached its"),
        ({"gap": None}, "no duality gap"),
        ({"stationarity": 1e-5}, "within 1.0e−5 of a stationary"),
    ):
        assert words in sentence("certificate", {"model": model | own})
    columns = [f"z{k}" for k in range(12)]
    told = sentence("beyond", {"model": {"covariates": {"columns": columns}}})
    assert "adjusts for z0, z1" in told and "z8 and z9 and 2 more, without" in told
    told = sentence("unused", {"data": {"unused": [f"c{k}" for k in range(22)]}})
    assert told.endswith("c18, c19 and 2 more.")


def test_no_source_is_clearly_relevant_where_the_score_settles_nothing():
    """A newcomer: one page said "do not settle" and "clearly matters" of the same sources."""
    facts = facts_of()
    own = {"members": ["a"], "why": "", "share": 0.2, "drop": 0.1, **spread("relevance", 0.3, 0.02, 0.1, 0.5)}
    other = {
        "members": ["x", "y"],
        "why": "rest",
        "share": 0.1,
        "drop": 0.1,
        **spread("relevance", 0.1, 0.2, -0.3, 0.5),
    }
    units = [own | {"name": "a"}, other | {"name": "2 other sources"}]
    rows = [
        a_source("a", 0.2, drop=0.1, **spread("relevance", 0.3, 0.02, 0.1, 0.5)),
        a_source("y", 0.1, joined="2 other sources", drop=0.1, **spread("relevance", 0.2, 0.1, 0.05, 0.3)),
    ]
    facts["sources"] |= {"units": units, "rows": rows}
    assert certain(facts["sources"]) == {"a"}  # y is judged together with x
    said = sentence("matters", facts)
    assert said.startswith(f"{_words.RELEVANT['']}: a.") and "Of 2 other sources together" not in said
    facts["sources"]["settled"], facts["score"]["better"] = False, False
    said = sentence("how_well", facts) + sentence("matters", facts)
    assert "do not settle whether it is better than a guess" in said and "What" not in said
    assert "a may matter: the interval lies above 0. This is a hint and no finding" in said
    assert certain(facts["sources"]) == set()
    facts["score"] |= {"orders": True, "areas": {"rows": [{"mean": 0.9}]}}
    assert "put the two classes in order: the area under the ROC curve is 0.900" in sentence("how_well", facts)
