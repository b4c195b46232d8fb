"""Whole reports against fits, `relevance` and bootstrap samples that are made one by one."""

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case
from scipy.stats import t
from sklearn.base import clone
from sklearn.metrics import roc_auc_score

from manykernels import MKLClassifier, MKLRegressor, MKLSurvival
from manykernels.inspect import bootstrap_weights, relevance
from manykernels.kernels import RBF, Linear
from manykernels.report import _held_out, _measure
from manykernels.report._decisions import check_examples, choose, ids_of

rng = np.random.default_rng(5)


def se_of(values, overlap):
    return np.std(values, ddof=1) * np.sqrt(1 / len(values) + overlap)


X = rng.normal(size=(45, 4))
KERNELS = [("a", RBF(0.3), [0]), ("b", Linear(), [0]), ("c", RBF(0.2), [1, 2]), ("d", Linear(), [3])]


@pytest.mark.parametrize("cv", [3, None])
def test_counts_are_over_and_underestimated_as_counts(cv):
    """The decision is the logarithm of the expected count: the error is that of the count, and the page shows it."""
    y = rng.poisson(np.exp(1 + X[:, 0])).astype(float)
    model = MKLRegressor(KERNELS, loss="poisson", C=1.0).fit(X, y)
    report = model.report(X, y, cv=cv, stability=0, relevance="fast", examples=45)
    rows = {row["why"]: row for row in report.facts["examples"]["rows"][::-1]}  # the first of each reason
    if cv is None:
        error = model.predict(X) - y
        over, under = rows["the largest overestimate"], rows["the largest underestimate"]
        assert (over["row"], under["row"]) == (error.argmax(), error.argmin())
    for row in report.facts["examples"]["rows"]:
        assert float(row["prediction"]) == pytest.approx(np.exp(row["sum"]), rel=1e-3)
        assert row["true"] == y[row["row"]]
    over = [np.exp(row["sum"]) - row["true"] for row in report.facts["examples"]["rows"]]
    assert np.exp(rows["the largest overestimate"]["sum"]) - rows["the largest overestimate"]["true"] == max(over)
    assert "logarithm of an expected count" in report.html()


def test_the_highest_risk_is_the_least_time_where_nothing_is_held_out():
    """With loss="log_time" a risk is minus the decision that the page shows."""
    times = np.exp(0.7 * X[:, 0] + 0.2 * rng.normal(size=45))
    y = np.array(list(zip(rng.random(45) < 0.8, times, strict=True)), dtype=[("event", bool), ("time", float)])
    model = MKLSurvival(KERNELS, loss="log_time", C=1.0).fit(X, y)
    rows = model.report(X, y, cv=None, stability=0, examples=3).facts["examples"]["rows"]
    f = -model.predict(X)
    assert [row["why"] for row in rows] == ["among the highest risks", "among the lowest risks", "in the middle"]
    assert [row["row"] for row in rows] == [f.argmin(), f.argmax(), np.abs(f - np.median(f)).argmin()]
    np.testing.assert_allclose([row["sum"] for row in rows], f[[row["row"] for row in rows]])


def test_weights_are_shares_by_kernel_source_and_class():
    y = np.array(list("uvw"))[np.digitize(X[:, 0] + 0.4 * X[:, 3], [-0.5, 0.6])]
    model = MKLClassifier(KERNELS, C=1.0, multi_class="ovr").fit(X, y)
    case = a_case(y)._replace(model=model, X=X)
    found = _measure._weights(case)
    theta = model.kernel_weights_
    mean = theta.mean(axis=0) / theta.mean(axis=0).sum()
    each = theta / theta.sum(axis=1, keepdims=True)
    members = {"column 0": [0, 1], "c": [2], "d": [3]}
    assert {name: own["share"] for name, own in found["sources"].items()} == {
        name: pytest.approx(mean[own].sum()) for name, own in members.items()}  # fmt: skip
    assert {name: own["kernels"] for name, own in found["sources"].items()} == {"column 0": 2, "c": 1, "d": 1}
    assert [row["name"] for row in found["rows"]] == ["abcd"[m] for m in np.argsort(-mean) if mean[m] > 0]
    source = dict(a="column 0", b="column 0", c="c", d="d")
    for row in found["rows"]:
        assert row["share"] == pytest.approx(mean["abcd".index(row["name"])]) and row["source"] == source[row["name"]]
    assert (found["kernels"], found["alive"]) == (4, int((mean > 0).sum()))
    heavy = sorted(members, key=lambda name: -each[:, members[name]].sum())
    assert found["classes"]["sources"] == heavy and found["classes"]["names"] == ["u", "v", "w"]
    np.testing.assert_allclose(found["classes"]["shares"], [each[:, members[name]].sum(axis=1) for name in heavy])
    assert list(found["columns"]) == ["c"] and sum(v for _, v in found["columns"]["c"]) == pytest.approx(1)


