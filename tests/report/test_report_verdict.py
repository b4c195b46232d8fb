"""Quick and full, Python and the command line come to one verdict, and name what they measured."""

import copy
import re

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array

from manykernels import MKLClassifier, MKLRegressor, Views
from manykernels.kernels import RBF, Categorical, Linear
from manykernels.report._report import section
from manykernels.report._words import RELEVANT
from manykernels.report._worth import alike_columns, identical


def pictures(n=60, numbers=4, classes=3, seed=0):
    """Numbers of which two tell the kind, and a site that tells a little of it: no ties, as it has a value a kind."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % classes
    centres = np.array([[0, 0], [3, 0], [0, 3]])
    frame = pd.DataFrame(
        {f"colour_{j}": rng.normal(size=n) + (centres[kind, j] if j < 2 else 0) for j in range(numbers)}
    )
    sites = np.array(["south", "north", "west"])[:classes]
    frame["site"] = sites[np.where(rng.random(n) < 0.5, kind, rng.integers(0, classes, n))]
    return frame, np.array([f"kind {k}" for k in kind])


def told(report):
    lead = re.search('<div class="lead">(.*?)</div>', report.html(), re.S).group(1)
    return " ".join(re.sub("<[^>]+>", "", lead).split())


@pytest.fixture(scope="module")
def both():
    frame, kind = pictures()
    numbers = [name for name in frame if name != "site"]
    kernels = [(name, RBF("median"), [name]) for name in numbers]
    kernels += [("all numbers", RBF("median"), numbers), ("site", Categorical(), ["site"])]
    model = MKLClassifier(kernels, C=1.0).fit(frame, kind)
    own = {name: name for name in ["all numbers", *frame]}
    made = [model.report(frame, kind, cv=4, relevance=way, stability=0, sources=own) for way in ("fast", "full")]
    return model, frame, kind, made


@pytest.mark.parametrize("deciding", ["colour_0", "site"])
def test_quick_and_full_name_the_only_column_that_matters(deciding):
    """The default kernels share columns, so that the columns are the sources; noise gets no verdict."""
    frame, _ = pictures(80, numbers=2)
    frame["colour_0"] = np.random.default_rng(1).normal(size=80)
    y = frame.colour_0 > 0 if deciding == "colour_0" else frame.site == "north"
    model = MKLClassifier(C=1.0).fit(frame, y)
    fast, full = (model.report(frame, y, cv=4, relevance=way, stability=0) for way in ("fast", "full"))
    for report, measure in ((fast, "permute"), (full, "relevance")):
        found = report.facts["sources"]
        assert found["measure"] == measure and found["verdict"] == [deciding]
        rows = {row["name"]: row for row in found["rows"]}
        assert set(rows) == {"all columns", *frame} and rows[deciding][measure] > 0.2
        assert rows["all columns"]["several"] and measure not in rows["all columns"]
        assert sum(row["share"] for row in rows.values()) == pytest.approx(1)
    one, other = ({unit["name"]: unit for unit in made.facts["sources"]["units"]} for made in (fast, full))
    assert all(one[name]["permute"] == pytest.approx(other[name]["permute"]) for name in frame)
    assert not any("drop" in unit for unit in one.values()) and all("drop" in unit for unit in other.values())


def test_columns_beyond_the_bound_are_only_shuffled_and_the_page_says_so(monkeypatch):
    """The columns with the largest loss are left out; the verdict is about them alone."""
    monkeypatch.setattr("manykernels.report._worth.MAX_ENTRIES", 1e8)  # all are shuffled, three are left out
    frame, kind = pictures(numbers=4, classes=2)
    model = MKLClassifier(C=1.0).fit(frame, kind)
    report = model.report(frame, kind, cv=3, stability=0)
    found = report.facts["sources"]
    left = [unit for unit in found["units"] if "drop" in unit]
    lost = [unit for unit in found["units"] if "drop" not in unit]
    assert len(left) == found["refitted"] == 3 and len(lost) == 2 and found["units"][3:] == lost
    assert min(unit["permute"] for unit in left) >= max(unit["permute"] for unit in lost)
    assert set(found["verdict"]) <= {unit["name"] for unit in left}


def test_too_many_columns_are_shuffled_together(monkeypatch):
    monkeypatch.setattr("manykernels.report._worth.MAX_ENTRIES", 0.0)  # three units
    frame, kind = pictures(numbers=3, classes=2)
    model = MKLClassifier(C=1.0).fit(frame, kind)
    units = model.report(frame, kind, cv=3, stability=0).facts["sources"]["units"]
    rest = next(unit for unit in units if unit["why"] == "rest")
    assert len(units) == 3 and len(rest["members"]) == len(frame.columns) - 2 and "drop" in rest


def test_a_column_that_another_repeats_is_not_called_worthless_by_shuffling():
    """A quick mode does not rank what it cannot separate."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.normal(size=80), "noise": rng.normal(size=80)})
    frame["again"] = np.exp(frame.a + 0.02 * rng.normal(size=80))
    frame["site"] = np.where(frame.noise > 0.3, "north", "south")
    frame["code"] = np.where(frame.noise > 0.3, "n", "s")
    assert alike_columns(frame) == {0: 2, 2: 0, 3: 4, 4: 3}
    assert alike_columns(frame.assign(again=-frame.again)) == alike_columns(frame)
    assert alike_columns(frame.to_numpy(object)) == {3: 4, 4: 3}  # texts
    model = MKLClassifier(C=1.0).fit(frame, frame.a > 0)
    report = model.report(frame, frame.a > 0, cv=4, relevance="fast", stability=0)
    assert report.facts["sources"]["alike"] == {"a": "again", "again": "a", "site": "code", "code": "site"}
    assert "do not settle whether" not in told(report)


