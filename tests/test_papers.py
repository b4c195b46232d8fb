"""The reruns of the papers: how findings are judged, cells kept and pages written. The findings run in CI."""

import gzip
import json
import threading
import time
from importlib import import_module

import numpy as np
import pytest
from papers import PAPERS, _clock, _code, _crew, _margins, _page, _verdict
from papers.__main__ import run
from papers._data import Data
from papers._scale import CutOff, NotKept, Scale, named
from papers._worker import Worker


def finding(**given):
    return _page.Finding(**{"says": "a", "theirs": "1", "ours": "2", "verdict": True, "margin": "0.1"} | given)


def tripled(x):
    print("a cell may print")
    return {"value": 3 * x}


def slow(x):
    if x < 0:
        raise ValueError("x must not be negative")
    time.sleep(x)
    return x


WORDS = ("agree", "tie", "disagree")


@pytest.mark.parametrize("verdict", WORDS)
@pytest.mark.parametrize("expected", WORDS)
def test_a_finding_holds_exactly_if_it_is_as_expected(verdict, expected):
    assert finding(verdict=verdict, expected=expected, reason="known").holds == (verdict == expected)


def test_a_difference_counts_from_two_standard_errors_on():
    values = np.array([1.0, 2.0, 3.0, 4.0])  # mean 2.5, standard error 0.645
    assert [_verdict.above(values, bound) for bound in (1.2, 1.22, 3.78, 3.8)] == ["agree", "tie", "tie", "disagree"]
    assert _verdict.below(values, 3.8) == "agree" and _verdict.near(-values, 3.8) == "agree"
    assert _verdict.near(values, 2) == "tie" and _verdict.near(values, 1) == "disagree"
    assert _verdict.above([0.1]) == "agree", "one run has no standard error"
    assert _verdict.above([1.0, 1.1]) == "tie", "that of two says nothing"
    assert _verdict.above([0.0, 0.0, 0.0]) == "tie"


def test_pairs_tell_what_means_do_not():
    a, noise = np.arange(10.0), np.tile([0.1, -0.1], 5)
    assert _verdict.above(a + 1 + noise - a) == "agree" and _verdict.unpaired(a + 1 + noise, a) == "tie"
    assert _verdict.unpaired(a + 9, a) == "agree" and _verdict.unpaired(a + 9, a, 8) == "tie"


def test_the_best_is_compared_with_the_best_other():
    table = np.array([[3.0, 1.0, 2.9], [4.0, 2.0, 3.8], [5.0, 3.0, 4.9]])
    assert _verdict.first(table, 0) == "agree" and _verdict.first(table, 1) == "disagree"
    assert _verdict.last(table, 1) == "agree" and _verdict.first(table, 1, 2) == "disagree"
    assert _verdict.first(table, 0, 1) == "agree"


@pytest.mark.parametrize(
    ("verdicts", "every", "most", "told"),
    [
        ("aaa", "agree", "agree", "3 of 3"),
        ("aat", "tie", "agree", "2 of 3, 1 tie"),
        ("aad", "disagree", "agree", "2 of 3, 1 against"),
        ("att", "tie", "tie", "1 of 3, 2 ties"),
        ("ttd", "disagree", "disagree", "0 of 3, 2 ties, 1 against"),
        ("ad", "disagree", "tie", "1 of 2, 1 against"),
    ],
)
def test_verdicts_on_several_sets(verdicts, every, most, told):
    words = [next(word for word in WORDS if word.startswith(letter)) for letter in verdicts]
    assert (_verdict.every(words), _verdict.most(words), _verdict.counted(words)) == (every, most, told)


def test_a_small_run_leaves_ties_open():
    section = _page.Section("T", "p", "d", [finding(verdict="tie"), finding(verdict=False), finding()])
    section.findings.append(finding(expected="tie", reason="known"))
    _page.weaker(section)
    assert [item.judged for item in section.findings] == [False, True, True, False]


def test_a_finding_that_is_not_judged_holds():
    assert finding(verdict=False, judged=False).holds


def test_a_finding_that_should_disagree_needs_a_reason():
    with pytest.raises(ValueError, match="needs a reason"):
        finding(expected="disagree")


