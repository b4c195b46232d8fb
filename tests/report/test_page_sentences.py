"""The sentences of the page against facts that are made up."""

from pages import a_source, facts_of, plain, spread

from manykernels.report import _words
from manykernels.report._worth import certain


def test_sentences_on_the_score():
    def told(kind="classification", covariates=None, **score):
        facts = facts_of(kind=kind)
        facts["score"] |= score
        facts["model"]["covariates"] = covariates
        return plain(_words._how_well(facts))

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
            "permute": mean,
            **spread("relevance", mean, 0.02, low, 2 * mean - low),
        } | own

    def told(*units, **own):
        facts = facts_of()
        facts["sources"] |= {"units": list(units), "rows": [a_source("a", 0.3)]} | own
        return plain(_words._what_matters(facts))

    a, b, c = unit("a", 0.3, 0.1, 0.2), unit("b", 0.2, 0.05, 0.3), unit("c", 0.01, -0.2, 0.5)
    said = told(a, b, c)
    assert said.startswith("What clearly matters: a and b.") and "whether c adds to the rest" in said
    assert "The heaviest, c with 50 % of the weight" in said
    many = [unit(n, 0.3 - 0.01 * k, 0.1, 0.1) for k, n in enumerate("abcde")]
    assert told(*many).startswith("What clearly matters: a, b and c. 2 more sources clearly matter.")
    assert "1 more source clearly matters." in told(*many[:4])
    used = [{key: v for key, v in u.items() if key != "drop"} | {"permute_low": 0.1} for u in many]
    said = told(*used, measure="permute")  # issue 11, point 1
    assert said.startswith("What the model clearly uses: a, b and c. 2 more sources are clearly used.")
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
    assert said.startswith("What clearly matters: p (with q) and 3 other sources together.")
    assert "Among p and sources that share columns with it, q predicts best alone." in said
    rows[0]["gain_low"] = 0.05
    assert "best alone" not in told(joined, rest, rows=rows)  # all predict alone
    assert "Of 3 other sources together, y clearly matters." in said
    assert "All 2 sources share columns" in told(joined, rows=rows)
    assert "The heaviest source is a, with 30 % of the weight" in told(measure="share")
    lost = [a, {"name": "w", "members": ["w"], "why": "", "share": 0.1, "permute": 0.1, "permute_low": 0.05}]
    said = told(*lost, refitted=1, alike={"w": "v"})
    assert "Of 2 sources, 1 was left out and tried alone" in said and "; 1 was only shuffled" in said
    assert "1 of them repeats another column (such as w and v;" in said


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
        assert expected in plain(_words._what(facts))
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
        assert words in plain(_words.certificate({"model": model | own}))
    columns = [f"z{k}" for k in range(12)]
    told = plain(_words.beyond({"model": {"covariates": {"columns": columns}}}))
    assert "adjusts for z0, z1" in told and "z8 and z9 and 2 more, without" in told
    told = plain(_words.unused({"data": {"unused": [f"c{k}" for k in range(22)]}}))
    assert told.endswith("c18, c19 and 2 more.")


def test_no_source_clearly_matters_where_the_score_settles_nothing():
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
    said = plain(_words._what_matters(facts))
    assert said.startswith("What clearly matters: a.") and "Of 2 other sources together" not in said
    facts["sources"]["settled"], facts["score"]["better"] = False, False
    said = plain(" ".join(_words.lead(facts)))
    assert "do not settle whether it is better than a guess" in said and "clearly matter" not in said
    assert "a may matter: the interval lies above 0. This is a hint and no finding" in said
    assert certain(facts["sources"]) == set()
    facts["score"] |= {"orders": True, "areas": {"rows": [{"mean": 0.9}]}}
    assert "put the two classes in order: the area under the ROC curve is 0.900" in plain(_words._how_well(facts))
