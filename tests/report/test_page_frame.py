"""The frame of a page: links, heads and tools of its tables; and facts at places that few requests reach."""

from html.parser import HTMLParser
from types import SimpleNamespace

import numpy as np
import pytest
from pages import a_source, facts_of, sentence
from report_cases import a_case
from reports import plain_report
from scipy.stats import t
from sklearn.base import clone
from sklearn.model_selection import KFold, StratifiedKFold

from manykernels import MKLClassifier, MKLOneClass, MKLRegressor
from manykernels.inspect.fold import Fold
from manykernels.kernels import RBF, Linear
from manykernels.report import _measure, _rates, _repeat, _words, _worth
from manykernels.report._html import name, strong
from manykernels.report._options import ReportOptions

rng = np.random.default_rng(8)
X = rng.normal(size=(90, 4))
y = np.where(X[:, 0] + 0.4 * rng.normal(size=90) > 0, "yes", "no")
KERNELS = [("a", RBF(0.3), [0]), ("b", RBF(0.3), [1]), ("c", Linear(), [2, 3])]


class Frame(HTMLParser):
    """All elements of a page with their attributes, and {caption: (attributes, heads)} of the tables."""

    def __init__(self, page):
        super().__init__(convert_charrefs=True)
        self.found, self.tables, self.open, self.links, self.ids = [], {}, [], [], []
        self.feed(page)

    def handle_starttag(self, tag, given):
        given = dict(given)
        self.found.append((tag, given))
        self.open.append(tag)
        if "id" in given:
            self.ids.append(given["id"])
        if tag == "a":
            self.links.append([given.get("href"), ""])
        if tag == "table":
            self.own, self.caption, self.heads = given, "", []
        if tag == "th" and "thead" in self.open:
            self.heads.append("")
        if tag in ("meta", "line", "rect", "circle", "polyline", "path", "input", "br", "hr"):
            self.open.pop()

    def handle_startendtag(self, tag, given):
        self.found.append((tag, dict(given)))

    def handle_endtag(self, tag):
        while self.open and self.open.pop() != tag:
            pass
        if tag == "table":
            self.tables[self.caption] = self.own, self.heads

    def handle_data(self, data):
        if self.open and self.open[-1] == "a":
            self.links[-1][1] += data
        if "caption" in self.open and "small" not in self.open:
            self.caption += data
        if (
            "thead" in self.open
            and "th" in self.open
            and "svg" not in self.open
            and self.open[-1] in ("span", "i", "bdi")
        ):
            self.heads[-1] += data


@pytest.fixture(scope="module")
def sites():
    """A report of two classes with probabilities, held out by site, at a threshold, with all sections."""
    model = MKLClassifier(KERNELS, loss="logistic", C=1.0).fit(X, y)
    return model.report(
        X, y, groups=np.repeat(["north", "south", "west"], 30), cv=3, relevance="fast", stability=2, threshold=0.25
    )


def test_links_lead_to_the_sections_in_their_order():
    frame = Frame(plain_report().html())
    sections = [given["id"] for tag, given in frame.found if tag == "section"]
    assert sections == ["sure", "sources", "stability", "examples", "kernels", "alignment", "convergence", "data",
                        "settings"]  # fmt: skip
    assert [(href, text) for href, text in frame.links if href != "#main"] == [
        (f"#{key}", head) for key, head in zip(sections, (
            "How sure", "Sources", "Stability", "Single examples", "Kernels", "Alignment", "Convergence", "Data",
            "Settings"), strict=True)]  # fmt: skip
    assert "main" in frame.ids and len(frame.ids) == len(set(frame.ids))
    for tag, given in frame.found:
        if tag == "section":
            assert given["aria-labelledby"] in frame.ids
    metas = {given.get("name"): given.get("content") for tag, given in frame.found if tag == "meta"}
    assert "width=device-width" in metas["viewport"] and metas["referrer"] == "no-referrer"