def test_a_cell_is_run_once_and_then_read(tmp_path):
    assert Scale(False, tmp_path).cell(tripled, x=2) == {"value": 6}
    (path,) = tmp_path.iterdir()
    path.write_text(json.dumps(json.loads(path.read_text()) | {"result": "kept"}))
    assert Scale(False, tmp_path).cell(tripled, x=2) == "kept"


def test_a_cell_without_a_folder_is_run_once_as_well():
    scale, before = Scale(True), len(CALLS)
    assert [scale.cell(counted, x=x) for x in (1, 2, 1)] == [1, 2, 1]
    assert CALLS[before:] == [1, 2] and len(scale.cells) == 3


CALLS = []


def counted(x):
    CALLS.append(x)
    return x


def test_a_cell_is_known_by_its_floats_to_12_digits(tmp_path):
    """10.0 ** -5 is 1e-05 on one processor and 9.999999999999999e-06 on another."""
    values = [np.array([1e-5, 0.1]), (np.float64(1 / 3), np.inf, 2), {"x": 0.3}, None, "a", True]
    other = [[9.999999999999999e-06, 0.1], [0.333333333333, np.inf, 2], {"x": 0.1 + 0.2}, None, "a", True]
    assert named({"p": values}) == named({"p": other}) != named({"p": [1.00000000001e-5, *other[1:]]})
    assert json.loads(named({"n": 12345678901234567}))["n"] == 12345678901234567, "whole numbers are left as they are"
    scale = Scale(False, tmp_path)
    assert scale.cell(tripled, x=9.999999999999999e-06) == {"value": 3 * 9.999999999999999e-06}, (
        "it is given all digits"
    )
    assert scale.cell(tripled, x=1e-5) == {"value": 3 * 9.999999999999999e-06} and len(list(tmp_path.iterdir())) == 1


def on_digits(data):
    return 0 if data.find("mnist.npz") is None else 1


def test_a_cell_that_lacked_data_is_run_again_where_they_are(tmp_path):
    """Cells of a machine without a file stood for those on real data."""
    folder, cells = tmp_path / "data", tmp_path / "cells"
    folder.mkdir()
    assert Scale(False, cells).cell(on_digits, data=Data(folder)) == 0
    (record,) = (json.loads(path.read_text()) for path in cells.iterdir())
    assert record["lacked"] == ["mnist.npz"]
    assert Scale(False, cells, kept=True).cell(on_digits, data=Data(folder)) == 0
    (folder / "mnist.npz").touch()
    with pytest.raises(NotKept):
        Scale(False, cells, kept=True).cell(on_digits, data=Data(folder))
    assert Scale(False, cells).cell(on_digits, data=Data(folder)) == 1
    assert Scale(False, cells, kept=True).cell(on_digits, data=Data(folder)) == 1
    (record,) = (json.loads(path.read_text()) for path in cells.iterdir())
    assert "lacked" not in record


def test_nothing_is_run_where_only_what_is_kept_may_be(tmp_path):
    full, kept = Scale(False, tmp_path), Scale(False, tmp_path, kept=True)
    assert full.repeat(2, lambda seed: full.cell(tripled, x=seed)) == [{"value": 0}, {"value": 3}]
    assert kept.repeat(5, lambda seed: kept.cell(tripled, x=seed)) == [{"value": 0}, {"value": 3}]
    assert kept.time(tripled, x=9) == (None, "to be run")
    with pytest.raises(NotKept):
        kept.cell(tripled, x=9)


def test_a_cell_apart_gives_the_same_and_is_cut_off(tmp_path):
    from papers.kloft2011.toy import sparsity

    assert Scale(False, tmp_path).cell(sparsity, apart=True, informative=5) == 0.9
    with pytest.raises(CutOff, match="> 0 s"):
        Scale(False, cap=0.01).cell(sparsity, apart=True, informative=5)


def test_the_folder_of_data_is_not_part_of_what_a_cell_is_known_by(tmp_path):
    (tmp_path / "a").mkdir(), (tmp_path / "b").mkdir()
    scale = Scale(False, tmp_path / "cells")
    assert [scale.cell(holds, data=Data(tmp_path / name)) for name in "ab"] == ["a", "a"]


