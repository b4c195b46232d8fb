"""What pages of ten reports, and facts at the edges of rules, say; MANYKERNELS_WRITE_PAGES=1 writes the words anew."""

import json
import os
from pathlib import Path

import pytest
from injected import strangers

from manykernels.report import Report
from manykernels.report._report import section
from pages import Story, facts_of, merged, sentence

HERE, WRITE = Path(__file__).parent, bool(os.environ.get("MANYKERNELS_WRITE_PAGES"))
FACTS, EDGES = sorted((HERE / "pages").glob("*.json")), HERE / "edges.json"


@pytest.mark.parametrize("place", FACTS, ids=[place.stem for place in FACTS])
def test_a_page_says_what_it_said(place):
    page = Report(json.loads(place.read_text(encoding="utf-8"))).html()
    assert strangers(page) == []
    told, kept = str(Story(page)), place.with_suffix(".txt")
    if WRITE:
        kept.write_text(told, encoding="utf-8")
    assert told.splitlines() == kept.read_text(encoding="utf-8").splitlines()


def test_there_is_a_page_of_each_kind():
    kinds = {json.loads(place.read_text(encoding="utf-8"))["kind"] for place in FACTS}
    assert kinds == {"classification", "regression", "survival", "one-class"} and len(FACTS) == 10


def test_facts_at_the_edge_of_a_rule_say_what_they_said():
    """A line of the file has a rule, a sentence or a section, the facts that differ from `facts_of`, and the words."""
    told, kept = [], EDGES.read_text(encoding="utf-8").splitlines()
    for line in kept[1:-1]:
        case = json.loads(line.rstrip(","))
        facts = merged(facts_of(), case["facts"])
        if "sentence" in case:
            says = sentence(case["sentence"], facts)
        else:
            says = str(Story(f"<div>{section(case['section'], facts)}</div>")).splitlines()
        told.append(json.dumps(case | {"says": says}, ensure_ascii=False))
    if WRITE:
        EDGES.write_text("[\n" + ",\n".join(told) + "\n]\n", encoding="utf-8")
    assert told == [line.rstrip(",") for line in kept[1:-1]]