def test_heads_of_tables_are_words_and_long_tables_have_tools(sites):
    """The footer promises that a click sorts a table. A class of the style in place of a head would be seen."""
    frames = Frame(sites.html()), Frame(plain_report().html())
    heads = {caption: given for frame in frames for caption, (_, given) in frame.tables.items()}
    assert not {"num", "graph", "more", "num more", "graph worth", "num folds"} & {
        h for own in heads.values() for h in own
    }
    assert heads["Sensitivity and specificity"] == ["rate", "held out", "examples", "in words"]
    (classes,) = [own for caption, own in heads.items() if caption == "Classes" and own[0] == "cultivar"]
    assert classes[2:] == ["examples", "share"]
    label = "Predicted probabilities of held-out examples, and observed frequencies"
    assert heads[label] == ["probability", "mean", "observed", "examples"]
    assert heads["Each group held out"][:4] == ["group", "examples", "this model", "guess"]
    assert set(heads["Each group held out"][4:]) == {"a", "b", "c"}
    tools = [{caption for caption, (given, _) in frame.tables.items() if "data-tools" in given} for frame in frames]
    assert {"Each group held out", "Columns", "Shares of the weights over samples"} <= tools[0]
    assert {"Columns", "Kernels, the heaviest first", "Sources, the most relevant first",
            "Share of each source in the weights of each class"} <= tools[1]  # fmt: skip


def test_the_score_of_relevance_has_its_name(sites):
    """Of two classes the relevance is in the area under the ROC curve, of more in the score itself."""
    assert sites.facts["sources"]["scoring"] == "roc_auc" and sites.facts["score"]["measure"] == "accuracy"
    assert plain_report().facts["sources"]["scoring"] == "accuracy"
    model = MKLClassifier(KERNELS, C=1.0).fit(X, y)
    found = model.report(X, y, cv=2, relevance="fast", stability=0, scoring="balanced_accuracy").facts
    assert found["sources"]["scoring"] == found["score"]["measure"] == "balanced_accuracy"
    assert "area under the ROC curve (the probability" in sites.html()


def test_sites_have_the_scores_of_fresh_fits_without_them(sites):
    where = np.repeat(["north", "south", "west"], 30)
    rows = sites.facts["sources"]["sites"]
    assert sorted(row["name"] for row in rows) == ["north", "south", "west"]
    for row in rows:
        out = where == row["name"]
        fit = MKLClassifier(KERNELS, loss="logistic", C=1.0).fit(X[~out], y[~out])
        assert row["examples"] == 30 and row["score"] == pytest.approx(fit.score(X[out], y[out]))
        values, counts = np.unique(y[~out], return_counts=True)
        assert row["baseline"] == pytest.approx(np.mean(y[out] == values[counts.argmax()]))
    score = sites.facts["score"]
    for key, folds in (("mean", score["folds"]), ("baseline", score["baseline_folds"])):
        assert score[key] == pytest.approx(np.mean(folds))
    assert sorted(score["folds"]) == pytest.approx(sorted(row["score"] for row in rows))
    assert score["folds"] != score["baseline_folds"]
    se = np.std(score["folds"], ddof=1) * np.sqrt(1 / 3 + 30 / 60)  # n_test / n_train
    half = t.ppf(0.975, 2) * se
    assert (score["se"], score["low"], score["high"]) == pytest.approx((se, score["mean"] - half, score["mean"] + half))