def holds(data):
    return data.folder.name


@pytest.mark.parametrize("paper", PAPERS)
def test_every_experiment_has_a_run(paper):
    about = _page.about(paper)
    assert about.title and about.reference and about.picture and about.short
    for name in about.experiments:
        assert callable(import_module(f"papers.{paper}.{name}").run)


def test_pages_say_what_agrees_what_does_not_and_what_is_missing(tmp_path):
    about = _page.about("kloft2011")
    first, second, *_ = about.experiments
    section = _page.Section("Figure 9", "as in the paper", "generated.", timed=True)
    section.findings = [
        finding(says="x grows"),
        finding(says="y falls", verdict=False, expected="disagree", reason="Why."),
    ]
    section.tables = [_page.Table("numbers", ["n", "value"], [["1,000", 0.25], ["2,000", None]])]
    _page.keep(tmp_path, "kloft2011", first, section, Scale(False))
    _page.write(tmp_path, "kloft2011")
    _page.summary(tmp_path, ["kloft2011"])
    page = (tmp_path / "kloft2011.md").read_text()
    assert f"Still to be run: {second}" in page
    assert "| Figure 9: x grows | 1 | 2 | 0.1 | agree |" in page and "| 0.1 | **disagree** |" in page
    assert "- y falls: disagree. Why." in page and "| 2,000 | – |" in page
    summary = (tmp_path / "README.md").read_text()
    assert "1 of 2 findings agree, 0 are ties, 1 disagree, 0 not judged; 1 of" in summary
    assert "| [Kloft 2011](kloft2011.md) | 1 | 0 | 1 | 0 | 0 |  |" in summary
    record = json.loads((tmp_path / "results" / f"kloft2011.{first}.json").read_text())
    assert record["scale"] == "full" and "python" in record["runs"][0][2]


def test_every_claim_of_a_paper_is_on_the_page_with_its_place(tmp_path):
    _page.write_claims(tmp_path, PAPERS)
    page = (tmp_path / "claims.md").read_text()
    for paper in PAPERS:
        section = page.split(f"## {_page.about(paper).short}\n")[1].split("\n## ")[0]
        rows = [row for row in section.splitlines() if row.startswith("| ")][1:]
        assert len(rows) == len(_page.claims(paper)) >= 20
        for row, (claim, place) in zip(rows, _page.claims(paper), strict=True):
            assert claim and place and row == "| {} | {} |".format(*(t.replace("|", "\\|") for t in (claim, place)))


def test_the_summary_names_the_headlines_that_disagree(tmp_path):
    about = _page.about("kloft2011")
    (says, claim), (other, _), *_ = about.headlines.items()
    section = _page.Section("T", "p", "d", [finding(says=other), finding(says="else", verdict=False)])
    section.findings.append(finding(says=says, verdict=False, expected="disagree", reason="Why."))
    _page.keep(tmp_path, "kloft2011", about.experiments[0], section, Scale(False))
    _page.summary(tmp_path, ["kloft2011"])
    summary = (tmp_path / "README.md").read_text()
    assert f"| [Kloft 2011](kloft2011.md) | 1 | 0 | 2 | 0 | 0 | {claim}; 1 more |" in summary
    assert f"| [Kloft 2011](kloft2011.md) | {claim} | 1 | 2 | **disagree** |" in summary
    assert "Where ours was behind" not in summary
    section.behind = [["rows", "1 s", "5 s", "2 s"]]
    _page.keep(tmp_path, "kloft2011", about.experiments[0], section, Scale(False))
    _page.summary(tmp_path, ["kloft2011"])
    assert "| [Kloft 2011](kloft2011.md) | rows | 1 s | 5 s | 2 s |" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize("busy", [True, False])
