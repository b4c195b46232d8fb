"""Pieces of the facts at seldom taken branches, on numbers that are made up."""

import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from pages import Page
from report_cases import Search, a_case

from manykernels import MKLClassifier, Views
from manykernels.inspect.sources import Row
from manykernels.kernels import RBF, KernelList
from manykernels.report import (
    _decisions,
    _held_out,
    _joined,
    _measure,
    _rates,
    _survival,
    _worth,
    describe,
)
from manykernels.report._nested import chosen_in_folds
from manykernels.report._page import section

rng = np.random.default_rng(12)


def covariate_table(coefficients, names, ratio=None, classes=None, columns=("z",)):
    found = {"columns": list(columns), "names": names, "coefficients": coefficients, "ratio": ratio}
    page = Page(section("covariates", {"model": {"covariates": found, "classes": classes}}))
    return page.tables["Covariates, in the fit on all data"]


def test_covariates_have_a_column_for_each_output():
    heads, rows, note = covariate_table([[0.5], [-1.0]], ["age"], "odds ratio", ["u", "v"])
    assert heads == ["covariate", "coefficient of u", "odds ratio of u", "coefficient of v", "odds ratio of v"]
    assert [v for _, v in rows[0][1:]] == pytest.approx([0.5, math.exp(0.5), -1, math.exp(-1)], rel=1e-5)
    heads, _, _ = covariate_table([[0.5], [1.0]], ["age"])
    assert heads == ["covariate", "coefficient of output 0", "coefficient of output 1"]
    heads, rows, note = covariate_table([[0.1 * k] for k in range(6)], ["age"], None, list("uvwxyz"))
    assert len(heads) == 5 and heads[-1] == "coefficient of x" and "ratio" not in note
    heads, rows, note = covariate_table([list(np.linspace(-1, 200, 43))], [f"s={k}" for k in range(43)], "hazard ratio")
    assert len(rows) == 40 and "3 more are in the JSON file." in note and "The hazard ratio is e to" in note
    assert rows[-1][2][1] == pytest.approx(math.exp(-1 + 201 * 39 / 42), rel=1e-5)
    assert "more are in" not in covariate_table([[0.5, 0.5]], ["p", "q"])[2]


def times(n, events, at=None):
    y = np.zeros(n, dtype=[("event", bool), ("time", float)])
    y["time"], y["event"] = 1.0 + np.arange(n) if at is None else at, events
    return y


@pytest.mark.parametrize(("n", "groups"), [(29, 2), (30, 3)])
def test_curves_go_on_to_the_last_time(n, groups):
    y = times(n, np.arange(n) < n - 1)
    found = _survival.curves(y, [np.arange(n)], [np.arange(n)[::-1]])["survival"]["groups"]
    assert len(found) == groups and sum(group["examples"] for group in found) == n
    assert found[0]["last"] == n and found[0]["curve"][-1][0] == n - 1  # the last time of the lowest risk is censored


def test_long_curves_keep_two_hundred_steps():
    for n, kept in ((540, 180), (900, 200)):
        found = _survival.curves(times(n, True), [np.arange(n)], [rng.random(n)])["survival"]["groups"]
        assert [len(group["curve"]) for group in found] == [kept] * 3


def test_up_to_twelve_classes_have_an_area():
    y = np.arange(56) % 14
    held = [_rates.Held(np.arange(56), rng.normal(size=(56, 14)), None, "none")]
    found = _rates.rates(a_case(y), held, 0.2)["areas"]
    assert len(found["rows"]) == 12 and found["total"] == 14 and [row["name"] for row in found["rows"]][-1] == "11"


def test_rates_of_folds_that_lack_a_class():
    y = np.array(list("aabbbaabb"))
    decision = np.array([-1.0, 1, 1, 1, -1, -1, -1, 1, 1])[:, None]
    rows = [np.array([0, 1, 2, 3]), np.array([4, 5]), np.array([6]), np.array([7, 8])]
    found = _rates._at_threshold(a_case(y), [_rates.Held(r, decision[r], None) for r in rows], 0.2)
    each = [0.5, 1.0, 1.0]  # of "a", in the folds that have it
    assert found["specificity"]["se"] == pytest.approx(np.std(each, ddof=1) * np.sqrt(1 / 3 + 0.2))
    each = [1.0, 0.0, 1.0]
    assert found["sensitivity"]["se"] == pytest.approx(np.std(each, ddof=1) * np.sqrt(1 / 3 + 0.2))


@pytest.mark.parametrize("threshold", [0.0, 0.5])
def test_a_decision_at_the_threshold_is_not_above_it(threshold):
    """As in `predict`, where a decision of 0 is the first class."""
    y, decision = np.array(list("aaabb")), threshold + np.array([-1.0, 0, 0, 0, 1])[:, None]
    found = _rates._at_threshold(a_case(y, threshold=threshold), [_rates.Held(np.arange(5), decision, None)] * 2, 0.2)
    assert [found[rate]["value"] for rate in ("specificity", "sensitivity")] == [1.0, 0.5]