def test_quick_and_full_have_the_same_verdict_on_sources_that_share_columns(both):
    fast, full = (report.facts["sources"] for report in both[3])
    assert fast["verdict"] == full["verdict"] == ["all numbers and 4 that share columns", "site"]
    for one, other in zip(fast["units"], full["units"], strict=True):
        assert one["members"] == other["members"]
        for key in ("relevance", "relevance_low", "drop", "gain"):
            assert one[key] == pytest.approx(other[key])
    assert told(both[3][0]) == told(both[3][1])


@pytest.mark.parametrize(
    "low, drop, filled",
    [(0.01, 0.05, True), (0.01, 0.0, True), (0.0, 0.05, False), (0.01, -0.02, False), (-0.3, -0.2, False)],
)
def test_the_dot_of_a_source_is_filled_where_it_is_clearly_worth_something(both, low, drop, filled):
    """So was the dot of a source that clearly does harm.

    A source that is not missed, since others say the same, is worth something by itself.
    """
    facts = copy.deepcopy(both[3][0].facts)
    for row in [*facts["sources"]["rows"], *facts["sources"]["units"]]:
        if row["name"] == "site":
            row |= {"relevance_low": low, "relevance": low + 0.1, "relevance_high": low + 0.2, "drop": drop}
    dots = re.findall('class="dot( clear)?"[^>]*data-t="site:', section("sources", facts))
    assert dots == [" clear" if filled else ""]


def test_a_bound_joins_all_but_the_heaviest_sources_and_both_modes_judge_them_alike(monkeypatch):
    """Wherever the heaviest stand in the list."""
    monkeypatch.setattr("manykernels.report._worth.MAX_ENTRIES", 0.0)  # three units
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 5))
    y = X @ [0.6, 0.7, 3.0, 0.5, 2.0] + 0.1 * rng.normal(size=60)
    model = MKLRegressor([(f"k{j}", Linear(), [j]) for j in range(5)], loss="squared", C=1.0).fit(X, y)
    assert [f"k{j}" for j in np.argsort(-model.kernel_weights_)[:2]] == ["k2", "k4"]
    fast, full = (model.report(X, y, cv=3, relevance=way, stability=0) for way in ("fast", "full"))
    for report in (fast, full):
        units = report.facts["sources"]["units"]
        assert sorted([sorted(unit["members"]) for unit in units]) == [["k0", "k1", "k3"], ["k2"], ["k4"]]
    assert fast.facts["sources"]["verdict"] == full.facts["sources"]["verdict"] != []
    assert told(full).startswith(told(fast))  # and more precisely


