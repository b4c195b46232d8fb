"""What a user asks of a report reaches the measurements, and what cannot be measured is refused; nothing is fitted."""

import json
import math
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from manykernels import MKLClassifier, MKLRegressor
from manykernels.kernels import RBF, Linear
from manykernels.report import (
    ReportOptions,
    _repeat,
    _report,
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

    def show_stages(verbose):
        found.shown = verbose
        return real(False)

    real = _report.show_stages
    monkeypatch.setattr(_report, "measure", measure)
    monkeypatch.setattr(_report, "show_stages", show_stages)
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


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"groups": np.zeros((24, 1))}, "groups has 2 axes"),
        ({"groups": [0] * 25}, "groups has 25 entries, and X 24 rows"),
        ({"threshold": "0.5"}, "threshold"),
        ({"threshold": math.nan}, "threshold"),
        ({"examples": []}, "rows of X from 0 to 23"),
        ({"examples": [-1]}, "rows of X from 0 to 23"),
        ({"examples": [24]}, "rows of X from 0 to 23"),
        ({"examples": [0.5]}, "rows of X from 0 to 23"),
        ({"examples": -1}, "examples=-1"),
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
    for wrong, said in ((None, "y=None"), (y[:-1], "one target per example"),
                        (np.zeros((24, 2, 2)), "one target per example"),
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
    for path in (tmp_path, tmp_path / "none" / "page.html", tmp_path / "page.json"):
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