def test_rows_that_are_asked_for_are_held_out_however_many_there_are():
    """More rows than a page may show; those in the middle are neither clear nor close nor mistaken."""
    n = 700
    Z = rng.normal(size=(n, 1))
    target = Z[:, 0] + 0.5 * rng.normal(size=n)
    model = MKLRegressor([("one", Linear())], loss="squared", C=1.0).fit(Z, target)
    error = model.predict(Z) - target
    asked = [int(np.argsort(np.abs(error))[k]) for k in (300, 333, 366)] + [int(np.argsort(error)[520])]
    found = model.report(Z, target, cv=KFold(2), relevance="fast", stability=0, examples=asked).facts["examples"][
        "rows"
    ]
    assert [row["row"] for row in found] == asked and all(row["held_out"] for row in found)
    for train, test in KFold(2).split(Z):
        fit = clone(model).fit(Z[train], target[train])
        for row in found:
            if row["row"] in test:
                assert row["sum"] == pytest.approx(fit.predict(Z[[row["row"]]])[0], abs=1e-6)
                assert row["true"] == pytest.approx(target[row["row"]]) and row["why"] == "chosen by you"


def test_decisions_are_called_by_what_they_are():
    only = dict(cv=None, stability=0)
    two = MKLClassifier(KERNELS, C=1.0).fit(X, y).report(X, y, **only).facts["examples"]
    assert two["label"] == "decision for yes against no" and {row["prediction"] for row in two["rows"]} == {"yes", "no"}
    counts = rng.poisson(np.exp(0.5 * X[:, 0])).astype(float)
    fit = MKLRegressor(KERNELS, loss="poisson", C=1.0).fit(X, counts)
    found = fit.report(X, counts, **only).facts["examples"]
    assert found["label"] == "logarithm of an expected count"
    for row in found["rows"]:
        assert float(row["prediction"]) == pytest.approx(fit.predict(X[[row["row"]]])[0], rel=1e-3)
        assert row["sum"] == pytest.approx(np.log(fit.predict(X[[row["row"]]])[0]), rel=1e-6, abs=1e-9)
    plain = MKLRegressor(KERNELS, C=1.0).fit(X, X[:, 0]).report(X, X[:, 0], **only).facts["examples"]
    assert plain["label"] == "prediction" and not any(row["prediction"] for row in plain["rows"])
    inside = MKLOneClass(KERNELS).fit(X).report(X, **only).facts["examples"]
    assert inside["label"] == "decision" and all(row["true"] is None for row in inside["rows"])


def test_outputs_that_share_their_weights_are_one_fit():
    """The work is n² × kernels × fits: three classes with one vector of weights are read at once."""
    seen = {}
    for weights, passes in ((np.ones(4), 1), (np.ones((3, 4)), 3)):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_measure, "MAX_ENTRIES", 5 * 3 * 4 * 63**2 + 1.0)
            patch.setattr(_measure, "_weights", lambda case: {"sources": {}})
            patch.setattr(_measure, "_stability", lambda case, samples: None)
            patch.setattr(_measure, "_alignment", lambda case: None)
            patch.setattr(_measure, "single_examples", lambda *own: None)
            patch.setattr(_measure, "score", lambda case, *own: {"score": seen.update(one_pass=own[3])})
            model = SimpleNamespace(kernel_names_=list("abcd"), kernel_weights_=weights, intercept_=np.zeros(3),
                                    history_=[], kernels="auto", classes_=np.arange(3), multilabel_=False)  # fmt: skip
            case = a_case(np.arange(120) % 3)._replace(model=model, X=np.zeros((120, 1)))
            used = _measure.measure(case, 5, "fast", 0, None, None)["sampled"]["used"]
        assert used == int(63 * np.sqrt(3 / passes)) and seen["one_pass"] == (used**2 * 4 + 5e6) * passes


def test_calibration_takes_equal_probabilities_in_the_order_of_the_folds():
    true = np.array(["a", "b"])[rng.integers(0, 2, 64)]
    p = rng.integers(0, 3, 64) / 4
    order = rng.permutation(64)
    folds = [
        _rates.Held(rows, np.zeros((32, 1)), np.column_stack([1 - p[rows], p[rows]])) for rows in np.split(order, 2)
    ]
    found = _rates._calibration(a_case(true), folds)
    ranked = sorted(range(64), key=lambda k: p[order][k])  # stable
    start = 0
    for row in found["rows"]:
        own = order[ranked[start : start + row["count"]]]
        start += row["count"]
        assert row["came"] == pytest.approx(np.mean(true[own] == "b")) and row["said"] == pytest.approx(p[own].mean())
    assert start == 64 and len(found["rows"]) == 6