def test_curves_have_sixty_points():
    y, n = np.tile([0, 1], 300), 600
    held = [_rates.Held(np.arange(n), rng.normal(size=(n, 1)), None)]
    assert len(_rates._curve(a_case(y), held)) == 60


def test_probabilities_are_those_of_the_fitted_model():
    asked = []

    def deciding(decision, fitted=False):
        asked.append(fitted)
        return SimpleNamespace(predict_proba=lambda X: np.full((len(X), 2), 0.5))

    fold = SimpleNamespace(model=SimpleNamespace(predict_proba=None), deciding=deciding, X=np.zeros((3, 1)))
    found = _rates.held(None, fold, np.arange(3), np.zeros((3, 1)))
    assert asked == [True] and found.proba.shape == (3, 2) and found.why == ""
    fold.model = SimpleNamespace()
    assert "no probabilities" in _rates.held(None, fold, np.arange(3), np.zeros((3, 1))).why


def test_columns_that_are_the_same_or_alike():
    zero = np.array([0.0, 1.0, 2.0, 0.0])
    assert _joined.identical(np.column_stack([zero, zero * -1.0 + 2 * zero, [-0.0, 1.0, 2.0, -0.0]])) == {
        1: 0,
        2: 0,
    }
    n = 12
    group = np.array(list("uvwx") * 3)
    frame = pd.DataFrame({
        "group": group, "again": np.array([f"is {g}" for g in group]),
        "coarse": np.where(np.isin(group, ["u", "v"]), "p", "q"),
        "id": [f"row {k}" for k in range(n)], "other id": [f"r{k}" for k in range(n)],
        "day": pd.to_datetime([f"2024-01-0{1 + k % 4}" for k in range(n)]),
        "number": rng.permutation(n) * 1.0,
    })  # fmt: skip
    frame["falling"] = -(frame["number"] ** 3)
    found = _joined.alike_columns(frame)
    names = list(frame.columns)
    told = {names[k]: names[j] for k, j in found.items()}
    assert told["again"] in ("group", "day") and told["day"] in ("group", "again") and told["group"] in ("again", "day")
    assert told["number"] == "falling" and told["falling"] == "number"
    assert not {"coarse", "id", "other id"} & told.keys()
    gaps = np.column_stack([100.0 + np.arange(40.0), 100.0 + np.arange(40.0)])
    gaps[[18, 19, 20, 21], 1] = np.nan  # in the middle, where the median is
    assert _joined.alike_columns(gaps) == {0: 1, 1: 0}


def test_units_are_sorted_by_the_sum_of_their_shares_and_named_by_the_widest():
    X = rng.normal(size=(8, 7))
    columns = [[0], [1, 2], [2, 3, 1], [1], [4]]
    kernels = KernelList.from_spec([(f"k{m}", RBF(0.1), own) for m, own in enumerate(columns)], X)
    rows = [Row(f"k{m}", "source", np.arange(5) == m) for m in range(5)]
    share = np.array([0.35, 0.15, 0.15, 0.15, 0.2])
    units = _joined.find_units(kernels, rows, share, {}, 10)
    assert [unit.name for unit in units] == ["k2 and 2 that share columns", "k0", "k4"]
    assert units[0].members == ["k2", "k1", "k3"] and units[0].why == "columns"
    every = KernelList.from_spec([("one", RBF(0.1), [0]), ("all", RBF(0.1))], X)
    own = [Row(n, "source", np.arange(2) == m) for m, n in enumerate(("one", "all"))]
    (unit,) = _joined.find_units(every, own, np.array([0.9, 0.1]), {}, 10)
    assert unit.members == ["all", "one"] and unit.name == "all and one"


def test_views_are_described_with_what_they_lack():
    present = np.array([True, False, True, False, False])
    views = Views(
        {"all": np.ones((5, 2)), "some": np.ones((2, 3))}, ids={"all": np.arange(5), "some": np.flatnonzero(present)}
    )
    model = SimpleNamespace(kernels=[], predictor_=SimpleNamespace(kernel_list=None))
    found = describe.describe_data(model, views, None)
    assert [(part["name"], part["missing"], part["kind"]) for part in found["parts"]] == [
        ("all", 0, "2 columns"), ("some", 3, "3 columns")]  # fmt: skip
    many = {f"v{k}": np.ones((3, 1)) for k in range(45)}
    found = describe.describe_data(model, many, None)
    assert (len(found["parts"]), found["total"], found["what"], found["form"]) == (40, 45, "view", "45 views")