@pytest.mark.parametrize(("mode", "adjusted"), [("fast", False), ("full", False), ("full", True)])
def test_all_facts_of_a_sample_held_out_by_site(mode, adjusted, monkeypatch):
    """Joined sources, sites, ids, rows that were not drawn: each fact is that of `relevance`, a fit or a bootstrap.

    With covariates every fit, score and decision has those of its own rows, and the guess is that of them alone.
    """
    n, size = 48, 36
    table = rng.normal(size=(n, 4))
    label = np.where(table[:, 0] + table[:, 1] + 0.7 * table[:, 3] + 0.5 * rng.normal(size=n) > 0.3, "ill", "fit")
    site = np.array(["north", "south", "west"])[rng.integers(0, 3, n)]
    frame = pd.DataFrame(table, columns=list("pqrs"), index=[f"id{k}" for k in range(n)])
    kernels = [("wide", RBF(0.2), ["p", "q", "r"]), ("part", Linear(), ["q"]), ("other", RBF(0.3), ["s"])]
    sources = {name: [m] for m, (name, *_) in enumerate(kernels)}
    Z = pd.DataFrame({"age": table[:, 0] + rng.normal(size=n), "batch": np.array(list("ab"))[rng.integers(0, 2, n)]})

    def of(at):
        """The covariates of some rows of all, as options."""
        return {"covariates": Z.iloc[at]} if adjusted else {}

    every = np.arange(n)
    model = MKLClassifier(kernels, C=1.0, tol=1e-6).fit(frame, label, **of(every))
    asked = [5, 0, 17, 30, 47, 22]
    compared: list = []
    monkeypatch.setattr(_held_out, "_surely_better", lambda *given: compared.append(given) or True)
    facts = model.report(frame, label, cv=3, relevance=mode, stability=3, sources=sources, groups=site, examples=asked,
                         max_examples=size, random_state=2, **of(every)).facts  # fmt: skip
    rows = _measure._sample(a_case(label, seed=2)._replace(X=frame), size)
    assert facts["sampled"] == {"examples": n, "used": size, "asked": True}
    X, y, groups = frame.iloc[rows], label[rows], site[rows]
    splits = [(np.flatnonzero(groups != name), np.flatnonzero(groups == name)) for name in np.unique(site)]

    # the scores, and the models that did not see an example
    fitted = [clone(model).fit(X.iloc[train], y[train], **of(rows[train])) for train, _ in splits]
    tested = [(one, test, X.iloc[test], of(rows[test])) for one, (_, test) in zip(fitted, splits, strict=True)]
    scores = [one.score(x, y[test], **z) for one, test, x, z in tested]
    guesses = [np.mean(y[test] == max(np.unique(y), key=lambda c: np.sum(y[train] == c))) for train, test in splits]
    given = dict(cv=splits, kernels=False, random_state=2, **of(rows))
    if adjusted:
        guesses = relevance(model, X, y, sources=sources, refits=0, **given).score_nothing
    overlap = np.mean([len(test) / len(train) for train, test in splits])
    score = facts["score"]
    assert (score["folds"], score["baseline_folds"]) == (pytest.approx(scores), pytest.approx(guesses))
    half = t.ppf(0.975, 2) * se_of(scores, overlap)
    ends = np.mean(scores), se_of(scores, overlap), np.mean(scores) - half, np.mean(scores) + half, np.mean(guesses)
    assert [score[key] for key in ("mean", "se", "low", "high", "baseline")] == pytest.approx(ends)
    assert (score["measure"], facts["sources"]["scoring"]) == ("accuracy", "roc_auc")
    assert compared[0] == (pytest.approx(scores), pytest.approx(guesses), pytest.approx(overlap)) and score["better"]
    assert adjusted or compared[1][1] == [0.5] * 3 and score["orders"]  # of areas
    areas = [roc_auc_score(y[test] == "ill", one.decision_function(x, **z)) for one, test, x, z in tested]
    (area,) = score["areas"]["rows"]
    assert (area["mean"], area["se"]) == pytest.approx((np.mean(areas), se_of(areas, overlap)))
    told = {k: label for one, test, x, z in tested for k, label in zip(test, one.predict(x, **z), strict=True)}
    counts = [[sum(y[k] == a and told[k] == b for k in range(size)) for b in ("fit", "ill")] for a in ("fit", "ill")]
    assert score["confusion"] == {"classes": ["fit", "ill"], "counts": counts}

    # the relevance of units, and of single sources
    given["scoring"] = "roc_auc"
    units = relevance(model, X, y, sources={"wide and part": [0, 1], "other": [2]}, **given)
    single = relevance(model, X, y, sources=sources, **given)
    expected = {row["name"]: row for row in units.table()}
    keys = [
        f"{m}{end}" for m in ("relevance", "drop", "permute", "gain", "alone") for end in ("", "_se", "_low", "_high")
    ]
    for unit in facts["sources"]["units"]:
        assert [unit[key] for key in keys] == pytest.approx([expected[unit["name"]][key] for key in keys], abs=1e-6)
    members = {"other": ["other"], "wide and part": ["wide", "part"]}
    assert [unit["members"] for unit in facts["sources"]["units"]] == [members[row["name"]] for row in units.table()]
    own = {row["name"]: row for row in single.table()}
    for row in facts["sources"]["rows"]:
        inside = row["name"] in ("wide", "part")
        assert row["joined"] == ("wide and part" if inside else None)
        assert [row[key] for key in keys] == pytest.approx([own[row["name"]][key] for key in keys], abs=1e-6)
    worth = units.differences("relevance"), single.differences("relevance")
    for k, found in enumerate(facts["sources"]["sites"]):
        assert (found["name"], found["examples"]) == (np.unique(site)[k], len(splits[k][1]))
        assert (found["score"], found["baseline"]) == (pytest.approx(scores[k]), pytest.approx(guesses[k]))
        assert found["relevance"]["wide and part"] == pytest.approx(worth[0][k, 0], abs=1e-6)
        assert found["relevance"]["other"] == pytest.approx(worth[0][k, 1], abs=1e-6)
        assert "part" in found["relevance"]

    # single decisions
    assert [row["row"] for row in facts["examples"]["rows"]] == asked
    for row in facts["examples"]["rows"]:
        at, held = row["row"], row["row"] in rows
        if held:
            (k,) = [k for k, (_, test) in enumerate(splits) if rows.tolist().index(at) in test]
        one = fitted[k] if held else model
        parts = one.decision_parts(frame.iloc[[at]])[0]
        assert row["held_out"] == held and row["id"] == f"id{at}" and row["true"] == label[at]
        assert {part["name"]: part["value"] for part in row["parts"]} == pytest.approx(
            {name: parts[m] for name, (m,) in sources.items() if parts[m]}, abs=1e-6)  # fmt: skip
        sizes = [abs(part["value"]) for part in row["parts"]]
        assert sizes == sorted(sizes, reverse=True)
        f = one.decision_function(frame.iloc[[at]], **of([at]))[0]
        assert row["intercept"] + (row["covariates"] or 0.0) == pytest.approx(f - parts.sum(), abs=1e-6)
        assert row["sum"] == pytest.approx(f, abs=1e-6)
        assert row["prediction"] == one.predict(frame.iloc[[at]], **of([at]))[0]
    assert {row["held_out"] for row in facts["examples"]["rows"]} == {True, False}

    # the bootstrap
    boot = bootstrap_weights(model, X, y, 3, 2, **of(rows))
    shares = boot / boot.sum(axis=1, keepdims=True)
    fit = model.kernel_weights_ / model.kernel_weights_.sum()
    order = np.argsort(-shares.mean(axis=0), kind="stable")
    assert [row["name"] for row in facts["stability"]["rows"]] == [kernels[m][0] for m in order]
    for row, m in zip(facts["stability"]["rows"], order, strict=True):
        low, middle, high = np.quantile(shares[:, m], [0.05, 0.5, 0.95])
        wanted = dict(low=low, median=middle, high=high, selected=np.mean(shares[:, m] > 0), share=fit[m])
        assert {key: row[key] for key in wanted} == pytest.approx(wanted)
    assert (facts["stability"]["samples"], facts["stability"]["total"], facts["stability"]["alive"]) == (3, 3, 3)