def test_identical_columns_are_found_and_their_sources_judged_together():
    frame, kind = pictures(48, 3, 2)
    frame["copy"] = frame.colour_0
    frame["gaps"] = frame.colour_1.where(np.arange(48) > 3)
    frame["again"], frame["place"], frame["one"], frame["two"] = frame.gaps, frame.site, 1.0, 1.0
    assert identical(frame) == {"copy": "colour_0", "again": "gaps", "place": "site"}
    assert identical(np.array([[1.0, 2, 1], [3, 4, 3]])) == {2: 0}
    kernels = [(name, RBF("median"), [name]) for name in ("colour_0", "colour_1", "copy")]
    for whole in ([], [("whole", RBF("median"), ["colour_0", "colour_1", "copy"])]):  # columns as sources
        model = MKLClassifier(kernels + whole, C=1.0).fit(frame, kind)
        found = model.report(frame, kind, cv=3, relevance="fast", stability=0)
        assert [unit["members"] for unit in found.facts["sources"]["units"] if unit["why"]] == [["colour_0", "copy"]]
        assert found.facts["sources"]["verdict"] == ["colour_0 and copy"]


@pytest.mark.parametrize("kernels", ["auto", [(name, RBF("median"), name) for name in ("mri", "rna", "noise", "copy")]])
def test_identical_views_are_judged_together(kernels):
    rng, kind = np.random.default_rng(0), np.arange(150) % 2
    X = {name: rng.normal(size=(150, d)) for name, d in (("mri", 4), ("rna", 5), ("noise", 3))}
    X["mri"][:, 0] += 1.2 * kind
    X["rna"][:, 0] += 1.5 * kind
    X["copy"] = X["rna"].copy()
    report = MKLClassifier(kernels, C=1.0).fit(X, kind).report(X, kind, cv=4, relevance="full", stability=0, examples=0)
    found = report.facts["sources"]
    assert [unit["members"] for unit in found["units"] if unit["why"]] == [["rna", "copy"]]
    assert "rna and copy" in found["verdict"] and not {"rna", "copy"} & set(found["verdict"])


def test_views_with_the_same_values_are_found():
    x, words = np.array([[0.0, np.nan], [1.0, 2.0]]), ["ACGT", "TTTT"]
    X = {"a": x, "b": x - 0.0, "frame": pd.DataFrame(x), "thin": x[:, :1], "s": words, "t": list(words), "no": [{}, {}]}
    X |= {"sparse": csr_array(np.eye(2)), "again": csr_array(np.eye(2)), "texts": np.array([["u", None], ["v", "w"]])}
    X["same"] = pd.DataFrame(X["texts"])
    expected = {"b": "a", "frame": "a", "t": "s", "again": "sparse", "same": "texts"}
    assert identical(X) == identical(Views(X)) == expected
    assert identical(x[:, ::-1]) == {}


@pytest.mark.parametrize("seed", range(3))
def test_targets_by_chance_and_rare_classes_have_words_that_agree(seed):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(60, 3))
    kernels = [(f"x{k}", Linear(), [k]) for k in range(3)]
    for y in (rng.random(60) > 0.5, X[:, 0] + 0.6 * rng.normal(size=60) > 1.2):
        report = MKLClassifier(kernels, C=0.1).fit(X, y).report(X, y, cv=4, stability=0, examples=0)
        score, found = report.facts["score"], report.facts["sources"]
        said, settled = told(report), score["better"] or score["orders"]
        assert found["settled"] == settled and (not found["verdict"] or settled)
        assert settled or not any(head in said for head in RELEVANT.values())
        assert settled or 'class="dot clear"' not in report.html()
        assert not settled or "rely on anything below" not in said and "as a hint" not in said