def test_columns_with_many_levels_and_with_infinity():
    some = describe._column("c", np.array([f"l{k % 15}" for k in range(60)], object))
    assert some["kind"] == "categories" and some["different"] == 15 and len(some["counts"]) == 12
    texts = describe._column("c", np.array([f"l{k % 31}" for k in range(60)], object))
    assert texts["kind"] == "texts" and (texts["shortest"], texts["longest"]) == (2, 3)
    numbers = describe._numbers("x", np.array([1.0, 3.0, np.inf, -np.inf, np.nan]))
    assert (numbers["low"], numbers["high"], numbers["mean"], numbers["sd"]) == (1.0, 3.0, 2.0, 1.0)


def test_searches_that_had_no_choice_or_are_not_there():
    splits = [(np.arange(3), np.arange(3, 5))]
    case = a_case(np.arange(5.0), "regression")
    for known, told in ((None, None), (1, None), (2, 2), (12, 12)):
        model = case.model if known is None else SimpleNamespace(searched_=known)
        models, facts = chosen_in_folds(case._replace(model=model), splits, 1.0)
        assert models == [model] and (facts is None if told is None else facts["candidates"] == told)
        assert told is None or (not facts["done"] and "before you save it" in facts["why"])
    for cv, done in ((3, True), (None, True), (np.int64(3), True), ([(0, 1)], False)):
        search = Search(cv=cv)
        _, facts = chosen_in_folds(case._replace(search=search), splits, 1.0)
        assert facts["done"] == done and facts["candidates"] == 2


def test_rows_are_sorted_by_relevance_then_by_shuffling_then_by_weight():
    rows = [{"name": n, "share": s} | own for n, s, own in (
        ("light", 0.1, {}), ("heavy", 0.6, {}), ("moved", 0.0, {"permute": -0.1}), ("more", 0.05, {"permute": 0.2}),
        ("first", 0.0, {"relevance": -0.5}))]  # fmt: skip
    assert [row["name"] for row in sorted(rows, key=lambda row: _worth.worth_of(row, "relevance"))] == [
        "first", "more", "moved", "heavy", "light"]  # fmt: skip
    for low, drop, measure, sure in ((0.1, 0.0, "relevance", True), (0.0, 0.1, "relevance", False),
                                     (0.1, -0.1, "relevance", False), (0.1, -0.1, "permute", True)):  # fmt: skip
        assert _worth.clear({f"{measure}_low": low, "drop": drop}, measure) == sure
    assert not _worth.clear({"relevance_low": 0.1})


def test_close_calls_are_listed_after_mistakes():
    value = np.array([0.1, -2.0, 3.0, -0.3, 0.5])
    (_, wrong), (_, close), (_, clear) = _decisions.orders("classification", value, value)
    assert wrong.tolist() == [1, 3] and close.tolist() == [0, 3, 4, 1, 2] and clear.tolist() == [2, 4, 0, 3, 1]


def test_sources_of_columns_that_are_joined_are_not_called_several():
    units = [_joined.Unit("c and d", ["c", "d"], "columns", np.ones(1))]
    shared = [{"name": n, "others": [], "taken": True} for n in "ce"]
    shares = {n: {"share": 0.2, "kernels": 1} for n in "cde"}
    found = _held_out.source_rows({"sources": shares}, {"units": units, "shared": shared})
    assert {row["name"]: row["several"] for row in found["rows"]} == {"c": False, "d": False, "e": True}


def test_weights_are_those_of_the_sources_that_are_asked_for():
    X = rng.normal(size=(40, 12))
    model = MKLClassifier([(f"k{m}", RBF(0.1), [m]) for m in range(12)], C=1.0, regularizer=2).fit(
        X, np.arange(40) % 14
    )
    sources = {"even": list(range(0, 12, 2)), "odd": list(range(1, 12, 2))}
    case = a_case(np.arange(40) % 14, model=model, X=X, sources=sources)
    found = _measure._weights(case)
    share = model.kernel_weights_.mean(axis=0) / model.kernel_weights_.mean(axis=0).sum()
    assert {n: v["share"] for n, v in found["sources"].items()} == pytest.approx(
        {"even": share[::2].sum(), "odd": share[1::2].sum()})  # fmt: skip
    assert all(row["source"] == ("odd" if int(row["name"][1:]) % 2 else "even") for row in found["rows"])
    classes = found["classes"]
    assert len(classes["names"]) == 12 == len(classes["shares"][0]) and classes["total"] == 14
    assert set(classes["sources"]) == {"even", "odd"}


def test_times_and_numbers_are_drawn_over_their_whole_range():
    y = rng.permutation(1000) * 1.0
    rows = _measure._sample(a_case(y, "regression", X=np.zeros((1000, 1))), 10)
    assert (np.bincount((np.sort(y[rows]) // 100).astype(int).clip(0, 9), minlength=10) <= 2).all()
    assert (np.diff(rows) > 0).all()