def test_times_from_a_loaded_machine_are_not_judged(tmp_path, busy):
    about, scale = _page.about("kloft2011"), Scale(False)
    run = {"others": 3.0 if busy else 0.0, "cores": 4, "cpu": 1.0, "seconds": 1.0, "timed": True, "beside": 1}
    scale.cells.append(run)
    section = _page.Section("T", "p", "d", [finding(says="quick", timed=True), finding(says="ends")], timed=True)
    _page.keep(tmp_path, "kloft2011", about.experiments[0], section, scale)
    _page.write(tmp_path, "kloft2011")
    _page.summary(tmp_path, ["kloft2011"])
    page, summary = ((tmp_path / name).read_text() for name in ("kloft2011.md", "README.md"))
    left = "not judged: timed on a loaded machine, where it would agree"
    assert f"| T: quick | 1 | 2 | 0.1 | {left if busy else 'agree'} |" in page
    assert "| T: ends | 1 | 2 | 0.1 | agree |" in page, "other work can only delay it"
    assert ("1 are times from a loaded machine: as they are, 1 would agree" in summary) == busy


def test_times_alone_are_kept_apart_and_run_again_where_others_were_busy(tmp_path, monkeypatch):
    def run(scale, data):
        scale.cell(tripled, x=1, apart=True)
        scale.alone().cell(tripled, x=1, apart=True)

    monkeypatch.setattr(import_module("papers.kloft2011.bounds"), "run", run)
    Scale(False, tmp_path).cell(tripled, x=1, apart=True)
    before = {path.name for path in tmp_path.iterdir()}
    _crew.run([("kloft2011", "bounds")], tmp_path, Data(), 1, timed=True)
    assert {path.name for path in tmp_path.iterdir()} == before, "those that are timed alone are not among them"
    _crew.run([("kloft2011", "bounds")], tmp_path, Data(), 1, alone=True)
    (new,) = {path.name for path in tmp_path.iterdir()} - before
    record = json.loads((tmp_path / new).read_text())
    assert new.startswith("alone.") and record["alone"] and record["result"] == {"value": 3}
    for others, wanted in ((0.1, 0), (3.0, 1)):
        (tmp_path / new).write_text(json.dumps(record | {"others": others, "cores": 2}))
        kept = Scale(False, tmp_path, kept=True)
        part = kept.alone()
        assert part.cell(tripled, x=1, apart=True) == {"value": 3} and len(kept.wanted) == wanted
        assert part.loaded() == bool(wanted) and not kept.cells
    assert Scale(True).alone().quick, "a quick run has no such part"


@pytest.mark.parametrize(
    ("whole", "part", "machine", "left"),
    [(3.0, 0.0, "a", "agree"), (0.0, 3.0, "a", "not judged: timed on a loaded machine, where it would agree"),
     (0.0, 0.0, "b", "not judged: timed on several machines, where it would agree")],
)  # fmt: skip
def test_verdicts_on_times_rest_on_the_part_that_was_timed_alone(tmp_path, whole, part, machine, left):
    scale = Scale(False)
    alone = scale.alone()
    cell = {"cores": 4, "cpu": 1.0, "seconds": 1.0, "timed": True, "beside": 1, "date": "", "versions": {}}
    scale.cells.append(cell | {"others": whole, "machine": "c"})
    alone.cells += [cell | {"others": part, "machine": name} for name in ("a", machine)]
    item, given = finding(says="quick", timed=True), {"timed": True, "clocked": alone}
    _page.keep(tmp_path, "kloft2011", "bounds", _page.Section("T", "p", "d", [item], **given), scale)
    _page.write(tmp_path, "kloft2011")
    page = (tmp_path / "kloft2011.md").read_text()
    assert f"| T: quick | 1 | 2 | 0.1 | {left} |" in page and ("Loaded machine" in page) == bool(part)


def test_runs_of_a_few_seconds_are_repeated_and_the_first_is_left_out(monkeypatch):
    spent = iter([0.0, 5.0, 5.0, 6.0, 6.0, 8.0, 8.0, 11.0, 0.0, 12.0])
    monkeypatch.setattr(_clock.time, "process_time", lambda: next(spent))
    runs = _clock.clocked(lambda: None)
    assert [cpu for cpu, _ in runs] == [5, 1, 2, 3] and _clock.median(runs)[0] == 2 and _clock.spread(runs) == 1
    runs = _clock.clocked(lambda: None)
    assert [cpu for cpu, _ in runs] == [12] and _clock.median(runs)[0] == 12 and _clock.spread(runs) is None