def test_code_is_on_one_line_and_options_bring_their_imports():
    table = np.array([[1.0, 2.0], [3.0, 4.0]])
    line = _repeat.typed(table)
    assert "\n" not in line and np.array_equal(eval(line, {"array": np.array}), table)
    assert _repeat.typed({"a": [np.float64(2.0), (np.int64(1),)]}) == "{'a': [2.0, (1,)]}"
    own = MKLRegressor([("one", RBF(0.5), [0])], C=2.0)
    lines = _repeat.report_lines(own, X[:, 0], ReportOptions(cv=StratifiedKFold(3), covariates=X))
    assert "from sklearn.model_selection import StratifiedKFold" in " ".join(lines).replace("._split", "")
    assert lines[-2] == "model.fit(X, y, covariates=covariates)" and "covariates=covariates" in lines[-1]
    assert "StratifiedKFold(n_splits=3" in lines[-1] and lines[-3].endswith(": the data and options of this page")
    assert any(line.startswith("# X, y, covariates: ") for line in lines)
    for wrong in ("some", None, "Full"):
        with pytest.raises(ValueError, match="relevance"):
            ReportOptions(relevance=wrong)


def test_what_is_clearly_relevant_is_bold():
    unit = {"name": "rna", "members": ["rna"], "why": ""}
    assert _words.called(unit, True) == strong(name("rna", 60)) and _words.called(unit) == name("rna", 60)
    two = {"name": "rna and dna", "members": ["rna", "dna"], "why": "columns"}
    assert _words.called(two, True).startswith(strong(name("rna", 60)))
    assert _words.called(two | {"why": "rest"}, True) == strong("2 other sources together")
    assert _words.called(two | {"why": "rest"}) == "2 other sources together"
    rows = [a_source("rna", 0.6, relevance=0.2, relevance_low=0.1, relevance_se=0.02, drop=0.1, gain_low=0.1)]
    facts = facts_of()
    facts["sources"] |= {"rows": rows, "units": [rows[0] | unit], "verdict": ["rna"]}
    assert f"{_words.RELEVANT['alone']}: rna." in sentence("matters", facts)


def test_sources_of_groups_are_measured_singly_too_the_heaviest_first():
    """The kernels a and b share columns; c is by itself, and lighter than both."""
    kernels = [("a", RBF(0.3), [0, 1]), ("b", Linear(), [1, 0]), ("c", RBF(0.3), [3])]
    target = X[:, 0] + np.sin(X[:, 1]) + 0.05 * X[:, 3]
    model = MKLRegressor(kernels, C=1.0, regularizer=2).fit(X, target)
    sources = {"a": [0], "b": [1], "c": [2]}
    case = a_case(target, "regression", model=model, X=X, sources=sources)
    fold = Fold(model, X, target, None, np.arange(60), np.arange(60, 90), lambda *own: 0.0)
    share = dict(zip("abc", fold.shares(list(np.eye(3, dtype=bool))), strict=True))
    assert share["c"] < min(share["a"], share["b"])
    heavy = sorted("ab", key=lambda one: -share[one])
    for mode in ("fast", "full"):
        plan = _worth.make_plan(case, fold, mode, 5)
        assert [row.name for row in plan.rows if row.kind == "kernel"] == heavy and plan.refits is None
        assert [len(unit.members) for unit in plan.units] == [2, 1]
        assert [row.name for row in plan.rows if row.kind == "source"] == [unit.name for unit in plan.units]
        assert [row.name for row in plan.sources] == ["a", "b", "c"]