def test_names_of_examples_and_rows_that_are_asked_for():
    assert ids_of(np.zeros((3, 2))) is None and ids_of(["a", "b"]) is None
    assert ids_of(pd.DataFrame({"x": [1, 2]})) is None
    assert list(ids_of(pd.DataFrame({"x": [1, 2]}, index=[1, 0]))) == [1, 0]
    assert list(ids_of(pd.DataFrame({"x": [1, 2]}, index=pd.Index([0, 1], name="patient")))) == [0, 1]
    np.testing.assert_array_equal(check_examples([0, 4], 5), [0, 4])
    for bad in ([5], [-1], [0.5], [], [[1]]):
        with pytest.raises(ValueError, match="from 0 to 4"):
            check_examples(bad, 5)


def test_examples_of_folds_that_overlap_are_those_of_the_first_model_that_did_not_see_them():
    """Of a sample, in the numbers of all examples; the page shows six of them by their reasons."""
    n, size = 48, 33
    table = rng.normal(size=(n, 4))
    y = table[:, 0] + np.sin(table[:, 1]) + 0.4 * rng.normal(size=n)
    held = np.arange(12), np.arange(6, 24), np.arange(18, 33)  # some examples are held out twice
    cv = [(np.setdiff1d(np.arange(size), test), test) for test in held]
    model = MKLRegressor(KERNELS, C=1.0, tol=1e-7).fit(table, y)
    facts = model.report(table, y, cv=cv, relevance="fast", stability=0, max_examples=size, random_state=4).facts
    rows = _measure._sample(a_case(y, "regression", seed=4)._replace(X=table), size)
    value, order, fitted, points = {}, [], {}, []
    for train, test in cv:
        one = clone(model).fit(table[rows[train]], y[rows[train]])
        points += list(zip(y[rows[test]], one.predict(table[rows[test]]), strict=True))
        for k in test:
            if rows[k] not in fitted:
                fitted[rows[k]], value[rows[k]] = one, one.predict(table[[rows[k]]])[0]
                order.append(rows[k])
    told = np.array([value[row] for row in order])
    chosen, why = choose("regression", told, told - y[order], 6)
    found = facts["examples"]["rows"]
    assert [(row["row"], row["why"]) for row in found] == [(order[k], w) for k, w in zip(chosen, why, strict=True)]
    for row in found:
        parts = fitted[row["row"]].decision_parts(table[[row["row"]]])[0]
        grouped = {"column 0": parts[0] + parts[1], "c": parts[2], "d": parts[3]}
        assert {part["name"]: part["value"] for part in row["parts"]} == pytest.approx(grouped, abs=1e-5)
        assert row["held_out"] and row["true"] == y[row["row"]] and row["id"] is None and row["prediction"] is None
        assert row["sum"] == pytest.approx(value[row["row"]], abs=1e-5)
    assert facts["score"]["points"] == pytest.approx(np.array(points), abs=1e-5)
    assert facts["score"]["error"] == pytest.approx(np.mean([abs(a - b) for a, b in points]), abs=1e-5)
