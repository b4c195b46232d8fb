"""What a user asks of a report reaches the measurements, and what cannot be measured is refused; nothing is fitted."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from report_cases import a_case
from scipy.stats import t

from manykernels import MKLClassifier, MKLClassifierCV, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.losses import Quantile
from manykernels.pairs import Pairs
from manykernels.regularizers import EmpiricalBayes
from manykernels.report import (
    ReportOptions,
    _decisions,
    _held_out,
    _repeat,
    _report,
    _singles,
    describe,
    make_report,
)
from manykernels.report._case import Case

rng = np.random.default_rng(8)
X = rng.normal(size=(24, 3))
y = np.array(["ill", "well"])[(X[:, 0] > 0).astype(int)]
KERNELS = [("one", RBF(0.5), [0]), ("rest", Linear(), [1, 2])]


@pytest.fixture(scope="module")
def model():
    return MKLClassifier(KERNELS, C=1.0).fit(X, y)


@pytest.fixture
def asked(monkeypatch):
    """The case and the options of the last report; nothing is measured, and the page is empty."""
    found = SimpleNamespace(case=None, options=None, shown=None)

    def measure(case, *options):
        found.case, found.options = case, options
        return {}

    def showing(verbose):
        found.shown = verbose
        return real(False)

    real = _report.showing
    monkeypatch.setattr(_report, "measure", measure)
    monkeypatch.setattr(_report, "showing", showing)
    monkeypatch.setattr(_report, "page", lambda facts: "<p>the page</p>")
    return found


def test_every_option_reaches_the_measurements(model, asked):
    make_report(model, X, y)
    assert asked.options == (5, "auto", None, None, None) and isinstance(asked.case, Case)
    case = asked.case
    assert (case.seed, case.threshold, case.groups, case.search, case.covariates) == (0, 0.0, None, None, None)
    assert (case.sources, case.scoring, case.n_jobs, case.kind) == (None, None, None, "classification")
    groups, sources = np.arange(24) // 2, {"both": [0, 1]}
    own = dict(sources=sources, scoring="f1", groups=groups.tolist(), random_state=7, threshold=-0.5, n_jobs=2)
    report = make_report(
        model, X, y, cv=3, relevance="fast", stability=7, examples=[2, 5], max_examples=20, verbose=True, **own
    )
    case = asked.case
    assert asked.options == (3, "fast", 7, [2, 5], 20) and asked.shown is True
    assert (case.seed, case.threshold, case.sources, case.scoring, case.n_jobs) == (7, -0.5, sources, "f1", 2)
    np.testing.assert_array_equal(case.groups, groups)
    lines = "\n".join(report.facts["reproduce"])
    typed = (
        "cv=3, relevance='fast', stability=7, examples=[2, 5], sources={'both': [0, 1]}, scoring='f1', groups=groups"
    )
    assert f"{typed}, max_examples=20, random_state=7, threshold=-0.5)" in lines
    assert "# X, y, groups: the data and options of this page" in lines
    assert "verbose" not in lines and "n_jobs" not in lines


@pytest.mark.parametrize(("own", "given", "shown"), [(True, None, True), (True, False, False), (False, True, True)])
def test_progress_is_shown_if_the_report_or_else_the_model_is_asked_for_it(model, asked, own, given, shown):
    twin = MKLClassifier(KERNELS, C=1.0, verbose=own)
    vars(twin).update({k: v for k, v in vars(model).items() if k not in twin.get_params(deep=False)})
    make_report(twin, X, y, verbose=given)
    assert asked.shown is shown


def test_the_target_has_the_name_that_is_given_or_that_of_its_column(model, asked):
    column = pd.Series(y, name="status")
    for options, title, target in (
        ({}, "What predicts status", "status"),
        ({"target": "disease"}, "What predicts disease", "disease"),
        ({"title": "Mine"}, "Mine", "status"),
    ):
        facts = make_report(model, X, column, **options).facts
        assert (facts["title"], facts["target"]) == (title, target)
        assert f"target='{target}'" in facts["reproduce"][-1]
    facts = make_report(model, X, pd.Series(y, name=3)).facts
    assert (facts["title"], facts["target"]) == ("MKLClassifier, 24 examples", None)


def test_a_column_of_obs_gives_the_target_its_name(asked):
    anndata = pytest.importorskip("anndata")
    data = anndata.AnnData(X, pd.DataFrame({"status": y}, index=[f"s{k}" for k in range(24)]))
    known = MKLClassifier([RBF(0.5)], C=1.0).fit(data, "status")
    for options, target in (({}, "status"), ({"target": "disease"}, "disease")):
        facts = make_report(known, data, "status", **options).facts
        assert (facts["title"], facts["target"]) == (f"What predicts {target}", target)


def test_a_search_is_reported_by_its_best_model_and_targets_may_be_a_column(asked):
    search = MKLClassifierCV(KERNELS, Cs=[0.1, 1.0], cv=3).fit(X, y)
    facts = make_report(search, X, y[:, None]).facts
    assert asked.case.search is search and type(asked.case.model) is MKLClassifier
    assert asked.case.y.shape == (24,) and facts["model"]["estimator"] == "MKLClassifier"


def test_kernels_of_one_table_are_sources_if_their_names_differ(asked):
    widths = MKLClassifier([("thin", RBF(2.0)), ("wide", RBF(0.1))], C=1.0).fit(X, y)
    make_report(widths, X, y)
    assert asked.case.sources == {"thin": [0], "wide": [1]}
    make_report(widths, X, y, sources={"all": [0, 1]})
    assert asked.case.sources == {"all": [0, 1]}
    twin = SimpleNamespace(kernel_names_=["same", "same"], predictor_=widths.predictor_)
    assert _report._kernels_of_one(twin) is None
    make_report(MKLClassifier([("only", RBF(0.1))], C=1.0).fit(X, y), X, y)
    assert asked.case.sources is None


def test_covariates_keep_their_names(asked):
    Z = pd.DataFrame({"age": rng.normal(size=24), "sex": ["f", "m"] * 12})
    fitted = MKLClassifier(KERNELS, C=1.0).fit(X, y, covariates=Z)
    make_report(fitted, X, y, covariates=Z)
    found = asked.case.covariates
    assert list(found.names) == list(fitted.covariate_names_) and list(found.columns) == ["age", "sex"]
    assert list(found.names) != list(found.columns)


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"groups": np.zeros((24, 1))}, "groups has shape"),
        ({"groups": [0] * 25}, "groups has shape"),
        ({"threshold": "0.5"}, "threshold"),
        ({"threshold": math.nan}, "threshold"),
        ({"examples": []}, "rows of X from 0 to 23"),
        ({"examples": [-1]}, "rows of X from 0 to 23"),
        ({"examples": [24]}, "rows of X from 0 to 23"),
        ({"examples": [0.5]}, "rows of X from 0 to 23"),
        ({"max_examples": 9}, "max_examples"),
        ({"stability": -1}, "stability"),
        ({"relevance": "slow"}, "relevance"),
    ],
)
def test_requests_that_cannot_be_met_are_named(model, asked, options, said):
    with pytest.raises(ValueError, match=said):
        make_report(model, X, y, **options)
    assert asked.case is None


def test_targets_that_do_not_fit_are_named(model, asked, tmp_path):
    strange = y.copy()
    strange[3] = "dead"
    for wrong, said in ((y[:-1], "one target per example"), (np.zeros((24, 2, 2)), "one target per example"),
                        (strange, "'dead', which is not among the model's classes")):  # fmt: skip
        with pytest.raises(ValueError, match=said):
            make_report(model, X, wrong)
    three = MKLClassifier(KERNELS, C=1.0).fit(X, np.arange(24) % 3)
    with pytest.raises(ValueError, match="two classes"):
        make_report(three, X, np.arange(24) % 3, threshold=0.5)
    K = np.stack([X @ X.T, (X @ X.T) ** 2], axis=2)
    held = MKLClassifier("precomputed", C=1.0).fit(K, y)
    for part in (K[:20, :20], K[:20]):
        with pytest.raises(ValueError, match="between the 24 training examples"):
            make_report(held, part, y[:20])
    for path in (tmp_path, tmp_path / "none" / "page.html"):
        with pytest.raises(ValueError, match="path="):
            make_report(model, X, y, path)
    assert asked.case is None
    assert ReportOptions(stability=0, max_examples=10).changed() == {"stability": 0, "max_examples": 10}
    assert ReportOptions(data=1, random_state=False).changed() == {"data": 1, "random_state": False}  # of other types


def test_the_page_and_its_numbers_are_written_side_by_side(model, asked, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    report = make_report(model, X, y, "a.html")
    assert report.path == tmp_path / "a.html" and report.path.read_text() == "<p>the page</p>"
    assert json.loads((tmp_path / "a.json").read_text())["kind"] == "classification"
    make_report(model, X, y, "b.html", data=False)
    report.write("c.html", data=False)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.html", "a.json", "b.html", "c.html"]
    values = {"x": np.float32(0.5), "n": np.int64(3), "nan": math.nan, "inf": -math.inf, "b": np.bool_(True), 4: (1,)}
    found = json.loads(_report.Report(values | {"s": "a\ud800"}).json())
    assert found == {"x": 0.5, "n": 3, "nan": None, "inf": None, "b": True, "4": [1], "s": "a?"}
    monkeypatch.setattr(_report, "page", lambda facts: "a\ud800")
    report.write("c.html", data=False)
    assert (tmp_path / "c.html").read_text() == "a?"


def test_the_number_of_folds():
    case = a_case(np.arange(4))
    assert [_held_out.fold_count(cv, case) for cv in (None, 0, 3, np.int64(7), "splitter")] == [0, 0, 3, 7, 5]
    assert _held_out.fold_count(3, case._replace(y=None)) == 0
    found = _held_out.score(case, 0, "auto", 3, 1.0)
    assert "no cross-validation" in found["score"]["why"] and found["method"] is None


def test_folds_of_times_are_stratified_and_those_of_numbers_are_not(monkeypatch):
    given = []
    monkeypatch.setattr(_held_out, "make_splits", lambda *own: given.append(own))
    for kind, stratified in (("classification", True), ("survival", True), ("one-class", True), ("regression", False)):
        case = a_case(np.arange(4), kind, groups=np.arange(4), seed=5)
        _held_out._splits(case, 3)
        cv, examples, targets, strata, groups, seed = given[-1]
        assert (cv, strata, seed) == (3, stratified, 5) and groups is case.groups and targets is case.y
        assert examples.shape == (4, 1)
    pairs = Pairs([[0, 1], [1, 0]], X[:2], X[:2])
    _held_out._splits(a_case(np.arange(2), X=pairs), 3)
    assert given[-1][1] is pairs


def test_scores_have_the_name_of_their_function():
    def closeness(model, X, y):
        return -1.0

    assert _held_out.measure_name(a_case(np.arange(4.0), "regression", scoring=closeness)) == "closeness"


def test_the_best_constants_of_several_targets():
    Y = np.column_stack([np.arange(9.0), 10.0 * np.arange(9)])
    constant = _held_out.BestConstant(Quantile(0.25), Y)
    np.testing.assert_allclose(constant.predict(np.zeros((3, 1))), [[2.0, 20.0]] * 3)
    single = _held_out.BestConstant(Quantile(0.25), Y[:, 0])
    np.testing.assert_allclose(single.predict(np.zeros((3, 1))), [2.0] * 3)
    new, w = np.array([3.0, 9.0, 4.0, 7.0, 50.0]), np.array([1.0, 1.0, 1.0, 1.0, 0.0])
    part = single.score(X[:4], new[:4])
    assert single.score(X[:5], new, sample_weight=w) == pytest.approx(part)
    assert single.score(X[:5], new) != pytest.approx(part)


def test_a_C_that_a_fold_chose_is_kept_unless_it_is_learned():
    for regularizer, C, kept in ((1, "auto", 3.0), (1, 0.5, 0.5), (EmpiricalBayes(), "auto", "auto")):
        fold = SimpleNamespace(plan=SimpleNamespace(
            regularizer=SimpleNamespace(bayesian=isinstance(regularizer, EmpiricalBayes)),
            examples=SimpleNamespace(C=3.0)))  # fmt: skip
        assert _held_out._with_C_of(fold, MKLRegressor(KERNELS, C=C)).C == kept


def test_points_are_drawn_by_the_seed_and_equal_values_lie_below(monkeypatch):
    monkeypatch.setattr(_held_out, "MAX_POINTS", 5)
    true, told = np.arange(40.0), [(np.arange(40), np.full(40, 10.0))]
    found = [_held_out._told(a_case(true, "regression", seed=seed), told, []) for seed in (0, 0, 1)]
    drawn = [[point[0] for point in one["points"]] for one in found]
    assert drawn[0] == drawn[1] != drawn[2] and all(max(one) > 5 for one in drawn)
    assert found[0]["below"] == pytest.approx(11 / 40)


@pytest.mark.parametrize("many", [12, 13])
def test_up_to_twelve_classes_have_a_confusion_matrix(many):
    y = np.arange(26) % many
    found = _held_out._told(a_case(y), [(np.arange(26), y)], [])
    assert ("confusion" in found) == (many == 12)


def test_which_examples_are_shown_and_how_many():
    assert [_decisions.size_of(given) for given in (None, 3, np.int64(4), [1, 2])] == [6, 3, 4, 24]
    case = a_case(np.arange(4) % 2)
    case.model.multilabel_, case.model.intercept_ = False, np.zeros(1)
    assert _decisions.Decisions(case, None, 100).size == 24
    for outputs, kind, multilabel, possible in (
        (1, "regression", False, True), (2, "regression", False, False), (3, "classification", False, True),
        (3, "classification", True, False), (1, "classification", True, True),
    ):  # fmt: skip
        own = case._replace(kind=kind)
        own.model.multilabel_, own.model.intercept_ = multilabel, np.zeros(outputs)
        assert _decisions.Decisions(own, None, 3).possible == possible
        assert not _decisions.Decisions(own, None, 0).possible


def test_examples_have_the_names_of_their_rows():
    assert _singles.ids_of(pd.DataFrame(X)) is None and _singles.ids_of(X) is None and _singles.ids_of(["a"]) is None
    named = pd.DataFrame(X[:2], index=pd.RangeIndex(2, name="patient"))
    assert list(_singles.ids_of(named)) == [0, 1]
    assert list(_singles.ids_of(pd.DataFrame(X[:2], index=["p", "q"]))) == ["p", "q"]
    left, other = (pd.DataFrame(X[:3], index=list(names)) for names in ("pqr", "pqs"))
    assert list(_singles.ids_of({"a": left, "b": left, "c": X[:3]})) == ["p", "q", "r"]
    assert _singles.ids_of({"a": left, "b": left, "c": other}) is None
    assert _singles.ids_of({"a": left, "b": other}) is None and _singles.ids_of({"a": X[:3]}) is None
    assert _singles.ids_of(Pairs([[2, 0], [0, 1]], left, X[:2])) == ["r × 0", "p × 1"]
    times = np.array([(True, 2.5), (False, 30.0)], dtype=[("event", bool), ("time", float)])
    assert [_singles._plain(one) for one in times] == ["event at 2.5", "censored at 30"]
    assert type(_singles._plain(np.float64(0.5))) is float


def test_values_are_typed_as_code():
    assert [_repeat.typed(v) for v in ((1,), (1, 2.5), [np.float64(0.5)], {"a": (None,)})] == [
        "(1,)", "(1, 2.5)", "[0.5]", "{'a': (None,)}"]  # fmt: skip
    long = np.arange(3000)
    assert "..." not in _repeat.typed(long) and "\n" not in _repeat.typed(long) and "2999" in _repeat.typed(long)
    code = _repeat.code_of(MKLRegressor(KERNELS, C=2.0, verbose=True, tol=1e-3))
    assert "C=2.0" in code and "verbose" not in code and ("tol" in code) == (MKLRegressor().tol != 1e-3)
    assert _repeat.code_of(MKLRegressor()) == "MKLRegressor()"
    lines = _repeat.imports_of("f(array([nan]), inf, RBF(), MKLRegressor())")
    assert lines == ["from manykernels import MKLRegressor", "from manykernels.kernels import RBF",
                     "from numpy import array, nan, inf"]  # fmt: skip


def test_data_and_options_that_cannot_be_typed_are_variables():
    def lines(y, **options):
        return _repeat.report_lines(MKLRegressor(), y, ReportOptions(**options))

    assert lines(None)[-3:] == ["# X: the data of this page", "model.fit(X)", "model.report(X, None, 'report.html')"]
    assert lines(y)[-2:] == ["model.fit(X, y)", "model.report(X, y, 'report.html')"]
    told = lines(y, covariates=[[1.0]], groups=[1, 2], scoring=len, title="x" * 500)
    assert told[-2] == "model.fit(X, y, covariates=covariates)"
    assert told[-3].startswith("# X, y, scoring, groups, covariates, title: the data and options")
    assert "groups=groups, covariates=covariates" in told[-1] and "title=title" in told[-1]
    assert [line for line in told if "import" in line] == ["from manykernels import MKLRegressor"]


def test_quantiles_and_chosen_parameters_are_described():
    assert describe._quantile(MKLRegressor(loss=Quantile(0.2))) == 0.2
    assert describe._quantile(MKLRegressor(loss="quantile", q=0.7)) == 0.7
    assert describe._quantile(MKLRegressor()) is None and describe._quantile(MKLClassifier()) is None
    fitted = MKLClassifier(KERNELS, C=2.5, class_weight="balanced").fit(X, y)
    fitted.C_ = 7.0  # of an earlier fit
    shown = describe.describe_model(fitted)["parameters"]
    assert (shown["C"], shown["class_weight"]) == ("2.5", "'balanced'")
    fitted.C = "auto"
    assert describe.describe_model(fitted)["parameters"]["C"] == '"auto", which chose 7'
    fitted.duality_gap_ = math.nan
    assert describe.describe_model(fitted)["gap"] is None


def test_columns_that_no_kernel_sees_are_listed():
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    some = MKLClassifier([("a", RBF(0.5), ["a"])], C=1.0).fit(frame, y)
    every = MKLClassifier([("a", RBF(0.5), ["a"]), ("all", Linear())], C=1.0).fit(frame, y)
    assert describe._unused(some, frame) == ["b", "c"] and describe._unused(every, frame) == []


def test_intervals_hold_with_a_probability_of_95_percent():
    scores, guess = np.array([0.5, 0.6, 0.7, 0.8]), np.zeros(4)
    half = {level: t.ppf(0.5 + level / 2, 3) * np.std(scores, ddof=1) * np.sqrt(0.25 + 0.25) for level in (0.9, 0.95)}
    for level, better in ((0.9, False), (0.95, True)):  # just within the interval, and just outside
        shift = scores.mean() - half[level] - 0.01 * better
        assert _held_out._surely_better(scores - shift, guess, 0.25) == better


def test_the_six_largest_parts_of_a_decision_are_shown(model):
    parts = np.array([0.1, -0.8, 0.7, 0.0, 0.6, -0.5, 0.4, 0.3, -0.2])
    case = a_case(np.arange(4.0), "regression", model=SimpleNamespace(
        loss="squared", intercept_=np.zeros(1), kernel_names_=list("abcdefghi"),
        predictor_=SimpleNamespace(kernel_list=None)))  # fmt: skip
    held = _decisions.Decisions(case, np.array([1]), 24)
    held.names, held.rows = list("abcdefghi"), [1]
    held.known = {1: _decisions.Decision(parts, 0.25, None, "prediction")}
    (row,) = _singles.single_examples(case, [3], np.array([0, 3]), held, None)["rows"]
    assert [part["name"] for part in row["parts"]] == ["b", "c", "e", "f", "g", "h"] and row["held_out"]
    assert row["others"] == {"count": 2, "value": pytest.approx(-0.1)} and row["sum"] == pytest.approx(0.85)
    assert (row["row"], row["true"], row["prediction"], row["intercept"]) == (3, 3.0, None, 0.25)