@pytest.mark.parametrize("paper", PAPERS)
def test_every_headline_is_a_finding_of_the_pages(paper):
    about, folder = _page.about(paper), _code.ROOT / "docs" / "papers"
    found = [_page.kept(folder, paper, name) for name in about.experiments]
    assert about.headlines.keys() <= {item.says for record in found for item in record["findings"]}


class Rows:
    """Data whose table has so many rows, each another sequence."""

    def __init__(self, rows):
        self.rows = rows

    def table(self, name, *columns):
        return [[str(i % 2) for i in range(self.rows)], [str(i) for i in range(self.rows)]]


def test_training_sets_of_gene_starts_hold_no_other_example():
    from papers.kloft2011.figure4 import load

    parts = [load(Rows(50), 10, 10, seed)[0] for seed in range(3)]
    train, held = [set(X[:10]) for X in parts], [X[10:] for X in parts]
    assert len(set.union(*train)) == 30 and held[0] == held[1] == held[2] and len(held[0]) == 20
    assert not set.union(*train) & set(held[0])
    with pytest.raises(ValueError, match="need 50 examples, and the file has 49"):
        load(Rows(49), 10, 10, 2)


def test_newsgroups_have_the_documents_of_both_parts(tmp_path):
    from papers.xu2010 import table3

    groups = ("rec.autos", "rec.motorcycles")
    rows = [
        {"group": group, "split": split, "text": "engine wheel road"}
        for group in groups
        for split in ("train", "train", "test")
    ]
    with gzip.open(tmp_path / table3.NEWS, "wt") as file:
        file.write("\n".join(map(json.dumps, rows)))
    sizes = {whole: len(table3.documents(Data(tmp_path), "text4", whole)[1]) for whole in (False, True)}
    assert sizes == {False: 4, True: 6} and all(table3.WHOLE[name] == {"whole": True} for name in ("text4", "text5"))


def test_a_run_names_the_findings_that_are_not_as_known(tmp_path, monkeypatch):
    module = import_module("papers.kloft2011.bounds")
    section = _page.Section("T", "p", "d", [finding(says="holds"), finding(says="fails", verdict=False)])
    monkeypatch.setattr(module, "run", lambda scale, data: section)
    options = type("Options", (), {"quick": True, "kept": False, "data": None, "cap": 60})
    bad = run("kloft2011", options, ["bounds"], tmp_path)
    assert len(bad) == 1 and "fails" in bad[0]


def test_a_check_must_hold_and_is_no_finding(tmp_path, monkeypatch):
    module = import_module("papers.kloft2011.bounds")
    section = _page.Section("T", "p", "d", [finding(says="holds")], [finding(says="fails", verdict=False)])
    monkeypatch.setattr(module, "run", lambda scale, data: section)
    options = type("Options", (), {"quick": True, "kept": False, "data": None, "cap": 60})
    (bad,) = run("kloft2011", options, ["bounds"], tmp_path)
    assert "fails" in bad
    _page.write(tmp_path, "kloft2011"), _page.summary(tmp_path, ["kloft2011"])
    page = (tmp_path / "kloft2011.md").read_text()
    assert "not counted:\n\n- fails: 2 (margin: 0.1): **disagree**." in page and "T: fails" not in page
    assert "1 of 1 findings agree" in (tmp_path / "README.md").read_text()


@pytest.mark.parametrize(("error", "verdict"), [(0.1, "tie"), (0.05, "agree"), (None, "agree")])
def test_times_differ_by_two_standard_errors_of_their_draws(error, verdict):
    from papers.kloft2011._times import _between, _seconds

    cells = [{"cpu": cpu, "error": error} for cpu in (1.2, 1.0)]
    t = {name: _seconds((cell, None)) for name, cell in zip("ab", cells, strict=True)}
    assert _between(t, "a", "b", 1, 3) == verdict and _between(t, "a", "c", 1) == "disagree"
    assert _between(t, "a", "b", 0.5) == "agree" and _between(t, "a", "b", 2) == "disagree"


def doubled(x):
    return 2 * x


def clocked(x):
    return {"cpu": 0.1 * x}


def chained(scale, data):
    first = scale.repeat(3, lambda seed: scale.all((1, 2), lambda x: scale.cell(doubled, x=10 * seed + x)), least=3)
    scale.cell(doubled, x=sum(map(sum, first)))  # known only when all others are
    scale.time(clocked, cores=1, x=3)
    scale.time(clocked, cores=10_000, x=4)


def test_a_crew_runs_what_is_missing_and_what_that_leads_to(tmp_path, monkeypatch):
    monkeypatch.setattr(import_module("papers.kloft2011.bounds"), "run", chained)
    _crew.run([("kloft2011", "bounds")], tmp_path, Data(), jobs=1)
    found = {json.loads(path.read_text())["parameters"]["x"] for path in tmp_path.iterdir()}
    assert found == {1, 2, 11, 12, 21, 22, 138}
    kept = Scale(False, tmp_path, kept=True)
    chained(kept, None)
    assert [item.parameters for item in kept.wanted.values()] == [{"x": 3}], "the other needs more cores than there are"


def test_an_experiment_that_lacks_cells_does_not_fail_and_one_that_has_all_does(tmp_path, monkeypatch, capsys):
    """Of methods with 20 and with 15 repetitions so far it said FAILED, again and again."""

    def uneven(scale, data):
        found = [scale.repeat(3, lambda k, a=a: scale.cell(doubled, x=a + k), least=0) for a in (10, 20)]
        if len(set(map(len, found))) > 1 or broken:
            raise ValueError("shapes (3,) (1,)")

    monkeypatch.setattr(import_module("papers.kloft2011.bounds"), "run", uneven)
    for k in range(3):
        Scale(False, tmp_path).cell(doubled, x=10 + k)
    broken = False
    _crew.run([("kloft2011", "bounds")], tmp_path, Data(), jobs=1)
    assert "FAILED" not in capsys.readouterr().out
    broken = True
    _crew.run([("kloft2011", "bounds")], tmp_path, Data(), jobs=1)
    assert capsys.readouterr().out.count("FAILED") == 1
    assert len(list(tmp_path.iterdir())) == 6


def test_what_is_wanted_is_ranked_by_its_repetition(tmp_path):
    kept = Scale(False, tmp_path, kept=True)
    with pytest.raises(NotKept):
        chained(kept, None)
    assert {item.parameters["x"]: item.rank for item in kept.wanted.values()} == {
        1: 0,
        2: 0,
        11: 1,
        12: 1,
        21: 2,
        22: 2,
    }


def test_a_cell_cut_off_earlier_is_said_so_and_wanted_again(tmp_path):
    from papers.kloft2011.toy import sparsity

    assert Scale(False, tmp_path, cap=0.01).time(sparsity, informative=5) == (None, "> 0 s")
    for cap, wanted in ((0.01, 0), (None, 1)):
        kept = Scale(False, tmp_path, kept=True, **({"cap": cap} if cap else {}))
        assert kept.time(sparsity, informative=5) == (None, "> 0 s") and len(kept.wanted) == wanted
    assert Scale(False, tmp_path, cap=0.005).time(sparsity, informative=5) == (None, "> 0 s"), "not run again"
    assert Scale(False, tmp_path).time(sparsity, informative=5) == (0.9, None)


def test_a_cell_that_is_not_timed_is_cut_off_too_and_the_page_says_so(tmp_path):
    scale = Scale(False, tmp_path / ".cells")

    def cell(x):
        scale.cap = 1.5 if x else 600
        return scale.cell(slow, x=x)

    assert scale.each((60, 0), cell, least=1) == {0: 0}
    scale.worker.close()
    (record,) = [r for path in (tmp_path / ".cells").iterdir() if (r := json.loads(path.read_text()))["result"] is None]
    assert record["limit"] == 1.5 and record["parameters"] == {"x": 60} and record["beside"] == 1
    _page.keep(tmp_path, "kloft2011", "bounds", _page.Section("T", "p", "d"), scale)
    _page.write(tmp_path, "kloft2011")
    page = (tmp_path / "kloft2011.md").read_text()
    assert "Cut off and left out" in page and "slow > 2 s" in page and "Unfinished" not in page


def test_a_worker_goes_on_after_a_cell_that_fails_or_is_killed():
    worker = Worker(1)
    with pytest.raises(RuntimeError, match="x must not be negative"):
        worker.run(slow, {"x": -1}, 60)
    same = worker.process
    assert worker.run(slow, {"x": 0}, 60)[0] == 0 and worker.process is same
    threading.Timer(0.5, worker.kill).start()
    with pytest.raises(RuntimeError, match="ended with"):
        worker.run(slow, {"x": 60}, 60)
    assert worker.run(slow, {"x": 0}, 60)[0] == 0
    worker.close()


def test_a_crew_ends_in_time_and_keeps_what_is_finished(tmp_path, monkeypatch):
    seconds = [0]

    def run(scale, data):
        scale.each(seconds, lambda x: scale.cell(slow, x=x), least=0)
        scale.time(slow, x=50)

    monkeypatch.setattr(import_module("papers.kloft2011.bounds"), "run", run)
    start = time.monotonic()
    for timed, options in ((False, {}), (False, {"within": 1}), (True, {"within": 20, "cap": 0.5})):
        _crew.run([("kloft2011", "bounds")], tmp_path, Data(), 2, timed, **options)
        seconds[1:] = [60]
    assert time.monotonic() - start < 50, "nobody waited for the end of a cell"
    found = {(r := json.loads(path.read_text()))["parameters"]["x"]: r for path in tmp_path.iterdir()}
    assert found.keys() == {0, 50} and found[0]["result"] == 0, "60 was lost, and may be run again"
    assert found[50]["result"] is None and found[50]["timed"] and found[50]["beside"] == 2


def test_a_page_says_where_its_cells_were_run(tmp_path):
    scale = Scale(False, tmp_path)
    scale.cell(tripled, x=1)
    scale.cells.append(scale.cells[0] | {"machine": "another", "date": "2020-01-01"})
    _page.keep(tmp_path, "kloft2011", "bounds", _page.Section("T", "p", "d"), scale)
    _page.write(tmp_path, "kloft2011")
    page = (tmp_path / "kloft2011.md").read_text()
    assert f"Commit of the code: {_code.commit()} (2 cells)" in page
    assert "2020-01-01; another; python" in page and page.count("; python ") == 2


def test_cells_of_several_threads_find_room_and_the_others_use_the_rest():
    room = _crew._Room(16, timed=True)
    room.look([8, 4, 1], [])
    assert [room.take(8), room.take(4)] == [True, False], "half of the cores for them"
    assert [room.take(1) for _ in range(9)] == [True] * 8 + [False]
    room.look([1], [4, 1])
    assert room.take(4), "a second one of four"
    alone = _crew._Room(16, timed=True)
    alone.look([1], [])
    assert sum(alone.take(1) for _ in range(30)) == 16
    small = _crew._Room(1, timed=True)
    small.look([8], [])
    assert small.take(8), "one cell may always run"


def test_times_grow_until_one_is_cut_off(tmp_path):
    def timed(name, size):
        return (None, f"> {size} s") if size > limits[name] else (size, None)

    limits = {"a": 2, "b": 9}
    assert Scale(True).grow(limits, (1, 3, 5, 7), lambda name, size: size < 7 or name == "b", timed) == {
        "a": {1: (1, None), 3: (None, "> 3 s"), 5: (None, "> 3 s")},
        "b": {1: (1, None), 3: (3, None), 5: (5, None), 7: (7, None)},
    }
    Scale(False, tmp_path).time(clocked, x=3)
    kept = Scale(False, tmp_path, kept=True)
    found = kept.grow(["c"], (1, 2, 3), lambda *_: True, lambda name, x: kept.time(clocked, x=x))["c"]
    assert found[1] == found[2] == (None, "to be run") and found[3][0]["cpu"] > 0, "what is there is shown"
    assert [item.parameters for item in kept.wanted.values()] == [{"x": 1}], "the smallest comes first"


def test_a_cell_says_with_which_code_it_was_run_and_is_stale_with_other(tmp_path):
    from papers.kloft2011 import toy

    Scale(False, tmp_path).cell(toy.sparsity, informative=5)
    (path,) = tmp_path.iterdir()
    record = json.loads(path.read_text())
    assert record["commit"] == _code.commit()
    record["commit"] = "12345678"
    assert _code.stale(record) == "" and "not committed" in _code.stale(record | {"commit": "12345678+"})
    assert _code.stale(record | {"code": "other"}).startswith("code changed since")
    path.write_text(json.dumps(record | {"code": "other", "result": "kept"}))
    kept = Scale(False, tmp_path, kept=True, fresh=True)
    assert kept.cell(toy.sparsity, informative=5) == "kept" and len(kept.wanted) == 1, "shown, and wanted again"
    assert Scale(False, tmp_path, fresh=True).cell(toy.sparsity, informative=5) == 0.9
    path.write_text(json.dumps(record | {"code": "other", "result": "kept"}))
    late = Scale(False, tmp_path, fresh=True, cap=0.01)
    assert late.cell(toy.sparsity, informative=5) == "kept", "what is cut off does not replace what was there"
    Scale(False, tmp_path, fresh=True).cell(toy.sparsity, informative=5)
    assert Scale(False, tmp_path).cell(toy.sparsity, informative=5) == 0.9


def test_a_fingerprint_follows_what_is_called_and_nothing_else():
    """`toy.sample` is called by `one` of Figure 3; the findings there are not."""
    from papers.kloft2011 import figure3, toy

    before, texts = _code.fingerprint(figure3.one), _code._top("papers.kloft2011.toy")
    own = _code._top("papers.kloft2011.figure3")
    for held, name, same in ((texts, "D", False), (texts, "sample", False), (own, "FOUR", True), (own, "run", True)):
        text, node = held[name]
        _code.fingerprint.cache_clear()
        held[name] = text + " ", node
        assert (_code.fingerprint(figure3.one) == before) == same, name
        held[name] = text, node
    _code.fingerprint.cache_clear()
    assert _code.fingerprint(figure3.one) == before != _code.fingerprint(toy.sample)


def test_pages_name_the_commits_of_cells_and_where_the_code_was_changed_since():
    from papers.kloft2011 import toy

    cell = {"function": "kloft2011.toy.sample", "commit": "2", "code": _code.fingerprint(toy.sample)}
    found = _page.commits([cell, cell | {"code": "other"}, cell | {"commit": "1"}, cell])
    assert found == {"1": 1, "2": 2, "2, code changed since": 1}
    assert _page.told(found) == (
        "1 (1 cell), 2 (2 cells); run since 2 (1 cell), the code of the papers changed since then"
    )


def test_every_margin_is_recorded_with_the_commit_of_its_last_change():
    kept = json.loads(_margins.KEPT.read_text())
    found = {
        f"{path.removeprefix('papers/').removesuffix('.py').replace('/', '.')}: {says}": mark
        for (path, says), (mark, *_) in _margins.present().items()
    }
    assert {name: item["fingerprint"] for name, item in kept.items()} == found, "run python -m papers all --margins"


def test_findings_that_were_renamed_are_there_and_their_old_words_are_not():
    now = {_margins._name(*key) for key in _margins.present()}
    assert _margins.RENAMED.keys() <= now
    old = {_margins._name(_margins._path(name), says) for name, says in _margins.RENAMED.items()}
    assert not old & now, "under the old words the history would be listed twice"


def test_a_margin_is_its_text_and_its_condition():
    def mark(condition, margin="'0.1'"):
        ((mark, *_),) = _margins.read(f"Finding('a', 'b', 'c', {condition}, {margin})").values()
        return mark

    assert mark("x > 1") == mark("(x  >  1)") != mark("x > 2")
    assert len({mark("x > 1"), mark("x >= 1"), mark("y > 1"), mark("x > 1", "'0.2'"), mark("x > 1", "f'{n}'")}) == 5
